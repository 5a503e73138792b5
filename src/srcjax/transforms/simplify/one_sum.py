"""Add to a sum at once what another sum would be added to it for in the end.

Before:                                  After:

    dk = 0.5 * x**2                          dk = 0.5 * x**2
    dneg_k = 0.0                             for ...:
    for ...:                                     dk -= da * x
        dneg_k += da * x
    dk -= dneg_k

Both are numbers, and nothing reads either of them in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax

_LEAVES = (gast.Break, gast.Continue, gast.Return, gast.Raise, gast.Try)


def one_sum(node: gast.FunctionDef, is_number: Callable[[str], bool]) -> bool:
    """Join such sums of the function, in place; whether there were any.

    `is_number` tells of a name whether it is one that srcjax made for a number.
    """
    changed = False
    while any(_joined(node, block, is_number) for block in syntax.blocks(node.body)):
        changed = True
    return changed


def _joined(
    node: gast.FunctionDef, block: list[Any], is_number: Callable[[str], bool]
) -> bool:
    for end, last in enumerate(block):
        given = _given(last)
        if given is None or not all(map(is_number, given[:2])):
            continue
        whole, name, negative = given
        start = _start(block[:end], name)
        if start is None or syntax.count_reads(node.body, name) != 1:
            continue
        inside = [
            s for s in syntax.all_statements(block[start + 1 : end]) if _binds(s, name)
        ]
        everywhere = [s for s in syntax.all_statements(node.body) if _binds(s, name)]
        if not inside or len(everywhere) != len(inside) + 1:
            continue
        if not all(map(_is_sum, inside)):
            continue
        if any(isinstance(s, _LEAVES) for s in syntax.walk(block[start:end])):
            continue
        if _is_sum(last):
            if not _is_there(block, start, end, whole, inside):
                continue
        else:
            if whole in syntax.all_names(block[start:end]):
                continue
            block[start].targets = [syntax.name(whole, store=True)]
        for stmt in inside:
            stmt.target = syntax.name(whole, store=True)
            if negative:
                added = isinstance(stmt.op, gast.Add)
                stmt.op = gast.Sub() if added else gast.Add()
        gone = {start, end} if _is_sum(last) else {end}
        block[:] = [s for place, s in enumerate(block) if place not in gone]
        return True
    return False


def _given(stmt: Any) -> tuple[str, str, bool] | None:
    """`whole`, `part` and the sign of `whole -= part` and `whole = -part`."""
    if _is_sum(stmt):
        target, value = stmt.target, stmt.value
        negative = isinstance(stmt.op, gast.Sub)
    elif isinstance(stmt, gast.Assign) and len(stmt.targets) == 1:
        target, value = stmt.targets[0], stmt.value
        negative = isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub)
        value = value.operand if negative else value
    else:
        return None
    if not getattr(stmt, "backward", False):
        return None
    if not isinstance(target, gast.Name) or not isinstance(value, gast.Name):
        return None
    return target.id, value.id, negative


def _is_sum(stmt: Any) -> bool:
    """`d += e` and `d -= e` on the way back."""
    added = isinstance(stmt, gast.AugAssign) and getattr(stmt, "backward", False)
    return added and isinstance(stmt.op, (gast.Add, gast.Sub))


def _binds(stmt: Any, name: str) -> bool:
    return name in syntax.names_written(syntax.head(stmt))


def _start(block: list[Any], name: str) -> int | None:
    """Where the block has `name = 0.0`."""
    for place, stmt in enumerate(block):
        if isinstance(stmt, gast.Assign) and syntax.is_name(stmt.targets[0], name):
            value = stmt.value
            zero = isinstance(value, gast.Constant) and value.value == 0
            return place if zero and len(stmt.targets) == 1 else None
    return None


def _is_there(
    block: list[Any], start: int, end: int, whole: str, inside: list[Any]
) -> bool:
    """Whether the whole is there for the first one, and not read until the end."""
    first = next(
        place
        for place in range(start + 1, end)
        if any(s is i for s in syntax.all_statements([block[place]]) for i in inside)
    )
    for stmt in syntax.all_statements(block[first:end]):
        head = syntax.head(stmt)
        if (_binds(stmt, whole) and not _is_sum(stmt)) or syntax.count_reads(
            head, whole
        ):
            return False
    return any(
        isinstance(s, gast.Assign) and syntax.is_name(s.targets[0], whole)
        for s in block[:first]
    )
