import numpy as np

__all__ = ["grad_log_sum_exp"]


def grad_log_sum_exp(x):
    largest = np.max(x)
    exp_difference = np.exp(x - largest)
    return exp_difference / np.sum(exp_difference)
