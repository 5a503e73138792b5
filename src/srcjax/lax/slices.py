"""Parts of arrays at places that the program computes.

As in JAX a part that would stick out is moved inside: its start is between 0 and the
length less that of the part, along each axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from srcjax.ops.collectives import all_to_all


def dynamic_slice(
    operand: np.ndarray, start_indices: Sequence[Any], slice_sizes: Sequence[int]
) -> np.ndarray:
    """The part of the shape `slice_sizes` that starts at `start_indices`, as a copy."""
    return operand[_part(operand.shape, start_indices, slice_sizes)].copy()


def dynamic_update_slice(
    operand: np.ndarray, update: np.ndarray, start_indices: Sequence[Any]
) -> np.ndarray:
    """`operand` with `update` in the part that starts at `start_indices`."""
    result = operand.copy()
    result[_part(operand.shape, start_indices, update.shape)] = update
    return result


def dynamic_index_in_dim(
    operand: np.ndarray, index: int, axis: int = 0, keepdims: bool = True
) -> np.ndarray:
    """Item `index` along an axis, which stays with length 1 if `keepdims`."""
    length = operand.shape[axis]
    index = min(max(index + length if index < 0 else index, 0), length - 1)
    taken = np.take(operand, index, axis=axis)
    return np.expand_dims(taken, axis) if keepdims else taken


def dynamic_slice_in_dim(
    operand: np.ndarray, start_index: int, slice_size: int, axis: int = 0
) -> np.ndarray:
    """The part of a length that starts at an index along an axis, as a copy."""
    starts, sizes = [0] * np.ndim(operand), list(np.shape(operand))
    starts[axis], sizes[axis] = start_index, slice_size
    return dynamic_slice(operand, starts, sizes)


def dynamic_update_slice_in_dim(
    operand: np.ndarray, update: np.ndarray, start_index: int, axis: int
) -> np.ndarray:
    """`operand` with `update` in the part that starts at an index along an axis."""
    starts: list[Any] = [0] * np.ndim(operand)
    starts[axis] = start_index
    return dynamic_update_slice(operand, update, starts)


def dynamic_update_index_in_dim(
    operand: np.ndarray, update: np.ndarray, index: int, axis: int
) -> np.ndarray:
    """`operand` with `update` as item `index` along an axis."""
    if np.ndim(update) != np.ndim(operand):
        update = np.expand_dims(update, axis)
    return dynamic_update_slice_in_dim(operand, update, index, axis)


def _part(
    shape: Sequence[int], starts: Sequence[Any], sizes: Sequence[int]
) -> tuple[slice, ...]:
    """The index of a part of an array, moved inside."""
    found = []
    for length, start, size in zip(shape, starts, sizes, strict=True):
        if size > length:
            raise ValueError(
                f"a part of length {size} along an axis of length {length}"
            )
        start = int(start) + length if start < 0 else int(start)
        start = min(max(start, 0), length - size)
        found.append(slice(start, start + size))
    return tuple(found)


def pswapaxes(x: Any, axis_name: str, axis: int) -> Any:
    """`all_to_all(x, axis_name, axis, axis)`: item `i` of example `j` goes to `i`."""
    return all_to_all(x, axis_name, axis, axis)
