"""Splines through samples that vary: SciPy's values, and derivatives to the samples."""

from __future__ import annotations

import numpy as np
import pytest

from srcjax.ops.record import composite_of

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 4

interpolate = pytest.importorskip("scipy.interpolate")

rng = np.random.default_rng(3)
PLACES = np.array([-0.3, 0.0, 0.2, 1.0, 1.9, 2.4, 3.0, 3.4])
CONDITIONS = [
    {},
    {"bc_type": "natural"},
    {"bc_type": "clamped"},
    {"bc_type": ((1, 0.3), (2, -0.4))},
    {"bc_type": ("natural", "not-a-knot")},
    {"bc_type": "periodic"},
    {"extrapolate": False},
]


def samples(n):
    x = np.cumsum(rng.uniform(0.3, 1.0, n))
    return 3 * (x - x[0]) / (x[-1] - x[0]), rng.normal(size=n)


@pytest.mark.parametrize("n", [2, 3, 4, 7])
@pytest.mark.parametrize("given", CONDITIONS, ids=str)
def test_values_of_cubic_splines(n, given):
    x, y = samples(n)
    if given.get("bc_type") == "periodic":
        x, y = np.append(x, 3.5), np.append(y, y[0])
    found = composite_of(interpolate.CubicSpline)(x, y, **given)
    wanted = interpolate.CubicSpline(x, y, **given)
    for nu in (0, 1, 3):
        np.testing.assert_allclose(found(PLACES, nu), wanted(PLACES, nu), atol=1e-9)
    wanted, found = wanted.derivative(), found.derivative()
    np.testing.assert_allclose(found(PLACES), wanted(PLACES), atol=1e-9)
    np.testing.assert_allclose(
        found.antiderivative(2)(1.3), wanted.antiderivative(2)(1.3), atol=1e-9
    )
    np.testing.assert_allclose(
        found.integrate(0.1, 2.2), wanted.integrate(0.1, 2.2), atol=1e-9
    )


@pytest.mark.parametrize("n", [2, 3, 6])
@pytest.mark.parametrize("name", ["CubicSpline", "PchipInterpolator"])
def test_values_of_columns(n, name):
    make = getattr(interpolate, name)
    x, _ = samples(n)
    for axis, shape in ((0, (n, 2)), (1, (2, n)), (-1, (2, 1, n))):
        y = rng.normal(size=shape)
        found, wanted = composite_of(make)(x, y, axis=axis), make(x, y, axis=axis)
        np.testing.assert_allclose(found(PLACES), wanted(PLACES), atol=1e-9)
        np.testing.assert_allclose(found(1.3), wanted(1.3), atol=1e-9)


def test_values_of_other_splines():
    x, y = samples(6)
    y[2] = y[3]
    for name in ("make_interp_spline", "PchipInterpolator"):
        make = getattr(interpolate, name)
        found, wanted = composite_of(make)(x, y), make(x, y)
        np.testing.assert_allclose(found(PLACES), wanted(PLACES), atol=1e-9)
    shuffled = rng.permutation(6)
    given = (x[shuffled], y[shuffled])
    found = composite_of(interpolate.interp1d)(*given, fill_value="extrapolate")
    wanted = interpolate.interp1d(*given, fill_value="extrapolate")
    np.testing.assert_allclose(found(PLACES), wanted(PLACES))
    with pytest.raises(ValueError, match="outside the interpolation range"):
        composite_of(interpolate.interp1d)(*given)(PLACES)
