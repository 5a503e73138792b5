"""The extremes of items with a common place, and their derivatives."""

from __future__ import annotations

import numpy as np

from srcjax.runtime.basics import unbroadcast


def largest_at(data, index, shape):
    """An array of the shape with the largest item of `data` at each place of `index`.

    Where there is no item, it is the least number of the dtype.
    """
    y = np.full(shape, least(data.dtype), data.dtype)
    np.maximum.at(y, index, data)
    return y


def smallest_at(data, index, shape):
    """An array of the shape with the smallest item of `data` at each place of `index`.

    Where there is no item, it is the greatest number of the dtype.
    """
    y = np.full(shape, greatest(data.dtype), data.dtype)
    np.minimum.at(y, index, data)
    return y


def least(dtype):
    """What every number of a dtype is at least."""
    if dtype.kind == "f":
        return -np.inf
    return False if dtype.kind == "b" else np.iinfo(dtype).min


def greatest(dtype):
    """What every number of a dtype is at most."""
    if dtype.kind == "f":
        return np.inf
    return True if dtype.kind == "b" else np.iinfo(dtype).max


def unextreme_at(d, y, data, index):
    """The adjoint of `data` in `y = largest_at(data, index, shape)`; ties share it."""
    is_extreme = data == y[index]
    ties = np.zeros_like(d)
    np.add.at(ties, index, is_extreme)
    return unbroadcast(np.where(is_extreme, (d / np.maximum(ties, 1))[index], 0), data)


def extreme_at_tangent(data_dot, y, data, index):
    """The tangent of `y = largest_at(data, index, shape)`: of ties the mean."""
    is_extreme = data == y[index]
    ties = np.zeros_like(y)
    np.add.at(ties, index, is_extreme)
    y_dot = np.zeros_like(y)
    np.add.at(y_dot, index, np.where(is_extreme, data_dot, 0))
    return y_dot / np.maximum(ties, 1)
