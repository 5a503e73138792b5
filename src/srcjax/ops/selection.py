"""Choosing and reordering elements: sort, take, diag, diff, select, interp ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcjax.analysis.array_likes import array_of, is_list, nested
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dim,
    Shape,
    Tuple,
    Type,
    broadcast_shapes,
    dtype_of,
    is_number,
    rank_of,
    shape_of,
    shift,
)
from srcjax.ops.infer_rules import (
    NONE,
    dims_product,
    float_dtype,
)
from srcjax.ops.known import MISSING, known_value, types_in
from srcjax.ops.products import number_or_array, product_dtype
from srcjax.ops.record import adjoint, inert, tangent
from srcjax.ops.shaping_types import array_like, with_dim

# ruff: noqa: F821
# mypy: disable-error-code="no-redef, name-defined"
d: Any  # adjoints by name, in the text of rules

ZERO, ONE, LAST = (Const(value=i) for i in (0, 1, -1))
INDEX = np.dtype(np.intp)

# -- types --------------------------------------------------------------------------


def infer_sort(x: Type, axis: Type = LAST, **_: Type) -> Type:
    return _along(x, axis, dtype_of(x))


def infer_argsort(x: Type, axis: Type = LAST, **_: Type) -> Type:
    return _along(x, axis, INDEX)


def infer_partition(x: Type, kth: Type, axis: Type = LAST, **_: Type) -> Type:
    return _along(x, axis, dtype_of(x))


def infer_argpartition(x: Type, kth: Type, axis: Type = LAST, **_: Type) -> Type:
    return _along(x, axis, INDEX)


def _along(x: Type, axis: Type, dtype: np.dtype | None) -> Type:
    shape, along = shape_of(x), known_value(axis)
    if along is None:
        return Array(dtype=dtype, shape=(None if not shape else dims_product(shape),))
    return Array(dtype=dtype, shape=shape)


def infer_searchsorted(x: Type, v: Type, **_: Type) -> Type:
    return number_or_array(INDEX, shape_of(v))


def infer_nonzero(x: Type) -> Type:
    rank = rank_of(x)
    if rank is None:
        return UNKNOWN
    return Tuple(items=(Array(dtype=INDEX, shape=(None,)),) * rank)


def infer_flatnonzero(x: Type) -> Type:
    return Array(dtype=INDEX, shape=(None,))


def infer_argwhere(x: Type) -> Type:
    return Array(dtype=INDEX, shape=(None, rank_of(x)))


def infer_take(x: Type, indices: Type, axis: Type = NONE, mode: Type = NONE) -> Type:
    _, taken = nested(indices)
    shape, along = shape_of(x), known_value(axis)
    if along is None and taken is not None:
        return number_or_array(dtype_of(x), taken)
    if not shape or taken is None or along is MISSING:
        return number_or_array(dtype_of(x), None)
    along %= len(shape)
    return number_or_array(dtype_of(x), shape[:along] + taken + shape[along + 1 :])


def infer_take_along_axis(x: Type, indices: Type, axis: Type = LAST) -> Type:
    shape, taken, along = shape_of(x), shape_of(indices), known_value(axis)
    if along is None:
        return array_like(x, taken)
    if not shape or not taken or along is MISSING:
        return array_like(x, None)
    both = broadcast_shapes(with_dim(shape, along, 1), with_dim(taken, along, 1))
    assert both is not None
    return array_like(x, with_dim(both, along, taken[along]))


def diagonal_length(m: Dim, n: Dim, offset: Any) -> Dim:
    """The number of elements on a diagonal."""
    if isinstance(m, int) and isinstance(n, int) and offset is not MISSING:
        return max(min(m, n - offset) if offset >= 0 else min(m + offset, n), 0)
    return m if m == n and offset == 0 else None


def infer_diagonal(
    x: Type, offset: Type = ZERO, axis1: Type = ZERO, axis2: Type = ONE
) -> Type:
    shape, axes = shape_of(x), (known_value(axis1), known_value(axis2))
    if shape is None:
        return array_like(x, None)
    if MISSING in axes:
        return array_like(x, (None,) * (len(shape) - 1))
    i, j = (axis % len(shape) for axis in axes)
    rest = tuple(dim for k, dim in enumerate(shape) if k not in (i, j))
    size = diagonal_length(shape[i], shape[j], known_value(offset))
    return array_like(x, (*rest, size))


def infer_diag(x: Type, k: Type = ZERO) -> Type:
    x = array_of(x) if is_list(x) else x
    shape, offset = shape_of(x), known_value(k)
    if shape is None:
        return array_like(x, None)
    if len(shape) == 2:
        return array_like(x, (diagonal_length(*shape, offset),))
    return square_of(x, shape[0], offset)


def infer_diagflat(x: Type, k: Type = ZERO) -> Type:
    x = array_of(x) if is_list(x) else x
    shape = shape_of(x)
    size = None if shape is None else dims_product(shape)
    return square_of(x, size, known_value(k))


def square_of(x: Type, size: Dim, offset: Any) -> Type:
    """A square matrix with `size` elements on a diagonal."""
    side = None if offset is MISSING else shift(size, abs(offset))
    return array_like(x, (side, side))


def infer_triangle(x: Type, k: Type = ZERO) -> Type:
    shape = shape_of(x)
    return array_like(x, shape * 2 if shape and len(shape) == 1 else shape)


def infer_diff(
    x: Type,
    n: Type = ONE,
    axis: Type = LAST,
    prepend: Type = NONE,
    append: Type = NONE,
) -> Type:
    shape, times, along = shape_of(x), known_value(n), known_value(axis)
    dtype = dtype_of(x)
    more: list[Dim] = []
    for t in (prepend, append):
        if known_value(t) is not None:
            dtype = None
            extra = shape_of(t)
            more.append(None if extra is None or along is MISSING else 1)
            if extra and more[-1]:
                more[-1] = extra[along]
    if not shape or along is MISSING:
        return Array(dtype=dtype, shape=None if shape is None else (None,) * len(shape))
    size = shape[along] if times is not MISSING else None
    for extra_size in more:
        size = shift(size, extra_size) if isinstance(extra_size, int) else None
    size = shift(size, -times) if times is not MISSING else None
    return Array(dtype=dtype, shape=with_dim(shape, along, _not_negative(size)))


def _not_negative(size: Dim) -> Dim:
    return max(size, 0) if isinstance(size, int) else size


def infer_vector_of(x: Type, *_: Type, **__: Type) -> Type:
    return array_like(x, (None,))


def infer_compress(condition: Type, x: Type, axis: Type = NONE) -> Type:
    shape, along = shape_of(x), known_value(axis)
    if along is None:
        return array_like(x, (None,))
    if not shape or along is MISSING:
        return array_like(x, None)
    return array_like(x, with_dim(shape, along, None))


def infer_extract(condition: Type, x: Type) -> Type:
    return array_like(x, (None,))


def infer_select(condlist: Type, choicelist: Type, default: Type = ZERO) -> Type:
    conditions, choices = types_in(condlist), types_in(choicelist)
    if not conditions or not choices:
        return UNKNOWN
    shapes = [shape_of(t) for t in (*conditions, *choices, default)]
    shape = broadcast_shapes(*shapes)
    return Array(dtype=product_dtype(*choices, default, weak=True), shape=shape)


def infer_resized(x: Type, obj: Type, *_: Type, **more: Type) -> Type:
    """insert and delete: the size along the axis changes."""
    shape, along = shape_of(x), known_value(more.get("axis"), None)
    if along is None:
        return array_like(x, (None,))
    if not shape or along is MISSING:
        return array_like(x, None)
    return array_like(x, with_dim(shape, along, None))


def infer_trapezoid(
    y: Type, x: Type = NONE, dx: Type | None = None, axis: Type = LAST
) -> Type:
    dtype, shape, along = float_dtype(y), shape_of(y), known_value(axis)
    for other in (x, dx):
        if other is not None and known_value(other) is not None:
            both = product_dtype(y, other, weak=True)
            dtype = None if both is None else np.result_type(both, dtype)
    if not shape or along is MISSING or (rank_of(x) or 0) > len(shape):
        return number_or_array(dtype, None)
    along %= len(shape)
    rest: Shape | None = shape[:along] + shape[along + 1 :]
    dims = shape_of(x)
    if dims is not None and len(dims) > 1:
        place = along - len(shape) + len(dims)
        rest = (
            None
            if place < 0
            else broadcast_shapes(rest, dims[:place] + dims[place + 1 :])
        )
    return number_or_array(dtype, rest)


def infer_gradient(
    f: Type, varargs: Any = (), axis: Type = NONE, edge_order: Type = ONE
) -> Type:
    shape, along = shape_of(f), known_value(axis)
    dtype = float_dtype(f)
    if known_value(Tuple(items=tuple(types_in(varargs) or ())), ()) is MISSING:
        dtype = None
    if shape is None or along is MISSING:
        return UNKNOWN
    axes = range(len(shape)) if along is None else along
    one = Array(dtype=dtype, shape=shape)
    if np.ndim(axes) == 0 or len(axes) == 1:
        return one
    return Tuple(items=(one,) * len(axes))


def infer_interp(x: Type, xp: Type, fp: Type, **_: Type) -> Type:
    dtype = dtype_of(fp)
    if dtype is not None:
        dtype = np.dtype(complex if dtype.kind == "c" else float)
    return number_or_array(dtype, shape_of(x))


def infer_polyval(p: Type, x: Type) -> Type:
    items = types_in(p)
    if items is not None:
        if not items or not all(map(is_number, items)):
            return UNKNOWN
        p = Array(dtype=product_dtype(*items), shape=(len(items),))
    dtype, several = product_dtype(p, x), shape_of(p)
    if several is None:
        return UNKNOWN
    if is_number(x) and len(several) < 2:
        return number_or_array(dtype, ())
    shape = broadcast_shapes(several[1:], shape_of(x))
    return UNKNOWN if shape is None else Array(dtype=dtype, shape=shape)


def infer_vander(x: Type, N: Type = NONE, increasing: Type | None = None) -> Type:
    dtype, shape, columns = dtype_of(x), shape_of(x), known_value(N)
    if dtype is not None:
        dtype = np.promote_types(dtype, int)
    size = shape[0] if shape else None
    if columns is None:
        columns = size
    return Array(dtype=dtype, shape=(size, None if columns is MISSING else columns))


# -- order --------------------------------------------------------------------------


@adjoint(
    np.sort,
    signature="x, axis=-1, kind=None, order=None, *, stable=None",
    infer=infer_sort,
)
def _(y, x, axis=-1, kind=None, order=None, *, stable=None):
    """Sorting moves elements: the adjoints go back to where they came from."""
    d[x] = unsort(d[y], x, axis)


@tangent(np.sort)
def _(y, x, axis=-1, kind=None, order=None, *, stable=None):
    d[y] = np.take_along_axis(d[x], np.argsort(x, axis, kind="stable"), axis)


@adjoint(
    np.partition,
    signature="x, kth, axis=-1, kind='introselect', order=None",
    infer=infer_partition,
)
def _(y, x, kth, axis=-1, kind="introselect", order=None):
    """Sorting moves elements: the adjoints go back to where they came from."""
    d[x] = unpartition(d[y], y, x, axis)


@tangent(np.partition)
def _(y, x, kth, axis=-1, kind="introselect", order=None):
    ranks = np.argsort(np.argsort(y, axis, kind="stable"), axis)
    places = np.take_along_axis(np.argsort(x, axis, kind="stable"), ranks, axis)
    d[y] = np.take_along_axis(d[x], places, axis)


inert(
    np.argsort,
    signature="x, axis=-1, kind=None, order=None",
    methods=["argsort"],
    infer=infer_argsort,
)
inert(
    np.argpartition,
    signature="x, kth, axis=-1, kind='introselect', order=None",
    methods=["argpartition"],
    infer=infer_argpartition,
)
inert(
    np.searchsorted,
    signature="x, v, side='left', sorter=None",
    methods=["searchsorted"],
    infer=infer_searchsorted,
)
inert(np.nonzero, signature="x", methods=["nonzero"], infer=infer_nonzero)
inert(np.flatnonzero, signature="x", infer=infer_flatnonzero)
inert(np.argwhere, signature="x", infer=infer_argwhere)
inert(np.ix_, np.lexsort, np.digitize)

# -- take ---------------------------------------------------------------------------


@adjoint(
    np.take,
    signature="x, indices, axis=None, *, mode='raise'",
    methods=["take"],
    infer=infer_take,
    linear="x",
)
def _(y, x, indices, axis=None, *, mode="raise"):
    """Each taken element gives its adjoint to the place that it came from."""
    d[x] = untake(d[y], x, indices, axis, mode)


@adjoint(np.take_along_axis, infer=infer_take_along_axis, linear="x")
def _(y, x, indices, axis=-1):
    """Each taken element gives its adjoint to the place that it came from."""
    d[x] = untake_along_axis(d[y], x, indices, axis)


@adjoint(
    np.compress, signature="condition, x, axis=None", infer=infer_compress, linear="x"
)
def _(y, condition, x, axis=None):
    """Each taken element gives its adjoint to the place that it came from."""
    d[x] = uncompress(d[y], condition, x, axis)


@adjoint(np.extract, infer=infer_extract, linear="x")
def _(y, condition, x):
    """Each taken element gives its adjoint to the place that it came from."""
    d[x] = uncompress(d[y], condition, x)


@adjoint(np.select, infer=infer_select, linear=[("choicelist", "default")])
def _(y, condlist, choicelist, default=0):
    """Each choice gets the adjoint where it was chosen."""
    d[choicelist] = unselect(d[y], condlist, choicelist)
    d[default] = unselect_default(d[y], condlist, default)


@adjoint(np.delete, infer=infer_resized, linear="x")
def _(y, x, obj, axis=None):
    """What was left out gets no adjoint."""
    d[x] = undelete(d[y], x, obj, axis)


@adjoint(np.insert, infer=infer_resized, linear=[("x", "values")])
def _(y, x, obj, values, axis=None):
    """What was put in and what was there take their own pieces of the adjoint."""
    d[x] = uninsert(d[y], x, obj, values, axis, 0)
    d[values] = uninsert(d[y], x, obj, values, axis, 1)


# -- diagonals and triangles --------------------------------------------------------


@adjoint(
    np.diagonal,
    methods=["diagonal"],
    infer=infer_diagonal,
    alias="read-only",
    cheap=True,
    linear="x",
)
def _(y, x, offset=0, axis1=0, axis2=1):
    """The adjoint of a diagonal stands on the diagonal, zeros beside it."""
    d[x] = undiagonal(d[y], x, offset, axis1, axis2)


@adjoint(
    np.diag,
    infer=infer_diag,
    alias="maybe",
    new_for=lambda x, **_: len(shape_of(x) or ()) == 1,
    linear="x",
)
def _(y, x, k=0):
    """The adjoint of a diagonal stands on the diagonal, zeros beside it."""
    d[x] = undiag(d[y], x, k)


@adjoint(np.diagflat, infer=infer_diagflat, linear="x")
def _(y, x, k=0):
    """The adjoint of a diagonal stands on the diagonal, zeros beside it."""
    d[x] = unreshape(np.diag(d[y], k), x)


@adjoint(np.tril, infer=infer_triangle, linear="x")
def _(y, x, k=0):
    """What was set to zero gets no adjoint."""
    d[x] = unbroadcast(np.tril(d[y], k), x)


@adjoint(np.triu, infer=infer_triangle, linear="x")
def _(y, x, k=0):
    """What was set to zero gets no adjoint."""
    d[x] = unbroadcast(np.triu(d[y], k), x)


# -- differences --------------------------------------------------------------------


@adjoint(
    np.diff,
    signature="x, n=1, axis=-1, prepend=None, append=None",
    infer=infer_diff,
    linear=[("x", "prepend", "append")],
)
def _(y, x, n=1, axis=-1, prepend=None, append=None):
    """Difference of neighbours: one gets the adjoint, the other minus it."""
    d[x] = undiff(d[y], x, n, axis, prepend, append)
    d[prepend] = undiff_end(d[y], x, n, axis, prepend, append, 0)
    d[append] = undiff_end(d[y], x, n, axis, prepend, append, 1)


@adjoint(np.ediff1d, infer=infer_vector_of, linear=[("x", "to_end", "to_begin")])
def _(y, x, to_end=None, to_begin=None):
    """Difference of neighbours: one gets the adjoint, the other minus it."""
    d[x] = unediff1d(d[y], x, to_end, to_begin)
    d[to_end] = unreshape(d[y][len(y) - np.size(to_end) :], to_end)
    d[to_begin] = unreshape(d[y][: np.size(to_begin)], to_begin)


@adjoint(
    np.gradient,
    signature="f, *varargs, axis=None, edge_order=1",
    infer=infer_gradient,
)
def _(y, f, *varargs, axis=None, edge_order=1):
    """Differences: each element gets what all differences that it is in say."""
    d[f] = ungradient(d[y], f, varargs, axis, edge_order)
    d[varargs] = spacing_adjoints(d[y], y, varargs)


@tangent(np.gradient)
def _(y, f, *varargs, axis=None, edge_order=1):
    d[y] = gradient_tangent(d[f], d[varargs], y, varargs, axis, edge_order)


# -- integrals, interpolation, polynomials ------------------------------------------


@adjoint(np.trapezoid, infer=infer_trapezoid, linear=("y", "x"))
def _(area, y, x=None, dx=1.0, axis=-1):
    """Each value counts with the width of the trapezoids beside it."""
    d[y] = untrapezoid_y(d[area], y, x, dx, axis)
    d[x] = untrapezoid_x(d[area], y, x, axis)
    d[dx] = untrapezoid_dx(d[area], y, x, dx, axis)


@tangent(np.trapezoid)
def _(area, y, x=None, dx=1.0, axis=-1):
    d[area] = trapezoid_dx_tangent(d[dx], y, x, axis)


@adjoint(
    np.interp,
    infer=infer_interp,
    linear=[("fp", "left", "right")],
    constant=("period",),  # None: another definition serves a period
)
def _(y, x, xp, fp, left=None, right=None, period=None):
    """Linear interpolation: the slope in x, the two weights in the values."""
    d[x] = uninterp_x(d[y], x, xp, fp)
    d[xp] = uninterp_xp(d[y], x, xp, fp)
    d[fp] = uninterp_fp(d[y], x, xp, fp, left, right)
    d[left] = np.sum(np.where(x < xp[0], d[y], 0))
    d[right] = np.sum(np.where(x > xp[-1], d[y], 0))


@tangent(np.interp)
def _(y, x, xp, fp, left=None, right=None, period=None):
    d[y] = uninterp_x(d[x], x, xp, fp)
    d[y] = -uninterp_x(np.interp(x, xp, d[xp]), x, xp, fp)


@adjoint(np.polyval, infer=infer_polyval, linear="p")
def _(y, p, x):
    """A polynomial: its slope in x, the powers of x in the coefficients."""
    d[p] = unpolyval_p(d[y], p, x)
    d[x] = unpolyval_x(d[y], p, x)


@tangent(np.polyval)
def _(y, p, x):
    d[y] = d[x] * polyval_slope(p, x)


@adjoint(np.vander, infer=infer_vander)
def _(y, x, N=None, increasing=False):
    d[x] = unvander(d[y], x, N, increasing)


@tangent(np.vander)
def _(y, x, N=None, increasing=False):
    d[y] = vander_tangent(d[x], x, N, increasing)
