"""Joins of arrays with lists and numbers: their gradients read as a person's do."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

P, X = np.array([0.4, 1.2]), np.array([0.7, -1.3, 2.1])


def between_ends(p, x):
    return np.sum(np.concatenate([[0.0], x, [1.0]]) ** 2)


def numbers_beside(p, x):
    return np.sum(np.hstack([p[0], x, 2.0]) ** 3)


def row_of_parts(p, x):
    return np.sum(np.r_[p[0], x, p] ** 3)


def edges(p, x):
    return np.sum(np.concatenate(([x[0]], np.diff(x), [x[-1]])) ** 2)


def three_arrays(p, x):
    z = np.concatenate([p, x, p])
    return np.sum(z * np.sin(z))


def lists_of_two(p, x):
    return np.sum(np.concatenate([[x[0], p[1]], x, [x[1], p[0]]]) ** 3)


def many_with_lists(p, x):
    return np.sum(np.concatenate([[p[0]], p, [p[1]], x, [x[1]]]) ** 3)


def rows_of_lists(p, x):
    return np.sum(np.concatenate([[p], [x[:2]]], axis=0) ** 3)


def lists_along_columns(p, x):
    return np.sum(np.concatenate([[p], [x[:2]], [p], [p], [x]], axis=1) ** 3)


def without_items(p, x):
    return np.sum(np.concatenate([[], x, np.zeros(0), [p[0]]]) ** 3)


def columns(p, x):
    return np.sum(np.column_stack([x, x**2, np.ones_like(x)]) @ np.r_[p, 1.0])


def gates(p, x):
    n = p.shape[0]
    z = np.concatenate([p, x, [1.0]])
    return np.sum(np.tanh(z[:n]) * z[n : 2 * n] + z[2 * n : 3 * n])


EVERY = [
    between_ends,
    numbers_beside,
    row_of_parts,
    edges,
    three_arrays,
    lists_of_two,
    many_with_lists,
    rows_of_lists,
    lists_along_columns,
    without_items,
    columns,
    gates,
]


@pytest.mark.parametrize("f", EVERY, ids=lambda f: f.__name__)
def test_derivatives(f):
    check_grads(f, (P, X), order=2)
    gradient = srcjax.grad(f, argnums=(0, 1))
    batches = np.stack([P, 2 * P]), np.stack([X, X + 1.0])
    together = srcjax.vmap(gradient)(*batches)
    for k in range(2):
        for found, wanted in zip(
            together, gradient(*(b[k] for b in batches)), strict=True
        ):
            np.testing.assert_allclose(found[k], wanted)


@pytest.mark.parametrize(
    ("f", "lines"),
    [
        (between_ends, ["(2 * np.concatenate([[0.0], x, [1.0]]))[1:-1]"]),
        (numbers_beside, ["dhstack_p_0_x_two[1:-1]", "dp[0] = dhstack_p_0_x_two[0]"]),
        (row_of_parts, ["dr_part[1 + len(x) :]", "dr_part[1 : 1 + len(x)]"]),
        (edges, ["dx[-1] = dconcatenate_value[-1]", "dconcatenate_value[1:-1]"]),
        (three_arrays, ["dz[: len(p)]", "dz[len(p) : len(p) + len(x)]"]),
        (many_with_lists, ["dp[1] += dconcatenate_value[1 + len(p)]"]),
        (columns, ["dcolumn_stack_value[:, 0]"]),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_texts(f, lines):
    text = str(srcjax.source(srcjax.grad(f, argnums=(0, 1)), P, X))
    for line in lines:
        assert line in text, text
    assert "np.split" not in text and ":][0]" not in text


def test_a_list_among_arrays_tells_its_size():
    """So that the gates of a cell have the size of its state, and no sum is asked."""

    def cell(w, h, c):
        n = h.shape[0]
        z = w @ np.concatenate([h, [1.0]])
        return np.sum(np.tanh(z[:n]) * c + z[n:])

    text = str(srcjax.source(srcjax.grad(cell), np.ones((4, 3)), P, P))
    assert "unbroadcast" not in text, text


@pytest.mark.parametrize("given", [P[0], [0.4]], ids=["number", "list"])
def test_the_gradient_is_of_the_kind_of_the_argument(given):
    def f(a, x):
        return np.sum(np.hstack([a, x]) ** 2)

    found = srcjax.grad(f)(given, X)
    assert type(found) is (list if isinstance(given, list) else np.float64)
    np.testing.assert_allclose(found, 2 * np.asarray(given))


def test_the_first_row_of_the_last_part_is_the_last_row():
    def f(x, row):
        return np.sum(np.concatenate([x, row[None]]) ** 2)

    gradient = srcjax.grad(f, argnums=(0, 1))
    text = str(srcjax.source(gradient, np.ones((2, 3)), np.ones(3)))
    assert "[-1]" in text and "[-1:]" not in text, text
