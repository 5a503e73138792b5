"""Helpers of the rules of scipy.signal: `d` is an adjoint."""

import numpy as np


def lagged_sums(d, x, coefficients, axis):
    """The adjoint of coefficients that weigh `x`, as late as their places."""
    late, now = np.moveaxis(d, axis, -1), np.moveaxis(x, axis, -1)
    size = np.shape(now)[-1]
    sums = [
        np.sum(late[..., k:] * now[..., : size - k]) if k < size else 0.0
        for k in range(np.size(coefficients))
    ]
    return np.reshape(np.array(sums), np.shape(coefficients))
