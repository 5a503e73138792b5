"""Types of what moves elements: shapes of reshaped, joined, split and padded arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcjax.analysis.array_likes import array_of, is_list
from srcjax.analysis.indexing import slice_dim
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dim,
    List,
    Shape,
    Tuple,
    Type,
    added_dims,
    as_dim,
    broadcast_shapes,
    combined_dims,
    dtype_of,
    is_number,
    is_one,
    rank_of,
    shape_of,
    shift,
    suppose_fit,
)
from srcjax.ops.infer_rules import NONE, dims_product, value_of_shape
from srcjax.ops.known import MISSING, known_value, types_in
from srcjax.ops.products import product_dtype
from srcjax.ops.reductions import named_dtype

ZERO, ONE, TWO = (Const(value=i) for i in (0, 1, 2))
XY = Const(value="xy")


def array_like(x: Type, shape: Shape | None) -> Array:
    """An array of x's dtype."""
    return Array(dtype=dtype_of(x), shape=shape)


def with_dim(shape: Shape, axis: int, dim: Dim) -> Shape:
    """The shape with the size along one axis replaced."""
    axis %= len(shape)
    return shape[:axis] + (dim,) + shape[axis + 1 :]


def dims_in(t: Type | None) -> Shape | None:
    """The dimensions that a shape argument names: each known or not, None for none."""
    items = types_in(t)
    if items is None:
        one = t is not None and (is_number(t) or as_dim(t) is not None)
        return (as_dim(t),) if one else None
    return tuple(map(as_dim, items))


def infer_reshape(
    x: Type, shape: Type | None = None, order: Type = NONE, **_: Type
) -> Type:
    return reshaped(x, dims_in(shape))


def reshaped(x: Type, wanted: Shape | None) -> Type:
    """`x` in the wanted shape, in which -1 is worked out."""
    have = shape_of(x)
    if wanted is None or -1 not in wanted:
        return array_like(x, wanted)
    rest = dims_product(tuple(dim for dim in wanted if dim != -1))
    total = None if have is None else dims_product(have)
    size = None if rest == 0 else combined_dims("truediv", total, rest)
    return array_like(x, tuple(size if dim == -1 else dim for dim in wanted))


def infer_reshape_method(x: Type, shape: Any = (), **_: Type) -> Type:
    items = types_in(shape)
    if items is not None and len(items) == 1:
        return reshaped(x, dims_in(items[0]))
    return reshaped(
        x, dims_in(Tuple(items=tuple(items)) if items is not None else None)
    )


def infer_ravel(x: Type, order: Type = NONE) -> Type:
    shape = shape_of(x)
    return array_like(x, (None if shape is None else dims_product(shape),))


def permuted_shape(x: Type, axes: Any) -> Type:
    shape = shape_of(x)
    if shape is None:
        return array_like(x, None)
    if axes is MISSING:
        return array_like(x, (None,) * len(shape))
    if not axes:
        return array_like(x, shape[::-1])
    return array_like(x, tuple(shape[axis] for axis in axes))


def infer_transpose(x: Type, axes: Type = NONE) -> Type:
    return permuted_shape(x, known_value(axes))


def infer_transpose_method(x: Type, axes: Any = ()) -> Type:
    items = types_in(axes)
    if not items:
        return permuted_shape(x, None if items is not None else MISSING)
    if len(items) == 1 and rank_of(x) != 1:
        return permuted_shape(x, known_value(items[0]))
    values = [known_value(item) for item in items]
    if len(values) == 1 and not isinstance(values[0], int):
        return permuted_shape(x, values[0])
    return permuted_shape(x, MISSING if MISSING in values else values)


def infer_mT(x: Type) -> Type:
    return moved(x, lambda order: np.swapaxes(order, -1, -2))


def moved(x: Type, change: Any, *arguments: Type) -> Type:
    """The type of `change(x, *arguments)`, which only permutes the axes."""
    shape, values = shape_of(x), [known_value(t) for t in arguments]
    if shape is None:
        return array_like(x, None)
    if any(v is MISSING for v in values):
        return array_like(x, (None,) * len(shape))
    order = change(np.empty(range(len(shape))), *values).shape
    return array_like(x, tuple(shape[axis] for axis in order))


def infer_swapaxes(x: Type, axis1: Type, axis2: Type) -> Type:
    return moved(x, np.swapaxes, axis1, axis2)


def infer_moveaxis(x: Type, source: Type, destination: Type) -> Type:
    return moved(x, np.moveaxis, source, destination)


def infer_rollaxis(x: Type, axis: Type, start: Type = ZERO) -> Type:
    return moved(x, np.rollaxis, axis, start)


def infer_expand_dims(x: Type, axis: Type) -> Type:
    shape, along = shape_of(x), known_value(axis)
    if shape is None:
        return array_like(x, None)
    if along is MISSING:
        one = (None,) * (len(shape) + 1) if is_number(axis) else None
        return array_like(x, one)
    axes = tuple(along) if np.ndim(along) else (along,)
    rank = len(shape) + len(axes)
    places = {axis % rank for axis in axes}
    rest = iter(shape)
    return array_like(x, tuple(1 if i in places else next(rest) for i in range(rank)))


def infer_squeeze(x: Type, axis: Type = NONE) -> Type:
    shape, along = shape_of(x), known_value(axis)
    if shape is None or along is MISSING:
        return array_like(x, None)
    if along is None:
        ones = [is_one(dim) for dim in shape]
        if None in ones:
            return array_like(x, None)
        kept = (dim for dim, one in zip(shape, ones, strict=True) if not one)
        return array_like(x, tuple(kept))
    axes = tuple(along) if np.ndim(along) else (along,)
    places = {axis % len(shape) for axis in axes} if shape else set()
    return array_like(x, tuple(d for i, d in enumerate(shape) if i not in places))


def infer_broadcast_to(x: Type, shape: Type, **_: Type) -> Type:
    return array_like(x, dims_in(shape))


def infer_at_least(rank: int) -> Any:
    def infer(x: Type) -> Type:
        shape = shape_of(x)
        if shape is None:
            return array_like(x, None)
        if len(shape) < rank:
            if rank == 3:
                ends = {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}
                return array_like(x, ends[len(shape)])
            return array_like(x, (1,) * (rank - len(shape)) + shape)
        return array_like(x, shape)

    return infer


def infer_same(x: Type, **_: Type) -> Type:
    return array_like(x, shape_of(x))


def infer_rot90(x: Type, k: Type = ONE, axes: Type | None = None) -> Type:
    shape, turns = shape_of(x), known_value(k)
    plane = (0, 1) if axes is None else known_value(axes)
    if shape is None:
        return array_like(x, None)
    if plane is MISSING or turns is MISSING:
        return array_like(x, (None,) * len(shape))
    if turns % 2 == 0:
        return array_like(x, shape)
    i, j = plane
    return array_like(x, with_dim(with_dim(shape, i, shape[j]), j, shape[i]))


def infer_tile(x: Type, reps: Type) -> Type:
    shape, times = shape_of(x), dims_in(reps)
    if shape is None or times is None:
        return array_like(x, None)
    rank = max(len(shape), len(times))
    shape = (1,) * (rank - len(shape)) + shape
    times = (1,) * (rank - len(times)) + times
    return array_like(x, tuple(map(times_dim, shape, times)))


def times_dim(m: Dim, n: Dim) -> Dim:
    """`m * n`."""
    if m == 1 or n == 1:
        return n if m == 1 else m
    return dims_product((m, n))


def infer_repeat(x: Type, repeats: Type, axis: Type = NONE) -> Type:
    shape, along, each = shape_of(x), known_value(axis), known_value(repeats)
    if shape is None or along is MISSING:
        known_rank = 1 if along is None else rank_of(x)
        return array_like(x, None if known_rank is None else (None,) * known_rank)
    if along is None:
        shape, along = (dims_product(shape),), 0
    size: Dim = None
    if isinstance(each, int):
        size = times_dim(shape[along], each)
    elif each is not MISSING and np.size(each) > 1:
        size = int(np.sum(each))
    return array_like(x, with_dim(shape, along, size))


def infer_pad(x: Type, pad_width: Type, **_: Type) -> Type:
    shape, widths = shape_of(x), known_value(pad_width)
    if shape is None or widths is MISSING or isinstance(widths, dict):
        return array_like(x, None if shape is None else (None,) * len(shape))
    added = np.broadcast_to(widths, (len(shape), 2)).sum(axis=1).tolist()
    return array_like(x, tuple(map(shift, shape, added)))


# -- types of joins and splits ------------------------------------------------------


def added(dims: list[Dim]) -> Dim:
    """The sum of sizes, None when not known."""
    total: Dim = 0
    for dim in dims:
        total = added_dims(total, dim)
    return total


def joined(items: list[Type] | None, shapes: Any, axis: int, dtype: Any = None) -> Type:
    """Arrays of those shapes concatenated along the axis."""
    dtype = dtype or (product_dtype(*items) if items else None)
    if not shapes or any(shape is None for shape in shapes):
        return Array(dtype=dtype)
    first = list(shapes[0])
    axis %= len(first)
    for i in range(len(first)):
        first[i] = added([s[i] for s in shapes]) if i == axis else same_dim(shapes, i)
    return Array(dtype=dtype, shape=tuple(first))


def joined_types(arrays: Type) -> list[Type] | None:
    """The types of what is joined, if that is known: a list is the array of it."""
    items = types_in(arrays)
    if items is None:
        return None
    return [array_of(t) if is_list(t) else t for t in items]


def list_of_rows(arrays: Type) -> Type:
    """An array in the place of a list of arrays is that of its rows."""
    if not isinstance(arrays, Array) or not arrays.shape:
        return arrays
    count, *rest = arrays.shape
    row = value_of_shape(arrays.dtype, tuple(rest))
    if isinstance(count, int) and count <= 16:
        return List(items=(row,) * count)
    return List(elem=row)


def same_dim(shapes: Any, i: int) -> Dim:
    """The size that all shapes must have along axis i."""
    for shape in shapes[1:]:
        suppose_fit(shapes[0][i], shape[i])
    return next((s[i] for s in shapes if isinstance(s[i], int)), shapes[0][i])


def with_dtype(infer: Any) -> Any:
    """The rule, for a result in the dtype that the call names."""

    def in_dtype(*args: Type, dtype: Type = NONE, **kwargs: Type) -> Type:
        found = infer(*args, **kwargs)
        if dtype == NONE:
            return found
        return Array(dtype=named_dtype(dtype), shape=shape_of(found))

    return in_dtype


@with_dtype
def infer_concatenate(arrays: Type, axis: Type = ZERO, **_: Type) -> Type:
    arrays = list_of_rows(arrays)
    items, along = joined_types(arrays), known_value(axis)
    elem: Any = getattr(arrays, "elem", None)
    if items is None or along is MISSING:
        shape = shape_of(elem) if elem else None
        if shape is None or along is MISSING:
            return Array(dtype=dtype_of(elem) if elem else None)
        if along is None:
            return Array(dtype=dtype_of(elem), shape=(None,))
        return Array(dtype=dtype_of(elem), shape=with_dim(shape, along, None))
    shapes = [shape_of(t) for t in items]
    if along is None:
        flat = [None if s is None else (dims_product(s),) for s in shapes]
        return joined(items, flat, 0)
    return joined(items, shapes, along)


@with_dtype
def infer_stack(arrays: Type, axis: Type = ZERO, **_: Type) -> Type:
    arrays = list_of_rows(arrays)
    items, along = joined_types(arrays), known_value(axis)
    elem: Any = getattr(arrays, "elem", None)
    if items is None:
        shape = shape_of(elem) if elem else None
        dtype = dtype_of(elem) if elem else None
        count: Dim = None
    else:
        shapes = [shape_of(t) for t in items]
        shape = shapes[0] if items else None
        if all(s is not None and shape and len(s) == len(shape) for s in shapes):
            shape = tuple(same_dim(shapes, i) for i in range(len(shape or ())))
        dtype, count = product_dtype(*items), len(items)
    if shape is None:
        return Array(dtype=dtype)
    if along is MISSING:
        return Array(dtype=dtype, shape=(None,) * (len(shape) + 1))
    place = along % (len(shape) + 1)
    return Array(dtype=dtype, shape=shape[:place] + (count,) + shape[place:])


def infer_lifted(lift: Any, axis_of: Any) -> Any:
    """The rule of vstack and the like: shapes are lifted, then concatenated."""

    @with_dtype
    def infer(arrays: Type, **_: Type) -> Type:
        items = joined_types(list_of_rows(arrays))
        if not items:
            return Array()
        shapes = [shape_of(t) for t in items]
        if any(shape is None for shape in shapes):
            return joined(items, None, 0)
        lifted = [lift(shape) for shape in shapes]
        return joined(items, lifted, axis_of(lifted))

    return infer


def rows(shape: Shape) -> Shape:
    return (1,) * (2 - len(shape)) + shape


def columns(shape: Shape) -> Shape:
    return shape if len(shape) > 1 else ((shape or (1,))[0], 1)


def layers(shape: Shape) -> Shape:
    if len(shape) < 2:
        return (1, (shape or (1,))[0], 1)
    return shape if len(shape) > 2 else (*shape, 1)


def infer_block(arrays: Type) -> Type:
    """Always an array; of a rank that is that of its blocks, or how deep they lie."""
    blocks: list[Type] = []
    depth = _collect(arrays, blocks)
    shapes = [shape_of(t) for t in blocks]
    flat = blocks and all(dtype_of(t) is not None for t in blocks)
    dtype = product_dtype(*blocks) if flat else None
    if depth is None or not blocks or any(shape is None for shape in shapes):
        return Array(dtype=dtype)
    rank = max(depth, *(len(shape) for shape in shapes if shape is not None))
    return Array(dtype=dtype, shape=(None,) * rank)


def _collect(t: Type, blocks: list[Type]) -> int | None:
    """Gather the arrays in nested lists; how deep the lists are, None if unknown."""
    if not isinstance(t, (List, Tuple)):
        blocks.append(t)
        return 0
    depths = [_collect(item, blocks) for item in types_in(t) or ()]
    known = [depth for depth in depths if depth is not None]
    return max(known) + 1 if depths and len(known) == len(depths) else None


def infer_append(x: Type, values: Type, axis: Type = NONE) -> Type:
    return infer_concatenate(Tuple(items=(x, values)), axis)


def infer_split(along: int | None = None, exact: bool = True) -> Any:
    """The rule of split and the like; `along` None takes the axis argument."""

    def infer(x: Type, indices_or_sections: Type, axis: Type = ZERO) -> Type:
        shape, where = shape_of(x), known_value(indices_or_sections)
        place = known_value(axis) if along is None else along
        if shape is None or place is MISSING or not shape:
            return List(elem=array_like(x, None))
        if along == 1 and len(shape) == 1:
            place = 0
        size = shape[place]
        if isinstance(where, int) and isinstance(size, int) and where > 0:
            small, more = divmod(size, where)
            sizes: list[Dim] = [small + (i < more) for i in range(where)]
        elif isinstance(where, int) and exact:
            sizes = [combined_dims("truediv", size, where)] * where
        elif isinstance(where, int):
            longer = [shift(size, where - 1 - i) for i in range(where)]
            sizes = [combined_dims("floordiv", dim, where) for dim in longer]
        elif where is MISSING:
            return List(elem=array_like(x, with_dim(shape, place, None)))
        else:
            ends = [int(end) for end in where]
            pairs = zip([None, *ends], [*ends, None], strict=True)
            sizes = [slice_dim(size, (start, stop, None)) for start, stop in pairs]
        items = [array_like(x, with_dim(shape, place, n)) for n in sizes]
        return List(items=tuple(items))

    return infer


def infer_broadcast_arrays(arrays: Any, **_: Type) -> Type:
    items = types_in(arrays)
    if items is None:
        return UNKNOWN
    shape = broadcast_shapes(*map(shape_of, items))
    return Tuple(items=tuple(array_like(t, shape) for t in items))


def infer_meshgrid(
    arrays: Any, indexing: Type = XY, sparse: Type | None = None, **_: Type
) -> Type:
    items, order = types_in(arrays), known_value(indexing)
    thin = False if sparse is None else known_value(sparse)
    if items is None or order is MISSING or thin is MISSING:
        return UNKNOWN
    sizes: list[Dim] = []
    for t in items:
        shape = shape_of(t)
        sizes.append(None if shape is None else dims_product(shape))
    own = list(range(len(items)))
    if order == "xy" and len(items) > 1:
        own[0], own[1] = 1, 0
    full: list[Dim] = [None] * len(items)
    for axis, size in zip(own, sizes, strict=True):
        full[axis] = size
    grids = []
    for t, axis in zip(items, own, strict=True):
        dims = [dim if i == axis or not thin else 1 for i, dim in enumerate(full)]
        grids.append(array_like(t, tuple(dims)))
    return Tuple(items=tuple(grids))


def infer_unstack(x: Type, axis: Type = ZERO) -> Type:
    shape, along = shape_of(x), known_value(axis)
    if not shape or along is MISSING:
        return List(elem=array_like(x, None), cls=tuple)
    along %= len(shape)
    item = array_like(x, shape[:along] + shape[along + 1 :])
    if isinstance(shape[along], int):
        return Tuple(items=(item,) * shape[along])
    return List(elem=item, cls=tuple)
