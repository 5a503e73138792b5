"""What one item, one place or one grid does to an adjoint, in a person's words."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

X = np.array([0.7, 1.3, 2.1, 0.4])


def put_in(x):
    return np.sum(np.insert(x, 1, x[0]) ** 2)


def put_in_before_the_end(x):
    return np.sum(np.insert(x, -2, x[1]) ** 3)


def left_out(x):
    return np.sum(np.delete(x, 2) ** 2)


def last_left_out(x):
    return np.sum(np.delete(x, -1) ** 2)


def twice_differences(x):
    return np.sum(np.diff(x, 2) ** 2)


def grids(x):
    a, b, c = np.meshgrid(x, x[1:], x**2)
    return np.sum(a * b**2 * c)


def sparse_grids(x):
    a, b = np.meshgrid(x, x[1:], indexing="ij", sparse=True)
    return np.sum(a * b**2)


def rows_again(x):
    return np.sum(np.tile(x, (3, 1)) ** 2 * np.arange(3.0)[:, None])


def taken(x):
    return np.sum(np.take(x, [0, 2, 2]) ** 2)


def columns_taken(x):
    return np.sum(np.take(x.reshape(2, 2), np.array([1, 1, 0]), axis=-1) ** 2)


def taken_from_all(x):
    return np.sum(np.take(x.reshape(2, 2), [3, 1, 1]) ** 2)


def taken_by_a_tuple(x):
    return np.sum(np.take(x, (3, 1, 1)) ** 2)


TEXTS = {
    put_in: ["np.delete(dinsert_value, 1)", "dx[0] += dinsert_value[1]"],
    put_in_before_the_end: ["np.delete(dinsert_value, -3)"],
    left_out: ["np.insert(2 * np.delete(x, 2), 2, 0.0)"],
    last_left_out: ["np.pad(2 * np.delete(x, -1), (0, 1))"],
    twice_differences: ["np.diff(np.pad(2 * np.diff(x, 2), 2), 2)", "len(x) < 2"],
    grids: [".sum(axis=(1, 2))", ".sum(axis=(0, 2))", ".sum(axis=(0, 1))"],
    sparse_grids: [".sum(axis=1)", ".sum(axis=0)"],
    rows_again: [".sum(axis=0)"],
    taken: ["np.add.at(dx, [0, 2, 2], 2 * x[[0, 2, 2]])"],
    columns_taken: ["np.add.at("],
    taken_from_all: [],
    taken_by_a_tuple: [],
}


@pytest.mark.parametrize("f", TEXTS, ids=lambda f: f.__name__)
def test_derivatives_and_texts(f):
    check_grads(f, (X,), order=2)
    gradient = srcjax.grad(f)
    together = srcjax.vmap(gradient)(np.stack([X, X + 1.0]))
    np.testing.assert_allclose(together[1], gradient(X + 1.0))
    text = str(srcjax.source(gradient, X))
    for line in TEXTS[f]:
        assert line in text, text
    assert not TEXTS[f] or "srcjax" not in text, text


def test_second_differences_of_too_few_items():
    """They are none: each item has a derivative of zero, and as many as it is."""

    def f(x):
        return np.sum(np.diff(x, 2) ** 2) + x[0]

    for count in (3, 1, 2):
        wanted = srcjax.grad(f)(np.arange(1.0, count + 1))
        assert wanted.shape == (count,)
    np.testing.assert_array_equal(srcjax.grad(f)(np.ones(1)), [1.0])


def test_an_einsum_of_one_is_that_of_the_rest():
    def f(a, x):
        return np.einsum("ij,j->", a, x)

    gradient = srcjax.grad(f, argnums=(0, 1))
    a = np.arange(8.0).reshape(2, 4)
    text = str(srcjax.source(gradient, a, X))
    assert "dx = a.sum(axis=0)" in text and "einsum(" not in text.split("# ")[1][40:]
    da, dx = gradient(a, X)
    np.testing.assert_array_equal(da, [X, X])
    np.testing.assert_array_equal(dx, a.sum(axis=0))
    da[0, 0] = 7.0
    assert X[0] == 0.7


def test_a_row_that_is_taken_is_a_copy():
    def f(x, k=0):
        row, rows = np.take(x, k, axis=0), np.take(x, [0, 1], axis=0)
        row[0] = 5.0
        rows *= 2.0
        return np.sum(row * x[0]) + np.sum(rows * x)

    x = np.arange(1.0, 7.0).reshape(2, 3)
    check_grads(f, (x,))
    np.testing.assert_array_equal(x, np.arange(1.0, 7.0).reshape(2, 3))
    np.testing.assert_allclose(srcjax.grad(f)(x, np.array(0)), srcjax.grad(f)(x))
