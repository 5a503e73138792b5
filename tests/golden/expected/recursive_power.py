__all__ = ["grad_recursive_power"]


def recursive_power_forward(x, n):
    recursive_power2 = None
    saved3 = None
    if n == 0:
        result = 1.0
    else:
        difference = n - 1
        recursive_power2, saved3 = recursive_power_forward(x, difference)
        result = x * recursive_power2
    return result, (x, n, recursive_power2, saved3)


def recursive_power_backward(saved2, dresult):
    x, n, recursive_power2, saved3 = saved2
    if n == 0:
        dx = 0.0
    else:
        # return x * recursive_power(x, n - 1)
        dx = dresult * recursive_power2
        dx += recursive_power_backward(saved3, dresult * x)
    return dx


def grad_recursive_power(x, n):
    if n == 0:
        pass
    else:
        difference = n - 1
        recursive_power2, saved = recursive_power_forward(x, difference)
    if n == 0:
        dx = 0.0
    else:
        # return x * recursive_power(x, n - 1)
        dx = recursive_power2
        dx += recursive_power_backward(saved, x)
    return dx
