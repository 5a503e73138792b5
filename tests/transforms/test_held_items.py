"""What an inner loop goes over is kept once, if each outer trip has the same."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

W, X, Y = (
    np.array([0.3, -0.2]),
    np.array([[0.5, 1.0], [0.7, -0.4], [1.1, 0.2]]),
    np.ones(3),
)


def epochs(w, xs, ys, count=3):
    for _ in range(count):
        for x, y in zip(xs, ys, strict=True):
            w = w - 0.1 * (np.tanh(x @ w) - y) * x
    return np.sum(w**2)


def numbered(w, xs, ys, count=3):
    for _ in range(count):
        for k, x in enumerate(xs):
            w = w + np.sin(w * k) * x
    return np.sum(w**2)


def at_times(w, xs, ys, count=4):
    for k in range(count):
        if k % 2:
            for x, y in zip(xs, ys, strict=True):
                w = w - 0.1 * np.tanh(x @ w - y) * x
    return np.sum(w**2)


def growing(w, xs, ys, count=3):
    for k in range(count):
        for x, y in zip(xs[: k + 1], ys, strict=False):
            w = w - 0.1 * np.tanh(x @ w - y) * x
    return np.sum(w**2)


def overwritten(w, xs, ys, count=3):
    ys = ys.copy()
    for _ in range(count):
        for x, y in zip(xs, ys, strict=True):
            w = w - 0.1 * np.tanh(x @ w - y) * x
        ys[0] = ys[0] * 2.0
    return np.sum(w**2)


def another_each_time(w, xs, ys, count=3):
    for _ in range(count):
        for x, y in zip(xs, ys, strict=True):
            w = w - 0.1 * np.tanh(x @ w - y) * x
        ys = ys * 2.0
    return np.sum(w**2)


def left_early(w, xs, ys, count=3):
    for _ in range(count):
        for x, y in zip(xs, ys, strict=True):
            w = w - 0.1 * np.tanh(x @ w - y) * x
            if w[0] > 0.35:
                break
    return np.sum(w**2)


EVERY = [
    epochs,
    numbered,
    at_times,
    growing,
    overwritten,
    another_each_time,
    left_early,
]


@pytest.mark.parametrize("f", EVERY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_derivatives(f, count):
    check_grads(lambda w: f(w, X, Y, count), (W,), order=2)
    gradient = srcjax.grad(f)(W, X, Y, count)
    pullback = srcjax.vjp(lambda w: f(w, X, Y, count), W)[1]
    np.testing.assert_allclose(pullback(1.0)[0], gradient)


@pytest.mark.parametrize("f", [epochs, numbered, at_times])
def test_kept_once(f):
    text = str(srcjax.source(srcjax.grad(f), W, X, Y))
    assert "items_tape" not in text and "reversed(items)" in text, text


@pytest.mark.parametrize("f", [growing, overwritten, another_each_time])
def test_kept_each_time(f):
    text = str(srcjax.source(srcjax.grad(f), W, X, Y))
    assert "items_tape" in text, text
