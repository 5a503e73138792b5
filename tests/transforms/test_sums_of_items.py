"""Arrays that a list or a dict held, of which only sums are read.

The adjoint of such an array is one number until something needs all of it: where it is
put into the adjoint of the list or the dict, it has the array's shape.
"""

import numpy as np
import pytest

import srcjax


def popped(x):
    xs, s = [x], 0.0
    for _ in range(len(xs)):
        s = s + 3.0 * np.sum(xs.pop())
    return s


def popped_of_two(x):
    xs, s = [x[0] * x, 2.0 * x], 0.0
    for _ in range(len(xs)):
        s = s * s + np.sum(xs.pop())
    return s


def read(x):
    xs, s = [x, x * x], 0.0
    for i in range(len(xs)):
        s = s + 3.0 * np.sum(xs[i])
    return s


def read_by_key(x):
    xs, s = {"a": x}, 0.0
    for key in xs:
        s = s + 3.0 * np.sum(xs[key])
    return s


def popped_by_key(x):
    xs, s = {"a": x}, 0.0
    for key in ["a"]:
        s = s + 3.0 * np.sum(xs.pop(key))
    return s


@pytest.mark.parametrize(
    "f",
    [popped, popped_of_two, read, read_by_key, popped_by_key],
    ids=lambda f: f.__name__,
)
def test_gradients_have_the_shape_of_the_array(f):
    x, step = np.array([1.1, 0.7]), 1e-6 * np.eye(2)
    found = srcjax.grad(f)(x)
    assert found.shape == x.shape
    differences = [(f(x + e) - f(x - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(found, differences, rtol=1e-6)


def test_gradients_of_lists_of_arrays():
    def last(xs):
        return 3.0 * np.sum(xs.pop()) + np.sum(xs[0] ** 2)

    first, second = srcjax.grad(last)([np.ones(2), np.ones(3)])
    np.testing.assert_array_equal(first, np.full(2, 2.0))
    np.testing.assert_array_equal(second, np.full(3, 3.0))


def test_items_that_become_arrays_have_adjoints_to_index():
    """The adjoint of what `np.array` makes of numbers is read at each place."""

    def product(x):
        c, d = np.atleast_1d(x[0], x[1])
        return c[0] * d[0]

    gradient, x = srcjax.grad(product), np.array([1.3, 0.7, 0.9])
    along = srcjax.grad(lambda x: gradient(x) @ np.array([1.0, 10.0, 100.0]))
    np.testing.assert_allclose(along(x), [10.0, 1.0, 0.0])
