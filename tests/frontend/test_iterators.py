"""Iterators that a variable holds, of which `next` takes items one by one."""

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
