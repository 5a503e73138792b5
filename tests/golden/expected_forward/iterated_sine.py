import numpy as np

__all__ = ["linearize_iterated_sine"]


def iterated_sine_forward(x):
    x_tape = []
    sin_x_tape = []
    for _ in range(4):
        sin_x = np.sin(x)
        x_tape.append(x)
        x = sin_x * x
        sin_x_tape.append(sin_x)
    return x, (x_tape, sin_x_tape)


def iterated_sine_residuals(saved):
    x_tape, sin_x_tape = saved
    total_tape = []
    for _ in range(4):
        sin_x = sin_x_tape.pop()
        x = x_tape.pop()
        total_tape.append(sin_x + x * np.cos(x))
    return (total_tape,)


def iterated_sine_linear(residuals, x_dot):
    (total_tape,) = residuals
    total_tape = total_tape.copy()
    for _ in range(4):
        x_dot = x_dot * total_tape.pop()
    return x_dot


def linearize_iterated_sine(x):
    """Value of iterated_sine, and what its linear map reads."""
    if np.ndim(x) != 0:
        raise ValueError("linearize_iterated_sine is for numbers, not for arrays")
    y, saved = iterated_sine_forward(x)
    return y, iterated_sine_residuals(saved)
