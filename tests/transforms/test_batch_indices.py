"""Indices, and the parts of containers, that are another one for each example.

Every axis has three entries, as the batch has: a mistaken axis shows in the numbers.
"""

import numpy as np
import pytest

import srcjax

RNG = np.random.default_rng(5)
CUBES = RNG.normal(size=(3, 3, 3, 3))
INDEX = np.array([2, 0, 1])
PERMUTED = np.array([[2, 0, 1], [1, 1, 0], [0, 2, 2]])


def column(x, i, j):
    return x[:, i] + x[:, :, i] + x[0][:, i]


def columns(x, i, j):
    return x[:, j].sum(axis=0) + x[:, :, j][0] + x[0][:, j].T


def beside_a_list(x, i, j):
    return x[j, [0, 1, 2]] + x[i, [2, 0]].sum() + x[[1, 0], i][0]


def of_what_is_the_same(x, i, j):
    return CUBES[0, 1][:, i] * x[0] + CUBES[0][:, j, j][1]


def column_written(x, i, j):
    y = x[0].copy()
    y[:, i] *= 2.0
    y[1:, i] = y[:-1, i] + y[i, 1:]
    return y


@pytest.mark.parametrize(
    "f", [column, columns, beside_a_list, of_what_is_the_same, column_written]
)
def test_index_after_a_slice(f):
    found = srcjax.vmap(f)(CUBES, INDEX, PERMUTED)
    each = [f(CUBES[k], INDEX[k], PERMUTED[k]) for k in range(3)]
    np.testing.assert_allclose(found, np.stack(each))


def state_in_a_tuple(x):
    state = (x[0], 0.0)
    for i in range(3):
        if x[i] > 0:
            state = (state[0] + np.sqrt(x[i]), state[1] + 1)
    return state[0] * state[1]


def state_in_a_dict(x):
    state = {"x": x, "counts": [0, (x[0], 1.0)]}
    while np.sum(np.abs(state["x"])) > 0.3:
        state = {"x": state["x"] / 2, "counts": [state["counts"][0] + 1, (x[1], 2.0)]}
    return state["counts"][0] * state["x"] @ x + state["counts"][1][1]


@pytest.mark.parametrize("f", [state_in_a_tuple, state_in_a_dict])
def test_parts_of_a_container(f):
    x = CUBES[0, 0]
    text = srcjax.source(srcjax.vmap(f), x)
    assert "runtime" not in text and "copy()" in text
    np.testing.assert_allclose(srcjax.vmap(f)(x), np.stack([f(row) for row in x]))


def swapped_rows(a):
    a = a.copy()
    p = np.argmax(np.abs(a[:, 0]))
    if p != 0:
        a[[0, p]] = a[[p, 0]]
    return np.sum(a[0, 1:] * a[1:, 0])


def test_a_list_of_numbers_of_which_one_differs():
    batch = np.random.default_rng(0).normal(size=(4, 4, 4))
    for f in (swapped_rows, srcjax.grad(swapped_rows)):
        want = np.stack([f(a) for a in batch])
        np.testing.assert_allclose(srcjax.vmap(f)(batch), want, rtol=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x[[2, 0, 2]] ** 3),
        lambda x: np.sum(x[[2, 0, 2], 1:] ** 3 * x[0, 1]),
        lambda x: np.sum(np.take(x, [1, 0, 1], axis=1) ** 3),
        lambda x: np.sum(x[np.s_[1:, 0]] ** 3),
    ],
)
@pytest.mark.filterwarnings("error")
def test_hessians_of_parts_are_no_loop_over_the_examples(f):
    batch = np.random.default_rng(0).normal(size=(2, 3, 4))
    df = srcjax.hessian(f)
    got = srcjax.vmap(df)(batch)
    np.testing.assert_allclose(got, np.stack([df(x) for x in batch]))
    assert "slice(None)" not in srcjax.source(srcjax.vmap(df), batch)
