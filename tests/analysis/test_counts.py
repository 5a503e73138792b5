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


@pytest.mark.parametrize(
    "f",
    [
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
