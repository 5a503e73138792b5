"""`lax.gather` and `lax.scatter` with their kin."""

import numpy as np
import pytest

import srcjax
from srcjax import lax
from tests.corpus.harness import assert_close, differences

#: One test in so many runs here (see conftest); the second stage runs all.
SAMPLE = {"test_derivatives": 10**9}

X = np.arange(24.0).reshape(4, 6)
ROWS = lax.GatherDimensionNumbers((1,), (0,), (0,))
TO_ROWS = lax.ScatterDimensionNumbers((1,), (0,), (0,))
PLACES = np.array([[0], [3], [9], [0]])
U = np.linspace(1.0, 2.0, 24).reshape(4, 6)


def test_windows():
    found = lax.gather(X, PLACES, ROWS, (1, 6), mode="fill")
    np.testing.assert_array_equal(found[:2], X[[0, 3]])
    assert np.isnan(found[2]).all()
    np.testing.assert_array_equal(lax.gather(X, PLACES, ROWS, (1, 6))[2], X[3])
    windows = lax.GatherDimensionNumbers((1, 2), (), (0, 1))
    parts = lax.gather(X, np.array([[0, 1], [2, 9]]), windows, (2, 3))
    np.testing.assert_array_equal(parts, [X[:2, 1:4], X[2:, 3:]])
    along = lax.GatherDimensionNumbers((1,), (), (1,), (0,), (0,))
    parts = lax.gather(X, np.array([[0], [3], [4], [2]]), along, (1, 2))
    np.testing.assert_array_equal(parts[1], X[1, 3:5])
    with pytest.raises(ValueError, match="window of length 7"):
        lax.gather(X, PLACES, ROWS, (1, 7))
    with pytest.raises(ValueError, match="mode is 'wrap'"):
        lax.gather(X, PLACES, ROWS, (1, 6), mode="wrap")


def test_updates():
    expected = X.copy()
    np.add.at(expected, [0, 3, 0], U[[0, 1, 3]])
    assert_close(lax.scatter_add(X, PLACES, U, TO_ROWS), expected)
    assert_close(lax.scatter_sub(X, PLACES, -U, TO_ROWS), expected)
    expected = X.copy()
    expected[[0, 3]] = U[[3, 1]]
    assert_close(lax.scatter(X, PLACES, U, TO_ROWS), expected)
    moved = lax.GatherScatterMode.CLIP
    assert_close(lax.scatter(X, PLACES, U, TO_ROWS, mode=moved)[3], U[2])
    expected = np.maximum(X[0], np.maximum(U[0], U[3]))
    assert_close(lax.scatter_max(X, PLACES, U, TO_ROWS)[0], expected)
    assert_close(lax.scatter_min(X, PLACES, U, TO_ROWS)[3], np.minimum(X[3], U[1]))
    assert_close(lax.scatter_mul(X, PLACES, U, TO_ROWS)[0], X[0] * U[0] * U[3])
    applied = lax.scatter_apply(
        X, PLACES[1:3], np.negative, TO_ROWS, update_shape=(2, 6)
    )
    assert_close(applied, X * np.array([1, 1, 1, -1])[:, None])


def f(x, u):
    y = lax.scatter_add(x, PLACES, u, TO_ROWS)
    y = lax.scatter_mul(y, PLACES[1:], u[1:], TO_ROWS)
    return np.sum(lax.gather(y, PLACES, ROWS, (1, 2), mode="fill", fill_value=1.0) ** 2)


def test_derivatives():
    x, u = X[:, :2], U[:, :2]
    dx, du = differences(f, (x, u), (0, 1))
    for found, wanted in zip(srcjax.grad(f, (0, 1))(x, u), (dx, du), strict=True):
        assert_close(found, wanted, rtol=1e-5, atol=1e-5)
    along = srcjax.jvp(f, (x, u), (x, u))[1]
    assert_close(along, np.sum(dx * x) + np.sum(du * u), rtol=1e-5)
