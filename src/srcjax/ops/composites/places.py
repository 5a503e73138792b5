"""`x.at[i].set(v)` and its kin: new arrays, with some entries changed.

    y = at(x)[1:3].add(2.0)  # y = x.copy(); y[1:3] += 2.0

What an index may be is NumPy's: whole numbers, slices, arrays of numbers, masks, and
tuples of these. Where a place comes several times, every update counts, one after the
other; of several values that are `set` the last one stays.

What becomes of places out of bounds is as in JAX. In texts nothing of it is seen where
types tell that there are none (`ops.place_types`): slices, masks, `x.at[0]`, and what
counts along the axis, as `i` does in `for i in range(len(x))`.
"""

from __future__ import annotations

import math

import numpy as np

from srcjax.analysis.structural import structural
from srcjax.ops.place_types import (
    infer_comes_once,
    infer_is_inside,
    infer_is_one_place,
    infer_is_place,
)
from srcjax.ops.record import array_property, inert, written_out


@array_property("at")
def at(x):
    """What `x.at` is of JAX's arrays: `at(x)[i].set(v)` is `x` with `v` at `i`.

    Inside of transformed functions `x.at` is this, and of an `Array` everywhere. Other
    arrays of NumPy's have no `at`: `srcjax.at(x)[i].set(v)` takes them too.
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
            "fill" leave them out. Without it `get` moves them inside, and all others
            leave them out. "promise_in_bounds" says that there are none: one that is
            there raises IndexError.
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
        """`x[i]`, where each place out of bounds is the nearest one inside.

        Or a value for those, with `mode="fill"` or `"drop"`. Without a `fill_value`
        that is NaN, for whole numbers the least of signed ones and the greatest of
        others, or True. In other modes a `fill_value` has no effect.
        """
        x = self.array
        index = self.index
        if is_plain(x, index, mode, wrap_negative_indices):
            return x[index]
        if mode in ("fill", "drop"):
            fill = nothing_of(x.dtype) if fill_value is None else fill_value
            axis, n, places = moved_out(x, index, wrap_negative_indices)
            return np.insert(x, n, fill, axis=axis)[places]
        return x[moved_inside(x, index, wrap_negative_indices)]

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

        def change(y, i, v):
            y[i] = v

        x = self.array
        return changed(x, self.index, values, change, mode, wrap_negative_indices)

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
        once = unique_indices or comes_once(self.index)

        def change(y, i, v):
            if once:
                y[i] += v
            else:
                np.add.at(y, i, v)

        x = self.array
        return changed(x, self.index, values, change, mode, wrap_negative_indices)

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
        index = self.index
        if unique_indices or comes_once(index):
            return changed(x, index, values, change, mode, wrap_negative_indices)

        def each(y, i, v):
            for now in rounds(i):
                change(y, i[now], v[now])

        if is_plain(x, index, mode, wrap_negative_indices):
            mode = "drop"
        return changed_flat(x, index, values, each, mode, wrap_negative_indices)


def is_inside(x, index, wrap=True):
    """Whether all places of an index are certainly in bounds."""
    parts = parts_of(index)
    rest = np.ndim(x) - sum(map(axes_of, parts))
    axis = 0
    for part in parts:
        if part is ...:
            axis += rest
        elif part is None or isinstance(part, slice) or is_mask(part):
            axis += axes_of(part)
        else:
            n = np.shape(x)[axis] if axis < np.ndim(x) else 0
            if not np.all((part >= (-n if wrap else 0)) & (np.asarray(part) < n)):
                return False
            axis += 1
    return True


def is_place(i, n, wrap=True):
    """Whether a number is certainly in bounds of an axis."""
    return np.ndim(i) == 0 and bool((-n if wrap else 0) <= i < n)


def is_one_place(index):
    """Whether no part of an index is an array: `x.at[1, :]`."""
    return not any(isinstance(part, (list, np.ndarray)) for part in parts_of(index))


def comes_once(index):
    """Whether no place can come twice: no part of the index is an array of numbers."""
    return not any(
        isinstance(part, (list, np.ndarray)) and not is_mask(part)
        for part in parts_of(index)
    )


inert(is_inside, infer=infer_is_inside)
inert(is_place, infer=infer_is_place)
inert(is_one_place, infer=infer_is_one_place)
inert(comes_once, infer=infer_comes_once)


@written_out
def is_plain(x, index, mode, wrap):
    """Whether an index is NumPy's own. Raises ValueError for a mode that is none."""
    if mode not in (None, "promise_in_bounds", "clip", "drop", "fill"):
        raise ValueError(f'mode is {mode!r}, not "clip", "drop", "fill" or None')
    return mode == "promise_in_bounds" and wrap or is_inside(x, index, wrap)


@written_out
def changed(x, index, values, change, mode, wrap):
    """A copy `y` of the array after `change(y, index, values)`.

    Places out of bounds are left out, or moved inside.
    """
    if is_plain(x, index, mode, wrap):
        y = x.copy()
        change(y, index, values)
        return y
    if mode == "clip":
        y = x.copy()
        change(y, moved_inside(x, index, wrap), values)
        return y
    if is_one_place(index):
        y = x.copy()
        inside = is_within(x, index, wrap)
        if inside:
            change(y, index, values)
        return y
    axis, n, places = moved_out(x, index, wrap)  # behind the others is one more place
    if axis == 0:
        y = np.concatenate((x, np.ones_like(x[:1])))
        change(y, places, values)
        return y[:n]
    y = np.insert(x, n, 1, axis=axis)
    change(y, places, values)
    return np.delete(y, n, axis=axis)


@written_out
def changed_flat(x, index, values, change, mode, wrap):
    """The same, where the places are those of a flat array."""
    places = flat_places(x.shape, index, mode, wrap)
    inside = places < x.size
    values = np.broadcast_to(values, np.shape(places))[inside]
    y = x.flatten()
    change(y, places[inside], values)
    return np.reshape(y, x.shape)


@written_out
def is_within(x, index, wrap):
    """Whether all numbers in an index are in bounds."""
    return all_within(both, within_wrapped if wrap else within, size_of, x, index)


@written_out
def moved_inside(x, index, wrap):
    """An index whose numbers out of bounds are the nearest inside."""
    return each_moved(clipped_wrapped if wrap else clipped, size_of, x, index)


@written_out
def moved_out(x, index, wrap):
    """An index whose places out of bounds are one behind an axis.

    Returns:
        The axis, its size, and the index.
    """
    if wrap:
        own, out = within_wrapped, out_wrapped
    else:
        own, out = within, out_plain
    return moved_behind(both, own, out, or_first, size_of, x, index)


@structural(calls=True)
def all_within(both, within, size, x, index):
    """`within(number, size)` of all numbers in an index, joined by `both`."""
    parts = parts_of(index)
    inside = True
    for k, axis in axes_of_numbers(x, parts).items():
        own = within(parts[k], size(x, axis))
        inside = own if inside is True else both(inside, own)
    return inside


@structural(calls=True)
def each_moved(move, size, x, index):
    """The index with `move(number, size)` for its numbers."""
    parts = list(parts_of(index))
    for k, axis in axes_of_numbers(x, parts).items():
        parts[k] = move(parts[k], size(x, axis))
    return tuple(parts) if isinstance(index, tuple) else parts[0]


@structural(calls=True)
def moved_behind(both, within, out, or_first, size, x, index):
    """Along which axis there is one more place, its size, and the index with it."""
    parts = list(parts_of(index))
    axes = axes_of_numbers(x, parts)
    if not axes:  # masks and slices have no places out of bounds
        return 0, 0, index
    sizes = {k: size(x, axis) for k, axis in axes.items()}
    inside = True
    for k, n in sizes.items():
        own = within(parts[k], n)
        inside = own if inside is True else both(inside, own)
    first, *others = axes
    parts[first] = out(parts[first], inside, sizes[first])
    for k in others:
        parts[k] = or_first(parts[k], inside, sizes[k])
    places = tuple(parts) if isinstance(index, tuple) else parts[0]
    return axes[first], sizes[first], places


inert(all_within, each_moved, moved_behind)


def axes_of_numbers(x, parts):
    """The axis of each number, or array of numbers, by its position in an index."""
    rest = x.ndim - sum(map(axes_of, parts))
    axes = {}
    axis = 0
    for k, part in enumerate(parts):
        plain = part is None or part is ... or isinstance(part, slice) or is_mask(part)
        if not plain:
            axes[k] = axis
        axis += rest if part is ... else axes_of(part)
    return axes


@written_out
def size_of(x, axis):
    return x.shape[axis]


@written_out
def both(a, b):
    return b if a is True else a if b is True else a & b


@written_out
def within_wrapped(i, n):
    if is_place(i, n, True):
        return True
    return -n <= i < n if np.ndim(i) == 0 else (-n <= i) & (i < n)


@written_out
def within(i, n):
    if is_place(i, n, False):
        return True
    return 0 <= i < n if np.ndim(i) == 0 else (i >= 0) & (i < n)


@written_out
def clipped_wrapped(i, n):
    return i if is_place(i, n, True) else np.clip(i, -n, n - 1)


@written_out
def clipped(i, n):
    return i if is_place(i, n, False) else np.clip(i, 0, n - 1)


@written_out
def out_wrapped(i, inside, n):
    return np.where(inside, i % n, n)


@written_out
def out_plain(i, inside, n):
    return np.where(inside, i, n)


@written_out
def or_first(i, inside, n):
    """The number, or the first place where another number is out of bounds."""
    return i if is_place(i, n, True) else np.where(inside, i, 0)


def parts_of(index):
    """What stands between the commas of an index."""
    return index if isinstance(index, tuple) else (index,)


def is_mask(part):
    """Whether a part of an index is an array of truth values."""
    if isinstance(part, np.ndarray):
        return part.dtype == bool
    return isinstance(part, (bool, np.bool_))


def flat_places(shape, index, mode, wrap_negative_indices):
    """Where an index points to in the flat array: to its end, if out of bounds."""
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
    return part.ndim if isinstance(part, np.ndarray) and is_mask(part) else 1


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
