import numpy as np

__all__ = ["grad_smooth_hinge"]
width = 0.5


def grad_smooth_hinge(margin):
    """Gradient of smooth_hinge with respect to margin."""
    scaled = (1 - margin) / width
    exp_scaled = np.exp(scaled)
    # return width * np.log(1 + np.exp(scaled))
    dscaled = width * (exp_scaled / (1 + exp_scaled))
    # scaled = (1 - margin) / width
    return -dscaled / width
