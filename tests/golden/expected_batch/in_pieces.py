import numpy as np

__all__ = ["vmap_in_pieces"]


def vmap_in_pieces(x):
    """What in_pieces gives for each example of a batch, for x: (n,)."""
    if x.ndim != 1:
        raise ValueError("vmap_in_pieces is for x: (n,)")
    taken = x < 0
    result = np.empty(len(x))
    result[taken] = np.exp(x[taken])
    taken2 = ~taken & (x < 2)
    result[taken2] = 1 + x[taken2]
    other = ~(taken | taken2)
    result[other] = np.log(x[other]) + 3 - np.log(2.0)
    return result
