"""Functions that take functions, and choices, as plain NumPy."""

from __future__ import annotations

import numpy as np

from srcjax.ops.record import composite


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


def each(function, args, kwargs):
    """What the function gives for each of the numbers that broadcast arguments hold."""
    arrays = np.broadcast_arrays(*args)
    shape, size = arrays[0].shape, arrays[0].size
    values = []
    if len(args) == 1:
        first = np.ravel(arrays[0])
        for i in range(size):
            values.append(function(first[i], **kwargs))
    elif len(args) == 2:
        first, second = np.ravel(arrays[0]), np.ravel(arrays[1])
        for i in range(size):
            values.append(function(first[i], second[i], **kwargs))
    else:
        columns = np.stack([np.ravel(a) for a in arrays], axis=1)
        for i in range(size):
            values.append(
                function(*[columns[i, j] for j in range(len(args))], **kwargs)
            )
    return np.reshape(np.array(values), shape)


@composite(np.vectorize.__call__)
def vectorized(self, *args, **kwargs):
    """The Python function of each number; keywords are those that are excluded."""
    if self.signature is not None:
        raise NotImplementedError("np.vectorize with a signature")
    return each(self.pyfunc, args, kwargs)
