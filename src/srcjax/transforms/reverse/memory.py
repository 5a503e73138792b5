"""Whether a write in place may change what was read before it.

    for t in range(n):
        new = u.copy()
        new[1:-1] = f(u)
        u = new

All the arrays that one line makes have one name in types, so `u` and `new` seem to
share memory. But inference tells what the latest iteration made from what earlier ones
made (`analysis.types.Earlier`): what is written here is the latest array, and `u` is
an older one. What is older when it is read never becomes the latest again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import swap_pairs
from srcjax.analysis.flow.control import Way, runs
from srcjax.analysis.flow.positions import Position
from srcjax.analysis.types import (
    NONE,
    Array,
    Buffers,
    Earlier,
    Type,
    Unknown,
    ageless_buffers,
    all_buffers,
    parts,
    site_of,
)
from srcjax.transforms.call_effects import effect_of
from srcjax.transforms.reverse.plan import Planning, Read


class Memory(Planning):
    """Compares the memory of reads and writes; a part of `Planner`."""

    def is_write(self, stmt: gast.stmt) -> bool:
        """Whether the statement, or the head of a loop or branch, writes in place."""
        return self.writes_itself(stmt) or bool(self.hidden_writes(stmt))

    def writes_itself(self, stmt: Any) -> bool:
        """Whether the statement tells what it writes: a store, or a method's call."""
        facts = self.rules.facts
        own = [id(stmt), id(getattr(stmt, "value", None))]
        return any(n in facts.writes and n not in facts.unclear for n in own)

    def hidden_writes(self, stmt: Any) -> list[Any]:
        """What else in the statement, or in the head of one, writes to memory.

        Calls that are not looked into, and calls inside of expressions.
        """
        if id(stmt) not in self.hidden:
            facts = self.rules.facts
            head = getattr(stmt, "test", None) or getattr(stmt, "iter", None) or stmt
            own = [stmt, getattr(stmt, "value", None)]
            # Statements whose blocks are statements of their own, and without a test.
            outer = isinstance(stmt, gast.FunctionDef) or runs(
                stmt, Way.ONCE, Way.ATTEMPT
            )
            self.hidden[id(stmt)] = [
                n
                for n in ([stmt] if outer else syntax.walk(head))
                if id(n) in facts.writes
                and (id(n) in facts.unclear or not any(n is o for o in own))
            ]
        return self.hidden[id(stmt)]

    def written_buffers(self, stmt: gast.stmt) -> Buffers:
        """Buffers that the statement writes in place, by the place that made them."""
        return ageless_buffers(self.written_memory(stmt))

    def written_memory(self, stmt: gast.stmt) -> Buffers:
        """The same, with what earlier iterations made told apart."""
        writes = self.rules.facts.writes
        inner = id(getattr(stmt, "value", None))
        found = writes.get(id(stmt), NONE) | writes.get(inner, NONE)
        return found.union(*(writes[id(n)] for n in self.hidden_writes(stmt)))

    def restored_buffers(self) -> Buffers:
        """The buffers whose contents the backward sweep brings back."""
        undone = [s for _, s in self.writes if id(s) in self.plan.contents]
        return NONE.union(*map(self.written_buffers, undone))

    def memory_of(self, name: str, read: Read) -> Buffers:
        """The buffers that the name, and what is in it, may share where it is read."""
        known = all_buffers(self.rules.type_of_name(name))
        stmt = self.stmts.get(read.where.order)
        held = self.rules.facts.held.get((id(stmt), read.after), {}).get(name)
        if stmt is None:  # the end of a loop
            held = self.held_before(name, read.where)
        if held is None or not ageless_buffers(held) <= known:
            return known | frozenset(map(Earlier, known))
        if hides_parts(self.rules.type_of_name(name)):
            # What was put into it later may be newer than the thing itself.
            aged = (self.written_memory(stmt) for _, stmt in self.writes)
            older = frozenset(b for b in NONE.union(*aged) if isinstance(b, Earlier))
            held |= ageless_buffers(held & older)
        return held

    def held_before(self, name: str, where: Position) -> Buffers | None:
        """What the name held at the last statement before a place that knows of it.

        None where it may be bound anew since then, or where that may not have run; and
        of what holds other memory, which may have got more by another name.
        """
        if any(map(all_buffers, parts(self.rules.type_of_name(name)))):
            return None
        depth = len(where.loops)
        for order in range(where.order - 1, -1, -1):
            stmt = self.stmts.get(order)
            if stmt is None:
                continue
            if name in syntax.names_written(syntax.head(stmt)):
                return None
            held = self.rules.facts.held.get((id(stmt), False), {}).get(name)
            here = self.where[id(stmt)]
            if held is None:
                continue
            runs = here.loops[:depth] == where.loops and not (
                here.sides.items() - where.sides.items()
            )
            return held if runs else None
        return None

    def traded_with(self, buffers: Buffers) -> Buffers:
        """The buffers, and those that they exchange their contents with."""
        size = -1
        while size != len(buffers):
            size = len(buffers)
            for _, stmt in self.writes:
                if swap_pairs(stmt) and self.written_buffers(stmt) & buffers:
                    buffers |= self.written_buffers(stmt)
        return buffers

    def buffers_of(self, name: str) -> Buffers:
        """The buffers that a name may share, and those that they are swapped with."""
        return self.traded_with(all_buffers(self.rules.type_of_name(name)))

    def is_alone(self, name: str) -> bool:
        """Whether the name holds arrays made here that nothing else holds, ever."""
        held = ageless_buffers(all_buffers(self.rules.type_of_name(name)))
        if not held or any(site_of(buffer) is None for buffer in held):
            return False
        others = (self.rules.type_of_name(n) for n in self.defs if n != name)
        if any(ageless_buffers(all_buffers(t)) & held for t in others):
            return False
        return not any(
            self.hands_on(node) and name in syntax.names_read(node)
            for node in syntax.walk(self.unit.node.body)
        )

    def hands_on(self, node: Any) -> bool:
        """Whether what the node mentions may be kept where types do not tell of it."""
        if isinstance(node, (gast.FunctionDef, gast.Lambda, gast.Yield)):
            return True
        if isinstance(node, gast.Assign):
            return any(
                isinstance(place, (gast.Attribute, gast.Subscript))
                and not isinstance(self.rules.type_of(place.value), Array)
                for place in node.targets
            )
        return isinstance(node, gast.Call) and not effect_of(node).pure

    def may_change(self, held: Buffers, read: Read, at: Position, write: Any) -> bool:
        """Whether the write, when it runs after the read, may change what was held."""
        return any(
            loops or read.before(at)
            for loops in self.meetings(held, read.where, at, write)
        )

    def meetings(
        self, held: Buffers, read: Position, at: Position, write: Any
    ) -> Iterator[list[int]]:
        """How the memory that is held at `read` may be written at `at`.

        For each way, the loops in a later iteration of which that may be.
        """
        loops = [key for key in read.loops if key in at.loops]
        written = self.written_memory(write)
        for mine in held:
            same = ageless_buffers(frozenset([mine]))
            traded = self.traded_with(same)
            for other in written:
                if not ageless_buffers(frozenset([other])) & traded:
                    continue
                older = isinstance(mine, Earlier), isinstance(other, Earlier)
                if older == (True, False) and traded == same:
                    continue
                if any(older):
                    yield loops
                else:  # of one iteration of each loop that they are made in
                    both = [mine, other]
                    yield [k for k in loops if not self.are_made_in(k, both)]

    def are_made_in(self, loop: int, buffers: Iterable[Any]) -> bool:
        """Whether the places that make the buffers are in the loop."""
        if loop not in self.places:
            body = self.loops[loop].stmt.body
            self.places[loop] = set(map(id, syntax.walk(body)))
        return all(site_of(b) in self.places[loop] for b in buffers)


def hides_parts(t: Type) -> bool:
    """Whether a part of the value may hold memory that its type does not tell."""
    return isinstance(t, Unknown) or any(map(hides_parts, parts(t)))
