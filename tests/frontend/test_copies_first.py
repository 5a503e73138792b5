"""Loops that hand their values on at the end of an iteration, after an exit."""

import math

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads


def heron(a):
    x = a
    for _ in range(50):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-12:
            return new
        x = new
    return x


def heron_or_error(a):
    x = a
    for _ in range(50):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-12:
            return new
        x = new
    raise RuntimeError("no convergence")


def heron_with_break(a):
    x = a
    for _ in range(50):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-12:
            break
        x = new
    return new


def bound_on_both_sides(a):
    x = a
    while True:
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-3:
            x = new
            break
        x = new
    return x


def secant(c):
    x0, x1 = 1.0, 2.0
    for _ in range(30):
        f0, f1 = x0**3 - c, x1**3 - c
        x2 = x1 - f1 * (x1 - x0) / (f1 - f0)
        if abs(x2 - x1) < 1e-10:
            return x2
        x0, x1 = x1, x2
    return x1


def fixed_point(W, b):
    x = np.zeros_like(b)
    for _ in range(100):
        new = np.tanh(W @ x + b)
        error = np.linalg.norm(new - x)
        if error < 1e-13:
            break
        x = new
    return np.sum(new**2)


def old_value_is_returned(a):
    x = a
    for _ in range(9):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 0.1:
            return x
        x = new
    return x * 2.0


def old_value_is_read_behind(a):
    x = a
    for _ in range(9):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 0.1:
            break
        x = new
    return x


def old_value_in_the_next_trip(a):
    x, total = a, 0.0
    for _ in range(3):
        for _ in range(9):
            new = 0.5 * (x + 2 * a / x)
            if abs(new - x) < 0.2:
                break
            x = new
        total = total + new
    return total


def begun_anew_in_each_trip(a):
    total = 0.0
    for k in range(3):
        x = a + k
        for _ in range(9):
            new = 0.5 * (x + a / x)
            if abs(new - x) < 0.01:
                break
            x = new
        total = total + new
    return total


def unbound_where_it_is_left(a):
    x = a
    for k in range(4):
        if k < 3:
            y = x * a
        if k == 3:
            break
        x = y
    return x


def unbound_at_once(a, stop):
    x = a
    for k in range(4):
        if k >= stop:
            return a * 3.0
        if k < 9:
            y = x * a
        if y > 1e3:
            return x
        x = y
    return x


def read_by_a_function(a):
    x = a

    def show():
        return x * a

    for _ in range(9):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 0.1:
            return show()
        x = new
    return x


def walrus(a):
    x = a
    for _ in range(9):
        if (new := math.cos(x * a)) > 0.9:
            return new + x
        x = new
    return x


def says_what_it_did(a):
    x, converged = a, False
    for _ in range(30):
        new = math.cos(x * a)
        if abs(new - x) < 1e-9:
            converged = True
            break
        x = new
    return new if converged else 2.0 * new


def rotated(a):
    p, q = a, 2 * a
    for _ in range(6):
        r = math.sin(p) + q
        if r > 3:
            break
        p, q = q, r
    return r * r


W = np.array([[0.2, -0.4], [0.1, 0.3]])
PROGRAMS = [
    (heron, 2.0),
    (heron_or_error, 2.0),
    (heron_with_break, 2.0),
    (bound_on_both_sides, 2.0),
    (secant, 2.0),
    (fixed_point, W, np.array([0.3, -0.5])),
    (old_value_is_returned, 2.0),
    (old_value_is_returned, 60.0),
    (old_value_is_read_behind, 2.0),
    (old_value_in_the_next_trip, 2.0),
    (begun_anew_in_each_trip, 2.0),
    (unbound_where_it_is_left, 1.3),
    (read_by_a_function, 2.0),
    (walrus, 0.6),
    (says_what_it_did, 0.6),
    (rotated, 0.6),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p[0].__name__)
def test_derivatives(program):
    f, *args = program
    check_grads(f, tuple(args), order=2)
    argnums = tuple(range(len(args)))
    value, _ = srcjax.value_and_grad(f, argnums)(*args)
    assert value == f(*args)


def test_what_no_trip_binds():
    gradient = srcjax.grad(unbound_at_once)
    assert gradient(1.3, 0) == 3.0
    np.testing.assert_allclose(gradient(1.3, 9), 5 * 1.3**4)


@pytest.mark.parametrize(
    "program", [PROGRAMS[k] for k in (0, 1, 2, 3, 5)], ids=lambda p: p[0].__name__
)
def test_no_condition_is_kept(program):
    f, *args = program
    text = srcjax.source(srcjax.grad(f, tuple(range(len(args)))), *args)
    assert "condition" not in text and "trips" not in text, text


def test_other_modes_keep_the_order():
    text = srcjax.source(srcjax.jvp(heron), 2.0)
    assert "done" not in text, text
