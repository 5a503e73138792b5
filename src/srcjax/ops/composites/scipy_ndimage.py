"""scipy.ndimage: filters of neighbours, as products with windows of a padded array.

The result has the dtype of the input, as SciPy's. The value outside of an array is what
`np.pad` makes of the mode; a median, a maximum and a minimum have the derivative of the
entry that they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.ndimage

from srcjax.ops.composites.scipy_integrate import constant
from srcjax.ops.record import composite

#: The mode of `np.pad` for each of SciPy's.
MODES: dict[str, Any] = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "nearest": "edge",
    "mirror": "reflect",
    "wrap": "wrap",
    "grid-wrap": "wrap",
}


def windows_of(rows, size):
    """All stretches of that length along the last axis."""
    return np.lib.stride_tricks.sliding_window_view(rows, size, axis=-1)


def padded(x, widths, mode, cval):
    """With as many values around as `widths` says for each axis."""
    if mode in ("constant", "grid-constant"):
        return np.pad(x, widths, constant_values=cval)
    return np.pad(x, widths, MODES[mode])


def of_axis(values, i):
    """What a number or a name, or a list of one for each axis, says of an axis."""
    if isinstance(values, (list, tuple, np.ndarray)):
        return values[i]
    return values


@composite(scipy.ndimage.correlate1d, refuses=["output"])
def correlate1d(
    input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0
):
    """The sums of neighbours along an axis, with weights."""
    x = np.asarray(input)
    weights = np.asarray(weights, x.dtype)
    size = len(weights)
    before = size // 2 + origin
    widths = [(0, 0)] * x.ndim
    widths[axis] = (before, size - 1 - before)
    rows = np.moveaxis(padded(x, widths, mode, cval), axis, -1)
    return np.moveaxis(windows_of(rows, size) @ weights, -1, axis)


@composite(scipy.ndimage.convolve1d, refuses=["output"])
def convolve1d(
    input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0
):
    """The correlation with the weights turned around."""
    turned = np.asarray(weights)[::-1]
    shift = -origin if len(turned) % 2 == 1 else -origin - 1
    return correlate1d(input, turned, axis, None, mode, cval, shift)


def neighbours(x, shape, mode, cval, origin):
    """Of each entry those in a box around it, in as many more axes."""
    widths = []
    for i in range(x.ndim):
        before = shape[i] // 2 + of_axis(origin, i)
        widths.append((before, shape[i] - 1 - before))
    return np.lib.stride_tricks.sliding_window_view(
        padded(x, widths, mode, cval), shape
    )


@composite(scipy.ndimage.correlate, refuses=["output", "axes"])
def correlate(
    input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    """The sums of neighbours, with weights."""
    x = np.asarray(input)
    weights = np.asarray(weights, x.dtype)
    boxes = neighbours(x, weights.shape, mode, cval, origin)
    return np.tensordot(boxes, weights, x.ndim)


@composite(scipy.ndimage.convolve, refuses=["output", "axes"])
def convolve(
    input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    """The correlation with the weights turned around."""
    turned = np.flip(np.asarray(weights))
    shift = []
    for i in range(np.ndim(turned)):
        even = 1 - turned.shape[i] % 2
        shift.append(-of_axis(origin, i) - even)
    return correlate(input, turned, None, mode, cval, shift)


def bell(sigma, order, radius):
    """A Gaussian's derivative of that order at whole numbers; the Gaussian sums to 1.

    The derivative is the Gaussian times a polynomial: `q` are its coefficients.
    """
    x = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 / sigma**2 * x**2)
    weights = weights / np.sum(weights)
    q = [1.0]
    for _ in range(order):
        slope = [i * q[i] for i in range(1, len(q))] + [0.0, 0.0]
        moved = [0.0] + [-c / sigma**2 for c in q]
        q = [s + m for s, m in zip(slope, moved, strict=True)]
    return sum(q[i] * x**i for i in range(len(q))) * weights


@composite(scipy.ndimage.gaussian_filter1d, refuses=["output"])
def gaussian_filter1d(
    input,
    sigma,
    axis=-1,
    order=0,
    output=None,
    mode="reflect",
    cval=0.0,
    truncate=4.0,
    *,
    radius=None,
):
    """Weighted by a Gaussian, or a derivative of it."""
    if radius is None:
        radius = int(truncate * constant(sigma) + 0.5)
    weights = bell(sigma, order, radius)[::-1]
    return correlate1d(input, weights, axis, None, mode, cval)


@composite(scipy.ndimage.gaussian_filter, refuses=["output", "axes"])
def gaussian_filter(
    input,
    sigma,
    order=0,
    output=None,
    mode="reflect",
    cval=0.0,
    truncate=4.0,
    *,
    radius=None,
    axes=None,
):
    """One axis after the other."""
    y = np.asarray(input)
    for i in range(y.ndim):
        width = of_axis(sigma, i)
        if constant(width) > 1e-15:
            y = gaussian_filter1d(
                y,
                width,
                i,
                of_axis(order, i),
                None,
                of_axis(mode, i),
                cval,
                truncate,
                radius=of_axis(radius, i),
            )
    return y


@composite(scipy.ndimage.uniform_filter1d, refuses=["output"])
def uniform_filter1d(
    input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0
):
    """The means of neighbours along an axis."""
    weights = np.full(size, 1 / size)
    return correlate1d(input, weights, axis, None, mode, cval, origin)


@composite(scipy.ndimage.uniform_filter, refuses=["output", "axes"])
def uniform_filter(
    input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
):
    """One axis after the other."""
    y = np.asarray(input)
    for i in range(y.ndim):
        if of_axis(size, i) > 1:
            y = uniform_filter1d(
                y, of_axis(size, i), i, None, of_axis(mode, i), cval, of_axis(origin, i)
            )
    return y


def edges(x, axis, mode, cval, smooth):
    """The difference along one axis, smoothed along the others."""
    y = correlate1d(x, [-1, 0, 1], axis, None, of_axis(mode, axis), cval)
    for i in range(np.ndim(x)):
        if i != axis % np.ndim(x):
            y = correlate1d(y, smooth, i, None, of_axis(mode, i), cval)
    return y


@composite(scipy.ndimage.sobel, refuses=["output"])
def sobel(input, axis=-1, output=None, mode="reflect", cval=0.0):
    return edges(np.asarray(input), axis, mode, cval, [1, 2, 1])


@composite(scipy.ndimage.prewitt, refuses=["output"])
def prewitt(input, axis=-1, output=None, mode="reflect", cval=0.0):
    return edges(np.asarray(input), axis, mode, cval, [1, 1, 1])


@composite(scipy.ndimage.laplace, refuses=["output", "axes"])
def laplace(input, output=None, mode="reflect", cval=0.0, *, axes=None):
    """The sum of the second differences."""
    x = np.asarray(input)
    if x.ndim == 0:
        return +x  # SciPy's answer where there is no axis
    y = np.zeros_like(x)
    for i in range(x.ndim):
        y = y + correlate1d(x, [1, -2, 1], i, None, of_axis(mode, i), cval)
    return y


def orders_along(i, order, rank):
    """That order along one axis, 0 along the others."""
    return [order if k == i else 0 for k in range(rank)]


@composite(scipy.ndimage.gaussian_laplace, refuses=["output", "axes"])
def gaussian_laplace(
    input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, truncate=4.0
):
    """The sum of the second derivatives of a smoothed array."""
    x = np.asarray(input)
    if x.ndim == 0:
        return +x  # SciPy's answer where there is no axis
    y = np.zeros_like(x)
    for i in range(x.ndim):
        order = orders_along(i, 2, x.ndim)
        y = y + gaussian_filter(x, sigma, order, None, mode, cval, truncate)
    return y


@composite(scipy.ndimage.gaussian_gradient_magnitude, refuses=["output", "axes"])
def gaussian_gradient_magnitude(
    input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, truncate=4.0
):
    """The length of the gradient of a smoothed array."""
    x = np.asarray(input)
    if x.ndim == 0:
        return +x  # SciPy's answer where there is no axis
    y = np.zeros_like(x)
    for i in range(x.ndim):
        order = orders_along(i, 1, x.ndim)
        y = y + gaussian_filter(x, sigma, order, None, mode, cval, truncate) ** 2
    return np.sqrt(y)


# -- one of the neighbours -------------------------------------------------------------


def around(input, size, footprint, mode, cval, origin):
    """The neighbours of each entry along one more axis."""
    x = np.asarray(input)
    if footprint is None:
        footprint = np.ones([of_axis(size, i) for i in range(x.ndim)], bool)
    footprint = np.asarray(footprint, bool)
    boxes = neighbours(x, footprint.shape, mode, cval, origin)
    return np.reshape(boxes, (*x.shape, -1))[..., np.flatnonzero(footprint)]


@composite(scipy.ndimage.maximum_filter, refuses=["output", "axes"])
def maximum_filter(
    input,
    size=None,
    footprint=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
):
    return np.max(around(input, size, footprint, mode, cval, origin), axis=-1)


@composite(scipy.ndimage.minimum_filter, refuses=["output", "axes"])
def minimum_filter(
    input,
    size=None,
    footprint=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
):
    return np.min(around(input, size, footprint, mode, cval, origin), axis=-1)


@composite(scipy.ndimage.median_filter, refuses=["output", "axes"])
def median_filter(
    input,
    size=None,
    footprint=None,
    output=None,
    mode="reflect",
    cval=0.0,
    origin=0,
    *,
    axes=None,
):
    """Of an even number of neighbours the upper one of the two in the middle."""
    near = np.sort(around(input, size, footprint, mode, cval, origin), axis=-1)
    return near[..., near.shape[-1] // 2]
