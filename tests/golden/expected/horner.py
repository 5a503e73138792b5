import numpy as np

__all__ = ["grad_horner"]


def grad_horner(coefficients, x):
    """Gradient of horner with respect to coefficients and x.

    For coefficients: (n,), x: float.
    """
    if coefficients.ndim != 1 or coefficients.dtype.kind != "f" or np.ndim(x) != 0:
        raise ValueError("grad_horner is for coefficients: (n,), x: float")
    total = 0.0
    total_tape = []
    for c in coefficients:
        total_tape.append(total)
        total = total * x + c
    # return total
    dtotal = 1.0
    dx = 0.0
    dcoefficients = np.zeros_like(coefficients)
    for i in reversed(range(len(coefficients))):
        total = total_tape.pop()
        # for c in coefficients:
        dcoefficients[i] += dtotal
        # total = total * x + c
        dx += dtotal * total
        dtotal = dtotal * x
    return dcoefficients, dx
