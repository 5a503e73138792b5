"""Functions that call themselves and hand on a function made where they are called."""

import numpy as np
import pytest

import srcjax


def adaptive(f, a, b, tolerance):
    c = (a + b) / 2
    if abs(f(b) - f(a)) <= tolerance:
        return (b - a) * f(c)
    return adaptive(f, a, c, tolerance) + adaptive(f, c, b, tolerance=tolerance)


def folded(f, g, x, n=2):
    if n == 0:
        return f(x)
    return g(folded(f, g, x * 0.9, n - 1))


def named(w):
    def f(t):
        return np.exp(-w * t) * np.sin(3 * w * t)

    return adaptive(f, 0.1 * w, 2.0, 0.2)


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
    def doubled(f, a, b, tolerance):
        return 2 * f(b)

    assert srcjax.grad(named)(0.7) != 0
    monkeypatch.setitem(globals(), "adaptive", doubled)
    slope = (named(0.7 + 1e-6) - named(0.7 - 1e-6)) / 2e-6
    assert srcjax.grad(named)(0.7) == pytest.approx(slope)
