"""Items of an array or container that a loop writes step by step, and never twice.

    for t in range(n):
        x[t + 1] = x[t] + dt * f(x[t])

When the backward sweep comes to an iteration, `x[t]` holds what it held there: the
iterations that came after it wrote to items further on. It need not be saved. Neither
need `L[i, k]` for `k in range(j)` where column `j` is written, as in factorisations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import gast

from srcjax import syntax
from srcjax.analysis.flow.positions import Position
from srcjax.analysis.types import Array, Dict, List, all_buffers
from srcjax.transforms.reads_writes import range_of, whole_number
from srcjax.transforms.reverse.memory import Memory
from srcjax.transforms.reverse.plan import Read

#: The name of a loop's index (None: a constant alone), and what is added to it.
Affine = tuple[str | None, int]
#: The least and the largest of what is added; None where that is not known.
Bounds = tuple[int | None, int | None]


@dataclass(frozen=True)
class Span:
    """The places along an axis that one index may stand for."""

    #: By the indices of loops: between which places beside them these are.
    around: dict[str | None, Bounds]

    @property
    def is_counted_from_the_start(self) -> bool:
        """Whether no place is below zero, which would count from the end."""
        least, _ = self.around.get(None, (None, None))
        return least is not None and least >= 0


#: A whole axis, and a part of one of which nothing is known.
SOMEWHERE = Span({})


class Intact(Memory):
    """Compares the indices of reads and writes; a part of `Planner`."""

    def view_is_intact(
        self, name: str, read: Position, at: Position, write: Any
    ) -> bool:
        """Whether `name`, a view such as `x[t]`, is not changed by a later write."""
        if len(self.defs[name]) != 1 or name not in self.rules.views:
            return False
        if name in self.rules.shadows.names:
            return False
        where, stmt = self.defs[name][0]
        if not isinstance(stmt, gast.Assign) or not set(where.loops) <= set(read.loops):
            return False
        return self.item_survives(where, stmt, at, write)

    def item_is_intact(self, where: Position, stmt: Any) -> bool:
        """Whether `v = x[t]` gives the same when the backward sweep comes back."""
        name = stmt.value.value.id
        base = self.rules.type_of_name(name)
        if not isinstance(base, (Array, List, Dict)):
            return False
        # An item of a container is the same object, whatever that holds by then.
        buffers = all_buffers(base) if isinstance(base, Array) else base.buffers
        return bool(buffers) and all(
            self.item_survives(where, stmt, at, write)
            or (isinstance(base, List) and self.is_longer(where, stmt, write))
            for at, write in self.writes
            if self.written_buffers(write) & buffers
        )

    def is_longer(self, where: Position, stmt: Any, write: Any) -> bool:
        """Whether the write makes a list longer, behind an item with a known place."""
        call = write.value if isinstance(write, gast.Expr) else None
        if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
            return False
        owner = call.func.value
        if call.func.attr != "append" or not isinstance(owner, gast.Name):
            return False
        if getattr(self.rules.type_of_name(owner.id), "cls", None) is not list:
            return False  # what its `append` does is not known here
        found = self.affine(stmt.value.slice, where)
        return found is not None and (
            self.around(found, where).is_counted_from_the_start
        )

    def is_over(self, where: Position, stmt: Any, at: Position, write: Any) -> bool:
        """Whether the write never runs once the read has run."""
        held = self.memory_of(stmt.value.value.id, Read(where, False))
        ways = list(self.meetings(held, where, at, write))
        shared = any(key in loops for loops in ways for key in where.loops)
        return not ways or (not shared and at.order < where.order)

    def item_survives(
        self, where: Position, stmt: Any, at: Position, write: Any
    ) -> bool:
        """Whether the write, when it runs after the read, writes to other items."""
        base = stmt.value.value.id if isinstance(stmt.value, gast.Subscript) else ""
        if base and self.is_over(where, stmt, at, write):
            return True
        target = write.targets[0] if isinstance(write, gast.Assign) else None
        if isinstance(write, gast.AugAssign):
            target = write.target
        if not (
            isinstance(target, gast.Subscript)
            and base
            and syntax.is_name(stmt.value.value, base)
            and syntax.is_name(target.value, base)
            and len(self.defs.get(base, ())) == 1
        ):
            return False
        held = self.memory_of(base, Read(where, False))
        ways = list(self.meetings(held, where, at, write))
        shared = [key for key in where.loops if any(key in loops for loops in ways)]
        of = self.rules.type_of_name(base)
        if isinstance(of, List) and isinstance(target.slice, gast.Slice):
            return False  # what comes after it may be somewhere else then
        pairs: list[tuple[Span, Span]] = []
        for mine, other in zip(
            _parts(stmt.value.slice), _parts(target.slice), strict=False
        ):
            first, second = self.span(mine, where), self.span(other, at)
            if first is None or second is None:
                break  # an array or `...`: the parts after it do not match up
            sure = first.is_counted_from_the_start and second.is_counted_from_the_start
            if isinstance(of, Dict) or sure:
                pairs.append((first, second))
        loops = [self.loops[key].stmt for key in shared]
        # Each later iteration of one of the loops, with those around it as they are.
        later = all(self.differ(pairs, loops[:k], each) for k, each in enumerate(loops))
        return later and (at.order < where.order or self.differ(pairs, loops, None))

    def differ(
        self, pairs: list[tuple[Span, Span]], same: Sequence[Any], later: Any
    ) -> bool:
        """Whether an index of the write is none of those of the read.

        Args:
            pairs: of each axis the places of the read, and those of the write.
            same: loops in one iteration of which both are.
            later: a loop in a later iteration of which the write is, if there is one.
        """
        equal: set[str | None] = {None, *filter(None, map(index_of, same))}
        moving = index_of(later)
        ahead = _step(later.iter) if moving else 0
        for read, write in pairs:
            for name in read.around.keys() & write.around.keys():
                moves = ahead if name == moving else 0
                known = moves or name in equal
                if known and is_past(read.around[name], write.around[name], moves):
                    return True
        return False

    def span(self, node: Any, use: Position) -> Span | None:
        """The places that an index or a slice stands for; None if that is not known.

        `use` is where it is used.
        """
        if not isinstance(node, gast.Slice):
            found = self.affine(node, use)
            return None if found is None else self.around(found, use)
        start, stop = node.lower or syntax.const(0), node.upper
        if node.step is not None and not (whole_number(node.step) or 0) > 0:
            return SOMEWHERE
        first = self.bounded(start, use)
        last = SOMEWHERE if stop is None else self.bounded(stop, use)
        if not first.is_counted_from_the_start:
            return SOMEWHERE
        return between(first, last if last.is_counted_from_the_start else SOMEWHERE)

    def bounded(self, node: Any, use: Position) -> Span:
        """The places that a number may stand for."""
        found = self.affine(node, use)
        return SOMEWHERE if found is None else self.around(found, use)

    def around(self, place: Affine, use: Position) -> Span:
        """A place beside the index of a loop, and beside those in whose bounds it is.

        `k` of `for k in range(j)` is below `j`, and not below 0.
        """
        name, added = place
        found: dict[str | None, Bounds] = {}
        if name is not None:
            where, loop = self.defs[name][0]
            if id(loop) in use.loops:
                start, stop, step = _of_range(loop.iter)
                ends = self.bounded(start, where), self.bounded(stop, where)
                if step > 0:
                    found = dict(between(*ends).around)
                elif step < 0:
                    found = dict(between(*ends[::-1], 1, 0).around)
        found[name] = (0, 0)
        return Span(
            {
                key: (
                    None if least is None else least + added,
                    None if most is None else most + added,
                )
                for key, (least, most) in found.items()
            }
        )

    def affine(self, node: Any, use: Position) -> Affine | None:
        """`t + 1` as the loop's index and a number; None for what is no such sum.

        `use` is where the index is used: its parts have to be bound on the way there.
        """
        number = whole_number(node)
        if number is not None:
            return None, number
        if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub)):
            left, right = self.affine(node.left, use), self.affine(node.right, use)
            if left is None or right is None:
                return None
            if isinstance(node.op, gast.Sub):
                return None if right[0] is not None else (left[0], left[1] - right[1])
            if left[0] is not None and right[0] is not None:
                return None
            return left[0] or right[0], left[1] + right[1]
        if not isinstance(node, gast.Name) or len(self.defs.get(node.id, ())) != 1:
            return None
        where, stmt = self.defs[node.id][0]
        if where.order >= use.order or where.blocks[-1] not in use.blocks:
            return None
        if isinstance(stmt, gast.For):
            plain = syntax.is_name(stmt.target, node.id)
            return (node.id, 0) if plain and range_of(stmt.iter) else None
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
            return self.affine(stmt.value, where)
        return None


def between(first: Span, last: Span, after: int = 0, before: int = 1) -> Span:
    """From so many places after one to so many before another."""
    around: dict[str | None, Bounds] = {}
    for name in first.around.keys() | last.around.keys():
        least, _ = first.around.get(name, (None, None))
        _, most = last.around.get(name, (None, None))
        around[name] = (
            None if least is None else least + after,
            None if most is None else most - before,
        )
    return Span(around)


def is_past(read: Bounds, write: Bounds, moves: int) -> bool:
    """Whether all places of a write are beyond those of a read, on one side.

    Args:
        moves: how far the write has gone on at least, by its sign in which direction; 0
            where both are beside the same.
    """
    (least, most), (first, last) = read, write
    after = None not in (first, most) and cast(int, first) + moves > cast(int, most)
    before = None not in (last, least) and cast(int, last) + moves < cast(int, least)
    return (moves >= 0 and after) or (moves <= 0 and before)


def index_of(loop: Any) -> str:
    """The name of the index of a loop over a range; empty for all others."""
    if not isinstance(loop, gast.For) or not isinstance(loop.target, gast.Name):
        return ""
    name: str = loop.target.id
    return name if range_of(loop.iter) else ""


def _parts(index: Any) -> list[gast.expr]:
    return list(index.elts) if isinstance(index, gast.Tuple) else [index]


def _of_range(over: Any) -> tuple[gast.expr, gast.expr, int]:
    """The start, the stop and the step of a range, reversed or not (0: not known)."""
    inner: Any = range_of(over)
    first, *more = inner.args
    if not more:
        return syntax.const(0), first, 1
    return first, more[0], _step(inner)


def _step(over: Any) -> int:
    """The step of a range, or of a reversed one (0: not known)."""
    inner: Any = range_of(over)
    step = (whole_number(inner.args[2]) or 0) if len(inner.args) == 3 else 1
    return step if inner is over else -step
