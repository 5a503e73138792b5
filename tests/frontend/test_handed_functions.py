"""Functions that call themselves and hand on a function made where they are called."""

import numpy as np
import pytest

import srcjax


def adaptive(f, a, b, tolerance, whole, depth=6):
    c = (a + b) / 2
    left = (c - a) / 6 * (f(a) + 4 * f((a + c) / 2) + f(c))
    right = (b - c) / 6 * (f(c) + 4 * f((c + b) / 2) + f(b))
    if depth == 0 or abs(left + right - whole) <= 15 * tolerance:
        return left + right + (left + right - whole) / 15
    half = tolerance / 2
    return adaptive(f, a, c, half, left, depth - 1) + adaptive(
        f, c, b, half, right, depth=depth - 1
    )


def folded(f, g, x, n=2):
    if n == 0:
        return f(x)
    return g(folded(f, g, x * 0.9, n - 1))


def named(w):
    def f(t):
        return np.exp(-w * t) * np.sin(3 * w * t)

    return adaptive(f, 0.1 * w, 2.0, 1e-4, 0.0)


def several(w):
    f = lambda v: v * w  # noqa: E731
    once = folded(f, lambda v: v**2 + w, w, n=3) + folded(np.sin, lambda v: v + w, w)
    return once + folded(f, np.cos, 2.0)


def in_a_loop(w):
    total = 0.0
    for k in range(3):
        total = total + folded(lambda v: v * w + k, np.sin, w)  # noqa: B023
    return total


@pytest.mark.parametrize("f", [named, several, in_a_loop])
def test_derivatives(f):
    slope = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    assert srcjax.grad(f)(0.7) == pytest.approx(slope)
    assert srcjax.jvp(f, (0.7,), (1.0,))[1] == pytest.approx(slope)


def test_another_function_of_the_name(monkeypatch):
    def doubled(f, a, b, tolerance, whole, depth=6):
        return 2 * f(b)

    assert srcjax.grad(named)(0.7) != 0
    monkeypatch.setitem(globals(), "adaptive", doubled)
    slope = (named(0.7 + 1e-6) - named(0.7 - 1e-6)) / 2e-6
    assert srcjax.grad(named)(0.7) == pytest.approx(slope)
