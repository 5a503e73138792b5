"""Functions that a loop makes: which trip's is called, or transformed."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads


def by_item(x):
    powers = []
    for k in range(1, 4):
        powers.append(lambda z, k=k: np.sum(z**k))
    return np.sum(srcjax.grad(powers[0])(x) * x)


def by_loop(x):
    powers = []
    for k in range(1, 4):

        def power(z, k=k):
            return np.sum(z**k)

        powers.append(power)
    total = 0.0
    for power_ in powers:
        total += np.sum(srcjax.grad(power_)(x) * x)
    return total


def by_number(x):
    powers = [lambda z, k=k: np.sum(z**k) for k in range(1, 4)]
    return sum(p(x[i:]) for i, p in enumerate(powers))


def where_it_is_made(x):
    total = 0.0
    for k in range(1, 4):

        def power(z, k=k):
            return np.sum(z**k)

        slope = srcjax.grad(power)
        total += np.sum(slope(x) * x)
    return total


def behind_the_loop(x):
    for k in range(1, 4):

        def power(z, k=k):
            return np.sum(z**k)

    return np.sum(srcjax.grad(power)(x) * x)


X = np.array([0.3, 0.7, 1.1])


def test_a_transform_of_a_function_of_some_trip_is_refused():
    with pytest.raises(srcjax.errors.UnsupportedError, match="made in a loop"):
        srcjax.grad(by_loop)(X)
    with pytest.raises(srcjax.errors.UnsupportedError, match="made in a loop"):
        srcjax.jvp(by_loop, (X,), (X,))


def test_a_second_gradient_through_functions_of_a_loop_is_refused():
    check_grads(by_number, (X,), 1)
    gradient = srcjax.grad(by_number)
    with pytest.raises(srcjax.errors.UnsupportedError, match="made in a loop"):
        srcjax.grad(lambda x: np.sum(gradient(x) * X))(X)


@pytest.mark.parametrize("f", [where_it_is_made, behind_the_loop, by_item])
def test_a_transform_of_a_function_that_is_known_is_right(f):
    check_grads(f, (X,), 1)
