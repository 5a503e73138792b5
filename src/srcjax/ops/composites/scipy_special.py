"""Functions of scipy.special that plain NumPy can say."""

from __future__ import annotations

import math

import numpy as np
import scipy.special

from srcjax.ops.record import completes, composite, for_complex


@composite(scipy.special.multigammaln)
def multigammaln(a, d):
    """A sum of `d` gammaln; all of `a` must be above `(d - 1) / 2`."""
    if np.any(a <= (d - 1) / 2):
        raise ValueError("`a` must be above (d - 1) / 2")
    total = scipy.special.gammaln(a) + d * (d - 1) / 4 * math.log(math.pi)
    for i in range(1, d):
        total = total + scipy.special.gammaln(a - i / 2)
    return total


@completes(scipy.special.logsumexp)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """The logarithm of the size of the sum, and its sign."""
    if not return_sign:
        return scipy.special.logsumexp(a, axis, b, keepdims)
    largest = np.max(a, axis, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    terms = np.exp(a - largest)
    total = np.sum(terms if b is None else b * terms, axis, keepdims=keepdims)
    shift = np.reshape(largest, np.shape(total))
    return np.log(np.abs(total)) + shift, np.sign(total)


@for_complex(scipy.special.xlogy)
def xlogy(x, y):
    """0 where `x` is."""
    return np.where(x == 0, 0, x * np.log(np.where(x == 0, 1, y)))


@for_complex(scipy.special.xlog1py)
def xlog1py(x, y):
    """0 where `x` is."""
    return np.where(x == 0, 0, x * np.log1p(np.where(x == 0, 0, y)))
