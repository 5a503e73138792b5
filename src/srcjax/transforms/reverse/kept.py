"""What a backward sweep keeps, and that it is as good as a copy of it.

    for k in range(n):                  for k in reversed(range(n)):
        y, saved = f_forward(v)             saved = saved_tape.pop()
        v[k] = y                            v[k] = v_tape.pop()
        saved_tape.append(saved)            dv += f_backward(saved, dy)

`saved` holds `v`, which is written to: but where `f_backward` reads it, `v` holds again
what it held. The sweep is written so that this is true. For the next derivative the
names of what it keeps are told (`read.KEPT_MADE`): an array that goes through one of
them has an adjoint of its own, as a copy would have.
"""

from __future__ import annotations

import functools
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import bound_names, swap_pairs
from srcjax.analysis.flow.positions import Position
from srcjax.analysis.types import UNKNOWN, Buffers, Tuple, all_buffers
from srcjax.transforms.reads_writes import written_name
from srcjax.transforms.reverse.memory import Memory
from srcjax.transforms.reverse.plan import Read
from srcjax.transforms.reverse.sweep import Branch, Group


class Keeping(Memory):
    """Tells what is kept by this sweep, and was by one before; a part of `Planner`."""

    content_reads: dict[str, list[Read]]

    @functools.cached_property
    def linking(self) -> list[tuple[gast.stmt, Position]]:
        """Simple statements with their places."""
        found = []

        def visit(nodes: list) -> None:
            for node in nodes:
                if isinstance(node, Group):
                    found.append((node.stmt, self.where[id(node.stmt)]))
                elif isinstance(node, Branch):
                    visit(node.then)
                    visit(node.orelse)
                else:
                    visit(node.body)

        visit(self.nodes)
        return found

    def push_name(self, tape: str, name: str) -> gast.stmt:
        """Keep what a name holds; the next derivative is told if it may be a copy."""
        push: Any = gast.Expr(
            syntax.expression("t.append(v)", t=syntax.name(tape), v=syntax.name(name))
        )
        if self.is_as_copied(name):
            push.keeps = "saved" if name in self.rules.saved else "tape"
        return push

    def is_as_copied(self, name: str) -> bool:
        """Whether backward code reads what a tape holds of a name as it was kept.

        Or as the name itself, and nothing else, has written to it since.
        """
        if name in self.rules.shadows.names.values():
            return False  # an adjoint: what it is taken off for is to be added to
        if name in self.rules.saved:
            return True
        memory = self.buffers_of(name)
        for at, write in self.writes:
            undone = id(write) in self.plan.contents
            if not undone or not self.written_buffers(write) & memory:
                continue
            if swap_pairs(write):
                return False
            if written_name(write) == name:
                readers = [
                    n for n in self.content_reads if not self.is_seen_as(n, name)
                ]
            else:
                readers = [n for n in self.content_reads if n == name]
            if any(self.sees(reader, at, write) for reader in readers):
                return False
        return True

    def sees(self, name: str, at: Position, write: Any) -> bool:
        """Whether backward code reads what the write has changed, by this name."""
        return any(
            self.may_change(self.memory_of(name, read), read, at, write)
            for read in self.content_reads[name]
        )

    def is_seen_as(self, view: str, name: str) -> bool:
        """Whether it is the name, or a view that is taken of it where it is read."""
        if view == name:
            return True
        taped = [*self.plan.local.values(), *self.plan.overwritten.values()]
        root = self.rules.views.get(view, ("",))[0]
        return root == name and not any(view in names for names in taped)

    # -- what an earlier sweep has kept -----------------------------------------------

    @functools.cached_property
    def parted(self) -> set[str]:
        """Results of forward functions: `pair` of `y, saved = pair`."""
        found = set()
        for stmt, _ in self.linking:
            target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
            if not isinstance(target, gast.Tuple) or not syntax.is_name(stmt.value):
                continue
            last = target.elts[-1]
            if isinstance(last, gast.Name) and last.id in self.unit.saved:
                found.add(stmt.value.id)
        return found

    def linked(self, stmt: Any, name: str) -> Buffers:
        """The memory that the statement lets a name hold; what is kept is a copy."""
        found: Buffers = frozenset()
        for variant in self.rules.facts.of(stmt):
            t = variant.after.get(name, UNKNOWN)
            if name in self.parted and isinstance(t, Tuple) and len(t.items) == 2:
                t, kept = t.items
                found |= self.not_as_copied(all_buffers(kept))
            found |= all_buffers(t)
        return found

    def unkept(self, target: str, other: str, shared: Buffers) -> Buffers:
        """What two names share, less what one keeps for an earlier sweep."""
        names = {target, other}
        if names & self.unit.tapes:
            return frozenset()
        if names & self.taken_from_saved(shared):
            return self.not_as_copied(shared)
        return shared

    def is_apart(self, write: Any, *names: str) -> bool:
        """Whether the write is to a copy, or the names hold one that it is not to."""
        through = self.root(written_name(write))
        roots = set(map(self.root, names))
        if not through or through in roots:
            return False
        return any(map(self.is_popped, [through, *roots]))

    def root(self, name: str) -> str:
        """The name that a view is taken of."""
        found: str = self.rules.views.get(name, (name,))[0]
        return found

    def is_popped(self, name: str) -> bool:
        """Whether the name always holds what was on a tape, as good as a copy."""

        def pops(stmt: Any) -> bool:
            value = stmt.value if isinstance(stmt, gast.Assign) else None
            called = value.func if isinstance(value, gast.Call) else None
            return syntax.root_of(called) in self.unit.tapes

        return all(pops(s) for _, s in self.defs.get(name, [(None, None)]))

    def not_as_copied(self, memory: Buffers) -> Buffers:
        """What is written to by way of what forward functions have saved."""
        found: Buffers = frozenset()
        for _, write in self.writes:
            written = self.written_buffers(write) & memory
            if not written:
                continue
            taken = self.taken_from_saved(written)
            through = written_name(write)
            if through in taken or not through and syntax.names_read(write) & taken:
                found |= written
        return found

    def taken_from_saved(self, memory: Buffers) -> set[str]:
        """Names that have some of the memory from what forward functions saved."""
        taken = set(self.unit.saved)
        size = -1 if taken else 0
        while size != len(taken):
            size = len(taken)
            for stmt, _ in self.linking:
                if not syntax.names_read(stmt) & taken:
                    continue
                taken |= {
                    name
                    for name in bound_names(stmt)
                    if all_buffers(self.rules.type_of_name(name)) & memory
                }
        return taken
