"""Adjoints of Fourier transforms.

Cotangents of complex values follow JAX: the derivative of the loss along a change `dx`
is the real part of `sum(d * dx)`, so that transposes are plain, without conjugation.
"""

import numpy as np


def fitted(d, x):
    """`d` cut, or filled up with zeros, to the shape of `x`; real where `x` is."""
    for axis, (have, wanted) in enumerate(zip(np.shape(d), np.shape(x), strict=True)):
        if have > wanted:
            d = np.take(d, range(wanted), axis)
        elif have < wanted:
            before = [(0, 0)] * np.ndim(d)
            before[axis] = (0, wanted - have)
            d = np.pad(d, before)
    return d if np.iscomplexobj(x) else np.real(d)


def transformed_axes(x, s, axes):
    """The sizes and axes of a transform of `x`, as NumPy takes `s` and `axes`."""
    if axes is None:
        axes = range(-(np.ndim(x) if s is None else len(s)), 0)
    axes = [int(axis) % np.ndim(x) for axis in axes]
    if len(set(axes)) < len(axes):
        raise NotImplementedError("a Fourier transform twice along one axis")
    sizes = [-1] * len(axes) if s is None else s
    sizes = [np.shape(x)[a] if n == -1 else n for n, a in zip(sizes, axes, strict=True)]
    return sizes, axes


def unfftn(d, x, s, axes, norm, inverse=False):
    """The adjoint of `x` in `np.fft.fftn(x, s, axes, norm)`, or in `ifftn`."""
    _, axes = transformed_axes(x, s, axes)
    transform = np.fft.ifftn if inverse else np.fft.fftn
    return fitted(transform(d, axes=axes, norm=norm), x)


def unrfftn(d, x, s, axes, norm):
    """The adjoint of `x` in `np.fft.rfftn(x, s, axes, norm)`."""
    sizes, axes = transformed_axes(x, s, axes)
    return fitted(np.fft.fftn(d, sizes, axes, norm), x)


def unirfftn(d, x, s, axes, norm):
    """The adjoint of `x` in `np.fft.irfftn(x, s, axes, norm)`."""
    _, axes = transformed_axes(x, s, axes)
    return half_spectrum(np.fft.ifftn(d, axes=axes, norm=norm), x, axes[-1])


def half_spectrum(d, x, axis):
    """Of the adjoint of a full spectrum, that of the half that `irfft` reads."""
    size = np.shape(d)[axis]
    weights = np.full(size // 2 + 1, 2)
    weights[0] = 1
    if size % 2 == 0:
        weights[-1] = 1
    shape = [1] * np.ndim(d)
    shape[axis] = -1
    half = np.take(d, range(size // 2 + 1), axis)
    return fitted(half * np.reshape(weights, shape), x)
