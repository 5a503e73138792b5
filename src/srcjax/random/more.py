"""Further continuous draws, each a function of those of the other modules."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from srcjax.random.arguments import (
    Shape,
    as_keys,
    as_shape,
    float_dtype,
    prepared,
    value,
)
from srcjax.random.continuous import exponential
from srcjax.random.gammas import gamma, loggamma
from srcjax.random.keys import split
from srcjax.random.normals import normal
from srcjax.random.uniforms import uniform
from srcjax.random.whole import rademacher


def chisquare(
    key: ArrayLike,
    df: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Sums of `df` squares of normal numbers.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        df: positive numbers that broadcast to the result.
        shape: the shape of the draw; None: that of `df`.
        dtype: float32 (default) or float64.

    Returns:
        An array of the shape.
    """
    keys, own, real, freedom = prepared("chisquare", key, shape, dtype, df)
    return value(np.exp(loggamma(keys, freedom / 2, own, real)) * real.type(2))


def f(
    key: ArrayLike,
    dfnum: ArrayLike,
    dfden: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Quotients of two `chisquare` numbers, each divided by its degrees of freedom.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        dfnum: those of the numerator, which broadcast to the result.
        dfden: those of the denominator.
        shape: the shape of the draw; None: that of both.
        dtype: float32 (default) or float64.

    Returns:
        An array of the shape.
    """
    keys, own, real, over, under = prepared("f", key, shape, dtype, dfnum, dfden)
    pair = split(keys)
    top = chisquare(pair[..., 1, :], over, own, real) / over
    return value(top / (chisquare(pair[..., 0, :], under, own, real) / under))


def pareto(
    key: ArrayLike,
    b: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Pareto numbers, of density b / x**(b + 1) for x >= 1.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        b: positive numbers that broadcast to the result.
        shape: the shape of the draw; None: that of `b`.
        dtype: float32 (default) or float64.

    Returns:
        An array of the shape.
    """
    keys, own, real, power = prepared("pareto", key, shape, dtype, b)
    return np.exp(exponential(keys, own, real) / power)


def rayleigh(
    key: ArrayLike,
    scale: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Lengths of vectors of two normal numbers, times `scale`.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        scale: positive numbers that broadcast to the result.
        shape: the shape of the draw; None: that of `scale`.
        dtype: float32 (default) or float64.

    Returns:
        An array of the shape.
    """
    keys, own, real, factor = prepared("rayleigh", key, shape, dtype, scale)
    with np.errstate(divide="ignore"):
        return factor * np.sqrt(np.log(uniform(keys, own, real)) * real.type(-2))


def wald(
    key: ArrayLike,
    mean: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Wald (inverse Gaussian) numbers of scale 1.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        mean: positive numbers that broadcast to the result.
        shape: the shape of the draw; None: that of `mean`.
        dtype: float32 (default) or float64.

    Returns:
        An array of the shape.
    """
    keys, own, real, m = prepared("wald", key, shape, dtype, mean)
    pair = split(keys)
    v, z = normal(pair[..., 0, :], own, real), uniform(pair[..., 1, :], own, real)
    y = v * v
    x = m + m * m * y / 2 - m / 2 * np.sqrt(4 * m * y + m * m * (y * y))
    return np.where(z <= m / (m + x), x, m * m / x)[()]


def triangular(
    key: ArrayLike,
    left: ArrayLike,
    mode: ArrayLike,
    right: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Numbers between `left` and `right`, whose density rises to `mode` and falls.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        left: the lower bounds, which broadcast to the result.
        mode: where the density is highest.
        right: the upper bounds.
        shape: the shape of the draw; None: that of the three.
        dtype: float32 (default) or float64.

    Returns:
        An array of the shape.
    """
    keys, own, real, low, top, high = prepared(
        "triangular", key, shape, dtype, left, mode, right
    )
    u, width = uniform(keys, own, real), high - low
    rising = low + np.sqrt(u * width * (top - low))
    falling = high - np.sqrt((1 - u) * width * (high - top))
    return np.where(u < (top - low) / width, rising, falling)[()]


def lognormal(
    key: ArrayLike,
    sigma: ArrayLike = 1.0,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Numbers whose logarithm is normal, of deviation `sigma`.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        sigma: numbers that broadcast to the result.
        shape: the shape of the draw; None: that of `sigma`.
        dtype: float32 (default) or float64.

    Returns:
        An array of the shape.
    """
    keys, own, real, deviation = prepared("lognormal", key, shape, dtype, sigma)
    return np.exp(normal(keys, own, real) * deviation)


def maxwell(
    key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None
) -> np.ndarray:
    """Lengths of vectors of three normal numbers.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        shape: the shape of the draw.
        dtype: float32 (default) or float64.

    Returns:
        An array of the shape.
    """
    z = normal(key, (*as_shape("maxwell", shape), 3), float_dtype("maxwell", dtype))
    return value(np.sqrt((z * z).sum(axis=-1)))


def double_sided_maxwell(
    key: ArrayLike,
    loc: ArrayLike,
    scale: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """`maxwell` numbers of either sign, times `scale`, plus `loc`.

    Args:
        key: uint32, shape (2,).
        loc: where they are.
        scale: how wide they are spread; it broadcasts with `loc`.
        shape: what the shape of the parameters is put behind; (): that itself.
        dtype: float32 (default) or float64.

    Returns:
        An array of shape (*shape, *parameters); of (*parameters, *parameters) without
        `shape`, as in JAX.
    """
    keys = as_keys("double_sided_maxwell", key)
    real = float_dtype("double_sided_maxwell", dtype)
    sizes = np.broadcast_shapes(np.shape(loc), np.shape(scale))
    full = (*(as_shape("double_sided_maxwell", shape) or sizes), *sizes)
    first, second = split(keys)
    size = maxwell(first, full, real) * rademacher(second, full, real)
    place, width = np.asarray(loc).astype(real), np.asarray(scale).astype(real)
    return value(size * width + place)


def weibull_min(
    key: ArrayLike,
    scale: ArrayLike,
    concentration: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Weibull numbers: powers of exponential ones, times `scale`.

    Args:
        key: uint32, shape (2,).
        scale: positive numbers.
        concentration: positive numbers; the power is one over them.
        shape: the shape of what is drawn; the result is that of all three together.
        dtype: float32 (default) or float64.

    Returns:
        An array to whose shape `shape` and the parameters broadcast.
    """
    real = float_dtype("weibull_min", dtype)
    u = uniform(key, shape, real)
    power = real.type(1) / np.asarray(concentration).astype(real)
    return value((-np.log1p(-u)) ** power * np.asarray(scale).astype(real))


def generalized_normal(
    key: ArrayLike, p: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None
) -> np.ndarray:
    """Numbers of density proportional to exp(-|x|**p).

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        p: a positive number.
        shape: the shape of the draw.
        dtype: float32 (default) or float64.

    Returns:
        An array of the shape.
    """
    keys, own, real, power = prepared("generalized_normal", key, shape, dtype, p)
    pair, inverse = split(keys), real.type(1) / power
    size = gamma(pair[..., 0, :], inverse, own, real) ** inverse
    return value(rademacher(pair[..., 1, :], own, real) * size)


def ball(
    key: ArrayLike,
    d: int,
    p: ArrayLike = 2.0,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Points evenly spread over the ball of radius 1 of the p-norm.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        d: how many dimensions there are.
        p: which norm, a positive number.
        shape: the shape of the draw without its last axis.
        dtype: float32 (default) or float64.

    Returns:
        An array of shape (*shape, d). F. Barthe and others, "A probabilistic approach
        to the geometry of the l_p^n-ball" (2005), says how.
    """
    keys, own, real, power = prepared("ball", key, shape, dtype, p)
    pair = split(keys)
    g = generalized_normal(pair[..., 0, :], power, (*own, d), real)
    size = (np.abs(g) ** power).sum(axis=-1) + exponential(pair[..., 1, :], own, real)
    return g / np.asarray(size ** (real.type(1) / power))[..., None]
