"""Adjoints of elementwise operations, reductions and scans."""

from __future__ import annotations

import operator

import numpy as np

from srcjax.runtime.basics import size_along, unbroadcast, unreduce, weights_over
from srcjax.runtime.containers import unarray


def power_below(a, b):
    """`a ** (b - 1)`, which `b` multiplies: 1 where both are 0, for that is no nan.

    It stands for all orders: `b` may be 0 where a derivative to it is asked for. Of a
    Python number 0 it is infinite, as of NumPy's, not an error.
    """
    if np.result_type(b).kind in "iu":
        power = np.power if type(a) is float and a == 0 else operator.pow
        return power(a, exponent_below(b))
    return np.where((a == 0) & (b == 0), 1, a) ** (b - 1)


def exponent_below(b):
    """The exponent of the derivative of `a ** b` to `a`, for a whole number `b`.

    There is no `0 ** -1` for `b` 0. A number is of the same kind as `b`.
    """
    if np.ndim(b) == 0:
        return b - (1 if b else 0)
    return np.where(b == 0, 1, b - 1)


def log_of_base(a, b):
    """The logarithm in the derivative of `a ** b` to `b`; 0 for a base of 0."""
    if np.iscomplexobj(b) and not np.iscomplexobj(a):
        return np.log(np.where(a == 0, 1, a) + 0j)
    logarithm = np.log(np.where(a == 0, 1, a))
    return float(logarithm) if type(a) in (int, float) else logarithm


def root_below_one(x):
    """`np.sqrt(1 - x**2)`, of the sign that `np.cos(np.arcsin(x))` has.

    Of `1.7 + 0j` the difference loses on which side of the cut that is.
    """
    return np.cos(np.arcsin(x)) if np.iscomplexobj(x) else np.sqrt(1 - x**2)


def clip_adjoint(d, x, lo, hi):
    """The adjoint of `x` clipped: `d` between the bounds, half of it at a bound."""
    if lo is None and hi is None:
        return d
    if hi is None:
        return d * (x > lo) + d * (x == lo) / 2
    if lo is None:
        return d * (x < hi) + d * (x == hi) / 2
    return d * (x > lo) * (x < hi) + d * ((x == lo) | (x == hi)) / 2


def clip_adjoint_low(d, x, lo, hi):
    """The adjoint of the lower bound: half where it meets `x`, or the upper bound."""
    if hi is None:
        return d * (x < lo) + d * (x == lo) / 2
    meets = (x == lo) & (lo < hi) | (x < lo) & (lo == hi)
    return d * ((x < lo) & (lo < hi)) + d * meets / 2


def clip_adjoint_high(d, x, lo, hi):
    """The adjoint of the upper bound: half where it meets what it bounds."""
    if lo is None:
        return d * (x > hi) + d * (x == hi) / 2
    above = np.maximum(x, lo)
    return d * (above > hi) + d * (above == hi) / 2


def in_dtype_of(d, x):
    """The adjoint `d` of a converted `x` in the dtype of `x` itself."""
    if isinstance(x, (list, tuple, dict)):
        # Items of an array are views of it, which change when it is written to.
        return unarray(d, x) if isinstance(d, np.ndarray) else d
    if np.iscomplexobj(d) and not np.iscomplexobj(x):
        d = np.real(d)  # of real factors of complex products
    shape = np.shape(x)
    if np.shape(d) != shape:  # the same along an axis, or one item
        one = np.size(d) == np.size(x) == 1
        if not one and (not np.ndim(d) or np.ndim(d) > len(shape)):
            raise ValueError(f"an adjoint of shape {np.shape(d)} for shape {shape}")
        d = np.reshape(d, shape) if one else np.broadcast_to(d, shape).copy()
    if not hasattr(x, "dtype"):
        return d + 0j if np.iscomplexobj(x) else d
    return d.astype(x.dtype) if hasattr(d, "dtype") else np.asarray(d, x.dtype)[()]


def each_in_dtype_of(d, x):
    """A batch of adjoints of `x`, in the dtype of `x`."""
    return in_dtype_of(d, np.broadcast_to(x, (len(d), *np.shape(x))))


def undo_dtype(d, dtype, x):
    """The adjoint of `x` of an operation that computes in the given `dtype`.

    Where it is smaller than `x`, it is meant to broadcast.
    """
    return d if dtype is None else in_dtype_of(unreduce(d, None, False, x), x)


def undo_dtypes(parts, dtype, arrays):
    """The adjoints of arrays that were joined in the given `dtype`."""
    if dtype is None:
        return parts
    return [in_dtype_of(d, x) for d, x in zip(parts, arrays, strict=True)]


def unreduce_extreme(d, y, axis, keepdims, x):
    """The adjoint of the maximum or minimum `y` of `x`: ties share it evenly."""
    return share_of_ties(d, x == unreduce(y, axis, keepdims, x), axis, keepdims, x)


def share_of_ties(d, chosen, axis, keepdims, x):
    """The adjoint of what is the mean of the `chosen` elements of `x`."""
    ties = np.sum(chosen, axis=axis, keepdims=True, dtype=np.result_type(x))
    return unreduce(d, axis, keepdims, x) * chosen / ties


def count_numbers(x, axis):
    """How many elements of `x` along `axis` are not NaN (at least 1), in its dtype."""
    there = ~np.isnan(x)
    count = np.sum(there, axis=axis, keepdims=True, dtype=np.result_type(x))
    return np.maximum(count, 1)


def prod_of_others(x, axis):
    """For each element the product of the others along `axis`; zeros are allowed."""
    if np.ndim(x) == 0:
        return 1
    x = np.atleast_1d(x)
    if x.size == 0:
        return x
    axes = tuple(range(x.ndim)) if axis is None else axis
    axes = axes if isinstance(axes, tuple) else (axes,)
    front = tuple(range(len(axes)))
    moved = np.moveaxis(x, axes, front)
    flat = moved.reshape((-1, *moved.shape[len(axes) :]))
    one = np.ones_like(flat[:1])
    before = np.cumprod(np.concatenate([one, flat[:-1]]), axis=0)
    after = np.cumprod(np.concatenate([one, flat[:0:-1]]), axis=0)[::-1]
    return np.moveaxis((before * after).reshape(moved.shape), front, axes)


def cumsum_adjoint(d, axis, x):
    """The adjoint of `np.cumsum(x, axis)`: sums that run from the end."""
    if axis is None or np.ndim(x) < 2:
        return np.reshape(np.cumsum(d[::-1])[::-1], np.shape(x))
    return np.flip(np.cumsum(np.flip(d, axis), axis), axis)


def cumprod_adjoint(d, axis, x):
    """The adjoint of `np.cumprod(x, axis)`; zeros are allowed."""
    flat = np.ravel(x) if axis is None or np.ndim(x) == 0 else np.moveaxis(x, axis, 0)
    d = d if axis is None or np.ndim(x) == 0 else np.moveaxis(d, axis, 0)
    if np.size(x) == 0:
        return np.zeros_like(x)
    before = np.cumprod(np.concatenate([np.ones_like(flat[:1]), flat[:-1]]), axis=0)
    last = len(flat) - 1
    after = np.reshape(d, flat.shape)[last]
    parts = [before[last] * after]
    for k in range(last - 1, -1, -1):
        after = d[k] + flat[k + 1] * after
        parts.append(before[k] * after)
    dx = np.stack(parts[::-1])
    if axis is None or np.ndim(x) == 0:
        return dx.reshape(np.shape(x))
    return np.moveaxis(dx, 0, axis)


def average_adjoint(d, weights, axis, x):
    """The adjoint of `x` in a weighted mean, from `d` spread over `x`."""
    if weights is None:
        return d / size_along(x, axis)
    weights = weights_over(weights, axis, x)
    return d * weights / sum_keeping(weights, axis)


def average_weights_adjoint(d, y, weights, axis, x):
    """The adjoint of the weights of a mean, from `d` and `y` spread over `x`."""
    spread = weights_over(weights, axis, x)
    dw = d * (x - y) / sum_keeping(spread, axis)
    if np.shape(weights) == np.shape(x):
        return dw
    axes = axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(i % np.ndim(x) for i in axes)
    dw = dw.sum(axis=tuple(i for i in range(np.ndim(x)) if i not in axes))
    return np.transpose(dw, np.argsort(np.argsort(axes)))


def fractions(num, endpoint):
    """The positions from 0 to 1 of the points of `np.linspace`."""
    if endpoint:
        return np.linspace(0, 1, num)
    return np.linspace(0, 1, num, endpoint=False)


def linspace_adjoint(d, weights, axis, x):
    """The adjoint of an end `x` of `np.linspace`: `d` weighted along the points."""
    weights = weights.astype(d.dtype)
    if np.ndim(d) == 1:
        return unbroadcast(np.dot(weights, d), x)
    return unbroadcast(np.tensordot(weights, np.moveaxis(d, axis, 0), 1), x)


def no_derivative(d):
    """Stands where a derivative is not known: zero where `d` is, else it raises."""
    if np.any(d):
        raise NotImplementedError(
            "the derivative to this argument is not known (for example the order of a "
            "Bessel function); if it does not matter, wrap the argument in "
            "srcjax.stop_gradient, else give the function a rule of your own"
        )
    return 0.0 * d


def sum_keeping(v, axis):
    """The sum along `axis` in a shape that broadcasts to that of `v`."""
    return np.sum(v, axis=axis, keepdims=True)


def logsumexp_adjoint(d, y, a, axis, b, keepdims):
    """The adjoint of `a` in `y = logsumexp(a, axis, b, keepdims)`."""
    v = a if b is None else a * b
    share = np.exp(a - unreduce(y, axis, keepdims, v))
    d = unreduce(d, axis, keepdims, v) * share
    return d if b is None else unbroadcast(d * b, a)


def logsumexp_tangent(d, y, a, axis, b, keepdims):
    """The term of `a`, of tangent `d`, in that of `y = logsumexp(a, axis, b)`."""
    v = a if b is None else a * b
    share = np.exp(a - unreduce(y, axis, keepdims, v))
    share = share if b is None else share * b
    return np.sum(d * share, axis=axis, keepdims=keepdims)
