"""Draws of counts: Poisson, binomial and multinomial numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from srcjax.random import widths
from srcjax.random.arguments import (
    INT,
    Shape,
    as_dtype,
    as_keys,
    float_dtype,
    full_shape,
    real_dtype,
    value,
)
from srcjax.random.keys import split
from srcjax.random.uniforms import multiply_add, unit

#: What one try gives: numbers, and whether each is accepted.
Try = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def poisson(
    key: ArrayLike,
    lam: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Poisson numbers: how many events there are where `lam` are expected.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        lam: the means, 0 or more, which broadcast to the result.
        shape: the shape of the draw; None: that of `lam`.
        dtype: an integer dtype, int32 (default).

    Returns:
        Integers of the shape; -1 where `lam` is negative or NaN. As in JAX, they are
        computed in float32. They are JAX's numbers; but of means in the thousands, one
        in a thousand is accepted by one and not by the other for the last digit of a
        logarithm, and of means of 100000 and more, one in a hundred.
    """
    keys = as_keys("poisson", key)
    dtype = as_dtype("poisson", dtype, INT, "i")
    mean = np.asarray(lam).astype(np.float32)
    full = full_shape("poisson", keys, shape, mean.shape)
    rows = keys.reshape(-1, 2)
    mean = np.broadcast_to(mean, full).reshape(len(rows), -1)
    few = np.isnan(mean) | (mean < 10)
    with np.errstate(all="ignore"):
        found = _knuth(rows, np.where(few, mean, np.float32(0)))
        some = np.flatnonzero((~few).any(axis=1))
        if some.size:
            large = np.where(few, np.float32(1e5), mean)[some]
            tried = _accepted(rows[some], large.shape, _poisson_try(large))
            found[some] = np.where(few[some], found[some], tried)
        found[mean == 0] = 0
    return value(found.astype(dtype).reshape(full))


def _knuth(keys: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """How many even numbers can be multiplied until the product is below exp(-mean).

    D. E. Knuth, "The Art of Computer Programming", volume 2, 3.4.1.
    """
    count, log_product = np.zeros_like(mean), np.zeros_like(mean)
    while (more := log_product > -mean).any():
        pair = split(keys)
        keys = pair[:, 0]
        count += more
        log_product += np.log(unit(pair[:, 1], mean.shape, mean.dtype))
    return count - 1


def _accepted(keys: np.ndarray, shape: tuple[int, int], tried: Try) -> np.ndarray:
    """Numbers by rejection, for each row with a key of its own.

    A row is drawn again until all of its numbers have been accepted; each number is the
    last one that was.
    """
    found = np.full(shape, -1.0, np.float64)
    accepted = np.zeros(shape, bool)
    rows = np.arange(len(keys)) if shape[1] else np.arange(0)
    while rows.size:
        parts = split(keys, 3)
        keys = parts[:, 0]
        numbers, good = tried(rows, parts[:, 1:])
        found[rows] = np.where(good, numbers, found[rows])
        accepted[rows] |= good
        left = ~accepted[rows].all(axis=1)
        rows, keys = rows[left], keys[left]
    return found


def _poisson_try(means: np.ndarray) -> Try:
    """One try of PTRS, for means of 10 and more.

    W. Hörmann, "The transformed rejection method for generating Poisson random
    variables" (1993). Products and sums are rounded once, as JAX's compiler does.
    """
    real = np.float32

    def fused(x: np.ndarray, factor: Any, term: Any) -> np.ndarray:
        return multiply_add(np.array(x), np.asarray(factor), np.asarray(term, real))

    b = fused(np.sqrt(means), real(2.53), 0.931)
    a = fused(b, real(0.02483), -0.059)
    inverse = real(1.1239) + real(1.1328) / (b - real(3.4))
    limit = real(0.9277) - real(3.6224) / (b - real(2))
    log_means = np.log(means)

    def tried(rows: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        own_a, own_b, mean = a[rows], b[rows], means[rows]
        u = unit(keys[:, 0], mean.shape, mean.dtype) - real(0.5)
        v = unit(keys[:, 1], mean.shape, mean.dtype)
        edge = real(0.5) - np.abs(u)
        k = np.floor(fused(real(2) * own_a / edge + own_b, u, mean) + real(0.43))
        s = np.log(v * inverse[rows] / (own_a / (edge * edge) + own_b))
        likely = fused(k, log_means[rows], -mean) - log_gamma(k + real(1))
        at_once = (edge >= real(0.07)) & (v <= limit[rows])
        out = (k < 0) | ((edge < real(0.013)) & (v > edge))
        return k, at_once | (~out & (s <= likely))

    return tried


#: Coefficients of C. Lanczos's approximation with g = 7.
LANCZOS = (
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894, -176.61502916214059906584551354,
    12.507343278686904814458936853, -0.13857109526572011689554707,
    9.984369578019570859563e-6, 1.50563273514931155834e-7,
)  # fmt: skip


def log_gamma(x: np.ndarray) -> np.ndarray:
    """log(Gamma(x)) for x >= 1/2, in the dtype of x (C. Lanczos, 1964)."""
    real = x.dtype.type
    z = x - real(1)
    total = np.full_like(z, 0.99999999999980993227684700473478)
    for k, c in enumerate(LANCZOS):
        total += real(c) / (z + real(k + 1))
    t = z + real(7.5)
    log_t = real(math.log(7.5)) + np.log1p(z / real(7.5))
    root = real(math.log(2 * math.pi) / 2)
    return multiply_add(z + real(0.5) - t / log_t, log_t, root + np.log(total))


def binomial(
    key: ArrayLike,
    n: ArrayLike,
    p: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """Binomial numbers: how many of `n` trials succeed, each with chance `p`.

    Args:
        key: uint32, shape (2,); or a batch of keys, (*batch, 2).
        n: the numbers of trials, which broadcast to the result.
        p: the chances, the same.
        shape: the shape of the draw; None: that of `n` and `p`.
        dtype: float32 (default) or float64: counts are floats, as in JAX.

    Returns:
        An array of the shape; NaN where `n` is negative or `p` is no chance. What is
        computed is in the dtype of `p`, float64 if that is asked for.
    """
    keys = as_keys("binomial", key)
    dtype = float_dtype("binomial", dtype)
    given = real_dtype(p)
    real = dtype if dtype == np.float64 and not widths.WIDE else given
    chance, count = np.asarray(p).astype(real), np.asarray(n).astype(real)
    full = full_shape("binomial", keys, shape, count.shape, chance.shape)
    rows = keys.reshape(-1, 2)
    chance = np.broadcast_to(chance, full).reshape(len(rows), -1)
    count = np.broadcast_to(count, full).reshape(len(rows), -1)
    with np.errstate(all="ignore"):
        found = _binomial(rows, count, chance)
    return value(found.astype(dtype).reshape(full))


def _binomial(keys: np.ndarray, count: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """By the rarer of success and failure."""
    real = chance.dtype.type
    rare = chance < real(0.5)
    q = np.where(rare, chance, real(1) - chance)
    no_count = np.isnan(count) | (count < 0)
    no_chance = np.isnan(q) | (q < 0)
    endless = np.isinf(count)
    nan_chance = np.isnan(q)
    q = np.where(no_chance, real(0.01), q)
    few = no_count | (count * q <= real(10))
    count = np.floor(count)
    found = _inversion(keys, np.where(few, count, real(0)), q)
    some = np.flatnonzero((~few).any(axis=1))
    if some.size:
        many = np.where(few, real(10000), count)[some]
        chances = np.where(few, real(0.5), q)[some]
        tried = _accepted(keys[some], many.shape, _binomial_try(many, chances))
        found[some] = np.where(few[some], found[some], tried)
    wrong = no_chance | no_count
    found = np.where(wrong, real(np.nan), found)
    found = np.where(endless & ~wrong, real(np.inf), found)
    as_it_is = rare | no_count | nan_chance | endless
    return np.where(as_it_is, found, count - found)


def _inversion(keys: np.ndarray, count: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """How many geometric numbers can be added until the sum is above `count`."""
    found, total = np.zeros_like(chance), np.zeros_like(chance)
    log_failure = np.log1p(-chance)
    while (more := total <= count).any():
        pair = split(keys)
        keys = pair[:, 1]
        found += more
        u = unit(pair[:, 0], chance.shape, chance.dtype)
        total += np.ceil(np.log(u) / log_failure)
    return found - 1


def _binomial_try(counts: np.ndarray, chances: np.ndarray) -> Try:
    """One try of BTRS, for counts of which more than 10 succeed.

    W. Hörmann, "The generation of binomial random variates" (1993).
    """
    real = chances.dtype.type
    one, half = real(1), real(0.5)
    deviation = np.sqrt(counts * chances * (one - chances))
    b = real(1.15) + real(2.53) * deviation
    a = real(-0.0873) + real(0.0248) * b + real(0.01) * chances
    centre = counts * chances + half
    limit = real(0.92) - real(4.2) / b
    odds = chances / (one - chances)
    alpha = (real(2.83) + real(5.1) / b) * deviation
    mode = np.floor((counts + one) * chances)

    def tried(rows: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        own_a, own_b, n, m, r = a[rows], b[rows], counts[rows], mode[rows], odds[rows]
        u = unit(keys[:, 0], n.shape, n.dtype) - half
        v = unit(keys[:, 1], n.shape, n.dtype)
        edge = half - np.abs(u)
        at_once = (edge >= real(0.07)) & (v <= limit[rows])
        k = np.floor((real(2) * own_a / edge + own_b) * u + centre[rows])
        out = (k < 0) | (k > n)
        v = np.log(v * alpha[rows] / (own_a / (edge * edge) + own_b))
        bound = (
            (m + half) * np.log((m + one) / (r * (n - m + one)))
            + (n + one) * np.log((n - m + one) / (n - k + one))
            + (k + half) * np.log(r * (n - k + one) / (k + one))
            + (_stirling(m) + _stirling(n - m) - _stirling(k) - _stirling(n - k))
        )
        return k, at_once | (~out & (v <= bound))

    return tried


#: What Stirling's approximation of log(k!) lacks, for k from 0 to 9.
STIRLING = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
    0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.010411265261972,
    0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def _stirling(k: np.ndarray) -> np.ndarray:
    """What Stirling's approximation of log(k!) lacks."""
    small = np.clip(k, 0, 9)
    square = (k + 1) * (k + 1)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    table = np.array(STIRLING, k.dtype)[np.nan_to_num(small).astype(int)]
    return np.where(k <= 9, table, series).astype(k.dtype)


def multinomial(
    key: ArrayLike,
    n: ArrayLike,
    p: ArrayLike,
    *,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
) -> np.ndarray:
    """How often each of several outcomes occurs in `n` trials.

    Args:
        key: uint32, shape (2,).
        n: the number of trials, of a shape that broadcasts to that of `p` without its
            last axis.
        p: the chances of the outcomes, shape (..., k).
        shape: the shape of the result; None: that of `p`.
        dtype: float32 (default) or float64: counts are floats, as in JAX.

    Returns:
        An array of the shape, whose sum along the last axis is `n`.
    """
    keys = as_keys("multinomial", key)
    if keys.ndim > 1:
        raise ValueError("multinomial: one key; `srcjax.vmap` takes a batch of keys")
    dtype = float_dtype("multinomial", dtype)
    both = np.result_type(real_dtype(n), real_dtype(p))
    chance = np.asarray(p).astype(both if widths.WIDE else dtype)
    full = chance.shape if shape is None else tuple(shape)
    chance = np.broadcast_to(chance, full)
    left = np.broadcast_to(np.asarray(n).astype(chance.dtype), full[:-1])
    after = np.cumsum(chance[..., ::-1], axis=-1)[..., ::-1]
    ratio = np.clip(chance / np.where(after == 0, 1, after), 0, 1)
    counts = np.empty(full, dtype)
    for k, own in enumerate(split(keys, full[-1])):
        counts[..., k] = binomial(own, left, ratio[..., k], dtype=chance.dtype)
        left = left - counts[..., k]
    return counts
