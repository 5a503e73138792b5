"""Objects of libraries that are called, in functions and as the function itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

#: One test in so many runs here (see conftest); the second stage runs all.
SAMPLE = {"test_vectorized": 2, "test_second_order_of_vectorized": 10**9}

X = np.array([0.3, -1.2, 1.9, 2.1])
K = np.array([[1.3], [0.4]])


@np.vectorize
def piece(x, k):
    if x > 1:
        return k * x**2
    return math.sin(k * x)


@np.vectorize
def of_three(a, b, c):
    return a * b + c**2 if a > 0 else math.exp(b * c)


power = np.vectorize(lambda x, n: x**n, excluded=["n"])


def cubes(x):
    return power(x, n=3)


def gap(x, k):
    return np.sum(piece(x, k) ** 2)


@pytest.mark.parametrize(
    "f, args",
    [
        (gap, (X, K)),
        (piece, (0.4, 1.2)),
        (of_three, (X, X[::-1].copy(), 0.4)),
        (cubes, (X,)),
    ],
)
def test_vectorized(f, args):
    check_grads(f, args, 1, ("rev", "fwd"))
    np.testing.assert_allclose(srcjax.jit(f)(*args), f(*args))
    batch = [np.stack([a, np.multiply(1.1, a)]) for a in args]
    expected = [f(*(b[i] for b in batch)) for i in range(2)]
    np.testing.assert_allclose(srcjax.vmap(f)(*batch), expected)


line = np.vectorize(lambda c, x: (c[0] + c[1] * x**2, x), excluded=["c"])
floored = np.vectorize(lambda x: 0 if x < 0 else x**2)
whole = np.vectorize(lambda x: x**2, otypes=[int])


def by_keywords(x, k):
    value, same = line(x=x, c=k[:, 0])
    return np.sum(value * same + piece(x, k=x) + piece(k=x, x=2.0))


def made_within(x, k):
    clipped = np.vectorize(lambda c, t: c[0] * t**2 if t > 1 else t, excluded=[0])
    return np.sum(clipped(k[0], x) * x)


def of_whole_numbers(x):
    """The first number says that all are whole ones: no derivative goes through."""
    return np.sum((floored(x[::-1]) + 10 * floored(x[1:2]) + whole(x)) * x)


@pytest.mark.parametrize(
    "f, args", [(by_keywords, (X, K)), (made_within, (X, K)), (of_whole_numbers, (X,))]
)
def test_keywords_and_kinds_of_vectorized(f, args):
    check_grads(f, args, 1, ("rev",))


def test_second_order_of_vectorized():
    check_grads(gap, (X, K), 2, ("rev",))


def test_methods_of_distributions_and_polynomials_themselves():
    stats = pytest.importorskip("scipy.stats")
    assert srcjax.grad(stats.norm.logpdf)(0.4) == pytest.approx(-0.4)
    assert srcjax.grad(stats.norm.logpdf, argnums=2)(0.4, 0.0, 2.0) == pytest.approx(
        0.4**2 / 8 - 0.5
    )
    assert srcjax.grad(np.poly1d([1.0, 0.0, 2.0]))(0.5) == 1.0
    slope = srcjax.vmap(srcjax.grad(stats.norm.logpdf))(X)
    np.testing.assert_allclose(slope, -X)
