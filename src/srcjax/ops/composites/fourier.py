"""Functions of np.fft that others of it say (the transforms are in `ops.fft`)."""

from __future__ import annotations

import numpy as np

from srcjax.ops.record import composite

#: What divides by `n` one way divides by nothing the other way.
OTHER_WAY = {None: "forward", "backward": "forward", "forward": "backward"}


@composite(np.fft.hfft)
def hfft(a, n=None, axis=-1, norm=None):
    """The real spectrum of half a symmetric signal."""
    if n is None:
        n = 2 * (np.shape(a)[axis] - 1)
    return np.fft.irfft(np.conj(a), n, axis, OTHER_WAY.get(norm, norm))


@composite(np.fft.ihfft)
def ihfft(a, n=None, axis=-1, norm=None):
    """Half the symmetric signal of a real spectrum."""
    if n is None:
        n = np.shape(a)[axis]
    return np.conj(np.fft.rfft(a, n, axis, OTHER_WAY.get(norm, norm)))


@composite(np.fft.fftfreq)
def fftfreq(n, d=1.0):
    """Frequencies over the spacing."""
    return np.fft.fftfreq(n) / d


@composite(np.fft.rfftfreq)
def rfftfreq(n, d=1.0):
    """Frequencies over the spacing."""
    return np.fft.rfftfreq(n) / d
