import numpy as np

__all__ = ["grad_log_sum_exp"]


def grad_log_sum_exp(x):
    largest = np.max(x)
    exp_difference = np.exp(x - largest)
    # return largest + np.log(np.sum(np.exp(x - largest)))
    ddifference = exp_difference / np.sum(exp_difference)
    dlargest = 1.0 - ddifference.sum()
    return ddifference + dlargest * (x == largest) / np.sum(x == largest)
