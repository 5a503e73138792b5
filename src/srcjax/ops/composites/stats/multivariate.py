"""Distributions of vectors: multivariate_normal, dirichlet, multinomial.

The derivative to a covariance is symmetric; those to the probabilities of multinomial
and to a point of dirichlet are of the formula, whose arguments need not sum to one.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg
import scipy.special
from scipy.stats import dirichlet, multinomial, multivariate_normal

from srcjax.ops.record import composite

# -- multivariate_normal ------------------------------------------------------------


def covariance_matrix(mean, cov):
    """The matrix that a number, a diagonal or a matrix stands for."""
    if np.ndim(cov) == 2:
        return cov
    if np.ndim(cov) == 1:
        return np.diag(cov)
    size = 1 if mean is None else np.size(mean)
    return cov * np.eye(size)


def is_singular(covariance):
    """Whether SciPy takes some direction to have no variance."""
    variances = np.linalg.eigvalsh(covariance)
    least = 1e6 * np.finfo(variances.dtype).eps * np.max(np.abs(variances))
    return np.min(variances) <= least


@composite(multivariate_normal.logpdf)
def multivariate_normal_logpdf(x, mean=None, cov=1, allow_singular=False):
    covariance = covariance_matrix(mean, cov)
    if allow_singular and is_singular(covariance):
        raise ValueError("the density has no derivative where `cov` is singular")
    factor = np.linalg.cholesky(covariance)
    size = factor.shape[0]
    deviation = x if mean is None else x - mean
    shape = np.shape(deviation) if size > 1 or np.ndim(x) > 1 else (*np.shape(x), 1)
    points = np.reshape(deviation, (-1, size))
    z = scipy.linalg.solve_triangular(factor, points.T, lower=True)
    spread = 2 * np.sum(np.log(np.diag(factor))) + size * math.log(2 * math.pi)
    density = np.reshape(-(np.sum(z**2, axis=0) + spread) / 2, shape[:-1])
    return np.squeeze(density)[()]


@composite(multivariate_normal.pdf)
def multivariate_normal_pdf(x, mean=None, cov=1, allow_singular=False):
    return np.exp(multivariate_normal_logpdf(x, mean, cov, allow_singular))


@composite(multivariate_normal.entropy)
def multivariate_normal_entropy(mean=None, cov=1):
    factor = np.linalg.cholesky(covariance_matrix(mean, cov))
    size = factor.shape[0]
    return size * (1 + math.log(2 * math.pi)) / 2 + np.sum(np.log(np.diag(factor)))


# -- dirichlet, multinomial ---------------------------------------------------------


@composite(dirichlet.logpdf)
def dirichlet_logpdf(x, alpha):
    if len(x) + 1 == len(alpha):  # the last entry is what is left
        x = np.concatenate([x, 1 - np.sum(x, axis=0, keepdims=True)])
    if np.any(alpha <= 0):
        raise ValueError("all of `alpha` must be positive")
    if np.any((x < 0) | (np.abs(np.sum(x, axis=0) - 1) > 1e-9)):
        raise ValueError("`x` must be probabilities that sum to 1")
    total = scipy.special.gammaln(np.sum(alpha)) - np.sum(scipy.special.gammaln(alpha))
    density = total + np.sum(scipy.special.xlogy(alpha - 1, x.T), axis=-1)
    return np.squeeze(density)[()]


@composite(dirichlet.pdf)
def dirichlet_pdf(x, alpha):
    return np.exp(dirichlet_logpdf(x, alpha))


@composite(multinomial.logpmf)
def multinomial_logpmf(x, n, p):
    if np.any(np.abs(np.sum(p, axis=-1) - 1) > 1e-9):
        raise ValueError("the probabilities `p` must sum to 1")
    none = np.any((x < 0) | (x != np.floor(x)), axis=-1) | (np.sum(x, axis=-1) != n)
    x = np.where(none[..., None], 0, x)
    p = np.where(np.any((p < 0) | (p > 1), axis=-1, keepdims=True), np.nan, p)
    n = np.where(n >= 0, n, np.nan)
    terms = scipy.special.xlogy(x, p) - scipy.special.gammaln(x + 1)
    mass = scipy.special.gammaln(n + 1) + np.sum(terms, axis=-1)
    return np.where(none & ~np.isnan(mass), -np.inf, mass)


@composite(multinomial.pmf)
def multinomial_pmf(x, n, p):
    return np.exp(multinomial_logpmf(x, n, p))
