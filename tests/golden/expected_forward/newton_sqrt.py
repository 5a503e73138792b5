__all__ = ["jvp_newton_sqrt"]


def jvp_newton_sqrt(a, a_dot):
    x = a
    x_dot = a_dot
    while abs(x * x - a) > 1e-9 * a:
        total_dot = x_dot + (a_dot / x - x_dot * a / x**2)
        x = 0.5 * (x + a / x)
        x_dot = 0.5 * total_dot
    return x, x_dot
