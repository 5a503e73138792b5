"""Hessians without products with unit vectors."""

import numpy as np
import pytest

import srcjax

RNG = np.random.default_rng(5)
X, W, Y = RNG.normal(size=(6, 3)), RNG.normal(size=3), RNG.normal(size=6)


def logistic(w, X, y):
    p = 1 / (1 + np.exp(-X @ w))
    return np.sum((p - y) ** 2)


def ridge(w, X, y):
    return np.sum((X @ w - y) ** 2) + np.sum(w**4)


def values(w, X, y):
    """The product is the result: it may not be the user's array."""
    return X @ w


def written(w, X, y):
    """What it is of is written to."""
    u = X @ w
    u[0] = u[0] * u[1]
    return np.sum(u**3)


def overwritten(w, X, y):
    X = X.copy()
    X[0] = 2.0
    return np.sum(np.exp(X @ w - y))


@pytest.mark.parametrize("f", [logistic, ridge, written, overwritten])
def test_hessians(f):
    given = X.copy()
    found = srcjax.hessian(f)(W, X, Y)
    np.testing.assert_array_equal(X, given)
    gradient, step = srcjax.grad(f), 1e-6
    for k, e in enumerate(np.eye(3)):
        steep = gradient(W + step * e, X, Y) - gradient(W - step * e, X, Y)
        np.testing.assert_allclose(
            found[:, k], steep / (2 * step), rtol=1e-4, atol=1e-6
        )


def test_a_jacobian_is_a_new_array():
    found = srcjax.jacfwd(values)(W, X, Y)
    np.testing.assert_array_equal(found, X)
    assert not np.shares_memory(found, X)


def test_texts():
    text = srcjax.source(srcjax.hessian(logistic), W, X, Y)
    assert "np.eye" not in text and "X.T * " in text
    assert "np.eye" in srcjax.source(srcjax.hessian(ridge), W, X, Y)
