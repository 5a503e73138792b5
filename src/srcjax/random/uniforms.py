"""Random bits, and the real numbers between two others that are made of them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from srcjax.random.arguments import (
    UINT,
    Shape,
    as_dtype,
    as_keys,
    float_dtype,
    full_shape,
    size_of,
    value,
)
from srcjax.random.threefry import Finish, fill

#: The unsigned type as wide as a float type.
UNSIGNED = {2: np.uint16, 4: np.uint32, 8: np.uint64}


def draw(keys: np.ndarray, shape: tuple[int, ...], dtype: Any, finish: Finish) -> Any:
    """An array that is made of the hashes: `shape` begins with the batch of keys."""
    batch = size_of(keys.shape[:-1])
    out = np.empty(shape, dtype)
    if out.size:
        fill(out.reshape(batch, -1), keys.reshape(-1, 2), finish)
    return out


def combine(out: np.ndarray, first: np.ndarray, second: np.ndarray) -> None:
    """Of the two words of each hash, as many bits as an item has."""
    if out.itemsize == 8:
        np.left_shift(first, np.uint64(32), out=out, dtype=np.uint64)
        out |= second
    else:
        np.bitwise_xor(first, second, out=first)
        out[...] = first  # the lowest bits


def bits(
    key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None
) -> np.ndarray:
    """Random bits, as unsigned integers: each of them is as likely as any other.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        shape: the shape of the draw.
        dtype: uint8, uint16, uint32 (default) or uint64.

    Returns:
        An array of the shape; with a batch of keys, its axes come first.
    """
    keys = as_keys("bits", key)
    dtype = as_dtype("bits", dtype, UINT, "u")
    return value(draw(keys, full_shape("bits", keys, shape), dtype, combine))


def unit(keys: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Real numbers from 0 on, below 1: multiples of the spacing of floats at 1.

    The bits become the fraction of a float between 1 and 2, of which 1 is taken off.
    """
    finish = functools.partial(to_unit, dtype)
    return np.asarray(draw(keys, shape, dtype, finish))


def to_unit(
    dtype: np.dtype, out: np.ndarray, first: np.ndarray, second: np.ndarray
) -> None:
    """Write to `out` such numbers, of the two words of each hash."""
    unsigned = UNSIGNED[dtype.itemsize]
    fraction = out.view(unsigned)
    combine(fraction, first, second)
    fraction >>= unsigned(8 * dtype.itemsize - np.finfo(dtype).nmant)
    fraction |= np.ones((), dtype).view(unsigned)
    out -= dtype.type(1)


def uniform(
    key: ArrayLike,
    shape: Shape = (),
    dtype: DTypeLike | None = None,
    minval: ArrayLike = 0.0,
    maxval: ArrayLike = 1.0,
) -> np.ndarray:
    """Real numbers evenly spread from `minval` on, below `maxval`.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        shape: the shape of the draw.
        dtype: float16, float32 (default) or float64.
        minval: a number, or an array that broadcasts to the result.
        maxval: the same.

    Returns:
        An array of the shape; with a batch of keys, its axes come first. It has
        derivatives with respect to `minval` and `maxval`.
    """
    keys = as_keys("uniform", key)
    dtype = float_dtype("uniform", dtype)
    low, high = np.asarray(minval).astype(dtype), np.asarray(maxval).astype(dtype)
    full = full_shape("uniform", keys, shape, low.shape, high.shape)
    return value(between(unit(keys, full, dtype), low, high))


def between(share: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Scale numbers between 0 and 1, in place, to those between `low` and `high`."""
    if low.ndim == high.ndim == 0 and low == 0 and high == 1:
        return share
    scaled = multiply_add(share, high - low, low)
    return np.maximum(low, scaled, out=scaled)


def multiply_add(x: np.ndarray, factor: np.ndarray, term: np.ndarray) -> np.ndarray:
    """`x * factor + term`, rounded once, in `x`: what the processor's instruction does.

    JAX's compiler uses that instruction, and NumPy does not have it.
    """
    if x.dtype == np.float64:
        return _multiply_add_double(x, factor, term)
    if x.dtype == np.float16:  # which processors compute in float32, step by step
        x *= factor
        x += term
        return x
    wide = x.astype(np.float64) * factor.astype(np.float64)  # exact
    exact = wide + term
    # What lies halfway between two float32 numbers may have been rounded to there.
    half = np.flatnonzero((exact.view(np.uint64) & 0x1FFFFFFF) == 0x10000000)
    if half.size:
        product = np.take(wide, half)
        added = np.take(np.broadcast_to(term, exact.shape), half).astype(np.float64)
        total = np.take(exact, half)
        back = total - product
        rest = (product - (total - back)) + (added - back)
        away = np.nextafter(total, np.where(rest > 0, np.inf, -np.inf))
        np.put(exact, half, np.where(rest == 0, total, away))
    x[...] = exact
    return x


def _multiply_add_double(x: np.ndarray, factor: Any, term: Any) -> np.ndarray:
    """The same for float64, of error-free sums and products (Dekker, Knuth)."""
    product = x * factor
    (x_high, x_low), (f_high, f_low) = _halves(x), _halves(factor)
    lost = ((x_high * f_high - product) + x_high * f_low + x_low * f_high) + (
        x_low * f_low
    )
    total = product + term
    back = total - product
    rest = (product - (total - back)) + (term - back)
    x[...] = total + (rest + lost)
    return x


def _halves(x: Any) -> tuple[Any, Any]:
    """A float64 number as the sum of two that have half of its digits."""
    scaled = x * 134217729.0  # 2**27 + 1
    high = scaled - (scaled - x)
    return high, x - high
