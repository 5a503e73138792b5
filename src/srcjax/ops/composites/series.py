"""Series of numpy.polynomial by their coefficients, the lowest degree first.

What NumPy computes of coefficients is linear in them: its values for unit vectors make
the matrix. Trailing zeros go, as with NumPy; how many there are depends on the values.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import (
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
    polyutils,
)

from srcjax.ops.composites.polynomials import least_squares
from srcjax.ops.record import composite

FAMILIES = {
    "poly": polynomial,
    "cheb": chebyshev,
    "leg": legendre,
    "herm": hermite,
    "herme": hermite_e,
    "lag": laguerre,
}


def trimmed(c):
    """The coefficients up to the last that is not 0; the first one stays."""
    filled = np.flatnonzero(c)
    return c[: filled[-1] + 1] if len(filled) else c[:1]


def filled_up(c, count):
    """The coefficients, with zeros behind them."""
    return np.concatenate((c, np.zeros(count - len(c))))


@composite(polyutils.as_series)
def as_series(alist, trim=True):
    """Each as an array of floating numbers with one axis."""
    arrays = [np.atleast_1d(a) + 0.0 for a in alist]
    return [trimmed(a) for a in arrays] if trim else arrays


@composite(polyutils.trimseq)
def trimseq(seq):
    """Without the zeros behind the last that is not 0."""
    return trimmed(seq)


def register(prefix, family):
    """The functions of one family, which go by its prefix."""
    val = getattr(family, f"{prefix}val")
    der = getattr(family, f"{prefix}der")
    integ = getattr(family, f"{prefix}int")
    mul = getattr(family, f"{prefix}mul")

    @composite(getattr(family, f"{prefix}add"))
    def add(c1, c2):
        """The sum, with zeros behind the shorter one."""
        first, second = np.atleast_1d(c1) + 0.0, np.atleast_1d(c2) + 0.0
        count = max(len(first), len(second))
        return trimmed(filled_up(first, count) + filled_up(second, count))

    @composite(getattr(family, f"{prefix}sub"))
    def subtract(c1, c2):
        """The difference, with zeros behind the shorter one."""
        first, second = np.atleast_1d(c1) + 0.0, np.atleast_1d(c2) + 0.0
        count = max(len(first), len(second))
        return trimmed(filled_up(first, count) - filled_up(second, count))

    @composite(mul)
    def multiply(c1, c2):
        """The product of each two of the family is a series, of known coefficients."""
        first = trimmed(np.atleast_1d(c1) + 0.0)
        second = trimmed(np.atleast_1d(c2) + 0.0)
        m, n = len(first), len(second)
        table = np.zeros((m, n, m + n - 1))
        for i in range(m):
            for j in range(n):
                product = mul(np.eye(m)[i], np.eye(n)[j])
                table[i, j, : len(product)] = product
        return trimmed(np.einsum("i,j,ijk->k", first, second, table))

    @composite(der)
    def derivative(c, m=1, scl=1, axis=0):
        """The derivative of order `m`, by a matrix."""
        coefficients = np.moveaxis(np.atleast_1d(c) + 0.0, axis, 0)
        matrix = der(np.eye(len(coefficients)), m)
        slopes = np.tensordot(matrix, coefficients, 1) * scl**m
        return np.moveaxis(slopes, 0, axis)

    @composite(integ)
    def integral(c, m=1, k=None, lbnd=0, scl=1, axis=0):
        """The integral of order `m`, one after the other, with the constants `k`."""
        coefficients = np.moveaxis(np.atleast_1d(c) + 0.0, axis, 0)
        constants = np.ravel([] if k is None else k)
        for i in range(m):
            matrix = integ(np.eye(len(coefficients)))
            coefficients = np.tensordot(matrix, coefficients * scl, 1)
            first = constants[i] if i < len(constants) else 0.0
            first = first - val(lbnd, coefficients)
            start = np.reshape(coefficients[0] + first, (1, *coefficients.shape[1:]))
            coefficients = np.concatenate((start, coefficients[1:]))
        return np.moveaxis(coefficients, 0, axis)

    @composite(getattr(family, f"{prefix}vander"))
    def vander(x, deg):
        """The values at `x` of each one of the family."""
        return np.moveaxis(val(np.atleast_1d(x) + 0.0, np.eye(deg + 1)), 0, -1)

    @composite(getattr(family, f"{prefix}fit"))
    def fit(x, y, deg, rcond=None, full=False, w=None):
        """Least squares for the coefficients."""
        if np.ndim(deg) != 0:
            raise NotImplementedError("a list of degrees")
        columns = np.transpose(val(np.asarray(x) + 0.0, np.eye(deg + 1)))
        c, more, _ = least_squares(columns, y, rcond, w)
        return (c, list(more)) if full else c

    @composite(getattr(family, f"{prefix}val2d"))
    def val2d(x, y, c):
        """At the places (x, y)."""
        return val(np.asarray(y), val(np.asarray(x), c), tensor=False)

    @composite(getattr(family, f"{prefix}val3d"))
    def val3d(x, y, z, c):
        """At the places (x, y, z)."""
        in_plane = val(np.asarray(y), val(np.asarray(x), c), tensor=False)
        return val(np.asarray(z), in_plane, tensor=False)

    @composite(getattr(family, f"{prefix}grid2d"))
    def grid2d(x, y, c):
        """At each x and each y."""
        return val(np.asarray(y), val(np.asarray(x), c))

    @composite(getattr(family, f"{prefix}grid3d"))
    def grid3d(x, y, z, c):
        """At each x, each y and each z."""
        return val(np.asarray(z), val(np.asarray(y), val(np.asarray(x), c)))


for _prefix, _family in FAMILIES.items():
    register(_prefix, _family)


@composite(polynomial.polyroots)
def polyroots(c):
    """The roots, in order."""
    roots = np.roots(trimmed(np.atleast_1d(c) + 0.0)[::-1])
    return roots[np.argsort(roots)]
