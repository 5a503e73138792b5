"""Bounds of loops that have names are computed again on the way back, not saved."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

X = np.array([0.4, -0.3, 0.8, 0.5, -0.6, 0.9, 0.2])


def banded(x, k):
    s = 1.0
    for i in range(len(x)):
        lo = max(0, i - k)
        hi = min(len(x), i + k + 1)
        for j in range(lo, hi):
            s = s * 0.5 + x[i] * x[j] * s
    return s


def by_difference(x, k):
    s = 1.0
    for i in range(len(x)):
        lo = i - k
        if lo > 1:
            for j in range(lo, i):
                s = s * 0.5 + x[j] * s
    return s


def of_bounds(x, k):
    s = 1.0
    for i in range(len(x)):
        lo = abs(i - k)
        hi = lo + k
        for j in range(lo, min(hi, len(x))):
            s = s * x[j] + np.sin(s)
    return s


AGAIN = [banded, by_difference, of_bounds]


def moving(x, k):
    """A bound that goes on from trip to trip."""
    s, lo = 1.0, 0
    for i in range(len(x)):
        for j in range(lo, i):
            s = s * 0.5 + x[j] * s
        lo = lo + (i % 2)
    return s


def changed_inside(x, k):
    s = 1.0
    for i in range(len(x)):
        lo = i - k
        for j in range(max(lo, 0), i):
            s = s * 0.5 + x[j] * s
            lo = lo + 1
        s = s * x[lo - i]
    return s


def of_values(x, k):
    s = 1.0
    for i in range(len(x)):
        lo = int(4.3 * abs(x[i]))
        for j in range(min(lo, i), i):
            s = s * 0.5 + x[j] * s
    return s


def of_what_it_writes(x, k):
    n = np.arange(len(x))
    s = 1.0
    for i in range(len(x)):
        lo = n[i]
        n[i] = 0
        for j in range(lo, len(x)):
            s = s * 0.5 + x[j] * s
    return s


def bound_in_branches(x, k):
    s = 1.0
    for i in range(len(x)):
        lo = 0
        if i % 2:
            lo = i - k
        for j in range(max(lo, 0), i):
            s = s * 0.5 + x[j] * s
    return s


def left_early(x, k):
    s = 1.0
    for i in range(len(x)):
        lo = max(0, i - k)
        for j in range(lo, i):
            if x[j] > 0.85:
                break
            s = s * 0.5 + x[j] * s
    return s


def of_a_view(x, k):
    y = x.copy()
    s = 1.0
    for i in range(len(x) - 1):
        part = y[i : i + 2]
        if part[0] > 0.3:
            s = s * 0.5 + part[1] * s
        y[i] = -y[i]
    return s + np.sum(y * y)


def of_an_item(x, k):
    y = x.copy()
    s = 1.0
    for i in range(len(x)):
        item = y[i]
        if item > 0.3:
            s = s * 0.5 + x[i] * s
        y[i] = 2.0 * s
        for j in range(int(item > 0.0) + i, len(x)):
            s = s + np.sin(y[j])
    return s + np.sum(y * y)


def of_a_changed_list(x, k):
    ns = [0, 1, 2]
    s = 1.0
    for i in range(len(x)):
        lo = len(ns)
        ns.append(i)
        hi = min(len(ns), len(x))
        for j in range(lo - 3, hi):
            s = s * 0.5 + x[j] * s
    return s


OTHERS = [
    *(of_a_view, of_an_item, of_a_changed_list),
    *(moving, changed_inside, of_values, of_what_it_writes, bound_in_branches),
    left_early,
]


@pytest.mark.parametrize("f", AGAIN)
def test_bounds_are_computed_again(f):
    text = srcjax.source(srcjax.grad(f), X, 2)
    assert "steps" not in text and "lo_tape" not in text
    assert "condition" not in text


@pytest.mark.parametrize("f", [*AGAIN, *OTHERS])
def test_derivatives(f):
    for k in (2, 4):
        check_grads(lambda x, k=k: f(x, k), (X,), order=1)


def test_second_derivatives():
    check_grads(lambda x: banded(x, 2), (X[:5],), order=2)


def test_they_are_one_kernel():
    pytest.importorskip("numba")
    d = srcjax.grad(banded)
    compiled = srcjax.jit(d)
    assert "kernel(" in srcjax.source(compiled, X, 2)
    for x in (X, X[:4], X[:0]):
        np.testing.assert_allclose(compiled(x, 2), d(x, 2))


def best_first(x):
    best = float("inf")
    least = -float("inf")
    for v in x:
        best = min(best, v * v)
        least = max(least, v)
    return best + least * float("2.5") + int("3")


def test_numbers_that_are_spelled():
    compiled = srcjax.jit(best_first)
    text = srcjax.source(compiled, X)
    assert "np.inf" in text and "inf'" not in text and "int(" not in text
    assert compiled(X) == best_first(X)
    d = srcjax.grad(best_first)
    np.testing.assert_allclose(srcjax.jit(d)(X), d(X))
