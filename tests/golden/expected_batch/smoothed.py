__all__ = ["vmap_smoothed"]


def vmap_smoothed(u):
    v = u.copy()
    v[:, 1:-1] = (u[:, :-2] + u[:, 1:-1] + u[:, 2:]) / 3
    return v
