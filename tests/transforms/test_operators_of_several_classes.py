"""Operators that call one method in one iteration, and another in the next."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError

X = np.array([0.7, -1.2, 0.4])
DIRECTION = np.array([0.3, 0.5, -0.2])


class Dual:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, other):
        return Dual(self.a + other.a, self.b * other.b)

    def __radd__(self, other):
        return self if other == 0 else self + other


def summed(x):
    total = sum([Dual(x[0], x[1]), Dual(x[1], x[2]), Dual(x[2], x[0])])
    return total.a * total.b


def summed_on_the_way(x):
    total = 0
    for item in [Dual(x[0], x[1]), Dual(x[1], x[2])]:
        total = total + item
        if total.a > 100:
            break
    return total.a * total.b


def summed_in_part(x):
    total = 0
    for item in [Dual(v, v) for v in x]:
        total = total + item
        if total.a > 100:
            break
    return total.a * total.b


@pytest.mark.parametrize("f", [summed, summed_on_the_way])
def test_a_sum_of_objects_starts_at_zero(f):
    step = 1e-6 * DIRECTION
    slope = (f(X + step) - f(X - step)) / 2e-6
    assert srcjax.grad(f)(X) @ DIRECTION == pytest.approx(slope)
    assert srcjax.jvp(f, (X,), (DIRECTION,))[1] == pytest.approx(slope)


def test_a_method_that_is_not_known_is_refused():
    with pytest.raises(UnsupportedError, match=r"which method `total \+ item` calls"):
        srcjax.grad(summed_in_part)(X)
    with pytest.raises(UnsupportedError, match=r"which method `total \+ item` calls"):
        srcjax.jvp(summed_in_part, (X,), (DIRECTION,))
