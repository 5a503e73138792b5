import numpy as np

__all__ = ["hessian_rosenbrock"]


def hessian_rosenbrock(x):
    """Hessian of rosenbrock with respect to x, for x: (n,)."""
    if x.ndim != 1:
        raise ValueError("hessian_rosenbrock is for x: (n,)")
    # Each column: the derivative along one element of x.
    x_dot = np.eye(x.size)
    x_start = x[:-1]
    x_start_dot = x_dot[:, :-1]
    # return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    two_x_start_dot = 2 * x_start_dot
    ddifference_dot = 200 * (x_dot[:, 1:] - two_x_start_dot * x_start)
    dx_dot = np.zeros((len(x_dot), *x.shape))
    dx_dot[:, :-1] = two_x_start_dot - (
        2 * ddifference_dot * x_start + 400 * x_start_dot * (x[1:] - x_start**2)
    )
    dx_dot[:, 1:] += ddifference_dot
    return dx_dot.T
