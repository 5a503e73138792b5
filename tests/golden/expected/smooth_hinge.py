import numpy as np

__all__ = ["grad_smooth_hinge"]
width = 0.5


def grad_smooth_hinge(margin):
    scaled = (1 - margin) / width
    exp_scaled = np.exp(scaled)
    # return width * np.log(1 + np.exp(scaled))
    dscaled = width / (1 + exp_scaled) * exp_scaled
    # scaled = (1 - margin) / width
    return -dscaled / width
