import numpy as np

__all__ = ["vmap_sum_of_first"]


def vmap_sum_of_first(x, count):
    """What sum_of_first gives for each example of a batch.

    For x: (n, m), count: (n,).
    """
    if x.ndim != 2 or count.shape != x.shape[:1]:
        raise ValueError("vmap_sum_of_first is for x: (n, m), count: (n,)")
    total = np.zeros(len(x))
    lanes = np.arange(len(x))
    for k in range(int(np.max(count, initial=0))):
        lanes = lanes[k < count[lanes]]
        if not lanes.size:
            break
        total[lanes] += x[lanes, k]
    return total
