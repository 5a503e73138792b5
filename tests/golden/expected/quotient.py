__all__ = ["grad_quotient"]


def grad_quotient(x):
    """Gradient of quotient with respect to x."""
    total = x * x + 1
    # return (x + 1) / (x * x + 1)
    return 1 / total - 2 * (x + 1) / total**2 * x
