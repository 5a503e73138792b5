import numpy as np

__all__ = ["jvp_newton_sqrt"]


def jvp_newton_sqrt(a, a_dot):
    """Value of newton_sqrt, and its derivative along a_dot."""
    if np.ndim(a) != 0:
        raise ValueError("jvp_newton_sqrt is for numbers, not for arrays")
    x = a
    x_dot = a_dot
    while abs(x * x - a) > 1e-9 * a:
        total_dot = x_dot + a_dot / x - x_dot * a / x**2
        x = 0.5 * (x + a / x)
        x_dot = 0.5 * total_dot
    return x, x_dot
