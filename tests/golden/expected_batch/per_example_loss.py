import numpy as np

__all__ = ["vmap_grad_per_example_loss"]


def vmap_grad_per_example_loss(W, x, y):
    tanh_product = np.tanh(x @ W)
    return x[:, :, None] * (2 * (tanh_product - y) * (1 - tanh_product**2))[:, None]
