"""What starts as a number and becomes an array: `s = 0.0`, then `s = s + x`."""

import numpy as np
import pytest

import srcjax
from srcjax.analysis.types import Array, NumberOrArray, Scalar, join
from srcjax.testing import check_grads

X = np.array([0.3, -1.2, 0.7, 0.1])
W = np.array([0.5, -0.4, 1.1])
REAL, SINGLE, WHOLE = np.dtype(float), np.dtype(np.float32), np.dtype(int)
NUMBER = Scalar(dtype=REAL, python=True)
COUNT = Scalar(dtype=WHOLE, python=True)
ROW = Array(dtype=REAL, shape=(4,))


def added(x, w):
    s = 0
    for k in range(len(w)):
        s += w[k] * np.sin(x)
    return np.sum(s * x)


def scaled(x, w):
    s = 0.0
    for k in range(len(w)):
        t = s * 2.0
        s = t + w[k] * x
        s = s * w[k]
    return np.mean(s)


def starts_with_what_varies(x, w):
    s = w[0]
    for _ in range(2):
        u = s * s
        s = u + x
    return np.sum(np.exp(-s)) + np.sum(s)


def adds_to_what_varies(x, w):
    s = w[0]
    for k in range(2):
        s = s + x * w[k]
    return np.sum(s**2)


def no_trips(x, w):
    s = w[0]
    for _ in range(len(w) - 3):
        s = s + x
    return np.sum(s * 3.0)


def in_one_branch(x, w):
    s = x * w[1] if w[0] > 0 else w[1]
    return np.sum(s**2 + s * w[2])


def summed_again(x, w):
    s, out = w[0], 0.0
    for k in range(3):
        if k == 1:
            s = s * x
        out = out + np.sum(s * w[k])
    return out


def of_an_inner_loop(x, w):
    total = 0.0
    for k in range(2):
        row = 0.0
        for j in range(3):
            row = row + w[j] * x**j
        total = total + row * w[k]
    return np.sum(total**2)


PROGRAMS = [
    added,
    scaled,
    starts_with_what_varies,
    adds_to_what_varies,
    no_trips,
    in_one_branch,
    summed_again,
    of_an_inner_loop,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(program):
    for w in (W, -W):
        check_grads(program, (X, w))


def test_second_order_and_batches():
    check_grads(starts_with_what_varies, (X, W), order=2)
    both = srcjax.vmap(scaled)(np.stack([X, 2 * X]), np.stack([W, -W]))
    np.testing.assert_allclose(both, [scaled(X, W), scaled(2 * X, -W)])


def test_single_precision_stays():
    x, w = X.astype(np.float32), W.astype(np.float32)
    for program in (added, adds_to_what_varies):
        found = srcjax.grad(program, argnums=(0, 1))(x, w)
        assert [d.dtype for d in found] == [SINGLE, SINGLE]


def test_the_text_sums_nothing():
    text = srcjax.source(srcjax.grad(added), X, W)
    assert "unbroadcast" not in text and "tape" not in text


def test_joins():
    both = join(NUMBER, ROW)
    assert both == NumberOrArray(dtype=REAL, shape=(4,)) == join(ROW, NUMBER)
    assert join(both, COUNT) == join(both, ROW) == join(both, both) == both
    for other in (
        Array(dtype=REAL, shape=(3,)),
        Array(dtype=SINGLE, shape=(4,)),
        Scalar(dtype=np.dtype(complex), python=True),
        Scalar(dtype=SINGLE),
    ):
        assert not isinstance(join(both, other), NumberOrArray)
        assert not isinstance(join(other, both), NumberOrArray)
