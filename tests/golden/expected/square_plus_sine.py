import math

__all__ = ["grad_square_plus_sine"]


def grad_square_plus_sine(x):
    """Gradient of square_plus_sine with respect to x."""
    # return x**2 + 3 * math.sin(x)
    return 3 * math.cos(x) + 2 * x
