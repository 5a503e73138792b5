"""`f(*xs)` of a list whose length is not known, where `f` takes so many arguments."""

import numpy as np
import pytest

import srcjax

COUNT = 2
WEIGHTS = [1.0, 2.0]


def product(x, y):
    return x * y * y


class Scaled:
    def of(self, a, b):
        return 2.0 * a * b * b


scaled = Scaled()


def of_a_comprehension(x):
    return product(*[x + 0.13 * i for i in range(COUNT)])


def of_a_list_that_grows(x):
    xs = []
    for i in range(COUNT):
        xs.append(x + 0.13 * i)
    return product(*xs)


def of_items_around(x):
    return product(*[x * w for w in WEIGHTS])


def after_an_argument(x):
    return product(x, *[x * i for i in range(1, COUNT)])


def of_a_lambda(x):
    g = lambda a, b: a * b * b  # noqa: E731
    return g(*[x * i for i in range(1, COUNT + 1)])


def of_a_method(x):
    return scaled.of(*[x * i for i in range(1, COUNT + 1)])


def of_map(x):
    return product(*map(lambda i: x + i, range(COUNT)))


FUNCTIONS = [
    *(of_a_comprehension, of_a_list_that_grows, of_items_around, after_an_argument),
    *(of_a_lambda, of_a_method, of_map),
]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f):
    slope = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    np.testing.assert_allclose(srcjax.grad(f)(0.7), slope, rtol=1e-6)
    value, tangent = srcjax.jvp(f, (0.7,), (1.0,))
    np.testing.assert_allclose([value, tangent], [f(0.7), slope], rtol=1e-6)
    xs = np.array([0.7, -0.2])
    np.testing.assert_allclose(srcjax.vmap(f)(xs), [f(x) for x in xs])
    assert srcjax.jit(f)(0.7) == pytest.approx(f(0.7))


def test_another_number_is_an_error():
    def f(x, n):
        return product(*[x * i for i in range(n)])

    df = srcjax.grad(f)
    assert df(0.7, 2) == 0.0
    with pytest.raises((TypeError, ValueError)):
        df(0.7, 3)
