"""Sizes that are not known: equal where one place made them, and nowhere else."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

X = np.array([0.5, 1.5, -0.3])


def kept_from_before(x):
    total = 0.0
    old = x[x > 0]
    k = 0.0
    while k < 2:
        y = x[x > k]  # of size 2, then 1
        total = total + np.sum(y * old) + np.sum(y * y)
        old = y
        k = k + 1
    return total


def named_mask(x):
    total = 0.0
    k = 0
    old = x
    while k < 2:
        m = x > k
        y = x[m]
        if k > 0:
            total = total + np.sum(y * old * x[m])
        old = y
        k = k + 1
    return total


def mask_of_before(x):
    m = x > 0
    y = x[m]
    total = 0.0
    for k in range(40):
        z = x[m] * (k + 1)
        total = total + np.sum(z * y)
        m = x > 1
    return total


def mask_changed_in_place(x):
    m = x > 0
    y = x[m]
    m[0] = False
    return np.sum(x[m] * y)


def mask_changed_after_use(x):
    m = x > 0
    y = x[m]
    z = x * m
    m[0] = False
    m[2] = True
    return np.sum(y * 3 + x[m]) + np.sum(z * x)


def narrowed_at_the_end(x):
    lanes = np.arange(3)
    first = x[lanes]
    total = 0.0
    while lanes.size:
        y = x[lanes]
        total = total + np.sum(y * y) + np.sum(first[-1] * y)
        lanes = lanes[1:]
        if lanes.size == 1:
            total = total + np.sum(x[lanes] * y)
    return total


def positive(x, above):
    return x[x > above]


def results_of_calls(x):
    return np.sum(positive(x, 0.0) * positive(x, 1.0))


def chosen_in_a_branch(x):
    y = x[x > 0]
    z = y * 2
    if y[0] > 0:
        z = x[x > 1]
    return np.sum(z * y)


def inside_of_another_loop(x):
    total = 0.0
    w = x
    for i in range(2):
        lanes = np.flatnonzero(x > i)
        z = x[lanes]
        while z.size > 1:
            z = z[1:] * w[0]
        total = total + np.sum(z * x[lanes]) + np.sum(w * z)
        w = x[lanes]
    return total


def slice_of_before(x):
    total = 0.0
    old = x[:1]
    for k in range(1, 3):
        y = x[:k] * 2  # of size 1, then 2
        total = total + np.sum(y * old * x[:k]) + np.sum(y * y)
        old = x[:k]
    return total


def slices_of_each(x):
    kept = []
    for k in range(1, 4):
        kept.append(x[:k] * k)
    total = np.sum(kept[0] * kept[2]) * 2
    for k in range(3):  # another place gives it to `k`
        total = total + np.sum(kept[k] * x[: k + 1]) + np.sum(kept[0] * x[:k])
    return total


def bound_that_grows(x):
    total, k = 0.0, 1
    y = x[:k]
    while k < 3:
        total = total + np.sum(y * x[:k]) + np.sum(y**2)
        k += 1
    return total


def bound_of_before(x):
    total, m = 0.0, 1
    for k in range(1, 3):
        n = 3 if k == 2 else k
        y = x[:n]
        total = total + np.sum(y * x[:m]) * k
        m = k if k > 1 else 1
    return total + np.sum(y * x[:n])


def bound_in_an_outer_loop(x):
    total, w = 0.0, x[:1]
    for i in range(2):
        total = total + np.sum(w * x[: i + 1]) + np.sum(w * 2)
        for k in range(i + 1, 3):
            w = x[i:k]
            total = total + np.sum(w * x[i:k]) * k
    return total


def part_and_number(y, x, k):
    if k > 2:
        return np.sum(y * x[:1])
    return np.sum(y * x[:k]) + part_and_number(x[:1], x, k + 1)


def bounds_of_calls(x):
    return part_and_number(x[:1], x, 1) + part_and_number(x[:2], x, 2)


def bound_of_a_closure(x):
    k = 1
    y = x[:k]

    def grow():
        nonlocal k
        k = 3

    grow()
    return np.sum(y * x[:k])


def bound_changed_in_place(x):
    k = np.array(1)
    y = x[:k]
    k += 2
    return np.sum(y * x[:k])


def bound_of_a_comprehension(x, n=3):
    y = x[:n]
    return sum([np.sum(y[:1] * x[:n]) for n in range(1, 4)]) + np.sum(y * x[:n])


@pytest.mark.parametrize(
    "f",
    [
        slice_of_before,
        slices_of_each,
        bound_that_grows,
        bound_of_before,
        bound_in_an_outer_loop,
        bounds_of_calls,
        bound_of_a_closure,
        bound_changed_in_place,
        bound_of_a_comprehension,
        kept_from_before,
        named_mask,
        mask_of_before,
        mask_changed_in_place,
        mask_changed_after_use,
        narrowed_at_the_end,
        results_of_calls,
        chosen_in_a_branch,
        inside_of_another_loop,
    ],
    ids=lambda f: f.__name__,
)
def test_sizes_that_differ(f):
    check_grads(f, (X,), order=2)


def test_equal_sizes_need_no_helper():
    def f(x, w):
        m = x > 0
        return np.sum(x[m] * w[m]) + np.sum(np.exp(x[m]) * w[m])

    text = srcjax.source(srcjax.grad(f, argnums=(0, 1)), X, X)
    assert "unbroadcast" not in text
    check_grads(f, (X, X * 2))


def test_equal_slices_need_no_helper():
    def f(x, w):
        y = x * w
        for k in range(1, len(x)):
            y[:k] += w[:k] * np.dot(y[:k], x[:k])
            y[k:] = np.exp(-x[k:]) * w[k:]
        return np.sum(y)

    text = srcjax.source(srcjax.grad(f, argnums=(0, 1)), X, X)
    assert "unbroadcast" not in text
    check_grads(f, (X, X * 2))


@pytest.mark.parametrize(
    "f", [slice_of_before, bound_in_an_outer_loop, bounds_of_calls]
)
def test_slices_of_other_sizes_in_kernels(f):
    pytest.importorskip("numba")
    with np.errstate(all="ignore"):
        assert np.isclose(srcjax.jit(f)(X), f(X))
