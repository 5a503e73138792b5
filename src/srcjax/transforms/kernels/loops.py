"""The loops of a group: one pass over the elements for all of its members."""

from __future__ import annotations

import math
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import (
    Array,
    Dim,
    Type,
    ageless_buffers,
    all_buffers,
    dtype_of,
    rank_of,
    same_size,
    shape_of,
)
from srcjax.ops.record import Fold
from srcjax.transforms.kernels.accepted import (
    NotCompiled,
    array_of,
    is_kernel_array,
    is_single,
    kind,
    stored_number,
)
from srcjax.transforms.kernels.elsewhere import Elsewhere
from srcjax.transforms.kernels.groups import Group, Member, is_open
from srcjax.transforms.kernels.numbers import Numbers, as_float
from srcjax.transforms.kernels.operations import Operation
from srcjax.transforms.kernels.places import seen


@dataclass
class Nest:
    """Loops inside each other, and what stands around each of them."""

    indices: list[str]
    sizes: list[gast.expr]
    #: What stands before and after the loop over each axis; last, the innermost body.
    before: list[list[gast.stmt]] = field(default_factory=list)
    after: list[list[gast.stmt]] = field(default_factory=list)

    def __post_init__(self) -> None:
        rank = len(self.indices)
        self.before = [[] for _ in range(rank + 1)]
        self.after = [[] for _ in range(rank + 1)]

    def statements(self) -> list[gast.stmt]:
        """The loops as Python."""
        if not self.indices:
            return self.inside(-1)
        return [*self.before[0], *self.loop(0, self.inside(0)), *self.after[0]]

    def loop(self, axis: int, body: list[gast.stmt]) -> list[gast.stmt]:
        """The loop over an axis; one of size 1 has none."""
        if is_one(self.sizes[axis]):
            return body
        over = syntax.call("range", syntax.clone(self.sizes[axis]))
        target = syntax.name(self.indices[axis], store=True)
        loop = gast.For(target, over, body, [], None)
        lines = (getattr(s, "user_line", None) for s in body)
        loop.user_line = next((line for line in lines if line), None)
        return [loop]

    def inside(self, outer: int) -> list[gast.stmt]:
        """What stands in the loop over an axis."""
        inner = [*self.before[-1], *self.after[-1]]
        for axis in reversed(range(outer + 1, len(self.indices))):
            loop = self.loop(axis, inner)
            inner = [*self.before[axis], *loop, *self.after[axis]]
        return inner


class Loops:
    """Writes the loops of one group."""

    def __init__(
        self,
        group: Group,
        numbers: Numbers,
        type_of: Callable[[gast.expr], Type],
        fresh: Callable[[str], str],
        is_needed: Callable[[str, Group], bool],
        apart: Set[str] = frozenset(),
    ) -> None:
        """Begin the loops.

        Args:
            apart: arrays whose rows are not together in memory, of which copies are
                read where they are gone through again and again.
        """
        self.group = group
        self.apart = apart
        self.numbers = numbers
        self.type_of = type_of
        self.fresh = fresh
        self.is_needed = is_needed
        rank = len(group.shape)
        indices = [fresh(n) for n in ("i", "j", "k", "l", "m", "n")[:rank]]
        if len(indices) < rank:
            raise NotCompiled(group.members[0].stmt, "more than six dimensions")
        self.nest = Nest(indices, [self.size(axis) for axis in range(rank)])
        #: The names of elements, by array and index.
        self.elements: dict[tuple[str, tuple], str] = {}
        #: The copies of arrays, by their names.
        self.copies: dict[str, str] = {}
        #: Names whose values are there when the loops are done, not row by row.
        self.late: set[str] = set()

    def write(self) -> None:
        """Fill the nest. Raises NotCompiled."""
        writers = {"map": self.map, "fold": self.fold, "store": self.store}
        for member in self.group.members:
            writers[member.kind](member)
            for stmts in (*self.nest.before, *self.nest.after):
                for stmt in stmts:
                    if not hasattr(stmt, "user_line"):
                        stmt.user_line = getattr(member.stmt, "user_line", None)

    @property
    def produced(self) -> set[str]:
        """The names that the loops bind."""
        return {m.name for m in self.group.members}

    @property
    def reads(self) -> set[str]:
        """The names that the members read."""
        return set().union(*(m.reads for m in self.group.members))

    @property
    def folds_rows(self) -> bool:
        """Whether rows are folded into one."""
        return any(m.folds_rows for m in self.group.members)

    @property
    def stores(self) -> bool:
        """Whether they write in place."""
        return any(m.kind == "store" for m in self.group.members)

    # -- sizes -----------------------------------------------------------------------

    def size(self, axis: int) -> gast.expr:
        """How many places an axis has, as an array that is there before says it."""
        dim = self.group.shape[axis]
        if isinstance(dim, int):
            return syntax.const(dim)
        inside: set[str] = set()  # what is made in the loop, from there on
        for member in self.group.members:
            if member.kind == "store":
                return size_of(member.name, axis)
            for node in operands(member):
                t = self.type_of(node)
                if not isinstance(node, gast.Name) or node.id in inside:
                    continue
                place = axis - len(self.group.shape) + len(shape_of(t) or ())
                shape = shape_of(t) if is_kernel_array(t) else None
                places = sorted(range(len(shape or ())), key=lambda p: p != place)
                for each in places:
                    if shape is not None and same_size(shape[each], dim):
                        return size_of(node.id, each)
            if isinstance(member.value, Elsewhere) and member.value.sizes:
                return syntax.clone(member.value.sizes[axis])
            inside.add(member.name)
        if not is_open(dim):  # it is no size of an array that is open
            raise NotCompiled(self.group.members[0].stmt, "a size that no array tells")
        return self.open_size(axis)

    def open_size(self, axis: int) -> gast.expr:
        """The size of an axis of which nothing is known: that of its first array."""
        inside: set[str] = set()
        for member in self.group.members:
            for node in operands(member):
                shape = shape_of(self.type_of(node))
                if not isinstance(node, gast.Name) or not shape or node.id in inside:
                    continue
                place = axis - len(self.group.shape) + len(shape)
                if place >= 0 and is_open(shape[place]):
                    return size_of(node.id, place)
            inside.add(member.name)
        raise NotCompiled(self.group.members[0].stmt, "a size that no array tells")

    def shape(self, axes: list[int]) -> gast.expr:
        """The shape of an array over these axes (-1: of size 1)."""
        sizes = [
            syntax.const(1) if a < 0 else syntax.clone(self.nest.sizes[a]) for a in axes
        ]
        return sizes[0] if len(sizes) == 1 else gast.Tuple(sizes, syntax.LOAD)

    def place(self, axes: list[int]) -> gast.expr:
        """The index of the element at hand of an array over these axes."""
        found = [
            syntax.const(0)
            if a < 0 or is_one(self.nest.sizes[a])
            else syntax.name(self.nest.indices[a])
            for a in axes
        ]
        return found[0] if len(found) == 1 else gast.Tuple(found, syntax.LOAD)

    def element(self, name: str, axes: list[int], store: bool = False) -> gast.expr:
        """`x[i, j]`."""
        ctx = syntax.STORE if store else syntax.LOAD
        return gast.Subscript(syntax.name(name), self.place(axes), ctx)

    # -- elements --------------------------------------------------------------------

    def value(self, node: gast.expr) -> gast.expr:
        """One element of an expression. Raises NotCompiled."""
        t = self.type_of(node)
        if not isinstance(t, Array):
            self.numbers.emit = self.nest.before[0].append
            return self.numbers.number(node)
        found = seen(node, self.rank_of)
        if found is not None:
            return self.loaded(node, t, *found)
        operation = self.numbers.operations.of(node)
        if operation is None:
            shown = syntax.text(node)
            raise NotCompiled(node, f"`{shown}` is no operation with a kernel")
        return self.applied(node, operation, t)

    def rank_of(self, node: gast.expr) -> int | None:
        """How many axes an array has."""
        return rank_of(self.type_of(node))

    def loaded(
        self, node: gast.expr, t: Type, array: gast.Name, went: list[int]
    ) -> gast.expr:
        """An element of an array that a name holds, seen with other axes or as it is.

        Args:
            went: which axis of the view each of its axes is.
        """
        if (array.id, ()) in self.elements:
            if isinstance(node, gast.Name):
                return syntax.name(self.elements[array.id, ()])
            raise NotCompiled(node, "an array is needed as a whole where it is made")
        if not is_kernel_array(t) or not is_kernel_array(self.type_of(array)):
            raise NotCompiled(node, f"`{array.id}` is no array of numbers of 64 bits")
        placed = self.axes_of(node, t)
        axes = [placed[axis] for axis in went]
        key = array.id, tuple(axes)
        if key not in self.elements:
            depth = max([a + 1 for a in axes if a >= 0], default=0)
            marks = "".join("ijklmn"[a] if a >= 0 else "0" for a in axes)
            self.elements[key] = name = self.fresh(f"{array.id}_{marks}")
            held = array.id
            if (
                held in self.apart
                and self.is_read_again(axes)
                and not self.changes(array)
            ):
                held = self.together(held)
            load = syntax.assign(name, self.element(held, axes))
            self.nest.before[depth].append(load)
        return syntax.name(self.elements[key])

    def is_read_again(self, axes: list[int]) -> bool:
        """Whether an outer loop has the innermost one go through the same elements."""
        inner = max(axes)
        if inner < 1 or axes[-1] != inner:
            return False
        times = [self.nest.sizes[a] for a in range(inner) if a not in axes]
        known = [s.value for s in times if isinstance(s, gast.Constant)]
        return len(known) < len(times) or math.prod(known) >= ENOUGH

    def changes(self, array: gast.Name) -> bool:
        """Whether the loops write to memory that an array may be in."""
        seen = ageless_buffers(all_buffers(self.type_of(array)))
        return any(m.changed & seen for m in self.group.members)

    def together(self, name: str) -> str:
        """The name of a copy whose rows are together in memory."""
        if name not in self.copies:
            self.copies[name] = held = self.fresh(f"{name}_contiguous")
            copy = syntax.expression("np.ascontiguousarray(x)", x=syntax.name(name))
            self.nest.before[0].append(syntax.assign(held, copy))
        return self.copies[name]

    def axes_of(self, node: Any, t: Type) -> list[int]:
        """The axes of the loops that those of an array follow; -1: it has size 1."""
        shape, whole = shape_of(t), self.group.shape
        assert shape is not None
        if len(shape) > len(whole):
            raise NotCompiled(node, f"`{syntax.text(node)}` has more dimensions")
        return [
            self.axis_of(node, dim, axis, whole[axis])
            for axis, dim in enumerate(shape, len(whole) - len(shape))
        ]

    def axis_of(self, node: Any, dim: Dim, axis: int, whole: Dim) -> int:
        if same_size(dim, whole):
            return axis
        if dim == 1 and isinstance(dim, int):
            return -1
        if isinstance(node, gast.Name) and not isinstance(whole, int):
            rank = len(shape_of(self.type_of(node)) or ())
            here = size_of(node.id, axis - len(self.group.shape) + rank)
            if syntax.equal(here, self.nest.sizes[axis]):
                return axis
            self.numbers.emit = self.nest.before[0].append
            there = syntax.clone(self.nest.sizes[axis])
            self.numbers.unless("a == b", node, a=here, b=there)
            return axis
        raise NotCompiled(node, f"it is not known which size `{syntax.text(node)}` has")

    def applied(self, node: gast.expr, operation: Operation, result: Type) -> gast.expr:
        """One element of what an operation gives."""
        values = {k: self.value(v) for k, v in operation.operands.items()}
        types = {k: self.type_of(v) for k, v in operation.operands.items()}
        self.numbers.emit = self.nest.before[-1].append
        return self.numbers.operate(node, operation, values, types, result)

    # -- members ---------------------------------------------------------------------

    def map(self, member: Member) -> None:
        """`y = op(a, b)`."""
        t = self.type_of(syntax.name(member.name))
        if not is_kernel_array(t):
            raise NotCompiled(member.stmt, f"`{member.name}` is no array of numbers")
        value = self.member_value(member, t)
        self.numbers.emit = self.nest.before[-1].append
        name = self.fresh(f"{member.name}_{'ijklmn'[: len(self.group.shape)]}")
        self.nest.before[-1].append(syntax.assign(name, value))
        self.elements[member.name, ()] = name
        if self.is_needed(member.name, self.group):
            axes = list(range(len(self.group.shape)))
            made = member.name
            if any(made in m.reads for m in self.group.until(made)):
                # `w = w - rate * dw`: not in the place of the old one
                made = self.fresh(f"new_{made}")
                self.nest.after[0].append(syntax.assign(member.name, syntax.name(made)))
            fill = "" if member.like is None else number_text(member.value.value)
            self.nest.before[0].append(self.made(made, axes, dtype_of(t), fill))
            if member.like is None:
                target = self.element(made, axes, store=True)
                store = gast.Assign([target], syntax.name(name), None)
                self.nest.after[-1].append(store)

    def member_value(self, member: Member, t: Type) -> gast.expr:
        """The element that a member computes."""
        if isinstance(member.value, Elsewhere):
            self.nest.before[0].extend(member.value.before)
            place = self.place(list(range(len(self.group.shape))))
            at = place.elts if isinstance(place, gast.Tuple) else [place]
            return member.value.element(at)
        if isinstance(member.value, Operation):
            return self.applied(member.stmt.value, member.value, t)
        value = self.value(member.value)
        if member.like is not None and is_single(t):
            return syntax.expression("np.float32(x)", x=value)
        if member.converts:
            return converted(value, self.type_of(member.value), t, member.stmt)
        return stored_number(value, self.type_of(member.value), t, member.stmt)

    def made(
        self, name: str, axes: list[int], dtype: Any, value: str = ""
    ) -> gast.stmt:
        """`y = np.empty(shape)`."""
        maker = _MAKERS.get(value, "full")
        fill = [syntax.expression(value)] if maker == "full" else []
        return syntax.assign(name, array_of(maker, self.shape(axes), dtype, *fill))

    def fold(self, member: Member) -> None:
        """`y = np.sum(a, axis)`."""
        operation: Operation = member.value
        fold = operation.op.fold
        assert fold is not None
        (array,) = (v for k, v in operation.operands.items() if k == "a")
        of, t = self.type_of(array), self.type_of(syntax.name(member.name))
        x = self.folded(member, self.value(array), of, fold)
        rank = len(self.group.shape)
        along = range(rank) if member.axes is None else member.axes
        kept = [a for a in range(rank) if a not in along]
        if fold.of_some:
            self.refuse_none(member, list(along), operation)
        start = number_text(fold.start)
        if kind(t) == "i":
            start = repr(int(fold.start))
        if not kept or kept[0] != 0:
            self.late.add(member.name)
        if kept != list(range(len(kept))):  # the axes that are kept are inner ones
            self.fold_into(member, fold, x, kept, t, start)
            return
        depth = len(kept)
        is_array = member.keepdims or bool(kept)
        if is_array and member.name in member.reads:
            raise NotCompiled(member.stmt, "a reduction under the name of its array")
        marks = "".join("ijklmn"[a] for a in kept) or "all"
        fresh = is_array or member.name in member.reads
        name = self.fresh(f"{member.name}_{marks}") if fresh else member.name
        self.nest.before[depth].append(syntax.assign(name, syntax.expression(start)))
        step = syntax.expression(fold.step, y=syntax.name(name), x=x)
        self.nest.before[-1].append(syntax.assign(name, step))
        after = self.nest.after[depth]
        value = self.finished(fold, syntax.name(name), list(along), t)
        if is_array and not syntax.is_atom(value):
            after.append(syntax.assign(name, value))
            value = syntax.name(name)
        if not is_array:
            if not syntax.is_name(value, member.name):
                after.append(syntax.assign(member.name, value))
            return
        axes = (
            [a if a in kept else -1 for a in range(rank)] if member.keepdims else kept
        )
        self.nest.before[0].append(self.made(member.name, axes, dtype_of(t)))
        target = self.element(member.name, axes, store=True)
        after.append(gast.Assign([target], value, None))

    def folded(self, member: Member, x: gast.expr, of: Type, fold: Fold) -> gast.expr:
        """The element that a fold takes, under a name."""
        if kind(of) not in fold.kinds:
            if "i" in fold.kinds and kind(of) == "b":
                x = syntax.call("int", x)
            elif "f" in fold.kinds and kind(of) in "ib" and fold.finish:
                x = as_float(x, kind(of))
            else:
                raise NotCompiled(member.stmt, "a reduction of such numbers")
        self.numbers.emit = self.nest.before[-1].append
        if "added" in fold.step:
            return x
        return self.numbers.atom(x, f"{member.name}_item")

    def finished(
        self, fold: Fold, value: gast.expr, along: list[int], t: Type
    ) -> gast.expr:
        """The result of a fold, from the last step."""
        if fold.finish:
            count: Any = None
            for axis in along:
                size = syntax.clone(self.nest.sizes[axis])
                count = size if count is None else gast.BinOp(count, gast.Mult(), size)
            value = syntax.expression(fold.finish, y=value, n=count)
        if dtype_of(t) == np.float32:
            return syntax.expression("np.float32(y)", y=value)
        return value

    def fold_into(
        self,
        member: Member,
        fold: Fold,
        x: gast.expr,
        kept: list[int],
        t: Type,
        start: str,
    ) -> None:
        """A fold along outer axes: each item of the result is gone through often."""
        rank = len(self.group.shape)
        if member.name in member.reads:
            raise NotCompiled(member.stmt, "a reduction under the name of its array")
        dtype = dtype_of(t)
        if dtype not in (np.float64, np.float32, np.int64):
            raise NotCompiled(member.stmt, "a reduction along outer axes in this dtype")
        axes = (
            [a if a in kept else -1 for a in range(rank)] if member.keepdims else kept
        )
        single = dtype == np.float32  # found in double precision, as other folds
        found = self.fresh(member.name) if single else member.name
        wide = np.dtype(np.float64) if single else dtype
        self.nest.before[0].append(self.made(found, axes, wide, start))
        here = self.element(found, axes)
        step = syntax.expression(fold.step, y=here, x=x)
        target = self.element(found, axes, store=True)
        self.nest.after[-1].append(gast.Assign([target], step, None))
        if fold.finish or single:
            along = [a for a in range(rank) if a not in kept]
            once = Nest(
                [self.fresh(self.nest.indices[a]) for a in kept],
                [self.nest.sizes[a] for a in kept],
            )
            value = self.finished(fold, syntax.clone(here), along, t)
            result = self.element(member.name, axes, store=True)
            done = gast.Assign([result], value, None)
            names = {
                self.nest.indices[a]: i for a, i in zip(kept, once.indices, strict=True)
            }
            syntax.rename([done], names)
            once.before[-1].append(done)
            if single:
                self.nest.after[0].append(self.made(member.name, axes, dtype))
            self.nest.after[0].extend(once.statements())

    def refuse_none(self, member: Member, along: list[int], of: Operation) -> None:
        """NumPy's error where there is nothing to take the largest of."""
        sizes = [self.nest.sizes[a] for a in along]
        if all(isinstance(s, gast.Constant) and s.value > 0 for s in sizes):
            return
        empty = " or ".join(f"{syntax.text(s)} == 0" for s in sizes)
        name = {"max": "maximum", "min": "minimum"}.get(of.op.name.split(".")[-1], "")
        message = f"zero-size array to reduction operation {name} which has no identity"
        self.nest.before[0].extend(
            syntax.statements(f"if {empty}:\n    raise ValueError({message!r})")
        )

    def store(self, member: Member) -> None:
        """`u[...] = a`, `u += a`; the name is that of what is written to."""
        t = self.type_of(syntax.name(member.name))
        axes = list(range(len(self.group.shape)))
        target = self.element(member.name, axes, store=True)
        if member.update is None:
            value = self.member_value(member, t)
        else:
            here = self.element(member.name, axes)
            other = self.value(member.value)
            self.numbers.emit = self.nest.before[-1].append
            a, b = member.update.operands
            value = self.numbers.operate(
                member.stmt,
                member.update,
                {a: here, b: other},
                {a: t, b: self.type_of(member.value)},
                t,
            )
        self.nest.after[-1].append(gast.Assign([target], value, None))


#: So many times an array is gone through before a copy of it pays.
ENOUGH = 4
#: What makes an array that is filled with this.
_MAKERS = {"": "empty", "0.0": "zeros", "1.0": "ones", "0": "zeros", "1": "ones"}


def converted(value: gast.expr, of: Type, to: Type, stmt: Any) -> gast.expr:
    """A number in another dtype, as NumPy converts it. Raises NotCompiled."""
    if kind(to) == "f":
        if kind(of) in "ib":
            value = as_float(value, kind(of))
        if is_single(to) != (is_single(of) and kind(of) == "f"):
            word = "np.float32(x)" if is_single(to) else "float(x)"
            return syntax.expression(word, x=value)
        return value
    if kind(to) == "b" and kind(of) in "fi":
        return syntax.expression("x != 0", x=value)
    return stored_number(value, of, to, stmt)


def is_one(size: gast.expr) -> bool:
    """Whether an axis has one place."""
    return isinstance(size, gast.Constant) and size.value == 1


def operands(member: Member) -> list[gast.expr]:
    """The names that a member reads, and the array that it writes to."""
    if isinstance(member.value, Operation):
        nodes = list(member.value.operands.values())
    elif isinstance(member.value, Elsewhere):
        nodes = [syntax.name(array) for array in member.value.arrays]
    else:
        nodes = [member.value]
    found = [n for node in nodes for n in syntax.walk(node) if isinstance(n, gast.Name)]
    if member.kind == "store":
        found.append(syntax.name(member.name))
    if member.like is not None:
        found += [n for n in syntax.walk(member.like) if isinstance(n, gast.Name)]
    return found


def size_of(name: str, axis: int) -> gast.expr:
    """`len(x)`, `x.shape[1]`."""
    if axis == 0:
        return syntax.call("len", syntax.name(name))
    return syntax.expression(f"x.shape[{axis}]", x=syntax.name(name))


def number_text(value: float) -> str:
    """A number as a kernel writes it."""
    if value in (float("inf"), -float("inf")):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)
