"""Draws of real numbers that are a function of an even one: by inversion."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from srcjax.random.arguments import Shape, as_keys, float_dtype, full_shape, value
from srcjax.random.uniforms import between, unit


def _draw(
    name: str, key: ArrayLike, shape: Any, dtype: np.dtype, low: float, high: float
) -> np.ndarray:
    """Even numbers from `low` on, below `high`."""
    keys = as_keys(name, key)
    ends = np.asarray(low, dtype), np.asarray(high, dtype)
    return between(unit(keys, full_shape(name, keys, shape), dtype), *ends)


def exponential(
    key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None
) -> np.ndarray:
    """Exponential numbers, of mean 1: their density is exp(-x) for x >= 0.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        shape: the shape of the draw.
        dtype: float16, float32 (default) or float64.

    Returns:
        An array of the shape; with a batch of keys, its axes come first.
    """
    dtype = float_dtype("exponential", dtype)
    u = _draw("exponential", key, shape, dtype, 0, 1)
    return value(-np.log1p(-u))


def gumbel(
    key: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    mode: str | None = None,
) -> np.ndarray:
    """Gumbel numbers, of density exp(-x - exp(-x)).

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        shape: the shape of the draw.
        dtype: float16, float32 (default) or float64.
        mode: "low" (default), or "high", with twice as many random bits: float32
            numbers end at 32 then, not at 16.

    Returns:
        An array of the shape; with a batch of keys, its axes come first.
    """
    dtype = float_dtype("gumbel", dtype)
    tiny = np.finfo(dtype).tiny
    if mode in (None, "low"):
        u = _draw("gumbel", key, shape, dtype, tiny, 1)
        return value(-np.log(-np.log(u)))
    if mode != "high":
        raise ValueError(f"gumbel: mode must be 'low' or 'high', not {mode!r}")
    keys = as_keys("gumbel", key)
    full, batch = full_shape("gumbel", keys, shape), keys.ndim - 1
    pair = unit(keys, (*full[:batch], 2, *full[batch:]), dtype)
    coarse, fine = np.moveaxis(pair, batch, 0)
    more = dtype.type(2.0 ** -np.finfo(dtype).nmant) * fine + tiny
    u = np.where(coarse >= 0.5, coarse, coarse + more)
    return value(-np.log(-np.log1p(-u)))


def laplace(
    key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None
) -> np.ndarray:
    """Laplace numbers, of density exp(-|x|) / 2.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        shape: the shape of the draw.
        dtype: float16, float32 (default) or float64.

    Returns:
        An array of the shape; with a batch of keys, its axes come first.
    """
    dtype = float_dtype("laplace", dtype)
    u = _draw("laplace", key, shape, dtype, -1.0 + np.finfo(dtype).epsneg, 1)
    return value(np.sign(u) * np.log1p(-np.abs(u)))


def logistic(
    key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None
) -> np.ndarray:
    """Logistic numbers, of density exp(-x) / (1 + exp(-x))**2.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        shape: the shape of the draw.
        dtype: float16, float32 (default) or float64.

    Returns:
        An array of the shape; with a batch of keys, its axes come first.
    """
    dtype = float_dtype("logistic", dtype)
    u = _draw("logistic", key, shape, dtype, np.finfo(dtype).tiny, 1)
    return value(np.log(u) - np.log1p(-u))


def cauchy(
    key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None
) -> np.ndarray:
    """Cauchy numbers, of density 1 / (pi * (1 + x**2)).

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        shape: the shape of the draw.
        dtype: float16, float32 (default) or float64.

    Returns:
        An array of the shape; with a batch of keys, its axes come first.
    """
    dtype = float_dtype("cauchy", dtype)
    u = _draw("cauchy", key, shape, dtype, np.finfo(dtype).eps, 1)
    return value(np.tan(dtype.type(np.pi) * (u - dtype.type(0.5))))
