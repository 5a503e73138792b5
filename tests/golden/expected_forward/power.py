import numpy as np

__all__ = ["jvp_power"]


def jvp_power(x, x_dot):
    """Value of power, and its derivative along x_dot."""
    if np.ndim(x) != 0:
        raise ValueError("jvp_power is for numbers, not for arrays")
    y = 1.0
    y_dot = 0.0
    for _ in range(5):
        y_dot = y_dot * x + x_dot * y
        y = y * x
    return y, y_dot
