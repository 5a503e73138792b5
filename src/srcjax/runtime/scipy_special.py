"""Helpers of the rules of scipy.special."""

from __future__ import annotations

import math

import numpy as np

try:
    import scipy
except ImportError:  # then no helper of this file is called
    scipy = None


def real_for_real(d, x):
    """`d` of a function of complex numbers: its real part where `x` is real."""
    return d if np.iscomplexobj(x) else np.real(d)


def normal_hazard(x):
    """The normal density at `x` over its distribution function, right in both tails."""
    return math.sqrt(2 / math.pi) / scipy.special.erfcx(-x / math.sqrt(2))


def comb_slopes(y, n, k, exact=False, repetition=False):
    """The derivatives of `y = scipy.special.comb(n, k)` to `n` and to `k`.

    Zero where there are no combinations: there digamma may have a pole.
    """
    if exact:
        raise NotImplementedError("scipy.special.comb(exact=True) has no derivative")
    if repetition:
        n = n + k - 1
    none = y == 0
    left = scipy.special.digamma(np.where(none, 1, n - k + 1))
    to_n = y * (scipy.special.digamma(np.where(none, 1, n + 1)) - left)
    to_k = y * (left - scipy.special.digamma(np.where(none, 1, k + 1)))
    return (to_n, to_n + to_k) if repetition else (to_n, to_k)


def spherical_harmonic_slope(n, m, theta, phi):
    """The derivative of `scipy.special.sph_harm_y(n, m, theta, phi)` to theta.

    From the ladder of the order `m`, which is regular at the poles (DLMF 14.10).
    """
    up = np.sqrt(np.clip((n - m) * (n + m + 1), 0, None)) * np.exp(-1j * phi)
    down = np.sqrt(np.clip((n + m) * (n - m + 1), 0, None)) * np.exp(1j * phi)
    above = scipy.special.sph_harm_y(n, np.minimum(m + 1, n), theta, phi)
    below = scipy.special.sph_harm_y(n, np.maximum(m - 1, -n), theta, phi)
    return (up * above - down * below) / 2
