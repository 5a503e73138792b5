"""Covariance, order statistics and statistics without NaN, as plain NumPy.

Of equal values, the derivative of a median or quantile belongs to the ones that `sort`
puts at its place, as in JAX. With respect to `q`, the derivative is the slope between
the two values around; on a value it is 0, as in JAX.
"""

from __future__ import annotations

import numpy as np

from srcjax.ops.composites.reductions import in_dtype
from srcjax.ops.record import composite

# -- covariance ---------------------------------------------------------------------


@composite(np.cov)
def cov(
    m,
    y=None,
    rowvar=True,
    bias=False,
    ddof=None,
    fweights=None,
    aweights=None,
    *,
    dtype=None,
):
    """Rows are variables; weights count how often (f) or how much (a)."""
    x = np.atleast_2d(m)
    if not rowvar and np.ndim(m) != 1:
        x = x.T
    if y is not None:
        other = np.atleast_2d(y)
        if not rowvar and np.ndim(y) != 1:
            other = other.T
        x = np.concatenate((x, other))
    if dtype is not None:
        x = np.asarray(x, dtype=dtype)
    elif x.dtype.char in "ef":  # NumPy computes in double precision
        x = x.astype(float)
    elif x.dtype.char == "F":
        x = x.astype(complex)
    if ddof is None:
        ddof = 0 if bias else 1
    if fweights is None and aweights is None:
        deviations = x - np.mean(x, axis=1, keepdims=True)
        return np.squeeze(deviations @ np.conj(deviations.T) / (x.shape[1] - ddof))
    weights = np.ones(x.shape[1])
    if fweights is not None:
        weights = weights * np.asarray(fweights)
    if aweights is not None:
        aweights = np.asarray(aweights)
        weights = weights * aweights
    total = np.sum(weights)
    count = total - ddof
    if aweights is not None and ddof != 0:
        count = total - ddof * np.sum(weights * aweights) / total
    deviations = x - np.sum(x * weights, axis=1, keepdims=True) / total
    return np.squeeze((deviations * weights) @ np.conj(deviations.T) / count)


@composite(np.corrcoef)
def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """The covariance over the standard deviations of both variables."""
    c = np.cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviation = np.sqrt(np.real(np.diagonal(c)))
    return c / deviation[:, None] / deviation


# -- order statistics ---------------------------------------------------------------

#: Options of quantiles that are refused; `interpolation` is called `method` now.
_UNSERVED = ("out", "weights", "interpolation")

#: alpha and beta of the continuous definitions (Hyndman and Fan, 1996).
PLOTTING = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "linear": (1, 1),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}


def axes_first(a, axis):
    """The axes that are reduced as one axis, the first."""
    if axis is None:
        return np.ravel(a)
    if isinstance(axis, tuple):
        moved = np.moveaxis(a, axis, range(len(axis)))
        return np.reshape(moved, (-1, *moved.shape[len(axis) :]))
    return np.moveaxis(a, axis, 0)


def axes_kept(value, a, axis, leading):
    """`value` with axes of length 1 where `a` was reduced, after `leading` others."""
    axes = range(np.ndim(a)) if axis is None else np.ravel(axis)
    places = tuple(leading + int(i) % np.ndim(a) for i in axes)
    return np.expand_dims(value, places)


def place_of_quantile(q, n, method):
    """Where among `n` sorted values the quantile is, as a real number."""
    if method == "linear":
        return q * (n - 1)
    if method in ("lower", "higher", "nearest", "midpoint"):
        place = q * (n - 1)
        low, high = np.floor(place), np.ceil(place)
        if method == "lower":
            return low
        if method == "higher":
            return high
        return np.round(place) if method == "nearest" else (low + high) / 2
    if method == "inverted_cdf":
        return np.clip(np.ceil(n * q - 1), 0, n - 1)
    if method == "averaged_inverted_cdf":
        place = n * q - 1
        low = np.floor(place)
        half = np.where(place == low, low + 0.5, low + 1)
        return np.clip(half, 0, n - 1)
    if method == "closest_observation":
        return np.clip(np.round(n * q) - 1, 0, n - 1)
    alpha, beta = PLOTTING[method]
    return np.clip(n * q + alpha + q * (1 - alpha - beta) - 1, 0, n - 1)


def around(place, q, x):
    """The places below and above, and how far between them; in float32 for float32."""
    below = np.floor(place).astype(int)
    above = np.ceil(place).astype(int)
    part = place - below
    if isinstance(q, (int, float)) and x.dtype.kind == "f":
        part = part.astype(x.dtype)
    return below, above, part


def hundredth(q):
    """The share that a percentage stands for."""
    return q / 100 if isinstance(q, (int, float)) else np.true_divide(q, 100)


@composite(np.median, refuses=["out"])
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle value, or the mean of the two in the middle."""
    x = np.sort(axes_first(a, axis), axis=0)
    n = len(x)
    middle = (x[(n - 1) // 2] + x[n // 2]) / 2
    result = np.where(np.isnan(x[-1]), np.nan, middle)[()]
    return axes_kept(result, a, axis, 0) if keepdims else result


@composite(np.quantile, refuses=_UNSERVED)
def quantile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
    interpolation=None,
):
    """Between the two sorted values around the place of the quantile."""
    x = np.sort(axes_first(a, axis), axis=0)
    place = place_of_quantile(np.asarray(q), len(x), method)
    below, above, part = around(place, q, x)
    part = np.reshape(part, np.shape(q) + (1,) * (x.ndim - 1))
    lower, upper = np.take(x, below, axis=0), np.take(x, above, axis=0)
    result = np.where(np.isnan(x[-1]), np.nan, lower + (upper - lower) * part)[()]
    return axes_kept(result, a, axis, np.ndim(q)) if keepdims else result


@composite(np.percentile, refuses=_UNSERVED)
def percentile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
    interpolation=None,
):
    """The quantile of a hundredth of `q`."""
    return np.quantile(a, hundredth(q), axis, method=method, keepdims=keepdims)


# -- without NaN --------------------------------------------------------------------


@composite(np.nanprod, refuses=["out"])
def nanprod(
    a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None
):
    """NaN counts as 1."""
    numbers = np.where(np.isnan(a), 1, a)
    if dtype is None and initial is None and where is None:
        return np.prod(numbers, axis=axis, keepdims=keepdims)
    kept = True if where is None else where
    first = 1 if initial is None else initial
    return np.prod(numbers, axis, dtype, None, keepdims, first, kept)


@composite(np.nancumsum)
def nancumsum(a, axis=None, dtype=None):
    """NaN counts as 0."""
    numbers = np.where(np.isnan(a), 0, a)
    if dtype is None:
        return np.cumsum(numbers, axis=axis)
    return np.cumsum(numbers, axis, dtype)


@composite(np.nancumprod)
def nancumprod(a, axis=None, dtype=None):
    """NaN counts as 1."""
    numbers = np.where(np.isnan(a), 1, a)
    if dtype is None:
        return np.cumprod(numbers, axis=axis)
    return np.cumprod(numbers, axis, dtype)


@composite(np.nanvar, refuses=["out"])
def nanvar(
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
    """The mean square of the deviations, of what is a number."""
    a = in_dtype(a, dtype)
    if correction is not None:
        ddof = correction
    kept = ~np.isnan(a)
    if where is not None:
        kept = kept & where
    if mean is None:
        count = np.sum(kept, axis=axis, keepdims=True)
        total = np.sum(np.where(kept, a, 0), axis=axis, keepdims=True)
        mean = (total / count).astype(total.dtype)
    deviation = np.where(kept, a - in_dtype(mean, dtype), 0)
    square = np.real(deviation * np.conj(deviation))
    count = np.sum(kept, axis=axis, keepdims=keepdims)
    total = np.sum(square, axis=axis, keepdims=keepdims)
    return (total / (count - ddof)).astype(total.dtype)


@composite(np.nanstd, refuses=["out"])
def nanstd(
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
    """The square root of the variance, of what is a number."""
    kept = True if where is None else where
    if correction is not None:
        ddof = correction
    return np.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, where=kept, mean=mean))


@composite(np.nanmedian, refuses=["out"])
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle value of those that are numbers."""
    x = np.sort(axes_first(a, axis), axis=0)  # NaN last
    n = np.sum(~np.isnan(x), axis=0, keepdims=True)
    first = np.take_along_axis(x, np.maximum(n - 1, 0) // 2, axis=0)
    second = np.take_along_axis(x, n // 2 - (n == len(x)) * (n == 0), axis=0)
    result = ((first + second) / 2)[0]
    return axes_kept(result, a, axis, 0) if keepdims else result


@composite(np.nanquantile, refuses=_UNSERVED)
def nanquantile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
    interpolation=None,
):
    """The quantile of those that are numbers."""
    if np.ndim(q) > 1 and not (axis is None or np.ndim(axis) == 0 and axis >= 0):
        raise NotImplementedError("`q` of two dimensions, which NumPy lays out anew")
    x = np.sort(axes_first(a, axis), axis=0)  # NaN last
    rows = np.reshape(q, (-1,) + (1,) * (x.ndim - 1))
    n = np.maximum(np.sum(~np.isnan(x), axis=0), 1)
    below, above, part = around(place_of_quantile(rows, n, method), q, x)
    lower = np.take_along_axis(x, below, axis=0)
    upper = np.take_along_axis(x, above, axis=0)
    result = lower + (upper - lower) * part
    result = np.reshape(result, np.shape(q) + x.shape[1:])[()]
    return axes_kept(result, a, axis, np.ndim(q)) if keepdims else result


@composite(np.nanpercentile, refuses=_UNSERVED)
def nanpercentile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
    interpolation=None,
):
    """The quantile of a hundredth of `q`, of those that are numbers."""
    return np.nanquantile(a, hundredth(q), axis, method=method, keepdims=keepdims)
