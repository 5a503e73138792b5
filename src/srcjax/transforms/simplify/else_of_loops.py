"""Do what follows from how a loop is left where it is left, without a flag.

Before:                          After:

    returned = False                 for i in range(5):
    for i in range(5):                   x = x * a
        x = x * a                        if x > 10:
        if x > 10:                           dx = 2 * x
            returned = True                  break
            break                    else:
    if returned:                         dx = 1.0
        dx = 2 * x
    else:
        dx = 1.0

Nothing runs between a `break` and what follows its loop: the branch may stand before
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import Way, own_breaks, runs


def else_of_loops(node: gast.FunctionDef, own: Callable[[str], bool]) -> None:
    """Do so in the function, in place; `own` tells the names that srcjax made."""
    reads = syntax.read_counts(node.body)
    bound = syntax.binding_counts(node.body)

    def is_flag(name: str) -> bool:
        return own(name) and reads[name] == 1 and bound[name] == 2

    def block(stmts: list[gast.stmt]) -> list[gast.stmt]:
        for stmt in stmts:
            syntax.rewrite_blocks(stmt, block)
        for at in range(1, len(stmts)):
            _take_in(stmts, at, is_flag)
        return [s for s in stmts if not isinstance(s, _Gone)]

    node.body = block(node.body)


class _Gone(gast.stmt):
    """What stood here is somewhere else."""

    _fields = ()


def _take_in(stmts: list[Any], at: int, is_flag: Callable[[str], bool]) -> None:
    """Move the branches of the `if` at a place into the loop in front of it."""
    branch, loop = stmts[at], stmts[at - 1]
    if not isinstance(branch, gast.If) or not runs(loop, Way.LOOP) or loop.orelse:
        return
    negative = isinstance(branch.test, gast.UnaryOp) and isinstance(
        branch.test.op, gast.Not
    )
    name = getattr(branch.test.operand if negative else branch.test, "id", "")
    if not name or not is_flag(name):
        return
    starts = [s for s in stmts[: at - 1] if _sets(s, name, False)]
    left = _left_with(loop.body, name)
    if len(starts) != 1 or left is None or len(own_breaks(loop.body)) != 1:
        return
    sides = (branch.orelse, branch.body) if negative else (branch.body, branch.orelse)
    early, late = ([s for s in side if not _is_idle(s)] for side in sides)
    if any(syntax.has_blocks(s) for s in early):
        return  # more than a few lines: behind the loop they are read better
    left[-2:] = [*early, left[-1]]
    loop.orelse = late
    stmts[at] = _Gone()
    stmts[stmts.index(starts[0])] = _Gone()


def _sets(stmt: Any, name: str, value: bool) -> bool:
    """`name = value`"""
    return (
        isinstance(stmt, gast.Assign)
        and syntax.is_name(stmt.targets[0], name)
        and isinstance(stmt.value, gast.Constant)
        and stmt.value.value is value
    )


def _left_with(stmts: list[Any], name: str) -> list[Any] | None:
    """The block of the loop, in branches, that ends with the flag and a `break`."""
    if len(stmts) > 1 and isinstance(stmts[-1], gast.Break):
        return stmts if _sets(stmts[-2], name, True) else None
    for stmt in stmts:
        if runs(stmt, Way.CHOICE):
            for inner in syntax.inner_blocks(stmt):
                found = _left_with(inner, name)
                if found is not None:
                    return found
    return None


def _is_idle(stmt: Any) -> bool:
    return isinstance(stmt, gast.Pass)


__all__ = ["else_of_loops"]
