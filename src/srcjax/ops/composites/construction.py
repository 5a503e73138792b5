"""Grids, sequences and rearrangements, as plain NumPy."""

from __future__ import annotations

import numpy as np

from srcjax.ops.composites.reductions import in_dtype
from srcjax.ops.record import composite


@composite(np.ndarray)
def ndarray(shape, dtype=float):
    """The class itself is seldom called: memory that is not filled yet."""
    return np.empty(shape, dtype)


class Broadcast:
    """What is asked of `np.broadcast(...)`: how large its arrays are together."""

    def __init__(self, arrays):
        self.shape = np.broadcast_shapes(*[np.shape(a) for a in arrays])
        self.ndim = self.nd = len(self.shape)
        self.size = int(np.prod(self.shape))


@composite(np.broadcast)
def broadcast(*args):
    """The shape of the arrays together; their items are not gone through."""
    return Broadcast(args)


@composite(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, *, axis=0):
    """Powers of the base, with even steps of the exponent."""
    if np.ndim(base) > 0:
        ndim = max(np.ndim(start), np.ndim(stop), np.ndim(base))
        start, stop = leading_axes(start, ndim), leading_axes(stop, ndim)
        base = np.expand_dims(leading_axes(base, ndim), axis)
    return in_dtype(base ** np.linspace(start, stop, num, endpoint, axis=axis), dtype)


def leading_axes(x, ndim):
    """`x` with axes of length 1 in front, up to `ndim` axes."""
    return np.reshape(x, (1,) * (ndim - np.ndim(x)) + np.shape(x))


@composite(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, *, axis=0):
    """Even steps of the logarithm of the ratio."""
    first, last = np.asarray(start), np.asarray(stop)
    shares = np.linspace(0.0, 1.0, num, endpoint)
    ndim = max(first.ndim, last.ndim)
    first = np.expand_dims(leading_axes(first, ndim), axis)
    last = np.expand_dims(leading_axes(last, ndim), axis)
    shares = np.moveaxis(np.reshape(shares, (num,) + (1,) * ndim), 0, axis)
    return in_dtype(first * (last / first) ** shares, dtype)


@composite(np.kaiser)
def kaiser(M, beta):
    """A ratio of Bessel functions of an ellipse."""
    if M == 1:
        return np.ones(1)
    n = np.arange(0, M)
    half = (M - 1) / 2
    ellipse = np.sqrt(1 - ((n - half) / half) ** 2)
    return np.i0(beta * ellipse) / np.i0(beta)


@composite(np.resize)
def resize(a, new_shape):
    """The values over and over again, in another shape."""
    size = int(np.prod(new_shape))
    flat = np.ravel(a)
    if size == 0 or len(flat) == 0:
        return np.zeros(new_shape, flat.dtype)
    return np.reshape(flat[np.arange(size) % len(flat)], new_shape)


@composite(np.trim_zeros)
def trim_zeros(filt, trim="fb", axis=None):
    """Without the zeros in front (f) and at the back (b)."""
    if axis is not None or np.ndim(filt) != 1:
        raise NotImplementedError("more than one dimension, or `axis`")
    filled = np.flatnonzero(filt)
    first, last = 0, len(filt)
    if len(filled) == 0:
        last = 0
    else:
        if "f" in trim.lower():
            first = filled[0]
        if "b" in trim.lower():
            last = filled[-1] + 1
    return filt[first:last]


@composite(np.unwrap)
def unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    """Jumps of more than half a period are taken out."""
    half = period / 2
    limit = half if discont is None else np.maximum(discont, half)
    step = np.diff(p, axis=axis)
    wrapped = np.mod(step + half, period) - half
    wrapped = np.where((wrapped == -half) & (step > 0), half, wrapped)
    change = np.where(np.abs(step) < limit, 0, wrapped - step)
    first = np.zeros_like(np.take(p, [0], axis))
    return p + np.concatenate((first, np.cumsum(change, axis)), axis)


@composite(np.cumulative_sum)
def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Sums so far; with the initial 0 in front if asked for."""
    along = 0 if axis is None else axis
    if axis is None and np.ndim(x) > 1:
        raise ValueError("axis must be given for more than one dimension")
    sums = np.cumsum(in_dtype(x, dtype), along)
    if include_initial:
        first = np.zeros_like(np.take(sums, [0], along))
        sums = np.concatenate((first, sums), along)
    return sums


@composite(np.cumulative_prod)
def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Products so far; with the initial 1 in front if asked for."""
    along = 0 if axis is None else axis
    if axis is None and np.ndim(x) > 1:
        raise ValueError("axis must be given for more than one dimension")
    products = np.cumprod(in_dtype(x, dtype), along)
    if include_initial:
        first = np.ones_like(np.take(products, [0], along))
        products = np.concatenate((first, products), along)
    return products


@composite(np.sort_complex)
def sort_complex(a):
    """Sorted by real part, then imaginary part."""
    ordered = np.sort(a)
    return ordered if np.iscomplexobj(a) else ordered.astype(complex)


@composite(np.real_if_close)
def real_if_close(a, tol=100):
    """The real part if all imaginary parts are next to 0."""
    if not np.iscomplexobj(a):
        return a
    if tol > 1:
        tol = tol * np.finfo(a.dtype).eps
    if np.all(np.absolute(np.imag(a)) < tol):
        return np.real(a)
    return a
