import math

__all__ = ["grad_piecewise"]


def grad_piecewise(x):
    """Gradient of piecewise with respect to x."""
    if x < 0:
        # y = x * x
        dx = 4 * x
    elif x < 1:
        # y = math.sin(x)
        dx = 2 * math.cos(x)
    else:
        # y = math.log(x)
        dx = 2 / x
    return dx
