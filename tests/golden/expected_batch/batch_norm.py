import numpy as np

__all__ = ["vmap_batch_norm"]


def vmap_batch_norm(x, scale, shift):
    mean = np.mean(x, axis=0)
    difference = x - mean
    variance = np.mean(difference**2, axis=0)
    return scale * difference / np.sqrt(variance + 1e-5) + shift
