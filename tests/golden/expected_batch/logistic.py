import numpy as np

__all__ = ["vmap_logistic"]


def vmap_logistic(x):
    return 1 / (1 + np.exp(-x))
