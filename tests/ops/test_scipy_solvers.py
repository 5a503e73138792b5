"""Integrals, initial value problems and systems of equations, solved by SciPy.

Their values are those of SciPy, and their derivatives those of what they solve.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcjax
from srcjax.errors import NoRuleError
from srcjax.ops.record import composite_of
from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 4

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")

INTEGRALS = {
    "smooth": (lambda x: math.exp(-x * x), 0, 2),
    "backwards": (lambda x: x**3, 2, -1),
    "waves": (lambda x: math.sin(50 * x), 0, 3),
    "kink": (lambda x: abs(x - 0.3), 0, 1),
    "root at an end": (lambda x: 1 / math.sqrt(x), 0, 1),
    "logarithm at an end": (math.log, 0, 1),
    "to infinity": (lambda x: 1 / (1 + x * x), 0.5, np.inf),
    "from infinity": (lambda x: math.exp(x), -np.inf, 1.0),
    "everywhere": (lambda x: math.exp(-x * x / 2), -np.inf, np.inf),
    "down from infinity": (lambda x: math.exp(-x), np.inf, 0),
    "up from below, backwards": (lambda x: math.exp(-x * x), np.inf, -np.inf),
}


@pytest.mark.parametrize("name", INTEGRALS)
def test_value_of_quad(name):
    func, a, b = INTEGRALS[name]
    found, error = composite_of(integrate.quad)(func, a, b)
    assert error < 1e-7
    np.testing.assert_allclose(found, integrate.quad(func, a, b)[0], atol=5e-8)


def test_integral_that_diverges():
    with pytest.raises(RuntimeError, match="does not settle"):
        composite_of(integrate.quad)(lambda x: 1 / x, 0, 1)


def by_closure(a):
    return integrate.quad(lambda t: np.exp(-a * t * t), 0, 2)[0]


def test_gradient_of_an_integral_is_a_sum():
    check_grads(by_closure, (1.3,), 1, rtol=1e-5)
    text = srcjax.source(srcjax.grad(by_closure), 1.3)
    assert "quadrature(function, 0, 2" in text
    assert "isfinite" not in text


def lotka_volterra(t, y, a, b):
    return [a * y[0] - b * y[0] * y[1], b * y[0] * y[1] - y[1]]


WAYS = {
    "plain": {},
    "times": {"t_eval": np.linspace(0, 3, 7)},
    "lower order": {"method": "RK23", "rtol": 1e-5, "t_eval": [0.0, 0.1, 3.0]},
    "small steps": {"max_step": 0.1, "first_step": 0.01},
    "by class": {"method": integrate.RK45, "atol": 1e-9},
}


@pytest.mark.parametrize("way", WAYS)
def test_value_of_solve_ivp(way):
    given = (lotka_volterra, (0, 3), [1.0, 2.0])
    found = composite_of(integrate.solve_ivp)(*given, args=(1.1, 0.4), **WAYS[way])
    wanted = integrate.solve_ivp(*given, args=(1.1, 0.4), **WAYS[way])
    np.testing.assert_allclose(found.y, wanted.y, rtol=1e-12)
    np.testing.assert_allclose(found.t, wanted.t, rtol=1e-12)
    assert found.success and found.status == wanted.status


def test_solve_ivp_backwards_in_time():
    given = (lambda t, y: -y * t, (2.0, -1.0), [1.0])
    for more in ({}, {"t_eval": [2.0, 0.5, -1.0]}):
        found = composite_of(integrate.solve_ivp)(*given, **more)
        wanted = integrate.solve_ivp(*given, **more)
        np.testing.assert_allclose(found.y, wanted.y, rtol=1e-12)


def test_what_solve_ivp_refuses():
    with pytest.raises(NotImplementedError, match="only by RK45 or RK23"):
        composite_of(integrate.solve_ivp)(
            lambda t, y: -y, (0, 1), [1.0], method="Radau"
        )

    def event(t, y):
        return y[0] - 0.5

    def f(k):
        found = integrate.solve_ivp(lambda t, y: -k * y, (0, 1), [1.0], events=event)
        return found.y[0, -1]

    with pytest.raises(NoRuleError, match="events"):
        srcjax.grad(f)(0.7)


def test_system_without_a_root():
    def f(a):
        return optimize.fsolve(lambda x: x**2 + a, 1.0)[0]

    with pytest.raises(RuntimeError, match="No root was found"):
        srcjax.grad(f)(1.0)
