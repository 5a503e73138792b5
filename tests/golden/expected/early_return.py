import math

__all__ = ["grad_early_return"]


def grad_early_return(x):
    """Gradient of early_return with respect to x."""
    if x > 2:
        # return x * x
        dx = 2 * x
    else:
        y = math.exp(x)
        # y = math.exp(x)
        dx = y
    return dx
