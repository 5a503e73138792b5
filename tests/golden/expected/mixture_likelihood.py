import numpy as np

__all__ = ["grad_mixture_likelihood"]


def grad_mixture_likelihood(centers, widths, weights, data):
    """Gradient of mixture_likelihood with respect to centers.

    For centers: (n,), widths: (m,), weights: (k,), data: (p,).
    """
    if (
        centers.ndim != 1
        or centers.dtype.kind != "f"
        or widths.ndim != 1
        or weights.ndim != 1
        or data.ndim != 1
    ):
        raise ValueError(grad_mixture_likelihood.__doc__)
    density = 0.0
    tape = []
    for k in range(len(centers)):
        z = (data - centers[k]) / widths[k]
        exp_value = np.exp(-0.5 * z**2)
        density = density + weights[k] * exp_value / widths[k]
        tape.append((exp_value, z))
    # return -np.sum(np.log(density))
    ddensity = -1 / density
    dcenters = np.zeros_like(centers)
    for k in reversed(range(len(centers))):
        exp_value, z = tape.pop()
        # density = density + weights[k] * np.exp(-0.5 * z**2) / widths[k]
        dz = -ddensity / widths[k] * weights[k] * exp_value * z
        # z = (data - centers[k]) / widths[k]
        dcenters[k] -= (dz / widths[k]).sum()
    return dcenters
