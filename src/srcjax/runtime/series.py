"""Slopes of functions whose formula is 0 / 0 at one place: a series around it.

So the derivatives of higher order are right there too. The series are in Horner's form.
"""

import numpy as np


def sinc_slope(x):
    """The derivative of `np.sinc(x)`."""
    near = np.abs(x) < 0.1
    u, v = np.pi * np.where(near, x, 0), np.where(near, 1, x)
    t = u * u
    high = ((1 / 518918400 - t * (1 / 93405312000)) * t - 1 / 3991680) * t + 1 / 45360
    series = np.pi * u * (((high * t - 1 / 840) * t + 1 / 30) * t - 1 / 3)
    return np.where(near, series, (np.cos(np.pi * v) - np.sinc(v)) / v)


def spence_slope(x):
    """The derivative of `scipy.special.spence(x)`: log(x) / (1 - x)."""
    near = np.abs(x - 1) < 0.01
    u, v = np.where(near, x - 1, 0), np.where(near, 2, x)
    high = (((-u / 9 + 1 / 8) * u - 1 / 7) * u + 1 / 6) * u - 1 / 5
    series = (((high * u + 1 / 4) * u - 1 / 3) * u + 1 / 2) * u - 1
    return np.where(near, series, np.log(v) / (1 - v))
