import numpy as np

__all__ = ["grad_trajectory"]


def grad_trajectory(start, rate, steps):
    """Gradient of trajectory with respect to start and rate."""
    if np.ndim(start) != 0 or np.ndim(rate) != 0:
        raise ValueError("grad_trajectory is for numbers, not for arrays")
    x = np.zeros(steps + 1)
    x[0] = start
    for t in range(steps):
        x[t + 1] = x[t] + 0.1 * rate * x[t] * (1 - x[t])
    # return np.sum(x**2)
    dx = 2 * x
    drate = 0.0
    for t in reversed(range(steps)):
        # x[t + 1] = x[t] + 0.1 * rate * x[t] * (1 - x[t])
        dtotal = dx[t + 1]
        dx[t + 1] = 0.0
        dproduct = dtotal * (1 - x[t])
        drate += 0.1 * dproduct * x[t]
        dx[t] += dtotal - 0.1 * dtotal * rate * x[t] + 0.1 * dproduct * rate
    # x[0] = start
    return dx[0], drate
