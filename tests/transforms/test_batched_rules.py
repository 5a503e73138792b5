"""Functions with rules of their own under `vmap`: the function and its rule are mapped.

The rules are wrong on purpose, by a factor: what uses another derivative shows.
"""

import warnings
from functools import partial

import numpy as np
import pytest

import srcjax

X = np.array([[0.2, -1.0], [0.5, 2.0], [1.5, 0.3]])
W = np.array([1.0, -2.0])


@srcjax.custom_vjp
def softplus(x):
    return np.log(1 + np.exp(x))


softplus.defvjp(
    lambda x: (softplus(x), np.exp(x)), lambda e, dy: (3 * dy * (1 - 1 / (1 + e)),)
)


@srcjax.custom_vjp
def linear(x, w):
    return x @ w


def linear_forward(x, w):
    return x @ w, (x, w, x.shape[0], None)


def linear_backward(saved, dy):
    x, w, n, _ = saved
    return 2 * dy * w, 5 * dy * x / n


linear.defvjp(linear_forward, linear_backward)


@srcjax.custom_jvp
def product(x, w):
    return x * w


product.defjvps(
    lambda x_dot, y, x, w: 2 * x_dot * w, lambda w_dot, y, x, w: 3 * w_dot * x
)


@partial(srcjax.custom_vjp, nondiff_argnums=(0,))
def applied(f, x):
    return f(x)


applied.defvjp(lambda f, x: (f(x), x), lambda f, x, dy: (11 * dy * f(x),))


@srcjax.custom_gradient
def by_pullback(x):
    e = np.exp(x)
    return np.log(1 + e), lambda g: 4 * g * (1 - 1 / (1 + e))


@srcjax.custom_vjp
def line(p):
    return p["w"] * 2 + p["b"]


line.defvjp(
    lambda p: (p["w"] * 2 + p["b"], p),
    lambda p, dy: ({"w": 3 * dy * p["b"], "b": 4 * dy * p["w"]},),
)


def of_softplus(x, w):
    y = w @ x
    if y > 0:
        y = softplus(y)
    return y * y


def of_linear(x, w):
    return linear(x, w) ** 2


def of_linear_the_other_way(x, w):
    return linear(w, x) ** 2


def of_product(x, w):
    return np.sum(product(x, w) ** 2)


def of_applied(x, w):
    return applied(np.sin, x @ w) * 2


def of_pullback(x, w):
    return by_pullback(x @ w) * w[0]


def of_line(x, w):
    return line({"w": x[0], "b": w[1]}) ** 2


FUNCTIONS = [
    of_softplus,
    of_linear,
    of_linear_the_other_way,
    of_product,
    of_applied,
    of_pullback,
    of_line,
]


@pytest.fixture(autouse=True)
def no_loops():
    with warnings.catch_warnings():
        warnings.simplefilter("error", srcjax.PerformanceWarning)
        yield


def check(f):
    """Compare a batch, its gradients and the gradient of its sum with a loop."""
    mapped = srcjax.vmap(f, in_axes=(0, None))

    def total(x, w):
        return np.sum(mapped(x, w))

    grad = srcjax.grad(f, argnums=(0, 1))
    each = [grad(x, W) for x in X]
    dx, dw = (np.stack(ds) for ds in zip(*each, strict=True))
    assert np.allclose(mapped(X, W), [f(x, W) for x in X])
    found = srcjax.vmap(grad, in_axes=(0, None))(X, W)
    assert np.allclose(found[0], dx)
    assert np.allclose(found[1], dw)
    found = srcjax.grad(total, argnums=(0, 1))(X, W)
    assert np.allclose(found[0], dx)
    assert np.allclose(found[1], dw.sum(axis=0))


@pytest.mark.parametrize("f", [of_softplus, of_linear])
def test_the_rule_of_a_batch(f):
    check(f)


def test_tangents_by_the_rule():
    mapped = srcjax.vmap(of_product, in_axes=(0, None))

    def along(x, w):
        return srcjax.jvp(of_product, (x, w), (np.ones(2), 2 * np.ones(2)))[1]

    found = srcjax.jvp(mapped, (X, W), (np.ones((3, 2)), 2 * np.ones(2)))[1]
    assert np.allclose(found, [along(x, W) for x in X])
    assert np.allclose(srcjax.vmap(along, in_axes=(0, None))(X, W), found)


def test_the_text_is_that_of_the_function():
    text = srcjax.source(srcjax.vmap(of_linear, in_axes=(0, None)), X, W)
    assert "return (x @ w) ** 2\n" in text


def test_abs_is_written_as_one_writes_it():
    text = str(srcjax.source(srcjax.vmap(lambda x: abs(x) + 1.0), np.ones(3)))
    assert "np.abs(x)" in text
