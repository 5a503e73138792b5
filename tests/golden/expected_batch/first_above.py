import numpy as np

__all__ = ["vmap_first_above"]


def vmap_first_above(x):
    """What first_above gives for each example of a batch, for x: (n, m)."""
    if x.ndim != 2:
        raise ValueError("vmap_first_above is for x: (n, m)")
    batch_size = len(x)
    result = np.empty(batch_size, dtype=int)
    returned = np.full(batch_size, False)
    lanes = np.arange(batch_size)
    for k in range(x.shape[1]):
        taken = x[lanes, k] > 1
        result[lanes] = np.where(taken, np.full(len(lanes), k), result[lanes])
        returned[lanes] = np.where(taken, True, returned[lanes])
        lanes = lanes[~taken]
        if not lanes.size:
            break
    return np.where(returned, result, -1)
