import numpy as np

__all__ = ["vmap_sum_of_first"]


def vmap_sum_of_first(x, count):
    batch_size = len(x)
    total = np.zeros(batch_size)
    lanes = np.arange(batch_size)
    for k in range(int(np.max(count, initial=0))):
        lanes = lanes[k < count[lanes]]
        if not lanes.size:
            break
        total[lanes] = total[lanes] + x[lanes, k]
    return total
