"""Copies of arrays that nothing else holds, and nothing reads again.

Before:                          After:

    x2 = np.zeros(5)                 y = np.zeros(5)
    y = x2.copy()                    y[0] = v
    y[0] = v

Only where the array has no name of the user's: what is put in place of calls copies
what it is given before it writes to it.
"""

from __future__ import annotations

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import Array, all_buffers
from srcjax.frontend.unit import Unit
from srcjax.ops.record import METHODS
from srcjax.transforms.fresh import is_new_array


def spare_copies(program: Program, unit: Unit) -> bool:
    """Hand such arrays over instead; whether there is any."""
    found = False
    for block in syntax.blocks(unit.node.body):
        for k, stmt in enumerate(block):
            name = _copied(program, stmt)
            if name is None or name not in unit.inlined | unit.temps:
                continue
            if _is_new(unit, block[:k], name) and _is_last_use(
                program, unit, block[: k + 1], name
            ):
                stmt.value = gast.copy_location(syntax.name(name), stmt.value)
                found = True
    return found


def _copied(program: Program, stmt: gast.stmt) -> str | None:
    """The array that a statement copies."""
    value = getattr(stmt, "value", None)
    if not isinstance(stmt, gast.Assign) or not isinstance(value, gast.Call):
        return None
    if value.args or value.keywords or not isinstance(value.func, gast.Attribute):
        return None
    owner = value.func.value
    callees = program.facts.callees.get(id(value), [])
    if callees != [METHODS["copy"]] or not isinstance(owner, gast.Name):
        return None
    return str(owner.id)


def _is_new(unit: Unit, before: list[gast.stmt], name: str) -> bool:
    """Whether the block makes the array; it may have had other names since then."""
    while syntax.count_bindings(unit.node, name) == 1:
        made = next((s for s in before if name in syntax.names_written(s)), None)
        if not isinstance(made, gast.Assign) or not syntax.is_name(
            made.targets[0], name
        ):
            return False
        if not isinstance(made.value, gast.Name):
            return is_new_array(made.value)
        name = made.value.id
    return False


def _is_last_use(
    program: Program, unit: Unit, before: list[gast.stmt], name: str
) -> bool:
    """Whether no name is used later that may stand for the array, or a part of it."""
    types = program.types_of(unit)
    own = types.get(name)
    if not isinstance(own, Array) or not own.buffers:
        return False
    memory = all_buffers(own)
    return all(
        syntax.count_uses(before, other) == syntax.count_uses(unit.node.body, other)
        for other, t in types.items()
        if other == name or memory & all_buffers(t)
    )
