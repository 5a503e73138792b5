__all__ = ["grad_stencil_2d"]


def grad_stencil_2d(u):
    """Gradient of stencil_2d with respect to u, for u: (n, m)."""
    if u.ndim != 2 or u.dtype.kind != "f":
        raise ValueError("grad_stencil_2d is for u: (n, m)")
    v = u.copy()
    for i in range(1, v.shape[0] - 1):
        for j in range(1, v.shape[1] - 1):
            v[i, j] = 0.25 * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1])
    # return np.sum(v**2)
    dv = 2 * v
    for i in reversed(range(1, v.shape[0] - 1)):
        for j in reversed(range(1, v.shape[1] - 1)):
            # v[i, j] = 0.25 * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1])
            dproduct = dv[i, j]
            dv[i, j] = 0.0
            dtotal = 0.25 * dproduct
            dv[i, j + 1] += dtotal
            dv[i, j - 1] += dtotal
            dv[i + 1, j] += dtotal
            dv[i - 1, j] += dtotal
    return dv
