"""scipy.fft: what np.fft has too, and cosine and sine transforms made of others."""

from __future__ import annotations

import numpy as np
import scipy.fft

from srcjax.ops.composites.fourier import OTHER_WAY
from srcjax.ops.record import composite

#: The type of the transform that leads back.
INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


@composite(scipy.fft.fft, real_only=False)
def fft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.fft(x, n, axis, norm)


@composite(scipy.fft.ifft, real_only=False)
def ifft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.ifft(x, n, axis, norm)


@composite(scipy.fft.rfft, real_only=False)
def rfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.rfft(x, n, axis, norm)


@composite(scipy.fft.irfft, real_only=False)
def irfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.irfft(x, n, axis, norm)


@composite(scipy.fft.fft2, real_only=False)
def fft2(
    x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None
):
    return np.fft.fftn(x, s, axes, norm)


@composite(scipy.fft.ifft2, real_only=False)
def ifft2(
    x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None
):
    return np.fft.ifftn(x, s, axes, norm)


@composite(scipy.fft.fftn, real_only=False)
def fftn(
    x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None
):
    return np.fft.fftn(x, s, axes, norm)


@composite(scipy.fft.ifftn, real_only=False)
def ifftn(
    x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None
):
    return np.fft.ifftn(x, s, axes, norm)


@composite(scipy.fft.rfft2, real_only=False)
def rfft2(
    x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None
):
    return np.fft.rfftn(x, s, axes, norm)


@composite(scipy.fft.irfft2, real_only=False)
def irfft2(
    x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None
):
    return np.fft.irfftn(x, s, axes, norm)


@composite(scipy.fft.rfftn, real_only=False)
def rfftn(
    x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None
):
    return np.fft.rfftn(x, s, axes, norm)


@composite(scipy.fft.irfftn, real_only=False)
def irfftn(
    x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None
):
    return np.fft.irfftn(x, s, axes, norm)


@composite(scipy.fft.fftshift, real_only=False)
def fftshift(x, axes=None):
    return np.fft.fftshift(x, axes)


@composite(scipy.fft.ifftshift, real_only=False)
def ifftshift(x, axes=None):
    return np.fft.ifftshift(x, axes)


@composite(scipy.fft.idct)
def idct(
    x,
    type=2,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    orthogonalize=None,
):
    """The transform of the other type, divided by what the other way is not."""
    other = OTHER_WAY.get(norm, norm)
    return scipy.fft.dct(x, INVERSE[type], n, axis, other, orthogonalize=orthogonalize)


@composite(scipy.fft.idst)
def idst(
    x,
    type=2,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    orthogonalize=None,
):
    """The transform of the other type, divided by what the other way is not."""
    other = OTHER_WAY.get(norm, norm)
    return scipy.fft.dst(x, INVERSE[type], n, axis, other, orthogonalize=orthogonalize)


def axes_of(x, s, axes):
    """The axes of a transform along several."""
    if axes is None:
        return range(-(np.ndim(x) if s is None else len(s)), 0)
    return [axes] if isinstance(axes, int) else axes


@composite(scipy.fft.dctn)
def dctn(
    x,
    type=2,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    orthogonalize=None,
):
    """Along one axis after the other."""
    y = np.asarray(x)
    for i, axis in enumerate(axes_of(x, s, axes)):
        n = None if s is None else s[i]
        y = scipy.fft.dct(y, type, n, axis, norm, orthogonalize=orthogonalize)
    return y


@composite(scipy.fft.idctn)
def idctn(
    x,
    type=2,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    orthogonalize=None,
):
    """Along one axis after the other."""
    y = np.asarray(x)
    for i, axis in enumerate(axes_of(x, s, axes)):
        n = None if s is None else s[i]
        y = idct(y, type, n, axis, norm, orthogonalize=orthogonalize)
    return y


@composite(scipy.fft.dstn)
def dstn(
    x,
    type=2,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    orthogonalize=None,
):
    """Along one axis after the other."""
    y = np.asarray(x)
    for i, axis in enumerate(axes_of(x, s, axes)):
        n = None if s is None else s[i]
        y = scipy.fft.dst(y, type, n, axis, norm, orthogonalize=orthogonalize)
    return y


@composite(scipy.fft.idstn)
def idstn(
    x,
    type=2,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    orthogonalize=None,
):
    """Along one axis after the other."""
    y = np.asarray(x)
    for i, axis in enumerate(axes_of(x, s, axes)):
        n = None if s is None else s[i]
        y = idst(y, type, n, axis, norm, orthogonalize=orthogonalize)
    return y
