"""Rules read values by the names that the function has for them."""

import math

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads


def arm(angles, lengths):
    theta = 0.0
    x = y = 0.0
    for k in range(len(angles)):
        theta += angles[k]
        x += lengths[k] * np.cos(theta)
        y += lengths[k] * np.sin(theta)
    return x**2 + y


def test_a_tape_of_what_is_read():
    angles, lengths = np.array([0.3, -0.4, 1.1]), np.array([1.0, 0.7, 0.2])
    df = srcjax.grad(arm, argnums=(0, 1))
    text = str(srcjax.source(df, angles, lengths))
    assert "theta_tape" not in text
    code = [line for line in text.splitlines() if "#" not in line]
    assert sum("np.cos(" in line for line in code) == 1
    assert sum("np.sin(" in line for line in code) == 1
    check_grads(arm, (angles, lengths), order=2, modes=("fwd", "rev"))


def bound_between(x):
    c = np.cos(x)
    x = x * 2
    return c + np.sin(x)


def in_a_loop(x):
    c = np.cos(x)
    for _ in range(3):
        x = x + c * np.sin(x)
        c = np.cos(x)
    return x


def in_branches(x):
    s = 0.0
    if x > 0:
        c = np.cos(x)
        s = s + c
    return s + np.sin(x)


def written_to(x):
    y = x * 1
    c = np.cos(y)
    y[0] = 3.0 * x[1]
    s = np.sin(y)
    return np.sum(c * s)


def value_written_to(x):
    c = np.cos(x)
    s = np.sin(x)
    c[0] = 2.0
    return np.sum(c * s)


def left_early(x):
    s = 0.0
    for k in range(4):
        a = x * k
        s = s + np.sin(a)
        if s > 1.2:
            break
        s = s + np.cos(a)
    return s


def failing(x):
    s = np.sin(x)
    try:
        s = s + math.sqrt(-1.0)
        c = np.cos(x)
    except ValueError:
        c = 1.0
    return s * c


ARRAY = np.array([0.3, 1.2, -0.7])


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (bound_between, 0.4),
        (in_a_loop, 0.4),
        (in_branches, 0.4),
        (in_branches, -0.4),
        (written_to, ARRAY),
        (value_written_to, ARRAY),
        (left_early, 0.4),
        (failing, 0.4),
    ],
)
def test_numbers(f, x):
    check_grads(f, (x,), order=2)
