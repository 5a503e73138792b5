"""Distributions on a half line: expon, gamma, chi2, pareto."""

from __future__ import annotations

import numpy as np
import scipy.special
from scipy.stats import chi2, expon, gamma, pareto

from srcjax.ops.composites.stats.support import (
    log1mexp,
    log_probability,
    positive,
    probability,
    standardised,
)
from srcjax.ops.record import composite

# -- expon --------------------------------------------------------------------------


@composite(expon.logpdf)
def expon_logpdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return np.where(z < 0, -np.inf, -z - np.log(scale))


@composite(expon.pdf)
def expon_pdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return np.where(z < 0, 0, np.exp(-np.where(z < 0, 0, z)) / scale)


@composite(expon.cdf)
def expon_cdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return -np.expm1(-np.where(z < 0, 0, z))


@composite(expon.logcdf)
def expon_logcdf(x, loc=0, scale=1):
    return log1mexp(standardised(x, loc, scale))


@composite(expon.sf)
def expon_sf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return np.exp(-np.where(z < 0, 0, z))


@composite(expon.logsf)
def expon_logsf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return -np.where(z < 0, 0, z)


@composite(expon.ppf)
def expon_ppf(q, loc=0, scale=1):
    return loc - positive(scale) * np.log1p(-probability(q))


# -- gamma: no derivative to `a` through the distribution function is known ---------


@composite(gamma.logpdf)
def gamma_logpdf(x, a, loc=0, scale=1):
    z = standardised(x, loc, scale)
    outside = (z < 0) & (a > 0)
    z = np.where(outside, 1, z)
    power = scipy.special.xlogy(a - 1, z)
    density = power - z - scipy.special.gammaln(positive(a)) - np.log(scale)
    return np.where(outside, -np.inf, density)


@composite(gamma.pdf)
def gamma_pdf(x, a, loc=0, scale=1):
    return np.exp(gamma_logpdf(x, a, loc, scale))


@composite(gamma.cdf)
def gamma_cdf(x, a, loc=0, scale=1):
    z = standardised(x, loc, scale)
    outside = (z <= 0) & (a > 0)
    below = scipy.special.gammainc(positive(a), np.where(outside, 1, z))
    return np.where(outside, 0, below)


@composite(gamma.sf)
def gamma_sf(x, a, loc=0, scale=1):
    z = standardised(x, loc, scale)
    outside = (z <= 0) & (a > 0)
    above = scipy.special.gammaincc(positive(a), np.where(outside, 1, z))
    return np.where(outside, 1, above)


@composite(gamma.logcdf)
def gamma_logcdf(x, a, loc=0, scale=1):
    return log_probability(gamma_cdf(x, a, loc, scale), gamma_sf(x, a, loc, scale))


@composite(gamma.logsf)
def gamma_logsf(x, a, loc=0, scale=1):
    return log_probability(gamma_sf(x, a, loc, scale), gamma_cdf(x, a, loc, scale))


@composite(gamma.ppf)
def gamma_ppf(q, a, loc=0, scale=1):
    return loc + positive(scale) * scipy.special.gammaincinv(a, probability(q))


# -- chi2: the gamma distribution of half the degrees of freedom and the scale 2 ----


@composite(chi2.logpdf)
def chi2_logpdf(x, df, loc=0, scale=1):
    return gamma_logpdf(x, df / 2, loc, 2 * scale)


@composite(chi2.pdf)
def chi2_pdf(x, df, loc=0, scale=1):
    return np.exp(gamma_logpdf(x, df / 2, loc, 2 * scale))


@composite(chi2.cdf)
def chi2_cdf(x, df, loc=0, scale=1):
    return gamma_cdf(x, df / 2, loc, 2 * scale)


@composite(chi2.logcdf)
def chi2_logcdf(x, df, loc=0, scale=1):
    return gamma_logcdf(x, df / 2, loc, 2 * scale)


@composite(chi2.sf)
def chi2_sf(x, df, loc=0, scale=1):
    return gamma_sf(x, df / 2, loc, 2 * scale)


@composite(chi2.logsf)
def chi2_logsf(x, df, loc=0, scale=1):
    return gamma_logsf(x, df / 2, loc, 2 * scale)


@composite(chi2.ppf)
def chi2_ppf(q, df, loc=0, scale=1):
    return gamma_ppf(q, df / 2, loc, 2 * scale)


# -- pareto -------------------------------------------------------------------------


@composite(pareto.logpdf)
def pareto_logpdf(x, b, loc=0, scale=1):
    z = standardised(x, loc, scale)
    outside = (z < 1) & (b > 0)
    b = positive(b)
    density = np.log(b) - (b + 1) * np.log(np.where(outside, 1, z)) - np.log(scale)
    return np.where(outside, -np.inf, density)


@composite(pareto.pdf)
def pareto_pdf(x, b, loc=0, scale=1):
    return np.exp(pareto_logpdf(x, b, loc, scale))


@composite(pareto.logsf)
def pareto_logsf(x, b, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return -positive(b) * np.log(np.where(z < 1, 1, z))


@composite(pareto.sf)
def pareto_sf(x, b, loc=0, scale=1):
    return np.exp(pareto_logsf(x, b, loc, scale))


@composite(pareto.cdf)
def pareto_cdf(x, b, loc=0, scale=1):
    return -np.expm1(pareto_logsf(x, b, loc, scale))


@composite(pareto.logcdf)
def pareto_logcdf(x, b, loc=0, scale=1):
    return log1mexp(-pareto_logsf(x, b, loc, scale))


@composite(pareto.ppf)
def pareto_ppf(q, b, loc=0, scale=1):
    growth = -np.log1p(-probability(q)) / positive(b)
    return loc + positive(scale) * np.exp(growth)
