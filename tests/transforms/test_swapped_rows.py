"""Items of a list that trade places, where they are changed afterwards."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError


def determinant(x):
    rows = [[x, 2.0, 1.0], [3.0 * x, x * x, 0.5], [1.0, x, 4.0]]
    d = 1.0
    for k in range(3):
        p = max(range(k, 3), key=lambda r: abs(rows[r][k]))
        if p != k:
            rows[k], rows[p] = rows[p], rows[k]
            d = -d
        for i in range(k + 1, 3):
            m = rows[i][k] / rows[k][k]
            for j in range(k, 3):
                rows[i][j] -= m * rows[k][j]
        d *= rows[k][k]
    return d


def of_places_that_meet(x):
    rows = [np.array([1.0, 2.0]) * x, np.array([3.0, 4.0]) * x * x, np.array([x, 1.0])]
    for k in range(4):
        i, j = k % 3, (2 * k + 1) % 3
        rows[i], rows[j] = rows[j], rows[i]
        rows[i][0] *= x
        rows[j] -= 0.5 * rows[i]
    return rows[0][1] * rows[1][0] + 3 * rows[2][0]


def of_dicts(x):
    parts = [{"p": x, "v": 1.0}, {"p": x * x, "v": x}]
    for _ in range(3):
        parts[0], parts[1] = parts[1], parts[0]
        for part in parts:
            part["p"] += 0.1 * part["v"]
        parts[0]["v"] *= x
    return parts[0]["p"] * parts[1]["v"]


@pytest.mark.parametrize("f", [determinant, of_places_that_meet, of_dicts])
def test_gradient(f):
    expected = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    np.testing.assert_allclose(srcjax.grad(f)(1.3), expected, rtol=1e-6)


def one_in_two_places(x):
    rows = [[x, 2.0], [3.0 * x, x * x]]
    for k in range(2):
        rows[k], rows[1 - k] = rows[1 - k], rows[1 - k]
        rows[k][0] *= x
    return rows[0][0] * rows[1][1]


def test_what_is_no_swap():
    with pytest.raises(UnsupportedError, match="more than once"):
        srcjax.grad(one_in_two_places)(1.3)
