import numpy as np

__all__ = ["jvp_damped_wave"]


def jvp_damped_wave(t, t_dot):
    """Value of damped_wave, and its derivative along t_dot."""
    exp_product = np.exp(-0.1 * t)
    cos_two_t = np.cos(2 * t)
    return (
        exp_product * cos_two_t,
        -0.1 * t_dot * exp_product * cos_two_t
        - 2 * t_dot * np.sin(2 * t) * exp_product,
    )
