"""Functions that write to their first argument, as assignments."""

from __future__ import annotations

import numpy as np

from srcjax.ops.record import composite


@composite(np.put_along_axis)
def put_along_axis(arr, indices, values, axis):
    """One value for each index, along an axis."""
    if axis is None:
        raise NotImplementedError("`axis=None`")
    ndim = np.ndim(arr)
    along = axis % ndim
    index = tuple(
        indices
        if i == along
        else np.reshape(np.arange(arr.shape[i]), (-1,) + (1,) * (ndim - 1 - i))
        for i in range(ndim)
    )
    arr[index] = values


@composite(np.place)
def place(arr, mask, vals):
    """The values one after the other where the mask holds."""
    mask = np.asarray(mask, bool)
    values = np.ravel(vals)
    arr[mask] = values[np.arange(np.sum(mask)) % len(values)]


@composite(np.put)
def put(a, ind, v, mode="raise"):
    """The values one after the other at these places of the flat array."""
    places = np.ravel(ind)
    if mode == "clip":
        places = np.clip(places, 0, np.size(a) - 1)
    elif mode == "wrap":
        places = places % np.size(a)
    else:
        if np.any(places >= np.size(a)) or np.any(places < -np.size(a)):
            raise IndexError("an index of `put` is out of bounds")
        places = places % np.size(a)
    values = np.ravel(v)
    index = np.unravel_index(places, np.shape(a))
    a[index] = values[np.arange(len(places)) % len(values)]


@composite(np.fill_diagonal)
def fill_diagonal(a, val, wrap=False):
    """The values one after the other on the diagonal, which may begin anew below."""
    if np.ndim(a) == 2 and wrap:
        places = np.arange(0, np.size(a), a.shape[1] + 1)
        index = np.unravel_index(places, np.shape(a))
    else:
        places = np.arange(min(a.shape))
        index = (places,) * np.ndim(a)
    values = np.ravel(val)
    a[index] = values[np.arange(len(places)) % len(values)]
