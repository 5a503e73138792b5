"""What is filled with one number is that number, where an operand has the shape."""

import numpy as np
import pytest
from scipy.special import logsumexp

import srcjax
from srcjax import syntax
from srcjax.testing import check_grads
from srcjax.transforms.simplify.plain import zero_choice


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


def counted(s, x):
    return np.sum(-0.5 * (x / s) ** 2 - np.log(s))


def test_a_choice_of_the_same_and_a_count():
    x = np.array([0.3, -1.2, 0.7])
    text = str(srcjax.source(srcjax.grad(counted), 0.4, x))
    assert "- len(x) / s" in text
    choice = syntax.expression("np.where(c, a, a)")
    assert syntax.text(zero_choice(choice, lambda new, old: True)) == "a"
    assert zero_choice(choice, lambda new, old: False) is choice
    check_grads(counted, (0.4, x), order=2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes(dtype):
    w, x = np.ones(4, dtype), np.ones((5, 4), dtype)
    assert srcjax.grad(mixture)(w, x).dtype == dtype
    assert srcjax.grad(mixture, 1)(w.astype(np.float64), x).dtype == dtype
