"""Polynomials by their coefficients, the highest power first, as plain NumPy.

NumPy drops leading zeros in `polymul` and `polydiv`; whether there are any depends on
the values, and the length of the result with it.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial._polybase import ABCPolyBase

from srcjax.ops.record import composite


def without_leading_zeros(c):
    """The coefficients from the first that is not 0; the last one stays."""
    filled = np.flatnonzero(c)
    return c[filled[0] :] if len(filled) else c[len(c) - 1 :]


@composite(np.polyadd)
def polyadd(a1, a2):
    """The sum, with zeros in front of the shorter one."""
    first, second = np.atleast_1d(a1), np.atleast_1d(a2)
    more = len(first) - len(second)
    if more > 0:
        second = np.concatenate((np.zeros(more), second))
    elif more < 0:
        first = np.concatenate((np.zeros(-more), first))
    return first + second


@composite(np.polysub)
def polysub(a1, a2):
    """The difference, with zeros in front of the shorter one."""
    first, second = np.atleast_1d(a1), np.atleast_1d(a2)
    more = len(first) - len(second)
    if more > 0:
        second = np.concatenate((np.zeros(more), second))
    elif more < 0:
        first = np.concatenate((np.zeros(-more), first))
    return first - second


@composite(np.polymul)
def polymul(a1, a2):
    """The coefficients of a product are the convolution of the coefficients."""
    first = without_leading_zeros(np.atleast_1d(a1))
    second = without_leading_zeros(np.atleast_1d(a2))
    return np.convolve(first, second)


@composite(np.polydiv)
def polydiv(u, v):
    """The quotient solves a triangular system; the rest is what is left."""
    dividend = np.atleast_1d(u) + 0.0
    divisor = np.atleast_1d(v) + 0.0
    count = max(len(dividend) - len(divisor) + 1, 0)
    behind = np.arange(count)[:, None] - np.arange(count)
    terms = np.append(divisor, np.zeros(count))
    matrix = np.where(behind >= 0, terms[np.maximum(behind, 0)], 0)
    quotient = np.linalg.solve(matrix, dividend[:count])
    if count == 0:
        quotient = np.zeros(1)
    rest = dividend - np.convolve(quotient, divisor)[-len(dividend) :]
    if count == 0:
        rest = dividend
    rest = rest[min(count, len(rest) - 1) :]
    large = np.flatnonzero(~np.isclose(rest, 0, rtol=1e-14))
    first = large[0] if len(large) else len(rest) - 1
    return quotient, rest[first:]


@composite(np.polyder)
def polyder(p, m=1):
    """The derivative of order `m`: factors are products of powers."""
    c = np.atleast_1d(p)
    powers = np.arange(len(c) - 1, m - 1, -1)
    factors = np.prod([powers - i for i in range(m)], axis=0)
    return c[: max(len(c) - m, 0)] * factors


@composite(np.polyint)
def polyint(p, m=1, k=None):
    """The integral of order `m`, with the constants `k`."""
    c = np.atleast_1d(p)
    powers = np.arange(len(c) - 1, -1, -1)
    factors = np.prod([powers + i + 1.0 for i in range(m)], axis=0)
    if k is None:
        return np.append(c / factors, np.zeros(m))
    factorials = np.cumprod(np.append(1.0, np.arange(1.0, m)))[:m]
    return np.append(c / factors, np.ravel(k) / factorials[::-1])


def least_squares(columns, y, rcond, w):
    """Coefficients of the columns, scaled to norm 1, and what `lstsq` gives besides."""
    values = np.asarray(y)
    if rcond is None:
        rcond = len(columns) * np.finfo(columns.dtype).eps
    if w is not None:
        columns = columns * np.reshape(w, (-1, 1))
        values = np.transpose(np.transpose(values) * w)
    scale = np.sqrt(np.sum(columns * columns, axis=0))
    c, residuals, rank, s = np.linalg.lstsq(columns / scale, values, rcond)
    return np.transpose(np.transpose(c) / scale), (residuals, rank, s, rcond), columns


@composite(np.polyfit)
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """Least squares for the coefficients, with columns of norm 1."""
    columns = np.vander(x, deg + 1)
    c, (residuals, rank, s, rcond), columns = least_squares(columns, y, rcond, w)
    if full:
        return c, residuals, rank, s, rcond
    if cov:
        inverse = np.linalg.inv(columns.T @ columns)
        factor = 1.0
        if not (isinstance(cov, str) and cov == "unscaled"):
            factor = residuals / (len(x) - deg - 1)
        if c.ndim == 1:
            return c, inverse * factor
        return c, inverse[:, :, None] * factor
    return c


def along_values(c, x, tensor):
    """The coefficients, each with axes for those of `x`."""
    c = np.atleast_1d(c)
    return np.reshape(c, c.shape + (1,) * np.ndim(x)) if tensor else c


@composite(np.polynomial.polynomial.polyval)
def power_series(x, c, tensor=True):
    """Horner's rule; the lowest power is first."""
    c = along_values(c, x, tensor)
    y = c[-1] + 0 * x
    for i in range(2, len(c) + 1):
        y = c[-i] + y * x
    return y


@composite(np.polynomial.chebyshev.chebval)
def chebyshev_series(x, c, tensor=True):
    """Clenshaw's recurrence."""
    c = along_values(c, x, tensor)
    if len(c) == 1:
        return c[0] + 0 * x
    a, b = c[-2], c[-1]
    for i in range(3, len(c) + 1):
        a, b = c[-i] - b, a + 2 * b * x
    return a + b * x


@composite(np.polynomial.legendre.legval)
def legendre_series(x, c, tensor=True):
    """Clenshaw's recurrence."""
    c = along_values(c, x, tensor)
    if len(c) == 1:
        return c[0] + 0 * x
    a, b = c[-2], c[-1]
    for i in range(3, len(c) + 1):
        n = len(c) + 2 - i
        a, b = c[-i] - b * ((n - 1) / n), a + b * x * ((2 * n - 1) / n)
    return a + b * x


@composite(np.polynomial.hermite.hermval)
def hermite_series(x, c, tensor=True):
    """Clenshaw's recurrence, of the physicists' polynomials."""
    c = along_values(c, x, tensor)
    if len(c) == 1:
        return c[0] + 0 * x
    a, b = c[-2], c[-1]
    for i in range(3, len(c) + 1):
        n = len(c) + 2 - i
        a, b = c[-i] - 2 * (n - 1) * b, a + 2 * b * x
    return a + 2 * b * x


@composite(np.polynomial.hermite_e.hermeval)
def probabilists_series(x, c, tensor=True):
    """Clenshaw's recurrence, of the probabilists' Hermite polynomials."""
    c = along_values(c, x, tensor)
    if len(c) == 1:
        return c[0] + 0 * x
    a, b = c[-2], c[-1]
    for i in range(3, len(c) + 1):
        n = len(c) + 2 - i
        a, b = c[-i] - (n - 1) * b, a + b * x
    return a + b * x


@composite(np.polynomial.laguerre.lagval)
def laguerre_series(x, c, tensor=True):
    """Clenshaw's recurrence."""
    c = along_values(c, x, tensor)
    if len(c) == 1:
        return c[0] + 0 * x
    a, b = c[-2], c[-1]
    for i in range(3, len(c) + 1):
        n = len(c) + 2 - i
        a, b = c[-i] - b * ((n - 1) / n), a + b * (2 * n - 1 - x) / n
    return a + b * (1 - x)


@composite(ABCPolyBase.__call__)
def polynomial_at(self, arg):
    """The value of a polynomial object: its series, where its domain is mapped to."""
    offset, scale = np.polynomial.polyutils.mapparms(self.domain, self.window)
    return self._val(offset + scale * arg, self.coef)


@composite(np.poly1d.__call__)
def poly1d_at(self, val):
    """The value of a polynomial object, by its coefficients."""
    return np.polyval(self.coeffs, val)
