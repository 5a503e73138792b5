import numpy as np

__all__ = ["vmap_cheapest_path"]


def vmap_cheapest_path(cost):
    """What cheapest_path gives for each example of a batch, for cost: (n, m, k)."""
    if cost.ndim != 3:
        raise ValueError("vmap_cheapest_path is for cost: (n, m, k)")
    batch_size = len(cost)
    n, m = cost.shape[1:]
    total = np.zeros((batch_size, n, m))
    for i in range(n):
        for j in range(m):
            if i and j:
                best = np.minimum(total[:, i - 1, j], total[:, i, j - 1])
            else:
                best = np.zeros(batch_size)
            total[:, i, j] = cost[:, i, j] + best
    return total[:, -1, -1].copy()
