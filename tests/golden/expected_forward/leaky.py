__all__ = ["jvp_leaky"]


def jvp_leaky(x, x_dot):
    """Value of leaky, and its derivative along x_dot."""
    slope = 1.0
    if x < 0:
        slope = 0.1
        x = x * slope
        x_dot = x_dot * slope
    return slope * x, x_dot * slope
