import numpy as np

__all__ = ["grad_bilinear"]


def grad_bilinear(A, x, y):
    """Gradient of bilinear with respect to A, x and y.

    For A: (n, m), x: (n,), y: (m,).
    """
    if A.ndim != 2 or x.shape != A.shape[:1] or y.shape != A.shape[1:]:
        raise ValueError("grad_bilinear is for A: (n, m), x: (n,), y: (m,)")
    # return x @ A @ y
    dy = x @ A
    dx = A @ y
    dA = np.outer(x, y)
    return dA, dx, dy
