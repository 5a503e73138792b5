"""Names that are a number for some examples of a batch, and an array for others."""

import warnings

import numpy as np
import pytest

import srcjax
from srcjax.errors import PerformanceWarning


def of_ones(x):
    t = 1.0
    if x[0] > 0:
        t = t * x
    return np.sum(t + x)


def sum_of_ones(x):  # a reduction of ones is not that of an array of ones
    t = 1.0
    if x[0] > 0:
        t = t * x
    return np.sum(t)


def reduced(x):
    t = 0.0
    if x[0] > 0:
        t = t + x
    return np.max(t) + np.sum(np.tanh(t) ** 2)


def of_cosines(x):
    t = 0.0
    if x[0] > 0:
        t = t + x
    return np.sum(np.cos(t))


def handed_on(x):
    t = 0.0
    if x[0] > 0:
        t = t + x
    u = t * 2 + 1
    return np.sum(u * x)


def asked_for_axes(x):
    t = 0.0
    if x[0] > 0:
        t = t + x
    if np.ndim(t):
        return np.sum(t)
    return x[1]


def two_of_them(x):
    t = u = 0.0
    if x[0] > 0:
        t += x
        u = u - x
    t = t + u
    return np.sum(t * x) + np.sum(u * x)


def in_a_loop(x):
    t = 0.0
    for v in x:
        if v > 0:
            t = t + v * x
    return np.sum(t * x) + np.sum(t)


def of_a_matrix(x, y):
    t = 0
    if x[0] > 0:
        t = np.outer(x, y)
    return np.sum(t * np.outer(y, x).T)


def least(x):
    m = np.inf
    if x[0] > 0:
        m = np.minimum(x, 1.0)
    return np.sum(np.minimum(m, x))


def while_small(x):
    t = 0.0
    while np.sum(t * x) < 3.0 and np.sum(x * x) > 0.3:
        t = t + x
    return np.sum(t * x)


def shifted(x, w):
    s = 0.0
    if w > 0:
        s = s + x * w
    return s + x


def in_a_callee(x):
    return np.sum(shifted(x, x[0]) ** 2)


def multiplied(x):
    t = 0.0
    if x[0] > 0:
        t = t + x[:, None] * x
    return np.sum(t @ x) if np.ndim(t) else 0.0


def of_another_size(x):
    t = 0.0
    y = x[1:]
    if x[0] > 0:
        t = y * 2
    return np.sum(t - y)


ARRAYS = [
    of_ones,
    reduced,
    handed_on,
    two_of_them,
    in_a_loop,
    of_a_matrix,
    least,
    while_small,
    in_a_callee,
    of_another_size,
]
LOOPS = [sum_of_ones, of_cosines, asked_for_axes, multiplied]
X = np.array([[0.5, 0.9], [-0.3, 2.0], [0.1, 0.4]])


def slopes(f, x, rest):
    steps = 1e-6 * np.eye(2)
    return [(f(x + d, *rest) - f(x - d, *rest)) / 2e-6 for d in steps]


@pytest.mark.parametrize("f", [*ARRAYS, *LOOPS], ids=lambda f: f.__name__)
def test_batches(f):
    count = f.__code__.co_argcount
    args = [X] * count
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = srcjax.vmap(f)(*args)
        gradients = srcjax.vmap(srcjax.grad(f))(*args)
    np.testing.assert_allclose(found, [f(*[x] * count) for x in X])
    expected = [slopes(f, x, [x] * (count - 1)) for x in X]
    np.testing.assert_allclose(gradients, expected, rtol=1e-6, atol=1e-9)
    loops = [w for w in caught if issubclass(w.category, PerformanceWarning)]
    assert bool(loops) == (f in LOOPS)


def test_the_start_is_an_array():
    text = srcjax.source(srcjax.vmap(in_a_loop), X)
    assert "t = np.zeros_like(x)" in text
    assert "runtime" not in text

    def of_rows(x):
        t = 0.0
        for row in x:
            t = t + row
        return np.sum(t**2)

    text = srcjax.source(srcjax.vmap(of_rows), np.ones((3, 4, 5)))
    assert "t = np.zeros((len(x), x.shape[2]))" in text
    assert "return np.sum(t**2, axis=1)" in text
    assert srcjax.vmap(of_rows)(np.ones((3, 0, 5))).tolist() == [0.0, 0.0, 0.0]


def test_no_common_shape():
    def f(x):
        t = 0.0
        if x[0] > 0:
            t = t + x
        return t

    with pytest.raises(ValueError), pytest.warns(PerformanceWarning):
        srcjax.vmap(f)(X)
