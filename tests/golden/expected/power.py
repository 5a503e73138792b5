import numpy as np

__all__ = ["grad_power"]


def grad_power(x, n):
    """Gradient of power with respect to x."""
    if np.ndim(x) != 0:
        raise ValueError("grad_power is for numbers, not for arrays")
    result = 1.0
    result_tape = []
    for _ in range(n):
        result_tape.append(result)
        result = result * x
    # return result
    dresult = 1.0
    dx = 0.0
    for result in reversed(result_tape):
        # result = result * x
        dx += dresult * result
        dresult = dresult * x
    return dx
