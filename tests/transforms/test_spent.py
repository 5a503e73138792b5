"""Derivatives of items that are used up: which of them are set to zero."""

import numpy as np
import pytest

import srcjax

A = np.array([0.3, -0.7, 1.1, 0.4])


def each_once(a):
    y = np.zeros(len(a))
    for i in range(len(a)):
        y[i] = np.sin(a[i]) * a[0]
    return np.sum(y**2)


def of_those_before(a):
    y = np.zeros(len(a))
    for i in range(len(a)):
        y[i] = a[i] * np.sum(y[:i] ** 2) + a[i]
    return np.sum(y**2)


def a_table(a):
    d = np.ones((5, 5))
    for i in range(1, 5):
        for j in range(1, 5):
            d[i, j] = a[i - 1] * d[i - 1, j] + d[i, j - 1] * d[i - 1, j - 1]
    return d[4, 4]


def columns(a):
    q = np.zeros((2, 4))
    for j in range(4):
        v = np.array([1.0, a[j]])
        for i in range(j):
            v = v - np.sum(q[:, i] * v) * q[:, i]
        q[:, j] = v * 0.5
    return np.sum(q**3)


def one_further_on(a):
    y = np.ones(6)
    for i in range(4):
        y[i + 1] = np.sin(a[i])
    return np.sum(y**2)


def tridiagonal(a):
    m = np.eye(4)
    for i in range(1, 3):
        m[i, i - 1] = -a[i]
        m[i, i] = 1 + 2 * a[i]
        m[i, i + 1] = np.sin(a[i])
    u = np.array([1.0, 2.0, 0.5, -1.0])
    for _ in range(2):
        u = m @ u
    return u @ u


SPENT = [each_once, of_those_before, a_table, columns, one_further_on, tridiagonal]


def the_last_one_twice(a):  # y[-1] is y[3]
    y = np.ones(4)
    for i in range(-1, 4):
        y[i] = a[i] ** 2 + y[0]
    return np.sum(y**2)


def all_twice(a):
    y = np.ones(4)
    for k in range(2):
        for i in range(4):
            y[i] = a[i] ** 2 + k
    return np.sum(y**2)


def read_by_others(a):
    y = np.ones(5)
    for i in range(4):
        y[i] = a[i] * y[i + 1]
        y[i + 1] = a[i] ** 2
    return np.sum(y**2)


def given_back(a):
    y = a.copy()
    for i in range(4):
        y[i] = np.sin(y[i])
    return np.sum(y**2)


def started_from_what_is_read(a):
    y = a.copy()
    for i in range(3):
        y[i] = a[i] * 2.0
    return np.sum(y**2) + np.sum(y[1:])


def at_places(a):
    y, places = np.ones(4), [1, 0, 1, 2]
    for i in range(4):
        y[places[i]] = a[i] ** 2
    return np.sum(y**3)


def one_over_the_other(a):  # m[0, 0] is written twice
    m = np.eye(4)
    for i in range(4):
        m[i, 0] = a[i]
        m[i, i] = a[i] ** 2
    return np.sum(m**2)


def below_each_other(a):  # m[i + 1, 0] is m[i, 0] of the next iteration
    m = np.zeros((5, 2))
    for i in range(4):
        m[i, 1] = a[i]
        m[i + 1, 0] = a[i] ** 2
        m[i, 0] = m[i, 0] * a[i]
    return np.sum(m**2)


def added_to_itself(a):
    m = np.zeros((4, 4))
    for i in range(4):
        m[i, i] = a[i]
    m += m.T
    return np.sum(m**2)


NEEDED = [
    one_over_the_other,
    below_each_other,
    the_last_one_twice,
    all_twice,
    read_by_others,
    started_from_what_is_read,
    at_places,
]


@pytest.mark.parametrize(
    "f", [*SPENT, *NEEDED, given_back, added_to_itself], ids=lambda f: f.__name__
)
def test_items_that_are_used_up_stay(f):
    text = str(srcjax.source(srcjax.grad(f), A))
    if f not in (given_back, added_to_itself):
        assert ("] = 0.0" in text) == (f in NEEDED), text
    assert "dq[:, j].copy()" not in text, text  # a view does
    steps = 1e-6 * np.eye(4)
    differences = [(f(A + s) - f(A - s)) / 2e-6 for s in steps]
    np.testing.assert_allclose(srcjax.grad(f)(A), differences, rtol=1e-6, atol=1e-8)
