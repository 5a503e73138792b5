import numpy as np

__all__ = ["grad_clipped"]


def grad_clipped(x):
    """Gradient of clipped with respect to x, for x: (n,)."""
    if x.ndim != 1:
        raise ValueError("grad_clipped is for x: (n,)")
    y = np.clip(x, -1.0, 1.0)
    # return np.sum(y**2)
    dy = 2 * y
    # y = np.clip(x, -1.0, 1.0)
    return dy * (x > -1.0) * (x < 1.0) + dy * ((x == -1.0) | (x == 1.0)) / 2
