"""Rows that are views in an example, and copies in a batch.

    row = x[i]          x[np.arange(n), i] of the batch is a new array
    row[0] = 1.0        ... so that x does not see this,
    x += 1.0            ... and row does not see that

Where an index differs between examples and what it gives is an array, both must not
happen. A function in which it does runs in a loop over the examples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Facts
from srcjax.analysis.types import (
    Array,
    Tuple,
    Type,
    Unknown,
    ageless_buffers,
    all_buffers,
    is_active,
)
from srcjax.frontend.unit import Unit

Refuse = Callable[[gast.stmt], Exception]


def check_rows(
    unit: Unit, facts: Facts, types: dict[str, Type], refuse: Refuse
) -> None:
    """Raise `refuse(stmt)` where a copied row and its array drift apart."""
    written = facts.written_by(syntax.walk(unit.node))
    if not written:
        return
    for block in syntax.blocks(unit.node.body):
        for position, stmt in enumerate(block):
            if not _is_row(stmt, types):
                continue
            name = stmt.targets[0].id
            mine = ageless_buffers(all_buffers(types[name]))
            if mine & written and _drifts(unit, facts, types, block, position, mine):
                raise refuse(stmt)


def _is_row(stmt: Any, types: dict[str, Type]) -> bool:
    """`row = x[i]` of an array, where `i` is mapped."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.targets[0], gast.Name):
        return False
    value = stmt.value
    if not isinstance(value, gast.Subscript) or not isinstance(value.value, gast.Name):
        return False
    base = types.get(value.value.id)
    t = types.get(stmt.targets[0].id)
    if not isinstance(base, (Array, Unknown)) or not isinstance(t, (Array, Unknown)):
        return False
    indices = [types[n] for n in syntax.names_read(value.slice) if n in types]
    return any(is_active(i) and not isinstance(i, Tuple) for i in indices)


def _drifts(
    unit: Unit,
    facts: Facts,
    types: dict[str, Type],
    block: list[gast.stmt],
    position: int,
    mine: frozenset,
) -> bool:
    """Whether the memory is written to while the row, or a view of it, is in use."""
    start: Any = block[position]
    rows = {start.targets[0].id}
    for stmt in block[position + 1 :]:
        for sub in syntax.walk(stmt):
            if isinstance(sub, gast.Assign) and syntax.names_read(sub.value) & rows:
                rows |= {
                    n
                    for n in syntax.names_written(sub)
                    if ageless_buffers(all_buffers(types.get(n, Type()))) & mine
                }
    later = block[position + 1 :]
    uses = [k for k, s in enumerate(later) if rows & syntax.all_names(s)]
    everywhere = sum(_uses(unit.node.body, n) for n in rows)
    if everywhere > sum(_uses(block[position:], n) for n in rows):
        return True  # used in another block too
    for k, stmt in enumerate(later[: uses[-1] + 1] if uses else []):
        if not ageless_buffers(facts.written_by(syntax.walk(stmt))) & mine:
            continue
        last = k == uses[-1]
        if not (last and _reads_first(stmt, rows)):
            return True
    return False


def _uses(body: list[gast.stmt], name: str) -> int:
    return sum(isinstance(n, gast.Name) and n.id == name for n in syntax.walk(body))


def _reads_first(stmt: Any, rows: set[str]) -> bool:
    """`x[i] = row`, `x[i] += row`: the row is read, then something else written."""
    if isinstance(stmt, gast.Assign):
        target = stmt.targets[0]
    elif isinstance(stmt, gast.AugAssign):
        target = stmt.target
    else:
        return False
    return isinstance(target, gast.Subscript) and not (
        rows & syntax.all_names(target.value)
    )


__all__ = ["check_rows"]
