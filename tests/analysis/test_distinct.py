"""Index arrays that name no place twice: their adjoints need no `np.add.at`."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

X = np.array([0.5, 1.5, -0.3])


def permuted(x):
    order = np.argsort(x)
    return np.sum(x[order] * np.array([1.0, 2.0, 3.0]))


def narrowed(x):
    lanes = np.arange(len(x))
    y = x.copy()
    lanes = lanes[x > 0]
    y[lanes] = np.exp(y[lanes])
    return np.sum(y**2)


def of_each_row(x):
    rows = np.arange(3)
    columns = np.array([1, 1, 0])
    y = np.stack([x, 2 * x], axis=1)
    return np.sum(y[rows, columns] ** 2)


def listed(x):
    y = x.copy()
    y[[0, 2]] = y[[2, 0]] * y[1]
    i = np.array([2, 1])
    y[i] = y[i] ** 2
    return np.sum(y * np.array([1.0, 2.0, 3.0]))


def listed_from_the_end(x):
    return np.sum(np.stack([x, 2 * x])[[-1, -2], :] ** 3)


@pytest.mark.parametrize(
    "f", [permuted, narrowed, of_each_row, listed, listed_from_the_end]
)
def test_each_place_once(f):
    text = srcjax.source(srcjax.grad(f), X)
    assert "add.at" not in text and "last_written" not in text
    check_grads(f, (X,))


def written_to(x):
    i = np.arange(3)
    i[1] = 0
    return np.sum(x[i] ** 2)


def written_through_a_view(x):
    i = np.arange(3)
    j = i[1:]
    j[0] = 0
    return np.sum(x[i] ** 2)


def given_away(x):
    i = np.arange(3)
    held = [i]
    held[0][1] = 0
    return np.sum(x[i] ** 2)


def from_below_zero(x):
    return np.sum(x[np.arange(-1, 3)] ** 2)


def repeated_by_broadcasting(x):
    rows = np.arange(1)
    columns = np.array([1, 1, 0])
    y = np.stack([x, 2 * x])
    return np.sum(y[rows, columns] ** 2)


def sorted_rows(x):
    y = np.stack([x, -x])
    order = np.argsort(y)
    return np.sum(x[order] ** 2)


def stored_twice(x):
    i = np.array([0, 1, 1])
    y = x.copy()
    y[i] = 3 * x
    return np.sum(y**2)


def from_both_ends(x):
    y = x.copy()
    y[[0, -3]] = x[[1, 2]]
    return np.sum(y[[2, -1]] ** 2) + y[0] ** 3


def changed_list(x):
    places = [0, 1]
    y = x.copy()
    y[places] = x[[1, 2]] ** 2
    places[1] = 0
    y[places] = x[[2, 1]] ** 3
    return np.sum(y[places] ** 2)


def filled_list(x):
    places = [0]
    for k in range(2):
        places.append(k)
    return np.sum(x[places] ** 2)


@pytest.mark.parametrize(
    "f",
    [
        from_both_ends,
        changed_list,
        filled_list,
        written_to,
        written_through_a_view,
        given_away,
        from_below_zero,
        repeated_by_broadcasting,
        sorted_rows,
        stored_twice,
    ],
    ids=lambda f: f.__name__,
)
def test_places_that_may_repeat(f):
    check_grads(f, (X,))
