"""Functions of a first course in calculus."""

import math

import numpy as np
from gallery.entries import Entry


def bell(x, center, width):
    z = (x - center) / width
    return math.exp(-(z**2) / 2)


def angle_between(u, v):
    cosine = u @ v / (np.linalg.norm(u) * np.linalg.norm(v))
    return np.arccos(cosine)


def horner(coefficients, x):
    value = 0.0
    for c in coefficients:
        value = value * x + c
    return value


def simpson(rate, a, b, n):
    h = (b - a) / n
    total = 0.0
    for i in range(n + 1):
        weight = 1 if i == 0 or i == n else 4 if i % 2 else 2
        total += weight * math.exp(-rate * (a + i * h) ** 2)
    return total * h / 3


def cube_root(a):
    x = a
    while abs(x**3 - a) > 1e-12:
        x = x - (x**3 - a) / (3 * x**2)
    return x


def soft_step(x):
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    return x * x * (3 - 2 * x)


ENTRIES = [
    Entry(
        "The bell curve",
        "The chain rule and the quotient rule. Three arguments, three formulas, and "
        "`dz` is computed once for all of them.",
        bell,
        (0.5, 0.2, 1.5),
        (0, 1, 2),
    ),
    Entry(
        "The angle between two vectors",
        "The derivative of a length is the vector divided by its length.",
        angle_between,
        (np.array([1.0, 2.0, 0.5]), np.array([0.3, -1.0, 2.0])),
        (0, 1),
    ),
    Entry(
        "A polynomial by Horner's rule",
        "A loop that remembers one number in each step. The way back is the loop from "
        "its end.",
        horner,
        (np.array([2.0, -1.0, 0.5, 3.0]), 1.3),
        (0, 1),
    ),
    Entry(
        "An integral by Simpson's rule",
        "The derivative of the sum is a sum of derivatives. The weights carry none.",
        simpson,
        (0.7, 0.0, 2.0, 8),
    ),
    Entry(
        "A cube root by Newton's method",
        "Nobody told it that the derivative of a cube root is a third of the root over "
        "`a`. It goes back through the steps that were made.",
        cube_root,
        (5.0,),
    ),
    Entry(
        "A soft step",
        "Three branches: the derivative is zero in two of them.",
        soft_step,
        (0.3,),
    ),
]
