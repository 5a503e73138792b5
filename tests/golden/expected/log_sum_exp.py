import numpy as np

__all__ = ["grad_log_sum_exp"]


def grad_log_sum_exp(x):
    largest = np.max(x)
    exp_difference = np.exp(x - largest)
    # return largest + np.log(np.sum(np.exp(x - largest)))
    dlargest = 1.0
    ddifference = 1.0 / np.sum(exp_difference) * exp_difference
    dlargest += (-ddifference).sum()
    # largest = np.max(x)
    dx = ddifference + dlargest * (x == largest) / np.sum(x == largest)
    return dx
