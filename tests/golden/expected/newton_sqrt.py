import numpy as np

__all__ = ["grad_newton_sqrt"]


def grad_newton_sqrt(a):
    """Gradient of newton_sqrt with respect to a."""
    if np.ndim(a) != 0:
        raise ValueError("grad_newton_sqrt is for numbers, not for arrays")
    x = a
    x_tape = []
    while abs(x * x - a) > 1e-10:
        x_tape.append(x)
        x = (x + a / x) / 2
    # return x
    dx = 1.0
    da = 0.0
    for x in reversed(x_tape):
        # x = (x + a / x) / 2
        dtotal = dx / 2
        da += dtotal / x
        dx = dtotal * (1 - a / x**2)
    # x = a
    return da + dx
