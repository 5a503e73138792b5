"""Draws of normal numbers: plain, between bounds, and of several that go together."""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from srcjax.random import widths
from srcjax.random.arguments import (
    FLOAT,
    Shape,
    as_dtype,
    as_keys,
    float_dtype,
    full_shape,
    real_dtype,
    value,
)
from srcjax.random.error_function import erf, erf_inv_in_place
from srcjax.random.keys import split
from srcjax.random.uniforms import between, draw, to_unit, unit


def normal(
    key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None
) -> np.ndarray:
    """Normal numbers, of mean 0 and variance 1.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        shape: the shape of the draw.
        dtype: float16, float32 (default), float64, complex64 or complex128. Complex
            ones have parts of variance 1/2.

    Returns:
        An array of the shape; with a batch of keys, its axes come first.
    """
    keys = as_keys("normal", key)
    dtype = as_dtype("normal", dtype, FLOAT, "fc")
    full = full_shape("normal", keys, shape)
    if dtype.kind == "c":
        pair = split(keys)
        part = np.finfo(dtype).dtype
        real, imag = (_normal(pair[..., k, :], full, part) for k in (0, 1))
        return value((real + dtype.type(1j) * imag) / np.sqrt(dtype.type(2)))
    return value(_normal(keys, full, float_dtype("normal", dtype)))


def _normal(keys: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """By inversion of the distribution, of numbers between -1 and 1."""
    return np.asarray(draw(keys, shape, dtype, functools.partial(_to_normal, dtype)))


def _to_normal(
    dtype: np.dtype, out: np.ndarray, first: np.ndarray, second: np.ndarray
) -> None:
    to_unit(dtype, out, first, second)
    # The distance to 1 is that of the last float before -1 too, rounded: 2.
    low = np.nextafter(dtype.type(-1), dtype.type(0))
    out *= dtype.type(2)
    out += low
    np.maximum(low, out, out=out)
    erf_inv_in_place(out)
    out *= dtype.type(math.sqrt(2))


def truncated_normal(
    key: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Normal numbers of which only those between two bounds are taken.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        lower: the bounds of mean 0 and variance 1, which broadcast to the result.
        upper: the others.
        shape: the shape of the draw; None: that of the bounds.
        dtype: float16, float32 (default) or float64.

    Returns:
        An array of the shape. It has derivatives with respect to the bounds.
    """
    keys = as_keys("truncated_normal", key)
    dtype = float_dtype("truncated_normal", dtype)
    low, high = np.asarray(lower).astype(dtype), np.asarray(upper).astype(dtype)
    full = full_shape("truncated_normal", keys, shape, low.shape, high.shape)
    root = dtype.type(math.sqrt(2))
    x = between(unit(keys, full, dtype), erf(low / root), erf(high / root))
    erf_inv_in_place(x)
    x *= root
    first = np.nextafter(low, dtype.type(np.inf))
    last = np.nextafter(high, dtype.type(-np.inf))
    return value(np.clip(x, first, last))


def multivariate_normal(
    key: ArrayLike,
    mean: ArrayLike,
    cov: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    method: str = "cholesky",
) -> np.ndarray:
    """Vectors of normal numbers with a mean and a covariance.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        mean: shape (..., n).
        cov: the covariance, (..., n, n), positive definite; its symmetric part counts.
        shape: the shape of the draw without its last axis; None: that to which the
            leading axes of `mean` and `cov` broadcast.
        dtype: float32 (default) or float64; what is computed has the same. With
            `enable_x64` that of `mean` and `cov` is the default.
        method: which factor of the covariance is taken: "cholesky", or "eigh" or
            "svd", which serve singular ones too. The last two are not unique, so that
            the numbers may be other ones than JAX's.

    Returns:
        An array of shape (*shape, n): `mean + factor @ z` for normal numbers `z`. It
        has derivatives with respect to `mean` and `cov`.
    """
    keys = as_keys("multivariate_normal", key)
    if dtype is None and widths.WIDE:
        dtype = np.result_type(*map(real_dtype, (mean, cov)))
    dtype = float_dtype("multivariate_normal", dtype)
    if method not in ("cholesky", "eigh", "svd"):
        raise ValueError(
            f"multivariate_normal: method must be 'cholesky', 'eigh' or 'svd', "
            f"not {method!r}"
        )
    mean, cov = np.asarray(mean).astype(dtype), np.asarray(cov).astype(dtype)
    if mean.ndim < 1 or cov.shape[-2:] != (mean.shape[-1],) * 2:
        raise ValueError(
            f"multivariate_normal: mean has shape (..., n) and cov (..., n, n), not "
            f"{mean.shape} and {cov.shape}"
        )
    leading = mean.shape[:-1], cov.shape[:-2]
    full = full_shape("multivariate_normal", keys, shape, *leading)
    if method == "svd":
        u, s, _ = np.linalg.svd(cov)
        factor = u * np.sqrt(s[..., None, :])
    elif method == "eigh":
        w, v = np.linalg.eigh(cov)
        factor = v * np.sqrt(w[..., None, :])
    else:
        factor = np.linalg.cholesky((cov + np.swapaxes(cov, -1, -2)) / 2)
    z = _normal(keys, (*full, mean.shape[-1]), dtype)
    return mean + np.matvec(factor, z)


def orthogonal(
    key: ArrayLike,
    n: int,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    m: int | None = None,
) -> np.ndarray:
    """Orthogonal matrices, each as likely as any other (unitary ones if complex).

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        n: how many rows.
        shape: the shape of the draw without its last two axes.
        dtype: float32 (default), float64, complex64 or complex128.
        m: how many columns, n without it. Of unequal numbers, the rows or the columns
            are orthonormal, whichever are fewer.

    Returns:
        An array of shape (*shape, n, m). F. Mezzadri, "How to generate random matrices
        from the classical compact groups" (2007), says how.
    """
    columns = n if m is None else m
    z = normal(key, (*shape, max(n, columns), min(n, columns)), dtype)
    q, r = np.linalg.qr(z)
    x = q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[..., None, :]
    return np.swapaxes(x, -1, -2) if n < columns else x
