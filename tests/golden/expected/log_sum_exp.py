import numpy as np

__all__ = ["grad_log_sum_exp"]


def grad_log_sum_exp(x):
    """Gradient of log_sum_exp with respect to x, for x: (n,)."""
    if x.ndim != 1:
        raise ValueError("grad_log_sum_exp is for x: (n,)")
    largest = np.max(x)
    exp_difference = np.exp(x - largest)
    return exp_difference / np.sum(exp_difference)
