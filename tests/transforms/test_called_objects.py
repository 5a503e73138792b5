"""Objects that are called, and are parts of objects that are called."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

import srcjax

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 2


@dataclass
class Layer:
    W: np.ndarray
    b: np.ndarray

    def __call__(self, x):
        return np.tanh(self.W @ x + self.b)

    again = __call__


@dataclass
class Net:
    first: Layer
    second: Layer

    def __call__(self, x):
        return self.second(self.first(x))


@dataclass
class Scaled:
    net: Net
    scale: float

    def __call__(self, x):
        return self.scale * self.net(x)


@dataclass
class Many:
    layers: list

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def layer():
    rng = np.random.default_rng(2)
    return Layer(rng.normal(size=(3, 3)) * 0.4, rng.normal(size=3))


def loss(net, x):
    return np.sum(net(x) ** 2)


def parts_called(net, x):
    return np.sum(net.second(net.first(x)) ** 2)


def one_called_twice(net, x):
    return np.sum(net.first(net.first(net.second(x))) ** 2)


def parts_of_parts(net, x):
    return np.sum(net.net.second(net.net.first(x)) ** 2) * net.scale


def called_by_name(net, x):
    return np.sum(net.second.__call__(net.first.again(x)) ** 2)


def counted(net, x):
    for i in range(len(net.layers)):
        x = net.layers[i](x)
    return np.sum(x**2)


X = np.array([0.3, -1.2, 0.7])
CASES = [
    (loss, Net(layer(), layer())),
    (parts_called, Net(layer(), layer())),
    (one_called_twice, Net(layer(), layer())),
    (called_by_name, Net(layer(), layer())),
    (loss, Scaled(Net(layer(), layer()), 2.0)),
    (parts_of_parts, Scaled(Net(layer(), layer()), 2.0)),
    (loss, Many([layer(), layer()])),
    (counted, Many([layer(), layer()])),
]
cases = pytest.mark.parametrize(("function", "net"), CASES)


def leaves(value):
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    if hasattr(value, "__dict__"):
        return leaves(list(vars(value).values()))
    return [value]


def differences(function, net, x):
    """The gradients of the arrays of `net`, by differences."""
    net = copy.deepcopy(net)
    found = []
    for array in leaves(net):
        if isinstance(array, float):
            found.append(None)
            continue
        slopes = np.zeros_like(array)
        for at in np.ndindex(array.shape):
            old = array[at]
            array[at] = old + 1e-6
            above = function(net, x)
            array[at] = old - 1e-6
            slopes[at] = (above - function(net, x)) / 2e-6
            array[at] = old
        found.append(slopes)
    return found


def check(found, function, net, x):
    for a, b in zip(leaves(found), differences(function, net, x), strict=True):
        if b is not None:
            np.testing.assert_allclose(a, b, atol=1e-7)


@cases
def test_gradient(function, net):
    check(srcjax.grad(function)(net, X), function, net, X)
    check(srcjax.jit(srcjax.grad(function))(net, X), function, net, X)


@cases
def test_tangent(function, net):
    still = np.zeros_like(X)
    got = srcjax.jvp(function, (net, X), (net, still))[1]
    gradient = srcjax.grad(function)(net, X)
    pairs = zip(leaves(gradient), leaves(net), strict=True)
    np.testing.assert_allclose(got, sum(np.sum(a * b) for a, b in pairs))


@cases
def test_gradient_of_a_gradient(function, net):
    def slope(net, x):
        return np.sum(srcjax.grad(function, argnums=1)(net, x) ** 2)

    check(srcjax.grad(slope)(net, X), slope, net, X)


@cases
def test_examples(function, net):
    many = np.stack([X, -2 * X])
    got = srcjax.vmap(srcjax.grad(function), in_axes=(None, 0))(net, many)
    for k, x in enumerate(many):
        want = leaves(srcjax.grad(function)(net, x))
        for a, b in zip(leaves(got), want, strict=True):
            np.testing.assert_allclose(a[k], b)
