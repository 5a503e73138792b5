"""Windows of arrays at places in arrays: `gather` and the ways to `scatter`.

An index, and `x.at[i]`, say most of it more clearly. As in JAX a place is that of the
first item of a window, places are not counted from the end, and a window that is not
wholly inside is out of bounds.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import srcjax

Axes = tuple[int, ...]


class GatherDimensionNumbers(NamedTuple):
    """Which axes of `gather` are which.

    - `offset_dims`: the axes of the result that are those of the windows.
    - `collapsed_slice_dims`: the axes of the array of which windows have length 1, and
      that the result has not.
    - `start_index_map`: the axes of the array that the places are about, in the order
      of their last axis.
    - `operand_batching_dims`, `start_indices_batching_dims`: axes of the array and of
      the places that go together.
    """

    offset_dims: Axes
    collapsed_slice_dims: Axes
    start_index_map: Axes
    operand_batching_dims: Axes = ()
    start_indices_batching_dims: Axes = ()


class ScatterDimensionNumbers(NamedTuple):
    """Which axes of `scatter` are which.

    - `update_window_dims`: the axes of the updates that are those of the windows.
    - `inserted_window_dims`: the axes of the array that windows have not.
    - `scatter_dims_to_operand_dims`: the axes of the array that the last axis of the
      places is about.
    - `operand_batching_dims`, `scatter_indices_batching_dims`: axes of the array and of
      the places that go together.
    """

    update_window_dims: Axes
    inserted_window_dims: Axes
    scatter_dims_to_operand_dims: Axes
    operand_batching_dims: Axes = ()
    scatter_indices_batching_dims: Axes = ()


class GatherScatterMode(enum.Enum):
    """What becomes of windows out of bounds; the text of each is accepted too."""

    CLIP = "clip"
    FILL_OR_DROP = "fill"
    PROMISE_IN_BOUNDS = "promise_in_bounds"


def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> Any:
    """Windows of an array.

    Args:
        operand: the array.
        start_indices: whole numbers; the last axis is the place of a window.
        dimension_numbers: which axes are which.
        slice_sizes: how long a window is along each axis of the array.
        unique_indices: accepted, and of no effect.
        indices_are_sorted: accepted, and of no effect.
        mode: "fill" gives `fill_value` for a window out of bounds; "clip" (which None
            means, and "promise_in_bounds") moves it inside.
        fill_value: NaN, the least or the greatest number of the dtype without it.

    Returns:
        An array with an axis for each of the places but the last one, and one for each
        of a window's that is not left out.
    """
    numbers = GatherDimensionNumbers(*dimension_numbers)
    dropped = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    clips = mode is None or mode_of(mode) != "fill"
    places = window_places(
        np.shape(operand),
        start_indices,
        tuple(slice_sizes),
        numbers.start_index_map,
        dropped,
        numbers.operand_batching_dims,
        numbers.start_indices_batching_dims,
        clips,
    )
    if clips:
        found = np.ravel(operand)[places]
    else:
        found = srcjax.at(np.ravel(operand))[places].get(
            mode="fill", fill_value=fill_value
        )
    return np.transpose(found, result_axes(np.ndim(found), numbers.offset_dims))


def scatter(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The array with windows set to the updates; of several at a place, the last one.

    Args:
        operand: the array.
        scatter_indices: whole numbers; the last axis is the place of a window.
        updates: an array with an axis for each of the places but the last one, and for
            each of a window's.
        dimension_numbers: which axes are which.
        indices_are_sorted: accepted, and of no effect.
        unique_indices: accepted, and of no effect.
        mode: "fill" (which None means) leaves windows out of bounds alone; "clip" moves
            them inside.
    """
    places = update_places(operand, scatter_indices, updates, dimension_numbers, mode)
    values = windows_last(updates, dimension_numbers)
    changed = srcjax.at(np.ravel(operand))[places].set(values, mode="drop")
    return np.reshape(changed, np.shape(operand))


def scatter_add(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The array with the updates added to windows (see `scatter`)."""
    places = update_places(operand, scatter_indices, updates, dimension_numbers, mode)
    values = windows_last(updates, dimension_numbers)
    changed = srcjax.at(np.ravel(operand))[places].add(values, mode="drop")
    return np.reshape(changed, np.shape(operand))


def scatter_sub(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    **options: Any,
) -> Any:
    """The array with the updates subtracted from windows (see `scatter`)."""
    return scatter_add(operand, scatter_indices, -updates, dimension_numbers, **options)


def scatter_mul(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The array with windows multiplied by the updates (see `scatter`)."""
    places = update_places(operand, scatter_indices, updates, dimension_numbers, mode)
    values = windows_last(updates, dimension_numbers)
    changed = srcjax.at(np.ravel(operand))[places].multiply(values, mode="drop")
    return np.reshape(changed, np.shape(operand))


def scatter_min(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The array with the smaller of windows and the updates (see `scatter`)."""
    places = update_places(operand, scatter_indices, updates, dimension_numbers, mode)
    values = windows_last(updates, dimension_numbers)
    changed = srcjax.at(np.ravel(operand))[places].min(values, mode="drop")
    return np.reshape(changed, np.shape(operand))


def scatter_max(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The array with the greater of windows and the updates (see `scatter`)."""
    places = update_places(operand, scatter_indices, updates, dimension_numbers, mode)
    values = windows_last(updates, dimension_numbers)
    changed = srcjax.at(np.ravel(operand))[places].max(values, mode="drop")
    return np.reshape(changed, np.shape(operand))


def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """The array with `func` of the items of windows (see `scatter`).

    Args:
        func: a function of several items at once, which treats each by itself.
        update_shape: the shape that updates would have.
    """
    updates = np.broadcast_to(0, update_shape)
    places = update_places(operand, scatter_indices, updates, dimension_numbers, mode)
    changed = srcjax.at(np.ravel(operand))[places].apply(func, mode="drop")
    return np.reshape(changed, np.shape(operand))


# -- where windows are -----------------------------------------------------------------


def mode_of(mode: Any) -> str:
    """The mode as a text: "fill" or "clip". Raises ValueError if there is none such."""
    name = getattr(mode, "value", mode)
    names = {None: "fill", "drop": "fill", "fill": "fill", "clip": "clip"}
    names["promise_in_bounds"] = "clip"
    if name not in names:
        raise ValueError(f'mode is {mode!r}, not "clip", "fill" or None')
    return names[name]


def window_places(
    shape: tuple[int, ...],
    starts: Any,
    sizes: tuple[int, ...],
    index_map: Axes,
    dropped: Axes,
    batching: Axes,
    batching_of_starts: Axes,
    clips: bool,
) -> Any:
    """The place of each item of each window in the array in a row; its size if outside.

    Of shape (*that of the places, *that of a window without dropped axes).
    """
    starts = np.asarray(starts).astype(np.intp)
    many = starts.shape[:-1]
    kept = [k for k in range(len(shape)) if k not in dropped]
    ends = (1,) * len(kept)
    inside = np.ones(many, bool)
    flat = np.zeros((*many, *ends), np.intp)
    for axis, (length, size) in enumerate(zip(shape, sizes, strict=True)):
        if size > length:
            raise ValueError(f"a window of length {size} of an axis of length {length}")
        start = np.zeros(many, np.intp)
        if axis in index_map:
            start = starts[..., index_map.index(axis)]
            inside &= (start >= 0) & (start <= length - size)
            start = np.clip(start, 0, length - size)
        elif axis in batching:
            place = batching_of_starts[batching.index(axis)]
            along = [1] * len(many)
            along[place] = many[place]
            start = np.broadcast_to(np.arange(many[place]).reshape(along), many)
        steps = np.reshape(start, (*many, *ends))
        if axis in kept:
            window = [1] * len(kept)
            window[kept.index(axis)] = size
            steps = steps + np.arange(size).reshape(window)
        flat = flat * length + steps
    if clips:
        return flat
    return np.where(np.reshape(inside, (*many, *ends)), flat, math.prod(shape))


def update_places(
    operand: Any, indices: Any, updates: Any, dimension_numbers: Any, mode: Any
) -> Any:
    """The places that updates are for."""
    numbers = ScatterDimensionNumbers(*dimension_numbers)
    dropped = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    windows = [np.shape(updates)[k] for k in numbers.update_window_dims]
    sizes = []
    for axis in range(np.ndim(operand)):
        sizes.append(1 if axis in dropped else windows.pop(0))
    return window_places(
        np.shape(operand),
        indices,
        tuple(sizes),
        numbers.scatter_dims_to_operand_dims,
        dropped,
        numbers.operand_batching_dims,
        numbers.scatter_indices_batching_dims,
        mode_of(mode) != "fill",
    )


def windows_last(updates: Any, dimension_numbers: Any) -> Any:
    """The updates with the axes of the windows last."""
    window = tuple(ScatterDimensionNumbers(*dimension_numbers).update_window_dims)
    rest = tuple([k for k in range(np.ndim(updates)) if k not in window])
    return np.transpose(updates, (*rest, *window))


def result_axes(rank: int, offset_dims: Axes) -> Axes:
    """The order of axes with those of windows, which are last, at their places."""
    first = rank - len(offset_dims)
    before = iter(range(first))
    return tuple(
        [
            first + tuple(offset_dims).index(k) if k in offset_dims else next(before)
            for k in range(rank)
        ]
    )
