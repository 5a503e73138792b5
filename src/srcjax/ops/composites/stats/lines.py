"""Distributions on the whole line: laplace, logistic, cauchy, gumbel, Student's t."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
from scipy.stats import cauchy, gumbel_l, gumbel_r, laplace, logistic, t

from srcjax.ops.composites.stats.support import (
    log1mexp,
    log_probability,
    positive,
    probability,
    standardised,
)
from srcjax.ops.record import composite

# -- laplace ------------------------------------------------------------------------


@composite(laplace.logpdf)
def laplace_logpdf(x, loc=0, scale=1):
    return -np.abs(standardised(x, loc, scale)) - np.log(2 * scale)


@composite(laplace.pdf)
def laplace_pdf(x, loc=0, scale=1):
    return np.exp(-np.abs(standardised(x, loc, scale))) / (2 * scale)


@composite(laplace.cdf)
def laplace_cdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    right = z > 0
    tail = np.exp(np.where(right, -z, z)) / 2
    return np.where(right, 1 - tail, tail)


@composite(laplace.logcdf)
def laplace_logcdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    right = z > 0
    log_tail = np.where(right, -z, z) - math.log(2)
    return np.where(right, np.log1p(-np.exp(log_tail)), log_tail)


@composite(laplace.sf)
def laplace_sf(x, loc=0, scale=1):
    return laplace_cdf(-x, -loc, scale)


@composite(laplace.logsf)
def laplace_logsf(x, loc=0, scale=1):
    return laplace_logcdf(-x, -loc, scale)


@composite(laplace.ppf)
def laplace_ppf(q, loc=0, scale=1):
    q = probability(q)
    right = q > 0.5
    log_tail = np.log(2 * np.where(right, 1 - q, q))
    return loc + positive(scale) * np.where(right, -log_tail, log_tail)


# -- logistic -----------------------------------------------------------------------


@composite(logistic.logpdf)
def logistic_logpdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return scipy.special.log_expit(z) + scipy.special.log_expit(-z) - np.log(scale)


@composite(logistic.pdf)
def logistic_pdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return scipy.special.expit(z) * scipy.special.expit(-z) / scale


@composite(logistic.cdf)
def logistic_cdf(x, loc=0, scale=1):
    return scipy.special.expit(standardised(x, loc, scale))


@composite(logistic.logcdf)
def logistic_logcdf(x, loc=0, scale=1):
    return scipy.special.log_expit(standardised(x, loc, scale))


@composite(logistic.sf)
def logistic_sf(x, loc=0, scale=1):
    return scipy.special.expit(-standardised(x, loc, scale))


@composite(logistic.logsf)
def logistic_logsf(x, loc=0, scale=1):
    return scipy.special.log_expit(-standardised(x, loc, scale))


@composite(logistic.ppf)
def logistic_ppf(q, loc=0, scale=1):
    return loc + positive(scale) * scipy.special.logit(q)


@composite(logistic.isf)
def logistic_isf(q, loc=0, scale=1):
    return loc - positive(scale) * scipy.special.logit(q)


# -- cauchy -------------------------------------------------------------------------


@composite(cauchy.logpdf)
def cauchy_logpdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return -np.log1p(z**2) - np.log(math.pi * scale)


@composite(cauchy.pdf)
def cauchy_pdf(x, loc=0, scale=1):
    return 1 / (math.pi * scale * (1 + standardised(x, loc, scale) ** 2))


@composite(cauchy.cdf)
def cauchy_cdf(x, loc=0, scale=1):
    return np.arctan2(1, -standardised(x, loc, scale)) / math.pi


@composite(cauchy.logcdf)
def cauchy_logcdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    right = np.where(z > 0, z, 1)
    below = np.log(np.arctan2(1, -z) / math.pi)
    return np.where(z > 0, np.log1p(-np.arctan2(1, right) / math.pi), below)


@composite(cauchy.sf)
def cauchy_sf(x, loc=0, scale=1):
    return np.arctan2(1, standardised(x, loc, scale)) / math.pi


@composite(cauchy.logsf)
def cauchy_logsf(x, loc=0, scale=1):
    return cauchy_logcdf(-x, -loc, scale)


@composite(cauchy.ppf)
def cauchy_ppf(q, loc=0, scale=1):
    q = probability(q)
    right = q > 0.5
    size = 1 / np.tan(math.pi * np.where(right, 1 - q, q))
    return loc + positive(scale) * np.where(right, size, -size)


# -- gumbel_r, gumbel_l: each the mirror image of the other -------------------------


@composite(gumbel_r.logpdf)
def gumbel_r_logpdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return -z - np.exp(-z) - np.log(scale)


@composite(gumbel_r.pdf)
def gumbel_r_pdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return np.exp(-z - np.exp(-z)) / scale


@composite(gumbel_r.cdf)
def gumbel_r_cdf(x, loc=0, scale=1):
    return np.exp(-np.exp(-standardised(x, loc, scale)))


@composite(gumbel_r.logcdf)
def gumbel_r_logcdf(x, loc=0, scale=1):
    return -np.exp(-standardised(x, loc, scale))


@composite(gumbel_r.sf)
def gumbel_r_sf(x, loc=0, scale=1):
    return -np.expm1(-np.exp(-standardised(x, loc, scale)))


@composite(gumbel_r.logsf)
def gumbel_r_logsf(x, loc=0, scale=1):
    return log1mexp(np.exp(-standardised(x, loc, scale)))


@composite(gumbel_r.ppf)
def gumbel_r_ppf(q, loc=0, scale=1):
    return loc - positive(scale) * np.log(-np.log(probability(q)))


@composite(gumbel_l.logpdf)
def gumbel_l_logpdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return z - np.exp(z) - np.log(scale)


@composite(gumbel_l.pdf)
def gumbel_l_pdf(x, loc=0, scale=1):
    z = standardised(x, loc, scale)
    return np.exp(z - np.exp(z)) / scale


@composite(gumbel_l.cdf)
def gumbel_l_cdf(x, loc=0, scale=1):
    return -np.expm1(-np.exp(standardised(x, loc, scale)))


@composite(gumbel_l.logcdf)
def gumbel_l_logcdf(x, loc=0, scale=1):
    return log1mexp(np.exp(standardised(x, loc, scale)))


@composite(gumbel_l.sf)
def gumbel_l_sf(x, loc=0, scale=1):
    return np.exp(-np.exp(standardised(x, loc, scale)))


@composite(gumbel_l.logsf)
def gumbel_l_logsf(x, loc=0, scale=1):
    return -np.exp(standardised(x, loc, scale))


@composite(gumbel_l.ppf)
def gumbel_l_ppf(q, loc=0, scale=1):
    return loc + positive(scale) * np.log(-np.log1p(-probability(q)))


# -- t: no derivative to df through the distribution function is known --------------


@composite(t.logpdf)
def t_logpdf(x, df, loc=0, scale=1):
    z = standardised(x, loc, scale)
    df = positive(df)
    peak = -scipy.special.betaln(0.5, df / 2) - np.log(df) / 2 - np.log(scale)
    return peak - (df + 1) / 2 * np.log1p(z**2 / df)


@composite(t.pdf)
def t_pdf(x, df, loc=0, scale=1):
    return np.exp(t_logpdf(x, df, loc, scale))


@composite(t.cdf)
def t_cdf(x, df, loc=0, scale=1):
    return scipy.special.stdtr(positive(df), standardised(x, loc, scale))


@composite(t.logcdf)
def t_logcdf(x, df, loc=0, scale=1):
    return log_probability(t_cdf(x, df, loc, scale), t_sf(x, df, loc, scale))


@composite(t.sf)
def t_sf(x, df, loc=0, scale=1):
    return scipy.special.stdtr(positive(df), -standardised(x, loc, scale))


@composite(t.logsf)
def t_logsf(x, df, loc=0, scale=1):
    return log_probability(t_sf(x, df, loc, scale), t_cdf(x, df, loc, scale))


@composite(t.ppf)
def t_ppf(q, df, loc=0, scale=1):
    z = scipy.special.stdtrit(positive(df), probability(q))
    return loc + positive(scale) * np.where(q == 0, -np.abs(z), z)
