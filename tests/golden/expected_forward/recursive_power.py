import numpy as np

__all__ = ["jvp_recursive_power"]


def jvp_recursive_power(x, n, x_dot):
    """Value of recursive_power, and its derivative along x_dot."""
    if np.ndim(x) != 0:
        raise ValueError("jvp_recursive_power is for numbers, not for arrays")
    if n == 0:
        result = 1.0
        result_dot = 0.0
    else:
        recursive_power_value, recursive_power_value_dot = jvp_recursive_power(
            x, n - 1, x_dot
        )
        result = x * recursive_power_value
        result_dot = x_dot * recursive_power_value + recursive_power_value_dot * x
    return result, result_dot
