"""Draws of integers, truth values and categories."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from srcjax.random.arguments import (
    INT,
    Shape,
    as_dtype,
    as_keys,
    as_places,
    as_shape,
    float_dtype,
    full_shape,
    real_dtype,
    size_of,
    value,
)
from srcjax.random.continuous import gumbel
from srcjax.random.keys import split
from srcjax.random.uniforms import UNSIGNED, combine, draw, unit


def randint(
    key: ArrayLike,
    shape: Shape,
    minval: ArrayLike,
    maxval: ArrayLike,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Integers from `minval` on, below `maxval`.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        shape: the shape of the draw.
        minval: integers that broadcast to the result.
        maxval: the same. Where it is not above `minval`, the result is `minval`.
        dtype: an integer dtype, int32 (default).

    Returns:
        An array of the shape. Where the number of possible values is no power of 2,
        some are more likely than others by its square, divided by 2**64 (2**128 for 64
        bits).
    """
    keys = as_keys("randint", key)
    dtype = as_dtype("randint", dtype, INT, "iu")
    full = full_shape("randint", keys, shape, np.shape(minval), np.shape(maxval))
    # What is narrower is drawn with 32 bits.
    wide = dtype if dtype.itemsize >= 4 else np.dtype(np.int32)
    low, high = _integers(minval), _integers(maxval)
    if wide != dtype:
        info = np.iinfo(dtype)
        low = np.clip(low, info.min, info.max)
        high = np.clip(high, info.min, int(info.max) + 1)
    unsigned = UNSIGNED[wide.itemsize]
    last = np.iinfo(wide).max
    beyond = high > last
    low, high = (np.clip(x, np.iinfo(wide).min, last).astype(wide) for x in (low, high))
    with np.errstate(over="ignore"):
        span = np.where(high <= low, 1, high - low).astype(unsigned)
        # One more where `maxval` itself does not fit; then all bits may be taken.
        span = np.where(beyond & (high > low), span + unsigned(1), span)
        pair = split(keys)
        upper, lower = (draw(pair[..., k, :], full, unsigned, combine) for k in (0, 1))
        return value(_within(upper, lower, span, low).astype(dtype))


def _integers(x: ArrayLike) -> np.ndarray:
    """As integers: floats are cut off."""
    found = np.asarray(x)
    return found if found.dtype.kind in "iu" else found.astype(np.int64)


def _within(
    upper: np.ndarray, lower: np.ndarray, span: np.ndarray, low: np.ndarray
) -> np.ndarray:
    """`low` plus the rest of a number of twice as many bits, divided by `span`."""
    unsigned = upper.dtype.type
    if not span.all():  # 0 stands for one more than the largest number
        rest = np.where(span == 0, lower, _rest(upper, lower, np.maximum(span, 1)))
    else:
        rest = _rest(upper, lower, span)
    return low + np.asarray(rest, unsigned).astype(low.dtype)


def _rest(upper: np.ndarray, lower: np.ndarray, span: np.ndarray) -> np.ndarray:
    half = upper.dtype.type(1 << (4 * upper.itemsize))
    factor = half % span
    factor = factor * factor % span
    upper %= span
    upper *= factor
    lower %= span
    upper += lower
    upper %= span
    return upper


def bernoulli(
    key: ArrayLike, p: ArrayLike = 0.5, shape: Shape | None = None, mode: str = "low"
) -> np.ndarray:
    """Truth values that are true with probability `p`.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        p: a float, or an array of floats that broadcasts to the result.
        shape: the shape of the draw; None: that of `p`.
        mode: "low", or "high": with twice as many random bits, which counts where `p`
            is below 1e-6.

    Returns:
        bool, of the shape.
    """
    keys = as_keys("bernoulli", key)
    if mode not in ("low", "high"):
        raise ValueError(f"bernoulli: mode must be 'low' or 'high', not {mode!r}")
    chance = np.asarray(p)
    if chance.dtype.kind != "f":
        raise TypeError(f"bernoulli: p must be a float, not {chance.dtype}")
    dtype = real_dtype(chance)
    chance = chance.astype(dtype)
    full = full_shape("bernoulli", keys, shape, chance.shape)
    if mode == "low":
        return value(unit(keys, full, dtype) < chance)
    batch = keys.ndim - 1
    pair = unit(keys, (*full[:batch], 2, *full[batch:]), dtype)
    coarse, fine = np.moveaxis(pair, batch, 0)
    return value(fine * dtype.type(2.0 ** -np.finfo(dtype).nmant) < chance - coarse)


def rademacher(
    key: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None
) -> np.ndarray:
    """1 or -1, one as likely as the other.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        shape: the shape of the draw.
        dtype: int32 (default), or any that has -1.

    Returns:
        An array of the shape.
    """
    dtype = as_dtype("rademacher", dtype, INT, "ifc")
    return 2 * bernoulli(key, 0.5, shape).astype(dtype) - dtype.type(1)


def categorical(
    key: ArrayLike,
    logits: ArrayLike,
    axis: int = -1,
    shape: Shape | None = None,
    replace: bool = True,
    mode: str | None = None,
) -> np.ndarray:
    """Categories, drawn by their unnormalised log-probabilities.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        logits: floats of any shape, with the categories along `axis`; with a batch of
            keys, its axes come first.
        axis: the axis of the categories, which is none of the batch.
        shape: the shape of the draw, which ends with that of the logits of one key
            without `axis`; None: that.
        replace: whether a category may be drawn more than once by the leading axes of
            `shape`.
        mode: that of `gumbel`.

    Returns:
        int32, of the shape: where in `axis` the category is. It is that of the largest
        `logits + gumbel`, or those of the largest ones, without replacement. With a
        batch of keys, its axes come first.
    """
    keys = as_keys("categorical", key)
    batch = keys.shape[:-1]
    dtype = real_dtype(logits)
    scores = np.asarray(logits).astype(dtype)
    sizes = scores.shape[len(batch) :]
    if scores.shape[: len(batch)] != batch or not sizes:
        raise ValueError(
            f"categorical: logits of shape {scores.shape} do not begin with the axes "
            f"of the batch of keys, {batch}, or have no axis of categories"
        )
    place = axis if axis < 0 else axis - scores.ndim
    if not -len(sizes) <= place < 0:
        raise ValueError(f"categorical: {scores.shape} has no axis {axis} of a draw")
    count = sizes[place]
    each = tuple(np.delete(sizes, place).tolist())
    full = each if shape is None else as_shape("categorical", shape)
    if len(full) < len(each) or np.broadcast_shapes(full, each) != full:
        raise ValueError(
            f"categorical: shape {full} does not end with that of the logits without "
            f"the axis, {each}"
        )
    leading, own = full[: len(full) - len(each)], list(full[len(full) - len(each) :])
    if replace:
        own.insert(len(sizes) + place, count)
        scores = scores.reshape(*batch, *(1,) * len(leading), *sizes)
        scores = gumbel(keys, (*leading, *own), dtype, mode=mode) + scores
        return as_places(np.argmax(scores, axis=place))
    draws = size_of(leading)
    if draws > count:
        raise ValueError(
            f"categorical: {draws} draws without replacement of {count} categories"
        )
    scores = scores + gumbel(keys, sizes, dtype, mode=mode)
    best = largest(np.moveaxis(scores, place, -1), draws)
    return np.moveaxis(best, -1, len(batch)).reshape(*batch, *full)


def largest(scores: np.ndarray, count: int) -> np.ndarray:
    """Where the largest items of the last axis are, the largest first: int32.

    Of equal ones the first comes first.
    """
    order = np.argsort(-scores, axis=-1, kind="stable")
    return order[..., :count].astype(INT)


def geometric(
    key: ArrayLike,
    p: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """How many trials it takes until the first one succeeds, each with chance `p`.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        p: floats above 0, up to 1, which broadcast to the result.
        shape: the shape of the draw; None: that of `p`.
        dtype: an integer dtype, int32 (default).

    Returns:
        Integers from 1 on, of the shape.
    """
    keys = as_keys("geometric", key)
    dtype = as_dtype("geometric", dtype, INT, "i")
    real = float_dtype("geometric", real_dtype(p))
    chance = np.asarray(p).astype(real)
    u = unit(keys, full_shape("geometric", keys, shape, chance.shape), real)
    u[u == 0] = 1
    with np.errstate(divide="ignore"):
        trials = np.floor(np.log(u) / np.log1p(-chance)) + 1
    return value(np.asarray(trials).astype(dtype))
