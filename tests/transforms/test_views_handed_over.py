"""Views that a helper gives, under a name that is bound several times."""

import numpy as np
import pytest

from tests.programs.modes import verdict


def row_of(m, i):
    return m[i]


def same(v):
    return v


def row_at(m, i):
    if i % 2:
        return m[i]
    return m[:, i]


def one_row_after_the_other(x, A, s):
    m = A.copy()
    v = row_of(m, 0)
    for i in range(3):
        v *= x
        v = row_of(m, i)
        v[i] += s
    return np.sum(m**2)


def base_changes_under_a_chosen_row(x, A, s):
    m = A.copy()
    v = row_of(m, 0) if s > 5 else row_of(m, 1)
    m *= s
    return np.sum(v * v)


def chosen_row_changes(x, A, s):
    m = A.copy()
    v = row_of(m, 0) if s > 5 else row_of(m, 1)
    v *= s
    return np.sum(m * m)


def read_before_the_next_row(x, A, s):
    m = A.copy()
    v = row_of(m, 0)
    t = 0.0
    for i in range(3):
        m *= s
        t += np.sum(v**2)
        v = row_of(m, i)
    return t


def the_argument_itself(x, A, s):
    m = x.copy()
    v = same(m)
    for i in range(3):
        v *= s
        v = same(m)
        v[i] += A[i, i]
    return np.sum(m**2)


class Grid:
    def __init__(self, m):
        self.m = m

    def row(self, i):
        return self.m[i]


def rows_of_an_object(x, A, s):
    grid = Grid(A.copy())
    r = grid.row(0)
    for i in range(3):
        r *= x
        r = grid.row(i)
        r += s
    return np.sum(grid.m**2)


RIGHT = [
    one_row_after_the_other,
    base_changes_under_a_chosen_row,
    chosen_row_changes,
    read_before_the_next_row,
    the_argument_itself,
    rows_of_an_object,
]


def row_or_column(x, A, s):
    m = A.copy()
    for i in range(3):
        v = row_at(m, i)
        v *= x
        v += s
    return np.sum(m**2)


@pytest.mark.parametrize("mode", ["grad", "jvp", "vmap(grad)", "jvp(grad)"])
@pytest.mark.parametrize("program", RIGHT, ids=lambda f: f.__name__)
def test_values(program, mode):
    found, why = verdict(program, 3, 3, mode)
    assert found == "right", why


@pytest.mark.parametrize("program", [row_or_column], ids=lambda f: f.__name__)
def test_right_or_refused(program):
    found, why = verdict(program, 3, 3, "grad")
    assert found in ("right", "refused"), why
