__all__ = ["grad_stencil_1d"]


def grad_stencil_1d(u, steps):
    """Gradient of stencil_1d with respect to u, for u: (n,), steps: int."""
    if u.ndim != 1 or u.dtype.kind != "f":
        raise ValueError("grad_stencil_1d is for u: (n,), steps: int")
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = v[1:-1] + 0.1 * (v[2:] - 2 * v[1:-1] + v[:-2])
    # return np.sum(v**2)
    dv = 2 * v
    for _ in range(steps):
        # v[1:-1] = v[1:-1] + 0.1 * (v[2:] - 2 * v[1:-1] + v[:-2])
        dtotal = 0.1 * dv[1:-1]
        dv[:-2] += dtotal
        dv[2:] += dtotal
        dv[1:-1] -= 2 * dtotal
    return dv
