import numpy as np

__all__ = ["grad_recursive_power"]


def recursive_power_forward(x, n):
    recursive_power_value = None
    saved = None
    if n == 0:
        result = 1.0
    else:
        recursive_power_value, saved = recursive_power_forward(x, n - 1)
        result = x * recursive_power_value
    return result, (x, n, recursive_power_value, saved)


def recursive_power_backward(saved2, dresult):
    x, n, recursive_power_value, saved = saved2
    if n == 0:
        dx = 0.0
    else:
        # return x * recursive_power(x, n - 1)
        dx = dresult * recursive_power_value + recursive_power_backward(
            saved, dresult * x
        )
    return dx


def grad_recursive_power(x, n):
    """Gradient of recursive_power with respect to x."""
    if np.ndim(x) != 0:
        raise ValueError("grad_recursive_power is for numbers, not for arrays")
    _, saved = recursive_power_forward(x, n)
    return recursive_power_backward(saved, 1.0)
