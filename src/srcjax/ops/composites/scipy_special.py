"""Functions of scipy.special that plain NumPy can say."""

from __future__ import annotations

import math

import numpy as np
import scipy.special

from srcjax.ops.record import composite


@composite(scipy.special.multigammaln)
def multigammaln(a, d):
    """A sum of `d` gammaln; all of `a` must be above `(d - 1) / 2`."""
    if np.any(a <= (d - 1) / 2):
        raise ValueError("`a` must be above (d - 1) / 2")
    total = scipy.special.gammaln(a) + d * (d - 1) / 4 * math.log(math.pi)
    for i in range(1, d):
        total = total + scipy.special.gammaln(a - i / 2)
    return total
