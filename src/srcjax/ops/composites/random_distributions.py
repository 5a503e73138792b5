"""Draws of `srcjax.random` with parameters, as functions of simpler draws.

They compute what the functions of `srcjax.random.gammas` and `srcjax.random.more` do,
which say what is drawn.
"""

from __future__ import annotations

import numpy as np

from srcjax import random
from srcjax.ops.record import composite
from srcjax.random import widths


@composite(random.beta)
def beta(key, a, b, shape=None, dtype=None):
    dtype = (np.float64 if widths.WIDE else np.float32) if dtype is None else dtype
    shape = np.broadcast_shapes(np.shape(a), np.shape(b)) if shape is None else shape
    key_a, key_b = random.split(key)
    log_a = random.loggamma(key_a, a, shape, dtype)
    log_b = random.loggamma(key_b, b, shape, dtype)
    largest = np.maximum(log_a, log_b)
    share_a = np.exp(log_a - largest)
    share_b = np.exp(log_b - largest)
    return share_a / (share_a + share_b)


@composite(random.dirichlet)
def dirichlet(key, alpha, shape=None, dtype=None):
    dtype = (np.float64 if widths.WIDE else np.float32) if dtype is None else dtype
    shape = np.shape(alpha)[:-1] if shape is None else shape
    x = random.loggamma(key, alpha, (*shape, np.shape(alpha)[-1]), dtype)
    share = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return share / np.sum(share, axis=-1, keepdims=True)


@composite(random.t)
def t(key, df, shape=None, dtype=None):
    dtype = (np.float64 if widths.WIDE else np.float32) if dtype is None else dtype
    shape = np.shape(df) if shape is None else shape
    key_z, key_g = random.split(key)
    half = np.asarray(df).astype(dtype) / 2
    z = random.normal(key_z, shape, dtype)
    return z * np.sqrt(half / random.gamma(key_g, half, shape, dtype))


@composite(random.chisquare)
def chisquare(key, df, shape=None, dtype=None):
    dtype = (np.float64 if widths.WIDE else np.float32) if dtype is None else dtype
    half = np.asarray(df).astype(dtype) / 2
    return np.exp(random.loggamma(key, half, shape, dtype)) * 2


@composite(random.f)
def f(key, dfnum, dfden, shape=None, dtype=None):
    dtype = (np.float64 if widths.WIDE else np.float32) if dtype is None else dtype
    if shape is None:
        shape = np.broadcast_shapes(np.shape(dfnum), np.shape(dfden))
    key_under, key_over = random.split(key)
    over = np.asarray(dfnum).astype(dtype)
    under = np.asarray(dfden).astype(dtype)
    numerator = random.chisquare(key_over, over, shape, dtype) / over
    return numerator / (random.chisquare(key_under, under, shape, dtype) / under)


@composite(random.pareto)
def pareto(key, b, shape=None, dtype=None):
    dtype = (np.float64 if widths.WIDE else np.float32) if dtype is None else dtype
    shape = np.shape(b) if shape is None else shape
    return np.exp(random.exponential(key, shape, dtype) / np.asarray(b).astype(dtype))


@composite(random.rayleigh)
def rayleigh(key, scale, shape=None, dtype=None):
    dtype = (np.float64 if widths.WIDE else np.float32) if dtype is None else dtype
    shape = np.shape(scale) if shape is None else shape
    length = np.sqrt(np.log(random.uniform(key, shape, dtype)) * -2)
    return np.asarray(scale).astype(dtype) * length


@composite(random.wald)
def wald(key, mean, shape=None, dtype=None):
    dtype = (np.float64 if widths.WIDE else np.float32) if dtype is None else dtype
    shape = np.shape(mean) if shape is None else shape
    key_v, key_z = random.split(key)
    m = np.asarray(mean).astype(dtype)
    v = random.normal(key_v, shape, dtype)
    z = random.uniform(key_z, shape, dtype)
    y = v * v
    x = m + m * m * y / 2 - m / 2 * np.sqrt(4 * m * y + m * m * (y * y))
    return np.where(z <= m / (m + x), x, m * m / x)


@composite(random.triangular)
def triangular(key, left, mode, right, shape=None, dtype=None):
    dtype = (np.float64 if widths.WIDE else np.float32) if dtype is None else dtype
    if shape is None:
        shape = np.broadcast_shapes(np.shape(left), np.shape(mode), np.shape(right))
    low = np.asarray(left).astype(dtype)
    top = np.asarray(mode).astype(dtype)
    high = np.asarray(right).astype(dtype)
    u = random.uniform(key, shape, dtype)
    width = high - low
    rising = low + np.sqrt(u * width * (top - low))
    falling = high - np.sqrt((1 - u) * width * (high - top))
    return np.where(u < (top - low) / width, rising, falling)


@composite(random.lognormal)
def lognormal(key, sigma=1.0, shape=None, dtype=None):
    dtype = (np.float64 if widths.WIDE else np.float32) if dtype is None else dtype
    shape = np.shape(sigma) if shape is None else shape
    return np.exp(random.normal(key, shape, dtype) * np.asarray(sigma).astype(dtype))


@composite(random.double_sided_maxwell)
def double_sided_maxwell(key, loc, scale, shape=(), dtype=None):
    dtype = (np.float64 if widths.WIDE else np.float32) if dtype is None else dtype
    sizes = np.broadcast_shapes(np.shape(loc), np.shape(scale))
    full = (*sizes, *sizes) if shape == () else (*shape, *sizes)
    key_size, key_sign = random.split(key)
    size = random.maxwell(key_size, full, dtype)
    size = size * random.rademacher(key_sign, full, dtype)
    return size * np.asarray(scale).astype(dtype) + np.asarray(loc).astype(dtype)


@composite(random.weibull_min)
def weibull_min(key, scale, concentration, shape=(), dtype=None):
    dtype = (np.float64 if widths.WIDE else np.float32) if dtype is None else dtype
    size = -np.log1p(-random.uniform(key, shape, dtype))
    power = 1 / np.asarray(concentration).astype(dtype)
    return size**power * np.asarray(scale).astype(dtype)


@composite(random.generalized_normal)
def generalized_normal(key, p, shape=(), dtype=None):
    dtype = (np.float64 if widths.WIDE else np.float32) if dtype is None else dtype
    key_size, key_sign = random.split(key)
    inverse = 1 / np.asarray(p).astype(dtype)
    size = random.gamma(key_size, inverse, shape, dtype) ** inverse
    return random.rademacher(key_sign, shape, dtype) * size


@composite(random.ball)
def ball(key, d, p=2.0, shape=(), dtype=None):
    dtype = (np.float64 if widths.WIDE else np.float32) if dtype is None else dtype
    key_g, key_e = random.split(key)
    power = np.asarray(p).astype(dtype)
    g = random.generalized_normal(key_g, power, (*shape, d), dtype)
    size = np.sum(np.abs(g) ** power, axis=-1)
    size = (size + random.exponential(key_e, shape, dtype)) ** (1 / power)
    return g / size[..., None]
