"""Functions that `numba.vectorize` has compiled."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

numba = pytest.importorskip("numba")


@numba.njit
def scale():
    return 2.0


@numba.vectorize
def chosen(a, b):
    if a > b:
        return a * b * scale()
    return a + b * b


@numba.vectorize(["float64(float64)"])
def waved(a):
    return a * a + np.sin(a)


def of_a_number(x):
    return chosen(x, 0.5) + waved(x) * chosen(0.2, x)


def of_items(x):
    return sum([waved(t) for t in x]) + chosen(x[0], x[1]) * waved(x.sum())


@pytest.mark.parametrize(
    "f, x", [(of_a_number, 0.7), (of_items, np.array([0.3, 0.5, 0.7]))]
)
def test_numbers_are_given(f, x):
    check_grads(f, (x,), order=2)
    np.testing.assert_allclose(srcjax.jit(srcjax.grad(f))(x), srcjax.grad(f)(x))


def test_arrays_are_given():
    """In a function, and to the compiled function itself."""
    x, y = np.array([0.3, 0.5, 0.7]), np.array([0.2, 0.9, 0.1])
    check_grads(lambda x: np.sum(waved(x) ** 2), (x,), 1, ("rev", "fwd"))
    check_grads(chosen, (x, y), 1, ("rev", "fwd"))
    slope = srcjax.grad(chosen, argnums=1)
    np.testing.assert_allclose(
        srcjax.vmap(slope)(x, y), [slope(a, b) for a, b in zip(x, y, strict=True)]
    )
