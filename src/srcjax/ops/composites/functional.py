"""Functions that take functions, and choices, as plain NumPy."""

from __future__ import annotations

import numpy as np

from srcjax.analysis import wrappers
from srcjax.analysis.structural import structural
from srcjax.ops.record import composite, inert


@composite(np.choose, refuses=["out"])
def choose(a, choices, out=None, mode="raise"):
    """At each place the value of the choice with that number."""
    n = len(choices)
    number = np.asarray(a)
    if mode == "wrap":
        number = number % n
    elif mode == "clip":
        number = np.clip(number, 0, n - 1)
    elif np.any(number < 0) or np.any(number >= n):
        raise ValueError("invalid entry in choice array")
    return np.select([number == i for i in range(n)], list(choices))


@composite(np.piecewise)
def piecewise(x, condlist, funclist):
    """Each function where its condition holds; one more is for the rest, else 0."""
    conditions = condlist
    if np.ndim(condlist[0]) == 0 and np.ndim(x) > 0:
        conditions = [condlist]
    y = np.zeros_like(x)
    rest = np.ones(np.shape(x), bool)
    for condition, piece in zip(conditions, funclist):  # noqa: B905  (one may be left)
        where = np.asarray(condition, bool)
        rest = rest & ~where
        y[where] = piece(x[where]) if callable(piece) else piece
    if len(funclist) == len(conditions) + 1:
        last = funclist[len(conditions)]
        y[rest] = last(x[rest]) if callable(last) else last
    return y


@composite(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """The function of each row; the axes of its result take the place of the row."""
    rows = np.moveaxis(arr, axis, -1)
    shape = rows.shape[:-1]
    rows = np.reshape(rows, (-1, rows.shape[-1]))
    results = []
    for i in range(len(rows)):
        if args or kwargs:
            results.append(func1d(rows[i], *args, **kwargs))
        else:
            results.append(func1d(rows[i]))
    joined = np.stack(results)
    joined = np.reshape(joined, (*shape, *joined.shape[1:]))
    ndim = joined.ndim - len(shape)
    first = axis % np.ndim(arr)
    source = tuple(range(len(shape), len(shape) + ndim))
    return np.moveaxis(joined, source, tuple(range(first, first + ndim)))


@composite(np.apply_over_axes)
def apply_over_axes(func, a, axes):
    """The function along one axis after the other; the axes are kept."""
    value = np.asarray(a)
    for axis in np.ravel(axes):
        result = func(value, int(axis))
        value = result
        if np.ndim(result) < np.ndim(a):
            value = np.expand_dims(result, int(axis))
    return value


@composite(np.fromfunction)
def fromfunction(function, shape, *, dtype=float, **kwargs):
    """The function of the coordinates."""
    coordinates = tuple(np.indices(shape, dtype=dtype))
    return function(*coordinates, **kwargs)


def each(function, args, otypes):
    """What the function gives for each of the numbers that broadcast arguments hold.

    Its dtype is of `otypes`, or else that of the first result, as NumPy's is. Several
    results are arrays each.
    """
    arrays = np.broadcast_arrays(*args)
    shape, size = arrays[0].shape, arrays[0].size
    values = []
    if len(args) == 1:
        first = np.ravel(arrays[0])
        for i in range(size):
            values.append(function(first[i]))
    elif len(args) == 2:
        first, second = np.ravel(arrays[0]), np.ravel(arrays[1])
        for i in range(size):
            values.append(function(first[i], second[i]))
    else:
        columns = np.stack([np.ravel(a) for a in arrays], axis=1)
        for i in range(size):
            values.append(function(*[columns[i, j] for j in range(len(args))]))
    if isinstance(values[0], tuple):
        return tuple(
            joined([value[k] for value in values], shape, otypes and otypes[k])
            for k in range(len(values[0]))
        )
    return joined(values, shape, otypes and otypes[0])


def joined(values, shape, otype):
    """The array of these numbers."""
    result = np.reshape(np.array(values), shape)
    dtype = np.dtype(otype) if otype else np.asarray(values[0]).dtype
    if dtype.kind in "biu" and result.dtype.kind not in "biu":
        return result.astype(int).astype(dtype)
    return result if result.dtype == dtype else result.astype(dtype)


@composite(np.vectorize.__call__)
def vectorized(self, *args, **kwargs):
    """The Python function of each number; no argument is excluded."""
    if self.signature is not None:
        raise NotImplementedError("np.vectorize with a signature")
    return of_numbers(self.pyfunc, self.otypes, (), args, kwargs)


@composite(wrappers.with_names_excluded)
def with_names_excluded(self, *args, **kwargs):
    """The Python function of each number; all keywords are passed on as they are."""
    if self.signature is not None:
        raise NotImplementedError("np.vectorize with a signature")
    function = self.pyfunc

    def with_keywords(*numbers):
        return function(*numbers, **kwargs)

    return each(with_keywords, args, self.otypes)


@composite(wrappers.with_some_excluded)
def with_some_excluded(self, *args, **kwargs):
    """The Python function of each number, but for arguments that are excluded."""
    if self.signature is not None:
        raise NotImplementedError("np.vectorize with a signature")
    return of_numbers(self.pyfunc, self.otypes, self.excluded, args, kwargs)


@composite(np.vectorize, refuses=["signature"])
def vectorize(
    pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None
):
    """A function that calls the given one with each of the numbers."""
    excluded = () if excluded is None else excluded

    def vectorized(*args, **kwargs):
        return of_numbers(pyfunc, otypes, excluded, args, kwargs)

    return vectorized


def of_numbers(function, otypes, excluded, args, kwargs):
    """What the function gives for each of the numbers in arguments not excluded."""
    if not excluded and not kwargs:
        return each(function, args, otypes)
    given = per_number(excluded, args, kwargs)

    def chosen(*numbers):
        positions, names = in_their_places(excluded, args, kwargs, numbers)
        return function(*positions, **names)

    return each(chosen, given, otypes)


@structural()
def per_number(excluded, args, kwargs):
    """The arguments of which the function gets one number at a time."""
    found = [a for i, a in enumerate(args) if i not in excluded]
    return (*found, *(v for name, v in kwargs.items() if name not in excluded))


@structural()
def in_their_places(excluded, args, kwargs, numbers):
    """The arguments, with these numbers for those of `per_number`."""
    rest = iter(numbers)
    positions = tuple(a if i in excluded else next(rest) for i, a in enumerate(args))
    return positions, {
        name: v if name in excluded else next(rest) for name, v in kwargs.items()
    }


inert(per_number, in_their_places)
