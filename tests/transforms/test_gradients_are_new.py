"""Gradients are arrays of their own: a caller may write to them."""

import itertools

import numpy as np
import pytest
from numpy import ascontiguousarray
from numpy import ascontiguousarray as as_it_lies

import srcjax

W = np.array([0.5, -1.0, 2.0])
TABLE = {"w": W}


class Holder:
    w = W


HOLDER = Holder()


def itself(w):
    return w


def with_a_global(x, y):
    return x @ W + y @ W


def with_an_item_of_a_global(x, y):
    return x @ TABLE["w"] + y[0]


def same(x, k):
    return x if k == 0 else same(x, k - 1)


def total(x, y, k):
    return x + y if k == 0 else total(x, y, k - 1)


def of_rows(matrix, k):
    return matrix.sum(axis=0) if k == 0 else of_rows(matrix, k - 1)


def through_a_function(x, y):
    return same(x, 2) @ W + y @ y


def through_a_function_of_both(x, y):
    return total(x, y, 2) @ W


def through_a_sum(x, y):
    return of_rows(x[:, None] * W, 2) @ W + of_rows(np.outer(y, y), 1)[0]


def with_an_attribute(x, y):
    return x @ HOLDER.w + itself(HOLDER.w) @ y


def with_either(x, y):
    w = HOLDER.w if x[0] > 0 else TABLE["w"]
    return x @ w + itself(y) @ itself(y)


@pytest.mark.parametrize(
    "f",
    [
        with_an_attribute,
        with_either,
        with_a_global,
        with_an_item_of_a_global,
        through_a_function,
        through_a_function_of_both,
        through_a_sum,
    ],
)
def test_of_a_number(f):
    args = np.ones(3), np.array([1.0, 2.0, 3.0])
    found = srcjax.grad(f, argnums=(0, 1))(*args)
    for a, b in itertools.combinations([*found, *args, W], 2):
        assert not np.shares_memory(a, b)
    assert all(d.flags.writeable for d in found)
    direction = np.array([0.3, -0.2, 0.1])
    for k, d in enumerate(found):
        up, down = (
            f(*(a + h * direction * (j == k) for j, a in enumerate(args)))
            for h in (1e-6, -1e-6)
        )
        np.testing.assert_allclose(d @ direction, (up - down) / 2e-6, rtol=1e-5)


def test_pullbacks():
    seed = np.ones(3)
    _, pullback = srcjax.vjp(lambda x, y: total(x, y, 2), W, W)
    dx, dy = pullback(seed)
    for a, b in itertools.combinations([dx, dy, seed, W], 2):
        assert not np.shares_memory(a, b)


def test_of_a_matrix():
    gradient = srcjax.grad(lambda matrix: of_rows(matrix, 3) @ W)(np.ones((2, 3)))
    gradient *= 2.0
    np.testing.assert_array_equal(gradient, [2 * W, 2 * W])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.asanyarray(W) * x),
        lambda x: np.sum(np.ascontiguousarray(W) * x),
        lambda x: np.sum(np.atleast_3d(W) * x),
        lambda x: np.sum(np.real(W[::-1]) * x),
        lambda x: np.sum(ascontiguousarray(W) * x),
        lambda x: x @ W.conj(),
        lambda x: x @ W.real,
    ],
)
def test_through_what_may_give_its_argument_back(f):
    """The records of the operations tell what may: `alias`."""
    gradient = srcjax.grad(f)(np.ones(3))
    assert not np.shares_memory(gradient, W)


def with_what_a_function_gives(x):
    return x[0] ** 2 + np.sum(itself(W) * x)


def written_where_a_function_gives_it(x):
    y = x * 1.0
    y[0] = 2.0
    return np.sum(as_it_lies(W) * y) + np.sum((None or W) * x)


@pytest.mark.parametrize(
    "f", [with_what_a_function_gives, written_where_a_function_gives_it]
)
def test_an_array_that_a_function_of_the_user_gives_stays_the_users(f):
    kept = W.copy()
    gradient = srcjax.grad(f)(np.ones(3))
    _, pullback = srcjax.vjp(f, np.ones(3))
    (again,) = pullback(1.0)
    np.testing.assert_array_equal(W, kept)
    assert not np.shares_memory(gradient, W)
    assert not np.shares_memory(again, W)
    np.testing.assert_array_equal(gradient, again)
