"""Arrays of another shape, parts of arrays, and arrays made from nothing."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

Shape = Sequence[int]


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together.

    Args:
        shapes: tuples of sizes, or one size each.

    Raises:
        ValueError: they do not fit together.
    """
    return np.broadcast_shapes(*shapes)


def tile(operand: Any, reps: Shape) -> Any:
    """The array so many times along each axis."""
    return np.tile(operand, tuple(reps))


def full(shape: Shape, fill_value: Any, dtype: Any = None) -> Any:
    """An array of one value."""
    return np.full(shape, fill_value, dtype)


def full_like(
    x: Any, fill_value: Any, dtype: Any = None, shape: Shape | None = None
) -> Any:
    """An array of one value, with the dtype and shape of another one."""
    return np.full_like(x, fill_value, dtype=dtype, shape=shape)


def iota(dtype: Any, size: int) -> Any:
    """0, 1, 2, ..."""
    return np.arange(size).astype(dtype)


def broadcasted_iota(dtype: Any, shape: Shape, dimension: int) -> Any:
    """0, 1, 2, ... along one axis."""
    ones = [1] * len(shape)
    ones[dimension] = shape[dimension]
    places = np.arange(shape[dimension]).astype(dtype)
    return np.broadcast_to(places.reshape(ones), shape).copy()


def broadcast(operand: Any, sizes: Shape) -> Any:
    """The array again and again, along new axes in front."""
    return np.broadcast_to(operand, (*sizes, *np.shape(operand)))


def broadcast_in_dim(
    operand: Any, shape: Shape, broadcast_dimensions: Sequence[int]
) -> Any:
    """An array of a shape, of which the axes of `operand` are these ones, in order."""
    sizes = [1] * len(shape)
    for axis, size in zip(broadcast_dimensions, np.shape(operand), strict=True):
        sizes[axis] = size
    return np.broadcast_to(np.reshape(operand, sizes), shape)


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """The array with its axes in another order."""
    return np.transpose(operand, permutation)


def reshape(
    operand: Any, new_sizes: Shape, dimensions: Sequence[int] | None = None
) -> Any:
    """The entries in another shape, gone through in the order of `dimensions`."""
    if dimensions is not None:
        operand = np.transpose(operand, dimensions)
    return np.reshape(operand, new_sizes)


def collapse(
    operand: Any, start_dimension: int, stop_dimension: int | None = None
) -> Any:
    """Neighbouring axes as one."""
    shape = np.shape(operand)
    stop = len(shape) if stop_dimension is None else stop_dimension
    return np.reshape(operand, (*shape[:start_dimension], -1, *shape[stop:]))


def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
    """The array without axes of length 1."""
    return np.squeeze(array, tuple(dimensions))


def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """The array with new axes of length 1."""
    return np.expand_dims(array, tuple(dimensions))


def concatenate(operands: Sequence[Any], dimension: int) -> Any:
    """Arrays of one dtype behind each other."""
    for operand in operands:
        if operand.dtype != operands[0].dtype:
            raise TypeError(
                f"lax.concatenate of {operands[0].dtype} and {operand.dtype}"
            )
    return np.concatenate(operands, dimension)


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> Any:
    """Parts of these sizes along an axis."""
    return np.split(operand, np.cumsum(sizes)[:-1], axis)


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """The array from its ends along some axes."""
    return np.flip(operand, tuple(dimensions))


def slice(  # noqa: A001
    operand: Any,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Any:
    """`operand[start:limit:stride, ...]`, along each axis."""
    steps = [1] * np.ndim(operand) if strides is None else strides
    bounds = zip(start_indices, limit_indices, steps, strict=True)
    return operand[tuple([builtins.slice(*bound) for bound in bounds])]


def slice_in_dim(
    operand: Any,
    start_index: int | None,
    limit_index: int | None,
    stride: int = 1,
    axis: int = 0,
) -> Any:
    """`operand[start:limit:stride]`, along one axis."""
    whole = builtins.slice(None)
    before = (whole,) * (axis % np.ndim(operand))
    return operand[(*before, builtins.slice(start_index, limit_index, stride))]


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """Item `index` along an axis, which stays with length 1 if `keepdims`."""
    taken = np.take(operand, index, axis=axis)
    return np.expand_dims(taken, axis) if keepdims else taken


def pad(
    operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]
) -> Any:
    """The array with values before it, after it, and between its entries.

    `padding_config` has `(before, after, between)` for each axis. Negative numbers
    before and after take entries away.
    """
    around = [(low, high) for low, high, _ in padding_config]
    if all(low >= 0 <= high and n == 0 for low, high, n in padding_config):
        return np.pad(operand, around, constant_values=padding_value)
    sizes = np.shape(operand)
    spread = [
        (size + builtins.max(size - 1, 0) * between, between + 1)
        for size, (_, _, between) in zip(sizes, padding_config, strict=True)
    ]
    inside = tuple(
        [
            builtins.slice(builtins.max(low, 0), builtins.max(low, 0) + size, step)
            for (size, step), (low, _, _) in zip(spread, padding_config, strict=True)
        ]
    )
    shape = [
        size + builtins.max(low, 0) + builtins.max(high, 0)
        for (size, _), (low, high, _) in zip(spread, padding_config, strict=True)
    ]
    result = np.full(shape, padding_value, np.asarray(operand).dtype)
    result[inside] = operand
    kept = tuple(
        [
            builtins.slice(builtins.max(-low, 0), size - builtins.max(-high, 0))
            for size, (low, high, _) in zip(shape, padding_config, strict=True)
        ]
    )
    return result[kept]


# -- in order -----------------------------------------------------------------------


def sort(
    operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1
) -> Any:
    """The entries in order; of several arrays those of all, by the first `num_keys`."""
    if not isinstance(operand, (tuple, list)):
        return np.sort(operand, axis=dimension, kind="stable")
    keys = tuple(operand[:num_keys])[::-1]
    order = np.lexsort(keys, axis=dimension)
    return tuple([np.take_along_axis(each, order, dimension) for each in operand])


def sort_key_val(
    keys: Any, values: Any, dimension: int = -1, is_stable: bool = True
) -> tuple[Any, Any]:
    """Keys in order, and the values that belong to them."""
    order = np.argsort(keys, axis=dimension, kind="stable")
    ordered = np.take_along_axis(keys, order, dimension)
    return ordered, np.take_along_axis(values, order, dimension)


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Any, Any]:
    """The `k` largest along an axis, the largest first, and their places."""
    last = np.shape(operand)[axis] - 1
    backwards = np.argsort(np.flip(operand, axis), axis=axis, kind="stable")
    order = last - np.flip(backwards, axis)
    order = np.take(order, np.arange(k), axis=axis)
    return np.take_along_axis(operand, order, axis), order.astype(np.int32)
