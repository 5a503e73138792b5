"""Adjoints of windows: views in which an item of the array stands several times."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view


def unslide(d, x, window_shape, axis=None):
    """The adjoint of `x` in `sliding_window_view(x, window_shape, axis)`.

    One place of the window after the other: what all windows have there are different
    items of the array.
    """
    out = np.zeros(np.shape(x), np.result_type(d))
    windows = sliding_window_view(out, window_shape, axis, writeable=True)
    for place in np.ndindex(*windows.shape[np.ndim(x) :]):
        windows[(..., *place)] += d[(..., *place)]
    return out


def unstride(d, x, shape=None, strides=None):
    """The adjoint of `x` in `as_strided(x, shape, strides)`.

    Raises:
        ValueError: `x` is not laid out row by row, so strides do not tell its items.
    """
    if not x.flags.c_contiguous:
        raise ValueError(
            "as_strided of an array that is not contiguous has no derivative: take "
            "np.ascontiguousarray of it first, and its strides"
        )
    strides = x.strides if strides is None else strides
    numbers = np.arange(x.size)
    steps = [step // x.itemsize * numbers.itemsize for step in strides]
    items = as_strided(numbers, np.shape(d), steps)
    weights = np.ravel(d)
    out = np.zeros(x.size, weights.dtype)
    np.add.at(out, np.ravel(items), weights)
    return out.reshape(x.shape)


def as_strided_alike(x_dot, shape, strides):
    """The tangent in `as_strided(x, shape, strides)`, laid out in memory as `x` is."""
    return as_strided(np.ascontiguousarray(x_dot), shape, strides)
