import numpy as np

__all__ = ["grad_cosine_similarity"]


def grad_cosine_similarity(a, b):
    """Gradient of cosine_similarity with respect to a and b, for a: (n,), b: (n,)."""
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError("grad_cosine_similarity is for a: (n,), b: (n,)")
    norm_a = np.linalg.norm(a)
    norm_b = np.linalg.norm(b)
    product = norm_a * norm_b
    # return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    dproduct = -(a @ b / product**2)
    db = dproduct * norm_a * b / np.where(norm_b == 0, 1, norm_b) + a / product
    da = dproduct * norm_b * a / np.where(norm_a == 0, 1, norm_a) + b / product
    return da, db
