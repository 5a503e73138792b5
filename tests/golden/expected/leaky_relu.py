import numpy as np

__all__ = ["grad_leaky_relu"]


def grad_leaky_relu(x):
    condition = x > 0
    y = np.where(condition, x, 0.1 * x)
    # return np.sum(y**2)
    dy = 2 * y
    # y = np.where(x > 0, x, 0.1 * x)
    dx = np.where(condition, dy, 0) + np.where(condition, 0, dy) * 0.1
    return dx
