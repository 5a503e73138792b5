import numpy as np

__all__ = ["vmap_logistic"]


def vmap_logistic(x):
    """What logistic gives for each example of a batch, for x: (n,)."""
    if x.ndim != 1:
        raise ValueError("vmap_logistic is for x: (n,)")
    return 1 / (1 + np.exp(-x))
