"""What is left out because it is NaN, where a smaller operand is spread over it."""

import numpy as np
import pytest

import srcjax

SAMPLE = 2

MISSING = np.array([[1.0, np.nan, 2.0], [np.nan, 1.0, 1.0]])


def of_a_power(p, x):
    return np.sum(np.where(np.isnan(x), 0.0, p**2))


def of_a_root(p, x):
    known = ~np.isnan(x)
    return np.sum(np.where(known, np.sqrt(p) * 3.0, 0.0))


def stored(p, x):
    y = np.exp(p) * np.ones((2, 3))
    y[np.isnan(x)] = 0.0
    return np.sum(y)


def of_rows(p, x):
    y = np.exp(p) * np.ones((2, 3))
    y[np.isnan(x[:, 1])] = 0.0
    return np.sum(y)


def times_what_is_missing(p, x):
    return np.nansum(np.sqrt(p) * x)


def replaced(p, x):
    return np.sum(np.where(np.isnan(x), p, p * x))


def put_to_zero(p, x):
    y = p * x
    y[np.isnan(y)] = 0.0
    return np.sum(y**2)


def varied(p, x):
    return np.nanvar(p * x)


def summed_up(p, x):
    return np.sum(np.nancumsum(p * x, axis=0) ** 2)


FUNCTIONS = [
    *(of_a_power, of_a_root, stored, of_rows, times_what_is_missing, replaced),
    *(put_to_zero, varied, summed_up),
]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1), (2, 3)])
def test_gradient_has_the_shape_of_the_operand(f, shape):
    p = 0.5 + np.arange(np.prod(shape, dtype=int)).reshape(shape) / 4
    steps = 1e-6 * np.eye(p.size).reshape(p.size, *shape)
    slopes = [(f(p + h, MISSING) - f(p - h, MISSING)) / 2e-6 for h in steps]
    found = srcjax.grad(f)(p, MISSING)
    assert np.shape(found) == shape
    np.testing.assert_allclose(np.ravel(found), slopes, rtol=1e-6, atol=1e-9)


def test_a_probability_for_several_counts():
    bernoulli = pytest.importorskip("scipy.stats").bernoulli
    counts = np.array([0, 0, 1])
    _, pullback = srcjax.vjp(lambda p: bernoulli.cdf(counts, p), 0.3)
    np.testing.assert_allclose(pullback(np.array([0.5, 0.7, 1.5])), [-1.2])
