"""`copy.copy` and `copy.deepcopy` of objects, and `super(Cls, self)`."""

import copy

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError

X = np.array([0.7, -1.2, 0.4])
DIRECTION = np.array([0.3, 0.5, -0.2])


class Momentum:
    def __init__(self, rate):
        self.rate, self.velocity = rate, None

    def update(self, w, slope):
        if self.velocity is None:
            self.velocity = np.zeros_like(slope)
        self.velocity = 0.9 * self.velocity + slope
        return w - self.rate * self.velocity


class Named(Momentum):
    def __init__(self, rate, name):
        super(Named, self).__init__(rate)  # noqa: UP008
        self.name = name


class Scaled:
    factor = 2.0

    def __call__(self, x):
        return x * self.factor


SHARED = Scaled()


def one_optimizer_each(x):
    optimizer = Named(x[0], "given to both")
    first, second = copy.copy(optimizer), copy.copy(optimizer)
    w, v = x, 2 * x
    for _ in range(2):
        w = first.update(w, w**2)
        v = second.update(v, v)
    return np.sum(w * v) + (optimizer.velocity is None)


def shares_what_it_holds(x):
    one = Momentum(x[0])
    one.velocity = x.copy()
    other = copy.copy(one)
    other.velocity[0] = x[1] * x[2]
    other.rate = x[2] ** 2
    return np.sum(one.velocity) * one.rate * other.rate


def shares_nothing(x):
    one = Momentum(x[0])
    one.velocity = x.copy()
    other = copy.deepcopy(one)
    other.velocity[0] = x[1] * x[2]
    return np.sum(one.velocity) * np.sum(other.velocity**2)


def of_an_object_around(x):
    mine = copy.copy(SHARED)
    mine.factor = 3.0
    return mine(x[0]) * SHARED(x[1])


@pytest.mark.parametrize(
    "f", [one_optimizer_each, shares_what_it_holds, shares_nothing, of_an_object_around]
)
def test_derivatives(f):
    step = 1e-6 * DIRECTION
    slope = (f(X + step) - f(X - step)) / 2e-6
    value, gradient = srcjax.value_and_grad(f)(X)
    assert value == pytest.approx(f(X))
    assert gradient @ DIRECTION == pytest.approx(slope)
    assert srcjax.jvp(f, (X,), (DIRECTION,))[1] == pytest.approx(slope)


def test_a_deep_copy_that_may_share_is_refused():
    def twice(x):
        one = Momentum(x)
        one.velocity = one.rate
        return np.sum(copy.deepcopy(one).rate)

    with pytest.raises(UnsupportedError, match="may hold the same array twice"):
        srcjax.grad(twice)(X.copy())
