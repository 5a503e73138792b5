import math

__all__ = ["grad_chain"]


def grad_chain(x):
    """Gradient of chain with respect to x."""
    inner = math.sin(x**2)
    # return math.exp(inner)
    dinner = math.exp(inner)
    # inner = math.sin(x**2)
    return 2 * dinner * math.cos(x**2) * x
