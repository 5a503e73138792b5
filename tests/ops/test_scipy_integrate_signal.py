"""`scipy.integrate.odeint`, and convolutions of scipy.signal."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.ops.record import composite_of
from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 2

integrate = pytest.importorskip("scipy.integrate")
signal = pytest.importorskip("scipy.signal")

#: "fwd" as soon as there is forward mode.
MODES = ("rev", "fwd") if hasattr(srcjax, "jvp") else ("rev",)

rng = np.random.default_rng(6)
TIMES = np.array([0.0, 0.5, 1.2, 3.0])


def lotka_volterra(y, t, a, b):
    return np.array([a * y[0] - b * y[0] * y[1], b * y[0] * y[1] - y[1]])


def test_value_of_odeint():
    start, args = np.array([1.0, 2.0]), (1.1, 0.4)
    found = composite_of(integrate.odeint)(lotka_volterra, start, TIMES, args)
    expected = integrate.odeint(
        lotka_volterra, start, TIMES, args, rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_derivatives_of_odeint():
    """To the start, the times and a parameter."""

    def f(start, times, a):
        return integrate.odeint(lotka_volterra, start, times, (a, 0.4))

    check_grads(f, (np.array([1.0, 2.0]), TIMES, 1.1), 1, MODES, rtol=1e-5, atol=1e-5)


def test_odeint_of_what_the_equation_takes_from_around_it():
    def f(k):
        return integrate.odeint(lambda t, y: -k * y, 2.0, TIMES, tfirst=True)[-1, 0]

    k = 0.7
    value, slope = srcjax.value_and_grad(f)(k)
    np.testing.assert_allclose(value, 2 * np.exp(-3 * k), rtol=1e-7)
    np.testing.assert_allclose(slope, -3 * value, rtol=1e-6)


def test_odeint_backwards_and_stiff():
    found = composite_of(integrate.odeint)(lambda y, t: -y, 1.0, -TIMES)
    np.testing.assert_allclose(found[:, 0], np.exp(TIMES), rtol=1e-7)
    with pytest.raises(RuntimeError, match="stiff"):
        composite_of(integrate.odeint)(lambda y, t: -1e6 * (y - np.cos(t)), 1.0, TIMES)


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_sums_of_samples(n):
    y, x = rng.normal(size=(2, n)), np.cumsum(rng.uniform(0.2, 1.0, n))
    rule, running = integrate.simpson, integrate.cumulative_trapezoid
    for kwargs in ({"x": x}, {"dx": 0.3}, {"x": np.stack([x, 2 * x])}):
        np.testing.assert_allclose(composite_of(rule)(y, **kwargs), rule(y, **kwargs))
        np.testing.assert_allclose(
            composite_of(running)(y, **kwargs, initial=0),
            running(y, **kwargs, initial=0),
        )
    np.testing.assert_allclose(composite_of(rule)(y.T, x, axis=0), rule(y.T, x, axis=0))
    if n == 4:
        check_grads(lambda y, x: rule(y, x=x), (y, x), 1, MODES, rtol=1e-5)
        check_grads(lambda y, x: running(y, x), (y, x), 1, MODES, rtol=1e-5)


SIZES = [
    ((7,), (3,)), ((3,), (7,)), ((4,), (4,)), ((4, 5), (2, 3)), ((2, 3), (4, 5)),
    ((3, 4, 2), (2, 2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_convolve(sizes, mode):
    a, b = rng.normal(size=sizes[0]), rng.normal(size=sizes[1])
    for function in (signal.convolve, signal.fftconvolve, signal.correlate):
        np.testing.assert_allclose(
            composite_of(function)(a, b, mode), function(a, b, mode), atol=1e-12
        )
    check_grads(lambda a, b: signal.convolve(a, b, mode), (a, b), 1, MODES)
    check_grads(lambda a, b: signal.correlate(a, b, mode), (a, b), 1, MODES)
    check_grads(lambda a: signal.fftconvolve(a, b, mode), (a,), 1, MODES)


def test_convolve_to_second_order():
    a, b = rng.normal(size=5), rng.normal(size=3)
    check_grads(lambda a, b: signal.convolve(a, b, "same"), (a, b), 2, ("rev",))


def test_wrong_mode():
    with pytest.raises(ValueError, match="none of"):
        composite_of(signal.convolve)(np.ones(3), np.ones(2), "all")
