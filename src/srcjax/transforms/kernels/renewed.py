"""Updates of what a function made itself, as new values: they share loops.

    dx = a * b                        dx2 = a * b
    dx += c * d               ->      dx = dx2 + c * d

What is written in place is in the way of other loops; a new value is one more number in
the loop that computes it. Nobody sees the difference where no other name has the memory
before the last update.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    ageless_buffers,
    all_buffers,
    dtype_of,
    same_shape,
    shape_of,
)
from srcjax.frontend.unit import Unit
from srcjax.transforms.kernels.operations import Operations
from srcjax.transforms.specialise import Typer


def renew(program: Program, unit: Unit) -> None:
    """Turn updates into new values, in place, in all blocks of a unit."""
    Renewal(program, unit).block(unit.node.body)


class Renewal:
    """Finds the updates of a unit that may be new values."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.unit = unit
        self.types = program.types_of(unit)
        #: What is known of names that passes made.
        self.changed = program.facts.changed.setdefault(id(unit.node), {})
        self.typer = Typer(program, unit)
        self.operations = Operations(program.facts.callees, self.type_of)

    def type_of(self, node: gast.expr) -> Any:
        return self.typer.type_of(node, self.types)

    def block(self, stmts: list[Any]) -> None:
        """The same for one block, and those inside."""
        for stmt in stmts:
            for inner in syntax.inner_blocks(stmt):
                self.block(inner)
        made: dict[str, int] = {}
        updates: dict[str, list[int]] = {}
        for at, stmt in enumerate(stmts):
            if isinstance(stmt, gast.Assign):
                name = getattr(stmt.targets[0], "id", "")
                if len(stmt.targets) == 1 and name and not updates.get(name):
                    made[name] = at
            elif isinstance(stmt, gast.AugAssign):
                name = getattr(stmt.target, "id", "")
                if name in made:
                    updates.setdefault(name, []).append(at)
        for name, places in updates.items():
            span = [made[name], *places]
            if self.may_be_new(stmts[span[0] : span[-1] + 1], name):
                self.to_new_values(stmts, span, name)

    def may_be_new(self, span: list[Any], name: str) -> bool:
        """Whether the updates between two statements may be new values.

        The first statement makes the array, the last one updates it.
        """
        first, *rest = span
        t = self.types.get(name, UNKNOWN)
        operation = self.operations.of(first.value)
        elementwise = operation is not None and operation.op.kernel is not None
        if not isinstance(t, Array) or not shape_of(t) or not elementwise:
            return False
        memory = ageless_buffers(all_buffers(t))
        if not memory <= {id(n) for n in syntax.walk(first)}:
            return False
        for stmt in rest:
            update = isinstance(stmt, gast.AugAssign)
            if update and syntax.is_name(stmt.target, name):
                if not self.is_alike(stmt, t):
                    return False
            elif changes(stmt, name):
                return False
        others = set().union(*map(syntax.all_names, span)) - {name}
        return not any(
            memory & ageless_buffers(all_buffers(self.types.get(n, UNKNOWN)))
            for n in others
        )

    def is_alike(self, stmt: gast.AugAssign, t: Array) -> bool:
        """Whether what an update computes is such an array as it updates."""
        value = gast.BinOp(syntax.as_load(stmt.target), stmt.op, stmt.value)
        new = self.type_of(value)
        return (
            isinstance(new, Array)
            and dtype_of(new) == dtype_of(t)
            and same_shape(shape_of(new), shape_of(t))
        )

    def to_new_values(self, stmts: list[Any], span: list[int], name: str) -> None:
        """Give each value a name of its own; the last one keeps the old."""
        for start, end in zip(span, span[1:], strict=False):
            new = self.unit.names.fresh(name)
            self.unit.temps.add(new)
            self.unit.varying.add(new)
            self.types[new] = self.changed[new] = self.types[name]
            syntax.rename(stmts[start].targets[0], {name: new})
            for stmt in stmts[start + 1 : end]:
                syntax.rename(stmt, {name: new})
            update = stmts[end]
            syntax.rename(update.value, {name: new})
            value = gast.BinOp(syntax.name(new), update.op, update.value)
            stmts[end] = found = syntax.assign(name, value)
            found.user_line = getattr(update, "user_line", None)


def changes(stmt: Any, name: str) -> bool:
    """Whether a statement binds a name, or may write to what it holds."""
    if name in syntax.names_written(stmt):
        return True
    for node in syntax.walk(stmt):
        target = getattr(node, "target", None)
        if isinstance(node, gast.AugAssign) and syntax.root_of(target) == name:
            return True
        store = isinstance(getattr(node, "ctx", None), gast.Store)
        if isinstance(node, gast.Subscript) and store and syntax.root_of(node) == name:
            return True
    return False
