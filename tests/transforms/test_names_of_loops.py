"""Variables that a loop, comprehension, `try` or `def` binds, and that hold others."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

# ruff: noqa: B007, B020, B023, F811
X = np.array([0.3, 0.5, 0.7, 0.9])


def read_before_and_after(x):
    i = 3
    c = np.sin(x[i])
    s = 0.0
    for i in range(2):
        s = s + c * x[0]
    return s * x[i]


def as_often_as_told(x):
    i, s = 2, 1.0
    for j in range(3):
        s = s * np.sin(x[i])
        for i in range(2 - j):
            s = s + s * x[0]
        s = s * x[i]
    return s


def also_the_loop_around(x):
    s = 1.0
    for k in range(2):
        s = s * x[k]
        for k in range(3):
            s = s * x[k]
        s = s * x[k]
    return s


def bound_in_the_body(x):
    s, k = 1.0, 2
    for k in range(2):
        s = s * np.sin(x[k])
        k = 3
        s = s * x[k]
    for k in range(3):
        s = s * x[k]
    k = k + 1
    return s * x[k]


def moved_in_a_branch(x):
    c, s = x[0], 1.0
    for i in range(2):
        if x[i] > 0.4:
            i = 3
        s = s + c * x[i]
    return s


def numbers_of_an_array(x):
    v, s = x[1], 1.0
    for v in x[:2]:
        s = s * v
        for v in x[2:]:
            s = s * v * v
        s = s * v
    return s * v


def as_often_as_itself(x):
    s, k = 1.0, 3
    while k > 0:
        s = s * x[k]
        for k in range(k):
            s = s + s * x[k]
        s = s * x[k]
    return s


def left_early(x):
    s, i = 1.0, 2
    for j in range(3):
        s = s * np.sin(x[i])
        for i in range(j + 1):
            if x[i] > 0.6:
                break
            s = s + s * x[i]
        else:
            i = 3
        s = s * x[i]
    return s


def perhaps_no_trip(x):
    s = 1.0
    for i in range(3):
        s = s * x[i] ** 2
    s = s * x[i]
    for i in range(int(s < 0)):
        s = s * x[i]
    s = s * x[i]
    for j in range(2):
        for i in range(j):
            s = s * x[i]
        s = s * x[i] ** 2
    return s * x[i]


def bound_in_a_branch(x):
    s = 1.0
    for j in range(3):
        if j == 1:
            i = 2
        for i in range(j):
            s = s * x[i]
        if j > 1:
            s = s * x[i] ** 2
    return s


def read_by_a_function(x):
    i = 3

    def next_of(v):
        return v * (i + 1)

    c = np.sin(x[i])
    s = 0.0
    for i in range(2):
        s = s + c * x[0]
    return s * next_of(x[1])


def left_by_an_exception(x):
    n = 0
    v = x[(n + 1) % 4]
    for k in range(2):
        try:
            n = n + 1
            v = v * x[n + 3 * k]
        except IndexError:
            n = 3
        v = np.cos(v) * x[n]
    return v * x[0]


def taken_by_an_exception(x):
    e = x[0] * 2
    y = e**2
    try:
        y = y * x[7]
    except IndexError as e:
        y = y * len(e.args)
    return y * x[1]


def taken_by_a_function(x):
    s = 1.0
    for k in range(3):
        h = k + x[0]
        s = s * h

        def h(v):
            return v * (k + 1) * x[k]

        s = h(s)
    return s


def range_of_each_that_shrinks(x):
    s, n = 1.0, int(x[0] * 5) + 1
    for i in range(n):
        s = s * x[i] + x[1]
        n = n - 1
    return s * x[n]


def range_of_each_of_itself(x):
    s, n = 1.0, int(x[0] * 5) + 2
    for n in range(n):
        s = s * x[n] + x[1]
    return s * x[n]


def beside_a_comprehension(x):
    e = [i for i in range(4) if i > 1]
    i = e[0]
    c = np.sin(x[i])
    s = 0.0
    for i in range(2):
        s = s + c * x[0]
    return s


def beside_a_generator(x):
    j = 1
    y = x**j
    j = max(j for j in range(4))
    z = y**j
    j = 2
    return np.sum(z * j)


def beside_what_the_loop_goes_over(x):
    k, s = 1, 0.0
    a = x[k] * x
    for k, v in enumerate([k for k in range(3)]):
        s = s + a[k] * x[v]
    return s


def beside_slices(x):
    n = 2
    c = x[n:] * x[:n]
    t = [n for n in (1, 2, 3)]
    n = 1
    return np.sum(c[n:] * c[:n]) * t[1]


PROGRAMS = [
    read_before_and_after,
    as_often_as_told,
    also_the_loop_around,
    bound_in_the_body,
    moved_in_a_branch,
    numbers_of_an_array,
    as_often_as_itself,
    left_early,
    perhaps_no_trip,
    bound_in_a_branch,
    read_by_a_function,
    left_by_an_exception,
    taken_by_an_exception,
    taken_by_a_function,
    range_of_each_that_shrinks,
    range_of_each_of_itself,
    beside_a_comprehension,
    beside_a_generator,
    beside_what_the_loop_goes_over,
    beside_slices,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    check_grads(f, (X,), order=1)


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
def test_batches(f):
    batch = np.stack([X, X * 0.9, X[[1, 0, 2, 3]]])
    for g in (f, srcjax.grad(f)):
        found = srcjax.vmap(g)(batch)
        np.testing.assert_allclose(found, [g(x) for x in batch], rtol=1e-12)
