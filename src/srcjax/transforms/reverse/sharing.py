"""Refuses writes to memory that two names hold, each with an adjoint of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import bound_names, swap_pairs
from srcjax.analysis.flow.positions import Position
from srcjax.analysis.types import (
    NONE,
    UNKNOWN,
    Array,
    Const,
    Earlier,
    Object,
    Scalar,
    Tuple,
    Type,
    Unknown,
    ageless_buffers,
    all_buffers,
    is_number,
    parts,
    site_of,
)
from srcjax.transforms.reads_writes import (
    changed_container,
    hands_over_new,
    traded_items,
    written_name,
)
from srcjax.transforms.reverse.kept import Keeping
from srcjax.transforms.reverse.plan import Read
from srcjax.transforms.reverse.shadows import Unfollowed


class Sharing(Keeping):
    """Finds the names that see what is written through another; a part of `Planner`."""

    def check_swaps(self) -> None:
        """Refuse to swap buffers of which something else holds one afterwards."""
        for at, stmt in self.writes:
            pairs = swap_pairs(stmt)
            swapped = {name for name, _ in pairs}
            for name in sorted(self.rules.types):
                if name in swapped or not pairs:
                    continue
                shared = all_buffers(self.rules.type_of_name(name))
                if not shared & self.written_buffers(stmt):
                    continue
                bound = self.defs.get(name, [])
                if self.read_after(name, at, bound[0][0] if bound else None):
                    self.rules.stmt = stmt
                    raise self.rules.refuse(
                        f"`{name}` holds one of the arrays that are swapped here",
                        f"a copy where `{name}` gets it",
                    )

    def check_aliases(self) -> None:
        """Refuse writes to memory that a container or another name holds as well.

        The adjoint of a buffer lives in one place; a second name for the buffer that is
        no view of the first (an item of a list, say) has an adjoint of its own, which
        is right only as long as nothing is written to the buffer any more.
        """
        types = self.rules.types
        trees = {n: self.rules.views[n][0] for n in self.rules.views}
        trees |= dict.fromkeys(self.rules.shadows.names, "")  # all share as memory does
        for stmt, where in self.linking:
            facts = self.rules.facts.of(stmt)
            reads = syntax.names_read(stmt)
            targets = set(bound_names(stmt)) | changed_container(stmt)
            for target in sorted(targets):
                holds = self.linked(stmt, target) & self.rules.written
                here = {id(n) for n in syntax.walk(stmt)}
                holds = {b for b in holds if site_of(b) not in here}  # not made here
                root = trees.get(target, target)
                for other in sorted(reads - {target}):
                    shared = holds & {
                        b
                        for v in facts
                        if other in v.before
                        for b in all_buffers(v.before[other])
                    }
                    if not shared or trees.get(other, other) == root:
                        continue
                    if target not in types or not (
                        self.rules.active(syntax.name(target))
                        or self.is_taken_out_later(other)
                    ):
                        continue
                    if hands_over_new(self.unit, self.rules.facts, stmt):
                        continue
                    held = self.unkept(target, other, frozenset(shared))
                    self.refuse_later_writes(stmt, where, held, other, target)

    def is_taken_out_later(self, other: str) -> bool:
        """Whether what a container got may carry a derivative, though it has none.

        So it is with an array that was taken out again before it was written to.
        """
        held = isinstance(self.rules.type_of_name(other), Array)
        return held and self.rules.active(syntax.name(other))

    def check_objects(self) -> None:
        """Refuse to hand an object on from name to name in a loop that changes it.

        `q = p; q.a = ...; p = q`, as `p += r` is of a class with `__iadd__`: each name
        has adjoints of its own for the attributes, which no iteration hands on.
        """
        handed = {
            (s.targets[0].id, s.value.id)
            for s, where in self.linking
            if where.loops
            and isinstance(s, gast.Assign)
            and syntax.is_name(s.value)
            and syntax.is_name(s.targets[0])
        }
        for stmt, where in self.linking:
            if not (where.loops and isinstance(stmt, gast.Assign)):
                continue
            if len(stmt.targets) > 1:
                continue  # no differentiated value: core form has one target
            (target,) = stmt.targets
            if not (syntax.is_name(stmt.value) and syntax.is_name(target)):
                continue
            if (stmt.value.id, target.id) not in handed:
                continue  # no iteration gets it back
            t = self.rules.type_of_name(target.id)
            if not (isinstance(t, Object) and len(self.defs.get(target.id, ())) > 1):
                continue
            if self.rules.active(target) and t.buffers & self.rules.written:
                self.rules.stmt = stmt
                raise self.rules.refuse(
                    "an object that is changed in this loop is bound again",
                    "change the object under one name, or make a new one",
                )

    def check_repeats(self) -> None:
        """Refuse writes to an item of a container that may hold the item twice.

        The adjoint of a container has one place for each item.
        """
        for _, write in self.writes:
            name = written_name(write)
            while name in self.rules.views and len(self.defs.get(name, ())) == 1:
                memory = self.rules.type_of_name(name).buffers
                value: Any = getattr(self.defs[name][0][1], "value", None)
                name = syntax.root_of(value)
                owner = self.rules.type_of_name(name)
                if isinstance(owner, Array):
                    continue  # a view of an array, not an item
                for buffer in sorted(memory, key=repr):
                    if self.is_put_once(frozenset([buffer]), owner):
                        continue
                    self.rules.stmt = write
                    root = self.rules.views.get(name, (name,))[0]
                    raise self.rules.refuse(
                        f"`{root}` may hold what is changed here more than once",
                        f"a copy of its own for each item of `{root}`: `.copy()`",
                    )

    def is_put_once(self, memory: frozenset, owner: Type) -> bool:
        """Whether memory made at one place is never put into the container twice."""
        found = self.direct_puts(memory, owner)
        if len(found) > 1:
            return False
        for held, where in found:
            if where.loops and (
                any(isinstance(b, Earlier) for b in held)
                or not all(self.are_made_in(k, held) for k in where.loops)
            ):
                return False
        return True

    def direct_puts(
        self, memory: frozenset, owner: Type
    ) -> list[tuple[frozenset, Position]]:
        """The memory as it is each time it becomes an item of the container."""
        found = []
        traded = traded_items(self.unit.node)
        sources = self.sources_of(memory, owner)
        for stmt, where in self.linking:
            if id(stmt) in traded:
                continue  # each item is there as often as before
            if self.puts_twice(stmt, memory):
                found += [(memory, where)] * 2
                continue
            into = changed_container(stmt)
            value = getattr(stmt, "value", None)
            if any(isinstance(self.rules.type_of_name(n), Array) for n in into):
                continue  # what an array gets is copied
            if sources.isdisjoint(into or bound_names(stmt)):
                continue
            display = (gast.List, gast.Tuple, gast.Dict, gast.Call)
            if not into and not isinstance(value, display):
                if is_repeated(value) and self.items_hold(value, memory):
                    found += [(memory, where)] * 2
                continue
            if (
                isinstance(value, gast.Call)
                and not into
                and not (
                    isinstance(stmt, gast.Assign) and self.is_made_of(stmt, memory)
                )
            ):
                continue
            for name in sorted(syntax.names_read(stmt) - into):
                if not self.rules.type_of_name(name).buffers & memory:
                    continue
                here = self.memory_of(name, Read(where, False))
                held = frozenset(
                    b for b in here if ageless_buffers(frozenset([b])) & memory
                )
                if held:
                    found += [(held, where)] * syntax.count_reads(value, name)
        return found

    def items_hold(self, value: Any, memory: frozenset) -> bool:
        """Whether an operand holds the memory in an item."""
        return any(
            all_buffers(self.rules.type_of_name(name)) & memory
            for name in syntax.names_read(value)
        )

    def sources_of(self, memory: frozenset, owner: Type) -> set[str]:
        """The names of the container, and of those that it was copied of."""
        types = self.rules.types
        found = {n for n in types if may_be_same(self.rules.type_of_name(n), owner)}
        holding = {
            n
            for n in types
            if inner_memory(self.rules.type_of_name(n)) & memory
            and not isinstance(self.rules.type_of_name(n), Array)
        }
        while True:
            more = set(found)
            for stmt, _ in self.linking:
                value = getattr(stmt, "value", None)
                copies = isinstance(value, gast.Call) and not changed_container(stmt)
                if copies and not found.isdisjoint(bound_names(stmt)):
                    more |= syntax.names_read(value) & holding
            if more == found:
                return found
            found = more

    def puts_twice(self, stmt: Any, memory: frozenset) -> bool:
        """Whether a statement makes a container that may hold the same thing twice.

            xs = xs + [xs[0]]       xs.extend(ys)       xs[1:] = ys

        Two of what is read for it, or one and what the container has, hold it. What is
        put into a container as one item is counted (`direct_puts`).
        """
        into = changed_container(stmt)
        value = getattr(stmt, "value", None)
        if value is None or not isinstance(stmt, (gast.Assign, gast.Expr)):
            return False
        if not into and not joins(value):
            return False
        for variant in self.rules.facts.of(stmt):
            if any(isinstance(variant.before.get(n), Array) for n in into):
                continue  # what an array gets is copied
            held = [inner_memory(variant.before.get(n, UNKNOWN)) for n in into]
            after = [inner_memory(variant.after.get(n, UNKNOWN)) for n in into]
            put = ageless_buffers(NONE.union(*after))
            for name in sorted(syntax.names_read(value) - into):
                t = variant.before.get(name, UNKNOWN)
                inner = inner_memory(t)
                if ageless_buffers(t.buffers) & put:
                    continue  # it is put there itself, as one item
                held += [inner] * (1 if into else syntax.count_reads(value, name))
            pairs = combinations(held, 2)
            if any(ageless_buffers(a & b) & memory for a, b in pairs):
                return True
        return False

    def is_made_of(self, stmt: Any, memory: frozenset) -> bool:
        """Whether a call gives a container that holds the memory in an item."""
        t = self.rules.type_of_name(getattr(stmt.targets[0], "id", ""))
        return bool(all_buffers(t) & memory) and not t.buffers & memory

    def refuse_later_writes(
        self, stmt: Any, where: Position, shared: frozenset, other: str, target: str
    ) -> None:
        link = Read(where, False)
        held = self.memory_of(other, link)
        held = frozenset(b for b in held if ageless_buffers(frozenset([b])) & shared)
        for at, write in self.writes:
            if write is stmt or not self.written_buffers(write) & shared:
                continue
            if swap_pairs(write):
                continue  # `check_swaps` has seen to it
            if self.is_apart(write, other, target):
                continue
            if not self.may_change(held, link, at, write):
                continue
            if self.seen_after(write, at, other, target, where, shared):
                self.rules.stmt = write
                instead = f"a copy where `{target}` gets it: `{other}.copy()`"
                if len(self.defs.get(target, ())) > 1:  # `y = a if c else b`
                    instead = f"the write in each branch, to `{other}` itself in this"
                error = self.rules.refuse(
                    f"this writes to memory that both `{other}` and `{target}` hold",
                    instead,
                )
                raise Unfollowed(error, ageless_buffers(shared))

    def seen_after(
        self,
        write: Any,
        at: Position,
        other: str,
        target: str,
        link: Position,
        shared: frozenset,
    ) -> bool:
        """Whether the memory is seen later through a name that was not written."""
        taken = self.taken_out(write)
        views = self.rules.views
        base = written_name(write)
        root = views.get(base, (base,))[0]
        groups = []
        for name in (other, target):
            mine = views.get(name, (name,))[0]
            groups.append({mine, *(n for n, v in views.items() if v[0] == mine)})
        for near, far in (groups, groups[::-1]):
            if root in near and root not in far:
                return any(
                    self.read_after(n, at, link if n == target else None, taken, shared)
                    for n in sorted(far)
                )
        # Written through a third name: it is the one adjoint if the others are done.
        return any(
            self.read_after(n, at, link if n == target else None, taken, shared)
            for n in sorted(groups[0] | groups[1])
        )

    def taken_out(self, write: Any) -> list[gast.stmt]:
        """`v = xs.pop()` by which the write has what is in the list no longer.

            w = xs.pop(); v = w[0].pop(); v[0] = 1.0       (both of them)

        So it is unless a list holds it twice: what is put into the list has to be
        something of its own each time.
        """
        base, seen = written_name(write), set()
        memory = ageless_buffers(direct_memory(self.rules.type_of_name(base)))
        found: list[gast.stmt] = []
        while base not in seen and len(self.defs.get(base, ())) == 1:
            seen.add(base)
            stmt: Any = self.defs[base][0][1]
            value = getattr(stmt, "value", None)
            owner = syntax.root_of(value, lambda call: call.func) or base
            if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
                pops = value.func.attr == "pop" and not value.args
                if not pops or not self.is_own_each_time(memory):
                    break
                found.append(stmt)
                t = self.rules.type_of_name(owner)
                memory = ageless_buffers(direct_memory(t))
            base = owner
        return found

    def is_own_each_time(self, memory: frozenset) -> bool:
        """Whether what is put into lists is new each time, and put there once."""
        puts = self.puts(memory)
        return len(puts) <= 1 and all(
            not any(isinstance(b, Earlier) for b in held)
            and all(self.are_made_in(key, held) for key in where.loops)
            for held, where in puts
        )

    def puts(self, memory: frozenset) -> list[tuple[frozenset, Position]]:
        """What of the memory is put into a container, once for each time.

        In a tuple too, but not in a list that is put there.
        """
        found = []
        for stmt, where in self.linking:
            into = changed_container(stmt)
            if not into and not isinstance(getattr(stmt, "value", None), gast.List):
                continue
            for name in syntax.names_read(stmt) - into:
                direct = ageless_buffers(direct_memory(self.rules.type_of_name(name)))
                held = frozenset(
                    b
                    for b in self.memory_of(name, Read(where, False))
                    if ageless_buffers(frozenset([b])) & memory & direct
                )
                if held:
                    found += [(held, where)] * syntax.count_reads(stmt, name)
        return found

    def read_after(
        self,
        name: str,
        at: Position,
        link: Position | None = None,
        taken: Sequence[gast.stmt] = (),
        shared: frozenset | None = None,
    ) -> bool:
        """Whether the program reads the name after the place, before a new binding.

        Of a container, what else there is than the `shared` memory may be read.

        `link` is where the name is bound: when that comes later in the same iteration,
        only reads before it see what was written. Statements that have `taken` the
        memory out of lists do not find it there again.
        """
        if link is None and len(self.defs.get(name, ())) == 1:
            link = self.defs[name][0][0]
        for stmt, where in self.linking:
            if any(stmt is each for each in taken):
                continue
            if shared is not None and self.reads_other_parts(stmt, name, shared):
                continue
            if name in syntax.names_read(stmt):
                both = set(where.loops) & set(at.loops)
                if any(self.stays(name, key) for key in both):
                    return True
                again = link is not None and at.order < link.order < where.order
                if again and syntax.count_bindings(self.unit.node, name) == 1:
                    continue
                if where.order > at.order and not where.excludes(at):
                    return True
        if name not in syntax.names_read(self.unit.node.body[-1]):
            return False
        # A single binding after the last write is all that the caller sees.
        later = link is not None and at.order < link.order
        apart = link is not None and not set(link.loops) & set(at.loops)
        return not (
            later and apart and syntax.count_bindings(self.unit.node, name) == 1
        )

    def reads_other_parts(self, stmt: Any, name: str, shared: frozenset) -> bool:
        """Whether it reads arrays and numbers of a container that are not shared.

        As `np.zeros_like(saved[0][2])` does, of which only `saved[1]` is written to.
        """
        if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.targets[0]):
            return False
        parts = list(_parts_read(stmt.value, name))
        t = self.rules.type_of_name(name)
        for part in parts:
            found = self.rules.typer.type_of(part, {name: t})
            if is_number(found):
                continue
            if not isinstance(found, Array) or not found.buffers:
                return False
            if ageless_buffers(found.buffers) & ageless_buffers(shared):
                return False
        return bool(parts)

    def stays(self, name: str, loop: int) -> bool:
        """Whether an iteration may find in the name what the one before it left."""
        inside = any(loop in where.loops for where, _ in self.defs.get(name, ()))
        return not inside or (loop, name) in self.carried


def _parts_read(node: Any, name: str) -> Iterator[gast.expr]:
    """What is read through a name: `saved[0][2]`, of places that are written there."""
    at = node
    while isinstance(at, gast.Subscript) and isinstance(at.slice, gast.Constant):
        at = at.value
    if syntax.is_name(at, name):
        yield node
        return
    for child in gast.iter_child_nodes(node):
        yield from _parts_read(child, name)


def may_be_same(t: Type, owner: Type) -> bool:
    """Whether a value of a type may be the container; tuples have no memory."""
    if not owner.buffers:
        return not t.buffers and not isinstance(t, (Scalar, Const))
    return bool(t.buffers & owner.buffers)


def is_repeated(value: Any) -> bool:
    """Whether the expression is `xs * n`."""
    return isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult)


def direct_memory(t: Type) -> frozenset:
    """The memory of a value, and of what is in a tuple or object, not in a list."""
    if isinstance(t, (Tuple, Object)):
        return t.buffers.union(*map(direct_memory, parts(t)))
    return all_buffers(t) if isinstance(t, Unknown) else t.buffers


def inner_memory(t: Type) -> frozenset:
    """The memory of what is in a container."""
    return NONE.union(*map(all_buffers, parts(t)))


def joins(value: gast.expr) -> bool:
    """Whether an expression may give what is in several containers in one."""
    if isinstance(value, (gast.List, gast.Tuple)):
        return any(isinstance(e, gast.Starred) for e in value.elts)
    joined = isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add)
    return joined or isinstance(value, gast.Call)
