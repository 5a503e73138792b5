import numpy as np

__all__ = ["jacfwd_layer"]


def pushforward_layer(x, W, b, x_dot):
    return x_dot @ W * (1 - np.tanh(x @ W + b) ** 2)


def jacfwd_layer(x, W, b):
    # Each column: the derivative along one element of x.
    return pushforward_layer(x, W, b, np.eye(x.size)).T
