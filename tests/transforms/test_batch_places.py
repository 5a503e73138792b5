"""Writes at places that are others for each example, and rows that are views."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

PLACES = np.array([1, 2, 0, 1])


def one_hot(p):
    x = np.zeros(3)
    x[p] = 1.0
    return x


def added(p):
    x = np.zeros((2, 3))
    x[0, p] += 1.0
    x[1, p] -= 2.0
    return x


def masked(p):
    x = np.zeros(3)
    x[np.arange(3) > p] = 1.0
    return x


def lists(p):
    x = np.zeros(3)
    index = [0, p]
    x[index] = np.arange(2.0)
    return x


def set_one(x, i):
    x[i] = 1.0


def in_a_helper(p):
    x = np.zeros(3)
    set_one(x, p)
    return x


def in_a_loop(p):
    x = np.zeros(3)
    for k in range(2):
        x[(p + k) % 3] = k + 1
    return x


def of_a_view(p):
    x = np.zeros((2, 3))
    row = x[1]
    row[p] = 1.0
    return x


def row_before_it_is_written(p):
    x = np.ones((3, 3)) * p
    row = x[p]
    x[p] = 2 * row + row[0]
    return x


@pytest.mark.parametrize(
    "f",
    [
        one_hot,
        added,
        masked,
        lists,
        in_a_helper,
        in_a_loop,
        of_a_view,
        row_before_it_is_written,
    ],
    ids=lambda f: f.__name__,
)
def test_written_at_a_place_of_each_example(f):
    want = [f(p) for p in PLACES]
    np.testing.assert_array_equal(srcjax.vmap(f)(PLACES), want)


def written_row(p):
    x = np.ones((3, 3)) * p
    row = x[p]
    row[0] = 5.0
    return x


def grown_row(p):
    x = np.zeros((3, 3))
    row = x[p]
    row += 1.0
    return x


def filled_row(p):
    x = np.zeros((3, 3))
    x[p].fill(1.0)
    return x


def row_of_what_changes(p):
    x = np.ones((3, 3)) * p
    row = x[p]
    x += 1.0
    return row


def row_that_is_returned(p):
    x = np.ones((3, 3)) * p
    row = x[p][1:]
    x[p] = 7.0
    return row


def copied_where(p):
    x = np.zeros(3)
    np.copyto(x, 2.0, where=np.arange(3) == p)
    return x


def unknown_call(p):
    x = np.zeros(3)
    x.put(np.flatnonzero(np.arange(3) == p), 1.0)
    return x


@pytest.mark.parametrize(
    "f",
    [
        written_row,
        grown_row,
        filled_row,
        row_of_what_changes,
        row_that_is_returned,
        unknown_call,
    ],
    ids=lambda f: f.__name__,
)
def test_a_row_that_is_a_view_takes_a_loop(f):
    with pytest.warns(srcjax.errors.PerformanceWarning):
        found = srcjax.vmap(f)(PLACES)
    np.testing.assert_array_equal(found, [f(p) for p in PLACES])


def test_copies_where_a_mask_holds_are_one_batch():
    found = srcjax.vmap(copied_where)(PLACES)
    np.testing.assert_array_equal(found, [copied_where(p) for p in PLACES])


def of_rows_of_a_difference(p, q, t):
    rows = p[np.newaxis, :] + t[:, np.newaxis] * (q - p)[np.newaxis, :]
    return np.sum((rows.T / np.linalg.norm(rows, axis=1)).T * p)


def of_a_row_of_a_difference(p, q, t):
    return np.sum(p[np.newaxis, :] * t[0] + (q - p)[np.newaxis, :] ** 2)


@pytest.mark.parametrize("f", [of_rows_of_a_difference, of_a_row_of_a_difference])
def test_an_adjoint_that_starts_as_a_negative_one_is_added_to(f):
    """`dp = -d` is not written out where `dp[:, None]` is added to."""
    p, q = np.cos(np.arange(8.0)).reshape(2, 4), np.sin(np.arange(8.0)).reshape(2, 4)
    t = np.array([[0.2, 0.5, 0.9], [0.1, 0.4, 0.3]])
    gradient = srcjax.grad(f, argnums=(0, 1))
    found = srcjax.vmap(gradient)(p, q, t)
    expected = [gradient(*row) for row in zip(p, q, t, strict=True)]
    for k in (0, 1):
        np.testing.assert_allclose(found[k], [row[k] for row in expected])
    check_grads(lambda p, q: f(p, q, t[0]), (p[0], q[0]))
