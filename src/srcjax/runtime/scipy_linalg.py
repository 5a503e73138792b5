"""Helpers of the rules of scipy.linalg: `d...` is an adjoint, `..._dot` a tangent."""

from __future__ import annotations

import numpy as np

try:
    import scipy
except ImportError:  # then no helper of this file is called
    scipy = None

from srcjax.runtime.basics import hermitian, symmetrised, to_triangle, whole_of_triangle
from srcjax.runtime.eigen import gaps_of_eigenvalues, of_vectors_read
from srcjax.runtime.scipy_special import real_for_real


def single_matrix(a):
    """Raises NotImplementedError for a stack of matrices."""
    if np.ndim(a) > 2:
        raise NotImplementedError(
            "the derivative of this function of scipy.linalg takes one matrix, not a "
            "stack of them: use a loop, or srcjax.vmap"
        )


def is_nothing(dv):
    """Whether no derivative flows through a part of a result: it is no matrix."""
    return dv is None or np.ndim(dv) < 2


def checked_eigh(eigvals_only, subset_by_index, subset_by_value, kind):
    """Raises NotImplementedError for what the rules of `eigh` leave out."""
    if kind != 1:
        raise NotImplementedError(f"scipy.linalg.eigh: type={kind} has no derivative")
    subset = subset_by_index is not None or subset_by_value is not None
    if subset and not eigvals_only:
        raise NotImplementedError(
            "scipy.linalg.eigh: a subset of the eigenvectors has no derivative"
        )


def scipy_uneigh(
    d, y, a, b, lower, eigvals_only, subset_by_index, subset_by_value, kind
):
    """The adjoints of `a` and `b` in `scipy.linalg.eigh(a, b)`.

    Eigenvectors that are complex do not turn by a phase, as in JAX: `v* dv` has no
    imaginary diagonal.
    """
    single_matrix(a)
    checked_eigh(eigvals_only, subset_by_index, subset_by_value, kind)
    w, v = scipy.linalg.eigh(a, b, lower=lower) if eigvals_only else y
    dw, dv = (d, None) if eigvals_only else d
    if eigvals_only and len(y) < len(w):  # a subset: where its values are
        first = np.argmin(np.abs(w - y[0]))
        dw = np.concatenate(
            [np.zeros(first), dw, np.zeros(len(w) - first - len(y))], dtype=dw.dtype
        )
    no_values = dw is None or np.ndim(dw) == 0
    dw = np.zeros_like(w) if dw is None else dw
    to_a = np.diag(dw)
    to_b = -np.diag(dw * w)
    if dv is not None and np.ndim(dv) == 2:
        turned = hermitian(v) @ np.conj(dv)
        gaps = gaps_of_eigenvalues(w)
        if no_values:
            gaps = of_vectors_read(gaps, dv.T)
        weighted = gaps * turned
        to_a = to_a + weighted
        to_b = to_b - weighted * w - np.diag(np.real(np.diag(turned))) / 2
    da = to_triangle(np.conj(v @ to_a @ hermitian(v)), not lower)
    if b is None:
        return real_for_real(da, a), None
    db = to_triangle(np.conj(v @ to_b @ hermitian(v)), not lower)
    return real_for_real(da, a), real_for_real(db, b)


def scipy_eigh_tangent(
    a_dot, b_dot, y, a, b, lower, eigvals_only, subset_by_index, subset_by_value, kind
):
    """The tangent of `scipy.linalg.eigh(a, b)`."""
    single_matrix(a)
    checked_eigh(eigvals_only, subset_by_index, subset_by_value, kind)
    w, v = scipy.linalg.eigh(a, b, lower=lower) if eigvals_only else y
    of_a = hermitian(v) @ whole_of_triangle(a_dot, not lower) @ v
    w_dot = np.real(np.diag(of_a)).copy()
    change = of_a
    norms = np.zeros_like(w)
    if b_dot is not None:
        of_b = hermitian(v) @ whole_of_triangle(b_dot, not lower) @ v
        w_dot = w_dot - w * np.real(np.diag(of_b))
        change = of_a - of_b * w
        norms = np.real(np.diag(of_b)) / 2
    if eigvals_only:
        if len(y) < len(w):
            first = np.argmin(np.abs(w - y[0]))
            w_dot = w_dot[first : first + len(y)]
        return w_dot
    return w_dot, v @ (gaps_of_eigenvalues(w) * change) - v * norms


def tridiagonal(d, e):
    """The symmetric matrix of the diagonal `d` and the one beside it, `e`."""
    return np.diag(d) + np.diag(e, 1) + np.diag(e, -1)


def uneigh_tridiagonal(dy, y, d, e, eigvals_only, select):
    """The adjoints of `d`, `e` in `scipy.linalg.eigh_tridiagonal(d, e)`."""
    if select != "a":
        raise NotImplementedError("scipy.linalg.eigh_tridiagonal: use select='a'")
    matrix = tridiagonal(d, e)
    da, _ = scipy_uneigh(dy, y, matrix, None, True, eigvals_only, None, None, 1)
    return np.diag(da).copy(), np.diag(da, -1).copy()


def eigh_tridiagonal_tangent(d_dot, e_dot, y, d, e, eigvals_only, select):
    """The tangent of `scipy.linalg.eigh_tridiagonal(d, e)`."""
    if select != "a":
        raise NotImplementedError("scipy.linalg.eigh_tridiagonal: use select='a'")
    dot = tridiagonal(d_dot, e_dot)
    matrix = tridiagonal(d, e)
    return scipy_eigh_tangent(
        dot, None, y, matrix, None, True, eigvals_only, None, None, 1
    )


# -- triangular factors -------------------------------------------------------------


def made_square(factor, size):
    """A factor L or U of a matrix that is not square, with ones on the diagonal added.

    `[B, [0, 1]] = [L, [0, 1]] @ [[U, 0], [0, 1]]` for a tall B, alike for a wide one.
    """
    single_matrix(factor)
    rows, columns = factor.shape
    ones = np.arange(size) >= min(rows, columns)
    padded = np.pad(factor, ((0, size - rows), (0, size - columns)))
    return padded + np.diag(ones.astype(factor.dtype))


def unlu(dl, du, lower, upper):
    """The adjoint of the matrix `lower @ upper`, with its rows in pivot order."""
    size = max(lower.shape[0], upper.shape[1])
    left, right = made_square(lower, size), made_square(upper, size)
    dl = np.pad(dl, ((0, size - lower.shape[0]), (0, size - lower.shape[1])))
    du = np.pad(du, ((0, size - upper.shape[0]), (0, size - upper.shape[1])))
    inner = np.tril(left.T @ dl, -1) + np.triu(du @ right.T)
    half = scipy.linalg.solve_triangular(right, inner.T, lower=False).T
    total = scipy.linalg.solve_triangular(
        left, half, trans=1, lower=True, unit_diagonal=True
    )
    return total[: lower.shape[0], : upper.shape[1]]


def lu_tangents(dot, lower, upper):
    """The tangents of `lower` and `upper`, from that of the matrix in pivot order."""
    size = max(lower.shape[0], upper.shape[1])
    left, right = made_square(lower, size), made_square(upper, size)
    dot = np.pad(dot, ((0, size - dot.shape[0]), (0, size - dot.shape[1])))
    half = scipy.linalg.solve_triangular(right, dot.T, trans=1, lower=False).T
    middle = scipy.linalg.solve_triangular(left, half, lower=True, unit_diagonal=True)
    l_dot, u_dot = left @ np.tril(middle, -1), np.triu(middle) @ right
    rows, columns = upper.shape
    return l_dot[: lower.shape[0], : lower.shape[1]], u_dot[:rows, :columns]


def pivot_order(y, a, permute_l, p_indices):
    """The row of `lower @ upper` that each row of `a` is, from a result of `lu`."""
    single_matrix(a)
    if permute_l:
        return scipy.linalg.lu(a, p_indices=True)[0]
    return y[0] if p_indices else np.argmax(y[0], axis=1)


def scipy_unlu(d, y, a, permute_l, p_indices):
    """The adjoint of `a` in `scipy.linalg.lu(a)`."""
    rows = pivot_order(y, a, permute_l, p_indices)
    if permute_l:
        (dl, du), (lower, upper) = d, y
        order = np.argsort(rows)
        dl = np.zeros_like(lower) if is_nothing(dl) else dl
        du = np.zeros_like(upper) if is_nothing(du) else du
        return unlu(dl[order], du, lower[order], upper)[rows]
    (_, dl, du), (_, lower, upper) = d, y
    dl = np.zeros_like(lower) if is_nothing(dl) else dl
    du = np.zeros_like(upper) if is_nothing(du) else du
    return unlu(dl, du, lower, upper)[rows]


def scipy_lu_tangent(dot, y, a, permute_l, p_indices):
    """The tangent of `scipy.linalg.lu(a)`."""
    rows = pivot_order(y, a, permute_l, p_indices)
    order = np.argsort(rows)
    if permute_l:
        lower, upper = y
        l_dot, u_dot = lu_tangents(dot[order], lower[order], upper)
        return l_dot[rows], u_dot
    p, lower, upper = y
    l_dot, u_dot = lu_tangents(dot[order], lower, upper)
    return np.zeros_like(p), l_dot, u_dot


def pivoted_rows(piv, size):
    """The order of rows after the swaps that `piv` of `lu_factor` tells."""
    rows = np.arange(size)
    for i, p in enumerate(piv):
        kept = int(rows[i])
        rows[i] = rows[p]
        rows[p] = kept
    return rows


def unpacked_lu(lu):
    """The factors that `lu_factor` packs into one matrix."""
    single_matrix(lu)
    size = min(lu.shape)
    lower = np.tril(lu[:, :size], -1) + np.eye(lu.shape[0], size, dtype=lu.dtype)
    return lower, np.triu(lu[:size])


def unlu_factor(d, y):
    """The adjoint of `a` in `scipy.linalg.lu_factor(a)`."""
    lu, piv = y
    lower, upper = unpacked_lu(lu)
    size = min(lu.shape)
    inner = unlu(np.tril(d[0][:, :size], -1), np.triu(d[0][:size]), lower, upper)
    return inner[np.argsort(pivoted_rows(piv, lu.shape[0]))]


def lu_factor_tangent(dot, y):
    """The tangent of `scipy.linalg.lu_factor(a)`."""
    lu, piv = y
    lower, upper = unpacked_lu(lu)
    l_dot, u_dot = lu_tangents(dot[pivoted_rows(piv, lu.shape[0])], lower, upper)
    rows, columns = lu.shape
    l_dot = np.pad(l_dot, ((0, 0), (0, columns - lower.shape[1])))
    return l_dot + np.pad(u_dot, ((0, rows - upper.shape[0]), (0, 0))), np.zeros_like(
        piv
    )


# -- bands --------------------------------------------------------------------------


def transposed_bands(l_and_u, ab):
    """The transpose of a matrix in the storage of `scipy.linalg.solve_banded`."""
    single_matrix(ab)
    below, above = l_and_u
    size = ab.shape[1]
    rows = []
    for row in range(above + below + 1):  # the diagonal `above - row` of the matrix
        shift = above - row
        zeros = np.zeros(min(abs(shift), size), ab.dtype)
        source = ab[row]
        if shift >= 0:
            rows.append(np.concatenate([source[shift:], zeros]))
        else:
            rows.append(np.concatenate([zeros, source[:shift]]))
    return np.stack(rows[::-1])


def bands_of_product(l_and_u, x, y):
    """The entries within the bands of `x @ y.T`, in their storage."""
    below, above = l_and_u
    size = len(x)
    x, y = np.reshape(x, (size, -1)), np.reshape(y, (size, -1))
    rows = []
    for row in range(above + below + 1):
        shift = above - row
        zeros = np.zeros(min(abs(shift), size), x.dtype)
        if shift >= 0:
            diagonal = np.sum(x[: size - shift] * y[shift:], axis=1)
            rows.append(np.concatenate([zeros, diagonal]))
        else:
            diagonal = np.sum(x[-shift:] * y[:shift], axis=1)
            rows.append(np.concatenate([diagonal, zeros]))
    return np.stack(rows)


def bands_times(l_and_u, ab, x):
    """The matrix with these bands times `x`."""
    single_matrix(ab)
    below, above = l_and_u
    size = len(x)
    columns = np.reshape(x, (size, -1))
    total = np.zeros_like(columns)
    for row in range(above + below + 1):
        shift = above - row
        if shift >= 0:
            part = ab[row, shift:, None] * columns[shift:]
            total = total + np.pad(part, ((0, size - len(part)), (0, 0)))
        else:
            part = ab[row, :shift, None] * columns[:shift]
            total = total + np.pad(part, ((size - len(part), 0), (0, 0)))
    return np.reshape(total, np.shape(x))


# -- functions of matrices ----------------------------------------------------------


def unpolar(d, y, a, side):
    """The adjoint of `a` in `u, p = scipy.linalg.polar(a, side)`."""
    single_matrix(a)
    if side == "left":
        turned = y[0].T, y[1].T
        seeds = tuple(None if is_nothing(v) else v.T for v in d)
        return unpolar(seeds, turned, a.T, "right").T
    u, p = y
    if u.shape[0] < u.shape[1]:
        raise NotImplementedError(
            "scipy.linalg.polar: p is singular, use the other side"
        )
    weight = np.zeros_like(u)
    if not is_nothing(d[0]):
        weight = np.linalg.solve(p.T, np.conj(d[0]).T).T
    inner = -symmetrised(hermitian(u) @ weight)
    if not is_nothing(d[1]):
        inner = inner + symmetrised(np.conj(d[1]))
    return np.conj(weight + 2 * a @ scipy.linalg.solve_sylvester(p, p, inner))


def polar_tangent(dot, y, a, side):
    """The tangent of `u, p = scipy.linalg.polar(a, side)`."""
    single_matrix(a)
    if side == "left":
        u_dot, p_dot = polar_tangent(dot.T, (y[0].T, y[1].T), a.T, "right")
        return u_dot.T, p_dot.T
    u, p = y
    if u.shape[0] < u.shape[1]:
        raise NotImplementedError(
            "scipy.linalg.polar: p is singular, use the other side"
        )
    half = hermitian(a) @ dot
    p_dot = scipy.linalg.solve_sylvester(p, p, half + hermitian(half))
    return np.linalg.solve(p.T, (dot - u @ p_dot).T).T, p_dot


def logm_along(a, e):
    """The derivative of `scipy.linalg.logm` at `a` along `e` (Higham, 2008, 3.2)."""
    single_matrix(a)
    n = a.shape[0]
    upper = np.concatenate([a, e], axis=1)
    lower = np.concatenate([np.zeros_like(a), a], axis=1)
    return scipy.linalg.logm(np.concatenate([upper, lower]))[:n, n:]


def turned(m):
    """The transpose of a matrix or an operator, and None of None."""
    return None if m is None else m.T
