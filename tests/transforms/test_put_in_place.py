"""What is computed for an item alone is added to it at once."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads, check_passes

X = np.linspace(-1.0, 1.2, 5)
Y = np.cos(X)


def pairs(a, b):
    total = 0.0
    state = 0.0
    for u, v in zip(a, b, strict=False):
        state = np.tanh(state + u * v)
        total += state * v
    return total


def overwritten(a, b):
    """What the adjoint is made of changes before it is added."""
    h = 1.0
    for u, v in zip(a, b, strict=False):
        w = u * h
        h = np.sin(w) * v
    return h


def twice(a, b):
    """The adjoint is read twice: it stays."""
    total = 0.0
    for i in range(len(a)):
        u = a[i] - b[i]
        total += np.exp(u) * u
    return total


def two_items(a, b):
    total = 1.0
    for i in range(1, len(a)):
        step = a[i] * b[i - 1]
        total = total * np.cos(step) + a[i - 1]
    return total


@pytest.mark.parametrize("f", [pairs, overwritten, twice, two_items])
def test_numbers(f):
    gradient = srcjax.grad(f, argnums=(0, 1))
    check_passes(gradient, X, Y)
    check_grads(f, (X, Y), order=2, modes=("rev",))
    world: dict = {}
    exec(srcjax.source(gradient, general=True), world)
    found = world[f"grad_{f.__name__}"](X, Y)
    for a, b in zip(found, gradient(X, Y), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_texts():
    text = srcjax.source(srcjax.grad(pairs, argnums=(0, 1)), X, Y)
    assert "du =" not in text and "da[i] += dtotal * v" in text
    assert "db[i] += dv" in text  # of two lines
