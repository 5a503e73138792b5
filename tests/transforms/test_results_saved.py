"""Results that are saved where backward code would read what they are made of."""

import math

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads, check_passes


def made_of_a_difference(c, x0):
    x = x0
    for _ in range(6):
        rest = x**3 - x - c
        if abs(rest) < 1e-9:
            break
        x = x - 0.3 * math.sin(rest)
    return x


def quotient_of_names(m, e):
    E = m
    for _ in range(5):
        delta = E - e * math.sin(E) - m
        delta /= 1 - e * math.cos(E)
        E -= delta
    return math.cos(E)


def solved_forward(L, b):
    y = np.zeros(len(b))
    for i in range(len(b)):
        y[i] = (b[i] - L[i, :i] @ y[:i]) / L[i, i]
    return np.sum(y**2)


def slope_of_two(x0, x1):
    f0 = math.sin(x0)
    for _ in range(3):
        f1 = math.sin(x1)
        slope = (f1 - f0) / (x1 - x0)
        x0, f0 = x1, f1
        x1 = x1 - f1 / slope
    return x1


def numerator_read_too(a, x):
    """What is divided is read anyway: nothing is won with the quotient."""
    for _ in range(3):
        top = a * x
        x = top / (1 + x) + math.exp(top)
        a = a * math.cos(x)
    return a * x


def quotient_written_to(A, x):
    """The quotient is an array that is written to after it was made."""
    total = 0.0
    for k in range(3):
        q = (A @ x) / (1.5 + k + x)
        q[0] = x[1]
        x = x + 0.1 * q
        total = total + np.sum(q * x)
    return total


def bound_twice(a, x):
    for k in range(4):
        step = a * x - 1
        step = step / (2 + x)
        if k % 2:
            step = step / (3 - a)
        x = x - step
    return x


def in_a_branch(a, x):
    for k in range(4):
        y = x + a
        if k % 2:
            q = y / (a * x)
            x = math.sin(q)
        else:
            x = math.cos(y)
    return x


def around_an_inner_loop(a, x):
    total = 0.0
    for i in range(3):
        rest = x * a - i
        for j in range(2):
            ratio = (rest - j) / (x + a)
            x = x - 0.1 * math.sin(ratio)
        total = total + rest * x
    return total


def numbers_of_arrays(a, x):
    for i in range(3):
        s = a @ x - a[i] * x[i]
        x = x * math.tanh(s)
    return np.sum(x)


def quotient_beside_a_tape(a, x):
    """The quotient goes on the tape of `x`: nothing of it is computed again."""
    for _ in range(8):
        step = (x**3 + x - a) / (3 * x**2 + 1)
        x = x - 0.8 * step
        if abs(step) < 1e-3:
            break
    return x


def quotient_on_one_side(a, x):
    for k in range(4):
        if k % 2:
            step = (x**2 + a * x - 1) / (2 * x + a)
            x = x - 0.5 * step
        else:
            x = math.cos(x)
    return x


def quotient_of_an_outer_loop(a, x):
    for _ in range(2):
        step = (x**2 + a * x - 1) / (2 * x + a)
        for _ in range(2):
            x = x - 0.2 * step * x
    return x


def short_quotient(a, x):
    """To divide again is as short as to save the quotient."""
    for _ in range(4):
        share = x / (1 + a)
        x = x - share * x
    return x


X = np.array([0.3, 0.5, -0.2])
L = np.array([[2.0, 0, 0], [0.3, 1.5, 0], [-0.4, 0.2, 1.8]])
PROGRAMS = [
    (made_of_a_difference, 0.4, 1.6),
    (quotient_of_names, 1.1, 0.3),
    (solved_forward, L, X),
    (slope_of_two, 1.0, 0.7),
    (numerator_read_too, 0.6, 0.7),
    (quotient_written_to, L, X),
    (bound_twice, 0.6, 0.7),
    (in_a_branch, 0.6, 0.7),
    (around_an_inner_loop, 0.6, 0.7),
    (numbers_of_arrays, X, X + 0.7),
    (quotient_beside_a_tape, 0.7, 1.3),
    (quotient_on_one_side, 0.7, 0.3),
    (quotient_of_an_outer_loop, 0.7, 0.9),
    (short_quotient, 0.7, 0.9),
]
IDS = [f.__name__ for f, *_ in PROGRAMS]


@pytest.mark.parametrize(("f", "a", "x"), PROGRAMS, ids=IDS)
def test_gradient(f, a, x):
    check_grads(f, (a, x), order=2)
    check_passes(srcjax.grad(f, (0, 1)), a, x)


@pytest.mark.parametrize(
    ("f", "args", "line"),
    [
        (made_of_a_difference, (0.4, 1.6), "rest_tape.append(rest)"),
        (quotient_of_names, (1.1, 0.3), "tape.append((cos_E, sin_E, delta))"),
        (solved_forward, (L, X), "dL[i, i] -= ddifference * y[i]"),
        (slope_of_two, (1.0, 0.7), "slope))"),
        (quotient_beside_a_tape, (0.7, 1.3), "tape.append((x, step))"),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_the_result_is_saved(f, args, line):
    text = srcjax.source(srcjax.grad(f, (0, 1)), *args)
    assert line in text, text


def test_what_is_divided_is_saved_where_it_is_read():
    text = srcjax.source(srcjax.grad(numerator_read_too, (0, 1)), 0.6, 0.7)
    assert "ratio" not in text.partition("# return")[0], text
