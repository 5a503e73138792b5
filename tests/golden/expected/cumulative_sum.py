import numpy as np

__all__ = ["grad_cumulative_sum"]


def grad_cumulative_sum(x, weights):
    positions = np.cumsum(x)
    # return np.sum(weights * positions**2)
    dpositions = 2 * weights * positions
    # positions = np.cumsum(x)
    return np.cumsum(dpositions[::-1])[::-1]
