import numpy as np

__all__ = ["vmap_cosine"]


def vmap_cosine(x, y):
    return np.einsum("bi,bi->b", x, y) / (
        np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    )
