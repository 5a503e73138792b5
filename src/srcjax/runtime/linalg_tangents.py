"""Helpers of the tangent rules of linear algebra; `d` is the tangent of the matrix.

Of a matrix of which one triangle is read, the same triangle of the tangent is read.
"""

from __future__ import annotations

import numpy as np

from srcjax.runtime.basics import hermitian, transposed, whole_of_triangle
from srcjax.runtime.eigen import gaps_of_eigenvalues

# -- systems ------------------------------------------------------------------------


def matrix_times(d, y, b):
    """`d @ y` for the solution `y` of a system with the right-hand side `b`."""
    if np.ndim(b) == 1 and np.ndim(d) > 2:  # a vector for each matrix
        return (d @ np.expand_dims(y, -1))[..., 0]
    return d @ y


def trace_of_solution(a, d):
    """The trace of the inverse of `a` times `d`, for each matrix."""
    return np.trace(np.linalg.solve(a, d), axis1=-2, axis2=-1)


def triangle_times(d, y, trans=0, lower=False, unit_diagonal=False):
    """`d @ y`, of what `scipy.linalg.solve_triangular` reads of a matrix."""
    if lower:
        part = np.tril(d, -1 if unit_diagonal else 0)
    else:
        part = np.triu(d, 1 if unit_diagonal else 0)
    return part @ y if trans in (0, "N") else np.swapaxes(part, -1, -2) @ y


def cho_factor_tangent(d, factor, lower):
    """The tangent of the factor in `scipy.linalg.cho_factor(a)`.

    What is beside the triangle of the factor was left there, as it is in `a`.
    """
    if lower:
        return cholesky_tangent(d, np.tril(factor), upper=False) + np.triu(d, 1)
    return cholesky_tangent(d, np.triu(factor), upper=True) + np.tril(d, -1)


def factors_times(d, y, factor, lower):
    """The tangent of the matrix with that factor, of tangent `d`, times `y`."""
    if lower:
        factor, d = np.tril(factor), np.tril(d)
        return d @ (factor.T @ y) + factor @ (d.T @ y)
    factor, d = np.triu(factor), np.triu(d)
    return d.T @ (factor @ y) + factor.T @ (d @ y)


def pinv_tangent(d, y, a, symmetric=False):
    """The tangent of `y = np.linalg.pinv(a)` (Golub and Pereyra, 1973)."""
    if symmetric:
        return pinv_tangent(whole_of_triangle(d), y, whole_of_triangle(a))
    p, g = hermitian(y), hermitian(d)
    rows = g - g @ (a @ y)
    columns = g - y @ (a @ g)
    return -y @ d @ y + y @ p @ rows + columns @ p @ y


def lstsq_tangent(da, db, y, a, b):
    """The tangent of `y = np.linalg.lstsq(a, b)` of full rank."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    p = (vh.T / s) @ u.T
    solution = pinv_tangent(da, p, a) @ b + p @ db
    residuals = np.zeros_like(y[1])
    if np.size(y[1]):
        change = db - da @ y[0]  # the residual is orthogonal to the rest of the change
        residuals = np.reshape(2 * np.sum((b - a @ y[0]) * change, axis=0), y[1].shape)
    values = np.sum((u.T @ da) * vh, axis=-1)
    return solution, residuals, 0.0, values


# -- decompositions -----------------------------------------------------------------


def cholesky_tangent(d, y, upper=False):
    """The tangent of `y = np.linalg.cholesky(a, upper=upper)`.

    Murray, Differentiation of the Cholesky decomposition (2016), equation 8.
    """
    factor = hermitian(y) if upper else y
    left = np.linalg.solve(factor, whole_of_triangle(d, upper))
    middle = np.linalg.solve(factor, hermitian(left))
    dy = factor @ ((np.tril(middle) + np.tril(middle, -1)) / 2)
    return hermitian(dy) if upper else dy


def inverse_gaps(w):
    """`1 / (w[j] - w[i])`, 0 on the diagonal."""
    one = np.eye(np.shape(w)[-1], dtype=w.dtype)
    with np.errstate(divide="ignore"):
        return (1 - one) / (w[..., None, :] - w[..., :, None] + one)


def eigh_tangent(d, y, UPLO="L"):
    """The tangents of values and vectors of `y = np.linalg.eigh(a)`.

    Giles, Collected matrix derivative results (2008), section 3.1.
    """
    w, v = y
    middle = hermitian(v) @ whole_of_triangle(d, UPLO in ("U", "u")) @ v
    dv = v @ (gaps_of_eigenvalues(w) * middle)
    return np.real(np.diagonal(middle, 0, -2, -1)).copy(), dv


def eigvalsh_tangent(d, a, UPLO="L"):
    """The tangent of `np.linalg.eigvalsh(a)`."""
    _, v = np.linalg.eigh(a, UPLO)
    whole = whole_of_triangle(d, UPLO in ("U", "u"))
    return np.real(np.sum(np.conj(v) * (whole @ v), axis=-2))


def svdvals_tangent(d, a):
    """The tangent of `np.linalg.svdvals(a)`."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.real(np.sum((hermitian(u) @ d) * np.conj(vh), axis=-1))


def svd_tangent(d, y, a, symmetric=False):
    """The tangents of `y = np.linalg.svd(a)`: of `u, s, vh`, or of `s` alone.

    Townsend, Differentiating the singular value decomposition (2016).
    """
    if symmetric:
        return svd_tangent(whole_of_triangle(d), y, whole_of_triangle(a))
    if not isinstance(y, tuple):
        return svdvals_tangent(d, a)
    u, s, vh = y
    k = s.shape[-1]
    if u.shape[-1] != k or vh.shape[-2] != k:
        raise NotImplementedError("np.linalg.svd: pass full_matrices=False")
    ut, v = hermitian(u), hermitian(vh)
    middle = ut @ d @ v
    gaps = inverse_gaps(s**2)
    row, column = s[..., None, :], s[..., :, None]
    turn = gaps * (middle * row + column * hermitian(middle))
    if np.iscomplexobj(d):  # phases: U takes those of both (as in JAX)
        turn = turn + 1j * np.imag(middle) * np.eye(k, dtype=s.dtype) / row
    du = u @ turn
    dv = v @ (gaps * (column * middle + hermitian(middle) * row))
    if u.shape[-2] > k:
        outside = d @ v / row
        du = du + outside - u @ (ut @ outside)
    if vh.shape[-1] > k:
        outside = hermitian(d) @ u / row
        dv = dv + outside - v @ (vh @ outside)
    return du, np.real(np.diagonal(middle, 0, -2, -1)).copy(), hermitian(dv)


def qr_tangent(d, y, mode="reduced"):
    """The tangents of `q, r = np.linalg.qr(a)`.

    Walter and Lehmann, Algorithmic differentiation of linear algebra functions (2018).
    """
    if mode not in ("reduced", "complete"):
        raise NotImplementedError(f"np.linalg.qr: mode {mode!r} is not differentiated")
    q, r = y
    rows, columns = r.shape[-2:]
    if q.shape[-1] > columns:
        raise NotImplementedError("np.linalg.qr: use mode='reduced'")
    first = r[..., :, :rows]  # of a wide matrix: the columns that Q comes from
    part = transposed(d[..., :, :rows])
    scaled = transposed(np.linalg.solve(transposed(first), part))  # part.T / first
    turned = hermitian(q) @ scaled
    below = np.tril(turned, -1)
    spin = below - hermitian(below)  # skew: what turns Q within its own columns
    if np.iscomplexobj(d):  # the diagonal of R stays real
        one = np.eye(turned.shape[-1], dtype=bool)
        spin = spin + 1j * np.where(one, np.imag(turned), 0)
    dq = q @ (spin - turned) + scaled
    return dq, hermitian(q) @ d - spin @ r
