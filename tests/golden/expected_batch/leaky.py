import numpy as np

__all__ = ["vmap_leaky"]


def vmap_leaky(x):
    """What leaky gives for each example of a batch, for x: (n,)."""
    if x.ndim != 1:
        raise ValueError("vmap_leaky is for x: (n,)")
    return np.where(x > 0, x, 0.1 * x)
