"""The density estimate of gaussian_kde, at points; its data are constants."""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg
import scipy.special
from scipy.stats import gaussian_kde

from srcjax.ops.record import composite


@composite(gaussian_kde.logpdf)
def kde_logpdf(self, x):
    points = np.atleast_2d(x)
    if points.shape[0] != self.d and points.shape == (1, self.d):
        points = points.T  # one point
    size, count = points.shape
    gaps = np.reshape(points[:, :, None] - self.dataset[:, None, :], (size, -1))
    z = scipy.linalg.solve_triangular(self.cho_cov, gaps, lower=True)
    exponents = np.reshape(-np.sum(z**2, axis=0) / 2, (count, -1))
    spread = np.sum(np.log(np.diag(self.cho_cov))) + size * math.log(2 * math.pi) / 2
    return scipy.special.logsumexp(exponents, axis=1, b=self.weights) - spread


@composite(gaussian_kde.pdf, gaussian_kde.evaluate, gaussian_kde.__call__)
def kde_pdf(self, x):
    return np.exp(kde_logpdf(self, x))
