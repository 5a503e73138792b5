"""How a function counts the trips of a loop: `trips = 0`, and `trips += 1` in each."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax


def starts(stmt: Any, counter: str) -> bool:
    """`trips = 0`"""
    return (
        isinstance(stmt, gast.Assign)
        and syntax.is_name(stmt.targets[0], counter)
        and isinstance(stmt.value, gast.Constant)
        and stmt.value.value == 0
    )


def counts(stmt: Any, counter: str) -> bool:
    """`trips += 1`, or the same with the name twice."""
    if isinstance(stmt, gast.AugAssign):
        return syntax.is_name(stmt.target, counter)
    return (
        isinstance(stmt, gast.Assign)
        and syntax.is_name(stmt.targets[0], counter)
        and isinstance(stmt.value, gast.BinOp)
        and syntax.is_name(stmt.value.left, counter)
    )


def mentions(node: Any, id: str) -> int:
    """How often the name stands in the tree, read or bound."""
    return sum(n.id == id for n in syntax.names_in(node))


__all__ = ["counts", "mentions", "starts"]
