"""Rows and slices of lists that are written to while they are read."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import SrcjaxError

#: One test in so many runs, unless SRCJAX_TESTS=all; `sweep_sampled` has all.
SAMPLE = {"test_gradients": 14, "test_right_or_refused": 3}
XS = [np.array([1.1, 0.7, 0.4]), np.array([0.2, -0.5, 0.3])]
WEIGHTS = np.array([0.3, -0.6, 0.9])


def edit_distance(x):
    D = [[0.0] * 4 for _ in range(3)]
    for i in range(1, 3):
        D[i][0] = D[i - 1][0] + x[0] ** 2
    for j in range(1, 4):
        D[0][j] = D[0][j - 1] + x[1] ** 2
    for i in range(1, 3):
        for j in range(1, 4):
            replaced = D[i - 1][j - 1] + np.sin(x[2]) * (i + j)
            D[i][j] = min(D[i - 1][j] + x[0] ** 2, D[i][j - 1] + x[1] ** 2, replaced)
    return D[2][3] ** 2


def shortest_paths(x):
    D = [[x[i] * x[j] for j in range(3)] for i in range(3)]
    for k in range(3):
        for i in range(3):
            for j in range(3):
                D[i][j] = min(D[i][j], D[i][k] + D[k][j] * 0.1)
    return sum(sum(row) for row in D)


def whole_rows(x):
    D = [[x[0], x[1]], [x[2], 1.0]]
    y = 0.0
    for k in range(3):
        r = D[k % 2]
        y = y + sum(r) * len(r)
        D[(k + 1) % 2][0] = y * x[k]
        z = np.array(r)
        y = y + np.sum(z**2) + sum(v * v for v in r)
        w = [*r, y]
        v = r + [y]
        y = y + w[2] * w[0] + sum(D[0]) + v[1]
    return y


def whole_rows_that_are_written(x):
    D = [[x[0], x[1]], [x[2], 1.0]]
    y = 0.0
    for k in range(2):
        r = D[k]
        r[0] = x[1] * x[k]
        y = y + np.sum(np.array(r) ** 2)
        w = r + [y]
        y = y + w[2] * w[0]
    return y


def row_replaced(x):
    D = [[x[0], x[1]], [x[2], 1.0]]
    y = 0.0
    for k in range(3):
        r = D[0]
        D[0] = [r[1] * x[k], y + x[0]]
        y = y + r[0] * D[0][1]
        D[1][0] = y
        y = y + D[1][0] * r[1]
    return y


def row_inserted(x):
    D = [[x[0], x[1]], [x[2], 1.0]]
    y = 0.0
    for k in range(3):
        r = D[1]
        D.insert(1, [y, x[k]])
        D[1][1] = D[1][1] * r[0]
        y = y + r[0] * D[1][0] + D[2][0]
    return y * D[1][1]


def last_row(x):
    D = [[x[0], x[1]]]
    for k in range(3):
        r = D[-1]
        D.append([r[1] * x[k], r[0] + x[0]])
        D[-1][0] = D[-1][0] * r[0]
        s = D[-1]
        D[0][1] = s[0] * r[1]
    return D[0][1] * D[2][0] + D[-1][1]


def rows_swapped(x):
    D = [[x[0], x[1]], [x[2], 1.0]]
    y = 0.0
    for k in range(3):
        r = D[0]
        D[0], D[1] = D[1], D[0]
        y = y + r[0] * D[0][0]
        D[0][0] = y * x[k]
        y = y + r[1] * D[0][1]
    return y


def index_that_moves(x):
    D = [[x[0], x[1]], [x[2], 1.0], [x[1], x[1]]]
    y = 0.0
    i = 0
    while i < 2:
        r = D[i]
        D[i + 1][0] = D[i + 1][0] * r[0]
        i = i + 1
        y = y + r[1] * D[i][0]
        D[i][1] = y * r[0]
    return y * D[2][1]


def one_row_three_times(x):
    D = [[0.0] * 3] * 3
    y = 0.0
    for k in range(3):
        D[k][k] = x[k] * (y + 1)
        r = D[0]
        y = y + r[k] * D[2][0]
    return y


def one_array_twice(x):
    v = x * 1.0
    D = [v, v, x * 2.0]
    y = 0.0
    for k in range(3):
        r = D[0]
        y = y + r[k] * D[2][k]
        D[1][k] = y
        y = y + r[k]
    return y


def arrays_of_a_list(x):
    D = [x * 1.0, x * 2.0, x**2]
    y = 0.0
    for k in range(3):
        r, s = D[k], D[(k + 1) % 3]
        y = y + np.sum(r * s)
        D[k][1] = y * s[0]
        y = y + r[1] * s[2]
        D[(k + 1) % 3][0] = np.sin(y)
    return y + np.sum(D[0] * D[2])


def dicts_of_a_list(x):
    D = [{"a": x[0], "b": x[1]}, {"a": x[2], "b": 1.0}]
    y = 0.0
    for k in range(3):
        r = D[k % 2]
        y = y + r["a"] * D[0]["b"]
        D[k % 2]["b"] = y * r["a"]
        D[0]["a"] = y + r["b"]
    return y * D[0]["a"]


def rows_of_rows(x):
    D = [[[x[0], x[1]], [x[2], 1.0]], [[x[1], x[1]], [x[0], 2.0]]]
    y = 0.0
    for k in range(3):
        p = D[k % 2]
        r = p[1]
        q = D[0][0]
        y = y + r[0] * q[1]
        D[(k + 1) % 2][1][0] = y * x[k]
        p[0][1] = y + r[1]
        y = y + q[0]
    return y + D[1][0][1]


def left_early(x):
    D = [[x[0], x[1]], [x[2], 1.0]]
    y = 0.0
    for k in range(3):
        r = D[1]
        if y > 0.5:
            D[1][0] = y * 3
            break
        D[0][1] = r[0] * x[k]
        y = y + D[0][1] + r[1]
        D[1][1] = y * r[0]
    return y * D[1][0] * D[0][1]


def never_run(x):
    D = [[x[0], x[1]], [x[2], 1.0]]
    y = x[0]
    for k in range(2):
        r = D[k]
        for j in range(int(x.size > 9)):
            y = y + r[j]
            D[1][j] = y
        y = y * r[0]
    return y * D[1][0] * D[0][1]


def slices_replaced(x):
    v = [x[0], x[1], x[2], x[0] * x[1]]
    y = 0.0
    for k in range(2):
        y = y + v[0] * v[-1]
        v[-3:-1] = [y * x[k], x[2], v[1]]
        y = y + v[1] * v[2]
        del v[-2:]
        y = y * v[-1]
    return y


def slices_beyond_the_ends(x):
    v = [x[0], x[1], x[2], x[0] * x[1]]
    y = 0.0
    for k in range(2):
        v[3:1] = [y * x[k]]
        y = y + v[3] * v[0] + 1
        v[9:] = [y, v[0]]
        del v[:1]
        del v[5:2]
        v[-9:1] = [v[1], y]
        y = y * v[-1] + v[0] * v[2]
    return y


def slices_between(x, low, high):
    v = [x[0], x[1], x[2], x[0] * x[1]]
    y = 0.0
    for k in range(2):
        y = y + v[0] * v[1] * v[2]
        v[low:2] = [y * x[k], v[0] * y]
        y = y + v[0] * v[1]
        v[2:high] = [y, v[1]]
        y = y * v[0] + v[3]
    del v[low:1]
    y = y + v[0] * v[1] ** 2
    del v[1:high]
    return y * v[0]


FOLLOWED = [
    slices_replaced,
    slices_beyond_the_ends,
    edit_distance,
    shortest_paths,
    whole_rows,
    whole_rows_that_are_written,
    row_inserted,
    arrays_of_a_list,
    dicts_of_a_list,
    rows_of_rows,
    left_early,
    never_run,
    one_array_twice,
]
REFUSED = [
    row_replaced,
    last_row,
    rows_swapped,
    index_that_moves,
    one_row_three_times,
]


def differences(function, x, step=1e-5):
    ends = [(x + step * d, x - step * d) for d in np.eye(len(x))]
    return np.array([(function(a) - function(b)) / (2 * step) for a, b in ends])


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("x", XS, ids=["first", "second"])
@pytest.mark.parametrize("function", FOLLOWED)
def test_gradients(function, x):
    gradient = srcjax.grad(function)
    close(gradient(x), differences(function, x))

    def projected(x):
        return np.sum(gradient(x) * WEIGHTS)

    wanted = differences(projected, x)
    close(srcjax.grad(projected)(x), wanted)
    close(srcjax.hvp(function, (x,), (WEIGHTS,)), wanted)


@pytest.mark.parametrize("bounds", [(None, None), (0, None), (None, 4), (-9, 9)])
def test_bounds_that_may_be_none(bounds):
    found = srcjax.grad(slices_between)(XS[0], *bounds)
    close(found, differences(lambda x: slices_between(x, *bounds), XS[0]))

    def on_the_way(x, k):
        low, high = (None, 4) if k > 1 else (0, None)
        return slices_between(x, low, high)

    for k in (1, 2):
        found = srcjax.grad(on_the_way)(XS[0], k)
        close(found, differences(lambda x, k=k: on_the_way(x, k), XS[0]))


@pytest.mark.parametrize("function", REFUSED)
def test_right_or_refused(function):
    gradient = srcjax.grad(function)
    try:
        close(gradient(XS[0]), differences(function, XS[0]))
    except SrcjaxError:
        return

    def projected(x):
        return np.sum(gradient(x) * WEIGHTS)

    try:
        found = srcjax.grad(projected)(XS[0])
    except SrcjaxError:
        return
    close(found, differences(projected, XS[0]))


def test_a_row_is_added_to_where_it_is():
    text = srcjax.source(srcjax.grad(edit_distance), XS[0])
    assert "dD[i - 1][j] += " in text and "add(" not in text


def rows_filled(x):
    rows = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            rows[i][j] = x[i] * x[j] + (rows[i - 1][j] if i else 0.0)
    return rows[0][1] * 3 + rows[1][1] + rows[1][0] ** 2


def test_rows_of_batches_are_made_as_rows_of_numbers():
    xs = np.array([[1.3, -0.7], [1.0, 2.0], [0.3, 0.4]])
    mapped = srcjax.vmap(rows_filled)

    def total(x):
        return np.sum(mapped(x))

    assert np.allclose(mapped(xs), [rows_filled(x) for x in xs])
    want = [srcjax.grad(rows_filled)(x) for x in xs]
    assert np.allclose(srcjax.grad(total)(xs), want)
    text = srcjax.source(mapped, xs)
    assert "rows = [[np.zeros(batch_size) for _ in range(2)] for _ in range(2)]" in text
