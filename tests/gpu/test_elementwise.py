"""Plain chains are `cupy.ElementwiseKernel`."""

import numpy as np
import pytest

import srcjax
from tests.gpu import fake_cupy, shim
from tests.gpu.test_cuda import compare, layouts, on_device, on_host

pytestmark = pytest.mark.skipif(not shim.has_compiler(), reason="there is no g++")


@pytest.fixture
def cupy():
    with fake_cupy.installed() as found:
        yield found


def text_of(function, args):
    return function.__srcjax_transform__.module_for(args, {}).text


def check(cupy, function, *args):
    compiled = srcjax.jit(function)
    values = on_device(cupy, args)
    compare(on_host(compiled(*values)), function(*args), args[0].dtype)
    text = text_of(compiled, values)
    assert "@elementwise_kernel" in text and "@cuda" not in text


def turned(x, y):
    return x * np.sin(y.T) + x[:1] - y[:, 0]


def columns_and_numbers(x, n, i):
    """Names that CuPy has itself, and a column."""
    a = x - n[:, None] * i
    return np.where(a > 0, a**2, 0.0), a > 0


def of_rows(x):
    return x - x[:, :1], np.outer(x[0], x[1])


def whole(i):
    return i // 3 + i % 3, i * 2


def added_up(x, w):
    return np.sum(np.tanh(x * w) * x)


def extremes(x, scale):
    return np.max(x * scale), np.min(x + 1.0)


X = np.random.default_rng(1).normal(size=(7, 7))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values(cupy, dtype):
    x = X.astype(dtype)
    check(cupy, columns_and_numbers, x, x[0], 0.5)
    check(cupy, of_rows, x)
    for rows in (x, x[:0]):
        got = srcjax.jit(added_up)(*on_device(cupy, [rows, x[1]]))
        compare(on_host(got), added_up(rows, x[1]), dtype)


def test_other_axes_and_dtypes(cupy):
    check(cupy, whole, np.arange(-5, 5))
    function = srcjax.jit(turned)
    compare(on_host(function(*on_device(cupy, [X, X * 2]))), turned(X, X * 2))
    function = srcjax.jit(extremes)
    compare(on_host(function(*on_device(cupy, [X, 2.0]))), extremes(X, 2.0))


def test_layouts(cupy):
    compiled = srcjax.jit(added_up)
    for x in layouts(cupy, X):
        compare(on_host(compiled(x, cupy.asarray(X[0]))), added_up(X, X[0]))


def up_to(x, w):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * w[i]
    return y


def test_what_is_longer_or_too_short(cupy):
    x, compiled = cupy.asarray(X[0]), srcjax.jit(up_to)
    longer = np.arange(9.0)
    compare(on_host(compiled(x, cupy.asarray(longer))), up_to(X[0], longer))
    for w in (np.ones(1), np.ones(6), np.ones(0)):
        with pytest.raises(IndexError):
            compiled(x, cupy.asarray(w))
    nothing = cupy.asarray(np.zeros(0))
    assert on_host(compiled(nothing, nothing)).size == 0


def only_some(x, w):
    """Elements that are not there are not asked for."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = w[i] if x[i] > 1.0 else 0.0
    return y


def test_elements_of_branches(cupy):
    x, w = np.zeros(5), np.ones(2)
    compiled = srcjax.jit(only_some)
    compare(on_host(compiled(*on_device(cupy, [x, w]))), only_some(x, w))
