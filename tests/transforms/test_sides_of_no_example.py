"""A side that no example takes does not run: it may fail, whatever the examples are."""

import numpy as np
import pytest

import srcjax

X, Y = np.arange(12.0).reshape(4, 3), np.ones((4, 2))


def item_of_a_longer_one(x, y):
    return x[5] if y[0] < 0 else x[0]


def other_sizes(x, y):
    if y[0] < 0:
        return np.sum(x * y)
    return x[0]


def no_square(x, y):
    if y[0] < 0:
        return np.linalg.inv(x[:, None] * y)[0, 0]
    return x[0]


def no_such_part(x, y):
    if y[0] < 0:
        return {"a": x}["b"][0] + [x][2][0]
    return x[0]


def no_number(x, y):
    if y[0] < 0:
        return x[0] * int("a")
    return x[0]


def stored_elsewhere(x, y):
    z = x * 2.0
    if y[0] < 0:
        z[7] = x[0]
        z[:] = np.ones(2)
    return z[1]


@pytest.mark.parametrize(
    "function",
    [
        *(item_of_a_longer_one, other_sizes, no_square, no_such_part),
        *(no_number, stored_elsewhere),
    ],
)
def test_a_side_that_no_example_takes(function):
    wanted = [function(x, y) for x, y in zip(X, Y, strict=True)]
    np.testing.assert_array_equal(srcjax.vmap(function)(X, Y), wanted)


def in_pieces(x):
    return np.log(x[0]) * x[-1] if x[0] > 0 else np.exp(x[1])


def test_what_cannot_fail_needs_no_test():
    assert ".any()" not in srcjax.source(srcjax.vmap(in_pieces), X)


SMALL, LARGE = [1.0, 2.0], [3.0, 4.0]


def between(x):
    if 0 <= x <= 0.7:
        y, table = x, SMALL
    elif 0.7 < x <= 0.99:
        y, table = x * x, LARGE
    elif 0.99 < x <= 1:
        y, table = 3 * x, SMALL
    else:
        raise ValueError("from 0 to 1")
    return y * table[0]


def test_a_test_of_two_comparisons():
    """That of an `elif` is a branch of its own, before the branch."""
    x = np.array([0.5, 0.8, 0.995])
    np.testing.assert_array_equal(srcjax.vmap(between)(x), [between(v) for v in x])
    np.testing.assert_allclose(srcjax.vmap(srcjax.grad(between))(x), [1, 4.8, 3])
