import numpy as np

__all__ = ["jvp_softmax"]


def jvp_softmax(x, x_dot):
    max_x = np.max(x)
    e = np.exp(x - max_x)
    e_dot = (x_dot - np.sum(x_dot * (x == max_x)) / np.sum(x == max_x)) * e
    sum_e = np.sum(e)
    return e / sum_e, e_dot / sum_e - np.sum(e_dot) * e / sum_e**2
