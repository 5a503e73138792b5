"""Values that backward code computes again, so that they need not be saved."""

from __future__ import annotations

import functools
import math
from bisect import bisect_right
from types import ModuleType
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import bound_names, swap_pairs
from srcjax.analysis.flow.looking import SHAPE_ATTRIBUTES
from srcjax.analysis.flow.positions import Position
from srcjax.analysis.outside import changed_reads
from srcjax.analysis.types import (
    Array,
    Buffers,
    Const,
    Dict,
    List,
    Tuple,
    Type,
    ageless_buffers,
    all_buffers,
    is_number,
)
from srcjax.errors import UnsupportedError
from srcjax.ops.record import Op
from srcjax.transforms.call_effects import called, is_pure
from srcjax.transforms.iterables import is_collection
from srcjax.transforms.reads_writes import is_range
from srcjax.transforms.reverse.intact import Intact
from srcjax.transforms.reverse.plan import Read
from srcjax.transforms.reverse.sweep import Group
from srcjax.transforms.reverse.views import is_told_to_be_a_view

#: How many numbers an array has that is kept in place of some of them.
FEW = 32
#: Arithmetic that costs less than a tape.
_SIMPLE = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.Mod, gast.FloorDiv)


def is_small_power(value: gast.BinOp) -> bool:
    """Whether it is `x**2` or `x**3`."""
    exponent = getattr(value.right, "value", None)
    return isinstance(value.op, gast.Pow) and exponent in (2, 3)


def is_view(t: Type, base: Type) -> bool:
    """Whether what is read from an array has its memory, and none of its own.

    What is gathered by an index array has; an index may be one that is not known.
    """
    if not isinstance(t, Array) or not isinstance(base, Array):
        return False
    return bool(t.buffers) and ageless_buffers(t.buffers) <= ageless_buffers(
        base.buffers
    )


def _order(where: Position) -> int:
    return where.order


class Recomputing(Intact):
    """Decides what is computed again; a part of `Planner`."""

    def can_recompute(self, name: str, defs: list, block: int) -> gast.stmt | None:
        """The definition, if it is cheap and its operands are at hand."""
        if len(defs) != 1:
            return None
        where, stmt = defs[0]
        if not isinstance(stmt, gast.Assign) or where.blocks[-1] != block:
            return None
        if name not in bound_names(stmt):  # made beside it by the forward sweep
            return None
        if id(stmt) in self.plan.overwritten:
            return None
        value = stmt.value
        if not self.is_cheap(value):
            return None
        if any(self.reads_swapped(value, s) for _, s, _ in self.swaps):
            return None
        for other in syntax.names_read(value):
            if other not in self.defs:
                continue
            if not self.steady(other, where):
                return None
        if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
            t = self.rules.type_of_name(name)
            base = self.rules.type_of_name(value.value.id)
            if is_view(t, base):
                return stmt  # `plan_contents` sees to what it holds
            written = self.rules.written | self.inactive_writes()
            cut = isinstance(value.slice, gast.Slice) and isinstance(t, List)
            if cut and t.buffers & written:
                return None  # a list of its own, which is another one by then
            if self.keeps_items(base, written):
                return stmt  # the same object; `plan_contents` sees to what it holds
            if (all_buffers(base) & written or not all_buffers(base)) and (
                all_buffers(base) & written or isinstance(base, (List, Dict))
            ):
                return stmt if self.item_is_intact(where, stmt) else None
        return stmt

    def reads_around(self, value: gast.expr) -> bool:
        """Whether it is read from what the function changes around itself."""
        rules = self.rules
        return bool(changed_reads(rules.program, self.unit, value, rules.types.get))

    def keeps_items(self, t: Type, written: Buffers) -> bool:
        """Whether it is a container whose items stay the same objects."""
        if isinstance(t, (List, Dict)):
            return bool(t.buffers) and not t.buffers & written
        return isinstance(t, Tuple)

    def inactive_writes(self) -> frozenset:
        found: frozenset = frozenset()
        for _, stmt in self.writes:
            found |= self.written_buffers(stmt)
        return found

    def steady(self, name: str, at: Position) -> bool:
        """Whether the name has the same value at the iteration's end as at `at`."""
        for where, stmt in self.defs[name]:
            if isinstance(stmt, gast.For) and id(stmt) in at.loops:
                if sum(id(stmt) in w.loops for w, _ in self.defs[name]) > 1:
                    return False
                continue
            if set(where.loops) & set(at.loops):
                if where.order > at.order or any(
                    (key, name) in self.carried for key in where.loops
                ):
                    return False
                if len(self.defs[name]) > 1:
                    return False
        return True

    def is_same_always(self, name: str) -> bool:
        """Whether all iterations give the name one value, which then still stands.

        As `q` of `q = np.exp(-r * dt)` where the loops around bind neither operand,
        and the items of an inner `for x, y in zip(xs, ys)`.
        """
        defs = self.defs.get(name, [])
        if len(defs) != 1:
            return False
        where, stmt = defs[0]
        over = self.held_collection(name)  # a list of what the operands have
        value = self.value_of(stmt, name) if over is None else over
        if value is None or not is_pure(value) or self.reads_around(value):
            return False
        if id(stmt) in self.plan.overwritten or self.swaps_of(name):
            return False
        operands = syntax.names_read(value) & set(self.defs)
        held = operands if over is not None else {name, *operands}
        return all(map(self.never_changes, held)) and all(
            self.is_same_always(other)
            for other in operands
            if any(set(w.loops) & set(where.loops) for w, _ in self.defs[other])
        )

    def value_of(self, stmt: Any, name: str) -> gast.expr | None:
        """What a statement gives the name, by operations alone."""
        if not isinstance(stmt, gast.Assign) or not syntax.is_name(
            stmt.targets[0], name
        ):
            return None
        if isinstance(stmt.value, gast.Call):
            callees = self.rules.facts.callees.get(id(stmt.value), [])
            if not callees or not all(isinstance(c, Op) for c in callees):
                return None
        return stmt.value

    def held_collection(self, name: str) -> gast.expr | None:
        """What a loop goes over to its end whose items the name is for."""
        for key, held in self.held.items():
            node = self.loops.get(key)
            if held == name and node is not None and key not in self.trips:
                over: gast.expr = node.stmt.iter
                return over if is_range(over) or self.is_collection(over) else None
        return None

    def is_collection(self, node: gast.expr) -> bool:
        """Whether a loop runs over what can be put in a list before it."""
        names = {n: self.rules.type_of_name(n) for n in self.defs}
        return is_collection(node, self.rules.typer, names)

    def never_changes(self, name: str) -> bool:
        """Whether nothing writes to what the name holds."""
        t = self.rules.type_of_name(name)
        if isinstance(t, Array) and not is_number(t):
            written = self.rules.written | self.inactive_writes()
            return bool(t.buffers) and not t.buffers & written
        return is_number(t) or isinstance(t, Const)

    def reads_swapped(self, value: gast.expr, swap: gast.stmt) -> bool:
        """Whether the names have other buffers at the head of the backward code."""
        return bool(syntax.names_read(value) & syntax.names_written(swap))

    def is_cheap(self, value: gast.expr) -> bool:
        """Cheaper to compute again than to save."""
        if isinstance(value, (gast.Name, gast.Constant)):
            return True
        if not is_pure(value) or self.reads_around(value):
            return False
        if isinstance(value, gast.Subscript):
            if not isinstance(value.value, gast.Name):
                return False
            parts = syntax.walk(value.slice)
            cheap = not any(isinstance(p, gast.Call) for p in parts)
            t = self.rules.type_of_name(value.value.id)
            arrays = any(
                isinstance(self.rules.type_of_name(n), (Array, List))
                or n not in self.defs
                for n in syntax.names_read(value.slice)
            )
            return cheap and not (arrays and isinstance(t, Array))
        if isinstance(value, gast.Attribute):
            own = value.attr in ("T", *SHAPE_ATTRIBUTES)
            return own or self.is_of_module(value)
        if isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Compare)):
            return self.only_numbers(value)
        if isinstance(value, gast.Call):
            if called(value) == "len":
                return all(
                    isinstance(self.rules.type_of_name(n), (Array, Tuple))
                    for n in syntax.names_read(value.args)
                )
            callees = self.rules.facts.callees.get(id(value), [])
            sure = {"view", "read-only"}
            if is_told_to_be_a_view(value):
                sure.add("maybe")
            return self.only_numbers(value) or any(
                isinstance(c, Op) and c.cheap and c.alias in sure for c in callees
            )
        return False

    # -- at the head of the code that reads it ---------------------------------------

    def recompute_more(self) -> None:
        """Compute cheap values again whose operands are there anyway, late enough.

        At the head of an iteration's backward code a value that the iteration
        overwrites is not back yet; where the backward code of a statement starts, all
        names have the values that they had there in the forward sweep.
        """
        changed = True
        while changed:
            changed = False
            for block in list(self.plan.again):
                for stmt in list(self.plan.again[block]):
                    if self.reads_saved(stmt) and isinstance(
                        stmt.targets[0], gast.Name
                    ):
                        changed |= self.move_late(stmt.targets[0].id, block, stmt)
            for block in list(self.plan.local):
                for name in list(self.plan.local[block]):
                    if len(self.defs[name]) == 1:
                        stmt = self.defs[name][0][1]
                        changed |= self.move_late(name, block, stmt)
                        if name in self.plan.local[block]:
                            changed |= self.move_chain_late(name, block, stmt)
                changed |= self.move_together(block)
        for name, where, stmt in self.standing_in_branches():
            side = where.blocks[-1]
            beside = {
                n
                for n in self.reads_of(stmt) - set(self.plan.late)
                for at, _ in self.defs.get(n, ())
                if side in at.blocks
            }
            if not beside:
                self.move_late(name, side, stmt, standing=True)

    def standing_in_branches(self) -> list[tuple[str, Position, gast.stmt]]:
        """Values of one side of a branch that the backward code of that side reads.

        They stand as they are, but the text would have to make them on one side of a
        branch in order to read them on the same side of another one. In the order in
        which they are made: what reads what stays beside it stays there too.
        """
        kept = {n for names in self.plan.local.values() for n in names}
        again = {
            n
            for stmts in self.plan.again.values()
            for s in stmts
            for n in self.bound_by(s)
        }
        found = [
            (name, *defs[0])
            for name, defs in self.defs.items()
            if len(defs) == 1
            and name in self.reads
            and name not in kept | again | set(self.plan.late)
            and defs[0][0].sides
            and not defs[0][0].loops
        ]
        return sorted(found, key=lambda each: each[1].order)

    def reads_saved(self, stmt: gast.stmt) -> bool:
        """Whether the statement reads what is saved for the iteration alone."""
        saved = {n for names in self.plan.local.values() for n in names}
        return not saved.isdisjoint(self.reads_of(stmt))

    def move_together(self, block: int) -> bool:
        """Compute numbers late that are made of one other, if that one saves some.

        As both factors of `x = 3 * x * (1 - x)`, for which `x` is kept, or the items
        of a small array. A large one would be kept for two of its items.
        """
        saved = {n for n in self.plan.local[block] if self.is_made_once(n)}
        operands = {
            other
            for name in saved
            for other in self.names_in_definition(name)
            if other in self.defs and other not in saved and self.is_small(other)
        }
        for operand in sorted(operands):
            kept = self.remember()
            before, others = self.plan.saves(), saved
            todo = [n for n in sorted(saved) if operand in self.names_in_definition(n)]
            while todo:
                name = todo.pop()
                if self.move_late(name, block, self.defs[name][0][1], free=True):
                    new = set(self.plan.local[block]) - others
                    others = others | new
                    todo += sorted(filter(self.is_made_once, new))
            if self.plan.saves() < before:
                return True
            self.restore(kept)
        return False

    def is_small(self, name: str) -> bool:
        """Whether it is a number, or an array that is known to have a few."""
        t = self.rules.type_of_name(name)
        if not isinstance(t, Array) or is_number(t):
            return True
        shape = t.shape or (None,)
        sizes = [n for n in shape if isinstance(n, int)]
        return len(sizes) == len(shape) and math.prod(sizes) <= FEW

    def is_made_once(self, name: str) -> bool:
        """Whether it is a number with one definition."""
        return len(self.defs[name]) == 1 and is_number(self.rules.type_of_name(name))

    def names_in_definition(self, name: str) -> frozenset[str]:
        """What the one definition of a name reads."""
        return self.reads_of(self.defs[name][0][1])

    def move_late(
        self,
        name: str,
        block: int,
        stmt: Any,
        standing: bool = False,
        free: bool = False,
    ) -> bool:
        """Plan to compute the name again late, if that costs no other save.

        `standing`: it need not be saved either. `free`: whatever that costs.
        """
        where = self.where.get(id(stmt))
        if where is None or not isinstance(stmt, gast.Assign):
            return False
        if where.blocks[-1] != block or id(stmt) in self.plan.overwritten:
            return False
        if name not in bound_names(stmt):  # made beside it by the forward sweep
            return False
        value = stmt.value
        cheap = self.only_numbers(value) or self.is_part(name, value)
        cheap |= isinstance(value, gast.Subscript) and self.is_lasting_number(value)
        if not (cheap and self.is_cheap(value)) and not self.is_shift(name, value):
            return False
        at = self.first_backward(name, block)
        if at is None or at.order <= where.order:
            return False
        if not all(self.unchanged(n, where, at) for n in self.reads_of(stmt)):
            return False
        if self.is_read_at_the_head(name) or not self.swaps_are_undone(stmt):
            return False
        kept = self.remember()
        before = self.plan.saves()
        self.plan.again[block] = [
            s for s in self.plan.again.get(block, []) if s is not stmt
        ]
        self.plan.local[block] = [
            n for n in self.plan.local.get(block, []) if n != name
        ]
        self.plan.late[name] = stmt
        try:
            self.read_operands(stmt, at)
        except UnsupportedError:
            self.restore(kept)
            return False
        moved_again = any(s is stmt for s in kept[0].get(block, []))
        limit = before if moved_again or standing else before - 1
        if (self.plan.saves() > limit and not free) or not self.late_are_right():
            self.restore(kept)
            return False
        return True

    def move_chain_late(self, name: str, block: int, stmt: Any) -> bool:
        """Compute a saved value late, with all that the head computes of it."""
        chain, written = [stmt], set(self.bound_by(stmt))
        for other in sorted(
            self.plan.again.get(block, ()), key=lambda s: self.where[id(s)].order
        ):
            if not written.isdisjoint(self.reads_of(other)):
                chain.append(other)
                written |= self.bound_by(other)
        alone = all(
            isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
            for s in chain
        )
        if len(chain) == 1 or not alone:
            return False
        kept = self.remember()
        before = self.plan.saves()
        moved = all(
            self.move_late(other.targets[0].id, block, other)
            for other in reversed(chain)
        )
        if moved and self.plan.saves() < before:
            return True
        self.restore(kept)
        return False

    def only_numbers(self, value: gast.expr) -> bool:
        """Whether the value is made of numbers alone, which nothing writes to."""
        if isinstance(value, gast.BinOp):
            simple = isinstance(value.op, _SIMPLE) or is_small_power(value)
            operands = [value.left, value.right]
        elif isinstance(value, gast.Compare):
            simple, operands = True, [value.left, *value.comparators]
        elif isinstance(value, gast.Call):  # `min(a, b)`
            callees = self.rules.facts.callees.get(id(value), [])
            simple = bool(callees) and not value.keywords
            simple &= all(isinstance(c, Op) and c.cheap for c in callees)
            operands = value.args
            return simple and all(map(self.is_lasting_number, operands))
        else:
            simple = isinstance(value, gast.UnaryOp)
            operands = [value.operand] if simple else []
        if simple and self.only_single(value):
            return True
        return simple and all(map(self.is_lasting_number, operands))

    def is_lasting_number(self, value: gast.expr) -> bool:
        """Whether it is a number, or an item of an array that is never written to."""
        if self.is_known_number(value):
            return True
        if called(value) == "len":
            return self.is_cheap(value)
        if isinstance(value, (gast.List, gast.Tuple, gast.Dict)):
            return False  # `[None] * 2` may be written to
        names = syntax.names_read(value)
        types = {n: self.rules.type_of_name(n) for n in names}
        if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
            base = types[value.value.id]
            written = self.rules.written | self.inactive_writes()
            if not (isinstance(base, Array) and base.buffers):
                return False
            return not base.buffers & written and is_number(
                self.rules.typer.type_of(value, types)
            )
        return all(map(is_number, types.values()))

    def only_single(self, value: gast.expr) -> bool:
        """Whether values of unknown types are numbers, since the result is one."""
        rules = self.rules
        names = [n for n in syntax.names_read(value) if rules.is_open(n)]
        if not names or any(rules.kind(name) != "value" for name in names):
            return False
        return id(value) in rules.broadcast.shapes.number_values

    def is_known_number(self, value: gast.expr) -> bool:
        """Whether it is a number of a module, such as `np.pi`."""
        return self.is_of_module(value) and is_number(
            self.rules.typer.type_of(value, {})
        )

    def is_of_module(self, value: gast.expr) -> bool:
        """Whether it is a constant of a module: `np.pi`, or `np.newaxis`."""
        if not isinstance(value, gast.Attribute) or syntax.dotted(value) is None:
            return False
        if syntax.names_read(value) & set(self.defs):
            return False
        typer = self.rules.typer
        home = getattr(typer.type_of(value.value, {}), "value", None)
        t = typer.type_of(value, {})
        return isinstance(home, ModuleType) and (is_number(t) or isinstance(t, Const))

    def is_shift(self, name: str, value: gast.expr) -> bool:
        """Whether the value is `1 + x` or `1 / x`, and both arrays stay as they are."""
        if not isinstance(value, gast.BinOp) or not isinstance(value.op, _SIMPLE):
            return False
        types = [
            self.rules.type_of_name(n.id) if isinstance(n, gast.Name) else None
            for n in (value.left, value.right)
        ]
        arrays = [t for t in types if isinstance(t, Array)]
        others = [t for t in types if not isinstance(t, Array)]
        if len(arrays) != 1 or not all(t is None or is_number(t) for t in others):
            return False
        written = self.rules.written | self.inactive_writes()
        return all(
            isinstance(t, Array) and t.buffers and not t.buffers & written
            for t in (arrays[0], self.rules.type_of_name(name))
        )

    def is_part(self, name: str, value: gast.expr) -> bool:
        """Whether the value is a view of an array: the same memory, however late."""
        base = getattr(value, "value", None)
        t = self.rules.type_of_name(name)
        return (
            isinstance(value, gast.Subscript)
            and isinstance(base, gast.Name)
            and is_view(t, self.rules.type_of_name(base.id))
        )

    def read_operands(self, stmt: gast.stmt, at: Position) -> None:
        """Note that the operands are read there, and plan what that takes."""
        names = {n for n in self.reads_of(stmt) if n in self.defs}
        for name in names:
            self.reads.setdefault(name, []).append(Read(at, False, stmt))
        while names:  # what is computed again reads operands of its own
            known = {n: len(reads) for n, reads in self.reads.items()}
            for name in sorted(names):
                while self.plan_name(name):
                    pass
            names = {n for n, reads in self.reads.items() if len(reads) != known.get(n)}

    def first_backward(self, name: str, block: int) -> Position | None:
        """The place of the node of the block whose backward code reads a name first."""
        reads = [r for r in self.reads.get(name, []) if block in r.where.blocks]
        if not reads or len(reads) != len(self.reads[name]):
            return None
        last = max(r.where.order for r in reads)
        places = self.places_in(block)
        return places[bisect_right(places, last, key=_order) - 1]

    def unchanged(self, name: str, start: Position, end: Position) -> bool:
        """Whether the name is bound to the same value at both places of a block."""
        places = self.places_in(start.blocks[-1])
        after = bisect_right(places, end.order, key=_order)
        stop = places[after].order if after < len(places) else None
        return not any(
            w.order > start.order and (stop is None or w.order < stop)
            for w, s in [*self.defs.get(name, []), *self.swaps_of(name)]
            if set(start.loops) <= set(w.loops)
            if w.order != end.order or not self.is_back_first(name, s)
        )

    def is_back_first(self, name: str, stmt: Any) -> bool:
        """Whether backward code begins with what the name held before the statement.

        As that of `x = a * b` does, which does not read the new `x`.
        """
        if not isinstance(stmt, gast.Assign) or id(stmt) in self.plan.contents:
            return False
        if len(stmt.targets) != 1 or not syntax.is_name(stmt.targets[0], name):
            return False
        block = self.blocks[self.where[id(stmt)].blocks[-1]]
        node = next(n for n in block if n.stmt is stmt)
        return isinstance(node, Group) and name not in syntax.read_counts(node.code)

    def swaps_of(self, name: str) -> list[tuple[Position, gast.stmt]]:
        """The swaps that give the name another buffer."""
        return [(w, s) for w, s, names in self.swaps if name in names]

    @functools.cached_property
    def swaps(self) -> list[tuple[Position, gast.stmt, set[str]]]:
        """The statements that swap buffers, with the names that get another one."""
        pairs = [(w, s, swap_pairs(s)) for w, s in self.writes]
        return [(w, s, {name for name, _ in found}) for w, s, found in pairs if found]

    def places_in(self, block: int) -> list[Position]:
        """The places of the nodes of a block, in their order."""
        found = self.orders.get(block)
        if found is None:
            found = [self.where[id(n.stmt)] for n in self.blocks[block]]
            self.orders[block] = found
        return found

    def swaps_are_undone(self, stmt: gast.stmt) -> bool:
        """Whether the backward code undoes all swaps of what the statement reads."""
        swaps = [s for n in self.reads_of(stmt) for _, s in self.swaps_of(n)]
        return all(id(swap) in self.plan.contents for swap in swaps)

    def is_read_at_the_head(self, name: str) -> bool:
        """Whether something that is computed at the head of a block reads it."""
        return any(
            name in self.reads_of(s)
            for stmts in self.plan.again.values()
            for s in stmts
        )

    def late_are_right(self) -> bool:
        """Whether each late value still comes before all that reads it."""
        for name, stmt in self.plan.late.items():
            where = self.where[id(stmt)]
            at = self.first_backward(name, where.blocks[-1])
            if at is None:
                return False
            for other in self.reads_of(stmt):
                if other not in self.defs:
                    continue
                if not self.unchanged(other, where, at):
                    return False
                if not any(
                    r.where.order == at.order and not r.after
                    for r in self.reads.get(other, ())
                ):
                    self.read_operands(stmt, at)
        again = [s for stmts in self.plan.again.values() for s in stmts]
        late = self.plan.late.keys()
        return all(late.isdisjoint(self.reads_of(s)) for s in again)

    def late_by_node(self) -> dict[int, list[gast.stmt]]:
        """The late definitions by the order of the node before which they stand."""
        found: dict[int, list[gast.stmt]] = {}
        # By where the names are bound: what is read from an array is put there later.
        ordered = sorted(
            self.plan.late.items(), key=lambda item: self.defs[item[0]][0][0].order
        )
        for name, stmt in ordered:
            at = self.first_backward(name, self.where[id(stmt)].blocks[-1])
            assert at is not None
            found.setdefault(at.order, []).append(stmt)
        return found

    def remember(self) -> tuple:
        """A copy of the plan and of what is read, to come back to."""
        return (
            {k: list(v) for k, v in self.plan.again.items()},
            {k: list(v) for k, v in self.plan.local.items()},
            {k: list(v) for k, v in self.plan.overwritten.items()},
            dict(self.plan.late),
            {k: list(v) for k, v in self.reads.items()},
        )

    def restore(self, kept: tuple) -> None:
        """Come back to a remembered plan."""
        (
            self.plan.again,
            self.plan.local,
            self.plan.overwritten,
            self.plan.late,
            self.reads,
        ) = kept
