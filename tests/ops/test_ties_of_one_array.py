"""One array for several arguments of an operation: ties give one derivative in all."""

import numpy as np
import pytest

import srcjax

X = np.array([0.7, -1.2, 2.0])
CALLS = {
    "clip": lambda x: np.sum(np.clip(x, x, x) * x),
    "clip low": lambda x: np.sum(np.clip(x, x, 5.0) * x),
    "clip high": lambda x: np.sum(np.clip(x, -5.0, x) * x),
    "clip method": lambda x: np.sum(x.clip(x, x)),
    "clip number": lambda x: np.sum(np.clip(x[0], x[0], x[0]) * x),
    "clip between": lambda x: np.sum(np.clip(-3.0, x, x) * x),
    "where": lambda x: np.sum(np.where(x > 0, x, x) * x),
    "interp": lambda x: np.sum(np.interp(np.sort(x), np.sort(x), np.sort(x)) * x),
    "maximum": lambda x: np.sum(np.maximum(x, x) * x),
    "fmin": lambda x: np.sum(np.fmin(x, x) * x),
    "convolve": lambda x: np.sum(np.convolve(x, x) * np.arange(5)),
    "einsum": lambda x: np.einsum("i,i,i->", x, x, x),
    "power": lambda x: np.sum(np.abs(x) ** np.abs(x)),
    "arctan2": lambda x: np.sum(np.arctan2(x, x) * x),
    "select": lambda x: np.sum(np.select([x > 0, x < 5], [x, x], x) * x),
    "polyval": lambda x: np.sum(np.polyval(x, x)),
    "average": lambda x: np.average(x, weights=x),
    "solve": lambda x: np.sum(
        np.linalg.solve(np.outer(x, x) + np.eye(3), np.outer(x, x) + np.eye(3)) @ x
    ),
}


def added_at(x):
    v = x.copy()
    np.add.at(v, [0, 0, 1], v)
    return np.sum(v * x)


def into_itself(x):
    v = x.copy()
    np.multiply(v[:-1], v[1:], out=v[1:])
    v += v[::-1]
    return np.sum(v * x)


FUNCTIONS = [*CALLS.values(), added_at, into_itself]


def slopes(f):
    return [(f(X + h) - f(X - h)) / 2e-6 for h in np.eye(3) * 1e-6]


@pytest.mark.parametrize("f", FUNCTIONS, ids=[*CALLS, "add.at", "out="])
def test_derivatives(f):
    wanted = slopes(f)
    np.testing.assert_allclose(srcjax.grad(f)(X), wanted, rtol=1e-5, atol=1e-6)
    rate = srcjax.jvp(f, (X,), (X,))[1]
    np.testing.assert_allclose(rate, wanted @ X, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("low, high", [(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5)])
@pytest.mark.parametrize("x", [-1.0, 0.2, 1.0])
def test_bounds_that_meet_or_cross(x, low, high):
    def f(low, high):
        return np.clip(x, low, high) * 3.0

    h = 1e-6
    wanted = (
        (f(low + h, high) - f(low - h, high)) / (2 * h),
        (f(low, high + h) - f(low, high - h)) / (2 * h),
    )
    np.testing.assert_allclose(srcjax.grad(f, (0, 1))(low, high), wanted, atol=1e-6)
