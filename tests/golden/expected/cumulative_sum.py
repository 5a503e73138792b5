import numpy as np

__all__ = ["grad_cumulative_sum"]


def grad_cumulative_sum(x, weights):
    """Gradient of cumulative_sum with respect to x, for x: (n,), weights: (n,)."""
    if x.ndim != 1 or weights.shape != x.shape:
        raise ValueError("grad_cumulative_sum is for x: (n,), weights: (n,)")
    positions = np.cumsum(x)
    # return np.sum(weights * positions**2)
    dpositions = 2 * weights * positions
    # positions = np.cumsum(x)
    return np.cumsum(dpositions[::-1])[::-1]
