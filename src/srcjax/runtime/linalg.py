"""Adjoints of linear algebra; `d` is the adjoint of the result."""

from __future__ import annotations

import numpy as np

try:
    import scipy
except ImportError:  # then no helper that needs it is called
    scipy = None

from srcjax.runtime.basics import (
    hermitian,
    to_triangle,
    unbroadcast,
    whole_of_triangle,
)
from srcjax.runtime.complex_parts import hermitian_uncholesky
from srcjax.runtime.eigen import gaps_of_eigenvalues, of_vectors_read, spread_gaps


def per_matrix(d, a):
    """`d`, one number for each matrix of `a`, with two axes of 1 for the matrix."""
    return np.reshape(d, (*np.shape(d), 1, 1)) if np.ndim(a) > 2 else d


def unsolve_left(d, y, a, b):
    """The adjoint of `a` in `y = np.linalg.solve(a, b)`."""
    db = solve_transposed(d, a, b)
    if np.ndim(b) == 1:
        return -unbroadcast(np.expand_dims(db, -1) * np.expand_dims(y, -2), a)
    return -unbroadcast(db @ np.swapaxes(y, -1, -2), a)


def unsolve_right(d, a, b):
    """The adjoint of `b` in `np.linalg.solve(a, b)`."""
    return unbroadcast(solve_transposed(d, a, b), b)


def solve_transposed(d, a, b):
    """`d` of `np.linalg.solve(a, b)` solved for with the transpose of `a`."""
    return solve_like(np.swapaxes(a, -1, -2), d, b)


def solve_like(a, v, b):
    """`np.linalg.solve(a, v)`, with one vector to each matrix if `b` is a vector."""
    if np.ndim(b) == 1 and np.ndim(a) > 2:
        return np.linalg.solve(a, np.expand_dims(v, -1))[..., 0]
    return np.linalg.solve(a, v)


def uncholesky(d, y, upper=False):
    """The adjoint of `a` in `y = np.linalg.cholesky(a, upper=upper)`.

    Murray, Differentiation of the Cholesky decomposition (2016), equation 10.
    """
    if np.iscomplexobj(y):
        return to_triangle(hermitian_uncholesky(d, y, upper), upper)
    if upper:
        d, y = np.swapaxes(d, -1, -2), np.swapaxes(y, -1, -2)
    turned = np.swapaxes(y, -1, -2)
    middle = np.tril(turned @ d)
    middle = middle + np.swapaxes(np.tril(middle, -1), -1, -2)  # symmetric
    right = np.linalg.solve(turned, middle)
    whole = np.linalg.solve(turned, np.swapaxes(right, -1, -2)) / 2
    return to_triangle(whole, upper)


def unpinv(d, y, a, symmetric=False):
    """The adjoint of `a` in `y = np.linalg.pinv(a)` (Golub and Pereyra, 1973)."""
    if symmetric:
        return to_triangle(unpinv(d, y, whole_of_triangle(a)))
    p, g = hermitian(y), np.swapaxes(d, -1, -2)
    rows = g - a @ (y @ g)
    columns = g - (g @ y) @ a
    da = -p @ np.conj(d) @ p + rows @ y @ p + p @ y @ columns
    return np.conj(da)


def is_absent(d):
    """Whether the adjoint of a part of a result is none at all."""
    return d is None or np.ndim(d) == 0


def uneigh(d, y, UPLO="L"):
    """The adjoint of `a` in `y = np.linalg.eigh(a)`.

    Giles, Collected matrix derivative results (2008), section 3.1.
    """
    (dw, dv), (w, v) = d, y
    turned, middle = np.swapaxes(v, -1, -2), 0
    if not is_absent(dv):
        gaps = gaps_of_eigenvalues(w)
        if is_absent(dw):
            gaps = of_vectors_read(gaps, np.swapaxes(dv, -1, -2))
        middle = gaps * (turned @ dv)
    if not is_absent(dw):
        middle = middle + np.real(dw)[..., None] * np.eye(w.shape[-1], dtype=w.dtype)
    return to_triangle(np.conj(v) @ middle @ turned, UPLO in ("U", "u"))


def uneigvalsh(d, a, UPLO="L"):
    """The adjoint of `a` in `np.linalg.eigvalsh(a)`."""
    _, v = np.linalg.eigh(a, UPLO)
    da = (np.conj(v) * np.real(d)[..., None, :]) @ np.swapaxes(v, -1, -2)
    return to_triangle(da, UPLO in ("U", "u"))


def unsvdvals(d, a):
    """The adjoint of `a` in `np.linalg.svdvals(a)`."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.conj((u * np.real(d)[..., None, :]) @ vh)


def unsvd(d, y, a, symmetric=False):
    """The adjoint of `a` in `y = np.linalg.svd(a)`: `u, s, vh`, or `s` alone.

    Townsend, Differentiating the singular value decomposition (2016).
    """
    if symmetric:
        return to_triangle(unsvd(d, y, whole_of_triangle(a)))
    if not isinstance(y, tuple):
        return unsvdvals(d, a)
    (du, ds, dvh), (u, s, vh) = d, y
    k = s.shape[-1]
    if u.shape[-1] != k or vh.shape[-2] != k:
        if not (is_absent(du) and is_absent(dvh)):
            raise NotImplementedError("np.linalg.svd: pass full_matrices=False")
        u, vh = u[..., :, :k], vh[..., :k, :]
    ut, v = hermitian(u), hermitian(vh)
    one = np.eye(k, dtype=s.dtype)
    gaps = spread_gaps(s**2)
    if is_absent(ds):
        left = dvh if is_absent(du) else np.swapaxes(du, -1, -2)[..., :k, :]
        right = left if is_absent(dvh) else dvh
        gaps = of_vectors_read(gaps, np.concatenate([left, right], axis=-1))
    middle = one * (0 if is_absent(ds) else np.real(ds)[..., None])
    if not is_absent(du):
        du = np.conj(du)
        inner = ut @ du
        part = gaps * inner
        middle = middle + (part + hermitian(part)) * s[..., None, :]
        if np.iscomplexobj(a):  # phases: U takes those of both (as in JAX)
            middle = middle + 1j * one * np.imag(inner) / s[..., None, :]
    if not is_absent(dvh):
        dvh = np.conj(dvh)
        part = gaps * (vh @ hermitian(dvh))
        middle = middle + (part + hermitian(part)) * s[..., :, None]
    da = u @ middle @ vh
    if not is_absent(du) and u.shape[-2] > k:
        outside = du / s[..., None, :]
        da = da + (outside - u @ (ut @ outside)) @ vh
    if not is_absent(dvh) and vh.shape[-1] > k:
        outside = dvh / s[..., :, None]
        da = da + u @ (outside - (outside @ v) @ vh)
    return np.conj(da)


def unqr(d, y, a, mode="reduced"):
    """The adjoint of `a` in `q, r = np.linalg.qr(a)`.

    Walter and Lehmann, Algorithmic differentiation of linear algebra functions (2018).
    """
    if mode not in ("reduced", "complete"):
        raise NotImplementedError(f"np.linalg.qr: mode {mode!r} is not differentiated")
    (dq, dr), (q, r) = d, y
    rows, columns = r.shape[-2:]
    if q.shape[-1] > columns:
        raise NotImplementedError("np.linalg.qr: use mode='reduced'")
    dq = np.zeros_like(q) if is_absent(dq) else np.conj(dq)
    dr = np.zeros_like(r) if is_absent(dr) else np.conj(dr)
    right = dr[..., :, rows:]  # of a wide matrix: the columns that only R has
    if columns > rows:
        dq = dq + a[..., :, rows:] @ hermitian(right)
        r, dr = r[..., :, :rows], dr[..., :, :rows]
    inner = r @ hermitian(dr) - hermitian(dq) @ q
    below = np.tril(inner, -1)
    one = np.eye(inner.shape[-1], dtype=bool)
    inner = below + hermitian(below) + np.where(one, np.real(inner), 0)
    da = hermitian(np.linalg.solve(r, hermitian(dq + q @ inner)))
    da = np.concatenate([da, q @ right], axis=-1) if columns > rows else da
    return np.conj(da)


def unlstsq_left(d, y, a, b):
    """The adjoint of `a` in `y = np.linalg.lstsq(a, b)` of full rank."""
    x, g, p = y[0], least_squares_seed(d, y), np.linalg.pinv(a)
    if np.ndim(b) == 1:
        x, g, b = x[:, None], g[:, None], b[:, None]
    da = unpinv(g @ b.T, p, a)
    if np.size(y[1]) and not is_absent(d[1]):
        da = da - 2 * (b - a @ x) * d[1] @ x.T
    return da


def unlstsq_right(d, y, a, b):
    """The adjoint of `b` in `y = np.linalg.lstsq(a, b)` of full rank."""
    db = np.linalg.pinv(a).T @ least_squares_seed(d, y)
    if np.size(y[1]) and not is_absent(d[1]):
        weight = d[1][0] if np.ndim(b) == 1 else d[1]
        db = db + 2 * (b - a @ y[0]) * weight
    return db


def least_squares_seed(d, y):
    """The adjoint of the solution in the result of `np.linalg.lstsq`."""
    if not is_absent(d[3]) and np.any(d[3]):
        raise NotImplementedError("np.linalg.lstsq: singular values have no adjoint")
    return np.zeros_like(y[0]) if is_absent(d[0]) else d[0]


def unscipy_solve(d, y, a, b, which, assume_a=None, lower=False, transposed=False):
    """The adjoint of `a` (which=0) or `b` (1) in `y = scipy.linalg.solve(a, b)`."""
    matrix = full_matrix(a, assume_a, lower, transposed)
    if which == 1:
        return unsolve_right(d, matrix, b)
    da = unsolve_left(d, y, matrix, b)
    return from_full_matrix(da, assume_a, lower, transposed)


def unscipy_inv(d, y, assume_a=None, lower=False):
    """The adjoint of `a` in `y = scipy.linalg.inv(a, assume_a=..., lower=...)`."""
    turned = np.swapaxes(y, -1, -2)
    return from_full_matrix(-turned @ d @ turned, assume_a, lower)


def full_matrix(a, assume_a=None, lower=False, transposed=False):
    """The matrix that `scipy.linalg.solve(a, b, ...)` reads, which is linear in `a`."""
    if assume_a in ("her", "hermitian", "pos", "positive definite"):
        a = whole_of_triangle(a, not lower)
    elif assume_a in ("sym", "symmetric"):
        half = np.tril(a) if lower else np.triu(a)
        other = np.tril(a, -1) if lower else np.triu(a, 1)
        a = half + np.swapaxes(other, -1, -2)
    else:
        a = entries_read(a, assume_a)
    return np.swapaxes(a, -1, -2) if transposed else a


def from_full_matrix(d, assume_a=None, lower=False, transposed=False):
    """The adjoint of `a` in `full_matrix(a, assume_a, lower, transposed)`."""
    if transposed:
        d = np.swapaxes(d, -1, -2)
    if assume_a in ("her", "hermitian", "pos", "positive definite"):
        return to_triangle(d, not lower)
    if assume_a in ("sym", "symmetric"):
        turned = np.swapaxes(d, -1, -2)
        if lower:
            return np.tril(d) + np.tril(turned, -1)
        return np.triu(d) + np.triu(turned, 1)
    return entries_read(d, assume_a)


def entries_read(a, assume_a=None):
    """`a`, with zeros where a solver for a triangle or for bands does not look."""
    if assume_a == "upper triangular":
        return np.triu(a)
    if assume_a == "lower triangular":
        return np.tril(a)
    if assume_a == "diagonal":
        return np.tril(np.triu(a))
    return np.tril(np.triu(a, -1), 1) if assume_a == "tridiagonal" else a


def unsolve_triangular_left(db, y, trans=0, lower=False, unit_diagonal=False):
    """The adjoint of `a` in `y = solve_triangular(a, b, ...)`, from that of `b`."""
    left, right = (db, y) if trans in (0, "N") else (y, db)
    if np.ndim(y) == 1:
        da = -np.expand_dims(left, -1) * np.expand_dims(right, -2)
    else:
        da = -left @ np.swapaxes(right, -1, -2)
    if lower:
        return np.tril(da, -1 if unit_diagonal else 0)
    return np.triu(da, 1 if unit_diagonal else 0)


def uncho_factor(d, factor, lower):
    """The adjoint of `a` in `factor, lower = scipy.linalg.cho_factor(a)`.

    What is beside the triangle of the factor was left there, as it is in `a`.
    """
    if lower:
        return uncholesky(np.tril(d), np.tril(factor), upper=False) + np.triu(d, 1)
    return uncholesky(np.triu(d), np.triu(factor), upper=True) + np.tril(d, -1)


def uncho_solve_left(db, y, factor, lower):
    """The adjoint of the factor in `y = cho_solve((factor, lower), b)`."""
    da = -np.reshape(db, (len(y), -1)) @ np.reshape(y, (len(y), -1)).T
    if lower:
        return np.tril((da + da.T) @ np.tril(factor))
    return np.triu(np.triu(factor) @ (da + da.T))


def unexpm(d, a):
    """The adjoint of `a` in `scipy.linalg.expm(a)` (its Frechet derivative)."""
    if np.ndim(a) == 2:
        da = scipy.linalg.expm_frechet(a.T, d, compute_expm=False)
        return da.astype(d.dtype, copy=False)
    found = [unexpm(part, matrix) for matrix, part in zip(a, d, strict=True)]
    return np.reshape(found, np.shape(a))
