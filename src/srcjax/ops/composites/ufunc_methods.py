"""`np.logaddexp.reduce`, `np.maximum.accumulate`, `np.add.reduceat` and their kin.

Plain `reduce` and `accumulate` of sums, products and extremes are those functions
(`frontend.special_calls`); what is here has no other name.
"""

from __future__ import annotations

import numpy as np

from srcjax.ops.composites.statistics import axes_first, axes_kept
from srcjax.ops.record import composite

# -- reduce -------------------------------------------------------------------------


def folded(function, array, axis, keepdims):
    """The items along an axis, taken together two by two from the first on."""
    x = axes_first(array, axis)
    total = x[0]
    for i in range(1, len(x)):
        total = function(total, x[i])
    return axes_kept(total, array, axis, 0) if keepdims else total


@composite(np.subtract.reduce)
def subtract_reduce(array, axis=0, *, keepdims=False):
    """The first without all the others."""
    x = axes_first(array, axis)
    total = x[0] - np.sum(x[1:], axis=0)
    return axes_kept(total, array, axis, 0) if keepdims else total


@composite(np.divide.reduce)
def divide_reduce(array, axis=0, *, keepdims=False):
    """The first divided by all the others."""
    x = axes_first(array, axis)
    ratio = x[0] / np.prod(x[1:], axis=0)
    return axes_kept(ratio, array, axis, 0) if keepdims else ratio


@composite(np.logaddexp.reduce)
def logaddexp_reduce(array, axis=0, *, keepdims=False):
    """The logarithm of the sum of exponentials."""
    return folded(np.logaddexp, array, axis, keepdims)


@composite(np.logaddexp2.reduce)
def logaddexp2_reduce(array, axis=0, *, keepdims=False):
    """The logarithm of the sum of powers of 2."""
    return folded(np.logaddexp2, array, axis, keepdims)


@composite(np.hypot.reduce)
def hypot_reduce(array, axis=0, *, keepdims=False):
    """The length."""
    return folded(np.hypot, array, axis, keepdims)


@composite(np.fmax.reduce)
def fmax_reduce(array, axis=0, *, keepdims=False):
    """The largest that is a number."""
    return np.nanmax(array, axis, keepdims=keepdims)


@composite(np.fmin.reduce)
def fmin_reduce(array, axis=0, *, keepdims=False):
    """The smallest that is a number."""
    return np.nanmin(array, axis, keepdims=keepdims)


# -- accumulate ---------------------------------------------------------------------


def last_so_far(order, axis):
    """Along an axis, the one of the places so far that comes last in an order."""
    highest = np.maximum.accumulate(np.argsort(order, axis=axis), axis)
    return np.take_along_axis(order, highest, axis)


def places_of_records(array, axis):
    """Along an axis, the place of the largest so far: of equal ones the last."""
    return last_so_far(np.argsort(array, axis=axis, kind="stable"), axis)


def places_of_numbers(array, axis):
    """The same of the largest that is a number: nan comes before all."""
    falling = np.argsort(np.flip(-array, axis), axis=axis, kind="stable")
    return last_so_far(np.shape(array)[axis] - 1 - np.flip(falling, axis), axis)


@composite(np.maximum.accumulate)
def maximum_accumulate(array, axis=0):
    """The largest so far: of equal ones the last."""
    return np.take_along_axis(array, places_of_records(array, axis), axis)


@composite(np.minimum.accumulate)
def minimum_accumulate(array, axis=0):
    """The smallest so far: of equal ones the last."""
    return np.take_along_axis(array, places_of_records(-array, axis), axis)


@composite(np.fmax.accumulate)
def fmax_accumulate(array, axis=0):
    """The largest number so far: of equal ones the last."""
    return np.take_along_axis(array, places_of_numbers(array, axis), axis)


@composite(np.fmin.accumulate)
def fmin_accumulate(array, axis=0):
    """The smallest number so far: of equal ones the last."""
    return np.take_along_axis(array, places_of_numbers(-array, axis), axis)


@composite(np.subtract.accumulate)
def subtract_accumulate(array, axis=0):
    """The first without the others so far."""
    x = np.moveaxis(array, axis, 0)
    return np.moveaxis(2 * x[:1] - np.cumsum(x, axis=0), 0, axis)


@composite(np.logaddexp.accumulate)
def logaddexp_accumulate(array, axis=0):
    """The logarithms of the sums of exponentials so far."""
    x = np.moveaxis(array, axis, 0)
    totals = [x[0]]
    for i in range(1, len(x)):
        totals.append(np.logaddexp(totals[i - 1], x[i]))
    return np.stack(totals, axis)


# -- reduceat -----------------------------------------------------------------------


def pieces(indices, size):
    """Where each piece begins and ends: an end that is not later is the entry alone."""
    starts = [int(i) for i in indices]
    ends = [*starts[1:], size]
    return [(i, j if j > i else i + 1) for i, j in zip(starts, ends, strict=True)]


def by_pieces(function, array, indices, axis):
    """What a reduction gives of each piece."""
    x = np.moveaxis(array, axis, 0)
    bounds = pieces(indices, len(x))
    return np.stack([function(x[i:j], axis=0) for i, j in bounds], axis)


@composite(np.add.reduceat)
def add_reduceat(array, indices, axis=0):
    """The sums of the pieces that begin at the indices."""
    return by_pieces(np.sum, array, indices, axis)


@composite(np.multiply.reduceat)
def multiply_reduceat(array, indices, axis=0):
    """The products of the pieces that begin at the indices."""
    return by_pieces(np.prod, array, indices, axis)


@composite(np.maximum.reduceat)
def maximum_reduceat(array, indices, axis=0):
    """The largest of the pieces that begin at the indices."""
    return by_pieces(np.max, array, indices, axis)


@composite(np.minimum.reduceat)
def minimum_reduceat(array, indices, axis=0):
    """The smallest of the pieces that begin at the indices."""
    return by_pieces(np.min, array, indices, axis)
