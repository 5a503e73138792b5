__all__ = ["vmap_smoothed"]


def vmap_smoothed(u):
    """What smoothed gives for each example of a batch, for u: (n, m)."""
    if u.ndim != 2:
        raise ValueError("vmap_smoothed is for u: (n, m)")
    v = u.copy()
    v[:, 1:-1] = (u[:, :-2] + u[:, 1:-1] + u[:, 2:]) / 3
    return v
