"""Splines through samples that vary, such as `CubicSpline(x, y)`, as formulas.

Each is a polynomial of degree 3 between two samples, made of the values and slopes
there. The slopes are those of SciPy: of a cubic spline they solve a system of
equations, of a `PchipInterpolator` they are means of the slopes of the lines next to a
sample (F. N. Fritsch and J. Butland, 1984).

What a function makes is a `Polynomials`, which has the methods of `PPoly` that derive,
integrate and evaluate. Splines that are made outside of the function stay SciPy's, and
are those of `scipy_interpolate`.
"""

from __future__ import annotations

import numpy as np
import scipy.interpolate

from srcjax.ops.composites.scipy_interpolate import (
    along_axis_of,
    between,
    evaluated,
    outside,
)
from srcjax.ops.record import composite


class Polynomials:
    """Polynomials between places, the highest power first."""

    def __init__(self, c, x, extrapolate, axis):
        self.c = c
        self.x = x
        self.extrapolate = extrapolate
        self.axis = axis

    def __call__(self, x, nu=0, extrapolate=None):
        beyond = self.extrapolate if extrapolate is None else extrapolate
        return evaluated(self.c, self.x, x, nu, beyond, self.axis)

    def derivative(self, nu=1):
        c = self.c
        for _ in range(nu):
            powers = np.arange(len(c) - 1, 0, -1)
            c = c[:-1] * np.reshape(powers, (-1,) + (1,) * (np.ndim(c) - 1))
        return Polynomials(c, self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu=1):
        c = self.c
        for _ in range(nu):
            powers = np.arange(len(c), 0, -1)
            c = c / np.reshape(powers, (-1,) + (1,) * (np.ndim(c) - 1))
            ahead = in_steps(c, np.diff(self.x))
            before = np.concatenate([np.zeros_like(ahead[:1]), ahead[:-1]])
            c = np.concatenate([c, np.cumsum(before, axis=0)[None]])
        return Polynomials(c, self.x, self.extrapolate, self.axis)

    def integrate(self, a, b, extrapolate=None):
        whole = self.antiderivative()
        return whole(b, 0, extrapolate) - whole(a, 0, extrapolate)


def in_steps(c, h):
    """How far integrals with the coefficients `c` (but the last) go over each piece."""
    h = np.reshape(h, np.shape(h) + (1,) * (np.ndim(c) - 2))
    total = 0.0 * c[0]
    for i in range(len(c)):
        total = (total + c[i]) * h
    return total


def hermite(x, y, slopes):
    """The polynomials of degree 3 with these values and slopes."""
    h = np.diff(x)[:, None]
    line = np.diff(y, axis=0) / h
    bend = (slopes[:-1] + slopes[1:] - 2 * line) / h
    return np.stack([bend / h, (line - slopes[:-1]) / h - bend, slopes[:-1], y[:-1]])


def slopes_of_spline(x, y, bc_type):
    """The slopes at the samples of a spline whose second derivative has no jump."""
    h = np.diff(x)
    line = np.diff(y, axis=0) / h[:, None]
    if bc_type == "periodic":
        return periodic_slopes(h, line)
    start, end = conditions(bc_type)
    system = np.diag(np.concatenate([[1.0], 2 * (h[:-1] + h[1:]), [1.0]]))
    system = system + np.diag(np.concatenate([h[1:], [0.0]]), -1)
    system = system + np.diag(np.concatenate([[0.0], h[:-1]]), 1)
    right = 3 * (h[1:, None] * line[:-1] + h[:-1, None] * line[1:])
    if len(x) == 3 and isinstance(start, str) and isinstance(end, str):
        system[0, 1] = system[-1, -2] = 1.0  # a parabola
        return np.linalg.solve(
            system, np.concatenate([2 * line[:1], right, 2 * line[1:]])
        )
    first, row, row_next = at_end(start, h, line, 1.0)
    last, end_row, end_before = at_end(end, h[::-1], line[::-1], -1.0)
    system[0, 0], system[0, 1] = row, row_next
    system[-1, -1], system[-1, -2] = end_row, end_before
    return np.linalg.solve(system, np.concatenate([first[None], right, last[None]]))


def conditions(bc_type):
    """What is known at each end: "not-a-knot", or an order and a value."""
    both = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    return named_condition(both[0]), named_condition(both[1])


def named_condition(condition):
    if not isinstance(condition, str) or condition == "not-a-knot":
        return condition
    if condition == "clamped":
        return 1, 0.0
    if condition == "natural":
        return 2, 0.0
    raise NotImplementedError(f"the condition {condition!r} at an end of a spline")


def at_end(condition, h, line, ahead):
    """The right-hand side of the equation at an end, and the factors of its slopes."""
    if isinstance(condition, str) and len(h) == 1:
        return line[0], 1.0, 0.0  # one piece: a line
    if isinstance(condition, str):
        d = h[0] + h[1]
        value = (h[0] + 2 * d) * h[1] * line[0] + h[0] ** 2 * line[1]
        return value / d, h[1], d
    order, value = condition
    if order == 1:
        return 0.0 * line[0] + value, 1.0, 0.0
    return 3 * line[0] - 0.5 * ahead * value * h[0], 2.0, 1.0


def periodic_slopes(h, line):
    """The slopes where the end is the start again."""
    n = len(h)
    before = np.roll(h, 1)
    along = np.arange(n)
    system = np.diag(2 * (before + h))
    np.add.at(system, (along, along - 1), h)
    np.add.at(system, (along, (along + 1) % n), before)
    right = 3 * (h[:, None] * np.roll(line, 1, 0) + before[:, None] * line)
    slopes = np.linalg.solve(system, right)
    return np.concatenate([slopes, slopes[:1]])


def through(x, y, slopes_of, axis, extrapolate):
    """The polynomials through samples along an axis, with slopes by `slopes_of`."""
    x = np.asarray(x) * 1.0
    y = np.moveaxis(np.asarray(y) * 1.0, axis, 0)
    columns = np.reshape(y, (len(x), -1))
    c = hermite(x, columns, slopes_of(x, columns))
    c = np.reshape(c, (4, len(x) - 1, *y.shape[1:]))
    return Polynomials(c, x, extrapolate, axis % np.ndim(y))


@composite(scipy.interpolate.CubicSpline)
def cubic_spline(x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
    if extrapolate is None:
        extrapolate = "periodic" if bc_type == "periodic" else True
    return through(
        x, y, lambda x, y: slopes_of_spline(x, y, bc_type), axis, extrapolate
    )


@composite(scipy.interpolate.make_interp_spline, refuses=["t"])
def make_interp_spline(x, y, k=3, t=None, bc_type=None, axis=0, check_finite=True):
    if k != 3:
        raise NotImplementedError("make_interp_spline with another k than 3")
    known = "not-a-knot" if bc_type is None else bc_type
    return cubic_spline(x, y, axis, known)


def monotone_slopes(x, y):
    """Means of the slopes of the lines, 0 where these change sign."""
    h = np.diff(x)[:, None]
    line = np.diff(y, axis=0) / h
    if len(x) == 2:
        return np.concatenate([line, line])
    first, second = line[:-1], line[1:]
    turns = first * second <= 0
    left, right = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    safe_first, safe_second = np.where(turns, 1.0, first), np.where(turns, 1.0, second)
    mean = (left + right) / (left / safe_first + right / safe_second)
    start = slope_at_end(h[0], h[1], line[0], line[1])
    end = slope_at_end(h[-1], h[-2], line[-1], line[-2])
    return np.concatenate([start[None], np.where(turns, 0.0, mean), end[None]])


def slope_at_end(h, h_next, line, line_next):
    """By three samples, if that keeps the shape."""
    slope = ((2 * h + h_next) * line - h * line_next) / (h + h_next)
    steep = (np.sign(line) != np.sign(line_next)) & (np.abs(slope) > 3 * np.abs(line))
    slope = np.where(steep, 3 * line, slope)
    return np.where(np.sign(slope) == np.sign(line), slope, 0.0)


@composite(scipy.interpolate.PchipInterpolator)
def pchip(x, y, axis=0, extrapolate=None):
    beyond = True if extrapolate is None else extrapolate
    return through(x, y, monotone_slopes, axis, beyond)


@composite(scipy.interpolate.pchip_interpolate)
def pchip_interpolate(xi, yi, x, der=0, axis=0):
    return pchip(xi, yi, axis)(x, der)


class Lines:
    """What `interp1d` gives between two samples each."""

    def __init__(self, x, y, axis, beyond):
        self.x = x
        self.y = y
        self.axis = axis
        self.beyond = beyond

    def __call__(self, x):
        x = np.asarray(x)
        if not self.beyond and np.any(outside(x, self.x[0], self.x[-1])):
            raise ValueError("A value in x_new is outside the interpolation range.")
        y = between(self.x, np.moveaxis(self.y, self.axis, 0), x)
        return along_axis_of(y, np.ndim(x), self.axis)


@composite(
    scipy.interpolate.interp1d, refuses=["copy", "bounds_error", "assume_sorted"]
)
def interp1d(
    x,
    y,
    kind="linear",
    axis=-1,
    copy=True,
    bounds_error=None,
    fill_value=np.nan,
    assume_sorted=False,
):
    beyond = isinstance(fill_value, str) and fill_value == "extrapolate"
    if kind != "linear":
        raise NotImplementedError(f"interp1d of the kind {kind!r} of samples that vary")
    if not beyond and not np.all(np.isnan(fill_value)):
        raise NotImplementedError("a `fill_value` of interp1d")
    order = np.argsort(x)
    y = np.take(np.asarray(y) * 1.0, order, axis)
    return Lines(np.asarray(x)[order], y, axis % np.ndim(y), beyond)
