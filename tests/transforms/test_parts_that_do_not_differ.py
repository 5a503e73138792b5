"""A part of a container that is the same for all examples, beside one that differs."""

import numpy as np
import pytest

import srcjax


def both(x):
    return np.array([2.0, 3.0, 5.0]), x * 2


def an_array(x):
    w = both(x)[0]
    total = w[1] * w[2]
    for i in range(3):
        total = total + w[0] * w[1]
        if x[i] < 0:
            w = np.cumsum(x)
            break
    return total + w[0]


def a_number(x):
    first = (1.5, x)[0]
    for i in range(3):
        if x[i] < 0:
            break
        first = first * x[i]
    return first


X = np.array([[0.5, -1.0, 2.0], [-0.3, 0.2, -0.1], [1.0, 0.4, 0.7]])


@pytest.mark.parametrize("f", [an_array, a_number])
def test_the_part_becomes_a_batch(f):
    np.testing.assert_allclose(srcjax.vmap(f)(X), [f(x) for x in X])
