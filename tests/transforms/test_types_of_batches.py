"""What is known of a `vmap` inside a function before it is written out."""

import warnings

import numpy as np
import pytest

import srcjax
from srcjax import vmap
from tests.corpus.harness import assert_close, differences

X = np.random.default_rng(3).normal(size=(4, 2))


def sums(X):
    return vmap(lambda row: np.sum(row))(X)


def gram(X, Y):
    return vmap(lambda a: vmap(lambda b: np.sum(a * b))(Y))(X)


def of_all(x):
    return np.sum((x * sums(X)[:2]) ** 2, axis=0)


def of_products(x):
    K = gram(X, X)
    return np.sum((np.outer(x, K[0]) @ K) ** 2)


def solved(x):
    L = np.linalg.cholesky(gram(X, X) + np.eye(4))
    return np.sum(np.linalg.solve(L, gram(X, x[None])) ** 2, axis=0)[0]


def along_columns(x):
    K = vmap(lambda c, s: (c * s, {"sum": c.sum()}), (1, None), 0)(X, 2.0)
    return x @ K[0] @ X @ x


def decoded(x, layers=((X.T, X[:, 0]), (X, X[0]))):
    first, *others, (W, b) = layers[0], *layers
    for V, c in others:
        x = np.tanh(x @ V + c)
    return np.sum(x @ W + b) + first[0][0, 0]


@pytest.mark.parametrize("f", [of_all, of_products, solved, along_columns, decoded])
def test_no_loop_over_the_examples(f):
    with warnings.catch_warnings():
        warnings.simplefilter("error", srcjax.PerformanceWarning)
        found = vmap(f)(X)
        rows = vmap(srcjax.grad(f))(X)
    assert_close(found, np.array([f(x) for x in X]))
    for k, row in enumerate(rows):
        wanted = differences(f, (X[k],), (0,))[0]
        assert_close(row, wanted, rtol=1e-5, atol=1e-7)


def test_a_jacobian_inside_of_a_loop():
    """Its basis has the shape of what is carried, which is not known at first."""
    t = np.linspace(0, 3, 6)

    def model(theta, t):
        return theta[0] * np.exp(-theta[1] * t)

    def fitted(residual, theta):
        def step(carry, _):
            theta, damping = carry
            r, J = residual(theta), srcjax.jacfwd(residual)(theta)
            new = theta - np.linalg.solve(J.T @ J + damping * np.eye(2), J.T @ r)
            better = np.sum(residual(new) ** 2) < np.sum(r**2)
            return (np.where(better, new, theta), damping / 2), np.sum(r**2)

        return srcjax.lax.scan(step, (theta, 0.1), None, length=3)

    def f(data):
        found = fitted(lambda theta: model(theta, t) - data, np.array([1.0, 1.0]))
        return np.sum(found[0][0])

    data = model((2.0, 1.3), t) + 0.01 * np.sin(5 * t)
    assert_close(srcjax.grad(f)(data), differences(f, (data,), (0,))[0], rtol=1e-4)


def test_a_shape_with_a_star():
    def heads(x, w, size=2):
        shape = (x.shape[0], size, w.shape[1] // size)
        return [a.reshape(shape) for a in (x @ w, np.sin(x @ w))]

    def model(w, x):
        for _ in range(2):
            q, k = heads(x, w)
            x = x + (q * k).reshape(x.shape)
        return np.sum(x)

    batch = np.random.default_rng(5).normal(size=(3, 4, 4))
    w = np.random.default_rng(6).normal(size=(4, 4))

    def total(w):
        return np.sum(vmap(model, (None, 0))(w, batch))

    expected = sum(srcjax.grad(model)(w, x) for x in batch)
    assert_close(srcjax.grad(total)(w), expected)


def test_layers_that_are_made_for_each_example():
    """Weights differ from example to example, and biases are zeros for all."""

    def layers(scale, sizes=(2, 3, 1)):
        scales = np.stack([scale, scale**2])
        return [
            (np.full((m, n), s), np.zeros(n))
            for s, m, n in zip(scales, sizes[:-1], sizes[1:], strict=True)
        ]

    def loss(params, x):
        for w, b in params[:-1]:
            x = np.tanh(x @ w + b)
        return np.sum((x @ params[-1][0] + params[-1][1]) ** 2)

    def trained(scale):
        params = layers(scale)
        for _ in range(2):
            slopes = srcjax.grad(loss)(params, X)
            params = srcjax.tree.map(lambda p, d: p - 0.01 * d, params, slopes)
        return loss(params, X)

    scales = np.array([0.3, 0.5, -0.2])
    with warnings.catch_warnings():
        warnings.simplefilter("error", srcjax.PerformanceWarning)
        found = vmap(trained)(scales)
    assert_close(found, np.array([trained(s) for s in scales]))
