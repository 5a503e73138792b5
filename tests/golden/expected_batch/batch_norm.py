import numpy as np

__all__ = ["vmap_batch_norm"]


def vmap_batch_norm(x, scale, shift):
    """What batch_norm gives for each example of a batch.

    For x: (n, m), scale: (m,), shift: (m,).
    """
    if x.ndim != 2 or scale.shape != x.shape[1:] or shift.shape != x.shape[1:]:
        raise ValueError("vmap_batch_norm is for x: (n, m), scale: (m,), shift: (m,)")
    mean = np.mean(x, axis=0)
    variance = np.mean((x - mean) ** 2, axis=0)
    return scale * (x - mean) / np.sqrt(variance + 1e-5) + shift
