"""Convolutions of scipy.signal, by `np.convolve`: the direct method, exact.

`method="fft"` counts only where nothing is differentiated.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.signal

from srcjax.ops.record import composite


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
