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


@composite(np.putmask)
def putmask(a, mask, values):
    """The values of the same places where the mask holds, over and over if too few."""
    if np.ndim(values) == 0:
        a[np.reshape(np.asarray(mask, dtype=bool), np.shape(a))] = values
    else:
        places = np.flatnonzero(mask)
        given = np.ravel(values)
        index = np.unravel_index(places, np.shape(a))
        a[index] = given[places % len(given)]


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


# -- `ufunc.at`: several values for one place, one after the other --------------------


def at_each(function, a, indices, b):
    """`function(a[i], v)` for each place `i`, and the value `v` for it."""
    places = np.asarray(indices)
    if np.ndim(places) != 1 or places.dtype == bool:
        raise NotImplementedError("indices that are no list of whole numbers")
    values = np.broadcast_to(b, (len(places), *np.shape(a)[1:]))
    for k in range(len(places)):
        i = places[k]
        a[i] = function(a[i], values[k])


@composite(np.multiply.at)
def multiply_at(a, indices, b):
    """Each place times all that is given for it."""
    at_each(np.multiply, a, indices, b)


@composite(np.divide.at)
def divide_at(a, indices, b):
    """Each place divided by all that is given for it."""
    at_each(np.divide, a, indices, b)


@composite(np.maximum.at)
def maximum_at(a, indices, b):
    """The largest of what a place holds and what is given for it."""
    at_each(np.maximum, a, indices, b)


@composite(np.minimum.at)
def minimum_at(a, indices, b):
    """The smallest of what a place holds and what is given for it."""
    at_each(np.minimum, a, indices, b)
