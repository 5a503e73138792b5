"""Compute once what is computed twice.

Before:                          After:

    item = x[t]                      item = x[t]
    item2 = x[t]                     product = item * item
    product = item * item2

Only temporaries that srcjax made are joined: what the user gave two names keeps them.
The adjoint of the one value is then the sum of what its uses contribute, and is passed
on once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.outside import changed_reads
from srcjax.analysis.program import Program
from srcjax.analysis.types import UNKNOWN, Type, all_buffers, is_number, join_all
from srcjax.frontend.unit import Unit
from srcjax.ops.record import Op
from srcjax.transforms.call_effects import is_pure


@dataclass
class _Value:
    """A temporary that holds the value of an expression."""

    key: str
    name: str
    reads: set[str]
    #: The names read whose values can be changed in place, with their buffers.
    buffers: frozenset
    #: Something that is read may be changed by any write.
    fragile: bool
    #: It is read as cheaply as a name: blocks inside read it themselves.
    cheap: bool


def share_common(program: Program, unit: Unit) -> bool:
    """Replace repeated temporaries of the unit by the first; whether there are any."""
    found = _Common(program, unit)
    found.block(unit.node.body, _AtHand())
    if found.renamed:
        syntax.rename(unit.node.body, found.renamed)
    return bool(found.renamed)


def _is_numbered_item(value: gast.expr) -> bool:
    """Whether it is `x[0]`."""
    return isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Constant)


class _AtHand:
    """The values that are at hand at a point, found by what they rest on."""

    def __init__(self) -> None:
        self.values: dict[str, _Value] = {}
        #: Keys of the values by the names and the memory that they rest on.
        self.users: dict[Any, set[str]] = {}
        self.fragile: set[str] = set()

    def copy(self) -> _AtHand:
        """The values to go on with inside of a block."""
        new = _AtHand()
        for value in self.values.values():
            if not value.cheap:
                new.add(value)
        return new

    def add(self, value: _Value) -> None:
        """The value was computed here."""
        self.values[value.key] = value
        for used in (value.name, *value.reads, *value.buffers):
            self.users.setdefault(used, set()).add(value.key)
        if value.fragile:
            self.fragile.add(value.key)

    def forget(self, changed: Iterable[Any], anything: bool = False) -> None:
        """Names are bound or memory is written, perhaps that of `anything`."""
        for used in changed:
            for key in self.users.pop(used, ()):
                self.values.pop(key, None)
        if anything:
            for key in self.fragile:
                self.values.pop(key, None)
            self.fragile.clear()


class _Common:
    """The values that are at hand along the statements of one unit."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program = program
        self.facts = program.facts
        self.unit = unit
        self.written = program.facts.written()
        self.renamed: dict[str, str] = {}
        self.bindings: dict[str, int] = {}
        for node in syntax.names_in(unit.node):
            if not isinstance(node.ctx, gast.Load):
                self.bindings[node.id] = self.bindings.get(node.id, 0) + 1

    def block(self, stmts: list[gast.stmt], known: _AtHand) -> None:
        """Drop repeated definitions of a block, in place."""
        kept: list[gast.stmt] = []
        for stmt in stmts:
            blocks = syntax.inner_blocks(stmt)
            if isinstance(stmt, gast.FunctionDef):
                known.forget([stmt.name])
            elif blocks:
                self.pass_by(stmt, known)
                for block in blocks:
                    self.block(block, known.copy())
            else:
                value = self.value(stmt)
                same = None if value is None else known.values.get(value.key)
                if value is not None and same is not None:
                    self.renamed[value.name] = same.name
                    continue
                self.pass_by(stmt, known)
                if value is not None:
                    known.add(value)
            kept.append(stmt)
        stmts[:] = kept

    def value(self, stmt: Any) -> _Value | None:
        """The value that a temporary gets here, if it may be had from another one."""
        if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
            return None
        target = stmt.targets[0]
        if not isinstance(target, gast.Name):
            return None
        if target.id not in self.unit.temps and target.id not in self.unit.made:
            return None
        if self.bindings.get(target.id) != 1 or not self.is_plain(stmt.value):
            return None
        if any(
            all_buffers(v.after.get(target.id, UNKNOWN)) & self.written
            for v in self.facts.of(stmt)
        ):
            return None
        if changed_reads(
            self.program, self.unit, stmt.value, lambda n: self.type_of(stmt, n)
        ):
            return None
        value = syntax.clone(stmt.value)
        syntax.rename(value, self.renamed)
        types = {n: self.type_of(stmt, n) for n in syntax.names_read(stmt.value)}
        changing = {n: t for n, t in types.items() if t and not is_number(t)}
        buffers: frozenset = frozenset()
        for t in changing.values():
            buffers |= all_buffers(t)
        fragile = any(not all_buffers(t) for t in changing.values())
        reads = syntax.names_read(value)
        cheap = _is_numbered_item(value)
        return _Value(gast.dump(value), target.id, reads, buffers, fragile, cheap)

    def type_of(self, stmt: gast.stmt, name: str) -> Type | None:
        """The type of a local name before the statement; None for a global."""
        if name not in self.bindings:
            return None
        found = [v.before.get(name, UNKNOWN) for v in self.facts.of(stmt)]
        return join_all(found) or UNKNOWN

    def is_plain(self, value: gast.expr) -> bool:
        """An operation without effects that is worth a name."""
        if not is_pure(value):
            return False
        if isinstance(value, gast.Subscript):
            return True
        if isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Compare)):
            return not any(isinstance(n, gast.Call) for n in syntax.walk(value))
        if isinstance(value, gast.Call):
            callees = self.facts.callees.get(id(value), [])
            inner = [*value.args, *(k.value for k in value.keywords)]
            return len(callees) == 1 and (
                isinstance(callees[0], Op)
                and callees[0].adjoint is not None
                and not callees[0].writes
                and not any(isinstance(n, gast.Call) for n in syntax.walk(inner))
            )
        return False

    def pass_by(self, stmt: gast.stmt, known: _AtHand) -> None:
        """Forget the values that the statement does not leave as they are."""
        bound = syntax.names_written(stmt)
        for sub in syntax.all_statements([stmt]):
            if isinstance(sub, gast.AugAssign) and isinstance(sub.target, gast.Name):
                bound.add(sub.target.id)
        written = self.facts.written_by(syntax.walk(stmt))
        calls = False
        for sub in syntax.walk(stmt):
            if isinstance(sub, gast.Call):
                callees = self.facts.callees.get(id(sub), [])
                calls |= not all(isinstance(c, Op) for c in callees) or not callees
        known.forget([*bound, *written], bool(written) or calls)
