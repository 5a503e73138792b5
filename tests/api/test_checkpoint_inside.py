"""`checkpoint` of a function inside of what is differentiated."""

import warnings

import numpy as np
import pytest

import srcjax
from srcjax import checkpoint, grad, jvp, lax, vmap
from tests.corpus.harness import assert_close, differences

WEIGHTS = {"w": 0.4 * np.random.default_rng(2).normal(size=(3, 2, 2)), "b": np.ones(3)}


def squared(y):
    return np.sin(y) ** 2


def of_a_lambda(x):
    inner = checkpoint(lambda y: np.sin(y) * x)
    return inner(x)


def of_a_definition(x):
    @checkpoint
    def inner(y):
        return np.sin(y) * x

    return inner(x)


def handed_on(x):
    return twice(checkpoint(lambda y: squared(y) * x), x)


def twice(function, x):
    for _ in range(2):
        x = function(x)
    return x


@pytest.mark.parametrize("f", [of_a_lambda, of_a_definition, handed_on])
def test_functions_made_inside(f):
    slope = differences(f, (0.7,), (0,))[0]
    assert_close(grad(f)(0.7), slope, rtol=1e-6)
    assert_close(jvp(f, (0.7,), (1.0,))[1], slope, rtol=1e-6)
    bend = differences(grad(f), (0.7,), (0,))[0]
    assert_close(grad(grad(f))(0.7), bend, rtol=1e-5)


def layer(x, p):
    x = x + np.tanh(p["w"] @ x) + p["b"]
    return x, np.linalg.norm(x)


def network(weights, x, remat=True):
    step = checkpoint(layer) if remat else layer
    x, norms = lax.scan(step, x, weights)
    return np.sum(x**2) + np.sum(norms)


def test_layers_of_a_scan():
    x = np.array([0.3, -0.2])
    found = grad(network)(WEIGHTS, x)
    text = str(srcjax.source(grad(network), WEIGHTS, x))
    assert "vjp_checkpointed(" in text  # it is run again
    assert text.count("[i] +=") == 2, text  # no array of all layers made for each
    expected = grad(network)(WEIGHTS, x, remat=False)
    for name, value in expected.items():
        assert_close(found[name], value)


def test_a_batch_needs_no_loop():
    kept = checkpoint(squared)
    x = np.array([0.3, -0.2, 1.0])

    def f(w, x):
        return np.sum(kept(w * x))

    with warnings.catch_warnings():
        warnings.simplefilter("error", srcjax.PerformanceWarning)
        found = grad(lambda w: np.sum(vmap(f, (None, 0))(w, x)))(0.5)
        rows = vmap(grad(f), (None, 0))(0.5, x)
    assert_close(found, np.sum(rows))
    assert_close(found, differences(lambda w: f(w, x), (0.5,), (0,))[0], rtol=1e-6)
