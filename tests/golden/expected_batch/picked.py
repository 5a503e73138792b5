import numpy as np

__all__ = ["vmap_picked"]


def vmap_picked(x, i):
    batch_size = len(x)
    return x[np.arange(batch_size), i] ** 2
