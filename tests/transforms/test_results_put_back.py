"""Results are copied where the backward sweep writes to them, not where it may not.

A list that only grows is none that is put back: a deep copy of it is not only slow, but
has no derivative where it may hold one array twice.
"""

import numpy as np

import srcjax


def over_pivots(m):
    """Rows by their pivots, as eliminations begin, without the first column."""
    rows = [list(r) for r in m]
    for i in range(len(rows)):
        pivot = rows[i][i]
        rows[i] = [x / pivot for x in rows[i]]
    return [row[1:] for row in rows]


def sum_over_pivots(m):
    (a, b), (c, d) = over_pivots(m)
    return a + 2 * b + 3 * c + 4 * d


def products(x):
    y = x * 1.5
    for i in range(1, len(y)):
        y[i] = y[i] * y[i - 1]
    return y


def test_a_list_that_only_grows_is_not_copied():
    m = [[2.0, 1.0, 0.3], [0.5, 3.0, 0.7]]
    gradient = srcjax.grad(sum_over_pivots)
    assert "deepcopy" not in srcjax.source(gradient, m)
    change = np.array(srcjax.jvp(gradient, (m,), (m,))[1])
    # of degree 0: its derivative is of degree -1
    np.testing.assert_allclose(change, -np.array(gradient(m)), atol=1e-12)


def test_an_array_that_is_put_back_is_copied():
    x = np.array([2.0, 3.0, 5.0])
    value, pullback = srcjax.vjp(products, x)
    pullback(np.ones(3))
    np.testing.assert_array_equal(value, products(x))
