"""Functions of `np.emath`, on both sides of where they become complex."""

import numpy as np
import pytest

import srcjax


def below_zero(x):
    value = np.emath.sqrt(x) + np.emath.log(x) * np.emath.log2(x) + np.emath.log10(x)
    value = value + np.emath.power(x, 0.3) * np.emath.logn(2.5, x)
    return np.sum(np.real(value) + 2 * np.imag(value))


def beyond_one(x):
    value = np.emath.arcsin(x) * np.emath.arccos(x) + np.emath.arctanh(x)
    return np.sum(np.real(value) + 2 * np.imag(value))


@pytest.mark.parametrize(
    "x", [0.3, -1.7, 1.7, np.array([0.3, 0.6]), np.array([0.3, -2])]
)
@pytest.mark.parametrize("f", [below_zero, beyond_one])
def test_derivatives(f, x):
    slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    given = srcjax.grad(f)(x)
    np.testing.assert_allclose(np.sum(given), slope, rtol=1e-6)
    assert np.asarray(given).dtype == float
    value, change = srcjax.jvp(f, (x,), (np.ones_like(x) if np.ndim(x) else 1.0,))
    np.testing.assert_allclose([value, change], [f(x), slope], rtol=1e-6)


def test_batches():
    x = np.array([0.3, -0.6, 1.7])
    found = srcjax.vmap(srcjax.grad(below_zero))(x)
    np.testing.assert_allclose(found, [srcjax.grad(below_zero)(n) for n in x.tolist()])


def on_the_cut(x):
    value = np.arcsin(x + 0j) * np.arccos(1.2 * x + 0j)
    return np.real(value) + 2 * np.imag(value)


@pytest.mark.parametrize("x", [1.7, -1.7, 0.3])
def test_sides_of_the_cut_are_kept(x):
    """The root of `1 - x**2` would have the other sign on the right."""
    slope = (on_the_cut(x + 1e-6) - on_the_cut(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(srcjax.grad(on_the_cut)(x), slope, rtol=1e-6)
