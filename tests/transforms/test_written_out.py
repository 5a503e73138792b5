"""Functions written out in steps, and maxima that cancel."""

import numpy as np
import pytest

import srcjax
from tests.corpus.harness import assert_close, differences

X = np.array([[0.3, -1.2, 0.7], [1.1, 0.2, -0.4]])


def falling(x):
    return np.sum(1 / (1 + np.exp(-x)) * X)


def rising(x):
    e = np.exp(x)
    return np.sum(e / (1.0 + e) * X)


def weights(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum(e / e.sum(axis=1, keepdims=True) * X)


def down_columns(x):
    e = np.exp(x - x.max(0))
    return np.sum(e / e.sum(axis=0) * X)


def log_sum(x):
    top = x.max(axis=1)
    return np.sum(top + np.log(np.sum(np.exp(x - top[:, None]), axis=1)))


def log_weights(x):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    return np.sum((shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))) * X)


def two_terms(x):
    a, b = x[0], x[1]
    top = np.maximum(a, b)
    return np.sum(top + np.log(np.exp(a - top) + np.exp(b - top)))


def in_place(x):
    logits = 2.0 * x
    logits -= logits.max(axis=1, keepdims=True)
    return np.sum((logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))) * X)


SHORT = [falling, rising, weights, down_columns, log_sum, log_weights, two_terms]


def remains(x):
    """The maximum along one axis, the sum along the other."""
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum(e / e.sum(axis=0, keepdims=True) * X)


def turned(x):
    """What is subtracted and what is added run along different axes."""
    y = x @ x.T
    top = y.max(axis=1)
    return np.sum(np.exp(y - top[:, None] + top[None, :]))


def read_too(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top))) + top**2


def reused(x):
    """The exponential that is added is not the one that is divided by."""
    e = np.exp(x)
    total = 1 + e
    e = np.exp(-x)
    return np.sum(e / total)


def carried(x):
    top = np.max(x)
    for _ in range(2):
        x = x - top
        top = np.max(x) + np.sum(x)
    return np.sum(np.exp(x)) + top


LONG = [remains, turned, read_too, reused, carried]


@pytest.mark.parametrize("f", [*SHORT, in_place, *LONG], ids=lambda f: f.__name__)
def test_derivatives(f):
    gradient = srcjax.grad(f)
    assert_close(gradient(X), differences(f, (X,), (0,))[0])
    _, along = srcjax.jvp(f, (X,), (X,))
    assert along == pytest.approx(np.sum(gradient(X) * X), rel=1e-9)


@pytest.mark.parametrize("f", [*SHORT, in_place], ids=lambda f: f.__name__)
def test_nothing_of_the_maximum_is_left(f):
    text = str(srcjax.source(srcjax.grad(f), X)).rpartition("raise ValueError")[2]
    assert "==" not in text and "**2" not in text, text


@pytest.mark.parametrize("f", [remains, turned, read_too], ids=lambda f: f.__name__)
def test_a_maximum_that_stays(f):
    assert "==" in str(srcjax.source(srcjax.grad(f), X))


def test_far_out():
    x = np.array([[-1000.0, 0.0, 1000.0]] * 2)
    with np.errstate(over="ignore"):
        assert np.array_equal(srcjax.grad(falling)(x), 0.25 * X * (x == 0))


def heads(x, w, count):
    n, d = x.shape
    q = (x @ w).reshape(n, count, d // count).transpose(1, 0, 2)
    k = x.reshape(n, count, -1).transpose(1, 2, 0)
    return np.sum((q @ k) ** 2)


def test_sizes_from_numbers():
    """No helper asks at run time what follows from a number among the arguments."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(3, 4)), rng.normal(size=(4, 4))
    gradient = srcjax.grad(heads, argnums=(0, 1))
    assert "runtime" not in str(srcjax.source(gradient, x, w, 2))
    for count in (1, 2, 4):
        found = gradient(x, w, count)
        want = differences(lambda x, w, n=count: heads(x, w, n), (x, w), (0, 1))
        assert_close(found, want)


def joined(x, y, size):
    return np.sum(x.reshape(2, size) * y.reshape(2, size) ** 2)


def test_a_size_that_is_worked_out():
    """-1 is another size for each array."""
    x, y = np.arange(4.0), np.array([0.5, 2.0])
    gradient = srcjax.grad(joined, argnums=(0, 1))
    gradient(x, x + 1, 2)
    found = gradient(x, y, -1)
    want = differences(lambda x, y: joined(x, y, -1), (x, y), (0, 1))
    assert_close(found, want)


def with_options(x):
    options = {"axis": 0}
    nothing = {}
    return np.sum(np.mean(x**2, **options)) + np.sum(x, **nothing)


def with_positions(x, where):
    return np.sum(np.mean(x**2, *where))


def test_stars_that_carry_nothing():
    """An operation is told which argument is which, whatever the stars hold."""
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(srcjax.grad(with_options)(x), x + 1)
    np.testing.assert_allclose(srcjax.grad(with_positions)(x, (1,)), 2 * x / 3)
    found = srcjax.jvp(with_options, (x,), (np.ones_like(x),))[1]
    np.testing.assert_allclose(found, np.sum(x + 1))
