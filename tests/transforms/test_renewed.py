"""`p /= v` of an array that nothing else holds, where what it held is read."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from tests.corpus.harness import differences

X, W = np.array([0.3, 0.7, 0.4]), np.array([0.9, 0.2, 0.6])


def normalised(x, w):
    p = np.exp(x)
    p /= p.sum()
    return p @ w


def in_a_loop(x, w):
    p = np.exp(x)
    for _ in range(3):
        p *= w * x
        p /= p.sum()
    return p @ w


def in_a_branch(x, w):
    p = np.exp(x)
    if w[0] > 0:
        p /= p.sum()
        return np.sum(p * w)
    return p[0]


def twice(x, w):
    p = x * w
    p *= x
    p[0] = 3.0
    p /= x
    return np.sum(np.sin(p))


def with_a_view(x, w):
    p = x * w
    last = p[1:]
    p *= x
    return np.sum(last * p[1:])


def of_the_caller(x, w):
    x *= w
    x *= w + x[0]
    return np.sum(x * w)


class Log:
    """Something that keeps what it is given."""

    kept = None

    def keep(self, value):
        self.kept = value


def kept_elsewhere(x, w):
    log = Log()
    p = np.exp(w)
    log.keep(p)
    p /= p.sum()
    return np.sum(log.kept * x**2)


def in_single_precision(x, w):
    p = np.ones(3, np.float32)
    p *= 3
    p *= w
    return np.sum(p * x)


def text_of(function):
    return str(srcjax.source(srcjax.grad(function), X, W))


@pytest.mark.parametrize(
    "function",
    [normalised, in_a_loop, in_a_branch, twice, with_a_view, of_the_caller,
     kept_elsewhere],
)  # fmt: skip
def test_numbers(function):
    (expected,) = differences(lambda x, w: function(x.copy(), w), (X, W), (0,))
    np.testing.assert_allclose(srcjax.grad(function)(X.copy(), W), expected, rtol=1e-5)


def test_text():
    text = text_of(normalised)
    assert "p_before = np.exp(x)\n    sum_value = p_before.sum()" in text
    assert "copy()" not in text.replace("dp = w.copy()", "")
    anew = "p_tape.append(p)\n        p = p * wx\n"  # `wx` is always the same
    assert anew in text_of(in_a_loop)


@pytest.mark.parametrize("function", [with_a_view, of_the_caller])
def test_memory_that_others_hold_is_written(function):
    assert "[...] = " in text_of(function)


def test_an_update_that_changes_the_dtype_stays_one():
    assert "p *= w" in text_of(in_single_precision)


def test_what_an_object_keeps_is_updated_in_all_modes():
    value, tangent = srcjax.jvp(kept_elsewhere, (X, W), (W, 0 * W))
    expected = np.sum(srcjax.grad(kept_elsewhere)(X, W) * W)
    np.testing.assert_allclose(value, kept_elsewhere(X, W))
    np.testing.assert_allclose(tangent, expected)
    batched = srcjax.vmap(kept_elsewhere, in_axes=(0, None))(np.stack([X, W]), W)
    np.testing.assert_allclose(batched, [kept_elsewhere(X, W), kept_elsewhere(W, W)])
