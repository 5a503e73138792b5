"""Memory that names share, where only some examples write to it or let go of it.

As many examples as rows and columns, so that an axis taken for another one shows.
"""

import warnings

import numpy as np
import pytest

import srcjax

X = np.random.default_rng(3).normal(size=(3, 3, 3))
COUNTS = np.array([2, 0, 1])


def view_updated(x, n):
    y = x.copy()
    row = y[1]
    if n > 0:
        row += 1.0
    return y


def view_updated_in_a_while(x, n):
    y = x.copy()
    row = y[1]
    k = x[0, 0]
    while k < n:
        row += 1.0
        k = k + 1
    return y


def view_updated_in_a_list(x, n):
    rows = [x[0].copy(), x[1].copy()]
    first = rows[0]
    if n > 0:
        first += 10.0
    return rows[0] + rows[1]


def accumulator_in_a_list(x, n):
    total = np.zeros(3)
    seen = []
    for i in range(3):
        if i <= n:
            total += x[i]
        seen.append(total)
    return total, seen[0] + seen[2]


def let_go_of_by_some(x, n):
    a = x[0].copy()
    first = a[:2]
    if n > 0:
        a = a * 2
    first[1] = 7.0
    return a, first


def written_then_let_go_of(x, n):
    y = x.copy()
    z = y
    if n > 0:
        z[0] = 5.0
        z = z * 2
    return y + z


def another_row_each_time(x, n):
    y = x.copy()
    row = y[0]
    for i in range(n):
        row = y[i + 1]
    row += 1.0
    return y


@pytest.mark.parametrize(
    "f", [view_updated, view_updated_in_a_while, view_updated_in_a_list]
)
def test_written_where_others_see_it(f):
    expected = np.stack([f(x, n) for x, n in zip(X, COUNTS, strict=True)])
    np.testing.assert_array_equal(srcjax.vmap(f)(X, COUNTS), expected)


@pytest.mark.parametrize(
    "f",
    [
        accumulator_in_a_list,
        let_go_of_by_some,
        written_then_let_go_of,
        another_row_each_time,
    ],
)
def test_the_examples_that_keep_it_see_it(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        found = srcjax.vmap(f)(X, COUNTS)
    each = [f(x, n) for x, n in zip(X, COUNTS, strict=True)]
    if isinstance(found, tuple):
        for part, parts in zip(found, zip(*each, strict=True), strict=True):
            np.testing.assert_array_equal(part, np.stack(parts))
    else:
        np.testing.assert_array_equal(found, np.stack(each))
