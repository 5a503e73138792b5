import numpy as np

__all__ = ["grad_leaky_relu"]


def grad_leaky_relu(x):
    """Gradient of leaky_relu with respect to x, for x: (n,)."""
    if x.ndim != 1:
        raise ValueError("grad_leaky_relu is for x: (n,)")
    y = np.where(x > 0, x, 0.1 * x)
    # return np.sum(y**2)
    dy = 2 * y
    # y = np.where(x > 0, x, 0.1 * x)
    return np.where(x > 0, dy, 0.1 * dy)
