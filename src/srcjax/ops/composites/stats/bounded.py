"""Distributions on an interval or a circle: uniform, beta, vonmises, wrapcauchy."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
from scipy.stats import beta, uniform, vonmises, wrapcauchy

from srcjax.ops.composites.stats.support import (
    log_probability,
    not_negative,
    positive,
    probability,
    standardised,
)
from srcjax.ops.record import composite

# -- uniform ------------------------------------------------------------------------


@composite(uniform.logpdf)
def uniform_logpdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return np.where((z < 0) | (z > 1), -np.inf, -np.log(positive(scale)))


@composite(uniform.pdf)
def uniform_pdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return np.where((z < 0) | (z > 1), 0, 1 / positive(scale))


@composite(uniform.cdf)
def uniform_cdf(x, loc=0, scale=1):
    return np.clip(standardised(x, loc, scale), 0, 1)


@composite(uniform.logcdf)
def uniform_logcdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    inside = np.where(z <= 0, 1, np.where(z > 1, 1, z))
    return np.where(z <= 0, -np.inf, np.log(inside))


@composite(uniform.sf)
def uniform_sf(x, loc=0, scale=1):
    return 1 - np.clip(standardised(x, loc, scale), 0, 1)


@composite(uniform.ppf)
def uniform_ppf(q, loc=0, scale=1):
    return loc + positive(scale) * probability(q)


# -- beta: no derivative to `a`, `b` through the distribution function is known -----


@composite(beta.logpdf)
def beta_logpdf(x, a, b, loc=0, scale=1):
    z = standardised(x, loc, scale)
    outside = ((z < 0) | (z > 1)) & (a > 0) & (b > 0)
    z = np.where(outside, 0.5, z)
    powers = scipy.special.xlogy(a - 1, z) + scipy.special.xlog1py(b - 1, -z)
    density = powers - scipy.special.betaln(positive(a), positive(b)) - np.log(scale)
    return np.where(outside, -np.inf, density)


@composite(beta.pdf)
def beta_pdf(x, a, b, loc=0, scale=1):
    return np.exp(beta_logpdf(x, a, b, loc, scale))


@composite(beta.cdf)
def beta_cdf(x, a, b, loc=0, scale=1):
    z = standardised(x, loc, scale)
    outside = ((z <= 0) | (z >= 1)) & (a > 0) & (b > 0)
    inside = np.where(outside, 0.5, z)
    below = scipy.special.betainc(positive(a), positive(b), inside)
    return np.where(outside, z >= 1, below)


@composite(beta.sf)
def beta_sf(x, a, b, loc=0, scale=1):
    z = standardised(x, loc, scale)
    outside = ((z <= 0) | (z >= 1)) & (a > 0) & (b > 0)
    inside = np.where(outside, 0.5, z)
    above = scipy.special.betaincc(positive(a), positive(b), inside)
    return np.where(outside, z <= 0, above)


@composite(beta.logcdf)
def beta_logcdf(x, a, b, loc=0, scale=1):
    return log_probability(beta_cdf(x, a, b, loc, scale), beta_sf(x, a, b, loc, scale))


@composite(beta.logsf)
def beta_logsf(x, a, b, loc=0, scale=1):
    return log_probability(beta_sf(x, a, b, loc, scale), beta_cdf(x, a, b, loc, scale))


@composite(beta.ppf)
def beta_ppf(q, a, b, loc=0, scale=1):
    return loc + positive(scale) * scipy.special.betaincinv(a, b, probability(q))


# -- vonmises, wrapcauchy -----------------------------------------------------------


@composite(vonmises.logpdf)
def vonmises_logpdf(x, kappa, loc=0, scale=1):
    z = standardised(x, loc, scale)
    kappa = not_negative(kappa)
    total = np.log(scipy.special.i0e(kappa)) + np.log(2 * math.pi * scale)
    return kappa * scipy.special.cosm1(z) - total


@composite(vonmises.pdf)
def vonmises_pdf(x, kappa, loc=0, scale=1):
    return np.exp(vonmises_logpdf(x, kappa, loc, scale))


@composite(wrapcauchy.pdf)
def wrapcauchy_pdf(x, c, loc=0, scale=1):
    z = standardised(x, loc, scale)
    c = np.where((c > 0) & (c < 1), c, np.nan)
    density = (1 - c**2) / (2 * math.pi * scale * (1 + c**2 - 2 * c * np.cos(z)))
    outside = ((z < 0) | (z > 2 * math.pi)) & ~np.isnan(c)
    return np.where(outside, 0, density)


@composite(wrapcauchy.logpdf)
def wrapcauchy_logpdf(x, c, loc=0, scale=1):
    z = standardised(x, loc, scale)
    c = np.where((c > 0) & (c < 1), c, np.nan)
    density = (1 - c**2) / (2 * math.pi * scale * (1 + c**2 - 2 * c * np.cos(z)))
    outside = ((z < 0) | (z > 2 * math.pi)) & ~np.isnan(c)
    return np.where(outside, -np.inf, np.log(density))
