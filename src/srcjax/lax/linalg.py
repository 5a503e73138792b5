"""JAX's `lax.linalg`: factors of matrices, with its names and its order of results."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """The lower triangular `L` with `x = L @ L.T`.

    Args:
        x: a matrix (..., n, n), positive definite.
        symmetrize_input: take the mean of `x` and its transpose; else its lower
            triangle alone is read.
    """
    if symmetrize_input:
        x = (x + np.conj(np.swapaxes(x, -1, -2))) / 2
    return np.linalg.cholesky(x)


def eigh(x: Any, *, lower: bool = True, symmetrize_input: bool = True) -> Any:
    """The eigenvectors of a symmetric matrix as columns, and its eigenvalues.

    In the order of JAX's `lax`: vectors first.
    """
    if symmetrize_input:
        x = (x + np.conj(np.swapaxes(x, -1, -2))) / 2
    values, vectors = np.linalg.eigh(x, UPLO="L" if lower else "U")
    return vectors, values


def qr(x: Any, *, full_matrices: bool = True) -> Any:
    """The factors `Q` and `R` of a matrix."""
    q, r = np.linalg.qr(x, mode="complete" if full_matrices else "reduced")
    return q, r


def svd(x: Any, *, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """The singular vectors and values `U`, `s`, `Vh` of a matrix; `(s,)` alone without
    `compute_uv`.
    """
    if not compute_uv:
        return (np.linalg.svd(x, compute_uv=False),)
    u, s, vh = np.linalg.svd(x, full_matrices=full_matrices)
    return u, s, vh


def triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """The `x` with `x @ a = b`, or with `a @ x = b` if `left_side`.

    Args:
        a: a matrix (n, n), of which one triangle is read.
        b: a matrix (m, n), or (n, m) with `left_side`.
        left_side: whether `a` stands on the left.
        lower: whether the lower triangle is read.
        transpose_a: take the transpose of that triangle.
        conjugate_a: take its complex conjugate.
        unit_diagonal: suppose ones on the diagonal.
    """
    if conjugate_a:
        a = np.conj(a)
    if left_side:
        trans = 1 if transpose_a else 0
        return scipy.linalg.solve_triangular(
            a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal
        )
    trans = 0 if transpose_a else 1  # x a = b is a' x' = b'
    return scipy.linalg.solve_triangular(
        a, b.T, trans=trans, lower=lower, unit_diagonal=unit_diagonal
    ).T


__all__ = ["cholesky", "eigh", "qr", "svd", "triangular_solve"]
