"""Series of numpy.polynomial: NumPy's values, and derivatives by differences."""

from __future__ import annotations

import types

import numpy as np
import pytest
from numpy.polynomial import (
    Polynomial,
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
)

import srcjax
from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = {"test_of_coefficients": 16, "test_of_places": 8}

NAMES = [
    *("add", "sub", "mul", "der", "int", "vander", "fit"),
    *("val2d", "val3d", "grid2d", "grid3d"),
]
FAMILIES = {
    prefix: types.SimpleNamespace(**{n: getattr(family, prefix + n) for n in NAMES})
    for prefix, family in [
        ("poly", polynomial),
        ("cheb", chebyshev),
        ("leg", legendre),
        ("herm", hermite),
        ("herme", hermite_e),
        ("lag", laguerre),
    ]
}
C = np.array([0.5, -1.2, 2.0, 0.7])
SHORT = np.array([1.5, -0.3])
TABLE = np.array([[0.5, -1.2, 2.0], [0.3, 0.9, -0.4]])
X = np.array([-0.4, 0.3, 0.8])
Y = np.array([0.2, -0.1, 0.5])
PLACES = np.linspace(-1.0, 1.0, 6)

OF_COEFFICIENTS = {
    "sum": lambda of, c: of.add(c, c[:2] ** 2),
    "difference": lambda of, c: of.sub(SHORT, c),
    "cancelled": lambda of, c: of.sub(c, c),
    "product": lambda of, c: of.mul(c, SHORT * c[0]),
    "slope": lambda of, c: of.der(c),
    "second slope": lambda of, c: of.der(c, 2, 0.5),
    "no slope": lambda of, c: of.der(c, 4),
    "slope by columns": lambda of, c: of.der(np.outer(c, c), axis=1),
    "integral": lambda of, c: of.int(c),
    "integrals": lambda of, c: of.int(c, 2, [0.3, c[0]], lbnd=0.2, scl=2.0),
    "integral by columns": lambda of, c: of.int(np.outer(c, SHORT), axis=1),
    "plane": lambda of, c: of.val2d(X, Y, np.outer(c, SHORT)),
    "grid": lambda of, c: of.grid2d(X, Y[:2], np.outer(c, SHORT)),
    "space": lambda of, c: of.val3d(X, Y, X, np.multiply.outer(TABLE, c)),
    "grids": lambda of, c: of.grid3d(X, Y[:2], X, np.multiply.outer(TABLE, c)),
    "fit": lambda of, c: of.fit(PLACES[:4], c, 2),
    "weighted fit": lambda of, c: of.fit(PLACES[:4], c, 1, w=SHORT.repeat(2)),
}
OF_PLACES = {
    "vander": lambda of, x: of.vander(x, 3),
    "vander of one": lambda of, x: of.vander(x[0], 3),
    "fit": lambda of, x: of.fit(x, Y, 1),
    "plane": lambda of, x: of.val2d(x, 2 * x, TABLE),
}


def judge(f, x):
    value = srcjax.vjp(f, x)[0]
    np.testing.assert_allclose(value, f(x), atol=1e-12)
    assert np.shape(value) == np.shape(f(x))
    check_grads(f, (x,), 1, ("rev", "fwd"), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("what", OF_COEFFICIENTS)
@pytest.mark.parametrize("prefix", FAMILIES)
def test_of_coefficients(prefix, what):
    family = FAMILIES[prefix]
    computed = OF_COEFFICIENTS[what]
    judge(lambda c: computed(family, c), C)


@pytest.mark.parametrize("what", OF_PLACES)
@pytest.mark.parametrize("prefix", FAMILIES)
def test_of_places(prefix, what):
    family = FAMILIES[prefix]
    computed = OF_PLACES[what]
    judge(lambda x: computed(family, x), X)


def test_roots():
    judge(lambda c: polynomial.polyroots(c), np.array([6.0, -5.0, -2.0, 1.0]))
    judge(lambda c: polynomial.polyroots(c), np.array([6.0, -5.0]))


def test_objects_that_are_made():
    def f(c):
        p = Polynomial(c)
        return p(0.4) * p.deriv()(0.2) + p.integ(lbnd=0.1)(0.7)

    judge(f, C)
    batch = np.stack([C, 2 * C])
    with pytest.warns(srcjax.PerformanceWarning):
        found = srcjax.vmap(f)(batch)
    np.testing.assert_allclose(found, [f(c) for c in batch])


def test_a_batch_of_products():
    def f(c):
        return np.sum(polynomial.polymul(c, SHORT) * np.arange(5.0))

    batch = np.stack([C, 2 * C])
    with pytest.warns(srcjax.PerformanceWarning):  # how many zeros go depends on values
        found = srcjax.vmap(f)(batch)
    np.testing.assert_allclose(found, [f(c) for c in batch])
