"""Arrays that are filled by loops of their own: joined, accumulated, chosen from.

y = np.cumsum(x)                      total = 0.0
                              ->      for i in range(len(x)):
                                          total = total + x[i]
                                          y[i] = total
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    Array,
    List,
    Tuple,
    Type,
    dtype_of,
    same_size,
    shape_of,
)
from srcjax.transforms.kernels.accepted import (
    array_of,
    is_kernel_array,
    is_kernel_number,
    kind,
    stored_number,
)
from srcjax.transforms.kernels.arrays import Arrays
from srcjax.transforms.kernels.elsewhere import (
    At,
    LookedUp,
    is_array,
    looked_up,
    number_of,
    size_along,
    subscript,
)
from srcjax.transforms.kernels.groups import is_open
from srcjax.transforms.kernels.operations import Operation

Lines = list[gast.stmt]


class Filled(Arrays):
    """Writes the loops that fill arrays."""

    def filled_by_loops(
        self, name: str, stmt: Any, operation: Operation | None, t: Type
    ) -> Lines | None:
        """What makes an array, or a number, by loops of its own; else None."""
        value = stmt.value
        mask = self.mask_of(value)
        writer = _WRITERS.get(operation.op.name) if operation is not None else None
        if mask is None and writer is None or self.changes_later(stmt, t):
            return None
        out: Lines = []
        outer, self.numbers.emit = self.numbers.emit, out.append
        done, made = True, name
        if name in syntax.names_read(value):  # it is read while the new one is filled
            made = self.fresh(name)
            self.types[made] = t
        if mask is not None and isinstance(value, gast.Subscript):
            self.chosen(made, value.value, mask, t, out)
        elif writer is not None:
            done = writer(self, made, operation, t, out)
        self.numbers.emit = outer
        if made != name:
            out.append(syntax.assign(name, syntax.name(made)))
        return out if done else None

    # -- loops -----------------------------------------------------------------------

    def loops(self, sizes: list[gast.expr], inside: Callable[[At], Lines]) -> Lines:
        """Loops over all places of an array of this shape."""
        indices = [self.fresh("ijklmn"[min(k, 5)]) for k in range(len(sizes))]
        body = inside([syntax.name(i) for i in indices])
        for index, size in reversed(list(zip(indices, sizes, strict=True))):
            over = syntax.call("range", syntax.clone(size))
            body = [gast.For(syntax.name(index, store=True), over, body, [], None)]
        return body

    def sizes_of(self, array: gast.expr) -> list[gast.expr]:
        """How many places each axis of an array has."""
        shape = shape_of(self.type_of(array)) or ()
        return [
            syntax.const(size) if isinstance(size, int) else size_along(array, axis)
            for axis, size in enumerate(shape)
        ]

    def made_as(self, name: str, sizes: list[gast.expr], t: Type) -> gast.stmt:
        """`y = np.empty(sizes)`."""
        shape = sizes[0] if len(sizes) == 1 else gast.Tuple(sizes, syntax.LOAD)
        return syntax.assign(name, array_of("empty", syntax.clone(shape), dtype_of(t)))

    def same_sizes(self, a: gast.expr, b: gast.expr) -> bool:
        """Demand that two arrays have the same shape; whether they may have."""
        first, second = shape_of(self.type_of(a)), shape_of(self.type_of(b))
        if first is None or second is None or len(first) != len(second):
            return False
        for axis, (m, n) in enumerate(zip(first, second, strict=True)):
            if same_size(m, n):
                continue
            if isinstance(m, int) and isinstance(n, int):
                return False
            sizes = size_along(a, axis), size_along(b, axis)
            self.numbers.unless("m == n", a, m=sizes[0], n=sizes[1])
        return True

    # -- joined ----------------------------------------------------------------------

    def joined_parts(
        self, name: str, operation: Operation, t: Type, out: Lines
    ) -> bool:
        """`np.concatenate([a, b])`, `np.stack`, `np.array([x, y])`."""
        given = dict(operation.operands)
        first = next(iter(given))
        parts = self.displayed(given.pop(first))
        axis = self.option(given.pop("axis", None), 0)
        given.pop("dtype", None)
        rank = len(shape_of(t) or ())
        if given or not isinstance(t, Array) or type(axis) is not int or not rank:
            return False
        function = operation.op.name
        if self.is_tape(operation.operands[first]) and not axis:
            listed = function in ("numpy.stack", "numpy.array", "numpy.asarray")
            return listed and self.of_list(name, operation.operands[first], t, out)
        if not parts:
            return False
        if function in ("numpy.array", "numpy.asarray"):
            return self.array_of_parts(name, parts, t, out)
        ranks = {self.rank_of(p) for p in parts}
        if ranks == {1} and function == "numpy.column_stack":
            function, axis = "numpy.stack", 1
        if ranks == {1} and function == "numpy.vstack":
            function, axis = "numpy.stack", 0
        if function in ("numpy.hstack", "numpy.column_stack"):
            axis = 0 if ranks == {1} else 1
        axis %= rank
        if function == "numpy.stack":
            return ranks == {rank - 1} and self.stacked(name, parts, axis, t, out)
        return ranks == {rank} and self.end_to_end(name, parts, axis, t, out)

    def of_list(self, name: str, items: gast.expr, t: Array, out: Lines) -> bool:
        """`np.stack(rows)` of a list that the kernel made."""
        of = self.type_of(items)
        elem = of.elem if isinstance(of, List) else None
        dims = shape_of(elem) if elem is not None else None
        if elem is None or dims is None or len(dims) != len(t.shape or ()) - 1:
            return False
        if not self.fits_type(elem, t) or any(map(is_open, dims)):
            return False
        self.numbers.unless("n > 0", items, n=syntax.call("len", syntax.clone(items)))
        row = syntax.expression("x[0]", x=items)
        sizes = [
            syntax.const(d) if isinstance(d, int) else size_along(row, k)
            for k, d in enumerate(dims)
        ]
        count = syntax.call("len", syntax.clone(items))
        out.append(self.made_as(name, [count, *sizes], t))
        here = self.made_of("row", elem)

        def inside(at: At) -> Lines:
            def along(place: At) -> Lines:
                found = subscript(syntax.name(here), place) if place else None
                target = subscript(syntax.name(name), [*at, *place], store=True)
                value = stored_number(found or syntax.name(here), elem, t, items)
                return [gast.Assign([target], value, None)]

            taken = syntax.assign(here, subscript(items, at))
            return [taken, *(self.loops(sizes, along) if sizes else along([]))]

        out += self.loops([count], inside)
        return True

    def array_of_parts(
        self, name: str, parts: list[gast.expr], t: Array, out: Lines
    ) -> bool:
        """`np.array([[a, b], [c, d]])`, `np.array([x, y])` of arrays."""
        places = self.places(parts, ())
        if places is not None:
            sizes: list[gast.expr] = [syntax.const(n) for n in t.shape or ()]
            if any(not isinstance(n, int) for n in t.shape or (None,)):
                return False
            out.append(self.made_as(name, sizes, t))
            for at, part in places:
                if len(at) != len(sizes):
                    return False
                value = self.numbers.number(part)
                value = stored_number(value, self.type_of(part), t, part)
                index: At = [syntax.const(k) for k in at]
                target = subscript(syntax.name(name), index, store=True)
                out.append(gast.Assign([target], value, None))
            return True
        if {self.rank_of(p) for p in parts} != {len(t.shape or ()) - 1}:
            return False
        return self.stacked(name, parts, 0, t, out)

    def places(
        self, parts: list[gast.expr], at: tuple[int, ...]
    ) -> list[tuple[tuple[int, ...], gast.expr]] | None:
        """The numbers of a display of displays, with where they are."""
        found = []
        for k, part in enumerate(parts):
            inner = self.displayed(part)
            if inner is not None:
                deeper = self.places(inner, (*at, k))
                if deeper is None:
                    return None
                found += deeper
            elif is_kernel_number(self.type_of(part)):
                found.append(((*at, k), part))
            else:
                return None
        return found

    def stacked(
        self, name: str, parts: list[gast.expr], axis: int, t: Type, out: Lines
    ) -> bool:
        """Arrays of the same shape beside each other, along a new axis."""
        if not all(is_array(self, p) and self.fits(p, t) for p in parts):
            return False
        if not all(self.same_sizes(parts[0], p) for p in parts[1:]):
            return False
        sizes = self.sizes_of(parts[0])
        count = syntax.const(len(parts))
        out.append(self.made_as(name, [*sizes[:axis], count, *sizes[axis:]], t))

        def inside(at: At) -> Lines:
            stores = []
            for k, part in enumerate(parts):
                place = [*at[:axis], syntax.const(k), *at[axis:]]
                target = subscript(syntax.name(name), place, store=True)
                value = self.converted(subscript(part, at), part, t)
                stores.append(gast.Assign([target], value, None))
            return stores

        out += self.loops(sizes, inside)
        return True

    def end_to_end(
        self, name: str, parts: list[gast.expr], axis: int, t: Type, out: Lines
    ) -> bool:
        """Arrays one after the other, along an axis that they have."""
        first = parts[0]
        for part in parts:
            if not is_array(self, part) or not self.fits(part, t):
                return False
            shapes = [shape_of(self.type_of(p)) or () for p in (first, part)]
            others = [s[:axis] + s[axis + 1 :] for s in shapes]
            if not all(map(same_size, *others)):
                return False
        sizes = [self.sizes_of(p) for p in parts]
        whole = sizes[0][axis]
        for each in sizes[1:]:
            whole = syntax.expression("m + n", m=whole, n=each[axis])
        made = [*sizes[0][:axis], whole, *sizes[0][axis + 1 :]]
        out.append(self.made_as(name, made, t))
        start: gast.expr = syntax.const(0)
        for k, part in enumerate(parts):
            here = syntax.clone(start)

            def inside(at: At, part: Any = part, here: Any = here) -> Lines:
                zero = isinstance(here, gast.Constant) and here.value == 0
                moved = at[axis]
                if not zero:
                    moved = syntax.expression("m + i", m=here, i=at[axis])
                place = [*at[:axis], moved, *at[axis + 1 :]]
                target = subscript(syntax.name(name), place, store=True)
                value = self.converted(subscript(part, at), part, t)
                return [gast.Assign([target], value, None)]

            out += self.loops(sizes[k], inside)
            if k + 1 < len(parts):
                start = sizes[k][axis] if not k else self.sum_of(start, sizes[k][axis])
        return True

    def sum_of(self, a: gast.expr, b: gast.expr) -> gast.expr:
        if isinstance(a, gast.Constant) and isinstance(b, gast.Constant):
            return syntax.const(a.value + b.value)
        return syntax.expression("m + n", m=a, n=b)

    def fits(self, part: gast.expr, t: Type) -> bool:
        """Whether the numbers of an array can be stored in one like `t`."""
        return self.fits_type(self.type_of(part), t)

    def fits_type(self, of: Type, t: Type) -> bool:
        a, b = kind(of), kind(t)
        return a == b or b == "f" or (a, b) == ("b", "i")

    def converted(self, value: gast.expr, of: gast.expr, t: Type) -> gast.expr:
        return stored_number(value, self.type_of(of), t, of)

    # -- accumulated -----------------------------------------------------------------

    def accumulated(self, name: str, operation: Operation, t: Type, out: Lines) -> bool:
        """`np.cumsum(x)`, `np.cumprod(x, axis=1)`."""
        array = operation.operands["a"]
        axis = self.option(operation.operands.get("axis"), None)
        rank = self.rank_of(array)
        if axis is None and rank == 1:
            axis = 0
        if not is_array(self, array) or type(axis) is not int or rank is None:
            return False
        if len(operation.operands) > 2 or dtype_of(t) != dtype_of(self.type_of(array)):
            return False
        if kind(t) not in "fi" or not isinstance(t, Array):
            return False
        axis %= rank
        product = operation.op.name == "numpy.cumprod"
        sizes = self.sizes_of(array)
        out.append(self.made_as(name, sizes, t))
        total = self.fresh("product" if product else "total")
        start = number_of("1" if product else "0", t)
        step = f"{total} * x" if product else f"{total} + x"
        others = [s for k, s in enumerate(sizes) if k != axis]

        def inside(at: At) -> Lines:
            def along(here: At) -> Lines:
                place = [*at[:axis], here[0], *at[axis:]]
                target = subscript(syntax.name(name), place, store=True)
                value = syntax.expression(step, x=subscript(array, place))
                return [
                    syntax.assign(total, value),
                    gast.Assign([target], syntax.name(total), None),
                ]

            return [
                syntax.assign(total, syntax.expression(start)),
                *self.loops([sizes[axis]], along),
            ]

        out += self.loops(others, inside)
        return True

    def place_of_extreme(
        self, name: str, operation: Operation, t: Type, out: Lines
    ) -> bool:
        """`np.argmax(x)`, `np.argmin(x, axis=1)`: the first one, or the first NaN."""
        array = operation.operands["a"]
        axis = self.option(operation.operands.get("axis"), None)
        rank = self.rank_of(array)
        if axis is None and rank == 1:
            axis = 0
        if not is_array(self, array) or type(axis) is not int or rank is None:
            return False
        if len(operation.operands) > 2 or kind(self.type_of(array)) not in "fi":
            return False
        axis %= rank
        sizes = self.sizes_of(array)
        if not (isinstance(sizes[axis], gast.Constant) and sizes[axis].value):
            self.numbers.unless("n > 0", array, n=syntax.clone(sizes[axis]))
        sign = ">" if operation.op.name == "numpy.argmax" else "<"
        others = [s for k, s in enumerate(sizes) if k != axis]
        best = name if not others else self.fresh("best")
        if others:
            out.append(self.made_as(name, others, t))

        def inside(at: At) -> Lines:
            def along(here: At) -> Lines:
                x = subscript(array, [*at[:axis], here[0], *at[axis:]])
                y = subscript(array, [*at[:axis], syntax.name(best), *at[axis:]])
                test = f"x {sign} y"
                if kind(self.type_of(array)) == "f":
                    test += " or (x != x and y == y)"
                found = syntax.assign(best, here[0])
                return [gast.If(syntax.expression(test, x=x, y=y), [found], [])]

            lines: Lines = [
                syntax.assign(best, syntax.const(0)),
                *self.loops([sizes[axis]], along),
            ]
            if others:
                target = subscript(syntax.name(name), at, store=True)
                lines.append(gast.Assign([target], syntax.name(best), None))
            return lines

        out += self.loops(others, inside)
        return True

    # -- chosen by a mask ------------------------------------------------------------

    def mask_of(self, place: gast.expr) -> gast.Name | None:
        """The array of truth values that an index is, one for each element."""
        if not isinstance(place, gast.Subscript) or not is_array(self, place.value):
            return None
        mask = place.slice
        if not is_array(self, mask) or kind(self.type_of(mask)) != "b":
            return None
        same = self.rank_of(mask) == self.rank_of(place.value)
        return mask if same else None

    def chosen(
        self, name: str, array: gast.expr, mask: gast.expr, t: Type, out: Lines
    ) -> None:
        """`y = x[mask]`: counted first."""
        if not self.same_sizes(array, mask):
            raise self.refuse(mask, "a mask of another shape")
        sizes = self.sizes_of(mask)
        count = self.counted(mask, out)
        out.append(self.made_as(name, [syntax.name(count)], t))
        k = self.fresh("k")
        out.append(syntax.assign(k, syntax.const(0)))

        def inside(at: At) -> Lines:
            target = subscript(syntax.name(name), [syntax.name(k)], store=True)
            store = gast.Assign([target], subscript(array, at), None)
            return [gast.If(subscript(mask, at), [store, *one_more(k)], [])]

        out += self.loops(sizes, inside)

    def counted(self, mask: gast.expr, out: Lines) -> str:
        """The name of how many are chosen."""
        count = self.fresh("count")
        out.append(syntax.assign(count, syntax.const(0)))
        out += self.loops(
            self.sizes_of(mask),
            lambda at: [gast.If(subscript(mask, at), one_more(count), [])],
        )
        return count

    def store_chosen(self, stmt: Any, target: gast.Subscript, mask: gast.expr) -> Lines:
        """`x[mask] = v`, `x[mask] *= v`."""
        out: Lines = []
        self.numbers.emit = out.append
        array, value = target.value, stmt.value
        if not self.same_sizes(array, mask):
            raise self.refuse(stmt, "a mask of another shape")
        many = is_kernel_array(self.type_of(value))
        k = ""
        if many:
            if not is_array(self, value) or self.rank_of(value) != 1:
                raise self.refuse(stmt, "what is stored by a mask has several axes")
            count = self.counted(mask, out)
            size = size_along(value, 0)
            self.numbers.unless("m == n", stmt, m=syntax.name(count), n=size)
            k = self.fresh("k")
            out.append(syntax.assign(k, syntax.const(0)))
            given: gast.expr = subscript(value, [syntax.name(k)])
        else:
            given = self.numbers.atom(self.numbers.number(value), "value")

        def inside(at: At) -> Lines:
            lines: Lines = []
            self.numbers.emit = lines.append
            new = self.updated_number(stmt, subscript(array, at), given)
            lines.append(gast.Assign([subscript(array, at, store=True)], new, None))
            more = one_more(k) if k else []
            return [gast.If(subscript(mask, at), [*lines, *more], [])]

        out += self.loops(self.sizes_of(mask), inside)
        return out

    def updated_number(self, stmt: Any, here: gast.expr, given: gast.expr) -> gast.expr:
        """What is stored in one place by an assignment, or an update in place."""
        target = stmt.target if isinstance(stmt, gast.AugAssign) else stmt.targets[0]
        base, of = self.type_of(target.value), self.type_of(stmt.value)
        if isinstance(stmt, gast.Assign):
            return stored_number(syntax.clone(given), of, base, stmt)
        place = syntax.as_load(syntax.clone(target))
        update = self.operations.of(gast.BinOp(place, stmt.op, stmt.value))
        if update is None or update.op.kernel is None:
            raise self.refuse(stmt, "an update that has no kernel")
        a, b = list(update.operands)[:2]
        types = {a: base, b: of}
        values = {a: here, b: syntax.clone(given)}
        return self.numbers.operate(stmt, update, values, types, base)

    # -- stored where an array of ints says -------------------------------------------

    def store_places(
        self, stmt: Any, target: gast.Subscript, index: LookedUp, adds: bool = False
    ) -> Lines:
        """`x[idx] = v`, `x[idx] += v`: each place once; `np.add.at`: each time.

        Args:
            adds: whether a place that comes twice is updated twice.
        """
        out: Lines = [*index.before]
        self.numbers.emit = out.append
        array, value = target.value, stmt.value
        self.numbers.indexed.add(syntax.root_of(array))
        idx = syntax.name(index.arrays[0])
        shape = shape_of(self.type_of(array)) or ()
        free = [k for k, item in enumerate(index.items) if item is None]
        sizes = [self.sizes_of(array)[k] for k in free]
        sizes[index.first : index.first] = self.sizes_of(idx)
        whole = (shape_of(self.type_of(idx)) or (), [shape[k] for k in free])
        dims = [*whole[1]]
        dims[index.first : index.first] = whole[0]
        given = self.at_places(stmt, value, dims, sizes)

        def place(at: At) -> Any:
            return index.place(at)

        def here(at: At, store: bool = False) -> gast.Subscript:
            ctx = syntax.STORE if store else syntax.LOAD
            return gast.Subscript(syntax.clone(array), place(at), ctx)

        def stores(at: At) -> Lines:
            lines: Lines = []
            self.numbers.emit = lines.append
            new = self.updated_number(stmt, here(at), given(at))
            lines.append(gast.Assign([here(at, store=True)], new, None))
            return lines

        if isinstance(stmt, gast.Assign) or adds:
            out += self.loops(sizes, stores)
            return out
        held = self.fresh("updated")
        out.append(self.made_as(held, sizes, self.type_of(array)))

        def computes(at: At) -> Lines:
            lines: Lines = []
            self.numbers.emit = lines.append
            new = self.updated_number(stmt, here(at), given(at))
            kept = subscript(syntax.name(held), at, store=True)
            lines.append(gast.Assign([kept], new, None))
            return lines

        out += self.loops(sizes, computes)
        out += self.loops(
            sizes,
            lambda at: [
                gast.Assign(
                    [here(at, store=True)], subscript(syntax.name(held), at), None
                )
            ],
        )
        return out

    def at_places(
        self, stmt: Any, value: gast.expr, dims: list[Any], sizes: list[gast.expr]
    ) -> Callable[[At], gast.expr]:
        """What is stored at each place: a number, or the element of an array."""
        t = self.type_of(value)
        if is_kernel_number(t):
            number = self.numbers.atom(self.numbers.number(value), "value")
            return lambda at: syntax.clone(number)
        shape = shape_of(t)
        if not is_array(self, value) or shape is None or len(shape) > len(dims):
            raise self.refuse(stmt, "what is stored has more axes")
        offset = len(dims) - len(shape)
        axes: list[int] = []
        for axis, dim in enumerate(shape):
            if same_size(dim, dims[offset + axis]):
                axes.append(offset + axis)
            elif isinstance(dim, int) and dim == 1:
                axes.append(-1)
            else:
                here, there = size_along(value, axis), sizes[offset + axis]
                self.numbers.unless("m == n", stmt, m=here, n=syntax.clone(there))
                axes.append(offset + axis)
        return lambda at: subscript(
            value, [syntax.const(0) if a < 0 else at[a] for a in axes]
        )

    def added_at(self, call: gast.Call) -> Lines | None:
        """`np.add.at(x, idx, v)`; None for other calls."""
        function = getattr(self.type_of(call.func), "value", None)
        owner = getattr(function, "__self__", None)
        if getattr(owner, "__name__", "") != "add" or call.keywords:
            return None
        if getattr(function, "__name__", "") != "at" or len(call.args) != 3:
            return None
        array, index, value = call.args
        if isinstance(index, gast.Name) and isinstance(self.type_of(index), Tuple):
            parts = self.displayed(index)
            if parts is None:
                return None
            index = gast.Tuple(parts, syntax.LOAD)
        target = gast.Subscript(array, index, syntax.STORE)
        stmt = gast.AugAssign(target, gast.Add(), value)
        found = looked_up(self, syntax.as_load(syntax.clone(target)))
        if found is None or self.shares(array, value):
            return None
        return self.store_places(stmt, target, found, adds=True)

    def shares(self, array: gast.expr, value: gast.expr) -> bool:
        """Whether what is stored may be in the memory that it is stored in."""
        written = self.buffers_of(array)
        return any(
            written & self.buffers_of(n)
            for n in syntax.walk(value)
            if isinstance(n, gast.Name)
        )

    # -- made larger, or of another shape ----------------------------------------------

    def padded(self, name: str, operation: Operation, t: Type, out: Lines) -> bool:
        """`np.pad(x, 1)`: with zeros."""
        given = dict(operation.operands)
        array = given.pop("x")
        width = self.widths(given.pop("pad_width"), self.rank_of(array) or 0)
        mode = self.option(given.pop("mode", None), "constant")
        if given or mode != "constant" or width is None or not is_array(self, array):
            return False
        sizes = self.sizes_of(array)
        wide = []
        for (before, after), size in zip(width, sizes, strict=True):
            total = syntax.const(before + after)
            wide.append(self.sum_of(size, total) if before + after else size)
        shape = wide[0] if len(wide) == 1 else gast.Tuple(wide, syntax.LOAD)
        out.append(syntax.assign(name, array_of("zeros", shape, dtype_of(t))))

        def inside(at: At) -> Lines:
            place = [
                syntax.expression(f"i + {before}", i=i) if before else i
                for i, (before, _) in zip(at, width, strict=True)
            ]
            target = subscript(syntax.name(name), place, store=True)
            return [gast.Assign([target], subscript(array, at), None)]

        out += self.loops(sizes, inside)
        return True

    def widths(self, node: gast.expr, rank: int) -> list[tuple[int, int]] | None:
        """How wide a border is, before and after each axis."""
        found = known_value(self, node)
        if type(found) is int:
            found = (found, found)
        if not isinstance(found, tuple) or not found:
            return None
        if all(type(n) is int for n in found) and len(found) in (1, 2):
            found = ((found[0], found[-1]),) * rank
        pairs = [p if isinstance(p, tuple) else () for p in found]
        if len(pairs) == 1:
            pairs *= rank
        ok = len(pairs) == rank and all(
            len(p) == 2 and all(type(n) is int and n >= 0 for n in p) for p in pairs
        )
        return pairs if ok else None

    def reshaped(self, name: str, operation: Operation, t: Type, out: Lines) -> bool:
        """`x.reshape(n, m)`, `x.ravel()`: of an array that nobody writes to."""
        given = dict(operation.operands)
        array = given.pop("x")
        if not is_array(self, array):
            return False
        if operation.op.name == "numpy.ravel" and not given:
            shape: gast.expr = syntax.const(-1)
        elif set(given) == {"shape"}:
            shape = self.shape(given["shape"])
        else:
            return False
        flat = syntax.expression("np.ascontiguousarray(x)", x=array)
        out.append(
            syntax.assign(name, syntax.expression("x.reshape(s)", x=flat, s=shape))
        )
        return True

    def crossed(self, name: str, operation: Operation, t: Type, out: Lines) -> bool:
        """`np.cross(a, b)` of vectors in space."""
        a, b = operation.operands["a"], operation.operands["b"]
        shape = shape_of(t)
        if len(operation.operands) > 2 or not shape or shape[-1] != 3:
            return False
        if not (is_array(self, a) and is_array(self, b)) or kind(t) != "f":
            return False
        kinds = {str(dtype_of(self.type_of(x))) for x in (a, b)}
        last = {(shape_of(self.type_of(x)) or (0,))[-1] for x in (a, b)}
        if kinds != {str(dtype_of(t))} or last != {3} or not self.same_sizes(a, b):
            return False
        sizes = self.sizes_of(a)
        out.append(self.made_as(name, sizes, t))

        def inside(at: At) -> Lines:
            lines = []
            for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
                of = {
                    f"{x}{n}": subscript(array, [*at, syntax.const(n)])
                    for x, array in (("a", a), ("b", b))
                    for n in (i, j)
                }
                value = syntax.expression(f"a{i} * b{j} - a{j} * b{i}", **of)
                target = subscript(
                    syntax.name(name), [*at, syntax.const(k)], store=True
                )
                lines.append(gast.Assign([target], value, None))
            return lines

        out += self.loops(sizes[:-1], inside)
        return True


def one_more(name: str) -> Lines:
    """`k += 1`, as kernels write it."""
    return [syntax.assign(name, syntax.expression(f"{name} + 1"))]


def known_value(writing: Filled, node: gast.expr) -> Any:
    """An int, or tuples of ints, that are known; else None."""
    t = writing.type_of(node)
    if isinstance(t, Tuple):
        items: list[Any] = []
        for item in t.items:
            if isinstance(item, Tuple):
                items.append(tuple(getattr(i, "value", None) for i in item.items))
            else:
                items.append(getattr(item, "value", None))
        return tuple(items)
    return getattr(t, "value", None)


_WRITERS: dict[str, Callable[..., bool]] = {
    "numpy.array": Filled.joined_parts,
    "numpy.asarray": Filled.joined_parts,
    "numpy.concatenate": Filled.joined_parts,
    "numpy.stack": Filled.joined_parts,
    "numpy.hstack": Filled.joined_parts,
    "numpy.vstack": Filled.joined_parts,
    "numpy.column_stack": Filled.joined_parts,
    "numpy.cumsum": Filled.accumulated,
    "numpy.cumprod": Filled.accumulated,
    "numpy.argmax": Filled.place_of_extreme,
    "numpy.argmin": Filled.place_of_extreme,
    "numpy.pad": Filled.padded,
    "numpy.reshape": Filled.reshaped,
    "numpy.ravel": Filled.reshaped,
    "numpy.cross": Filled.crossed,
}
