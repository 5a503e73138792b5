import numpy as np

__all__ = ["vmap_cosine"]


def vmap_cosine(x, y):
    """What cosine gives for each example of a batch, for x: (n, m), y: (n, m)."""
    if x.ndim != 2 or y.shape != x.shape:
        raise ValueError("vmap_cosine is for x: (n, m), y: (n, m)")
    return np.einsum("bi,bi->b", x, y) / (
        np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    )
