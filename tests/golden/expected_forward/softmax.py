import numpy as np

__all__ = ["jvp_softmax"]


def jvp_softmax(x, x_dot):
    """Value of softmax, and its derivative along x_dot, for x: (n,)."""
    if x.ndim != 1 or x_dot.shape != x.shape:
        raise ValueError("jvp_softmax is for x: (n,)")
    e = np.exp(x - np.max(x))
    ratio = e / np.sum(e)
    return ratio, ratio * (x_dot - np.sum(x_dot * ratio))
