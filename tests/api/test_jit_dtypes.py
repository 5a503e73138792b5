"""Kernels go by the dtypes that inference tells: those of the function itself."""

import numpy as np
import pytest

import srcjax
from srcjax.versions.trials import at_once

pytest.importorskip("numba")


def area(x):
    t = np.trapezoid(x, dx=0.1)
    y = x * t
    return y * y + 1


def area_of_strips(x):
    y = x * np.trapezoid(x, x)
    return y * y + 1


def bessel(x):
    y = np.i0(x)
    return y * y + 1


def fractions(x):
    part, whole = np.modf(x)
    return part * part + 1, whole * whole + 1


def mantissas(x):
    part, power = np.frexp(x)
    return part * part + 1, power * power + 1


FUNCTIONS = (area, area_of_strips, bessel, fractions, mantissas)
DTYPES = ("float32", "float64", "int64", "int32")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_dtypes(f, dtype):
    x = np.linspace(1, 6, 6).astype(dtype)
    with at_once():
        found = srcjax.jit(f)(x)
    for a, b in zip(np.atleast_2d(found), np.atleast_2d(f(x)), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-5)
    pairs = zip(found, f(x), strict=True)
    assert all(np.asarray(a).dtype == np.asarray(b).dtype for a, b in pairs)
