"""Items of the examples that take a branch, read and written where they are.

Before:                                 After:

    x_taken = x[taken]                      x[taken, k] += y
    x_taken[:, k] += y
    x[taken] = x_taken

    lanes_j = j[lanes]                      y = x[lanes, j[lanes]]
    y = x[lanes][np.arange(n), lanes_j]

An array of which a branch, or an iteration of a loop that examples leave one by one,
reads and writes items only is neither gathered nor put back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import called, copied

#: Whether an expression is a whole number: of every example, or of all.
IsNumber = Callable[[Any], bool]


def reach_at(
    body: list[gast.stmt],
    name: str,
    where: gast.expr,
    rank: int,
    written: bool,
    is_number: IsNumber,
    is_shared: IsNumber,
) -> bool:
    """Let the body reach the array's items at `where`, in place; False if it cannot.

    `rank` is that of one example. What is read of an array that is `written` has to be
    a number: a part of it would be a view, where this is a copy.
    """
    if any(isinstance(n, (gast.Lambda, gast.FunctionDef)) for n in syntax.walk(body)):
        return False
    found: list[tuple[gast.Subscript, list[Any]]] = []
    for node in syntax.walk(body):
        if isinstance(node, gast.Subscript) and syntax.is_name(node.value, name):
            index = _index_of_example(node.slice, is_number, is_shared)
            if index is None:
                return False
            whole = len(index) == rank and not any(map(_keeps_axes, index))
            if written and not whole and isinstance(node.ctx, gast.Load):
                return False
            found.append((node, index))
    if len(found) != syntax.count_uses(body, name):
        return False
    for node, index in found:
        node.slice = gast.Tuple([syntax.clone(where), *index], syntax.LOAD)
    reached = {id(node) for node, _ in found}
    for node in syntax.walk(body):
        if isinstance(node, gast.Assign) and _is_copy_of(node.value, reached):
            node.value = node.value.func.value
    return True


def _is_copy_of(value: Any, nodes: set[int]) -> bool:
    """`x[lanes, k].copy()`: what is read of places so is a copy."""
    return id(copied(value)) in nodes


def _index_of_example(
    index: Any, is_number: IsNumber, is_shared: IsNumber
) -> list[Any] | None:
    """What comes after the axis of the examples; None where that is not plain."""
    if not isinstance(index, gast.Tuple):
        return None
    first, *rest = index.elts
    if isinstance(first, gast.Call) and called(first) == "np.arange":
        return rest if all(map(is_number, rest)) else None
    if not syntax.is_full_slice(first):
        return None
    for entry in rest:
        ends = [entry]
        if isinstance(entry, gast.Slice):
            ends = [e for e in (entry.lower, entry.upper, entry.step) if e is not None]
        if not all(map(is_shared, ends)):
            return None
    return rest


def _keeps_axes(entry: Any) -> bool:
    return isinstance(entry, gast.Slice)


__all__ = ["reach_at"]
