"""Derivatives of what SciPy solves: integrals, equations in time, systems, splines.

Each batch calls SciPy for each example, which a warning says.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

integrate = pytest.importorskip("scipy.integrate")
interpolate = pytest.importorskip("scipy.interpolate")
optimize = pytest.importorskip("scipy.optimize")

pytestmark = pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")


def by_closure(a):
    return integrate.quad(lambda t: np.exp(-a * t * t), 0, 2)[0]


def by_argument_and_limit(a):
    return integrate.quad(lambda t, b: t**b * np.sin(t), 0, a, args=(a,))[0]


def of_a_tail(a):
    return integrate.quad(lambda t: math.exp(-a * t), a, np.inf)[0]


def over_a_triangle(a):
    return integrate.dblquad(lambda y, x: a * x * y * y, 0, 1, 0, lambda x: a * x)[0]


def by_gauss(a):
    return integrate.fixed_quad(lambda t: np.exp(-a * t * t), 0, a, n=7)[0]


@pytest.mark.parametrize(
    "f", [by_closure, by_argument_and_limit, of_a_tail, over_a_triangle, by_gauss]
)
def test_derivatives_of_integrals(f):
    check_grads(f, (1.3,), 2, rtol=1e-4, atol=1e-4)
    batch = np.array([1.3, 0.7])
    np.testing.assert_allclose(srcjax.vmap(f)(batch), [f(a) for a in batch])


def lotka_volterra(t, y, a, b):
    return [a * y[0] - b * y[0] * y[1], b * y[0] * y[1] - y[1]]


def at_the_end(x):
    found = integrate.solve_ivp(
        lambda t, y: [y[1], -x[0] * y[0]], (0, 1), [x[1], x[2]], rtol=1e-9, atol=1e-9
    )
    return found.y[0, -1]


def of_the_time(x):
    found = integrate.solve_ivp(
        lotka_volterra, (0, x[2]), x[:2], args=(x[2], 0.4), rtol=1e-9, atol=1e-9
    )
    return np.sum(found.y[:, -1])


def at_given_times(x):
    found = integrate.solve_ivp(
        lotka_volterra,
        [0, 2],
        [x[0], x[1]],
        args=(x[2], x[2] * 0.4),
        t_eval=np.linspace(0, 2, 5),
        rtol=1e-9,
        atol=1e-9,
    )
    return np.sum(found.y**2)


@pytest.mark.parametrize("f", [at_the_end, of_the_time, at_given_times])
def test_derivatives_of_solve_ivp(f):
    x = np.array([1.0, 1.2, 1.5])
    check_grads(f, (x,), 1, rtol=1e-4, atol=1e-4)
    batch = np.stack([x, 1.1 * x])
    np.testing.assert_allclose(srcjax.vmap(f)(batch), [f(each) for each in batch])


def by_fsolve(p):
    def off(z, a, b):
        return [z[0] ** 2 + z[1] ** 2 - a, z[0] - b * z[1]]

    z = optimize.fsolve(off, [1.0, 1.0], args=(p[0], p[1]))
    return z[0] * z[1]


def by_root(p):
    def off(z):
        return np.array([np.exp(z[0]) * p[0] - z[1], z[0] + z[1] * p[1] - 2])

    found = optimize.root(off, np.array([0.0, 0.0]), method="lm", tol=1e-12)
    return found.x[0] + found.x[1] ** 2 + found.fun[0]


@pytest.mark.parametrize("f", [by_fsolve, by_root])
def test_derivatives_of_systems(f):
    p = np.array([2.0, 1.5])
    np.testing.assert_allclose(srcjax.value_and_grad(f)(p)[0], f(p))
    check_grads(f, (p,), 2, rtol=1e-4, atol=1e-4)


X = np.array([0.0, 1.0, 2.5, 3.0])


def of_a_cubic_spline(y):
    return interpolate.CubicSpline(X, y, bc_type="natural")(np.array([0.3, 1.7])).sum()


def of_its_derivative_and_integral(y):
    spline = interpolate.CubicSpline(X, y)
    return spline.derivative()(0.3) + spline.integrate(0.0, 2.0) + spline(y[0], 1)


def of_knots(y):
    return interpolate.CubicSpline(np.cumsum(np.exp(y)), y * y)(3.0)


def of_a_monotone_spline(y):
    return interpolate.PchipInterpolator(X, y)(np.array([0.3, 1.7])).sum()


def of_lines(y):
    return interpolate.interp1d(X, y)(np.array([0.3, 1.7])).sum()


@pytest.mark.parametrize(
    "f",
    [
        of_a_cubic_spline,
        of_its_derivative_and_integral,
        of_knots,
        of_a_monotone_spline,
        of_lines,
    ],
)
def test_derivatives_to_the_samples(f):
    y = np.array([0.3, 0.7, 1.1, 0.2])
    check_grads(f, (y,), 1, rtol=1e-4, atol=1e-4)
    batch = np.stack([y, 1.1 * y])
    np.testing.assert_allclose(srcjax.vmap(f)(batch), [f(each) for each in batch])
