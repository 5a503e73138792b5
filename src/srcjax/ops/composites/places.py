"""`x.at[i].set(v)` and its kin: new arrays, with some entries changed.

    y = at(x)[1:3].add(2.0)  # y = x.copy(); y[1:3] += 2.0

What an index may be is NumPy's: whole numbers, slices, arrays of numbers, masks, and
tuples of these. Where a place comes several times, every update counts, one after the
other; of several values that are `set` the last one stays.
"""

from __future__ import annotations

import math

import numpy as np

from srcjax.ops.record import array_property, written_out


@array_property("at")
def at(x):
    """What `x.at` is of JAX's arrays: `at(x)[i].set(v)` is `x` with `v` at `i`.

    Inside of transformed functions `x.at` is this. An array of NumPy's has no `at`, so
    that `x.at[i].set(v)` runs nowhere else: `srcjax.at(x)[i].set(v)` does.
    """
    return At(x)


@written_out
class At:
    """An array, before it is said which of its places are meant."""

    def __init__(self, array):
        self.array = array

    def __getitem__(self, index):
        return Places(self.array, index)


@written_out
class Places:
    """Places of an array, and what can be done there. The array stays as it is.

    Each method takes these options, and all but `get` give a new array.

    Args:
        mode: what becomes of places out of bounds: "clip" moves them inside, "drop" and
            "fill" leave them out; without it they raise IndexError.
        wrap_negative_indices: whether negative places count from the end. Otherwise
            they are out of bounds.
        unique_indices: say that no place comes twice.
        indices_are_sorted: has no effect.
    """

    def __init__(self, array, index):
        self.array = array
        self.index = index

    def get(
        self,
        *,
        indices_are_sorted=False,
        unique_indices=False,
        mode=None,
        fill_value=None,
        wrap_negative_indices=True,
    ):
        """`x[i]`, or with `mode="fill"` or `"drop"` a value for places out of bounds.

        Without a `fill_value` that is NaN, for whole numbers the least of signed ones
        and the greatest of others, or True.
        """
        x = self.array
        if within(mode, wrap_negative_indices):
            return x[self.index]
        places = flat_places(np.shape(x), self.index, mode, wrap_negative_indices)
        found = np.ravel(x)[np.minimum(places, np.size(x) - 1)]
        if mode == "clip":
            return found
        fill = nothing_of(x.dtype) if fill_value is None else fill_value
        return np.where(places < np.size(x), found, np.asarray(fill, x.dtype))

    def set(
        self,
        values,
        *,
        indices_are_sorted=False,
        unique_indices=False,
        mode=None,
        wrap_negative_indices=True,
    ):
        """`y[i] = values`, in a copy `y`."""
        x = self.array
        if within(mode, wrap_negative_indices):
            y = x.copy()
            y[self.index] = values
            return y
        places = flat_places(np.shape(x), self.index, mode, wrap_negative_indices)
        inside = places < np.size(x)
        flat = x.flatten()
        flat[places[inside]] = np.broadcast_to(values, np.shape(places))[inside]
        return np.reshape(flat, np.shape(x))

    def add(
        self,
        values,
        *,
        indices_are_sorted=False,
        unique_indices=False,
        mode=None,
        wrap_negative_indices=True,
    ):
        """`y[i] += values`, in a copy `y`, as often as a place comes."""
        x = self.array
        if not within(mode, wrap_negative_indices):
            places = flat_places(np.shape(x), self.index, mode, wrap_negative_indices)
            inside = places < np.size(x)
            flat = x.flatten()
            values = np.broadcast_to(values, np.shape(places))
            np.add.at(flat, places[inside], values[inside])
            return np.reshape(flat, np.shape(x))
        y = x.copy()
        if unique_indices or comes_once(self.index):
            y[self.index] += values
        else:
            np.add.at(y, self.index, values)
        return y

    def subtract(self, values, **options):
        """`y[i] -= values`, in a copy `y`, as often as a place comes."""
        return self.add(-values, **options)

    def multiply(self, values, **options):
        """`y[i] *= values`, in a copy `y`, as often as a place comes."""

        def change(y, i, v):
            y[i] *= v

        return self.updated(change, values, **options)

    mul = multiply

    def divide(self, values, **options):
        """`y[i] /= values`, in a copy `y`, as often as a place comes."""

        def change(y, i, v):
            y[i] /= v

        return self.updated(change, values, **options)

    def power(self, values, **options):
        """`y[i] **= values`, in a copy `y`, as often as a place comes."""

        def change(y, i, v):
            y[i] **= v

        return self.updated(change, values, **options)

    def min(self, values, **options):
        """`y[i] = np.minimum(y[i], values)`, in a copy, as often as a place comes."""

        def change(y, i, v):
            y[i] = np.minimum(y[i], v)

        return self.updated(change, values, **options)

    def max(self, values, **options):
        """`y[i] = np.maximum(y[i], values)`, in a copy, as often as a place comes."""

        def change(y, i, v):
            y[i] = np.maximum(y[i], v)

        return self.updated(change, values, **options)

    def apply(self, func, **options):
        """`y[i] = func(y[i])`, in a copy `y`, as often as a place comes.

        `func` is given several entries at once, and has to treat each by itself.
        """

        def change(y, i, _):
            y[i] = func(y[i])

        return self.updated(change, 0, **options)

    def updated(
        self,
        change,
        values,
        *,
        indices_are_sorted=False,
        unique_indices=False,
        mode=None,
        wrap_negative_indices=True,
    ):
        """`change(y, i, values)`, of a copy `y`, as often as a place comes."""
        x = self.array
        once = unique_indices or comes_once(self.index)
        if once and within(mode, wrap_negative_indices):
            y = x.copy()
            change(y, self.index, values)
            return y
        places = flat_places(np.shape(x), self.index, mode, wrap_negative_indices)
        inside = places < np.size(x)
        values = np.broadcast_to(values, np.shape(places))[inside]
        places = places[inside]
        flat = x.flatten()
        for now in rounds(places):
            change(flat, places[now], values[now])
        return np.reshape(flat, np.shape(x))


def within(mode, wrap_negative_indices):
    """Whether an index is NumPy's own: it raises if a place is out of bounds."""
    return wrap_negative_indices and mode in (None, "promise_in_bounds")


@written_out
def comes_once(index):
    """Whether no place can come twice: no part of the index is an array of numbers."""
    parts = index if isinstance(index, tuple) else (index,)
    once = True
    for part in parts:
        plain = isinstance(part, (int, np.integer, slice, type(None), type(...)))
        if not plain and np.asarray(part).dtype != bool:
            once = False
    return once


def flat_places(shape, index, mode, wrap_negative_indices):
    """Where an index points to in the flat array: to its end, if it is out of bounds.

    Raises:
        ValueError: there is no such mode.
    """
    if mode not in (None, "promise_in_bounds", "clip", "drop", "fill"):
        raise ValueError(f'mode is {mode!r}, not "clip", "drop", "fill" or None')
    ends = [(0, 1)] * len(shape)
    size = math.prod(shape)
    places = np.pad(np.arange(size).reshape(shape), ends, constant_values=size)
    parts = index if isinstance(index, tuple) else (index,)
    inside: list = []
    axis = 0
    for part in parts:
        if part is None:
            inside.append(None)
        elif part is ...:
            rest = len(shape) - sum(axes_of(each) for each in parts)
            inside.extend([slice(0, n) for n in shape[axis : axis + rest]])
            axis += rest
        elif isinstance(part, slice):
            start, stop, step = part.indices(shape[axis])
            inside.append(slice(start, stop if stop >= 0 else None, step))
            axis += 1
        elif np.asarray(part).dtype == bool:
            inside.append(np.pad(part, ends[: np.ndim(part)]))
            axis += np.ndim(part)
        else:
            n = shape[axis]
            i = np.asarray(part)
            if wrap_negative_indices:
                i = np.where(i < 0, i + n, i)
            if mode == "clip":
                inside.append(np.clip(i, 0, n - 1))
            else:
                inside.append(np.where((i < 0) | (i >= n), n, i))
            axis += 1
    return places[(*inside, *[slice(0, n) for n in shape[axis:]])]


def axes_of(part):
    """How many axes a part of an index is about."""
    if part is None or part is ...:
        return 0
    return np.ndim(part) if np.asarray(part).dtype == bool else 1


def rounds(places):
    """Masks, of which each takes a place at most once: all first times, all second."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    times = np.empty_like(places)
    times[order] = np.arange(len(places)) - np.searchsorted(ordered, ordered)
    return [times == time for time in range(np.max(times, initial=-1) + 1)]


def nothing_of(dtype):
    """What stands for no value in arrays of a dtype."""
    if dtype.kind in "fc":
        return np.nan
    if dtype.kind == "i":
        return np.iinfo(dtype).min
    return True if dtype.kind == "b" else np.iinfo(dtype).max
