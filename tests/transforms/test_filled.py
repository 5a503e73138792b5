"""What is filled with one number is that number, where an operand has the shape."""

import numpy as np
import pytest
from scipy.special import logsumexp

import srcjax
from srcjax.testing import check_grads


def mixture(w, x):
    return np.sum(logsumexp(x * w, axis=1))


def negative(w, x):
    return -np.sum(logsumexp(x * w, axis=1))


@pytest.mark.parametrize("loss", [mixture, negative])
def test_sum_of_rows(loss):
    rng = np.random.default_rng(3)
    w, x = rng.normal(size=4), rng.normal(size=(5, 4))
    text = str(srcjax.source(srcjax.grad(loss), w, x))
    assert "_like" not in text
    check_grads(loss, (w, x))
    assert np.shape(srcjax.grad(loss)(w, np.zeros((0, 4)))) == (4,)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes(dtype):
    w, x = np.ones(4, dtype), np.ones((5, 4), dtype)
    assert srcjax.grad(mixture)(w, x).dtype == dtype
    assert srcjax.grad(mixture, 1)(w.astype(np.float64), x).dtype == dtype
