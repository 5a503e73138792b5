"""`x += v` where it is not known whether `x` is a number or an array.

Before:                     After:

    row = a[1]                  row = a[1]
    row += v                    refuse_in_place(row)
                                row = row + v

A number gets a new value; an array is changed in place, and so is `a`. Code that is
written without types takes the first meaning. It is the same as long as nothing else
holds the array; where something may, the code refuses arrays when it runs. An array of
which no number of axes is known may be a number (`np.sin` of one without axes is one):
there the code takes the second meaning, and refuses numbers.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import runtime, syntax
from srcjax.analysis.flow.positions import Positions
from srcjax.analysis.program import Program
from srcjax.analysis.types import Array, Const, Type, Unknown, is_mapping
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.unit import Unit
from srcjax.ops.record import Op, inert

CHECK = "refuse_in_place"
NUMBER = "refuse_number"
for _check in (runtime.refuse_in_place, runtime.refuse_number):
    inert(_check, signature="x", infer=lambda x: Const())

_FRESH = (
    gast.BinOp, gast.UnaryOp, gast.Compare, gast.BoolOp, gast.Constant, gast.JoinedStr
)  # fmt: skip


def check_of(
    program: Program, unit: Unit, stmt: gast.AugAssign, old: Type | None, entry: bool
) -> list[gast.stmt]:
    """The check that the statement needs when it becomes an assignment.

    `entry`: the unit is the function that is transformed, whose arguments nothing else
    of the program holds.
    """
    name = stmt.target.id
    if not isinstance(old, Unknown) or name in unit.adjoints:
        return []
    if is_mapping() and not old.buffers:
        return []
    if not may_be_shared(program, unit, stmt, name, entry):
        return []
    if is_mapping():  # a number for each example is an array too
        raise error_at(
            UnsupportedError,
            unit.source,
            stmt,
            f"whether `{name}` is a number or an array that something else holds is "
            "not known, and it is changed in place",
            f"`{name} = {name} + ...`",
        )
    return [refusal(unit, name)]


def number_check_of(
    program: Program, unit: Unit, stmt: gast.AugAssign, old: Array, entry: bool
) -> list[gast.stmt]:
    """The check that the update of an array needs, if it may be that of a number."""
    name = stmt.target.id
    if old.shape is not None or name in unit.adjoints or is_mapping():
        return []
    shared = may_be_shared(program, unit, stmt, name, entry)
    return [refusal(unit, name, NUMBER)] if shared else []


def refusal(unit: Unit, name: str, check: str = CHECK) -> gast.stmt:
    """`refuse_in_place(name)`."""
    unit.extra[check] = getattr(runtime, check)
    unit.names.taken.add(check)
    return gast.Expr(syntax.call(check, syntax.name(name)))


def may_be_shared(
    program: Program, unit: Unit, update: gast.stmt, name: str, entry: bool
) -> bool:
    """Whether something else may hold what the name holds, at the statement."""
    if name in unit.parameters and not entry:
        return True
    positions = Positions(unit.node.body)
    here = positions[update]
    since = _made_before(program, unit.node.body, update, name)
    for stmt in positions.stmts if since is None else since:
        there = positions[stmt]
        if stmt is not update and not here.may_follow(there):
            continue
        if there.never_with(here):
            continue
        if name in syntax.names_written(syntax.head(stmt)) and not is_new(
            program, stmt
        ):
            return True
        if name in syntax.names_read(syntax.head(stmt)) and _keeps(program, stmt, name):
            return True
    return False


def _made_before(
    program: Program, body: list[Any], update: gast.stmt, name: str
) -> list[gast.stmt] | None:
    """The statements since the block of the update bound the name to a new value."""
    inner = [b for s in syntax.walk(body) for b in syntax.inner_blocks(s)]
    for block in (body, *inner):
        place = next((i for i, s in enumerate(block) if s is update), None)
        for start in reversed(range(place or 0)):
            bound = syntax.names_written(block[start])
            if name not in bound:
                continue
            plain = isinstance(block[start], gast.Assign) and bound == {name}
            if not plain or not is_new(program, block[start]):
                return None
            since = syntax.walk(block[start + 1 : place])
            return [s for s in since if isinstance(s, gast.stmt)]
    return None


def is_new(program: Program, stmt: Any) -> bool:
    """Whether a statement that binds a name binds it to what it makes itself."""
    if isinstance(stmt, gast.AugAssign):
        return True
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.targets[0], gast.Name):
        return False
    return isinstance(stmt.value, _FRESH) or _makes(program, stmt.value)


def _keeps(program: Program, stmt: Any, name: str) -> bool:
    """Whether the statement may keep (a part of) what the name holds."""
    if isinstance(stmt, (gast.AugAssign, gast.Return, gast.If, gast.While)):
        return False
    value = getattr(stmt, "value", None)
    if isinstance(stmt, gast.Assign):
        stored = isinstance(stmt.targets[0], gast.Subscript)
        if stored and not syntax.is_name(value, name):
            return False  # `name[i] = v`, or an item of another array
    return not (isinstance(value, _FRESH) or _makes(program, value))


def _makes(program: Program, value: Any) -> bool:
    """Whether the value is a call that gives a new array (or a number)."""
    callees = program.facts.callees.get(id(value), [])
    return bool(callees) and all(
        isinstance(c, Op) and c.alias == "fresh" and not c.writes for c in callees
    )
