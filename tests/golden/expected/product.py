import math

__all__ = ["grad_product"]


def grad_product(x, y):
    # return x * math.sin(y)
    dx = math.sin(y)
    dy = x * math.cos(y)
    return dx, dy
