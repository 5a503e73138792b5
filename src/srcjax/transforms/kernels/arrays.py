"""Arrays as a whole: what makes them, looks at them, or keeps them."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import (
    Const,
    Tuple,
    Type,
    dtype_of,
    is_none,
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
from srcjax.transforms.kernels.displays import Displays
from srcjax.transforms.kernels.numbers import has_place, literal
from srcjax.transforms.kernels.operations import Operation, constant
from srcjax.transforms.kernels.places import is_dots, is_new_axis, is_whole, keeps_last

_MADE = {np.zeros: "zeros", np.ones: "ones", np.empty: "empty"}
_LIKE = {np.zeros_like: "zeros", np.ones_like: "ones", np.empty_like: "empty"}
_SOLVERS = {
    f"numpy.linalg.{name}": f"np.linalg.{name}"
    for name in ("inv", "solve", "cholesky", "det")
}
_PRODUCTS = {"numpy.dot", "numpy.matmul"}


class Arrays(Displays):
    """Writes what makes an array, looks at one or keeps one."""

    def is_tape(self, node: gast.expr) -> bool:
        """Whether the expression is a list that the kernel made."""
        return isinstance(node, gast.Name) and node.id in (
            self.lists | self.descriptions | set(self.tapes_of)
        )

    def kept(self, node: gast.expr) -> gast.expr:
        """A number or an array, as it is kept in a list."""
        t = self.type_of(node)
        if is_kernel_array(t) and isinstance(node, gast.Name):
            return node
        return self.numbers.number(node)

    def array(
        self, name: str, value: gast.expr, t: Type, stmt: Any
    ) -> list[gast.stmt] | None:
        """What makes an array, or looks at one; None if it is neither."""
        assign = syntax.assign(name, value)
        if isinstance(value, gast.Name) and is_kernel_array(self.type_of(value)):
            return [assign]
        if isinstance(value, gast.Subscript) and is_kernel_array(
            self.type_of(value.value)
        ):
            return self.view(assign, value)
        turned = isinstance(value, gast.Attribute) and value.attr == "T"
        if turned and isinstance(value.value, gast.Name):
            self.strided.add(name)
            return [assign]
        taken = self.taken(value)
        if taken is not None:
            return [syntax.assign(name, taken)]
        operation = self.operations.of(value)
        if operation is None:
            return None
        if operation.op.name == "numpy.expand_dims":
            return self.with_new_axis(assign, operation)
        same = self.same_array(operation, t) or self.looked_at(operation, t)
        if same is not None:
            return [syntax.assign(name, same)]
        made = self.made(operation, t)
        if made is None:
            made = self.product(operation) or self.solved(operation)
        return None if made is None else [syntax.assign(name, made)]

    def taken(self, value: gast.expr) -> gast.expr | None:
        """`tape.pop()`."""
        if (
            isinstance(value, gast.Call)
            and isinstance(value.func, gast.Attribute)
            and value.func.attr == "pop"
            and not value.args
            and self.is_tape(value.func.value)
        ):
            return value
        return None

    def view(self, assign: gast.Assign, value: gast.Subscript) -> list[gast.stmt]:
        """`row = A[i]`, `inner = u[1:-1]`."""
        items = (
            value.slice.elts if isinstance(value.slice, gast.Tuple) else [value.slice]
        )
        if not isinstance(value.value, gast.Name):
            raise self.refuse(assign, "a part of what has no name")
        before: list[gast.stmt] = []
        outer, self.numbers.emit = self.numbers.emit, before.append
        found: list[gast.expr] = []
        sizes = list(shape_of(self.type_of(value.value)) or ())
        for item in items:
            if isinstance(item, gast.Slice):
                ends = [
                    None if e is None else self.numbers.whole(e)
                    for e in (item.lower, item.upper, item.step)
                ]
                found.append(gast.Slice(*ends))
            elif is_new_axis(item):
                found.append(syntax.const(None))
            elif is_dots(item):
                found.append(item)
            elif self.is_none(item):
                found.append(syntax.const(None))
            else:
                place = self.numbers.whole(item)
                axis = sum(not is_new_axis(i) for i in found)
                dots = any(map(is_dots, found))
                if dots or not has_place(sizes[axis], place):
                    self.numbers.indexed.add(value.value.id)
                found.append(place)
        self.numbers.emit = outer
        if all(map(is_whole, found)):
            return [*before, syntax.assign(assign.targets[0].id, value.value)]
        index = found[0] if len(found) == 1 else gast.Tuple(found, syntax.LOAD)
        if not keeps_last(found, self.rank_of(value.value)):
            self.strided.add(assign.targets[0].id)
        part = gast.Subscript(value.value, index, syntax.LOAD)
        return [*before, gast.Assign(assign.targets, part, None)]

    def goes_otherwise(self, target: gast.expr, value: gast.expr) -> bool:
        """Whether a vector may be stored in memory that it is in, in other steps.

        NumPy makes no copy of it first, but where the steps are of opposite signs, and
        reads what it has stored before: `a[1] = a[:, 2]`.
        """
        if self.rank_of(syntax.as_load(syntax.clone(target))) != 1:
            return False
        if not isinstance(value, (gast.Name, gast.Subscript, gast.Attribute)):
            return False
        to, of = self.steps_of(target), self.steps_of(value)
        if to is None or of is None or to[0] != of[0]:
            return True
        if len(of[1]) != 1:
            return True
        ((first, m),), ((second, n),) = to[1], of[1]
        return first != second or (m != n and m * n > 0)

    def steps_of(self, node: gast.expr) -> tuple[str, list[tuple[int, int]]] | None:
        """The array that is looked at, and of each axis of the view: which it is of
        the array, and in which steps. None where it is not known."""
        if isinstance(node, gast.Name):
            bindings = self.bindings_of(node.id)
            given = node.id in self.unit.parameters
            if len(bindings) + given != 1 or None in bindings:
                return None
            (made,) = bindings or [None]
            if isinstance(made, (gast.Name, gast.Subscript, gast.Attribute)):
                return self.steps_of(made)
            return node.id, [(axis, 1) for axis in range(self.rank_of(node) or 0)]
        if isinstance(node, gast.Attribute) and node.attr == "T":
            inner = self.steps_of(node.value)
            return inner and (inner[0], inner[1][::-1])
        if not isinstance(node, gast.Subscript):
            return None
        inner = self.steps_of(node.value)
        index = node.slice
        items = list(index.elts) if isinstance(index, gast.Tuple) else [index]
        if inner is None or any(is_dots(i) or self.is_none(i) for i in items):
            return None
        axes = []
        for item, (axis, step) in zip(items, inner[1], strict=False):
            if isinstance(item, gast.Slice):
                by = 1 if item.step is None else self.option(item.step, ...)
                if type(by) is not int:
                    return None
                axes.append((axis, step * by))
            elif kind(self.type_of(item)) != "i" or self.rank_of(item):
                return None
        return inner[0], axes + inner[1][len(items) :]

    def bindings_of(self, name: str) -> list[Any]:
        """What is assigned to a name in the unit; None for other ways to bind it."""
        body = self.unit.node.body
        found = [
            s.value
            for s in syntax.walk(body)
            if isinstance(s, gast.Assign) and syntax.is_name(s.targets[0], name)
        ]
        stores = [
            n
            for n in syntax.walk(body)
            if syntax.is_name(n, name) and isinstance(n.ctx, gast.Store)
        ]
        return [*found, *[None] * (len(stores) - len(found))]

    def is_own(self, node: gast.expr) -> bool:
        """Whether a name only holds arrays that were made, one element by the other."""
        if not isinstance(node, gast.Name) or node.id in self.unit.parameters:
            return False
        found = self.bindings_of(node.id)
        return len(found) > 0 and all(map(self.makes_array, found))

    def makes_array(self, value: gast.expr | None) -> bool:
        """Whether an expression gives an array of its own."""
        operation = self.operations.of(value) if isinstance(value, gast.Call) else None
        if operation is None:
            return False
        return operation.function is np.full or operation.function in _MADE

    def new_axes(self, array: gast.Name, shape: Any) -> gast.expr | None:
        """`x[:, None]` for `x.reshape(n, 1)`."""
        own = shape_of(self.type_of(array))
        if not own or not shape or len(shape) <= len(own):
            return None
        more = shape[len(own) :]
        same = all(map(same_size, own, shape)) and all(m == 1 for m in more)
        whole = gast.Slice(None, None, None)
        items = [*[whole] * len(own), *(syntax.const(None) for _ in more)]
        index = gast.Tuple(items, syntax.LOAD)
        return gast.Subscript(array, index, syntax.LOAD) if same else None

    def looked_at(self, operation: Operation, t: Type) -> gast.expr | None:
        """`np.diag(A)`, `np.reshape(x, shape)` as views of an array of the kernel."""
        given = dict(operation.operands)
        array = given.pop("x", None)
        name = operation.op.name
        if name == "numpy.reshape" and isinstance(array, gast.Name):
            axes = self.new_axes(array, shape_of(t))
            if axes is not None:
                return axes
        if array is None or not self.is_own(array):
            return None
        if name == "numpy.diag" and self.rank_of(array) == 2 and not given:
            m, n = shape_of(self.type_of(array)) or (0, 1)
            text = "x.reshape(-1)[:: len(x) + 1]"
            return syntax.expression(text, x=array) if same_size(m, n) else None
        if name == "numpy.ravel" and not given:
            return syntax.expression("x.reshape(-1)", x=array)
        if name == "numpy.reshape" and set(given) == {"shape"}:
            shape = self.shape(given["shape"])
            return syntax.expression("x.reshape(s)", x=array, s=shape)
        return None

    def is_none(self, node: gast.expr) -> bool:
        """Whether an expression is known to be None, as `np.newaxis` is."""
        return is_none(self.type_of(node))

    def with_new_axis(
        self, assign: gast.Assign, operation: Operation
    ) -> list[gast.stmt] | None:
        """`np.expand_dims(x, (1, 2))` as `x[:, None, None]`."""
        array, where = operation.operands.values()
        axes, rank = self.option(where, ...), self.rank_of(array)
        axes = (axes,) if type(axes) is int else axes
        if not isinstance(axes, tuple) or not isinstance(array, gast.Name):
            return None
        if not rank or any(type(a) is not int for a in axes):
            return None  # a number has no axes to look at
        places = {a % (rank + len(axes)) for a in axes}
        items: list[gast.expr] = [
            syntax.const(None) if k in places else gast.Slice(None, None, None)
            for k in range(rank + len(axes))
        ]
        index = gast.Tuple(items, syntax.LOAD)
        return self.view(assign, gast.Subscript(array, index, syntax.LOAD))

    def made(self, operation: Operation, t: Type) -> gast.expr | None:
        """`np.zeros((n, m))`, `np.zeros_like(x)`, `np.full(n, 1.0)`."""
        function, given = operation.function, operation.operands
        dtype = dtype_of(t)
        if function in _LIKE and set(given) <= {"a", "prototype", "dtype"}:
            like = next(iter(given.values()))
            if not is_kernel_array(self.type_of(like)) or not isinstance(
                like, gast.Name
            ):
                return None
            rank = len(shape_of(self.type_of(like)) or ())
            shape = syntax.expression("len(x)" if rank == 1 else "x.shape", x=like)
            return array_of(_LIKE[function], shape, dtype)
        if function is np.full_like and set(given) == {"a", "fill_value"}:
            array, fill = given["a"], given["fill_value"]
            if not isinstance(array, gast.Name) or not is_kernel_number(
                self.type_of(fill)
            ):
                return None
            number = self.numbers.number(fill)
            value = stored_number(number, self.type_of(fill), t, fill)
            shape = syntax.expression("x.shape", x=array)
            return array_of("full", shape, dtype, value)
        if function in _MADE and set(given) <= {"shape", "dtype"}:
            return array_of(_MADE[function], self.shape(given["shape"]), dtype)
        if function is np.full and set(given) <= {"shape", "fill_value", "dtype"}:
            shape, fill = self.shape(given["shape"]), given["fill_value"]
            value = stored_number(
                self.numbers.number(fill), self.type_of(fill), t, fill
            )
            return array_of("full", shape, dtype, value)
        return None

    def same_array(self, operation: Operation, t: Type) -> gast.expr | None:
        """The array that `np.asarray(x)` gives, which is `x`."""
        if operation.op.name != "numpy.asarray" or set(operation.operands) != {
            "object"
        }:
            return None
        array = operation.operands["object"]
        known = isinstance(array, gast.Name) and is_kernel_array(self.type_of(array))
        return array if known else None

    def shape(self, node: gast.expr) -> gast.expr:
        """The shape of an array that is made."""
        parts = self.displayed(node)
        if parts is not None and not isinstance(node, (gast.Tuple, gast.Attribute)):
            node = gast.Tuple(parts, syntax.LOAD)
        if isinstance(node, gast.Tuple):
            return gast.Tuple([self.numbers.whole(e) for e in node.elts], syntax.LOAD)
        t = self.type_of(node)
        if isinstance(t, Tuple) and all(isinstance(i, Const) for i in t.items):
            sizes = [literal(constant(i), node) for i in t.items]
            return gast.Tuple(sizes, syntax.LOAD)
        if isinstance(t, Tuple) and isinstance(node, gast.Name):
            return node
        shape = isinstance(node, gast.Attribute) and node.attr == "shape"
        if shape and is_kernel_array(self.type_of(node.value)):
            return node
        return self.numbers.whole(node)

    def solved(self, operation: Operation) -> gast.expr | None:
        """`np.linalg.inv(S)`: compilers know LAPACK, and refuse what is not finite."""
        function = _SOLVERS.get(operation.op.name)
        arrays = list(operation.operands.values())
        types = [self.type_of(a) for a in arrays]
        if function is None or not all(map(is_kernel_array, types)):
            return None
        named = all(isinstance(a, gast.Name) for a in arrays)
        if not named or {str(dtype_of(t)) for t in types} != {"float64"}:
            return None
        if self.rank_of(arrays[0]) != 2 or any(
            len(shape_of(t) or ()) > 2 for t in types
        ):
            return None
        for array in arrays:
            total = self.fresh("total")
            whole = syntax.expression("np.sum(x)", x=array)
            self.numbers.emit(syntax.assign(total, whole))
            finite = syntax.expression("y - y == 0", y=syntax.name(total))
            self.numbers.unless("x", array, x=finite)
        return syntax.call(function, *map(syntax.clone, arrays))

    def product(self, operation: Operation) -> gast.expr | None:
        """`a @ b` of matrices and vectors."""
        if operation.op.name not in _PRODUCTS or len(operation.operands) != 2:
            return None
        a, b = operation.operands.values()
        types = self.type_of(a), self.type_of(b)
        dtypes = {str(dtype_of(t)) for t in types}
        if len(dtypes) > 1 or not all(map(is_kernel_array, types)):
            return None
        if kind(types[0]) != "f" or any(len(shape_of(t) or ()) > 2 for t in types):
            return None
        if not (isinstance(a, gast.Name) and isinstance(b, gast.Name)):
            return None
        return syntax.call(syntax.expression("np.dot"), a, b)
