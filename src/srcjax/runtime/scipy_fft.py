"""Adjoints of the cosine and sine transforms of scipy.fft."""

import numpy as np

try:
    import scipy
except ImportError:  # then no helper of this file is called
    scipy = None

from srcjax.runtime.fourier import fitted


def scaled_at(x, axis, places, factor):
    """A copy of `x` with the entries at some places of an axis scaled."""
    factors = np.ones(np.shape(x)[axis], x.dtype)
    factors[places] = factor
    return x * np.reshape(factors, [-1] + [1] * (np.ndim(x) - 1 - axis % np.ndim(x)))


def undct(d, x, type, axis, norm, orthogonalize):
    """The adjoint of `x` in `scipy.fft.dct(x, type, n, axis, norm)`."""
    even = norm == "ortho" if orthogonalize is None else orthogonalize
    back = {1: 1, 2: 3, 3: 2, 4: 4}[type]
    if not even and type == 1:
        d = scaled_at(d, axis, [0, -1], 2)
    if not even and type == 2:
        d = scaled_at(d, axis, [0], 2)
    d = scipy.fft.dct(d, back, None, axis, norm, orthogonalize=even)
    if not even and type == 1:
        d = scaled_at(d, axis, [0, -1], 0.5)
    if not even and type == 3:
        d = scaled_at(d, axis, [0], 0.5)
    return fitted(d, x)


def undst(d, x, type, axis, norm, orthogonalize):
    """The adjoint of `x` in `scipy.fft.dst(x, type, n, axis, norm)`."""
    even = norm == "ortho" if orthogonalize is None else orthogonalize
    back = {1: 1, 2: 3, 3: 2, 4: 4}[type]
    if not even and type == 2:
        d = scaled_at(d, axis, [-1], 2)
    d = scipy.fft.dst(d, back, None, axis, norm, orthogonalize=even)
    if not even and type == 3:
        d = scaled_at(d, axis, [-1], 0.5)
    return fitted(d, x)
