__all__ = ["grad_quotient"]


def grad_quotient(x):
    total2 = x * x + 1
    # return (x + 1) / (x * x + 1)
    dx = -2 * ((x + 1) / total2**2 * x)
    dx += 1 / total2
    return dx
