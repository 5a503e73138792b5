"""Calls with arguments of few calls: `np.array(x, ndmin=2)`, `np.convolve(x, 2.0)`.

The rules serve the plain calls; these functions serve the rest, as those of
`composites.reductions` do for reductions.
"""

from __future__ import annotations

import numpy as np

from srcjax.analysis.types import UNKNOWN, Type, rank_of
from srcjax.ops.known import known_value
from srcjax.ops.record import completes


def with_number(a: Type, v: Type, **_: Type) -> bool:
    """Whether one of the sequences is a number."""
    return 0 in (rank_of(a), rank_of(v))


@completes(np.convolve, when=with_number)
def convolve(a, v, mode="full"):
    """A number is a sequence of one."""
    return np.convolve(np.atleast_1d(a), np.atleast_1d(v), mode)


def one_factor(mode: Type = UNKNOWN, **_: Type) -> bool:
    """Whether the second factor alone is asked for."""
    return known_value(mode) == "r"


@completes(np.linalg.qr, when=one_factor)
def qr(a, mode="reduced"):
    """The triangular factor of both."""
    return np.linalg.qr(a)[1]


@completes(np.array)
def array(object, dtype=None, *, copy=True, ndmin=0):
    """Axes of length 1 go in front, up to `ndmin`."""
    made = np.array(object, dtype) if copy else np.asarray(object, dtype)
    if made.ndim >= ndmin:
        return made
    return np.reshape(made, (1,) * (ndmin - made.ndim) + made.shape)


@completes(np.asarray, refuses=["device"])
def asarray(a, dtype=None, *, device=None, copy=None):
    """A copy where one is asked for."""
    return np.array(a, dtype) if copy else np.asarray(a, dtype)


@completes(np.clip, refuses=["out"])
def clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None):
    """The bounds by their newer names."""
    low = a_min if min is None else min
    high = a_max if max is None else max
    return np.copy(a) if low is None and high is None else np.clip(a, low, high)


@completes(np.average)
def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The mean, and the sum of the weights where it is asked for."""
    mean = np.average(a, axis, weights, keepdims=keepdims)
    if not returned:
        return mean
    if weights is None:
        return mean, np.full_like(mean, np.size(a) / np.size(mean))
    if np.shape(weights) != np.shape(a):
        raise NotImplementedError("np.average: returned=True, weights of another shape")
    return mean, np.sum(weights, axis, keepdims=keepdims)


@completes(np.nan_to_num)
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """In a new array."""
    if not copy:
        raise NotImplementedError("np.nan_to_num(copy=False) writes to its argument")
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@completes(np.linalg.pinv)
def pinv(a, rcond=None, hermitian=False, *, rtol=None):
    """The limit by its newer name."""
    if rtol is None:
        return np.linalg.pinv(a)
    return np.linalg.pinv(a, rtol)


@completes(np.atleast_1d)
def atleast_1d(*arys):
    """Each of several arrays."""
    return tuple([np.atleast_1d(a) for a in arys])


@completes(np.atleast_2d)
def atleast_2d(*arys):
    """Each of several arrays."""
    return tuple([np.atleast_2d(a) for a in arys])


@completes(np.atleast_3d)
def atleast_3d(*arys):
    """Each of several arrays."""
    return tuple([np.atleast_3d(a) for a in arys])


@completes(np.ndarray.item)
def item(a, *args):
    """One number by its place in the whole array, or by one on each axis."""
    if len(args) > 1:
        return a[args].item()
    place = args[0]
    return a[place].item() if isinstance(place, tuple) else np.ravel(a)[place].item()
