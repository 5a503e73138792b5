import numpy as np

__all__ = ["vmap_factorial_like"]


def factorial_like_batch(x, batch_size2):
    taken = x <= 1
    result = np.empty(batch_size2)
    result[taken] = 1.0
    other = ~taken
    if other.any():
        x_other = x[other]
        result[other] = x_other * factorial_like_batch(x_other - 1, len(x_other))
    return result


def vmap_factorial_like(x):
    """What factorial_like gives for each example of a batch, for x: (n,)."""
    if x.ndim != 1:
        raise ValueError("vmap_factorial_like is for x: (n,)")
    return factorial_like_batch(x, len(x))
