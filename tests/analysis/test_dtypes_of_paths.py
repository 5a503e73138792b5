"""Whole numbers on one path and floats on another keep differentiated values or not."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError
from srcjax.testing import check_grads

X = np.array([1.3, 2.6, 0.2])


def converted(x, flag):
    kind = int if flag > 0 else float
    return np.sum(x.astype(kind) * x)


def filled(x, flag):
    y = np.zeros(3, dtype="int64" if flag > 0 else "float64")
    y[:] = x * 2
    return np.sum(y * x)


def made_full(x, flag):
    return np.sum(np.full(3, x[0], dtype=int if flag > 0 else float) * x)


def one_item(x, flag):
    y = np.arange(3) if flag > 0 else np.arange(3.0)
    y[1] = x[0] * 3
    return np.sum(y * x)


def added(x, flag):
    y = np.arange(3) if flag > 0 else np.arange(3.0)
    y[1] += x[0] * 3
    return np.sum(y * x)


def by_a_method(x, flag):
    y = np.arange(3) if flag > 0 else np.arange(3.0)
    y.fill(x[0])
    return np.sum(y * x)


@pytest.mark.parametrize(
    "program", [converted, filled, made_full, one_item, added, by_a_method]
)
def test_what_may_be_cut_off_is_refused(program):
    with pytest.raises(UnsupportedError, match="whole numbers"):
        srcjax.grad(program)(X, 1.0)
    with pytest.raises(UnsupportedError, match="whole numbers"):
        srcjax.jvp(program, (X, 1.0), (X, 0.0))


def of_a_kind(x, flag):
    """The same dtype on every path, or one that the call tells."""
    y = np.ones(3) if flag > 0 else np.arange(3.0)
    y[1] = x[0] * 3
    return np.sum(y * x)


def named(x, kind):
    y = np.zeros(3, dtype=kind)
    y[:] = x.astype(kind)
    return np.sum(y * x)


def test_a_dtype_that_is_known_is_none_of_it():
    check_grads(lambda x: of_a_kind(x, 1.0), (X,))
    check_grads(of_a_kind, (X, 1.0))
    np.testing.assert_allclose(srcjax.grad(named)(X, np.float64), 2 * X)
    np.testing.assert_allclose(srcjax.grad(named)(X, int), X.astype(int))
