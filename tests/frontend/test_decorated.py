"""Inner functions with decorators are what the decorators give."""

import functools
import warnings

import numpy as np
import pytest

import srcjax
from srcjax.errors import SrcjaxError
from srcjax.testing import check_grads


def times(factor):
    def wrap(function):
        def scaled(u):
            return factor * function(u)

        return scaled

    return wrap


def doubled(function):
    return lambda u: 2 * function(u)


def with_an_argument(x):
    @times(2.0)
    def same(u):
        return u

    return same(x)


def without_one(x):
    @doubled
    def square(u):
        return u * u

    return square(x)


def two(x):
    @doubled
    @times(x)
    def square(u):
        return u * x

    return square(x)


def counted(x):
    count = [0]

    def tick():
        count[0] += 1
        return float(count[0])

    @times(tick())
    def scaled(u):
        return u * x

    return scaled(x) + scaled(2 * x) * tick()


def taken_in_order(x):
    factors = iter([2.0, 3.0])

    @times(next(factors))
    def same(u):
        return u

    return same(x) + next(factors) * x


def a_transform(x):
    @srcjax.grad
    def cube(u):
        return u**3

    return cube(x)


def kept(x):
    @functools.lru_cache(None)
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    @functools.lru_cache(None)
    def cube(u):
        return u**3

    return fibonacci(7) * cube(x)


def a_vectorized_one(x):
    @np.vectorize
    def cube(u):
        return u**3

    return float(cube(x))


@pytest.mark.parametrize(
    "program",
    [
        with_an_argument,
        without_one,
        two,
        counted,
        taken_in_order,
        a_transform,
        kept,
        a_vectorized_one,
    ],
    ids=lambda f: f.__name__,
)
def test_derivatives(program):
    check_grads(program, (1.3,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.errors.PerformanceWarning)
        found = srcjax.vmap(program)(np.array([1.3, 0.4]))
    np.testing.assert_allclose(found, [program(1.3), program(0.4)])


def a_dispatched_one(x):
    @functools.singledispatch
    def cube(u):
        return u**3

    return float(cube(x))


def test_what_is_not_looked_into_is_refused():
    for mode in (srcjax.grad, lambda f: lambda x: srcjax.jvp(f, (x,), (1.0,))):
        with pytest.raises(SrcjaxError, match="cube"):
            mode(a_dispatched_one)(1.3)


# -- stars, and calls after them that change what they show ----------------------------


def shown_before_it_shrinks(x):
    d = {"a": 1.0, "b": 0.5 * x, "c": x * x}
    d = {**d, "b": d.pop("a", x) * x}
    items = [x, x * x, x**3]
    more = [*items, items.pop() * 2]
    return sum(d.values()) * x + sum(more) * len(more) + len(items)


def shown_before_it_grows(x):
    items = [x, x * x]

    def grow():
        items.append(x**3)
        return 1.0

    return sum((*items, grow())) * x


def passed_before_it_shrinks(x):
    items = [x, x * x, x**3]

    def combined(a, b, c, d):
        return a + 2 * b + 3 * c * d

    return combined(*items, items.pop())


@pytest.mark.parametrize(
    "program",
    [shown_before_it_shrinks, shown_before_it_grows, passed_before_it_shrinks],
    ids=lambda f: f.__name__,
)
def test_stars_in_order(program):
    check_grads(program, (1.3,))


REGISTRY = []


def registered(x):
    @REGISTRY.append
    def unused(u):
        return u * x

    return x**2


def test_a_method_of_the_module():
    try:
        found = srcjax.grad(registered)(1.3)
    except SrcjaxError:
        return
    assert found == pytest.approx(2.6)
