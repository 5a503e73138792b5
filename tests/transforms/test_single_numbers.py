"""Numbers in single precision: gradients keep it, and the text says nothing of it."""

import numpy as np
import pytest

import srcjax
from tests.corpus.harness import assert_close, differences

X, T = np.float32(0.3), np.float32(1.2)
W = np.array([[0.2, -0.4], [0.5, 0.1]], np.float32)


def wave(t, x):
    return np.sin(t * x) * x**2


def net(x, w=W):
    h = np.stack([x, T])
    for _ in range(2):
        h = np.tanh(w @ h)
    return h[0]


def itself(x):
    return x


@pytest.mark.parametrize("f", [lambda x: wave(T, x), net, itself])
def test_gradients_of_single_numbers(f):
    found = srcjax.grad(f)(X)
    assert type(found) is np.float32
    assert_close(found, differences(f, (float(X),), (0,))[0], rtol=1e-4)
    second = srcjax.grad(srcjax.grad(f))(X)
    assert type(second) is np.float32
    wanted = differences(srcjax.grad(f), (float(X),), (0,))[0]
    assert_close(second, wanted, rtol=1e-3, atol=1e-5)


def test_texts_for_single_numbers_need_no_helpers():
    for f, args in ((wave, (T, X)), (net, (X,))):
        for df in (srcjax.grad(f), srcjax.grad(srcjax.grad(f))):
            single = str(srcjax.source(df, *args))
            assert "in_dtype_of" not in single, single
            assert f is net or "float32" not in single, single
    batch = np.array([0.1, 0.2], np.float32), np.array([1.0, 2.0], np.float32)
    for df in (srcjax.grad(wave), srcjax.grad(srcjax.grad(wave))):
        text = str(srcjax.source(srcjax.vmap(df), *batch))
        assert "dtype" not in text and "astype" not in text, text


def test_a_wider_adjoint_is_made_narrow():
    scale = np.float64(1.5)
    found = srcjax.grad(lambda x: scale * x)(X)
    assert type(found) is np.float32 and found == 1.5
    rows = srcjax.vmap(srcjax.grad(lambda x: scale * x))(np.ones(3, np.float32))
    assert rows.dtype == np.float32


WIDE = np.array([0.5, 1.5, -1.0])


def turned(x):
    y = x.copy()
    y[:] = np.concatenate([x[1:], x[:1]])
    return np.sum(y * WIDE)


def with_least(x):
    y, least = x.copy(), np.minimum(x, x)
    return np.sum(y * WIDE) + least.mean()


def of_an_item(x):
    return x * WIDE[1] + np.sin(x)


@pytest.mark.parametrize("f", [turned, with_least, of_an_item])
def test_arrays_of_double_precision_from_outside(f):
    x = X if f is of_an_item else np.array([0.4, 0.5, 0.1], np.float32)
    found = srcjax.grad(f)(x)
    assert found.dtype == np.float32
    expected = differences(f, (np.asarray(x, float)[()],), (0,))[0]
    assert_close(found, expected, rtol=1e-4)


def test_truth_values_of_numpy_are_as_strong_as_its_numbers():
    """`(d > 0.3) / 2` is of double precision, if `d` is a number of NumPy's."""

    def f(x):
        return max(np.dot(x, x), 0.3)

    x = np.array([0.4, 0.5], np.float32)
    assert srcjax.grad(f)(x).dtype == np.float32
    assert_close(srcjax.grad(f)(x), 2 * x)
