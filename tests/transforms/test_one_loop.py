"""Loops that go forward and back in one, and those that may not."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads, check_passes

X = np.linspace(-1.0, 1.2, 8).reshape(4, 2)
C = np.array([0.3, -0.2])


def separate(c, xs):
    total = 0.0
    for x in xs:
        total += np.exp(-np.sum((x - c) ** 2))
    return total


def result_is_scaled(a, n):
    """A sum that starts from the result of the forward loop."""
    h = a / n
    total = 0.0
    for i in range(n):
        total += np.exp(-((a + i * h) ** 2))
    return total * h


def pairs(xs, s):
    energy = 0.0
    for i in range(len(xs)):
        for j in range(i):
            d = xs[i] - xs[j]
            energy += np.exp(-s * np.sum(d * d))
    return energy


def result_is_read(c, xs):
    """What the way back is multiplied by is known after the loop only."""
    total = 0.0
    for x in xs:
        total += np.exp(-np.sum((x - c) ** 2))
    return total**2


def carried(c, xs):
    h = 0.1
    for x in xs:
        h = np.tanh(np.sum(x * c) + h)
    return h


def filled(c, xs):
    y = np.zeros(len(xs))
    for i in range(len(xs)):
        y[i] = np.exp(xs[i] @ c)
    return np.sum(y**2)


def kept_after(c, xs):
    """The last iteration's value is read after the loops."""
    e = 1.0
    total = 0.0
    for x in xs:
        e = np.exp(-np.sum((x - c) ** 2))
        total += e
    return total + e


def places_overlap(c, xs):
    total = 0.0
    for i in range(len(xs)):
        e = np.exp(xs[i] @ c)
        total += e * c[i % 2]
    return total


def steady_inside(log_s, xs):
    """What each iteration computes anew is the same in all of them."""
    total = 0.0
    for x in xs:
        s = np.exp(log_s)
        z = x / s
        total += np.log(np.sum(np.exp(-z * z))) - np.sum(log_s)
    return total


def changes_inside(log_s, xs):
    total = 0.0
    for x in xs:
        s = np.exp(log_s)
        total += np.log(np.sum(np.exp(-x * x / s)))
        log_s = log_s * 0.9
    return total


ONE = [
    (steady_inside, (C, X)),
    (separate, (C, X)),
    (result_is_scaled, (0.7, 5)),
    (pairs, (X, 0.4)),
    (places_overlap, (C, X)),
]
TWO = [
    (changes_inside, (C, X)),
    (result_is_read, (C, X)),
    (carried, (C, X)),
    (filled, (C, X)),
    (kept_after, (C, X)),
]


@pytest.mark.parametrize(("f", "args"), ONE)
def test_independent_iterations_are_one_loop(f, args):
    text = srcjax.source(srcjax.grad(f), *args)
    assert ".append(" not in text and "reversed(" not in text
    check(f, args)


@pytest.mark.parametrize(("f", "args"), TWO)
def test_others_are_two(f, args):
    assert "reversed(" in srcjax.source(srcjax.grad(f), *args)
    check(f, args)


def check(f, args):
    check_passes(srcjax.grad(f), *args)
    held = lambda a: f(a, *args[1:])  # noqa: E731
    check_grads(held, args[:1], order=2, modes=("rev",))
