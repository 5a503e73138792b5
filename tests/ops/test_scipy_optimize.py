"""Roots by scipy.optimize: SciPy's value, and the derivative of what they solve."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.ops.record import composite_of

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 4

optimize = pytest.importorskip("scipy.optimize")


def cubic(x, a, b):
    return x**3 + a * x - b


def eccentric_anomaly(mean, eccentricity):
    def off(angle):
        return angle - eccentricity * np.sin(angle) - mean

    return optimize.brentq(off, 0.0, 4.0)


@pytest.mark.parametrize("name", ["brentq", "brenth", "bisect", "ridder", "toms748"])
def test_values_of_roots_between_two_places(name):
    function = getattr(optimize, name)
    for low, high in ((0.0, 3.0), (-2.0, 40.0)):
        found = composite_of(function)(cubic, low, high, args=(1.2, 2.3))
        np.testing.assert_allclose(found, function(cubic, low, high, (1.2, 2.3)))
    with pytest.raises(ValueError, match="different signs"):
        composite_of(function)(cubic, 2.0, 3.0, args=(1.2, 2.3))


def test_values_of_newton():
    found = composite_of(optimize.newton)
    wave = np.cos
    for start in (0.3, 1.0, 2.0):
        expected = optimize.newton(wave, start)
        np.testing.assert_allclose(found(wave, start), expected, rtol=1e-9)
    with pytest.raises(RuntimeError, match="zero"):
        found(lambda x: x**2 + 1, 1.0, fprime=lambda x: 2 * x)


def test_derivatives_of_brentq():
    """To what the function takes from around it: Kepler's equation."""
    args = (1.1, 0.3)
    angle = eccentric_anomaly(*args)
    slope = 1 / (1 - 0.3 * np.cos(angle))
    first = srcjax.grad(eccentric_anomaly, argnums=(0, 1))(*args)
    np.testing.assert_allclose(first, (slope, slope * np.sin(angle)), rtol=1e-8)
    second = srcjax.jvp(srcjax.grad(eccentric_anomaly), args, (1.0, 0.0))[1]
    exact = -0.3 * np.sin(angle) * slope**3
    np.testing.assert_allclose(second, exact, rtol=1e-7)


def growth(rate, years):
    total = 0.0
    for year in range(3):
        total += np.exp(rate * year) / decay(years)
    return total


def decay(years):
    return 1 + years**2


def test_derivatives_of_brentq_of_a_function_that_calls_others():
    def rate(value, years):
        return optimize.brentq(lambda r: growth(r, years) - value, -1.0, 5.0)

    found = srcjax.grad(rate)(3.0, 0.2)
    expected = (rate(3.001, 0.2) - rate(2.999, 0.2)) / 0.002
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_batch_of_brentq():
    mean = np.array([0.4, 1.1, 2.9])
    found = srcjax.vmap(eccentric_anomaly, in_axes=(0, None))(mean, 0.3)
    expected = [eccentric_anomaly(m, 0.3) for m in mean]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_derivatives_of_newton():
    def secant(a, b):
        return optimize.newton(lambda x: x**3 + a * x - b, 1.0)

    def with_slope(a, b):
        return optimize.newton(
            cubic, 1.0, fprime=lambda x, a, b: 3 * x**2 + a, args=(a, b)
        )

    first = srcjax.grad(secant, argnums=(0, 1))(1.2, 2.3)
    x = with_slope(1.2, 2.3)
    slope = 3 * x**2 + 1.2
    np.testing.assert_allclose(first, (-x / slope, 1 / slope), rtol=1e-7)
    found = srcjax.grad(srcjax.grad(with_slope, 1), 1)(1.2, 2.3)
    np.testing.assert_allclose(found, -6 * x / slope**3, rtol=1e-7)
