"""Roots with implicit derivatives."""

import numpy as np

import srcjax
from srcjax import lax
from tests.corpus.harness import assert_close, differences

#: One test in so many runs here (see conftest); the second stage runs all.
SAMPLE = {"test_a_root_has_the_derivatives_of_its_equation": 10**9}


def bisected(f, guess):
    low, high = guess - 10.0, guess + 10.0
    while high - low > 1e-13:
        middle = (low + high) / 2
        if f(middle) > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def cube_root(a):
    return lax.custom_root(lambda x: x**3 - a, 1.0, bisected, lambda g, y: y / g(1.0))


def test_a_root_has_the_derivatives_of_its_equation():
    a, f = 2.0, cube_root
    expected = a ** (1 / 3)
    assert_close(f(a), expected)
    for power in (1 / 3, -2 / 3, -5 / 3):
        expected *= power / a
        f = srcjax.grad(f)
        assert_close(f(a), expected, rtol=1e-6)
    slope = a ** (-2 / 3) / 3
    assert_close(srcjax.jvp(cube_root, (a,), (1.0,))[1], slope)
    many = np.array([1.0, 2.0, 8.0])
    assert_close(srcjax.vmap(cube_root)(many), np.cbrt(many))
    assert_close(srcjax.vmap(srcjax.grad(cube_root))(many), np.cbrt(many) / many / 3)
    text = srcjax.source(srcjax.grad(cube_root), a)
    assert "tape" not in text  # no derivative goes through the way to the root


def test_roots_of_systems_and_what_goes_along():
    """Newton's way, to a root of two numbers in a dict."""

    def steps(f, x):
        count = 0
        while count < 30:
            r, s = f(x)["a"], f(x)["b"]
            x = {"a": x["a"] - r / 4, "b": x["b"] - s / 4}
            count += 1
        return x, count

    def solve(g, y):
        """Both equations have one unknown each."""
        ones = {"a": 1.0, "b": 1.0}
        slopes = g(ones)
        return {k: y[k] / slopes[k] for k in ("a", "b")}

    def f(p):
        def equations(x):
            return {"a": np.exp(x["a"]) - p, "b": x["b"] * (1 + p) - p}

        x, count = lax.custom_root(
            equations, {"a": 0.0, "b": 0.0}, steps, solve, has_aux=True
        )
        return x["a"] * x["b"] + 0 * count

    assert_close(f(2.0), np.log(2.0) * 2 / 3)
    assert_close(srcjax.grad(f)(2.0), differences(f, (2.0,), (0,))[0], rtol=1e-5)
