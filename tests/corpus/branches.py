"""Python's `if` and its relatives, on values that are differentiated."""

import math

import numpy as np

from .registry import normal, program


@program(0.8)
def relu_active(x):
    if x > 0:
        return x**2
    return 0.1 * x


@program(-0.8)
def relu_inactive(x):
    if x > 0:
        y = x
    else:
        y = 0.01 * x
    return y * 3


@program(0.4)
def piecewise(x):
    if x < 0:
        y = -x
    elif x < 0.5:
        y = x**2 + 1
    elif x < 1:
        y = x**3
    else:
        y = np.log(x)
    return y * x


@program(2.5)
def piecewise_last(x):
    if x < 0:
        y = -x
    elif x < 1:
        y = x**2
    else:
        y = np.log(x)
    return y * x


@program(1.5)
def without_else(x):
    y = x
    if y > 1:
        y = y * y
    return y + x


@program(0.5)
def branch_not_entered(x):
    y = x
    if y > 1:
        y = y * y
    return y + x


@program(0.4, 0.9)
def nested_branches(x, y):
    if x > 0:
        if y > x:
            z = y - x
        else:
            z = x - y
        z = z * x
    else:
        z = x * y
        if z > 1:
            z = 1.0
    return z + y


@program(0.3, 0.8)
def assigns_different_names(x, y):
    a = x
    b = y
    if x < y:
        a = a * 2
        c = a + b
    else:
        b = b * 2
        c = a - b
    return a * b * c


@program(1.2, True)
def branch_on_flag(x, use_sine):
    if use_sine:
        y = np.sin(x)
    else:
        y = np.cos(x)
    return y * x


@program(1.2, "cos")
def branch_on_string(x, kind):
    if kind == "sin":
        y = np.sin(x)
    elif kind == "cos":
        y = np.cos(x)
    else:
        raise ValueError(f"unknown kind {kind!r}")
    return y + 1


@program(0.7, None)
def branch_on_none(x, offset=None):
    if offset is None:
        offset = 2.0 * x
    return x * offset


@program(normal(4))
def branch_on_reduction(x):
    if x.sum() > 0:
        return x @ x
    return np.sum(x**3)


@program(normal(3, 2))
def branch_on_shape(x):
    if x.ndim == 2 and x.shape[1] > 1:
        x = x - x.mean(axis=1, keepdims=True)
    return (x**2).sum()


@program(0.3, -0.2)
def branch_changes_type(x, y):
    if x > y:
        z = np.array([x, y])
    else:
        z = x
    return np.sum(z * z)


@program(0.7)
def conditional_expression(x):
    return x**2 if x > 0 else -x


@program(-0.7)
def nested_conditional_expression(x):
    y = 1.0 if x > 1 else (x if x > 0 else x * x)
    return y * (2 if x < 0 else 3)


@program(0.7, 2.1)
def maximum_by_hand(x, y):
    larger = x if x > y else y
    smaller = x + y - larger
    return larger**2 / smaller


@program(0.2, 0.9, 0.4)
def builtin_max_and_min(x, y, z):
    return max(x, y, z) ** 2 + min(x, y) * z


@program(1.4)
def clamp(x):
    return min(max(x, 0.0), 2.0) ** 3


@program(0.6)
def huber_inside(residual):
    size = abs(residual)
    return 0.5 * residual**2 if size <= 1 else size - 0.5


@program(-2.6)
def huber_outside(residual):
    size = abs(residual)
    return 0.5 * residual**2 if size <= 1 else size - 0.5


@program(0.5)
def branch_only_in_the_middle(x):
    y = np.sin(x)
    if y > 0:
        z = y * x
        w = z + y
        y = w * z
    return y


@program(0.5)
def guard_from_a_pole(x):
    if abs(x) < 1e-3:
        return 1 - x**2 / 6
    return math.sin(x) / x


@program(1e-4)
def guard_from_a_pole_taken(x):
    if abs(x) < 1e-3:
        return 1 - x**2 / 6
    return math.sin(x) / x


def inside(x, low, high, k):
    if k == 0:
        return 1.0 if low <= x < high else 0.0
    return x * inside(x, low, high, k - 1)


@program(1.5, 0.5, 2.5)
def constants_that_a_test_chooses(x, low, high):
    return inside(x, low, high, 2) * (high - low) + inside(x, high, low, 1)
