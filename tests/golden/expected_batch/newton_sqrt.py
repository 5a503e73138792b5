import numpy as np

__all__ = ["vmap_newton_sqrt"]


def vmap_newton_sqrt(a):
    """What newton_sqrt gives for each example of a batch, for a: (n,)."""
    if a.ndim != 1:
        raise ValueError("vmap_newton_sqrt is for a: (n,)")
    x = a.copy()
    lanes = np.arange(len(a))
    while True:
        a_lanes = a[lanes]
        x_lanes = x[lanes]
        lanes = lanes[np.abs(x_lanes * x_lanes - a_lanes) > 1e-9 * a_lanes]
        if not lanes.size:
            break
        x_lanes = x[lanes]
        x[lanes] = 0.5 * (x_lanes + a[lanes] / x_lanes)
    return x
