"""Maxima that are subtracted for safety, and cancel: no derivative flows through them.

    top = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - top)
    p = e / e.sum(axis=1, keepdims=True)

Whatever `top` is, `p` is the same. To see that, the value of `top` is followed through
the statements after it: `x - top` is what it would be otherwise *shifted* by -1 times
`top`, `e` and its sum are *scaled* by the exponential of that, and `p` is free of it.
A maximum of which all that becomes is free of it in the end is marked (`cancels`), and
inference then takes it for a constant. Where the following fails, nothing is marked,
and the derivative is that of the maximum as it is written, which is the same number.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.known_values import OPERATORS
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Type,
    all_buffers,
    is_active,
    is_mapping,
    rank_of,
    same_size,
    shape_of,
    site_of,
)
from srcjax.frontend.unit import Unit
from srcjax.ops.record import Op, lookup

#: What is subtracted so that no exponential overflows.
_GUARDS = (np.max, np.min, np.maximum, np.minimum)
_SUMS = (np.sum, np.mean)
_UNKNOWN = object()


class _Lost(Exception):
    """What becomes of the value cannot be followed."""


@dataclass(frozen=True)
class Dependence:
    """How a value depends on the maximum `m`.

    `y + times * m` if it is shifted, `y * exp(times * m)` if it is scaled, for a `y`
    without `m`. `axes` are pairs: an axis of the array that the maximum was taken of,
    and the axis of the value, from the end, along which `m` runs with it.
    """

    scaled: bool
    times: float
    axes: frozenset[tuple[int, int]] = frozenset()

    def along(self) -> set[int]:
        """The axes of the value, from the end, along which `m` is not one number."""
        return {mine for _, mine in self.axes}


def mark_cancelling(program: Program, unit: Unit) -> bool:
    """Mark the maxima of the unit that cancel; True if there are any new ones."""
    if is_mapping():
        return False
    types = reads = None
    found = False
    for block in syntax.blocks(unit.node.body):
        for position, stmt in enumerate(block):
            op = _guard(program, stmt)
            if op is None or getattr(stmt.value, "cancels", False):
                continue
            types = types or program.types_of(unit)
            reads = reads or Counter(_all_reads(unit.node))
            follow = _Follow(program, types, _bound_once(unit.node))
            if follow.cancels(block, position, op, reads):
                stmt.value.cancels = True
                found = True
    return found


def _guard(program: Program, stmt: Any) -> Op | None:
    """The operation, if the statement takes a maximum (or minimum)."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.Call):
        return None
    callees = program.facts.callees.get(id(stmt.value), [])
    if len(callees) != 1 or not isinstance(stmt.targets[0], gast.Name):
        return None
    guards = [lookup(f) for f in _GUARDS]
    return callees[0] if any(callees[0] is g for g in guards) else None


def _all_reads(node: Any) -> list[str]:
    return [
        n.id
        for n in syntax.walk(node)
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load)
    ]


def _bound_once(node: gast.FunctionDef) -> dict[str, gast.expr]:
    """What names stand for that one assignment binds."""
    bound = Counter(
        n.id for n in syntax.names_in(node) if not isinstance(n.ctx, gast.Load)
    )
    return {
        s.targets[0].id: s.value
        for s in syntax.all_statements(node.body)
        if isinstance(s, gast.Assign)
        and syntax.is_name(s.targets[0])
        and bound[s.targets[0].id] == 1
    }


class _Follow:
    """Follows one maximum through the statements of its block."""

    def __init__(
        self, program: Program, types: dict[str, Type], made: dict[str, gast.expr]
    ) -> None:
        self.facts = program.facts
        self.types = types
        #: The values of names that one statement binds.
        self.made = made
        self.state: dict[str, Dependence] = {}

    def cancels(
        self, block: list[gast.stmt], position: int, op: Op, reads: Counter[str]
    ) -> bool:
        """Whether nothing that depends on the maximum is left in the end.

        Args:
            block: the statements around, `block[position]` takes the maximum.
            op: the operation that it is.
            reads: how often the unit reads each name.
        """
        stmt: Any = block[position]
        name = stmt.targets[0].id
        seen: Counter[str] = Counter()
        ever = {name}
        try:
            self.state = {name: self.start(stmt.value, op)}
            for place in range(position + 1, len(block)):
                later = block[place]
                used = Counter(n for n in _all_reads(later) if n in self.state)
                target = self.target(later)
                changed = isinstance(later, gast.AugAssign)
                if used and changed and target not in self.state:
                    seen[target] += self.reads_before(block[:place], target)
                if used or (changed and target in self.state):
                    self.step(later, target)
                    seen += used
                elif target is not None:
                    self.state.pop(target, None)
                ever |= set(self.state)
                if not self.state:
                    break
        except _Lost:
            return False
        return all(seen[n] == reads[n] for n in ever)

    def reads_before(self, before: list[gast.stmt], name: Any) -> int:
        """How often the name is read since it was bound in the block. Raises _Lost."""
        for place in reversed(range(len(before))):
            stmt = before[place]
            if isinstance(stmt, gast.Assign) and self.target(stmt) == name:
                return _all_reads(before[place:]).count(name)
        raise _Lost

    def target(self, stmt: Any) -> Any:
        """The name that the statement binds, None if it is more than that."""
        if isinstance(stmt, gast.Assign):
            target = stmt.targets[0]
        elif isinstance(stmt, gast.AugAssign):
            target = stmt.target
        else:
            return None
        return target.id if isinstance(target, gast.Name) else None

    def step(self, stmt: Any, target: str | None) -> None:
        """Note what the statement's target depends on. Raises _Lost."""
        if target is None:
            raise _Lost
        after = [v.after[target] for v in self.facts.of(stmt) if target in v.after]
        if after and not any(map(is_active, after)):
            self.state.pop(target, None)  # no derivative goes on from here
            return
        value = stmt.value
        if isinstance(stmt, gast.AugAssign):
            self.check_alone(stmt, target)
            value = gast.BinOp(syntax.name(target), stmt.op, value)
        found = self.of(value)
        if found is None:
            self.state.pop(target, None)
        else:
            self.state[target] = found

    def check_alone(self, stmt: gast.AugAssign, target: str) -> None:
        """What is changed in place must be seen under this name only."""
        for variant in self.facts.of(stmt):
            mine = all_buffers(variant.before[target])
            if any(site_of(b) is None for b in mine):
                raise _Lost  # memory that was given
            for name, t in variant.before.items():
                if name != target and mine & all_buffers(t):
                    raise _Lost

    # -- what becomes of it -----------------------------------------------------------

    def rank(self, node: Any) -> int:
        """The number of axes. Raises _Lost if it is not known."""
        t = self.types.get(getattr(node, "id", ""))
        found = rank_of(t) if t is not None else None
        if isinstance(node, gast.Constant):
            return 0
        if found is None:
            raise _Lost
        return found

    def start(self, call: gast.Call, op: Op) -> Dependence:
        """The maximum itself: shifted once by itself."""
        bound = self.bound(call, op)
        if len(op.signature.parameters) == 2:  # of two values, elementwise
            rank = max(self.rank(v) for v in bound.values())
            return Dependence(False, 1, frozenset((k, k - rank) for k in range(rank)))
        if set(bound) - {"a", "x", "axis", "keepdims"}:
            raise _Lost
        operand = next(iter(bound.values()))
        whole = bound.get("axis")
        if whole is None or self.constant(whole) is None:
            return Dependence(False, 1)
        rank = self.rank(operand)
        every = frozenset((k, k - rank) for k in range(rank))
        return self.reduced(Dependence(False, 1, every), bound, drop=True)

    def bound(self, call: gast.Call, op: Op) -> dict[str, Any]:
        """The arguments by parameter. Raises _Lost."""
        args = list(call.args)
        func = call.func
        if isinstance(func, gast.Attribute) and (
            not isinstance(func.value, gast.Name) or func.value.id in self.types
        ):
            args = [func.value, *args]
        if any(isinstance(a, gast.Starred) for a in args):
            raise _Lost
        if any(k.arg is None for k in call.keywords):
            raise _Lost
        try:
            found = op.bind(args, {k.arg: k.value for k in call.keywords})
        except TypeError:
            raise _Lost from None
        return {k: v for k, v in found.items() if isinstance(v, gast.AST)}

    def reduced(
        self, what: Dependence, bound: dict[str, Any], drop: bool = False
    ) -> Dependence:
        """The dependence of a sum or mean; or (drop) of a maximum, which loses axes."""
        operand = next(iter(bound.values()))
        axis, kept = bound.get("axis"), bound.get("keepdims")
        keeps = kept is not None and self.constant(kept)
        if kept is not None and keeps not in (True, False):
            raise _Lost
        if axis is None or self.constant(axis) is None:
            if what.axes and not drop:
                raise _Lost
            return replace(what, axes=frozenset())
        rank = self.rank(operand)
        nodes = axis.elts if isinstance(axis, gast.Tuple) else [axis]
        gone = {self.from_end(self.constant(n), rank) for n in nodes}
        if what.along() & gone and not drop:
            raise _Lost
        axes = [(k, mine) for k, mine in what.axes if mine not in gone]
        if not keeps:
            axes = [(k, m + sum(g > m for g in gone)) for k, m in axes]
        return replace(what, axes=frozenset(axes))

    def constant(self, node: Any) -> Any:
        """The value of a constant, of its negative too; `_UNKNOWN` for the rest."""
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            inner = self.constant(node.operand)
            return -inner if _is_real(inner) else _UNKNOWN
        if isinstance(node, gast.Name):
            t = self.types.get(node.id)
            return t.value if isinstance(t, Const) else _UNKNOWN
        return node.value if isinstance(node, gast.Constant) else _UNKNOWN

    def from_end(self, axis: Any, rank: int) -> int:
        if type(axis) is not int:
            raise _Lost
        return axis if axis < 0 else axis - rank

    def of(self, value: Any) -> Dependence | None:
        """The dependence of a value, None if it has none. Raises _Lost."""
        if isinstance(value, gast.Name):
            return self.state.get(value.id)
        if not syntax.names_read(value) & set(self.state):
            return None
        if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
            return self.negative(self.of(value.operand))
        if isinstance(value, gast.BinOp):
            return self.of_operator(OPERATORS[type(value.op)].__name__, value)
        if isinstance(value, gast.Call):
            return self.of_call(value)
        if isinstance(value, gast.Subscript):
            return self.of_part(value)
        raise _Lost

    def negative(self, what: Dependence | None) -> Dependence | None:
        if what is None or what.scaled:
            return what
        return replace(what, times=-what.times)

    def of_operator(self, name: str, value: gast.BinOp) -> Dependence | None:
        left, right = self.of(value.left), self.of(value.right)
        if name in ("add", "sub"):
            if name == "sub":
                right = self.negative(right)
            return self.added(left, right)
        if name in ("mul", "truediv"):
            sign = 1 if name == "mul" else -1
            factor = self.constant(value.right)
            if left is not None and not left.scaled and _is_real(factor):
                times = left.times * factor if sign > 0 else left.times / factor
                return replace(left, times=times)
            factor = self.constant(value.left)
            shifted = right is not None and not right.scaled
            if right is not None and shifted and sign > 0 and _is_real(factor):
                return replace(right, times=right.times * factor)
            return self.multiplied(left, right, sign)
        raise _Lost

    def added(
        self, left: Dependence | None, right: Dependence | None
    ) -> Dependence | None:
        if left is None or right is None:
            only = left or right
            if only is not None and only.scaled:
                raise _Lost
            return only
        if left.axes != right.axes or left.scaled != right.scaled:
            raise _Lost
        if not left.scaled:
            times = left.times + right.times
            return replace(left, times=times) if times else None
        if left.times != right.times:
            raise _Lost
        return left

    def multiplied(
        self, left: Dependence | None, right: Dependence | None, sign: int
    ) -> Dependence | None:
        if any(d is not None and not d.scaled for d in (left, right)):
            raise _Lost
        if right is not None:
            right = replace(right, times=sign * right.times)
        if left is None or right is None:
            return left or right
        if left.axes != right.axes:
            raise _Lost
        times = left.times + right.times
        return replace(left, times=times) if times else None

    def of_call(self, call: gast.Call) -> Dependence | None:
        callees = self.facts.callees.get(id(call), [])
        if len(callees) != 1 or not isinstance(callees[0], Op):
            raise _Lost
        op = callees[0]
        bound = self.bound(call, op)
        operand = self.of(next(iter(bound.values())))
        if op is lookup(np.where) and len(bound) == 3:
            return self.chosen(*bound.values())
        if operand is None:
            raise _Lost
        if op is lookup(np.exp) and len(bound) == 1 and not operand.scaled:
            return replace(operand, scaled=True)
        if op is lookup(np.log) and len(bound) == 1 and operand.scaled:
            return replace(operand, scaled=False)
        if any(op is lookup(f) for f in _SUMS):
            if set(bound) - {"a", "x", "axis", "keepdims"}:
                raise _Lost
            if not operand.scaled and op is lookup(np.sum):
                raise _Lost
            return self.reduced(operand, bound)
        raise _Lost

    def chosen(self, test: Any, one: Any, other: Any) -> Dependence | None:
        """`np.where(test, one, other)`: both alike, or the other zero."""
        if self.of(test) is not None:
            raise _Lost
        found = [self.of(one), self.of(other)]
        for mine, its in (found, found[::-1]):
            zero = self.constant(other if mine is found[0] else one) == 0
            if mine is not None and mine.scaled and its is None and zero:
                return mine
        if found[0] != found[1]:
            raise _Lost
        return found[0]

    def of_part(self, value: gast.Subscript) -> Dependence | None:
        """`m[:, None]`: the axes move apart. `x[np.arange(n), k]`: one of each row."""
        if self.of(value.slice) is not None:
            raise _Lost
        what = self.of(value.value)
        if what is None or not what.axes:
            return what
        index = value.slice
        items = index.elts if isinstance(index, gast.Tuple) else [index]
        rank = self.rank(value.value)
        for axis, item in enumerate(items):
            if len(items) == rank == 2 and what.along() == {axis - rank}:
                other = items[1 - axis]
                if self.counts(item, value.value, axis) and self.is_list(other):
                    return replace(what, axes=frozenset((k, -1) for k, _ in what.axes))
        axes: dict[int, int] = {}
        position = place = 0
        for item in items:
            whole = isinstance(item, gast.Slice) and not any(
                (item.lower, item.upper, item.step)
            )
            if whole:
                axes[place] = position
                place += 1
            elif self.constant(item) is not None:
                raise _Lost
            position += 1
        for rest in range(place, rank):
            axes[rest] = position
            position += 1
        moved = [(k, axes[mine + rank] - position) for k, mine in what.axes]
        return replace(what, axes=frozenset(moved))

    def is_list(self, node: Any) -> bool:
        """Whether it is an array with one axis."""
        return isinstance(self.types.get(getattr(node, "id", "")), Array) and (
            self.rank(node) == 1
        )

    def counts(self, index: Any, array: Any, axis: int) -> bool:
        """Whether it is `np.arange(n)`, for an array with `n` places along the axis."""
        call = self.made.get(getattr(index, "id", ""))
        if not isinstance(call, gast.Call) or len(call.args) != 1 or call.keywords:
            return False
        callees = self.facts.callees.get(id(call), [])
        if callees != [lookup(np.arange)]:
            return False
        shapes = [shape_of(self.types.get(v.id, UNKNOWN)) for v in (index, array)]
        if not shapes[0] or not shapes[1]:
            return False
        return same_size(shapes[0][0], shapes[1][axis])


def _is_real(value: Any) -> bool:
    return type(value) in (int, float) and value != 0


__all__ = ["mark_cancelling"]
