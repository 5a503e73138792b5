"""Gamma numbers, and those that are made of them: beta, Dirichlet, Student's t."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from srcjax.random.arguments import (
    Shape,
    as_keys,
    float_dtype,
    full_shape,
    prepared,
    size_of,
    value,
)
from srcjax.random.keys import split
from srcjax.random.normals import normal
from srcjax.random.uniforms import unit


def gamma(
    key: ArrayLike,
    a: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Gamma numbers, of density x**(a - 1) * exp(-x) / Gamma(a) for x >= 0.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        a: positive numbers that broadcast to the result.
        shape: the shape of the draw; None: that of `a`.
        dtype: float32 (default) or float64.

    Returns:
        An array of the shape. It has a derivative with respect to `a`, which is
        implicit: that of the number which has the same probability of being larger
        (`gamma_derivative`). Its mean is the derivative of the mean; it is not the
        slope of this function for one key, which jumps where another try is accepted.
        Below a = 1 and near 0, `loggamma` tells more.
    """
    return value(_gamma("gamma", key, a, shape, dtype, log_space=False))


def loggamma(
    key: ArrayLike,
    a: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Logarithms of gamma numbers: of those of `gamma`, but for rounding.

    Args and result are those of `gamma`.
    """
    return value(_gamma("loggamma", key, a, shape, dtype, log_space=True))


def _gamma(
    name: str, key: ArrayLike, a: ArrayLike, shape: Any, dtype: Any, log_space: bool
) -> np.ndarray:
    """Each number has a key of its own, and is drawn until one is accepted."""
    keys = as_keys(name, key)
    dtype = float_dtype(name, dtype)
    alpha = np.asarray(a).astype(dtype)
    full = full_shape(name, keys, shape, alpha.shape)
    alpha = np.broadcast_to(alpha, full).reshape(-1)
    own = split(keys, size_of(full[keys.ndim - 1 :])).reshape(-1, 2)
    with np.errstate(all="ignore"):
        return _marsaglia_tsang(own, alpha, log_space).reshape(full)


def _marsaglia_tsang(
    keys: np.ndarray, alpha: np.ndarray, log_space: bool
) -> np.ndarray:
    """A gamma number for each key and each alpha, or its logarithm.

    G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables"
    (2000). Below 1 that of alpha + 1 is taken, times a power of an even number.
    """
    real = alpha.dtype.type
    one, third = real(1), real(1 / 3)
    large = alpha >= one
    d = np.where(large, alpha, alpha + one) - third
    c = third / np.sqrt(d)
    pair = split(keys)
    keys, boost_keys = pair[:, 0], pair[:, 1]
    cube = np.ones_like(alpha)
    # Those that are not decided yet: none of those without a probability (NaN).
    waiting = np.flatnonzero(d == d)
    keys = keys[waiting]
    while waiting.size:
        keys, x_keys, u_keys = np.moveaxis(split(keys, 3), 1, 0)
        x, v = _positive(x_keys, c[waiting])
        cube[waiting] = v = v * v * v
        u = unit(u_keys, waiting.shape, alpha.dtype)
        square, own = x * x, d[waiting]
        no = (u >= one - real(0.0331) * (square * square)) & (
            np.log(u) >= square * real(0.5) + own * ((one - v) + np.log(v))
        )
        waiting, keys = waiting[no], keys[no]
    u = unit(boost_keys, alpha.shape, alpha.dtype)
    if log_space:
        log_u = np.log1p(-u)
        boost = np.where(large | (log_u == 0), 0, log_u * (one / alpha))
        return np.asarray(np.log(d) + np.log(cube) + boost.astype(alpha.dtype))
    return d * cube * np.where(large, one, np.power(one - u, one / alpha))


def _positive(keys: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normal numbers x, drawn until 1 + c * x is positive, and that."""
    x, v = np.zeros_like(c), np.full_like(c, -1)
    waiting = np.arange(len(c))
    while waiting.size:
        pair = split(keys)
        keys = pair[:, 0]
        drawn = normal(pair[:, 1], (), c.dtype)
        x[waiting] = drawn
        v[waiting] = 1 + drawn * c[waiting]
        no = v[waiting] <= 0
        waiting, keys = waiting[no], keys[no]
    return x, v


# -- the derivative with respect to the parameter --------------------------------------


def gamma_derivative(a: ArrayLike, x: ArrayLike) -> np.ndarray:
    """How a gamma number x changes with its parameter: dx/da.

    The probability P(a, x) of being smaller stays the same: dx/da = -(dP/da) / (dP/dx).
    The derivative of P is that of its series, or of its continued fraction where x is
    larger than 1 and a, term by term (R. J. Moore, "Algorithm AS 187", 1982).

    Args:
        a: the parameter, positive.
        x: gamma numbers of it, which broadcast with `a`.

    Returns:
        An array of the dtype of `x`; computed in float64.
    """
    a, x = np.asarray(a), np.asarray(x)
    shape = np.broadcast_shapes(a.shape, x.shape)
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
    alpha = np.broadcast_to(a, shape).astype(np.float64).reshape(-1)
    sample = np.broadcast_to(x, shape).astype(np.float64).reshape(-1)
    found = np.full_like(sample, np.nan)
    known = (alpha > 0) & (sample > 0) & np.isfinite(alpha) & np.isfinite(sample)
    far = (sample > 1) & (sample > alpha)
    with np.errstate(all="ignore"):
        for here, derivative in (
            (known & ~far, _by_series),
            (known & far, _by_fraction),
        ):
            found[here] = derivative(alpha[here], sample[here])
    found[(alpha > 0) & (sample == 0)] = 0
    return value(found.reshape(shape).astype(dtype))


def loggamma_derivative(a: ArrayLike, log_x: ArrayLike) -> np.ndarray:
    """How the logarithm of a gamma number changes with its parameter.

    Args:
        a: the parameter, positive.
        log_x: logarithms of gamma numbers of it, which broadcast with `a`.

    Returns:
        An array of the dtype of `log_x`; computed in float64.
    """
    log_x = np.asarray(log_x)
    dtype = log_x.dtype if log_x.dtype.kind == "f" else np.dtype(np.float64)
    tiny = np.finfo(np.float64).tiny
    x = np.maximum(np.exp(log_x.astype(np.float64)), tiny)
    return value(np.asarray(gamma_derivative(a, x) / x).astype(dtype))


#: After so many terms a series is left as it is.
MOST_TERMS = 2000
EPSILON = np.finfo(np.float64).eps


def _by_series(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Of P = x**a exp(-x) / Gamma(a + 1) times a series.

    It is 1 + x / (a + 1) + x**2 / ((a + 1) (a + 2)) and so on.
    """
    n, term, total = a.copy(), np.ones_like(a), np.ones_like(a)
    term_dot, total_dot = np.zeros_like(a), np.zeros_like(a)
    for _ in range(MOST_TERMS):
        n += 1
        term_dot = term_dot * (x / n) - term * x / (n * n)
        term = term * (x / n)
        total_dot += term_dot
        total += term
        if (np.abs(term_dot) <= EPSILON * np.abs(total_dot)).all():
            break
    return -(total_dot + total * (np.log(x) - digamma(a + 1))) * x / a


def _by_fraction(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Of 1 - P = x**a exp(-x) / Gamma(a) times a continued fraction.

    It is 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))). The
    convergents p / q follow a recurrence of three terms, and so do their derivatives.
    """
    y, z = 1 - a, x + (1 - a) + 1
    one, zero = np.ones_like(x), np.zeros_like(x)
    p, q = [one, x + 1], [x, z * x]
    p_dot, q_dot = [zero, zero], [zero, -x]
    ratio = p[1] / q[1]
    ratio_dot = (p_dot[1] - ratio * q_dot[1]) / q[1]
    for n in range(1, MOST_TERMS):
        y, z = y + 1, z + 2
        yn = y * n
        # The derivative of z and of y is -1.
        p_next = p[1] * z - p[0] * yn
        q_next = q[1] * z - q[0] * yn
        p_next_dot = p_dot[1] * z - p[1] - p_dot[0] * yn + p[0] * n
        q_next_dot = q_dot[1] * z - q[1] - q_dot[0] * yn + q[0] * n
        before = ratio_dot
        ratio = p_next / q_next
        ratio_dot = (p_next_dot - ratio * q_next_dot) / q_next
        scale = np.where(np.abs(p_next) > 1 / EPSILON, EPSILON, 1.0)
        p, q = [p[1] * scale, p_next * scale], [q[1] * scale, q_next * scale]
        p_dot = [p_dot[1] * scale, p_next_dot * scale]
        q_dot = [q_dot[1] * scale, q_next_dot * scale]
        if (np.abs(ratio_dot - before) <= EPSILON * np.abs(ratio_dot)).all():
            break
    return (ratio_dot + ratio * (np.log(x) - digamma(a))) * x


#: B(2k) / (2k) for Bernoulli numbers B, which psi(x) = log(x) - 1 / (2 x) lacks, over
#: x**(2k).
BERNOULLI = (
    1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12,
)  # fmt: skip


def digamma(x: np.ndarray) -> np.ndarray:
    """The derivative of log(Gamma(x)), for positive float64 numbers.

    By its asymptotic series at x + 10.
    """
    found = np.zeros_like(x)
    for k in range(10):
        found -= 1 / (x + k)
    x = x + 10
    square, power = 1 / (x * x), np.ones_like(x)
    found += np.log(x) - 0.5 / x
    for c in BERNOULLI:
        power = power * square
        found -= c * power
    return found


# -- what is made of gamma numbers -----------------------------------------------------


def beta(
    key: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Beta numbers, of density x**(a - 1) * (1 - x)**(b - 1) between 0 and 1.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        a: positive numbers that broadcast to the result.
        b: the same.
        shape: the shape of the draw; None: that of `a` and `b`.
        dtype: float32 (default) or float64.

    Returns:
        An array of the shape. It has derivatives with respect to `a` and `b`.
    """
    keys, own, real, first, second = prepared("beta", key, shape, dtype, a, b)
    pair = split(keys)
    log_a = loggamma(pair[..., 0, :], first, own, real)
    log_b = loggamma(pair[..., 1, :], second, own, real)
    largest = np.maximum(log_a, log_b)
    share_a, share_b = np.exp(log_a - largest), np.exp(log_b - largest)
    return value(share_a / (share_a + share_b))


def dirichlet(
    key: ArrayLike,
    alpha: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Vectors of positive numbers that add up to 1, of the Dirichlet distribution.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        alpha: positive numbers, shape (..., n).
        shape: the shape of the draw without its last axis; None: the leading axes of
            `alpha`.
        dtype: float32 (default) or float64.

    Returns:
        An array of shape (*shape, n). It has a derivative with respect to `alpha`.
    """
    keys = as_keys("dirichlet", key)
    dtype = float_dtype("dirichlet", dtype)
    sizes = np.shape(alpha)
    if not sizes:
        raise ValueError("dirichlet: alpha has an axis, (..., n)")
    full = full_shape("dirichlet", keys, shape, sizes[:-1])
    x = loggamma(keys, alpha, (*full[keys.ndim - 1 :], sizes[-1]), dtype)
    share = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(share / share.sum(axis=-1, keepdims=True))


def t(
    key: ArrayLike,
    df: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Student's t numbers, of density proportional to (1 + x**2 / df)**(-(df + 1) / 2).

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        df: the degrees of freedom, positive numbers that broadcast to the result.
        shape: the shape of the draw; None: that of `df`.
        dtype: float32 (default) or float64.

    Returns:
        An array of the shape. It has a derivative with respect to `df`.
    """
    keys, own, real, freedom = prepared("t", key, shape, dtype, df)
    pair, half = split(keys), freedom / real.type(2)
    z = normal(pair[..., 0, :], own, real)
    g = gamma(pair[..., 1, :], half, own, real)
    with np.errstate(divide="ignore", over="ignore"):  # far out where df is small
        return value(z * np.sqrt(half / g))
