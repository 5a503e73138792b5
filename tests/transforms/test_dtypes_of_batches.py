"""A name that some examples give a whole number and others a real one is one array.

All the examples of a name have one dtype in a batch: the one that holds what any of
them gives it. Python's numbers do not widen float32, as they do not for one example.
"""

import warnings

import numpy as np
import pytest

import srcjax

X = np.array([0.5, -0.4, 2.3, -1.7, 4.0])


def margin(w, x, y, b, rate):
    """One step of the subgradient method for a classifier with a large margin."""
    if y * (w @ x + b) < 1:
        return (1 - rate) * w + rate * y * x, b + rate * y
    return (1 - rate) * w, b


def pegasos(X, y, rate=0.1):
    w, b = np.zeros(X.shape[1]), 0
    for t in range(len(y)):
        w, b = margin(w, X[t], y[t], b, rate / (t + 1))
    return np.sum(w**2) + b * w[0]


def real_in_a_branch(x):
    b = 0
    if x > 0:
        b = 2 * np.sqrt(x)
    return b * x


def real_in_a_loop(x):
    b = 0
    for i in range(3):
        if x > i:
            b = b + 2 * np.sqrt(x)
    return b * x


def real_while(x):
    b = 1
    while b * abs(x) < 10:
        b = b * 1.5 + x * x
    return b * x


def whole_on_one_side(x):
    if x > 0:
        b = 1
    elif x > -1:
        b = np.exp(x)
    else:
        b = np.sqrt(-x)
    return b * x


def in_a_tuple(x):
    p = (0, 1)
    if x > 0:
        p = (np.sqrt(x), 2 * x)
    return p[0] * x + p[1]


def changed_places(x):
    a, b = 0, x
    if x > 0:
        a, b = b, a
    return a * 2 + b * b


def mean_of_those_above(x):
    hits = total = 0
    for i in range(4):
        if x > i * 0.5:
            hits += 1
            total += np.sqrt(x) * i
    return x * total / hits if hits else x * 0


def an_index_first(x):
    """Where a number has to be whole, the batch is left as it was."""
    n = 0
    y = np.array([x, 2 * x])[n]
    if x > 0:
        n = n + 0.5 * np.sqrt(x)
    return y * n


def scaled_by_a_count(x):
    n = 0
    for i in range(3):
        if x > i:
            n += 1
    return np.ldexp(x, n)


CASES = [
    real_in_a_branch,
    real_in_a_loop,
    real_while,
    whole_on_one_side,
    in_a_tuple,
    changed_places,
    mean_of_those_above,
    scaled_by_a_count,
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("f", CASES)
def test_values_and_dtypes_are_those_of_a_loop(f, dtype):
    x = X.astype(dtype)
    want = np.stack([f(v) for v in x])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # none runs in a loop
        got = srcjax.vmap(f)(x)
    assert got.dtype == want.dtype
    assert np.allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("f", CASES[:-1])
def test_gradients_through_what_turned_real(f):
    mapped = srcjax.vmap(f)

    def total(x):
        return np.sum(mapped(x))

    want = np.stack([srcjax.grad(f)(v) for v in X])
    assert np.allclose(srcjax.grad(total)(X), want)
    assert np.allclose(srcjax.vmap(srcjax.grad(f))(X), want)


def test_an_intercept_that_begins_as_zero():
    rng = np.random.default_rng(0)
    batch, y = rng.normal(size=(3, 6, 4)), np.sign(rng.normal(size=6))
    for f in (pegasos, srcjax.grad(pegasos)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = srcjax.vmap(f, in_axes=(0, None))(batch, y)
        assert np.allclose(got, np.stack([f(x, y) for x in batch]))


def test_an_index_stays_whole():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = srcjax.vmap(an_index_first)(X)
    assert np.allclose(got, [an_index_first(v) for v in X])


def test_the_array_is_real_from_the_start():
    text = srcjax.source(srcjax.vmap(real_in_a_branch), X)
    assert "b = np.zeros(len(x))\n" in text
    assert "b[x > 0] = 2 * np.sqrt(x[x > 0])\n" in text


def made_whole(x):
    h = np.zeros(3, dtype=int) if x[0] < 0.1 else np.zeros(3)
    h[0] = x[1] * 3 + 2
    return h[0] * x[0] + h.sum()


def asked_for_its_dtype(x):
    h = x.astype(np.float32) if x[0] < 0.1 else x
    if h.dtype == np.float32:
        return x[0] * x[1]
    return np.sum(h**2)


def real_in_one_branch(x):
    n = np.array([1, 2, 3])
    if x[0] > 0.1:
        n = n * 1.5
    n[0] = x[1] * 3
    return np.sum(n * x)


def real_after_some_trips(x):
    n = np.array([1, 2, 3])
    k = 0
    while k < 3 and x[k] > 0.3:
        n = n * 1.5
        k += 1
    n[0] = x[1] * 3
    return np.sum(n * x)


def made_by_a_helper(x):
    def make(v):
        if v > 0.1:
            return np.zeros(3)
        return np.zeros(3, int)

    h = make(x[0])
    h[0] = x[1] * 3
    return np.sum(h)


def made_like_it(x):
    h = np.zeros(3, int)
    if x[0] > 0.1:
        h = h * 0.5
    z = np.zeros_like(h)
    z[0] = x[1] * 3
    return np.sum(z * x)


POINTS = np.array([[0.5, 0.9, 0.2], [0.05, 0.4, 0.7], [0.02, 0.03, 0.01]])


@pytest.mark.parametrize(
    "f",
    [
        made_whole,
        asked_for_its_dtype,
        real_in_one_branch,
        real_after_some_trips,
        made_by_a_helper,
        made_like_it,
    ],
)
def test_arrays_of_several_dtypes_that_are_written_in_place(f):
    with pytest.warns(srcjax.PerformanceWarning, match="dtype"):
        found = srcjax.vmap(f)(POINTS)
    np.testing.assert_allclose(found, [f(x) for x in POINTS])


def test_arrays_of_several_dtypes_that_are_only_read():
    def f(x):
        h = np.arange(3)
        if x[0] > 0.1:
            h = h / 2
        return np.sum(h * x)

    np.testing.assert_allclose(srcjax.vmap(f)(POINTS), [f(x) for x in POINTS])
