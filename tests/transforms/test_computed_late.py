"""Factors of what overwrites their operand, computed again from its old value."""

import math

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads, check_passes

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = {"test_gradient": 3}


def logistic(x, r):
    for _ in range(5):
        x = r * x * (1 - x)
    return x


def named(x, r):
    for _ in range(5):
        y = r * x
        z = 1 - x
        x = y * z
    return x


def arrays(x, r):
    for _ in range(3):
        x = (1 - x) * (r * 2.0)
    return np.sum(x**2)


def new_value_is_read(x, r):
    """The slope of `exp` is its value, and one factor of it reads the old one."""
    for _ in range(3):
        y = r * x
        x = np.exp(-y) * (1 - x)
        r = x * y
    return x + r


def two_at_once(x, r):
    for _ in range(4):
        p = x * r
        q = x + r
        x, r = p * q, q * 0.3
    return x * r


def in_place(x, r):
    for _ in range(3):
        s = 1 - x
        x *= r * s
    return np.sum(x)


def in_a_branch(x, r):
    for k in range(5):
        y = r * x
        if k % 2:
            x = y * (1 - x)
            y = x
        else:
            x = y + x
    return x


def factor_read_later(x, r):
    for _ in range(4):
        y = r * x
        x = y * (1 - x)
        x = x + 0.1 * y * y
    return x


PROGRAMS = [
    (logistic, 0.3, 3.2),
    (named, 0.3, 3.2),
    (arrays, np.array([0.3, 0.5]), 0.7),
    (new_value_is_read, 0.3, 0.8),
    (two_at_once, 0.3, 0.8),
    (in_place, np.array([0.3, 0.5]), 0.7),
    (in_a_branch, 0.3, 1.2),
    (factor_read_later, 0.3, 2.2),
]


@pytest.mark.parametrize(
    ("f", "x", "r"), PROGRAMS, ids=lambda v: getattr(v, "__name__", "")
)
def test_gradient(f, x, r):
    check_grads(f, (x, r))
    check_passes(srcjax.grad(f, (0, 1)), x, r)
    hessian = srcjax.hessian(f, (0, 1))(x, r)
    np.testing.assert_allclose(hessian[0][1], np.transpose(hessian[1][0]), atol=1e-9)


def damped(a):
    x = a
    for _ in range(6):
        step = (x**3 + x - a) / (3 * x**2 + 1)
        x = x - 0.8 * step
    return x


def constant_factor(x):
    for _ in range(4):
        x = 3.2 * x * (1 - x)
    return x


def two_operands(x, r):
    """Neither of the two is kept for the other's sake."""
    for _ in range(4):
        x = (x + r) * (x - 1)
        r = (2 - r) * (r + 0.5)
    return x * r


@pytest.mark.parametrize(
    ("f", "args", "kept"),
    [
        (damped, (0.7,), ["tape.append((x, step))"]),
        (constant_factor, (0.3,), ["x_tape.append(x)"]),
        (two_operands, (0.3, 0.4), ["tape.append((r, x))", "tape.append((x, r))"]),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_one_value_is_kept_for_several(f, args, kept):
    """Also where none of them alone would spare a save."""
    argnums = tuple(range(len(args)))
    text = srcjax.source(srcjax.grad(f, argnums), *args)
    assert text.count(".append(") == 1 and any(line in text for line in kept), text
    check_grads(f, args)
    check_passes(srcjax.grad(f, argnums), *args)


@pytest.mark.parametrize("f", [logistic, named])
def test_one_value_of_a_trip_is_kept(f):
    text = srcjax.source(srcjax.grad(f, (0, 1)), 0.3, 3.2)
    assert text.count(".append(") == 1 and "x_tape.append(x)" in text
    assert "for x in reversed(x_tape):" in text


def shortest_way(costs, first):
    n, m = costs.shape
    D = np.full((n + 1, m + 1), 10.0)
    D[0, 0] = first
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cheapest = min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
            D[i, j] = costs[i - 1, j - 1] ** 2 + cheapest * cheapest
    return D[n, m]


def largest_so_far(x, a):
    for k in range(3):
        top = max(x, a * k)
        x = x * math.tanh(top)
    return x


def test_the_least_of_items_is_looked_for_again():
    costs = np.array([[0.3, 0.8, 0.4], [0.9, 0.2, 0.6]])
    text = str(srcjax.source(srcjax.grad(shortest_way, (0, 1)), costs, 0.1))
    assert "tape" not in text, text
    check_grads(shortest_way, (costs, 0.1), order=2)
    check_passes(srcjax.grad(shortest_way, (0, 1)), costs, 0.1)
    check_grads(largest_so_far, (0.9, 0.6), order=2)
    check_passes(srcjax.grad(largest_so_far, (0, 1)), 0.9, 0.6)
