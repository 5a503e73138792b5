"""Objects of np.polynomial that a function calls, and the series that they are."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.ops.library_writes import place_of_out
from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = {"test_series": 6, "test_objects": 6}

C = np.array([0.3, 0.5, -1.1, 0.7, 0.2])
X = np.array([[0.3, -0.4, 0.8], [0.1, 0.2, 0.9]])
CLASSES = [
    np.polynomial.Polynomial,
    np.polynomial.Chebyshev,
    np.polynomial.Legendre,
    np.polynomial.Hermite,
    np.polynomial.HermiteE,
    np.polynomial.Laguerre,
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_series(cls):
    series = cls._val

    def loss(x, c):
        return np.sum(series(x, c) ** 2)

    for c in (C, C[:1], C[:2], np.stack([C, C[::-1]], axis=1)):
        assert srcjax.value_and_grad(loss)(X, c)[0] == pytest.approx(loss(X, c))
    check_grads(loss, (X, C), 2, ("rev", "fwd"))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_objects(cls):
    p = cls(C, domain=[0, 3])

    def f(t):
        return p(t) * t

    check_grads(f, (0.4,), 2, ("rev", "fwd"))
    slope = srcjax.grad(f)
    np.testing.assert_allclose(srcjax.vmap(slope)(X[0]), [slope(t) for t in X[0]])


def test_the_older_class():
    p = np.poly1d(C)
    check_grads(lambda t: np.sin(p(t)), (0.4,), 2, ("rev", "fwd"))


class Line:
    """Stands for an object of NumPy's that has no hash and no rule."""

    __module__ = "numpy.lines"

    def __eq__(self, other):
        return True

    def __call__(self, x, out):
        return 2 * x


def test_an_object_without_a_hash_writes_to_nothing():
    assert place_of_out(Line()) == slice(0)
