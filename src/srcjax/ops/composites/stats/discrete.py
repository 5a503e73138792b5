"""Distributions of counts: bernoulli, binom, nbinom, geom, poisson, betabinom.

Zero between the whole numbers, as in SciPy; the derivative to the count is that of the
formula.
"""

from __future__ import annotations

import numpy as np
import scipy.special
from scipy.stats import bernoulli, betabinom, binom, geom, nbinom, poisson

from srcjax.ops.composites.stats.support import (
    count,
    not_negative,
    positive,
    probability,
)
from srcjax.ops.record import composite


def impossible(k, low, high):
    """Where `k` is none of the whole numbers from `low` to `high`."""
    return (k < low) | (k > high) | (k != np.floor(k))


# -- bernoulli ----------------------------------------------------------------------


@composite(bernoulli.pmf)
def bernoulli_pmf(k, p, loc=0):
    k = k - loc
    p = probability(p)
    none = impossible(k, 0, 1) & ~np.isnan(p)
    return np.where(none, 0, np.where(k == 0, 1 - p, p))


@composite(bernoulli.logpmf)
def bernoulli_logpmf(k, p, loc=0):
    k = k - loc
    p = probability(p)
    none = impossible(k, 0, 1) & ~np.isnan(p)
    k = np.where(none, 0, k)
    mass = scipy.special.xlogy(k, p) + scipy.special.xlog1py(1 - k, -p)
    return np.where(none, -np.inf, mass)


@composite(bernoulli.cdf)
def bernoulli_cdf(k, p, loc=0):
    k = k - loc
    p = probability(p)
    certain = ((k < 0) | (k >= 1)) & ~np.isnan(p)
    return np.where(certain, k >= 1, 1 - p)


@composite(bernoulli.ppf)
def bernoulli_ppf(q, p, loc=0):
    valid = (q >= 0) & (q <= 1) & (p >= 0) & (p <= 1)
    step = np.where(q == 0, -1, np.where((q > 1 - p) | (q == 1), 1, 0))
    return loc + np.where(valid, step, np.nan)


# -- binom, nbinom, geom ------------------------------------------------------------


@composite(binom.logpmf)
def binom_logpmf(k, n, p, loc=0):
    k = k - loc
    n, p = count(n), probability(p)
    none = impossible(k, 0, n) & ~np.isnan(n + p)
    k = np.where(none, 0, k)
    ways = -scipy.special.betaln(1 + n - k, 1 + k) - np.log(n + 1)
    mass = ways + scipy.special.xlogy(k, p) + scipy.special.xlog1py(n - k, -p)
    return np.where(none, -np.inf, mass)


@composite(binom.pmf)
def binom_pmf(k, n, p, loc=0):
    return np.exp(binom_logpmf(k, n, p, loc))


@composite(nbinom.logpmf)
def nbinom_logpmf(k, n, p, loc=0):
    k = k - loc
    n, p = positive(n), positive(probability(p))
    none = impossible(k, 0, np.inf) & ~np.isnan(n + p)
    k = np.where(none, 0, k)
    ways = -scipy.special.betaln(n, k + 1) - np.log(n + k)
    mass = ways + n * np.log(p) + scipy.special.xlog1py(k, -p)
    return np.where(none, -np.inf, mass)


@composite(nbinom.pmf)
def nbinom_pmf(k, n, p, loc=0):
    return np.exp(nbinom_logpmf(k, n, p, loc))


@composite(geom.logpmf)
def geom_logpmf(k, p, loc=0):
    k = k - loc
    p = positive(probability(p))
    none = impossible(k, 1, np.inf) & ~np.isnan(p)
    k = np.where(none, 1, k)
    return np.where(none, -np.inf, scipy.special.xlog1py(k - 1, -p) + np.log(p))


@composite(geom.pmf)
def geom_pmf(k, p, loc=0):
    return np.exp(geom_logpmf(k, p, loc))


# -- poisson ------------------------------------------------------------------------


@composite(poisson.logpmf)
def poisson_logpmf(k, mu, loc=0):
    k = k - loc
    mu = not_negative(mu)
    none = impossible(k, 0, np.inf) & ~np.isnan(mu)
    k = np.where(none, 0, k)
    mass = scipy.special.xlogy(k, mu) - mu - scipy.special.gammaln(k + 1)
    return np.where(none, -np.inf, mass)


@composite(poisson.pmf)
def poisson_pmf(k, mu, loc=0):
    return np.exp(poisson_logpmf(k, mu, loc))


@composite(poisson.cdf)
def poisson_cdf(k, mu, loc=0):
    k = np.floor(k - loc)
    mu = not_negative(mu)
    below = scipy.special.pdtr(np.where(k < 0, 0, k), mu)
    return np.where((k < 0) & ~np.isnan(mu), 0, below)


@composite(poisson.sf)
def poisson_sf(k, mu, loc=0):
    k = np.floor(k - loc)
    mu = not_negative(mu)
    above = scipy.special.pdtrc(np.where(k < 0, 0, k), mu)
    return np.where((k < 0) & ~np.isnan(mu), 1, above)


# -- betabinom ----------------------------------------------------------------------


@composite(betabinom.logpmf)
def betabinom_logpmf(k, n, a, b, loc=0):
    k = k - loc
    n, a, b = count(n), positive(a), positive(b)
    none = impossible(k, 0, n) & ~np.isnan(n + a + b)
    k = np.where(none, 0, k)
    ways = -np.log(n + 1) - scipy.special.betaln(n - k + 1, k + 1)
    chance = scipy.special.betaln(k + a, n - k + b) - scipy.special.betaln(a, b)
    return np.where(none, -np.inf, ways + chance)


@composite(betabinom.pmf)
def betabinom_pmf(k, n, a, b, loc=0):
    return np.exp(betabinom_logpmf(k, n, a, b, loc))
