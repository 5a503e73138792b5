"""`np.einsum` whose axes are numbered by lists, written with letters.

Before:                                      After:

    np.einsum(x, [0, 1], v, [1], [0])            np.einsum("ab,b->a", x, v)
"""

from __future__ import annotations

import string
from typing import Any

import gast

from srcjax import syntax


def with_letters(call: gast.Call) -> gast.Call:
    """The call with subscripts as text; as it is where the lists are not written out.

    The rules of `np.einsum` know text only: a call that stays as it is, is refused.
    """
    args = call.args
    if len(args) < 2 or any(isinstance(a, gast.Starred) for a in args):
        return call
    lists = args[1::2] if len(args) % 2 == 0 else [*args[1::2], args[-1]]
    numbers = [_numbers(node) for node in lists]
    if any(n is None for n in numbers):
        return call
    terms = _terms([n for n in numbers if n is not None])
    subscripts = ",".join(terms)
    if len(args) % 2:
        subscripts = ",".join(terms[:-1]) + "->" + terms[-1]
    operands = args[: len(args) // 2 * 2 : 2]
    new = gast.Call(call.func, [syntax.const(subscripts), *operands], call.keywords)
    return gast.copy_location(new, call)


def _numbers(node: gast.expr) -> list[Any] | None:
    """What a list that is written out numbers, `Ellipsis` included."""
    if not isinstance(node, (gast.List, gast.Tuple)):
        return None
    found: list[Any] = []
    for item in node.elts:
        if syntax.is_name(item, "Ellipsis"):
            found.append(Ellipsis)
        elif isinstance(item, gast.Constant) and (
            item.value is Ellipsis or type(item.value) is int
        ):
            found.append(item.value)
        else:
            return None
    return found


def _terms(numbers: list[list[Any]]) -> list[str]:
    """Letters in the order of the numbers, as the axes of the result are sorted."""
    every = [n for axes in numbers for n in axes if n is not Ellipsis]
    letters = string.ascii_lowercase
    if every and max(every) >= len(letters):
        letters = string.ascii_uppercase + string.ascii_lowercase
    return [
        "".join("..." if n is Ellipsis else letters[n] for n in axes)
        for axes in numbers
    ]
