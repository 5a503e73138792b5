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
    cos_x_tape = []
    sin_x_tape2 = []
    x_tape2 = []
    for _ in range(4):
        sin_x = sin_x_tape.pop()
        x = x_tape.pop()
        cos_x_tape.append(np.cos(x))
        sin_x_tape2.append(sin_x)
        x_tape2.append(x)
    return cos_x_tape, sin_x_tape2, x_tape2


def iterated_sine_linear(residuals, x_dot):
    cos_x_tape, sin_x_tape2, x_tape2 = residuals
    cos_x_tape = cos_x_tape.copy()
    sin_x_tape2 = sin_x_tape2.copy()
    x_tape2 = x_tape2.copy()
    for _ in range(4):
        cos_x = cos_x_tape.pop()
        sin_x = sin_x_tape2.pop()
        x = x_tape2.pop()
        x_dot = x_dot * cos_x * x + x_dot * sin_x
    return x_dot


def linearize_iterated_sine(x):
    """Value of iterated_sine, and what its linear map reads."""
    if np.ndim(x) != 0:
        raise ValueError("linearize_iterated_sine is for numbers, not for arrays")
    y, saved = iterated_sine_forward(x)
    return y, iterated_sine_residuals(saved)
