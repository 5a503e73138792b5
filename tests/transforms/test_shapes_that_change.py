"""Names whose arrays have another shape in another trip of a loop."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads
from tests.transforms.differences import check_batches, check_derivatives


def rank_by_rank(x):
    c = x
    for _ in range(2):
        c = c[:, None] * x if c.ndim == 1 else c.sum(axis=0) * x
    return np.sum(c**2)


def tiled(x):
    c = x
    for _ in range(2):
        c = 2.0 * np.tile(c, (3, 1)) if c.ndim == 1 else c.sum(axis=0)
    return np.sum(c**2)


def reduced_to_a_number(x):
    c = np.outer(x, x)
    while np.ndim(c) > 0:
        c = c.sum(axis=0)
    return c**2


def spread_by_what_is_added(x):
    c = x
    s = 0.0
    for k in range(4):
        if k % 2:
            s = s + np.sum(c)
            c = c.sum(axis=0)
        else:
            c = c + np.zeros((3, 3))
    return s * np.sum(c)


def one_item_becomes_several(x):
    c = x[:1]
    s = 0.0
    for k in range(3):
        c = c + np.ones(3) * k if k == 1 else c * c
        s = s + np.sum(c)
    return s * np.sum(c)


def a_number_becomes_an_array(x):
    c = x[0]
    for k in range(3):
        c = c + np.zeros(3) if k == 1 else c * 1.5
    return np.sum(c) * np.mean(c)


def more_and_more_axes(x):
    c = x
    for _ in range(3):
        if c.ndim < 3:
            c = c + np.zeros((2, *c.shape))
    return np.sum(c) ** 2


def longer_and_flat(x):
    c = x
    for k in range(3):
        c = np.concatenate([c, c * 2])
        c = c + np.zeros((2, 1)) if k == 1 else c
        c = c.ravel()
    return np.sum(c**2)


def subtracted_from_more(x):
    c = x
    for k in range(3):
        c = np.ones((2, 3)) - c if k == 1 else c / 2
    return np.sum(c**2)


def by_a_function_of_two(x):
    c = x
    for k in range(3):
        c = np.hypot(c, np.ones((2, 3))) if k == 1 else np.exp(-c)
    return np.sum(c)


def item_of_a_dict(x):
    held = {"c": x}
    for k in range(3):
        held["c"] = held["c"] + np.zeros((2, 3)) if k == 0 else held["c"] * held["c"]
    return np.sum(held["c"]) * held["c"].size


FUNCTIONS = [
    rank_by_rank,
    tiled,
    reduced_to_a_number,
    spread_by_what_is_added,
    one_item_becomes_several,
    a_number_becomes_an_array,
    more_and_more_axes,
    longer_and_flat,
    subtracted_from_more,
    by_a_function_of_two,
    item_of_a_dict,
]
POINTS = np.array([[0.3, 0.7, 1.1], [-0.4, 0.2, 0.9]])


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives(f):
    check_derivatives(f, POINTS[0])


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_batches(f):
    check_batches(f, POINTS)


def number_in_a_list(x):
    v = [x[0]]
    if x[1] > 0.3:
        v[0] = v[0] + np.zeros((2, *np.shape(v[0])))
    return np.sum(v[0]) * x[1]


def outer_product_of_what_a_branch_binds(x):
    c = x
    d = None
    for _ in range(2):
        if d is not None:
            c = c * d
        else:
            d = c
    return np.sum(np.multiply.outer(x, c))


@pytest.mark.parametrize("x", POINTS, ids=["taken", "other"])
def test_an_item_of_a_list_becomes_an_array(x):
    check_derivatives(number_in_a_list, x)


def test_truth_values_become_numbers():
    def f(x):
        c = x > 0.5
        for k in range(3):
            c = np.zeros(np.shape(c)) - c
            if k == 1:
                c = c * x
        return np.sum(c**2)

    check_derivatives(f, POINTS[0])


def test_a_seed_that_is_one_number_beside_what_is_no_whole_array():
    def slope(x):
        return srcjax.jvp(outer_product_of_what_a_branch_binds, (x,), (POINTS[1],))[1]

    check_grads(slope, (POINTS[0],))
