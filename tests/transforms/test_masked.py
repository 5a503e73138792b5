"""Items that a mask takes, under `vmap`: summed without a loop over the examples."""

import warnings

import numpy as np
import pytest

import srcjax

X = np.array([[0.5, -1.0, 2.0, 0.3], [1.5, 0.1, -0.2, 0.7], [0.2, 3.0, 0.4, -2.0]])
BAD = np.array([[0.5, np.nan, 2.0], [np.inf, 0.1, 0.7], [0.2, -np.inf, 0.4]])


def summed(x):
    return x[x > 0].sum()


def mean_of_squares(x):
    m = x > 0.1
    return np.mean(x[m] ** 2) * len(x[m])


def mean(x):
    return np.mean(x[x > 0] ** 2)


def variance(x):
    taken = x[x > 0]
    return np.sum((taken - taken.mean()) ** 2) / taken.size


def pieces(x):
    r = np.abs(x)
    return np.sum(r[r < 0.8]) + 0.5 * np.sum(r[r >= 0.8])


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        m = x > 0.1 * k
        total = total + np.sum(x[m] * k)
    return total


def of_finite(x):
    y = x[np.isfinite(x)]
    return np.sum((y - 1.0) ** 3) + y.mean()


@pytest.mark.parametrize(
    ("f", "batch"),
    [
        (summed, X),
        (mean_of_squares, X),
        (variance, X),
        (pieces, X),
        (in_a_loop, X),
        (of_finite, BAD),
        (mean, X.astype(np.float32)),
    ],
)
def test_reductions_need_no_loop(f, batch):
    batched, gradient = srcjax.vmap(f), srcjax.grad(f)
    values = batched(batch)
    assert values.dtype == batch.dtype
    np.testing.assert_allclose(values, [f(x) for x in batch], rtol=1e-6)
    expected = np.stack([gradient(x) for x in batch])
    np.testing.assert_allclose(srcjax.vmap(gradient)(batch), expected, rtol=1e-5)
    total = srcjax.grad(lambda batch: np.sum(batched(batch)))
    np.testing.assert_allclose(total(batch), expected, rtol=1e-5)


def logarithms(x):
    return np.sum(np.log(x[x > 0]))


def first_of_them(x):
    y = x[x > 0]
    return y[0] * y.sum()


def written_to(x):
    y = x[x > 0]
    y[0] = 5.0
    return y.sum()


def mask_changes(x):
    m = x > 0
    y = x[m]
    m = x > 1
    return y.sum() + np.sum(x[m])


def used_in_a_branch(x):
    y = x[x > 0]
    total = x[0]
    if total > 0.4:
        total = total + y.sum()
    return total


@pytest.mark.parametrize(
    "f", [logarithms, first_of_them, written_to, mask_changes, used_in_a_branch]
)
def test_what_is_not_only_summed_is_right(f):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        np.testing.assert_allclose(srcjax.vmap(f)(X), [f(x) for x in X])
