"""scipy.signal: convolutions, filters made of `lfilter`, and Fourier transforms.

Convolutions are by `np.convolve`, the direct method, which is exact; `method="fft"`
counts only where nothing is differentiated.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.signal

from srcjax.ops.composites.scipy_ndimage import convolve1d, windows_of
from srcjax.ops.record import completes, composite
from srcjax.ops.scipy_signal import has_start


def full_convolution(a, v):
    """As a convolution of vectors: rows are made so long that none reaches the next."""
    shape = [m + n - 1 for m, n in zip(a.shape, v.shape, strict=True)]
    room_a = [(0, size - m) for m, size in zip(a.shape[1:], shape[1:], strict=True)]
    room_v = [(0, size - n) for n, size in zip(v.shape[1:], shape[1:], strict=True)]
    long_a = np.ravel(np.pad(a, [(0, 0), *room_a]))
    long_v = np.ravel(np.pad(v, [(0, 0), *room_v]))
    return np.reshape(np.convolve(long_a, long_v)[: math.prod(shape)], shape)


def kept_places(shape, shape1, shape2, mode):
    """Where in a full convolution of that shape is what `mode` asks for."""
    if mode == "same":
        sizes = shape1
    elif mode == "valid":
        sizes = [abs(m - n) + 1 for m, n in zip(shape1, shape2, strict=True)]
    else:
        raise ValueError(f"the mode {mode!r} is none of 'full', 'same' and 'valid'")
    starts = [(m - n) // 2 for m, n in zip(shape, sizes, strict=True)]
    return tuple([slice(i, i + n) for i, n in zip(starts, sizes, strict=True)])


@composite(scipy.signal.convolve, real_only=False)
def convolve(in1, in2, mode="full", method="auto"):
    if np.ndim(in1) > 1:
        full = full_convolution(in1, in2)
        if mode == "full":
            return full
        return full[kept_places(full.shape, in1.shape, in2.shape, mode)]
    full = np.convolve(in1, in2)
    if mode == "full":
        return full
    size = len(in1) if mode == "same" else abs(len(in1) - len(in2)) + 1
    if mode not in ("same", "valid"):
        raise ValueError(f"the mode {mode!r} is none of 'full', 'same' and 'valid'")
    start = (len(full) - size) // 2
    return full[start : start + size]


@composite(scipy.signal.fftconvolve, real_only=False, refuses=["axes"])
def fftconvolve(in1, in2, mode="full", axes=None):
    return convolve(in1, in2, mode)


@composite(scipy.signal.convolve2d, real_only=False)
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    if boundary != "fill" or fillvalue != 0:
        raise NotImplementedError("another boundary than zeros")
    return convolve(in1, in2, mode)


@composite(scipy.signal.correlate, real_only=False)
def correlate(in1, in2, mode="full", method="auto"):
    return convolve(in1, np.conj(np.flip(in2)), mode)


@composite(scipy.signal.correlate2d, real_only=False)
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    turned = np.conj(np.flip(in2))
    return convolve2d(in1, turned, mode, boundary, fillvalue)


@composite(scipy.signal.oaconvolve, real_only=False, refuses=["axes"])
def oaconvolve(in1, in2, mode="full", axes=None):
    return convolve(in1, in2, mode)


# -- recursive filters -----------------------------------------------------------------


def filled(rows, size):
    """Rows cut, or filled up with zeros, to a length."""
    count = np.shape(rows)[-1]
    if count >= size:
        return rows[..., :size]
    return np.concatenate([rows, np.zeros((*rows.shape[:-1], size - count))], axis=-1)


@completes(scipy.signal.lfilter, when=has_start)
def lfilter_from(b, a, x, axis=-1, zi=None):
    """From a state: what it adds to the input's part is what an input would, once.

    The state at the end is what the terms that are still to come add up to.
    """
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    rows = np.moveaxis(np.asarray(x), axis, -1)
    state = np.moveaxis(np.asarray(zi), axis, -1)
    size, count = rows.shape[-1], state.shape[-1]
    state = state + np.zeros((*rows.shape[:-1], 1))
    y = scipy.signal.lfilter(b, a, rows)
    y = y + scipy.signal.lfilter([1.0], a / a[0], filled(state, size))
    b, a = filled(b / a[0], count + 1), filled(a / a[0], count + 1)
    x_late = np.concatenate([np.zeros((*rows.shape[:-1], count)), rows], axis=-1)
    y_late = np.concatenate([np.zeros((*rows.shape[:-1], count)), y], axis=-1)
    last = []
    for i in range(count):
        left = np.arange(i + 1, count + 1)
        places = size + count + i - left
        term = x_late[..., places] @ b[left] - y_late[..., places] @ a[left]
        if i + size < count:
            term = term + state[..., i + size]
        last.append(term)
    return np.moveaxis(y, -1, axis), np.moveaxis(np.stack(last, axis=-1), -1, axis)


@composite(scipy.signal.lfilter_zi)
def lfilter_zi(b, a):
    """The state in which a constant input gives a constant output at once."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    size = max(len(a), len(b))
    b, a = filled(b / a[0], size), filled(a / a[0], size)
    matrix = np.eye(size - 1) - np.eye(size - 1, k=1)
    matrix = matrix + np.concatenate(
        [a[1:, None], np.zeros((size - 1, size - 2))], axis=1
    )
    return np.linalg.solve(matrix, b[1:] - a[1:] * b[0])


@composite(scipy.signal.sosfilt)
def sosfilt(sos, x, axis=-1, zi=None):
    """One section of second order after the other."""
    y, last = x, []
    for i in range(len(sos)):
        if zi is None:
            y = scipy.signal.lfilter(sos[i, :3], sos[i, 3:], y, axis)
        else:
            y, state = scipy.signal.lfilter(sos[i, :3], sos[i, 3:], y, axis, zi=zi[i])
            last.append(state)
    return y if zi is None else (y, np.stack(last))


def with_ends(rows, edge, padtype):
    """Rows with more of what they are like at both ends."""
    if padtype is None or edge == 0:
        return rows
    if padtype == "constant":
        first = np.repeat(rows[..., :1], edge, axis=-1)
        last = np.repeat(rows[..., -1:], edge, axis=-1)
    else:
        first = np.flip(rows[..., 1 : edge + 1], -1)
        last = np.flip(rows[..., -edge - 1 : -1], -1)
        if padtype == "odd":
            first, last = 2 * rows[..., :1] - first, 2 * rows[..., -1:] - last
    return np.concatenate([first, rows, last], axis=-1)


def room_at_ends(padtype, padlen, default, size):
    """How much is added at each end."""
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError(f"Unknown value {padtype!r} given to padtype")
    edge = default if padlen is None else padlen
    edge = 0 if padtype is None else edge
    if size <= edge:
        raise ValueError(f"the input must be longer than padlen, which is {edge}")
    return edge


@composite(scipy.signal.filtfilt)
def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None):
    """Forward and backward, each from the steady state of its first value."""
    if method != "pad":
        raise NotImplementedError("another method than `pad`")
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    rows = np.moveaxis(np.asarray(x), axis, -1)
    edge = room_at_ends(padtype, padlen, 3 * max(len(a), len(b)), rows.shape[-1])
    y = with_ends(rows, edge, padtype)
    start = lfilter_zi(b, a)
    for _ in range(2):
        y, _last = lfilter_from(b, a, y, -1, start * y[..., :1])
        y = np.flip(y, -1)
    return np.moveaxis(y[..., edge : y.shape[-1] - edge], -1, axis)


@composite(scipy.signal.sosfiltfilt)
def sosfiltfilt(sos, x, axis=-1, padtype="odd", padlen=None):
    """As `filtfilt`; a section starts from the gain of those before it."""
    rows = np.moveaxis(np.asarray(x), axis, -1)
    short = min(np.sum(sos[:, 2] == 0), np.sum(sos[:, 5] == 0))
    edge = room_at_ends(padtype, padlen, 3 * (2 * len(sos) + 1 - short), rows.shape[-1])
    y = with_ends(rows, edge, padtype)
    for _ in range(2):
        scale = y[..., :1]
        for i in range(len(sos)):
            b, a = sos[i, :3], sos[i, 3:]
            y, _last = lfilter_from(b, a, y, -1, lfilter_zi(b, a) * scale)
            scale = scale * (np.sum(b) / np.sum(a))
        y = np.flip(y, -1)
    return np.moveaxis(y[..., edge : y.shape[-1] - edge], -1, axis)


# -- filters of neighbours -------------------------------------------------------------


@composite(scipy.signal.savgol_filter)
def savgol_filter(
    x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0
):
    """The value, or a derivative, of a polynomial fitted to the neighbours of each."""
    weights = scipy.signal.savgol_coeffs(window_length, polyorder, deriv, delta)
    rows = np.moveaxis(np.asarray(x), axis, -1)
    if mode != "interp":
        y = convolve1d(rows, weights, -1, None, mode, cval)
        return np.moveaxis(y, -1, axis)
    size, half = rows.shape[-1], window_length // 2
    if window_length > size:
        raise ValueError("window_length must be at most the size of x")
    inner = rows if window_length % 2 == 1 else rows[..., 1:]
    middle = windows_of(inner, window_length) @ weights[::-1]
    places = np.arange(window_length)
    values = np.vander(places, polyorder + 1, increasing=True) * 1.0
    slopes = values
    for _ in range(deriv):
        slopes = np.roll(slopes, 1, axis=1) * np.arange(polyorder + 1)
    fit = slopes @ np.linalg.pinv(values) / delta**deriv
    first = rows[..., :window_length] @ fit[:half].T
    last = rows[..., size - window_length :] @ fit[window_length - half :].T
    y = np.concatenate([first, middle, last], axis=-1)
    return np.moveaxis(y, -1, axis)


@composite(scipy.signal.detrend)
def detrend(data, axis=-1, type="linear", bp=0, overwrite_data=False):
    """Less the mean, or the line through it all, or that of each part."""
    x = np.asarray(data)
    if type in ("constant", "c"):
        return x - np.mean(x, axis, keepdims=True)
    if type not in ("linear", "l"):
        raise ValueError("Trend type must be 'linear' or 'constant'")
    rows = np.moveaxis(x, axis, -1)
    size = rows.shape[-1]
    breaks = np.unique(np.concatenate([np.array([0, size]), np.atleast_1d(bp)]))
    parts = []
    for i in range(len(breaks) - 1):
        start, stop = int(breaks[i]), int(breaks[i + 1])
        count = stop - start
        line = np.stack([np.arange(1, count + 1) / count, np.ones(count)], axis=1)
        part = rows[..., start:stop]
        parts.append(part - part @ (line @ np.linalg.pinv(line)))
    return np.moveaxis(np.concatenate(parts, axis=-1), -1, axis)


@composite(scipy.signal.medfilt)
def medfilt(volume, kernel_size=None):
    """The medians of neighbours, with zeros around."""
    x = np.asarray(volume)
    sizes = 3 if kernel_size is None else kernel_size
    sizes = np.broadcast_to(sizes, x.ndim)
    padded = np.pad(x, [(int(n) // 2, int(n) // 2) for n in sizes])
    shape = tuple([int(n) for n in sizes])
    windows = np.lib.stride_tricks.sliding_window_view(padded, shape)
    near = np.sort(np.reshape(windows, (*x.shape, -1)), axis=-1)
    return near[..., near.shape[-1] // 2]


# -- by Fourier transforms -------------------------------------------------------------


@composite(scipy.signal.hilbert, refuses=["N"])
def hilbert(x, N=None, axis=-1):  # noqa: N803  (SciPy's name)
    """The signal of which `x` is the real part and no frequency is negative."""
    rows = np.moveaxis(np.asarray(x), axis, -1)
    size = rows.shape[-1]
    twice = np.zeros(size)
    twice[0] = 1
    twice[1 : (size + 1) // 2] = 2
    if size % 2 == 0:
        twice[size // 2] = 1
    return np.moveaxis(np.fft.ifft(np.fft.fft(rows) * twice), -1, axis)


@composite(scipy.signal.resample, refuses=["t", "window", "domain"])
def resample(x, num, t=None, axis=0, window=None, domain="time"):
    """As many samples of the same frequencies."""
    rows = np.moveaxis(np.asarray(x), axis, -1)
    size = rows.shape[-1]
    kept = min(num, size)
    count = kept // 2 + 1
    scale = np.ones(count)
    if kept % 2 == 0 and num != size:
        scale[kept // 2] = 2 if num < size else 0.5
    spectrum = np.fft.rfft(rows)[..., :count] * scale
    y = np.fft.irfft(spectrum, num) * (num / size)
    return np.moveaxis(y, -1, axis)
