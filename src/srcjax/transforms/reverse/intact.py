"""Items of an array or container that a loop writes step by step, and never twice.

    for t in range(n):
        x[t + 1] = x[t] + dt * f(x[t])

When the backward sweep comes to an iteration, `x[t]` holds what it held there: the
iterations that came after it wrote to items further on. It need not be saved.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.positions import Position
from srcjax.analysis.types import Array, Dict, List, all_buffers
from srcjax.transforms.reads_writes import is_range
from srcjax.transforms.reverse.memory import Memory
from srcjax.transforms.reverse.plan import Read

#: The name of a loop's index (None: a constant alone), and what is added to it.
Affine = tuple[str | None, int]


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
        if found is None or found[0] is None:
            return found is not None and found[1] >= 0
        loop = self.defs[found[0]][0][1]
        _, least = _direction(loop.iter)
        return least is not None and least + found[1] >= 0

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
        read_parts = _parts(stmt.value.slice)
        write_parts = _parts(target.slice)
        for mine, other in zip(read_parts, write_parts, strict=False):
            if isinstance(mine, gast.Slice) and isinstance(other, gast.Slice):
                continue
            first, second = self.affine(mine, where), self.affine(other, at)
            if first is None or second is None:
                return False  # an array or `...`: the parts after it do not match up
            counts_back = not isinstance(self.rules.type_of_name(base), Dict)
            before = at.order < where.order
            if self.differ(first, second, shared, before, counts_back):
                return True
        return False

    def differ(
        self,
        read: Affine,
        write: Affine,
        shared: list[int],
        written_before: bool,
        counts_back: bool,
    ) -> bool:
        """Whether no write from the read on has the index of the read.

        `counts_back`: numbers below zero count from the end, as no keys of dicts do.
        """
        if read[0] != write[0]:
            return False
        if read[0] is None:
            differ = read[1] != write[1]
            return differ and (not counts_back or min(read[1], write[1]) >= 0)
        outermost = self.loops[shared[0]].stmt if shared else None
        if not isinstance(outermost, gast.For) or not syntax.is_name(
            outermost.target, read[0]
        ):
            return False
        step, least = _direction(outermost.iter)
        if step == 0:
            return False
        if counts_back and (least is None or least + min(read[1], write[1]) < 0):
            return False
        ahead = (write[1] - read[1]) * step
        return ahead > 0 or (ahead == 0 and written_before)

    def affine(self, node: Any, use: Position) -> Affine | None:
        """`t + 1` as the loop's index and a number; None for what is no such sum.

        `use` is where the index is used: its parts have to be bound on the way there.
        """
        if isinstance(node, gast.Constant):
            return (None, node.value) if type(node.value) is int else None
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
            plain = syntax.is_name(stmt.target, node.id) and is_range(stmt.iter)
            return (node.id, 0) if plain else None
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
            return self.affine(stmt.value, where)
        return None


def _parts(index: Any) -> list[gast.expr]:
    return list(index.elts) if isinstance(index, gast.Tuple) else [index]


def _direction(over: Any) -> tuple[int, int | None]:
    """The sign of a range's step (0: not known) and its least item, if known."""
    arguments = [_whole(a) for a in over.args]
    if len(arguments) == 1:
        return 1, 0
    step = arguments[2] if len(arguments) == 3 else 1
    if not step:
        return 0, None
    if step > 0:
        return 1, arguments[0]
    return -1, None if arguments[1] is None else arguments[1] + 1


def _whole(node: Any) -> int | None:
    """The value of an integer literal."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        inner = _whole(node.operand)
        return None if inner is None else -inner
    if isinstance(node, gast.Constant) and type(node.value) is int:
        return node.value
    return None
