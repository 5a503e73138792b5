"""Functions that are put in place read what they are given by its own name."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads, check_passes


def runge_kutta(y0, k, n):
    def slope(state):
        return np.array([state[1], -k * np.sin(state[0])])

    y = y0
    for _ in range(n):
        k1 = slope(y)
        k2 = slope(y + 0.1 * k1)
        y = y + 0.05 * (k1 + k2)
    return y[0] * y[1]


def rebound_in_the_middle(x, a, n):
    """What the function is given is another value where its result is used."""

    def product(u):
        return u * a

    for _ in range(n):
        p = product(x)
        x = np.sin(x)
        x = x + p * product(x)
    return np.sum(x)


def rebound_in_an_inner_loop(x, a, n):
    def falling(u, m):
        total = 0.0
        for _ in range(m):
            total = total + u * a
        return total

    for k in range(n):
        t = falling(x, k + 1)
        for _ in range(2):
            x = np.cos(x) + 0.1 * t
    return np.sum(x)


def written_in_place(x, a, n):
    def doubled(u):
        u[0] = u[0] * a
        return u * u

    x = x * 1.0
    total = 0.0
    for _ in range(n):
        total = total + np.sum(doubled(x))
        x = x * 0.5
    return total + np.sum(x)


def read_in_the_next_trip(x, a, n):
    def step(u):
        return a * u + 0.1

    old = x
    for _ in range(n):
        new = step(x)
        x = new + 0.1 * old
        old = new
    return np.sum(x * old)


X = np.array([0.4, -0.3])
PROGRAMS = [
    runge_kutta,
    rebound_in_the_middle,
    rebound_in_an_inner_loop,
    written_in_place,
    read_in_the_next_trip,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f):
    check_grads(lambda x, a: f(x, a, 3), (X, 0.7), order=2)
    check_passes(srcjax.grad(f, (0, 1)), X, 0.7, 3)


def test_no_name_of_the_parameter_is_left():
    text = str(srcjax.source(srcjax.grad(runge_kutta), X, 0.7, 3))
    assert "= y\n" not in text and "y[0]" in text, text
