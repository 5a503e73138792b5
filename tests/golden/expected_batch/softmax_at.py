import numpy as np

__all__ = ["vmap_softmax_at"]


def vmap_softmax_at(x, temperature):
    """What softmax_at gives for each example of a batch.

    For x: (n, m), temperature: (n,).
    """
    if x.ndim != 2 or temperature.shape != x.shape[:1]:
        raise ValueError("vmap_softmax_at is for x: (n, m), temperature: (n,)")
    z = np.exp((x - np.max(x, axis=1)[:, None]) / np.exp(temperature)[:, None])
    return z / np.sum(z, axis=1)[:, None]
