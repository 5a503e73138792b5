"""Functions of complex numbers whose rules are for real ones, as plain NumPy."""

from __future__ import annotations

import numpy as np

from srcjax.ops.record import for_complex


@for_complex(np.nan_to_num)
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Real and imaginary parts one by one."""
    real = np.nan_to_num(np.real(x), copy, nan, posinf, neginf)
    return real + 1j * np.nan_to_num(np.imag(x), copy, nan, posinf, neginf)


@for_complex(np.sign)
def sign(x):
    """The number over its size; 0 of 0, in both directions."""
    size = np.abs(x)
    return np.where(size == 0, 0, x / np.where(size == 0, 1, size))


@for_complex(np.linalg.lstsq)
def lstsq(a, b, rcond=None):
    """By the pseudoinverse."""
    inverse = np.linalg.pinv(a) if rcond is None else np.linalg.pinv(a, rcond)
    x, s = inverse @ b, np.linalg.svd(a, full_matrices=False)[1]
    rank = np.linalg.matrix_rank(a)
    squares = np.abs(b - a @ x) ** 2
    residuals = np.atleast_1d(np.sum(squares, axis=0))
    if a.shape[0] <= a.shape[1] or rank < a.shape[1]:
        residuals = residuals[:0]
    return x, residuals, rank, s
