import numpy as np

__all__ = ["jacfwd_layer"]


def jacfwd_layer(x, W, b):
    """Jacobian of layer with respect to x, for x: (n,), W: (n, m), b: (m,)."""
    if x.ndim != 1 or W.ndim != 2 or len(W) != len(x) or b.shape != W.shape[1:]:
        raise ValueError("jacfwd_layer is for x: (n,), W: (n, m), b: (m,)")
    # Each column: the derivative along one element of x.
    return (W * (1 - np.tanh(x @ W + b) ** 2)).T
