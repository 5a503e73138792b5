"""Iterators that a variable holds, of which `next` takes items one by one."""

import functools

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError


def product_of_the_rest(x):
    it = iter([x, x * x, 3 * x])
    total = next(it)
    for v in it:
        total = total * v
    return total


def pairs(x):
    it = iter([x, 4 * x, x * x, 8.0])
    total = 0.0
    for a in it:
        total += a * next(it)
    return total


def what_a_loop_leaves(x):
    it = zip([x, 2 * x, 5 * x], [3.0, 4.0, x], strict=True)
    for a, b in it:
        if a * b > 4:
            break
    return a + sum([c * d for c, d in it])


def until_there_is_none(x):
    it = iter([x, 4 * x])
    total = 0.0
    while (v := next(it, None)) is not None:
        total += v * v
    return total


def bound_again_meanwhile(x):
    it = iter([0.4, x, x * x])
    x = x * next(it)
    return x * next(it)


def in_groups(x):
    items = [x, 2 * x, 3 * x, x * x, 5 * x]
    total = 0.0
    for a, b in zip(*[iter(items)] * 2):  # noqa: B905
        total += a * b
    rows = list(zip(*[iter(items)] * 3))  # noqa: B905
    return total + rows[0][0] * rows[0][2] + sum(iter(items))


PROGRAMS = [
    *(product_of_the_rest, pairs, what_a_loop_leaves, in_groups),
    *(until_there_is_none, bound_again_meanwhile),
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    expected = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    np.testing.assert_allclose(srcjax.grad(f)(1.3), expected, rtol=1e-6)
    np.testing.assert_allclose(srcjax.jvp(f, (1.3,), (1.0,))[1], expected, rtol=1e-6)
    np.testing.assert_allclose(srcjax.jit(f)(1.3), f(1.3))


def test_text():
    text = srcjax.source(srcjax.grad(product_of_the_rest), 1.3)
    assert "    it = [x, x * x, 3 * x]\n    total = it.pop(0)\n" in text
    assert "    for v in it:\n" in text


def of_constants(x, s):
    it = iter([0.4, 0.7, 0.9])
    s -= next(it)
    return np.sum(x) * s


def test_compiled():
    assert srcjax.jit(of_constants)(np.ones(3), 2.0) == pytest.approx(4.8)


def held_by_two(x):
    it = iter([x, x * x])
    other = it
    return next(other) * next(it)


def sequence_that_grows(x):
    xs = [x, 2 * x]
    it = iter(xs)
    total = next(it)
    xs.append(3 * x)
    return total + next(it) + next(it)


@pytest.mark.parametrize("f", [held_by_two, sequence_that_grows])
def test_what_is_not_followed(f):
    with pytest.raises(UnsupportedError, match="iterator"):
        srcjax.grad(f)(1.3)
    assert srcjax.jit(f)(1.3) == f(1.3)


def unread_count(x):
    it = iter([0.4, 0.7, 0.9])
    width = len(f"{next(it):5.1f}")  # noqa: F841
    return next(it) * x[1]


def test_a_count_that_nobody_reads_takes_items():
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(srcjax.vmap(unread_count)(x), 0.7 * x[:, 1])


def doubled(x):
    for v in x:
        yield 2 * v


def both_sums(items):
    return sum(items) + sum(items)


class Holder:
    def __init__(self, items):
        self.items = items


def generator_of_a_function(x):
    items = doubled(x)
    return sum(items) + sum(items)


def one_of_two_generators(x):
    a, b = doubled(x), doubled(x)
    return sum(p * q for p, q in zip(a, b, strict=False)) + sum(b)


def given_to_who_asks_twice(x):
    return both_sums(v * v for v in x)


def named_and_given_to_who_asks_twice(x):
    items = map(np.sin, x)
    return both_sums(items)


def under_a_second_name(x):
    items = (v * v for v in x)
    others = items
    return sum(others) + sum(others)


def kept_in_a_dict(x):
    kept = {"items": (v * v for v in x)}
    return sum(kept["items"]) + sum(kept["items"])


def kept_in_a_tuple(x):
    kept = (v * v for v in x), 1.0
    return sum(kept[0]) + sum(kept[0])


def kept_by_an_object(x):
    kept = Holder(v * v for v in x)
    return sum(kept.items) + sum(kept.items)


def returned(x):
    def squares():
        return (v * v for v in x)

    items = squares()
    return sum(items) + sum(items)


class Adding:
    def twice(self, items):
        return sum(items) + sum(items)

    def once(self, items, factor=1.0):
        return factor * sum(items)

    def __call__(self, items):
        return self.twice(list(items)) + sum(items)


def by_a_method(x):
    return Adding().twice(v * v for v in x)


def by_a_method_with_a_name(x):
    adding = Adding()
    twice = adding.twice
    return twice(v * v for v in x)


def by_an_object(x):
    adding = Adding()
    return adding(map(np.sin, x))


def by_a_function_with_a_name(x):
    add = both_sums
    return add(v * v for v in x)


def by_a_lambda(x):
    add = lambda items: sum(items) + sum(items)  # noqa: E731
    return add(v * v for v in x)


def by_a_default(x, add=both_sums):
    return add(doubled(x))


def by_an_item(x):
    known = {"both": both_sums}
    return known["both"](v * v for v in x)


def by_a_partial(x):
    add = functools.partial(both_sums)
    return add(v * v for v in x)


@pytest.mark.parametrize(
    "f",
    [
        generator_of_a_function,
        one_of_two_generators,
        given_to_who_asks_twice,
        named_and_given_to_who_asks_twice,
        under_a_second_name,
        kept_in_a_dict,
        kept_in_a_tuple,
        kept_by_an_object,
        returned,
        by_a_method,
        by_a_method_with_a_name,
        by_an_object,
        by_a_function_with_a_name,
        by_a_lambda,
        by_a_default,
        by_an_item,
        by_a_partial,
    ],
)
def test_iterators_are_used_once(f):
    """A list in its place would give all items again: the sum twice over."""
    with pytest.raises(UnsupportedError, match="more than once"):
        srcjax.grad(f)(np.array([0.7, 1.2, 0.4]))


def test_iterators_are_given_to_functions():
    def product(items, start=1.0):
        for v in items:
            start = start * v
        return start

    def f(x):
        squares = (v * v for v in x)
        return product(squares) * product(doubled(x), start=x[0]) + sum(doubled(x))

    x = np.array([0.5, 1.5, 2.0])
    p = x.prod()
    expected = 3 * p**3 * 8 * x[0] / x + 2 + np.array([8 * p**3, 0.0, 0.0])
    np.testing.assert_allclose(srcjax.grad(f)(x), expected)


def test_iterators_are_given_to_methods():
    def f(x):
        adding, once = Adding(), lambda items: sum(items)
        values = []
        values.extend(v * v for v in x)
        total = adding.once((3 * v for v in values), factor=x[0])
        return total + once(map(np.sin, x))

    x = np.array([0.5, 1.5, 2.0])
    expected = 6 * x[0] * x + np.array([3 * x @ x, 0.0, 0.0]) + np.cos(x)
    np.testing.assert_allclose(srcjax.grad(f)(x), expected)
