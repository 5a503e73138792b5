"""Sets of values: sorted, each once. Of equal values the first has the derivative.

As in JAX, the derivative goes through the values that were taken; which ones they are
is constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcjax.ops.record import composite

# mypy: disable-error-code="assignment"

UniqueAll: Any = type(np.unique_all(np.zeros(1)))
UniqueCounts: Any = type(np.unique_counts(np.zeros(1)))
UniqueInverse: Any = type(np.unique_inverse(np.zeros(1)))


def first_of_each(ordered, equal_nan):
    """Where a sorted array has a value for the first time."""
    if len(ordered) == 0:
        return np.zeros(0, bool)
    differs = ordered[1:] != ordered[:-1]
    if equal_nan:
        differs = differs & ~(np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    return np.append(True, differs)


@composite(np.unique, refuses=["axis"])
def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    """The sorted values, each once; where they are, and how often, if asked for."""
    flat = np.ravel(ar)
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    first = first_of_each(ordered, equal_nan)
    values = ordered[first]
    if not (return_index or return_inverse or return_counts):
        return values
    parts = (values,)
    if return_index:
        parts = (*parts, order[first])
    if return_inverse:
        inverse = np.zeros(len(flat), int)
        inverse[order] = np.cumsum(first) - 1
        parts = (*parts, np.reshape(inverse, np.shape(ar)))
    if return_counts:
        starts = np.append(np.flatnonzero(first), len(flat))
        parts = (*parts, np.diff(starts))
    return parts


@composite(np.unique_values, real_only=True)
def unique_values(x):
    """The values, each once."""
    return np.unique(x, equal_nan=False)


@composite(np.unique_counts)
def unique_counts(x):
    """The values, each once, and how often they occur."""
    values, counts = np.unique(x, return_counts=True, equal_nan=False)
    return UniqueCounts(values, counts)


@composite(np.unique_inverse)
def unique_inverse(x):
    """The values, each once, and for all which they are."""
    values, inverse = np.unique(x, return_inverse=True, equal_nan=False)
    return UniqueInverse(values, inverse)


@composite(np.unique_all)
def unique_all(x):
    """The values, each once, with all there is to know of them."""
    values, index, inverse, counts = np.unique(x, True, True, True, equal_nan=False)
    return UniqueAll(values, index, inverse, counts)


@composite(np.union1d)
def union1d(ar1, ar2):
    """The values of both."""
    return np.unique(np.concatenate((np.ravel(ar1), np.ravel(ar2))))


@composite(np.intersect1d)
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """The values that both have; the derivative goes to the first."""
    if return_indices:
        raise NotImplementedError("`return_indices`")
    values = np.sort(np.ravel(ar1)) if assume_unique else np.unique(ar1)
    return values[np.isin(values, ar2)]


@composite(np.setdiff1d)
def setdiff1d(ar1, ar2, assume_unique=False):
    """The values of the first that the second does not have."""
    values = np.ravel(ar1) if assume_unique else np.unique(ar1)
    return values[~np.isin(values, ar2)]


@composite(np.setxor1d)
def setxor1d(ar1, ar2, assume_unique=False):
    """The values that only one of both has."""
    first = np.ravel(ar1) if assume_unique else np.unique(ar1)
    second = np.ravel(ar2) if assume_unique else np.unique(ar2)
    alone = first[~np.isin(first, second)], second[~np.isin(second, first)]
    return np.sort(np.concatenate(alone))
