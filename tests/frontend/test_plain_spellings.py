"""What people write in other words than most."""

import math

import numpy as np
import pytest
from numpy import logical_and, multiply

import srcjax
from srcjax import tree
from srcjax.errors import UnsupportedError


def method_by_name(x):
    a = np.array([1.0, 2.0]) * x
    return getattr(a, "mean")() + getattr(a, "sum")(axis=0)  # noqa: B009


def list_times(x):
    xs = [x, x * x]
    xs *= 3
    xs[1] = x
    return sum(xs) * xs[3]


def shape_of_a_leaf(x):
    params = {"a": x * np.ones(3), "b": x * 2}
    return params["a"].sum() * tree.leaves(params)[0].shape[0]


class Turn:
    def __init__(self, c, s):
        self.c, self.s = c, s

    def __mul__(self, other):
        if not isinstance(other, self.__class__):
            return NotImplemented
        real, imaginary = self.c * other.c, self.s * other.s
        return self.__class__(real - imaginary, self.c * other.s + self.s * other.c)


def class_of_itself(x):
    turned = Turn(x, x * x) * Turn(x, 2.0)
    return turned.c * turned.s


def list_of_a_range_that_is_filled(x):
    coefficients = list(range(4))
    for k in range(1, 3):
        coefficients[k] = x**k
    letters = list("ab")
    letters[0] = x
    return coefficients[1] * coefficients[2] * coefficients[3] * letters[0]


def logarithm_to_a_base(x):
    return math.log(x, 2) + math.log(3.0, x)


def ufuncs_by_their_own_names(x):
    a = np.array([0.5, 1.0, 2.0]) * x
    chosen = np.where(logical_and.reduce((a > 1.0, np.less(a, 2.0))), a * a, a)
    return multiply.outer(chosen, a).sum() * np.logical_or.reduce([a < 0, a > 1])[1]


class Named:
    pass


class Length(float, Named):
    """A number of a class that extends two: `np.dtype` of the class is object."""


RADIUS = Length(2.5)


def number_of_a_class_of_its_own(x):
    total = math.sin(x)
    if total > 0:
        total += RADIUS
    return total * RADIUS + x / RADIUS


@pytest.mark.parametrize(
    "f",
    [
        *(method_by_name, list_times, shape_of_a_leaf),
        *(class_of_itself, list_of_a_range_that_is_filled, logarithm_to_a_base),
        *(ufuncs_by_their_own_names, number_of_a_class_of_its_own),
    ],
)
def test_derivatives(f):
    expected = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    np.testing.assert_allclose(srcjax.grad(f)(1.3), expected, rtol=1e-6)
    np.testing.assert_allclose(srcjax.jvp(f, (1.3,), (1.0,))[1], expected, rtol=1e-6)


def list_times_a_number(x, n):
    xs = [x]
    xs *= n
    return sum(xs)


def test_a_number_that_is_not_known_is_refused():
    with pytest.raises(UnsupportedError, match="repeated in place"):
        srcjax.grad(list_times_a_number)(1.3, np.int64(0))
