"""Functions of SciPy's that optimisers are tried on, as plain NumPy code."""

from __future__ import annotations

import numpy as np
import scipy.optimize

from srcjax.ops.record import composite


@composite(scipy.optimize.rosen)
def rosen(x):
    """The sum over neighbours, along the first axis."""
    x = np.asarray(x)
    first, second = x[:-1], x[1:]
    return np.sum(100.0 * (second - first**2) ** 2 + (1 - first) ** 2, axis=0)


@composite(scipy.optimize.rosen_der)
def rosen_der(x):
    """Each item is in two terms, but the first and the last in one."""
    x = np.asarray(x)
    step = 200 * (x[1:] - x[:-1] ** 2)
    slope = np.zeros_like(x)
    slope[1:] += step
    slope[:-1] -= 2 * step * x[:-1] + 2 * (1 - x[:-1])
    return slope
