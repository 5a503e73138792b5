"""The normal distribution, truncated and generalised."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
from scipy.stats import gennorm, norm, truncnorm

from srcjax.ops.composites.stats.support import log1mexp, positive, standardised
from srcjax.ops.record import composite

# -- norm ---------------------------------------------------------------------------


@composite(norm.logpdf)
def norm_logpdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return -(z**2) / 2 - np.log(scale) - math.log(2 * math.pi) / 2


@composite(norm.pdf)
def norm_pdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return np.exp(-(z**2) / 2) / (math.sqrt(2 * math.pi) * scale)


@composite(norm.cdf)
def norm_cdf(x, loc=0, scale=1):
    return scipy.special.ndtr(standardised(x, loc, scale))


@composite(norm.logcdf)
def norm_logcdf(x, loc=0, scale=1):
    return scipy.special.log_ndtr(standardised(x, loc, scale))


@composite(norm.sf)
def norm_sf(x, loc=0, scale=1):
    return scipy.special.ndtr(-standardised(x, loc, scale))


@composite(norm.logsf)
def norm_logsf(x, loc=0, scale=1):
    return scipy.special.log_ndtr(-standardised(x, loc, scale))


@composite(norm.ppf)
def norm_ppf(q, loc=0, scale=1):
    return loc + positive(scale) * scipy.special.ndtri(q)


@composite(norm.isf)
def norm_isf(q, loc=0, scale=1):
    return loc - positive(scale) * scipy.special.ndtri(q)


# -- truncnorm ----------------------------------------------------------------------


def log_normal_mass(a, b):
    """The log of the normal probability of the interval from `a` to `b`.

    Taken in the tail that the interval is in, where nothing cancels.
    """
    upper = a > 0
    low = np.where(upper, -b, a)
    high = np.where(upper, -a, b)
    log_high = scipy.special.log_ndtr(high)
    return log_high + log1mexp(log_high - scipy.special.log_ndtr(low))


@composite(truncnorm.logpdf)
def truncnorm_logpdf(x, a, b, loc=0, scale=1):
    z = standardised(x, loc, scale)
    empty = (z < a) | (z > b)
    b = np.where(a < b, b, np.nan)
    density = -(z**2) / 2 - math.log(2 * math.pi) / 2 - np.log(scale)
    inside = density - log_normal_mass(a, b)
    return np.where(empty & (a < b), -np.inf, inside)


@composite(truncnorm.pdf)
def truncnorm_pdf(x, a, b, loc=0, scale=1):
    return np.exp(truncnorm_logpdf(x, a, b, loc, scale))


@composite(truncnorm.logcdf)
def truncnorm_logcdf(x, a, b, loc=0, scale=1):
    z = standardised(x, loc, scale)
    below, above = (z <= a) & (a < b), (z >= b) & (a < b)
    b = np.where(a < b, b, np.nan)
    z = np.where(below | above, np.clip(0, a, b), z)
    total = log_normal_mass(a, b)
    left, right = log_normal_mass(a, z) - total, log_normal_mass(z, b) - total
    inside = np.where(left < -1, left, log1mexp(-right))
    return np.where(below, -np.inf, np.where(above, 0, inside))


@composite(truncnorm.cdf)
def truncnorm_cdf(x, a, b, loc=0, scale=1):
    return np.exp(truncnorm_logcdf(x, a, b, loc, scale))


@composite(truncnorm.logsf)
def truncnorm_logsf(x, a, b, loc=0, scale=1):
    return truncnorm_logcdf(-x, -b, -a, -loc, scale)


@composite(truncnorm.sf)
def truncnorm_sf(x, a, b, loc=0, scale=1):
    return np.exp(truncnorm_logsf(x, a, b, loc, scale))


# -- gennorm ------------------------------------------------------------------------


@composite(gennorm.logpdf)
def gennorm_logpdf(x, beta, loc=0, scale=1):
    z = standardised(x, loc, scale)
    peak = np.log(beta / 2) - scipy.special.gammaln(1 / positive(beta))
    return peak - np.abs(z) ** beta - np.log(scale)


@composite(gennorm.pdf)
def gennorm_pdf(x, beta, loc=0, scale=1):
    return np.exp(gennorm_logpdf(x, beta, loc, scale))


@composite(gennorm.cdf)
def gennorm_cdf(x, beta, loc=0, scale=1):
    z = standardised(x, loc, scale)
    beta = positive(beta)
    tail = scipy.special.gammaincc(1 / beta, np.abs(z) ** beta) / 2
    return np.where(z > 0, 1 - tail, tail)
