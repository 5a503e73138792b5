"""One name for an object that is taken out of a container again.

Before:                          After:

    p = Body(x, v)                   p = Body(x, v)
    bodies = [p, q]                  bodies = [p, q]
    b = bodies[0]                    b = p
    b.v = total                      b.v = total

What types say is where an object was made. Where one place made it, and once, it is the
object that the name bound at that place stands for.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import Object, Varies, varies
from srcjax.frontend.unit import Unit
from srcjax.transforms.callees import recursive_functions


def made_here(unit: Unit) -> dict[Any, str]:
    """The names bound once to what a call gives that runs once, by its place."""
    counts = syntax.binding_counts(unit.node)
    found = {}
    loops = (gast.For, gast.While, gast.FunctionDef)
    again = {
        id(inner)
        for loop in syntax.all_statements(unit.node.body)
        if isinstance(loop, loops)
        for inner in syntax.all_statements(loop.body)
    }
    for stmt in syntax.all_statements(unit.node.body):
        if id(stmt) in again or not isinstance(stmt, gast.Assign):
            continue
        if not isinstance(stmt.value, gast.Call):
            continue
        target = stmt.targets[0] if len(stmt.targets) == 1 else None
        if isinstance(target, gast.Name) and counts[target.id] == 1:
            found[id(stmt.value)] = target.id
    return found


def name_objects(program: Program, unit: Unit) -> bool:
    """Read objects by their names where an item or attribute holds them, in place.

    So it is where loops over objects are written out, after a first try failed. That
    there is something to do is noted.
    """
    request = program.request
    if request is None or varies() is Varies.RUN_TIME:
        return False
    made = made_here(unit)
    if request.writes_out and is_recursive(program, unit):
        return False
    changed = False
    for stmt in syntax.all_statements(unit.node.body) if made else ():
        changed |= request.writes_out and is_itself(stmt)
        if not isinstance(stmt, gast.Assign) or len(stmt.targets) > 1:
            continue
        target, value = stmt.targets[0], stmt.value
        if not isinstance(target, gast.Name):
            continue
        if not isinstance(value, (gast.Subscript, gast.Attribute)):
            continue
        held = {object_of(v.after.get(target.id)) for v in program.facts.of(stmt)}
        name = made.get(held.pop()) if len(held) == 1 else None
        if name is not None and name != target.id:
            if not request.writes_out:
                request.holds_objects |= not is_recursive(program, unit)
                return False
            stmt.value = gast.copy_location(syntax.name(name), value)
            changed = True
    return changed


def is_recursive(program: Program, unit: Unit) -> bool:
    """Whether what was made there may have been made by another call of it."""
    return id(unit.source.func) in recursive_functions(program)


def is_itself(stmt: gast.stmt) -> bool:
    """Whether it tests if a name is itself, `p is not p`: it is so, in place."""
    test = getattr(stmt, "test", None)
    if not isinstance(test, gast.Compare) or len(test.ops) > 1:
        return False
    sides = test.left, test.comparators[0]
    if not all(map(syntax.is_name, sides)) or sides[0].id != sides[1].id:
        return False
    if isinstance(test.ops[0], (gast.Is, gast.IsNot)):
        stmt.test = syntax.const(isinstance(test.ops[0], gast.Is))
        return True
    return False


def object_of(t: Any) -> Any:
    """Where an object was made, if there is one place that may have; None else."""
    if not isinstance(t, Object) or len(t.buffers) != 1:
        return None
    (place,) = t.buffers
    return place if isinstance(place, int) else None
