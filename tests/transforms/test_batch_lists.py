"""Lists, of which some items are the same for all examples, or None."""

import numpy as np
import pytest
from scipy.linalg import block_diag

import srcjax

X = np.array([[0.2, 0.5], [0.3, 0.7], [0.4, 1.1]])
SEVERAL = pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")


def as_array(a):
    if a is None:
        a = [1.0]
    return np.asarray(a, np.float64)


def an_array_once_and_a_list_once(x):
    z = as_array(x)
    q = as_array([z[0] * z[1], z[1]])
    return np.sum(q * q)


def rows_with_none(x):
    rows = [[None, None] for _ in range(2)]
    for k in range(2):
        rows[k][0] = x[k] * 2.0
    return rows


def items_that_stay_none(x):
    rows = rows_with_none(x)
    return rows[0][0] * rows[1][0] + float(rows[0][1] is None)


def the_same_list_twice(x):
    q = [[x[0] ** 2, x[0]], [x[0], 1.0]]
    return np.sum(np.sin(block_diag(*[q] * 2)) * x[1])


def a_row_that_is_no_array(x):
    rows = np.vstack((np.outer(x, x), ((0.0,) * (len(x) - 1)) + (1.0,)))
    return np.sum(rows * x)


PROGRAMS = [
    an_array_once_and_a_list_once,
    items_that_stay_none,
    the_same_list_twice,
    a_row_that_is_no_array,
]


@SEVERAL
@pytest.mark.parametrize("f", PROGRAMS)
def test_batches(f):
    for batch in (X, X[:2]):  # as many examples as there are items, too
        for g in (f, srcjax.grad(f)):
            found = srcjax.vmap(g)(batch)
            np.testing.assert_allclose(found, [g(x) for x in batch], rtol=1e-12)


def test_lists_with_none_are_no_batches():
    found = srcjax.vmap(rows_with_none)(X)
    assert found[0][1] is None
    np.testing.assert_array_equal(found[1][0], 2 * X[:, 1])
