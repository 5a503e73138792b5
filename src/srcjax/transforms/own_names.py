"""A name of its own for an array that is made, and written to, in a loop or branch.

Before:                              After:

    h = x                                h = x
    for k in range(3):                   for k in range(3):
        h = np.tanh(W @ h)                   h2 = np.tanh(W @ h)
        h[0] = 0.0                           h2[0] = 0.0
                                             h = h2

`h` stands for `x` and then for the array of a trip, and no single expression is the
adjoint of both; that of `h2` is. An update of the whole array is no write at all, where
nothing else holds the array and its dtype and shape stay:

    h = np.tanh(W @ h)                   h = np.tanh(W @ h)
    h /= np.sum(h)                       h = h / np.sum(h)

Forward mode has no need of it: there a tangent is bound where its array is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import Way, leaves, runs
from srcjax.analysis.flow.mentions import has_jump, own_mentions
from srcjax.analysis.known_values import OPERATORS
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    NONE,
    UNKNOWN,
    Array,
    Buffers,
    Const,
    Type,
    Varies,
    ageless_buffers,
    are_alike,
    varies,
)
from srcjax.frontend.unit import Unit
from srcjax.ops.infer_rules import infer_elementwise
from srcjax.ops.record import are_tangents
from srcjax.transforms.rebinding import is_new, may_be_shared
from srcjax.transforms.webs import take_after, unsplittable


def name_new_arrays(program: Program, unit: Unit) -> bool:
    """Name such arrays of a unit; whether there are any."""
    if varies() is not Varies.DERIVATIVES or are_tangents():
        return False
    written = program.facts.written()
    names = {
        name
        for name, t in program.types_of(unit).items()
        if isinstance(t, Array) and len(t.buffers) > 1 and t.buffers & written
    }
    if not names:
        return False
    names -= unsplittable(unit.node)
    for stmt in syntax.all_statements(unit.node.body):
        if runs(stmt, Way.ATTEMPT):  # an exception may leave it anywhere
            names -= syntax.names_written(stmt)
    naming = _Naming(program, unit, names)
    found = naming.by_values()
    for name in sorted(names):
        found |= naming.named(name)
    return found


@dataclass(frozen=True)
class _Made:
    """A statement that makes arrays of a name, and how far it stands for no others."""

    block: list[gast.stmt]
    stmt: Any
    start: int
    stop: int

    def behind(self) -> list[gast.stmt]:
        return self.block[self.start : self.stop]


class _Naming:
    """What loops and branches of a unit make, by names of several arrays."""

    def __init__(self, program: Program, unit: Unit, names: set[str]) -> None:
        self.program = program
        self.facts = program.facts
        self.unit = unit
        self.names = names
        self.types = program.types_of(unit)

    def by_values(self) -> bool:
        """Write updates as new values where they are that; whether there are any."""
        found = {
            id(stmt)
            for name in self.names
            for made in self.makers(name, (gast.Assign,))
            for stmt in self.writers(made.behind(), self.memory(made.stmt, name))
            if self.is_value(stmt, name)
        }
        for block in syntax.blocks(self.unit.node.body) if found else ():
            block[:] = [_as_value(s) if id(s) in found else s for s in block]
        return bool(found)

    def named(self, name: str) -> bool:
        """Name what is made under a name of several arrays, where that is all it takes.

        It is not where another write through the name is left.
        """
        memory = ageless_buffers(getattr(self.types[name], "buffers", NONE))
        left = {
            id(s)
            for s in self.writers(self.unit.node.body, memory)
            if name in own_mentions(s)
        }
        if not left:
            return False
        naming = []
        for made in self.makers(name, (gast.Assign, gast.If)):
            own = self.memory(made.stmt, name)
            inside = self.writers([made.stmt, *made.behind()], own)
            if inside:
                naming.append(made)
                left.difference_update(map(id, inside))
        if left:
            return False
        for made in reversed(naming):
            self.rename(made, name)
        return True

    def makers(self, name: str, kinds: tuple[type, ...]) -> Iterator[_Made]:
        """Where loops and branches make arrays of the name, none inside of another."""
        yield from self.makers_in(self.unit.node.body, name, kinds, outermost=True)

    def makers_in(
        self, block: list[Any], name: str, kinds: tuple[type, ...], outermost: bool
    ) -> Iterator[_Made]:
        stop = 0
        for place, stmt in enumerate(block):
            if place < stop:
                continue
            makes = isinstance(stmt, kinds) and self.makes(stmt, name)
            if makes and not outermost:
                stop = _end(block, place + 1, name)
                yield _Made(block, stmt, place + 1, stop)
                continue
            for inner in syntax.inner_blocks(stmt):
                yield from self.makers_in(inner, name, kinds, outermost=False)

    def makes(self, stmt: Any, name: str) -> bool:
        """Whether the name stands for new arrays alone once the statement has run."""
        if isinstance(stmt, gast.Assign):
            bound = stmt.targets[0]
            return syntax.is_name(bound, name) and is_new(self.program, stmt)
        return isinstance(stmt, gast.If) and all(
            self.makes_in(block, name) for block in (stmt.body, stmt.orelse)
        )

    def makes_in(self, block: list[Any], name: str) -> bool:
        """Whether a block makes the array, whatever the name stood for before."""
        binding = [s for s in block if _binds(s, name)]
        return (
            bool(binding)
            and not has_jump(block)
            and all(self.makes(s, name) for s in binding)
        )

    def memory(self, stmt: gast.stmt, name: str) -> Buffers:
        """The memory of the arrays that the statement makes."""
        held = self.facts.held
        found = (
            held.get((id(s), True), {}).get(name, NONE)
            for s in syntax.all_statements([stmt])
            if isinstance(s, gast.Assign) and _binds(s, name)
        )
        return ageless_buffers(NONE.union(*found))

    def writers(self, block: list[gast.stmt], memory: Buffers) -> list[gast.stmt]:
        """The statements that write to the memory."""
        return [
            s
            for s in syntax.all_statements(block)
            if memory & self.facts.written_by([s, *syntax.walk(syntax.head(s))])
        ]

    def is_value(self, stmt: Any, name: str) -> bool:
        """Whether `name op= v` is `name = name op v` to all that reads it."""
        if not isinstance(stmt, gast.AugAssign) or not syntax.is_name(
            stmt.target, name
        ):
            return False
        if type(stmt.op) not in (gast.Add, gast.Sub, gast.Mult, gast.Div):
            return False
        if may_be_shared(self.program, self.unit, stmt, name, entry=False):
            return False
        variants = [v.before for v in self.facts.of(stmt)]
        return bool(variants) and all(
            _stays(stmt, types.get(name, UNKNOWN), types) for types in variants
        )

    def rename(self, made: _Made, name: str) -> None:
        """Give what the statement makes a name of its own, as far as `made` reaches."""
        new = self.unit.names.fresh(name)
        take_after(self.unit, new, name)
        _rename_made([made.stmt, *made.behind()], name, new)
        handed = syntax.assign(name, syntax.name(new))
        made.block.insert(made.stop, gast.copy_location(handed, made.stmt))


def _rename_made(block: list[Any], name: str, new: str) -> None:
    """Rename it from where the first statement that binds it has made its array."""
    place = next(k for k, s in enumerate(block) if _binds(s, name))
    maker = block[place]
    if isinstance(maker, gast.If):
        for side in (maker.body, maker.orelse):
            _rename_made(side, name, new)
    else:
        syntax.rename(maker.targets, {name: new})
    syntax.rename(block[place + 1 :], {name: new})


def _binds(stmt: Any, name: str) -> bool:
    """Whether the name is bound inside; an update in place leaves it what it is."""
    return any(
        name in syntax.names_written(syntax.head(s))
        for s in syntax.all_statements([stmt])
        if not isinstance(s, gast.AugAssign)
    )


def _end(block: list[gast.stmt], start: int, name: str) -> int:
    """Where the name is bound again, or the block may be left, or ends."""
    for place, stmt in enumerate(block[start:], start):
        if _binds(stmt, name) or has_jump(stmt) or leaves([stmt]):
            return place
    return len(block)


def _stays(stmt: gast.AugAssign, old: Type, types: dict[str, Type]) -> bool:
    """Whether the result has the dtype and shape of the array that is updated."""
    if isinstance(stmt.value, gast.Constant):
        value: Type = Const(value=stmt.value.value)
    else:
        value = types.get(getattr(stmt.value, "id", ""), UNKNOWN)
    return are_alike(old, infer_elementwise(OPERATORS[type(stmt.op)], old, value))


def _as_value(stmt: Any) -> gast.stmt:
    name = stmt.target.id
    value = gast.BinOp(syntax.name(name), stmt.op, stmt.value)
    new = syntax.assign(name, gast.copy_location(value, stmt))
    syntax.take_line(new, stmt)
    return gast.copy_location(new, stmt)
