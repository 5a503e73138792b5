import numpy as np

__all__ = ["vmap_layer"]


def vmap_layer(x, W, b):
    """What layer gives for each example of a batch.

    For x: (n, m), W: (m, k), b: (k,).
    """
    if x.ndim != 2 or W.ndim != 2 or len(W) != x.shape[1] or b.shape != W.shape[1:]:
        raise ValueError("vmap_layer is for x: (n, m), W: (m, k), b: (k,)")
    return np.tanh(x @ W + b)
