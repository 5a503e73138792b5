"""Overwrite an adjoint once its old value has been read, so that it needs no copy.

Before:                              After:

    # y = y * x + c                      # for c in coefficients:
    dproduct = dy                        dcoefficients[i] += dy
    dc = dy                              # y = y * x + c
    dy = dproduct * x                    dx += dy * y
    dx += dproduct * y                   dy = dy * x
    # for c in coefficients:
    dcoefficients[i] += dc

    dtotal = du[1:-1].copy()             dproduct = 0.25 * du[1:-1]
    du[1:-1] = 0.0                       du[1:-1] = 0.0
    dproduct = 0.25 * dtotal

    dproduct = dy * total                drate += dy * total
    dy = dy * (1 + rate)                 dy = dy * (1 + rate)
    drate += dproduct

Statements change places only where neither reads or writes what the other one writes.
What differentiates the same line stays together. The copies are then put back into
what reads them by `nest`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import copied, is_pure, written_bases

Shares = Callable[[str], set[str]]
_LEAVES = (gast.Return, gast.Break, gast.Continue, gast.Raise, gast.FunctionDef)


def delay(
    stmts: list[gast.stmt], may_nest: Callable[[str], bool], shares: Shares
) -> None:
    """Move the statements of a block, and of the blocks inside, in place."""
    for stmt in stmts:
        for inner in syntax.inner_blocks(stmt):
            delay(inner, may_nest, shares)
    _hasten_sums(stmts, may_nest, shares)
    copies: dict[str, list[str]] = {}
    parts: dict[str, str] = {}
    for stmt in list(stmts):
        if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
            continue
        target, value = stmt.targets[0], stmt.value
        if not getattr(stmt, "backward", False):
            continue
        if isinstance(target, gast.Subscript) and isinstance(value, gast.Constant):
            part = parts.pop(getattr(target.value, "id", ""), None)
            if part is not None:
                _delay_one(stmts, stmt, target.value.id, {part}, shares)
        if not isinstance(target, gast.Name):
            continue
        if isinstance(value, gast.Name) and may_nest(target.id):
            copies.setdefault(value.id, []).append(target.id)
        elif target.id in copies and is_pure(value):
            _delay_one(stmts, stmt, target.id, set(copies.pop(target.id)), shares)
        whole = _copied_part(value)
        if whole and may_nest(target.id) and _is_read_once(stmts, target.id):
            parts[whole] = target.id


def _hasten_sums(
    stmts: list[gast.stmt], may_nest: Callable[[str], bool], shares: Shares
) -> None:
    """Add what one statement alone reads before what it is made of is overwritten."""
    lines = _lines(stmts)
    reads = syntax.read_counts(stmts) if lines else {}
    for line in lines:
        for given in line:
            name = _given_name(given)
            if not name or reads[name] != 1 or not may_nest(name):
                continue
            start = next(k for k, s in enumerate(line) if s is given)
            end = next((k for k, s in enumerate(line) if _adds(s, name)), -1)
            if end < start or name in syntax.names_read(line[end].target):
                continue
            if not is_pure(given.value):
                continue
            read, between = syntax.names_read(given), line[start + 1 : end]
            if any(read & _writes(s, shares) for s in between):
                at = next(k for k, s in enumerate(stmts) if s is given)
                _moved(stmts, line[end], at + 1, shares)


def _lines(stmts: list[gast.stmt]) -> list[list[Any]]:
    """Statements that follow each other and differentiate the same line of the user's.

    Those of one alone are left out: there is nothing between them.
    """
    grouped = itertools.groupby(stmts, lambda s: getattr(s, "user_line", None))
    lines = [list(line) for _, line in grouped]
    return [line for line in lines if len(line) > 2]


def _given_name(stmt: Any) -> str:
    """`d` of `d = e` on the way back."""
    if not isinstance(stmt, gast.Assign) or not getattr(stmt, "backward", False):
        return ""
    return getattr(stmt.targets[0], "id", "") if len(stmt.targets) == 1 else ""


def _adds(stmt: Any, name: str) -> bool:
    """Whether the statement adds what it computes from the name to a sum."""
    return (
        isinstance(stmt, gast.AugAssign)
        and isinstance(stmt.op, (gast.Add, gast.Sub))
        and name in syntax.names_read(stmt.value)
    )


def _copied_part(value: Any) -> str:
    """`a` of `a[i].copy()`."""
    part = copied(value)
    whole: str = getattr(getattr(part, "value", None), "id", "")
    return whole if isinstance(part, gast.Subscript) else ""


def _is_read_once(stmts: list[gast.stmt], name: str) -> bool:
    """Whether one statement of the block reads what another one binds."""
    return sum(syntax.count_reads(s, name) for s in stmts) == 1


def _delay_one(
    stmts: list[gast.stmt], stmt: Any, name: str, copies: set[str], shares: Shares
) -> None:
    """Get the readers of the copies in front of the statement, or all stays.

    The statement binds the name, or writes to its memory.
    """
    at = next(i for i, s in enumerate(stmts) if s is stmt)
    behind = stmts[at + 1 :]
    readers = [s for s in behind if copies & syntax.names_read(s)]
    if not readers or any(copies & syntax.names_written(s) for s in behind):
        return
    if any(name in syntax.all_names(s) or _leaves(s) for s in readers):
        return
    line = getattr(stmt, "user_line", None)
    order = list(stmts)
    for reader in readers:
        if getattr(reader, "user_line", None) == line:
            continue
        position = next(i for i, s in enumerate(order) if s is stmt)
        while position and getattr(order[position - 1], "user_line", None) == line:
            if _is_copy_to(order[position - 1], copies):
                break
            position -= 1
        if not _moved(order, reader, position, shares):
            return
    last = [s for s in readers if getattr(s, "user_line", None) == line]
    if last:
        position = next(i for i, s in enumerate(order) if s is last[-1])
        if not _moved(order, stmt, position, shares):
            return
    stmts[:] = order


def _is_copy_to(stmt: Any, copies: set[str]) -> bool:
    return isinstance(stmt, gast.Assign) and any(
        syntax.is_name(t, c) for t in stmt.targets for c in copies
    )


def _moved(order: list[gast.stmt], stmt: Any, to: int, shares: Shares) -> bool:
    """Put the statement at the position; False if it may not pass what is between."""
    at = next(i for i, s in enumerate(order) if s is stmt)
    between = order[to:at] if to < at else order[at + 1 : to + 1]
    if any(_leaves(s) or not commute(stmt, s, shares) for s in between):
        return False
    order.pop(at)
    order.insert(to, stmt)
    return True


def _leaves(stmt: Any) -> bool:
    return any(isinstance(s, _LEAVES) for s in syntax.walk(stmt))


def commute(a: Any, b: Any, shares: Shares) -> bool:
    """Whether the order of two statements does not matter."""
    writes = [_writes(s, shares) for s in (a, b)]
    touches = [w | syntax.names_read(s) for w, s in zip(writes, (a, b), strict=True)]
    return not (writes[0] & touches[1] or writes[1] & touches[0])


def _writes(stmt: Any, shares: Shares) -> set[str]:
    """Names that the statement binds, and all whose memory it may change."""
    bases = written_bases(stmt)
    return syntax.names_written(stmt) | bases.union(*map(shares, bases))
