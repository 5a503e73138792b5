"""Products with all unit vectors at once, which are what is multiplied.

Before:                                   After:

    # Each column: ... element of w.          p = 1 / (1 + np.exp(-X @ w))
    w_dot = np.eye(w.size)                    # Each column: ... element of w.
    p = 1 / (1 + np.exp(-X @ w))              p_dot = X.T * p * (1 - p)
    p_dot = w_dot @ X.T * p * (1 - p)

`X` is the user's: it stands where something new is made of it, and where nothing writes
to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import called, written_bases


def without_units(
    body: list[Any], dot: str, is_matrix: Callable[[str], bool]
) -> list[Any]:
    """The statements without such products; `is_matrix` tells of arguments.

    The unit vectors go where nothing else needs them.
    """
    bound, reads = syntax.binding_counts(body), syntax.read_counts(body)
    made = [s for s in body if _makes_units(s, dot)]
    if len(made) != 1 or bound[dot] != 1:
        return body
    written = set().union(*map(written_bases, body))

    def matrix(node: Any) -> gast.expr | None:
        """`X.T` of `w_dot @ X.T`."""
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.MatMult):
            return None
        whole: Any = node.right
        if isinstance(whole, gast.Attribute) and whole.attr == "T":
            whole = whole.value
        name = getattr(whole, "id", "")
        mine = syntax.is_name(node.left, dot) and is_matrix(name)
        return node.right if mine and not bound[name] and name not in written else None

    operands = [part for node in syntax.walk(body) for part in _read_by(node)]
    read = Counter(part.id for part in operands if isinstance(part, gast.Name))
    found = {id(part): made_of for part in operands if (made_of := matrix(part))}
    for stmt in body:
        name = getattr(getattr(stmt, "targets", [None])[0], "id", "")
        whole = matrix(getattr(stmt, "value", None)) if name else None
        once = bound[name] == 1 and name not in written
        if whole is not None and once and reads[name] == read[name]:
            found[id(stmt.value)] = whole
    if not found:
        return body
    new: list[Any] = syntax.replaced(body, found)
    if syntax.count_reads(new, dot):
        return new
    at = body.index(made[0])
    first = next(
        k for k, s in enumerate(body) if any(id(n) in found for n in syntax.walk(s))
    )
    said = new[at - 1 : at] if at and isinstance(new[at - 1], gast.Expr) else []
    before = new[: at - len(said)]
    return [*before, *new[at + 1 : first], *said, *new[first:]]


def _makes_units(stmt: Any, dot: str) -> bool:
    """`w_dot = np.eye(w.size)`."""
    named = isinstance(stmt, gast.Assign) and syntax.is_name(stmt.targets[0], dot)
    return named and called(stmt.value) == "np.eye" and len(stmt.value.args) == 1


def _read_by(node: Any) -> Iterable[gast.expr]:
    """The operands of which the node makes something new."""
    if isinstance(node, gast.BinOp):
        return (node.left, node.right)
    return node.args[1:] if called(node) == "np.where" else ()


__all__ = ["without_units"]
