import numpy as np

__all__ = ["jacrev_gated"]


def gated_forward(x, W, b):
    z = x @ W + b
    exp_neg_z = np.exp(-z)
    total = 1 + exp_neg_z
    return z / total, (W, z, exp_neg_z, total)


def gated_backward(saved, dresult):
    W, z, exp_neg_z, total = saved
    # z = x @ W + b
    return dresult * (1 / total + z / total**2 * exp_neg_z) @ W.T


def jacrev_gated(x, W, b):
    """Jacobian of gated with respect to x, for x: (n,), W: (n, m), b: (m,)."""
    if x.ndim != 1 or W.ndim != 2 or len(W) != len(x) or b.shape != W.shape[1:]:
        raise ValueError("jacrev_gated is for x: (n,), W: (n, m), b: (m,)")
    y, saved = gated_forward(x, W, b)
    # Each row: the derivative of one element of y.
    return gated_backward(saved, np.eye(y.size))
