"""Functions of `np.emath`: those of NumPy, complex where numbers need it."""

from __future__ import annotations

import numpy as np

from srcjax.ops.record import composite


def complex_below_zero(x):
    """The numbers, complex where one of them is real and negative."""
    return x + 0j if np.any(np.isreal(x) & (np.real(x) < 0)) else x


def complex_beyond_one(x):
    """The numbers, complex where one of them is real and not within -1 and 1."""
    return x + 0j if np.any(np.isreal(x) & (np.abs(x) > 1)) else x


@composite(np.emath.sqrt)
def sqrt(x):
    """The square root."""
    return np.sqrt(complex_below_zero(x))


@composite(np.emath.log)
def log(x):
    """The natural logarithm."""
    return np.log(complex_below_zero(x))


@composite(np.emath.log2)
def log2(x):
    """The logarithm to the base 2."""
    return np.log2(complex_below_zero(x))


@composite(np.emath.log10)
def log10(x):
    """The logarithm to the base 10."""
    return np.log10(complex_below_zero(x))


@composite(np.emath.logn)
def logn(n, x):
    """The logarithm to any base."""
    return np.log(complex_below_zero(x)) / np.log(complex_below_zero(n))


@composite(np.emath.power)
def power(x, p):
    """A power."""
    return np.power(complex_below_zero(x), p)


@composite(np.emath.arcsin)
def arcsin(x):
    """The inverse of the sine."""
    return np.arcsin(complex_beyond_one(x))


@composite(np.emath.arccos)
def arccos(x):
    """The inverse of the cosine."""
    return np.arccos(complex_beyond_one(x))


@composite(np.emath.arctanh)
def arctanh(x):
    """The inverse of the hyperbolic tangent."""
    return np.arctanh(complex_beyond_one(x))
