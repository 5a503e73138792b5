"""Arrays of which each element is one of another array, elsewhere, or of none.

y = np.roll(x, 1)                     y[i] = x[i - 1 if i >= 1 else i - 1 + len(x)]
d = np.diag(A)                ->      d[i] = A[i, i]
g = x[idx] * w                        g[i] = x[idx[i]] * w[i]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import Array, dtype_of, same_size, shape_of
from srcjax.transforms.kernels.accepted import is_kernel_array, is_single, kind
from srcjax.transforms.kernels.operations import Operation
from srcjax.transforms.kernels.places import is_whole
from srcjax.transforms.kernels.writing import Writing

At = list[gast.expr]


@dataclass
class Elsewhere:
    """How the elements of an array are found."""

    #: From the indices of the element at hand to its value.
    element: Callable[[At], gast.expr]
    #: The names of the arrays that they are found in.
    arrays: list[str]
    #: How many there are along each axis, where no array tells.
    sizes: list[gast.expr] = field(default_factory=list)
    #: What is computed once, before.
    before: list[gast.stmt] = field(default_factory=list)


def found_elsewhere(
    writing: Writing,
    stmt: Any,
    value: gast.expr,
    operation: Operation | None,
    t: Array,
) -> Elsewhere | None:
    """How the elements of `value` are found; None where they are computed."""
    if isinstance(value, gast.Subscript):
        index = looked_up(writing, value)
        if index is None:
            return None
        base = value.value
        writing.numbers.indexed.add(syntax.root_of(base))
        return Elsewhere(
            lambda at: gast.Subscript(syntax.clone(base), index.place(at), syntax.LOAD),
            [base.id, *index.arrays],
            index.sizes(base),
            index.before,
        )
    rule = _RULES.get(operation.op.name) if operation is not None else None
    if rule is None or operation is None or writing.changes_later(stmt, t):
        return None
    found: Elsewhere | None = rule(writing, operation, t)
    return found


# -- indices that are arrays ---------------------------------------------------------


@dataclass
class LookedUp:
    """An index of which arrays of ints are a part: `A[rows, columns]`, `A[:, idx]`."""

    #: For each axis: None (all of it), the name of an array, or a number.
    items: list[gast.expr | None]
    #: The names of the arrays, which have the same shape.
    arrays: list[str]
    #: Where the axes of the arrays stand, and how many they are.
    first: int
    rank: int
    before: list[gast.stmt]

    def place(self, at: At) -> gast.expr:
        """The index of the element that is at `at` in what is taken."""
        found: list[gast.expr] = []
        here = list(at[self.first : self.first + self.rank])
        whole = [*at[: self.first], *at[self.first + self.rank :]]
        for item in self.items:
            if item is None:
                found.append(syntax.clone(whole.pop(0)))
            elif getattr(item, "id", "") in self.arrays:
                found.append(subscript(item, here))
            else:
                found.append(syntax.clone(item))
        return found[0] if len(found) == 1 else gast.Tuple(found, syntax.LOAD)

    def sizes(self, base: gast.expr) -> list[gast.expr]:
        """How many elements are taken along each axis: as many as the index has."""
        whole = [size_along(base, k) for k, item in enumerate(self.items) if not item]
        array = syntax.name(self.arrays[0])
        here = [size_along(array, k) for k in range(self.rank)]
        return [*whole[: self.first], *here, *whole[self.first :]]


def looked_up(writing: Writing, value: gast.Subscript) -> LookedUp | None:
    """What an index with arrays of ints takes; None where it is another index."""
    shape = shape_of(writing.type_of(value.value))
    index = value.slice
    items: list[Any] = list(index.elts) if isinstance(index, gast.Tuple) else [index]
    items = [
        syntax.name(writing.items_of[i.id])
        if getattr(i, "id", "") in writing.items_of
        else i
        for i in items
    ]
    known = isinstance(value.value, gast.Name) and shape is not None
    if not known or not is_kernel_array(writing.type_of(value.value)):
        return None
    items += [gast.Slice(None, None, None)] * (len(shape or ()) - len(items))
    taken = [k for k, i in enumerate(items) if not isinstance(i, gast.Slice)]
    arrays = [items[k] for k in taken if is_places(writing, items[k])]
    if not arrays or taken[-1] - taken[0] >= len(taken):
        return None
    if not all(is_whole(i) for i in items if isinstance(i, gast.Slice)):
        return None
    shapes = [shape_of(writing.type_of(a)) or () for a in arrays]
    first = shapes[0]
    for other in shapes[1:]:
        if len(other) != len(first) or not all(map(same_size, other, first)):
            return None
    before: list[gast.stmt] = []
    found: list[gast.expr | None] = []
    for item in items:
        if isinstance(item, gast.Slice):
            found.append(None)
        elif is_places(writing, item):
            found.append(item)
        elif kind(writing.type_of(item)) == "i":
            writing.numbers.emit = before.append
            number = writing.numbers.whole(item)
            found.append(writing.numbers.atom(number, "place"))
        else:
            return None
    names = [a.id for a in arrays]
    return LookedUp(found, names, taken[0], len(first), before)


def is_places(writing: Writing, node: Any) -> bool:
    """Whether an item of an index is an array of ints."""
    t = writing.type_of(node) if isinstance(node, gast.Name) else None
    return t is not None and is_kernel_array(t) and kind(t) == "i"


def subscript(array: gast.expr, at: At, store: bool = False) -> gast.Subscript:
    """`x[i, j]`."""
    items = [syntax.clone(i) for i in at]
    index = items[0] if len(items) == 1 else gast.Tuple(items, syntax.LOAD)
    return gast.Subscript(
        syntax.clone(array), index, syntax.STORE if store else syntax.LOAD
    )


# -- functions -----------------------------------------------------------------------


def rolled(writing: Writing, operation: Operation, t: Array) -> Elsewhere | None:
    """`np.roll(x, 1, axis=0)`."""
    given = operation.operands
    array, axis = given["x"], writing.option(given.get("axis"), None)
    rank = len(t.shape or ())
    if axis is None and rank == 1:
        axis = 0
    if not is_array(writing, array) or type(axis) is not int:
        return None
    if kind(writing.type_of(given["shift"])) != "i":
        return None
    axis %= rank
    size = size_along(array, axis)
    before: list[gast.stmt] = []
    writing.numbers.emit = before.append
    shift = writing.numbers.atom(writing.numbers.whole(given["shift"]), "shift")
    start = writing.fresh("start")
    text = f"{start} = s % n if n > 0 else 0"
    before += syntax.statements(text, s=shift, n=size)

    def element(at: At) -> gast.expr:
        here = syntax.expression(
            f"i - {start} if i >= {start} else i - {start} + n",
            i=at[axis],
            n=syntax.clone(size),
        )
        return subscript(array, [*at[:axis], here, *at[axis + 1 :]])

    return Elsewhere(element, [array.id], before=before)


def diagonal(writing: Writing, operation: Operation, t: Array) -> Elsewhere | None:
    """`np.diag(A)` and `np.diag(v)`."""
    given = operation.operands
    array, offset = given["x"], writing.option(given.get("k"), 0)
    rank = writing.rank_of(array)
    if not is_array(writing, array) or type(offset) is not int or rank not in (1, 2):
        return None
    if rank == 1:
        zero = number_of("0", t)
        if offset:
            return None
        text = f"x[i] if i == j else {zero}"
        size = size_along(array, 0)
        return Elsewhere(
            lambda at: syntax.expression(text, x=array, i=at[0], j=at[1]),
            [array.id],
            [size, size],
        )
    row, column = max(-offset, 0), max(offset, 0)
    square = same_size(*(shape_of(writing.type_of(array)) or ()))
    if not square or max(row, column) > 1:
        return None
    text = f"len(x) - {max(row, column)}" if offset else "len(x)"
    size = syntax.expression(text, x=array)
    return Elsewhere(
        lambda at: syntax.expression(
            f"x[i{plus(row)}, i{plus(column)}]", x=array, i=at[0]
        ),
        [array.id],
        [size],
    )


def identity(writing: Writing, operation: Operation, t: Array) -> Elsewhere | None:
    """`np.eye(n)`, `np.identity(n)`."""
    given = dict(operation.operands)
    given.pop("dtype", None)
    offset = writing.option(given.pop("k", None), 0)
    if type(offset) is not int or not set(given) <= {"N", "M", "n"}:
        return None
    before: list[gast.stmt] = []
    writing.numbers.emit = before.append
    sizes = [
        writing.numbers.atom(writing.numbers.whole(n), "n") for n in given.values()
    ]
    text = f"{number_of('1', t)} if j == i{plus(offset)} else {number_of('0', t)}"
    return Elsewhere(
        lambda at: syntax.expression(text, i=at[0], j=at[1]),
        [],
        [sizes[0], sizes[-1]],
        before,
    )


def triangle(keeps: str) -> Any:
    """`np.tril(x)`, `np.triu(x)`."""

    def rule(writing: Writing, operation: Operation, t: Array) -> Elsewhere | None:
        given = operation.operands
        array, offset = given["x"], writing.option(given.get("k"), 0)
        if not is_array(writing, array) or type(offset) is not int:
            return None
        if writing.rank_of(array) != 2:
            return None
        text = f"x[i, j] if j {keeps} i{plus(offset)} else {number_of('0', t)}"
        return Elsewhere(
            lambda at: syntax.expression(text, x=array, i=at[0], j=at[1]), [array.id]
        )

    return rule


def counted(writing: Writing, operation: Operation, t: Array) -> Elsewhere | None:
    """`np.arange(n)`, `np.arange(1, n, 2)`: of ints."""
    given = dict(operation.operands)
    dtype = given.pop("dtype", None)
    if not all(kind(writing.type_of(v)) == "i" for v in given.values()):
        return None
    if dtype is not None and kind(t) not in "if":
        return None
    before: list[gast.stmt] = []
    writing.numbers.emit = before.append
    found = {
        k: writing.numbers.atom(writing.numbers.whole(v), k) for k, v in given.items()
    }
    if "stop" not in found:
        found = {"stop": found["start"]}
    step = writing.option(given.get("step"), 1)
    if type(step) is not int or step == 0:
        return None
    start, stop = found.get("start", syntax.const(0)), found["stop"]
    zero = isinstance(start, gast.Constant) and start.value == 0
    far = "stop > start" if step > 0 else "stop < start"
    count = "stop" if zero else "stop - start"
    if step != 1:
        count = f"-((start - stop) // {step})"
    size = syntax.expression(f"{count} if {far} else 0", start=start, stop=stop)
    name = writing.fresh("count")
    before.append(syntax.assign(name, size))
    size = syntax.name(name)
    place = "i" if step == 1 else f"i * {step}"
    text = place if zero else f"start + {place}"
    if kind(t) == "f":
        text = f"float({text})"
    return Elsewhere(
        lambda at: syntax.expression(text, start=start, i=at[0]), [], [size], before
    )


def evenly(writing: Writing, operation: Operation, t: Array) -> Elsewhere | None:
    """`np.linspace(a, b, n)`: the last one is the end itself."""
    given = dict(operation.operands)
    if set(given) != {"start", "stop", "num"} or dtype_of(t) != np.float64:
        return None
    types = {k: writing.type_of(v) for k, v in given.items()}
    if any(kind(types[k]) not in ("i", "f") or shape_of(types[k]) for k in types):
        return None
    if kind(types["num"]) != "i":
        return None
    before: list[gast.stmt] = []
    writing.numbers.emit = before.append
    ends = {}
    for k in ("start", "stop"):
        number = writing.numbers.number(given[k])
        if kind(types[k]) == "i":
            number = syntax.call("float", number)
        ends[k] = writing.numbers.atom(number, k)
    num = writing.numbers.atom(writing.numbers.whole(given["num"]), "num")
    writing.numbers.unless("n > 1", given["num"], n=num)
    step = writing.fresh("step")
    before += syntax.statements(
        f"{step} = (b - a) / (n - 1)", a=ends["start"], b=ends["stop"], n=num
    )
    text = f"b if i == n - 1 else a + i * {step}"
    return Elsewhere(
        lambda at: syntax.expression(
            text, a=ends["start"], b=ends["stop"], n=num, i=at[0]
        ),
        [],
        [num],
        before,
    )


_RULES: dict[str, Any] = {
    "numpy.roll": rolled,
    "numpy.diag": diagonal,
    "numpy.eye": identity,
    "numpy.identity": identity,
    "numpy.tril": triangle("<="),
    "numpy.triu": triangle(">="),
    "numpy.arange": counted,
    "numpy.linspace": evenly,
}


def is_array(writing: Writing, node: gast.expr) -> bool:
    """Whether an operand is an array that has a name."""
    return isinstance(node, gast.Name) and is_kernel_array(writing.type_of(node))


def size_along(array: gast.expr, axis: int) -> gast.expr:
    """How many places an axis of an array has."""
    text = "len(x)" if axis == 0 else f"x.shape[{axis}]"
    return syntax.expression(text, x=array)


def plus(offset: int) -> str:
    """`+ 1` behind an index."""
    return f" {'+' if offset > 0 else '-'} {abs(offset)}" if offset else ""


def number_of(text: str, t: Array) -> str:
    """A whole number as one of the array's kind."""
    if kind(t) == "f":
        text = f"{float(text)}"
        return f"np.float32({text})" if is_single(t) else text
    return {"b": str(bool(int(text)))}.get(kind(t), text)
