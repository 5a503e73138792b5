"""Reductions with `where=`, `initial=`, `dtype=` and other keywords of few calls.

The rules of `ops.reductions` serve the plain calls; these functions serve the rest.
Masked entries count as what changes nothing: 0 in a sum, 1 in a product.
"""

from __future__ import annotations

import numpy as np

from srcjax.ops.record import completes


def filled(a, where, value):
    """`a` where the mask holds, else what changes nothing."""
    if where is None or where is True:
        return a
    return np.where(where, a, value)


def in_dtype(a, dtype):
    """`a` in the dtype that is asked for."""
    return a if dtype is None else np.asarray(a, dtype=dtype)


# -- sums and products --------------------------------------------------------------


@completes(np.sum, refuses=["out"])
def sum(  # noqa: A001  (as NumPy calls it)
    a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None
):
    """The sum of what the mask keeps, and of `initial`."""
    total = np.sum(filled(a, where, 0), axis, dtype, keepdims=keepdims)
    return total if initial is None else total + initial


@completes(np.prod, refuses=["out"])
def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    """The product of what the mask keeps, and of `initial`."""
    kept = in_dtype(filled(a, where, 1), dtype)
    total = np.prod(kept, axis, keepdims=keepdims)
    return total if initial is None else total * initial


@completes(np.mean, refuses=["out"])
def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None):
    """The mean of what the mask keeps."""
    if where is None:
        return np.mean(a, axis, dtype, keepdims=keepdims)
    kept = np.broadcast_to(where, np.shape(a))
    total = np.sum(np.where(kept, a, 0), axis, dtype, keepdims=keepdims)
    mean = total / np.sum(kept, axis, keepdims=keepdims)
    return mean.astype(total.dtype)


@completes(np.var, refuses=["out"])
def var(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=None,
    mean=None,
    correction=None,
):
    """The mean square of the deviations, of what the mask keeps."""
    if correction is not None:
        ddof = correction
    x = in_dtype(a, dtype)
    kept = np.broadcast_to(True if where is None else where, np.shape(x))
    if mean is None:
        mean = np.mean(x, axis, keepdims=True, where=kept)
    deviation = np.where(kept, x - in_dtype(mean, dtype), 0)
    square = np.real(deviation * np.conj(deviation))
    total = np.sum(square, axis, keepdims=keepdims)
    count = np.sum(kept, axis, keepdims=keepdims)
    return (total / (count - ddof)).astype(total.dtype)


@completes(np.std, refuses=["out"])
def std(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=None,
    mean=None,
    correction=None,
):
    """The square root of the variance."""
    if correction is not None:
        ddof = correction
    kept = np.broadcast_to(True if where is None else where, np.shape(a))
    return np.sqrt(np.var(a, axis, dtype, None, ddof, keepdims, where=kept, mean=mean))


@completes(np.cumsum)
def cumsum(a, axis=None, dtype=None):
    """The sums so far, in a dtype."""
    return np.cumsum(in_dtype(a, dtype), axis)


@completes(np.cumprod)
def cumprod(a, axis=None, dtype=None):
    """The products so far, in a dtype."""
    return np.cumprod(in_dtype(a, dtype), axis)


# -- extremes -----------------------------------------------------------------------


@completes(np.max, refuses=["out"])
def max(a, axis=None, out=None, keepdims=False, initial=None, where=None):  # noqa: A001
    """The largest of what the mask keeps, and of `initial`."""
    if initial is not None and np.size(a) == 0:
        return initial + np.sum(a, axis, keepdims=keepdims)
    largest = np.max(filled(a, where, initial), axis, keepdims=keepdims)
    return largest if initial is None else np.maximum(largest, initial)


@completes(np.min, refuses=["out"])
def min(a, axis=None, out=None, keepdims=False, initial=None, where=None):  # noqa: A001
    """The smallest of what the mask keeps, and of `initial`."""
    if initial is not None and np.size(a) == 0:
        return initial + np.sum(a, axis, keepdims=keepdims)
    smallest = np.min(filled(a, where, initial), axis, keepdims=keepdims)
    return smallest if initial is None else np.minimum(smallest, initial)


@completes(np.nanmax, refuses=["out"])
def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """The largest of what is a number and the mask keeps, and of `initial`."""
    if initial is None:
        return np.nanmax(filled(a, where, np.nan), axis, keepdims=keepdims)
    numbers = filled(np.where(np.isnan(a), initial, a), where, initial)
    return np.maximum(np.max(numbers, axis, keepdims=keepdims), initial)


@completes(np.nanmin, refuses=["out"])
def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """The smallest of what is a number and the mask keeps, and of `initial`."""
    if initial is None:
        return np.nanmin(filled(a, where, np.nan), axis, keepdims=keepdims)
    numbers = filled(np.where(np.isnan(a), initial, a), where, initial)
    return np.minimum(np.min(numbers, axis, keepdims=keepdims), initial)


# -- without NaN --------------------------------------------------------------------


@completes(np.nansum, refuses=["out"])
def nansum(
    a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None
):
    """NaN counts as 0."""
    numbers = filled(np.where(np.isnan(a), 0, a), where, 0)
    total = np.sum(numbers, axis, dtype, keepdims=keepdims)
    return total if initial is None else total + initial


@completes(np.nanmean, refuses=["out"])
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None):
    """The mean of what is a number, and of what the mask keeps."""
    kept = ~np.isnan(a) & (True if where is None else where)
    return np.mean(in_dtype(a, dtype), axis, keepdims=keepdims, where=kept)
