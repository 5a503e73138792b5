"""Items of adjoints that start as zeros, and random numbers of known shape."""

import numpy as np
import pytest

import srcjax
from tests.corpus.harness import assert_close, differences


def unpacked(theta):
    a, b, c = theta
    return a * np.sin(b) + c**2


def some(theta):
    return theta[0] * theta[-1] ** 2


def twice(theta):
    a, b, c = theta
    return a * b + theta[1] ** 2 * c


def rows(theta):
    first, second = np.outer(theta[:2], theta)
    return np.sum(first * second**2)


def in_a_loop(theta):
    total = 0.0
    for k in range(3):
        a, b, c = theta * k
        total = total + a * b - c
    return total


FUNCTIONS = [unpacked, some, twice, rows, in_a_loop]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_value(f, dtype):
    theta = np.array([0.5, -1.2, 0.8], dtype)
    found = srcjax.grad(f)(theta)
    assert found.dtype == dtype
    exact = differences(f, (theta.astype(float),), (0,))[0]
    assert_close(found, exact, rtol=1e-6 if dtype == np.float64 else 1e-4)


def test_text():
    theta = np.ones(3)
    text = str(srcjax.source(srcjax.grad(unpacked), theta))
    assert "return np.array([" in text and "dtheta" not in text
    text = str(srcjax.source(srcjax.grad(some), theta))
    # The first item may be the last one: the text is for all sizes.
    assert "dtheta[-1] = " in text and "dtheta[0] += " in text
    text = str(srcjax.source(srcjax.grad(unpacked), theta.astype(np.float32)))
    assert "zeros_like" in text and "+=" not in text


RNG = np.random.default_rng(1)


def dropout(W, x):
    rng = np.random.default_rng(0)
    keep = rng.random(W.shape[0]) < 0.8
    noise = rng.normal(0.0, 0.1, size=(3, 2)) + np.random.RandomState(0).randn(3, 2)
    return np.sum(np.tanh(W @ x * keep + noise[:, 0] + rng.uniform()))


def of_a_global(W, x):
    return np.sum((W @ x) * RNG.standard_normal(3))


@pytest.mark.parametrize("f", [dropout, of_a_global], ids=lambda f: f.__name__)
def test_random_numbers(f):
    W, x = np.ones((3, 2)), np.array([0.3, -0.2])
    assert "runtime" not in str(srcjax.source(srcjax.grad(f), W, x))
    if f is dropout:
        found = srcjax.grad(f, argnums=(0, 1))(W, x)
        assert_close(found, differences(f, (W, x), (0, 1)))


def test_a_number_drawn_around_a_differentiated_mean():
    def f(x):
        return np.random.default_rng(0).normal(x) ** 2

    with pytest.raises(srcjax.errors.SrcjaxError):
        srcjax.grad(f)(1.0)
