import math

__all__ = ["grad_product"]


def grad_product(x, y):
    """Gradient of product with respect to x and y."""
    # return x * math.sin(y)
    dx = math.sin(y)
    dy = x * math.cos(y)
    return dx, dy
