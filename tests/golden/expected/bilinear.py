import numpy as np

__all__ = ["grad_bilinear"]


def grad_bilinear(A, x, y):
    # return x @ A @ y
    dy = x @ A
    dx = A @ y
    dA = np.outer(x, y)
    return dA, dx, dy
