import numpy as np

__all__ = ["grad_relaxation"]


def grad_relaxation(u, f, sweeps):
    """Gradient of relaxation with respect to u.

    For u: (n, m), f: (n, m), sweeps: int.
    """
    if u.ndim != 2 or u.dtype.kind != "f" or f.shape != u.shape:
        raise ValueError("grad_relaxation is for u: (n, m), f: (n, m), sweeps: int")
    for _ in range(sweeps):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] - f[1:-1, 1:-1])
        u = new
    # return np.sum(u**2)
    du = 2 * u
    for _ in range(sweeps):
        # new[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] - f[1:-1, 1:-1])
        dnew = du.copy()
        ddifference = 0.25 * dnew[1:-1, 1:-1]
        dnew[1:-1, 1:-1] = 0.0
        du = np.zeros_like(f)
        du[:-2, 1:-1] = ddifference
        du[2:, 1:-1] += ddifference
        # new = u.copy()
        du += dnew
    return du
