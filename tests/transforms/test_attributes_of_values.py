"""`m.sum(x)` where `m` is a variable: a module, or an object with functions."""

import dataclasses
import itertools
import types

import numpy as np
import pytest

import srcjax

X = np.arange(3.0)


@dataclasses.dataclass
class Layer:
    """A weight, and a function that is kept beside it."""

    weight: object
    activation: object


def with_module(x, m):
    return m.sum(x**2)


def with_layer(layer, x):
    return np.sum(layer.activation(layer.weight * x))


def test_a_module_as_an_argument():
    np.testing.assert_array_equal(
        srcjax.grad(lambda x: with_module(x, np))(X), [0.0, 2.0, 4.0]
    )


def test_a_module_in_a_variable():
    def loss(x):
        m = np
        return m.sum(m.exp(x))

    np.testing.assert_allclose(srcjax.grad(loss)(X), np.exp(X))


def test_a_function_of_an_object():
    def loss(w):
        return with_layer(Layer(w, np.tanh), X + 1)

    np.testing.assert_allclose(
        srcjax.grad(loss)(0.3), np.sum((1 - np.tanh(0.3 * (X + 1)) ** 2) * (X + 1))
    )


def test_a_function_of_a_namespace():
    tools = types.SimpleNamespace(total=np.sum)

    def loss(x):
        return tools.total(x**3)

    np.testing.assert_allclose(srcjax.grad(loss)(X), 3 * X**2)


@pytest.mark.skipif(not hasattr(srcjax, "jvp"), reason="no forward mode")
def test_forward_mode():
    _, moved = srcjax.jvp(lambda x: with_module(x, np), (X,), (np.ones(3),))
    assert moved == 6.0
    _, moved = srcjax.jvp(lambda w: with_layer(Layer(w, np.square), X), (2.0,), (1.0,))
    assert moved == 20.0


WEIGHT = np.array(2.0)


def test_an_array_without_axes_is_no_number():
    """`1.0 * w` is a number; `w` itself would be written to where adjoints add up."""

    def total(x, weight):
        return weight * sum(itertools.accumulate(x)) * WEIGHT

    def weighted(x):
        return WEIGHT * sum(itertools.accumulate(x))

    weight, x = np.array(3.0), np.array([1.0, 2.0, 3.0])
    for _ in range(2):
        dx, dweight = srcjax.grad(total, (0, 1))(x, weight)
        np.testing.assert_allclose(dx, [18.0, 12.0, 6.0])
        np.testing.assert_allclose(dweight, 20.0)
        np.testing.assert_allclose(srcjax.grad(weighted)(x), [6.0, 4.0, 2.0])
    assert weight == 3.0 and WEIGHT == 2.0
