"""The loop over blocks of a chain: a function of rows, and what calls it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import Array, dtype_of, is_number, same_size, shape_of
from srcjax.transforms.blocks.chains import Chain
from srcjax.transforms.blocks.members import Member, Members
from srcjax.transforms.kernels.accepted import array_of
from srcjax.transforms.kernels.wrapping import function

#: How much of the second cache buffers may take (measured: of 1 MiB on one core).
CACHE = 1 << 20
#: No block has more bytes of one array: calls are few by then.
LARGEST_BLOCK = 1 << 18
#: So many rows at least where each block keeps a row of sums.
ROWS_OF_SUMS = 16


@dataclass
class Buffer:
    """Memory for a block of values, which many values have one after the other."""

    name: str
    dtype: np.dtype


class BlockLoop:
    """Writes the loop of one chain."""

    def __init__(self, members: Members, chain: Chain, outputs: set[str]) -> None:
        self.members = members
        self.chain = chain
        #: The names that are read outside of the loop.
        self.outputs = outputs
        self.fresh = members.fresh
        self.buffers: list[Buffer] = []
        #: What rows are called in the loop, by the name of the array.
        self.rows_of: dict[str, gast.expr] = {}
        self.before: list[Any] = []
        self.rows = self.fresh("rows") if len(chain.shape) > 1 else ""
        #: What makes buffers, and takes as much of them as the block at hand has.
        self.works: list[Any] = []
        self.taken: list[Any] = []
        self.body: list[Any] = []
        self.after: list[Any] = []

    def write(self) -> list[Any]:
        """What calls the loop, which is a function of rows: `function`."""
        self.first, self.last = self.fresh("first"), self.fresh("last")
        self.step, self.start = self.fresh("step"), self.fresh("start")
        self.part = self.fresh("part")
        held = self.assigned()
        widest = max(m.dtype.itemsize for m in self.chain.members)
        self.block = block_size(widest, sum(b.dtype.itemsize for b in self.buffers))
        for name in sorted(self.chain.inputs):
            self.rows_of[name] = self.cut(name)
        for member in self.chain.members:
            if member.fold:
                self.folded(member)
            else:
                self.mapped(member, held.get(member.name))
        self.work()
        self.function = self.written()
        given = [syntax.name(n) for n in self.given()]
        length = self.size_of_axis(0)
        call = syntax.call(
            self.function.name, syntax.const(0), length, self.block_rows(), *given
        )
        return [*self.sizes(), *self.before, gast.Expr(call), *self.after]

    def written(self) -> gast.FunctionDef:
        """The function with the loop."""
        text = (
            "for start in range(first, last, step): part = slice(start, start + step)"
        )
        (loop,) = syntax.statements(text)
        names = ("first", "last", "step", "start", "part")
        syntax.rename(loop, {n: getattr(self, n) for n in names})
        loop.body += [*self.taken, *self.body]
        self.loop = [*self.works, loop]
        name = self.members.unit.names.fresh(f"{self.members.unit.name}_blocks")
        found = function(
            name, [self.first, self.last, self.step, *self.given()], self.loop
        )
        found.decorator_list = [syntax.name("in_threads")]
        return found

    def given(self) -> list[str]:
        """The arrays and numbers that the loop reads, in their order.

        Those from around the function too: they may be others in the next call.
        """
        own = {self.first, self.last, self.step} | syntax.names_written(self.loop)
        read = [n for n in syntax.walk(self.loop) if isinstance(n, gast.Name)]
        names = dict.fromkeys(n.id for n in read)
        return [n for n in names if n not in own and self.is_value(n)]

    def is_value(self, name: str) -> bool:
        """Whether a name is bound by the function, or holds an array or a number."""
        t = self.members.type_of(syntax.name(name))
        return name in self.members.bound or isinstance(t, Array) or is_number(t)

    # -- sizes -----------------------------------------------------------------------

    def block_rows(self) -> gast.expr:
        """How many rows a block has."""
        return syntax.name(self.rows) if self.rows else syntax.const(self.block)

    def sizes(self) -> list[Any]:
        """`rows = 1 + 32768 // (1 + x.shape[1])`."""
        if not self.rows:
            return []
        columns = self.size_of_axis(1)
        for axis in range(2, len(self.chain.shape)):
            columns = syntax.expression("a * b", a=columns, b=self.size_of_axis(axis))
        sums = any(m.axis == 0 for m in self.chain.members)
        text = f"{ROWS_OF_SUMS if sums else 1} + {self.block} // (1 + n)"
        return [syntax.assign(self.rows, syntax.expression(text, n=columns))]

    def size_of_axis(self, axis: int) -> gast.expr:
        """How long an axis is, as an array says that is there before."""
        dim = self.chain.shape[axis]
        return self.size(dim, axis)

    def size(self, dim: Any, axis: int) -> gast.expr:
        """A size, as an array says it that is there before. Raises Untold."""
        if isinstance(dim, int):
            return syntax.const(dim)
        for name in sorted(self.chain.inputs):
            shape = shape_of(self.members.types[name]) or ()
            places = sorted(range(len(shape)), key=lambda k: k != axis)
            for place in places:
                if same_size(shape[place], dim):
                    return size_of(name, place)
        for name in sorted(self.chain.reads - self.chain.names):
            shape = shape_of(self.members.type_of(syntax.name(name))) or ()
            for place, each in enumerate(shape):
                if same_size(each, dim):
                    return size_of(name, place)
        raise Untold

    def shape(self, dims: Any) -> gast.expr:
        """The shape of an array that is made before the loop."""
        for name in sorted(self.chain.inputs):
            shape = shape_of(self.members.types[name]) or ()
            if len(shape) == len(dims) > 1 and all(map(same_size, shape, dims)):
                return syntax.expression(f"{name}.shape")
        sizes = [self.size(dim, axis) for axis, dim in enumerate(dims)]
        return sizes[0] if len(sizes) == 1 else gast.Tuple(sizes, syntax.LOAD)

    # -- buffers ---------------------------------------------------------------------

    def assigned(self) -> dict[str, Buffer]:
        """The buffer of each value that has one: it is free after the last read."""
        members = self.chain.members
        last: dict[str, int] = {}
        for at, member in enumerate(members):
            for name in member.along:
                last[name] = at
        held: dict[str, Buffer] = {}
        free: list[Buffer] = []
        for at, member in enumerate(members):
            ended = [held[n] for n in sorted(member.along & set(held)) if last[n] == at]
            if not member.chooses:  # which writes before it has read all
                free += ended
            if self.is_held(member):
                held[member.name] = self.buffer_of(member, free)
                if member.name not in last:
                    free.append(held[member.name])
            if member.chooses:
                free += ended
        return held

    def buffer_of(self, member: Member, free: list[Buffer]) -> Buffer:
        """A free buffer for the values of a member, or a new one."""
        alike = (b for b in reversed(free) if b.dtype == member.dtype)
        found = next(alike, None)
        if found is None:
            base = "mask" if member.dtype.kind == "b" else "buffer"
            found = Buffer(self.fresh(base), member.dtype)
            self.buffers.append(found)
        else:
            free.remove(found)
        return found

    def is_held(self, member: Member) -> bool:
        """Whether a value is computed into a buffer."""
        wide = self.is_wide(member)
        return wide and member.takes_out and member.name not in self.outputs

    def is_wide(self, member: Member) -> bool:
        """Whether it has as many columns as the widest of the loop."""
        if not member.full or len(member.shape) != len(self.chain.shape):
            return False
        return all(map(same_size, member.shape, self.chain.shape))

    def work(self) -> None:
        """The memory of the buffers of each dtype, and what takes as much as is needed.

        work = np.empty((2, step))
        buffer, buffer2 = work[:, : len(x[part])]       (the last block is shorter)
        """
        columns = [self.size_of_axis(k) for k in range(1, len(self.chain.shape))]
        some = self.cut(min(self.chain.inputs))
        for dtype in dict.fromkeys(b.dtype for b in self.buffers):
            names = [b.name for b in self.buffers if b.dtype == dtype]
            many = len(names) > 1
            work = self.fresh("masks" if dtype.kind == "b" else "work")
            dims: list[Any] = [syntax.name(self.step), *map(syntax.clone, columns)]
            dims = [syntax.const(len(names)), *dims] if many else dims
            shape = gast.Tuple(dims, syntax.LOAD) if len(dims) > 1 else dims[0]
            self.works.append(syntax.assign(work, array_of("empty", shape, dtype)))
            text = f"{work}[{':, ' if many else ''}: len(x)]"
            targets = [syntax.name(n, store=True) for n in names]
            target = gast.Tuple(targets, syntax.STORE) if many else targets[0]
            value = syntax.expression(text, x=some)
            self.taken.append(gast.Assign([target], value, None))

    # -- members ---------------------------------------------------------------------

    def cut(self, name: str) -> gast.expr:
        """`x[part]`."""
        return gast.Subscript(syntax.name(name), syntax.name(self.part), syntax.LOAD)

    def computed(self, member: Member) -> gast.expr:
        """What a member computes, of rows."""
        rows = {n: self.rows_of[n] for n in member.along}
        return syntax.substitute(syntax.clone(member.value), rows)

    def mapped(self, member: Member, buffer: Buffer | None) -> None:
        """`y = np.multiply(a, x[part], out=buffer)`."""
        value = self.computed(member)
        name = member.name
        read = any(name in m.along for m in self.chain.members)
        if name not in self.outputs:
            place = None if buffer is None else syntax.name(buffer.name)
            self.compute(member, value, place, name)
            self.rows_of[name] = syntax.name(name)
            return
        t = self.members.types[name]
        made = array_of("empty", self.shape(shape_of(t)), dtype_of(t))
        self.before.append(syntax.assign(name, made))
        own = self.fresh(f"{name}_part")
        if member.takes_out:
            self.compute(member, value, self.cut(name), own if read else "")
        else:
            if read:
                self.add(member, syntax.assign(own, value))
                value = syntax.name(own)
            self.add(
                member, gast.Assign([syntax.as_store(self.cut(name))], value, None)
            )
        self.rows_of[name] = syntax.name(own)

    def compute(
        self, member: Member, value: gast.expr, place: gast.expr | None, name: str
    ) -> None:
        """`y = np.add(a, b, out=place)`; the name may be none."""
        if member.chooses and place is not None:
            condition, one, other = value.args
            copy = syntax.expression("np.copyto(y, v)", y=place, v=other)
            self.add(member, gast.Expr(copy))
            text = "np.copyto(y, v, where=c)"
            value = syntax.expression(text, y=place, v=one, c=condition)
            self.add(member, gast.Expr(value))
            if name:
                self.add(member, syntax.assign(name, syntax.clone(place)))
            return
        if place is not None:
            value.keywords = [*value.keywords, into(place)]
        self.add(member, syntax.assign(name, value) if name else gast.Expr(value))

    def folded(self, member: Member) -> None:
        """`sums[start // step] = np.sum(x[part])`, and what they are together."""
        parts = self.fresh(f"{member.name}_parts")
        count = syntax.expression(
            "len(range(0, n, step))", n=self.size_of_axis(0), step=self.block_rows()
        )
        shape: gast.expr = count
        if member.axis == 0:
            columns = self.size(member.shape[1], 1)
            shape = gast.Tuple([count, columns], syntax.LOAD)
        made = array_of("empty", shape, member.dtype)
        self.before.append(syntax.assign(parts, made))
        place = syntax.expression(f"{self.start} // {self.step}")
        target = gast.Subscript(syntax.name(parts), place, syntax.STORE)
        self.add(member, gast.Assign([target], self.computed(member), None))
        options = "" if member.axis is None else ", axis=0"
        options += ", keepdims=True" if member.keepdims else ""
        text = f"{member.fold}(parts{options})"
        whole = syntax.expression(text, parts=syntax.name(parts))
        if member.divides:
            whole = syntax.expression("a / n", a=whole, n=self.count(member))
        self.after.append(syntax.assign(member.name, whole))

    def count(self, member: Member) -> gast.expr:
        """How many numbers a mean is of."""
        shape = member.shape[:1] if member.axis == 0 else member.shape
        found = self.size(shape[0], 0)
        for axis, dim in enumerate(shape[1:], 1):
            found = syntax.expression("a * b", a=found, b=self.size(dim, axis))
        return found

    def add(self, member: Member, stmt: Any) -> None:
        stmt.user_line = getattr(member.stmt, "user_line", None)
        self.body.append(stmt)


class Untold(Exception):
    """A size that no array tells."""


def into(place: gast.expr) -> Any:
    """`out=place`."""
    return gast.keyword("out", place)


def size_of(name: str, axis: int) -> gast.expr:
    """`len(x)`, `x.shape[1]`."""
    return syntax.expression(f"{name}.shape[{axis}]" if axis else f"len({name})")


def block_size(widest: int, bytes_held: int) -> int:
    """How many numbers a block has: a power of two, so that its buffers fit.

    Args:
        widest: how many bytes the widest number has.
        bytes_held: how many bytes of buffers each number has; what is read or written
            beside them takes as much as one more.
    """
    most = min(LARGEST_BLOCK // widest, CACHE // (bytes_held + widest))
    return 1 << (max(most, 1).bit_length() - 1)
