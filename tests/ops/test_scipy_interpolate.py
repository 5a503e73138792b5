"""Splines that a function calls: SciPy's value, and derivatives to the place."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

interpolate = pytest.importorskip("scipy.interpolate")

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = {
    "test_values": 3,
    "test_derivatives": 6,
    "test_surfaces": 6,
    "test_surfaces_place_by_place": 3,
}

PLACES = np.array([0.0, 0.7, 1.5, 2.2, 3.1, 4.0])
ROW = np.sin(PLACES) + 0.1 * PLACES
ROWS = np.stack([ROW, ROW[::-1] ** 2])
CLOSED = np.append(ROW[:-1], ROW[0])
SPLINES = {
    "cubic": interpolate.CubicSpline(PLACES, ROW),
    "natural": interpolate.CubicSpline(
        PLACES, ROW, bc_type="natural", extrapolate=False
    ),
    "periodic": interpolate.CubicSpline(PLACES, CLOSED, bc_type="periodic"),
    "cubic rows": interpolate.CubicSpline(PLACES, ROWS.T),
    "cubic axis": interpolate.CubicSpline(PLACES, ROWS, axis=1),
    "pchip": interpolate.PchipInterpolator(PLACES, ROW),
    "akima": interpolate.Akima1DInterpolator(PLACES, ROW),
    "b": interpolate.make_interp_spline(PLACES, ROW),
    "b rows": interpolate.make_interp_spline(PLACES, ROWS.T, k=2),
    "b axis": interpolate.make_interp_spline(PLACES, ROWS, axis=1),
    "univariate": interpolate.UnivariateSpline(PLACES, ROW, s=0),
    "lines": interpolate.interp1d(PLACES, ROW),
    "lines rows": interpolate.interp1d(PLACES, ROWS),
    "lines on": interpolate.interp1d(PLACES, ROWS.T, axis=0, fill_value="extrapolate"),
    "interp1d cubic": interpolate.interp1d(PLACES, ROW, kind="cubic"),
    "interp1d quadratic": interpolate.interp1d(PLACES, ROWS, kind="quadratic"),
}
INSIDE = np.array([[0.0, 0.3, 1.15], [2.9, 2.2, 4.0]])
OUTSIDE = np.array([-0.4, 0.9, 4.7])
NO_EXTRAPOLATION = {"lines", "lines rows"}
NO_EXTRAPOLATION |= {"interp1d cubic", "interp1d quadratic"}


def value_of(f, x):
    """The value of a function of which the derivative is taken."""
    return srcjax.vjp(f, x)[0]


@pytest.mark.parametrize("name", SPLINES)
def test_values(name):
    spline = SPLINES[name]

    def f(x):
        return spline(x)

    np.testing.assert_allclose(value_of(f, INSIDE), f(INSIDE), atol=1e-12)
    np.testing.assert_allclose(value_of(f, 1.1), f(1.1))
    if name not in NO_EXTRAPOLATION:
        np.testing.assert_allclose(value_of(f, OUTSIDE), f(OUTSIDE))
    else:
        with pytest.raises(ValueError, match="outside"):
            value_of(f, OUTSIDE)


@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
@pytest.mark.parametrize("name", SPLINES)
def test_derivatives(name):
    spline = SPLINES[name]
    check_grads(lambda x: spline(x) * x, (0.9,), 2, ("rev", "fwd"), rtol=1e-5)
    x = np.array([0.9, 2.5])
    np.testing.assert_allclose(srcjax.vmap(lambda t: spline(t))(x)[1], spline(x[1]))


@pytest.mark.parametrize("name", ["cubic", "b rows", "univariate"])
def test_slopes(name):
    spline = SPLINES[name]

    def slopes(x):
        return spline(x, 1) + spline(x, nu=2)

    np.testing.assert_allclose(value_of(slopes, INSIDE), slopes(INSIDE))
    found = srcjax.jvp(lambda x: spline(x), (0.9,), (1.0,))[1]
    np.testing.assert_allclose(found, spline(0.9, 1))


def test_in_the_form_of_fitpack():
    tck = interpolate.splrep(PLACES, ROW)

    def f(x):
        return interpolate.splev(x, tck) + interpolate.splev(x, tck, der=1)

    np.testing.assert_allclose(value_of(f, INSIDE), f(INSIDE))
    check_grads(f, (0.9,), 1, ("rev", "fwd"))


ALONG, ACROSS = np.linspace(0.0, 2.0, 7), np.linspace(-1.0, 1.0, 6)
HEIGHTS = np.sin(ALONG[:, None]) * np.exp(0.5 * ACROSS) + ALONG[:, None] ** 2
SURFACES = {
    "cubic": interpolate.RectBivariateSpline(ALONG, ACROSS, HEIGHTS),
    "degrees": interpolate.RectBivariateSpline(ALONG, ACROSS, HEIGHTS, kx=1, ky=2),
    "smooth": interpolate.SmoothBivariateSpline(
        *(np.ravel(a) for a in np.broadcast_arrays(ALONG[:, None], ACROSS, HEIGHTS))
    ),
}
WAYS = {
    "numbers": (1.1, 0.3),
    "row": (np.array([0.2, 1.1, 1.9]), 0.3),
    "column": (0.4, np.array([-0.5, 0.3])),
    "grid": (np.array([0.2, 1.1, 1.9]), np.array([-0.5, 0.3])),
    "outside": (np.array([-0.2, 1.1, 2.9]), np.array([-1.5, 0.3])),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SURFACES)
def test_surfaces(name, way):
    spline = SURFACES[name]
    tck = (*spline.tck, *spline.degrees)
    x, y = WAYS[way]

    def called(x, y):
        return spline(x, y) * spline(x, y, dy=1)

    def by_fitpack(x, y):
        return interpolate.bisplev(x, y, tck) * interpolate.bisplev(x, y, tck, dy=1)

    for f in (called, by_fitpack):
        value = srcjax.vjp(f, x, y)[0]
        assert np.shape(value) == np.shape(f(x, y))
        np.testing.assert_allclose(value, f(x, y), atol=1e-12)
        check_grads(f, (x, y), 1, ("rev", "fwd"), rtol=1e-5)


@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
@pytest.mark.parametrize("name", SURFACES)
def test_surfaces_place_by_place(name):
    spline = SURFACES[name]
    x, y = np.array([[0.2, 1.1, 1.9], [0.3, -0.4, 2.6]]), np.array([-0.5, 0.3, 0.9])

    def at_places(x, y):
        return spline.ev(x, y) + spline(x, y, dy=1, grid=False) * y

    value = srcjax.vjp(at_places, x, y)[0]
    np.testing.assert_allclose(value, at_places(x, y), atol=1e-12)
    check_grads(at_places, (x, y), 1, ("rev", "fwd"), rtol=1e-5)
    mapped = srcjax.vmap(lambda t: spline.ev(t, 0.3))(y)
    np.testing.assert_allclose(mapped, spline.ev(y, 0.3))


def test_a_grid_that_does_not_increase():
    spline = SURFACES["cubic"]
    with pytest.raises(ValueError, match="increasing"):
        srcjax.vjp(lambda x: spline(x, 0.3), np.array([1.0, 0.5]))
