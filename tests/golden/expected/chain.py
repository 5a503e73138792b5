import math

__all__ = ["grad_chain"]


def grad_chain(x):
    """Gradient of chain with respect to x."""
    power = x**2
    inner = math.sin(power)
    # return math.exp(inner)
    dinner = math.exp(inner)
    # inner = math.sin(x**2)
    return 2 * dinner * math.cos(power) * x
