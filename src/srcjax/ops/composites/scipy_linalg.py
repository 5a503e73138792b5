"""Functions of scipy.linalg that plain NumPy can say: structured matrices, and more.

Imported when a function of scipy.linalg without a rule is first looked up.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from srcjax.ops.record import composite, for_complex

# -- structured matrices ------------------------------------------------------------


@composite(scipy.linalg.toeplitz, real_only=False)
def toeplitz(c, r=None):
    """Entry `[i, j]` is `c[i - j]`, above the diagonal `r[j - i]`."""
    row = np.conj(c) if r is None else r
    if np.ndim(c) != 1 or np.ndim(row) != 1:
        raise NotImplementedError("anything but vectors")
    values = np.concatenate([row[:0:-1], c])
    return values[np.arange(len(c))[:, None] - np.arange(len(row)) + len(row) - 1]


@composite(scipy.linalg.hankel, real_only=False)
def hankel(c, r=None):
    """Entry `[i, j]` is `c[i + j]`, then on into `r`."""
    if np.ndim(c) != 1:
        raise NotImplementedError("anything but vectors")
    row = np.zeros_like(c) if r is None else r
    values = np.concatenate([c, row[1:]])
    return values[np.arange(len(c))[:, None] + np.arange(len(row))]


@composite(scipy.linalg.circulant, real_only=False)
def circulant(c):
    """Column `j` is `c`, rolled by `j`."""
    if np.ndim(c) != 1:
        raise NotImplementedError("anything but a vector")
    places = np.arange(len(c))
    return c[(places[:, None] - places) % len(c)]


@composite(scipy.linalg.companion)
def companion(a):
    if np.ndim(a) != 1:
        raise NotImplementedError("anything but a vector")
    size = len(a) - 1
    return np.concatenate([-a[None, 1:] / a[0], np.eye(size - 1, size)])


@composite(scipy.linalg.fiedler)
def fiedler(a):
    if np.ndim(a) != 1:
        raise NotImplementedError("anything but a vector")
    return np.abs(a[:, None] - a)


@composite(scipy.linalg.fiedler_companion)
def fiedler_companion(a):
    if np.ndim(a) != 1 or len(a) < 4:
        raise NotImplementedError("anything but a vector of four coefficients or more")
    n = len(a) - 1
    a = a / a[0]
    c = np.zeros((n, n))
    c[np.arange(3, n, 2), np.arange(1, n - 2, 2)] = 1
    c[np.arange(2, n, 2), np.arange(1, n - 1, 2)] = -a[3::2]
    c[np.arange(0, n - 2, 2), np.arange(2, n, 2)] = 1
    c[np.arange(0, n - 1, 2), np.arange(1, n, 2)] = -a[2::2]
    c[0, 0] = -a[1]
    c[1, 0] = 1
    return c


@composite(scipy.linalg.leslie)
def leslie(f, s):
    """The first row is `f`, the diagonal below the main one is `s`."""
    if np.ndim(f) != 1 or np.ndim(s) != 1:
        raise NotImplementedError("anything but vectors")
    below = np.concatenate([np.diag(s), np.zeros((len(s), 1))], axis=1)
    return np.concatenate([f[None], below])


@composite(scipy.linalg.convolution_matrix, real_only=False)
def convolution_matrix(a, n, mode="full"):
    """The matrix whose product with `v` of length `n` is `np.convolve(a, v, mode)`."""
    if np.ndim(a) != 1:
        raise NotImplementedError("anything but a vector")
    rows = len(a) + n - 1
    padded = np.concatenate([np.zeros(n - 1), a, np.zeros(n - 1)])
    matrix = padded[np.arange(rows)[:, None] - np.arange(n) + n - 1]
    if mode == "full":
        return matrix
    extra = min(n, len(a)) - 1
    if mode == "valid":
        return matrix[extra : rows - extra]
    return matrix[extra // 2 : rows - extra + extra // 2]


@composite(scipy.linalg.block_diag, real_only=False)
def block_diag(*arrs):
    columns = sum([np.atleast_2d(a).shape[1] for a in arrs])
    left = 0
    rows = []
    for a in arrs:
        block = np.atleast_2d(a)
        if block.ndim > 2:
            raise NotImplementedError("stacks of matrices")
        right = columns - left - block.shape[1]
        rows.append(np.pad(block, ((0, 0), (left, right))))
        left += block.shape[1]
    return np.concatenate(rows)


@composite(scipy.linalg.khatri_rao, real_only=False)
def khatri_rao(a, b):
    """The Kronecker products of the columns."""
    product = a[:, None, :] * b[None, :, :]
    return np.reshape(product, (-1, a.shape[1]))


# -- decompositions that NumPy has --------------------------------------------------


@composite(scipy.linalg.svd, real_only=False)
def svd(
    a,
    full_matrices=True,
    compute_uv=True,
    overwrite_a=False,
    check_finite=True,
    lapack_driver="gesdd",
):
    if lapack_driver != "gesdd":
        raise NotImplementedError("another `lapack_driver`: the signs differ")
    if not compute_uv:
        return np.linalg.svdvals(a)
    u, s, vh = np.linalg.svd(a, full_matrices)
    return u, s, vh


@composite(scipy.linalg.svdvals, real_only=False)
def svdvals(a, overwrite_a=False, check_finite=True):
    return np.linalg.svdvals(a)


@composite(scipy.linalg.qr, real_only=False)
def qr(
    a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True
):
    if pivoting or mode == "raw":
        raise NotImplementedError("`pivoting`, or the mode 'raw'")
    if mode == "economic" or a.shape[-2] <= a.shape[-1]:
        q, r = np.linalg.qr(a)
    elif mode == "full":
        q, r = np.linalg.qr(a, mode="complete")
    else:
        q, r = np.linalg.qr(a)
        r = np.concatenate([r, np.zeros_like(a[..., a.shape[-1] :, :])], axis=-2)
    if mode == "r":
        return (r,)
    return q, r


@composite(scipy.linalg.qr_multiply)
def qr_multiply(
    a,
    c,
    mode="right",
    pivoting=False,
    conjugate=False,
    overwrite_a=False,
    overwrite_c=False,
):
    if pivoting or conjugate:
        raise NotImplementedError("`pivoting` or `conjugate`")
    q, r = np.linalg.qr(a)
    return (c @ q if mode == "right" else q @ c), r


@composite(scipy.linalg.eigvalsh, real_only=False)
def eigvalsh(
    a,
    b=None,
    *,
    lower=True,
    overwrite_a=False,
    overwrite_b=False,
    type=1,
    check_finite=True,
    subset_by_index=None,
    subset_by_value=None,
    driver=None,
):
    return scipy.linalg.eigh(
        a,
        b,
        lower=lower,
        eigvals_only=True,
        type=type,
        subset_by_index=subset_by_index,
        subset_by_value=subset_by_value,
    )


@composite(scipy.linalg.norm, real_only=False)
def norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    return np.linalg.norm(a, ord, axis, keepdims)


@composite(scipy.linalg.pinv, real_only=False)
def pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    if atol is not None or rtol is not None or return_rank:
        raise NotImplementedError("`atol`, `rtol` or `return_rank`")
    return np.linalg.pinv(a)


@composite(scipy.linalg.pinvh, real_only=False)
def pinvh(a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    if atol is not None or return_rank:
        raise NotImplementedError("`atol` or `return_rank`")
    read = a if lower else np.conj(np.swapaxes(a, -1, -2))
    cutoff = a.shape[-1] * np.finfo(a.dtype).eps if rtol is None else rtol
    return np.linalg.pinv(read, cutoff, hermitian=True)


@composite(scipy.linalg.rsf2csf, real_only=False)
def rsf2csf(T, Z, check_finite=True):  # noqa: N803
    """A rotation for each pair of eigenvalues, from the last row up."""
    dtype = np.result_type(T, Z, np.complex64)
    t, z = T.astype(dtype), Z.astype(dtype)
    for m in range(len(t) - 1, 0, -1):
        corner, below = t[m, m], np.abs(t[m, m - 1])
        if below > np.spacing(1.0) * (np.abs(t[m - 1, m - 1]) + np.abs(corner)):
            mu = np.linalg.eigvals(t[m - 1 : m + 1, m - 1 : m + 1])[0] - corner
            r = np.sqrt(np.abs(mu) ** 2 + below**2)
            c, s = mu / r, t[m, m - 1] / r
            turn = np.array([[np.conj(c), s], [-s, c]])
            back = np.conj(turn.T)
            t[m - 1 : m + 1, m - 1 :] = turn @ t[m - 1 : m + 1, m - 1 :]
            t[: m + 1, m - 1 : m + 1] = t[: m + 1, m - 1 : m + 1] @ back
            z[:, m - 1 : m + 1] = z[:, m - 1 : m + 1] @ back
        t[m, m - 1] = 0.0
    return t, z


# -- systems ------------------------------------------------------------------------


def pivoted_rows(piv, size):
    """The order of rows after the swaps that `piv` of `lu_factor` tells."""
    rows = np.arange(size)
    for i, p in enumerate(piv):
        kept = int(rows[i])
        rows[i] = rows[p]
        rows[p] = kept
    return rows


@for_complex(scipy.linalg.solve_triangular)
def solve_triangular(
    a,
    b,
    trans=0,
    lower=False,
    unit_diagonal=False,
    overwrite_b=False,
    check_finite=True,
):
    """By the triangle as a full matrix."""
    triangle = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        triangle = triangle - np.diag(np.diag(a)) + np.eye(len(a))
    if trans in (1, "T"):
        triangle = triangle.T
    if trans in (2, "C"):
        triangle = np.conj(triangle.T)
    return np.linalg.solve(triangle, b)


@for_complex(scipy.linalg.cho_solve)
def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """By both triangles."""
    c, lower = c_and_lower
    triangle = np.tril(c) if lower else np.conj(np.triu(c).T)
    return np.linalg.solve(np.conj(triangle.T), np.linalg.solve(triangle, b))


@composite(scipy.linalg.lu_solve, real_only=False)
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    lu, piv = lu_and_piv
    if lu.ndim > 2:
        raise NotImplementedError("stacks of matrices")
    rows = pivoted_rows(piv, len(b))
    if trans == 0:
        half = scipy.linalg.solve_triangular(
            lu, b[rows], lower=True, unit_diagonal=True
        )
        return scipy.linalg.solve_triangular(lu, half)
    half = scipy.linalg.solve_triangular(lu, b, trans=trans)
    x = scipy.linalg.solve_triangular(
        lu, half, trans=trans, lower=True, unit_diagonal=True
    )
    return x[np.argsort(rows)]


@composite(scipy.linalg.solve_toeplitz)
def solve_toeplitz(c_or_cr, b, check_finite=True):
    """By the full matrix: the derivative costs more than SciPy's own recursion."""
    if isinstance(c_or_cr, tuple):
        return np.linalg.solve(toeplitz(c_or_cr[0], c_or_cr[1]), b)
    return np.linalg.solve(toeplitz(c_or_cr), b)


@composite(scipy.linalg.matmul_toeplitz)
def matmul_toeplitz(c_or_cr, x, check_finite=False, workers=None):
    if isinstance(c_or_cr, tuple):
        return toeplitz(c_or_cr[0], c_or_cr[1]) @ x
    return toeplitz(c_or_cr) @ x


@composite(scipy.linalg.solve_continuous_lyapunov)
def solve_continuous_lyapunov(a, q):
    return scipy.linalg.solve_sylvester(a, np.conj(a.T), q)


# -- functions of matrices ----------------------------------------------------------


def two_by_two(a, b, c, e):
    """The matrix of four blocks."""
    upper, lower = np.concatenate([a, b], axis=1), np.concatenate([c, e], axis=1)
    return np.concatenate([upper, lower])


@composite(scipy.linalg.expm_frechet, real_only=False)
def expm_frechet(A, E, method=None, compute_expm=True, check_finite=True):  # noqa: N803
    """The derivative of expm along `E` is a block of the expm of a matrix of blocks."""
    n = A.shape[0]
    both = scipy.linalg.expm(two_by_two(A, E, np.zeros((n, n)), A))
    if compute_expm:
        return both[:n, :n], both[:n, n:]
    return both[:n, n:]


@composite(scipy.linalg.cosm)
def cosm(A):  # noqa: N803
    """A block of the expm of a rotation."""
    n = A.shape[0]
    zero = np.zeros((n, n))
    return scipy.linalg.expm(two_by_two(zero, -A, A, zero))[:n, :n]


@composite(scipy.linalg.sinm)
def sinm(A):  # noqa: N803
    n = A.shape[0]
    zero = np.zeros((n, n))
    return scipy.linalg.expm(two_by_two(zero, -A, A, zero))[n:, :n]


@composite(scipy.linalg.tanm)
def tanm(A):  # noqa: N803
    return np.linalg.solve(cosm(A), sinm(A))


@composite(scipy.linalg.coshm)
def coshm(A):  # noqa: N803
    return (scipy.linalg.expm(A) + scipy.linalg.expm(-A)) / 2


@composite(scipy.linalg.sinhm)
def sinhm(A):  # noqa: N803
    return (scipy.linalg.expm(A) - scipy.linalg.expm(-A)) / 2


@composite(scipy.linalg.tanhm)
def tanhm(A):  # noqa: N803
    return np.linalg.solve(coshm(A), sinhm(A))
