"""What is left out because it is NaN has a derivative of zero."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 2

X = np.array([-1.0, 2.0, 0.5, 3.0])
V = np.array([1.0, 0.5, -1.0, 0.3])


def overwritten(x):
    y = np.sqrt(x) * x
    y[np.isnan(y)] = 0.0
    return np.sum(y * y)


def overwritten_with_a_value(x):
    y = np.sqrt(x)
    missing = ~np.isfinite(y)
    y[missing] = x[1]
    return np.sum(y * x)


def chosen(x):
    y = x**1.5
    return np.sum(np.where(np.isnan(y), x, y))


def chosen_by_what_is_finite(x):
    y = np.arccosh(x + 1.5)
    kept = np.isfinite(y) & (x < 2.5)
    return np.sum(np.where(kept, y * np.sqrt(y), 0.0))


def quotient(x):
    return np.nansum(np.log(x) / np.sqrt(x))


def of_rows(x):
    rows = np.sqrt(np.stack([x, x + 1.7]))
    return np.sum(np.nanmean(rows, axis=0) ** 2)


FUNCTIONS = [
    lambda x: np.nanmean(np.sqrt(x)),
    lambda x: np.nansum(np.log(x) * x**2),
    lambda x: np.nanmax(np.sqrt(x)),
    lambda x: np.nanmin(np.sqrt(x)),
    lambda x: np.nanvar(np.sqrt(x)),
    lambda x: np.nanstd(np.sqrt(x) * x),
    lambda x: np.nanprod(np.sqrt(x) + 3),
    lambda x: np.nanmedian(np.sqrt(x)),
    lambda x: np.nansum(np.sqrt(x) ** 2 + np.exp(np.log(x))),
    lambda x: np.sum(np.nan_to_num(np.sqrt(x))),
    overwritten,
    overwritten_with_a_value,
    chosen,
    chosen_by_what_is_finite,
    quotient,
    of_rows,
]


def differences(function, x, step=1e-5):
    steps = step * np.eye(len(x))
    return np.array([(function(x + s) - function(x - s)) / (2 * step) for s in steps])


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("function", FUNCTIONS)
def test_first_order(function):
    expected = differences(function, X)
    np.testing.assert_allclose(srcjax.grad(function)(X), expected, atol=1e-7)
    tangent = srcjax.jvp(function, (X,), (V,))[1]
    np.testing.assert_allclose(tangent, expected @ V, atol=1e-7)
    batch = np.stack([X, X[::-1]])
    found = srcjax.vmap(srcjax.grad(function))(batch)
    both = [expected, differences(function, X[::-1])]
    np.testing.assert_allclose(found, both, atol=1e-7)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_second_order(function):
    def slope(x):
        return differences(function, x, 1e-4)

    expected = (slope(X + 1e-4 * V) - slope(X - 1e-4 * V)) / 2e-4
    found = srcjax.hvp(function, (X,), (V,))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("function", FUNCTIONS[1:2])
def test_gradient_of_a_gradient(function):
    found = srcjax.grad(lambda x: np.dot(srcjax.grad(function)(x), V))(X)
    expected = srcjax.hvp(function, (X,), (V,))
    np.testing.assert_allclose(found, expected)


def test_single_precision_stays():
    gradient = srcjax.grad(lambda x: np.nanmean(np.sqrt(x)))(X.astype(np.float32))
    assert gradient.dtype == np.float32
    assert gradient[0] == 0


def test_the_text_says_it_once():
    text = srcjax.source(srcjax.grad(lambda x: np.nansum(np.sqrt(x))), X)
    assert text.count("np.isnan") == 1


def test_a_nan_that_counts_stays():
    gradient = srcjax.grad(lambda x: np.nansum(np.sqrt(x)) + np.sqrt(x[0]))(X)
    assert np.isnan(gradient[0])
