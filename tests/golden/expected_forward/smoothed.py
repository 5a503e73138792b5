__all__ = ["jvp_smoothed"]


def jvp_smoothed(x, x_dot):
    """Value of smoothed, and its derivative along x_dot, for x: (n,)."""
    if x.ndim != 1 or x.dtype.kind != "f" or x_dot.shape != x.shape:
        raise ValueError("jvp_smoothed is for x: (n,)")
    y = x.copy()
    y_dot = x_dot.copy()
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + 0.5 * x[i] ** 2
        y_dot[i] = 0.5 * y_dot[i - 1] + x_dot[i] * x[i]
    return y, y_dot
