"""scipy.interpolate: splines that are called, and interpolation between samples.

The knots and coefficients of an object that a function calls are constants; what varies
is where it is evaluated.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.interpolate
from scipy.interpolate import (
    BivariateSpline,
    BSpline,
    PPoly,
    UnivariateSpline,
    interp1d,
)

from srcjax.ops.composites.scipy_integrate import constant
from srcjax.ops.record import composite


def in_pieces(c, places, x, nu):
    """Polynomials with the coefficients `c`, the highest power first, by Horner's rule.

    `places` are where the pieces start and end; those at the ends go on.
    """
    piece = np.clip(np.searchsorted(places, x, "right") - 1, 0, len(places) - 2)
    step = x - places[piece]
    step = np.reshape(step, np.shape(step) + (1,) * (np.ndim(c) - 2))
    degree = len(c) - 1
    y = 0.0 * step * c[0, piece]
    for i in range(degree + 1 - nu):
        scale = 1.0
        for k in range(nu):
            scale = scale * (degree - i - k)
        y = y * step + scale * c[i, piece]
    return y


def along_axis_of(y, ndim, axis):
    """With the first `ndim` axes, those of the places, where the samples were."""
    if axis == 0:
        return y
    return np.moveaxis(y, list(range(ndim)), list(range(axis, axis + ndim)))


def outside(x, start, end):
    """Where a place is not between two others."""
    return (x < start) | (x > end)


def with_nothing_outside(y, x, start, end, ndim):
    """NaN for what is outside."""
    out = outside(x, start, end)
    out = np.reshape(out, np.shape(out) + (1,) * ndim)
    return np.where(out, np.nan, y)


def evaluated(c, places, x, nu, extrapolate, axis):
    """The value, or a derivative, of polynomials between places."""
    x = np.asarray(x)
    start, end = places[0], places[-1]
    if isinstance(extrapolate, str):  # "periodic"
        x = start + (x - start) % (end - start)
    y = in_pieces(c, places, x, nu)
    if not extrapolate:
        y = with_nothing_outside(y, x, start, end, np.ndim(c) - 2)
    return along_axis_of(y, np.ndim(x), axis)


@composite(PPoly.__call__)
def piecewise_polynomial(self, x, nu=0, extrapolate=None):
    """`CubicSpline`, `PchipInterpolator`, `Akima1DInterpolator` too."""
    beyond = self.extrapolate if extrapolate is None else extrapolate
    return evaluated(self.c, self.x, x, nu, beyond, self.axis)


def pieces_of(t, c, degree):
    """The polynomials between the knots, by Taylor's series, and their places."""
    places = np.asarray(t)[degree : len(t) - degree]
    spline = BSpline(t, c, degree)
    series = [
        spline(places[:-1], degree - i) / math.factorial(degree - i)
        for i in range(degree + 1)
    ]
    return np.stack(series), places


@composite(BSpline.__call__)
def b_spline(self, x, nu=0, extrapolate=None):
    """By its polynomials between the knots."""
    x = np.asarray(x)
    if extrapolate is None:
        extrapolate = self.extrapolate
    start, end = self.t[self.k], self.t[len(self.t) - self.k - 1]
    if isinstance(extrapolate, str):  # "periodic"
        x = start + (x - start) % (end - start)
    c, places = pieces_of(self.t, self.c, self.k)
    y = in_pieces(c, places, x, nu)
    if not extrapolate:
        y = with_nothing_outside(y, x, start, end, np.ndim(self.c) - 1)
    return along_axis_of(y, np.ndim(x), self.axis)


@composite(UnivariateSpline.__call__, refuses=["ext"])
def univariate_spline(self, x, nu=0, ext=None):
    """By its polynomials between the knots; `ext` is 0."""
    if self.ext != 0:
        raise NotImplementedError("a spline with another `ext` than 0")
    t, coefficients, degree = self._eval_args
    c, places = pieces_of(t, coefficients, degree)
    return in_pieces(c, places, np.asarray(x), nu)


@composite(scipy.interpolate.splev, refuses=["ext"])
def splev(x, tck, der=0, ext=0):
    """By its polynomials between the knots."""
    if isinstance(tck, BSpline):
        t, coefficients, degree = tck.t, tck.c, tck.k
    else:
        t, coefficients, degree = tck
    c, places = pieces_of(t, coefficients, degree)
    return in_pieces(c, places, np.asarray(x), der)


def basis(t, degree, x, nu):
    """The values at `x` of each B-spline of the knots; a place outside is moved in."""
    inside = np.clip(np.ravel(x), t[degree], t[len(t) - degree - 1])
    c, places = pieces_of(t, np.eye(len(t) - degree - 1), degree)
    return in_pieces(c, places, inside, nu)


def products_of_splines(tck, x, y, dx, dy):
    """The matrices that make a surface: splines at `x`, coefficients, at `y`."""
    tx, ty, c, kx, ky = tck
    coefficients = np.reshape(c, (len(tx) - kx - 1, len(ty) - ky - 1))
    return basis(tx, kx, x, dx), coefficients, basis(ty, ky, y, dy)


@composite(scipy.interpolate.bisplev)
def bisplev(x, y, tck, dx=0, dy=0):
    """On the grid of the places, by products of splines; axes of one place go."""
    along_x, coefficients, along_y = products_of_splines(tck, x, y, dx, dy)
    z = along_x @ coefficients @ along_y.T
    if len(z) > 1:
        return z
    if len(z[0]) > 1:
        return z[0]
    return z[0, 0]


@composite(BivariateSpline.__call__)
def bivariate_spline(self, x, y, dx=0, dy=0, grid=True):
    """`RectBivariateSpline`, `SmoothBivariateSpline`, on a grid or place by place."""
    if not grid:
        return surface_at(self, x, y, dx, dy)
    along_x, coefficients, along_y = products_of_splines(
        (*self.tck, *self.degrees), x, y, dx, dy
    )
    for places in (constant(np.ravel(x)), constant(np.ravel(y))):
        if np.any(np.diff(places) < 0.0):
            raise ValueError("x and y must be increasing when `grid` is True")
    return along_x @ coefficients @ along_y.T


@composite(BivariateSpline.ev)
def surface_at(self, xi, yi, dx=0, dy=0):
    """Place by place."""
    xi, yi = np.broadcast_arrays(xi, yi)
    along_x, coefficients, along_y = products_of_splines(
        (*self.tck, *self.degrees), xi, yi, dx, dy
    )
    return np.reshape(np.sum(along_x @ coefficients * along_y, axis=1), np.shape(xi))


@composite(interp1d.__call__)
def interpolated(self, x):
    """Between two samples, or by the spline that it is."""
    x = np.asarray(x)
    if self._kind == "linear":
        y = between(self.x, np.moveaxis(self.y, self.axis, 0), x)
    elif self._kind == "spline":
        y = b_spline(self._spline, x)
        y = np.reshape(y, (*np.shape(x), *self._y_extra_shape))
    else:
        raise NotImplementedError(f"interp1d of the kind {self._kind!r}")
    out = outside(constant(x), self.x[0], self.x[-1])
    if not self._extrapolate and np.any(out):
        if self.bounds_error:
            raise ValueError("A value in x_new is outside the interpolation range.")
        raise NotImplementedError("interp1d outside of its samples")
    return along_axis_of(y, np.ndim(x), self.axis % np.ndim(self.y))


def between(places, y, x):
    """On the line through the samples next to each of `x`; those at the ends go on."""
    right = np.clip(np.searchsorted(places, x), 1, len(places) - 1)
    left = right - 1
    part = (x - places[left]) / (places[right] - places[left])
    part = np.reshape(part, np.shape(part) + (1,) * (np.ndim(y) - 1))
    return y[left] + (y[right] - y[left]) * part
