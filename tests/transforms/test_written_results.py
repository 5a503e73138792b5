"""What operations with several results and unknown calls give, written in place."""

import numpy as np
import pytest
import scipy.linalg

import srcjax
from srcjax.errors import UnsupportedError

X = np.array([[0.91, 0.23, -0.31], [0.12, 1.37, 0.52], [0.36, -0.24, 2.22]])
ALONG = np.cos(np.arange(9.0)).reshape(3, 3)

RESULTS = {
    "fraction": lambda x: np.modf(x)[0],
    "rest": lambda x: np.divmod(x, 0.7)[1],
    "singular values": lambda x: np.linalg.svd(x)[1],
    "eigenvalues": lambda x: np.linalg.eigh(x + x.T)[0],
    "of a triangle": lambda x: scipy.linalg.eigh(x + x.T)[0],
    "alone": lambda x: scipy.linalg.eigvalsh(x + x.T),
    "of three diagonals": lambda x: scipy.linalg.eigh_tridiagonal(x[0], x[1, :2])[0],
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_written_in_place(name):
    """The tangents are new arrays, as the results are: none is the caller's."""
    result = RESULTS[name]

    def f(x):
        y = result(x)
        y[0] *= 2.0
        y -= 0.5
        return np.sum(y * y) + np.sum(x)

    along = ALONG.copy()
    found = srcjax.jvp(f, (X,), (along,))[1]
    slope = (f(X + 1e-6 * ALONG) - f(X - 1e-6 * ALONG)) / 2e-6
    np.testing.assert_allclose(found, slope, rtol=1e-6)
    np.testing.assert_array_equal(along, ALONG)
    np.testing.assert_allclose(np.sum(srcjax.grad(f)(X) * ALONG), slope, rtol=1e-6)


def spread(c):
    return np.arange(1.0, 4.0) * c


TABLE = {"a": spread, "b": np.sin}


def by_another_name(c, k):
    y = TABLE[sorted(TABLE)[k]](c)
    z = y
    z[0] *= 2.0
    return np.sum(y * y)


def of_each(c, k):
    y = np.vectorize(lambda v: v * k)(c * np.ones(3))
    z = y
    z[0] *= 2.0
    return np.sum(y * y)


@pytest.mark.parametrize("f", [by_another_name, of_each])
def test_what_an_unknown_call_gives_has_memory(f):
    """Written to under another name, it was differentiated as if it were not."""
    slope = (f(0.7 + 1e-6, 0) - f(0.7 - 1e-6, 0)) / 2e-6
    np.testing.assert_allclose(srcjax.jvp(f, (0.7, 0), (1.0, 0))[1], slope, rtol=1e-6)
    with pytest.raises(UnsupportedError, match="this writes to memory that both"):
        srcjax.grad(f)(0.7, 0)
