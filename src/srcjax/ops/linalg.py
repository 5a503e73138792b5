"""Linear algebra: np.linalg.

Functions that read one triangle of a symmetric matrix (cholesky, eigh) have adjoints
in that triangle: the derivative of what they compute, along any change of the matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dim,
    Shape,
    Tuple,
    Type,
    broadcast_shapes,
    shape_of,
    suppose_contracted,
    supposed_order,
    supposed_same,
)
from srcjax.ops.known import MISSING, known_value
from srcjax.ops.products import number_or_array, product_dtype
from srcjax.ops.record import adjoint, inert, operation, surely, tangent

# ruff: noqa: F821
# mypy: disable-error-code="no-redef, name-defined"
d: Any  # adjoints by name, in the text of rules

FALSE, TRUE = Const(value=False), Const(value=True)
REDUCED = Const(value="reduced")
REAL = {"F": np.dtype(np.float32), "D": np.dtype(float)}

# -- types --------------------------------------------------------------------------


def linalg_dtype(*types: Type) -> np.dtype | None:
    """The dtype of solutions: single or double precision."""
    dtype = product_dtype(*types)
    if dtype is None or dtype.char in "fFdD":
        return dtype
    return np.dtype(float) if dtype.kind in "biu" else None


def real_dtype(*types: Type) -> np.dtype | None:
    """The dtype of real results (singular values, log determinants)."""
    dtype = linalg_dtype(*types)
    return dtype if dtype is None else REAL.get(dtype.char, dtype)


def infer_square(a: Type, **_: Type) -> Type:
    shape = shape_of(a)
    if shape is not None and len(shape) > 1:
        side = supposed_same(shape[-2], shape[-1])
        shape = shape if side is None else (*shape[:-2], side, side)
    return Array(dtype=linalg_dtype(a), shape=shape)


def infer_det(a: Type, **_: Type) -> Type:
    shape = shape_of(a)
    return number_or_array(linalg_dtype(a), None if shape is None else shape[:-2])


def infer_slogdet(a: Type) -> Type:
    shape = shape_of(a)
    batch = None if shape is None else shape[:-2]
    sign = number_or_array(linalg_dtype(a), batch)
    logdet = number_or_array(real_dtype(a), batch)
    return Tuple(items=(sign, logdet), cls=type(np.linalg.slogdet(np.eye(1))))


def infer_solve(a: Type, b: Type, **_: Type) -> Type:
    dtype, m, n = linalg_dtype(a, b), shape_of(a), shape_of(b)
    if not m or not n:
        return Array(dtype=dtype)
    suppose_contracted(m, n)
    if len(n) == 1:
        return Array(dtype=dtype, shape=m[:-1])
    batch = broadcast_shapes(m[:-2], n[:-2])
    return Array(dtype=dtype, shape=None if batch is None else batch + n[-2:])


def infer_pinv(a: Type, **_: Type) -> Type:
    shape = shape_of(a)
    turned = None if shape is None else (*shape[:-2], shape[-1], shape[-2])
    return Array(dtype=linalg_dtype(a), shape=turned)


def infer_eigh(a: Type, **_: Type) -> Type:
    shape = shape_of(a)
    values = Array(dtype=real_dtype(a), shape=None if shape is None else shape[:-1])
    vectors = Array(dtype=linalg_dtype(a), shape=shape)
    cls = type(np.linalg.eigh(np.eye(1)))
    return Tuple(items=(values, vectors), cls=cls)


def infer_eigvalsh(a: Type, **_: Type) -> Type:
    shape = shape_of(a)
    return Array(dtype=real_dtype(a), shape=None if shape is None else shape[:-1])


def smaller(m: Dim, n: Dim) -> Dim:
    """The smaller of two sizes; which one that is, is supposed."""
    outcome = supposed_order(m, n)
    if outcome is None:
        return None
    return n if outcome else m


def infer_svd(
    a: Type,
    full_matrices: Type = TRUE,
    compute_uv: Type = TRUE,
    hermitian: Type = FALSE,
) -> Type:
    shape, vectors = shape_of(a), known_value(compute_uv)
    full = known_value(full_matrices)
    if vectors is MISSING or full is MISSING:
        return UNKNOWN
    small: Shape | None = None
    if shape is not None:
        small = (*shape[:-2], smaller(shape[-2], shape[-1]))
    s = Array(dtype=real_dtype(a), shape=small)
    if not vectors:
        return s
    left: Shape | None = None
    right: Shape | None = None
    if shape is not None and small is not None:
        m, n, k = shape[-2], shape[-1], small[-1]
        left = (*shape[:-1], m if full else k)
        right = (*shape[:-2], n if full else k, n)
    u = Array(dtype=linalg_dtype(a), shape=left)
    vh = Array(dtype=linalg_dtype(a), shape=right)
    return Tuple(items=(u, s, vh), cls=type(np.linalg.svd(np.eye(1))))


def infer_svdvals(a: Type) -> Type:
    return infer_svd(a, compute_uv=FALSE)


def infer_qr(a: Type, mode: Type = REDUCED) -> Type:
    shape, kind = shape_of(a), known_value(mode)
    if kind not in ("reduced", "complete"):
        return UNKNOWN
    left: Shape | None = None
    right: Shape | None = None
    if shape is not None:
        m, n = shape[-2:]
        k = smaller(m, n) if kind == "reduced" else m
        left, right = (*shape[:-1], k), (*shape[:-2], k, n)
    dtype = linalg_dtype(a)
    items = (Array(dtype=dtype, shape=left), Array(dtype=dtype, shape=right))
    return Tuple(items=items, cls=type(np.linalg.qr(np.eye(1))))


def infer_lstsq(a: Type, b: Type, **_: Type) -> Type:
    dtype, m, n = linalg_dtype(a, b), shape_of(a), shape_of(b)
    real = real_dtype(a, b)
    solution: Shape | None = None if not m or not n else (m[-1], *n[1:])
    small = (smaller(m[0], m[1]),) if m else (None,)
    return Tuple(
        items=(
            Array(dtype=dtype, shape=solution),
            Array(dtype=real, shape=(None,)),
            UNKNOWN,  # the rank
            Array(dtype=real, shape=small),
        )
    )


# -- numpy.linalg -------------------------------------------------------------------


@adjoint(
    np.linalg.inv,
    infer=infer_square,
    says="inverse: `d(inv(A)) = -inv(A) @ d(A) @ inv(A)`",
)
def _(y, a):
    d[a] = -transposed(y) @ d[y] @ transposed(y)


@tangent(np.linalg.inv)
def _(y, a):
    d[y] = -y @ d[a] @ y


@adjoint(
    np.linalg.det,
    infer=infer_det,
    says="determinant: `d(det(A)) = det(A) * trace(inv(A) @ d(A))`",
)
def _(y, a):
    d[a] = per_matrix(d[y] * y, a) * transposed(np.linalg.inv(a))


@tangent(np.linalg.det)
def _(y, a):
    d[y] = y * trace_of_solution(a, d[a])


@adjoint(
    np.linalg.slogdet,
    infer=infer_slogdet,
    says="log-determinant: `d(logdet(A)) = trace(inv(A) @ d(A))`",
)
def _(y, a):
    d[a] = per_matrix(slogdet_slope(d[y][1], d[y][0], y[0], a), a) * transposed(
        np.linalg.inv(a)
    )


@tangent(np.linalg.slogdet)
def _(y, a):
    d[y] = slogdet_tangent(trace_of_solution(a, d[a]), y[0])


@adjoint(
    np.linalg.solve,
    infer=infer_solve,
    says={
        "a": "linear system: `A @ x = b` gives `d[A] = -d[b] @ x.T`",
        "b": "linear system: `A @ x = b` gives `A.T @ d[b] = d[x]`",
        "y": "linear system: `A @ x = b` gives `A @ d(x) = d(b) - d(A) @ x`",
    },
)
def _(y, a, b):
    if surely(np.ndim(a) == 2 and np.ndim(b) == 1):
        solution = np.linalg.solve(a.T, d[y])
        d[b] = solution
        d[a] = -np.outer(solution, y)
    elif surely(np.ndim(a) == 2 and np.ndim(b) == 2):
        solution = np.linalg.solve(a.T, d[y])
        d[b] = solution
        d[a] = -solution @ y.T
    else:
        d[a] = unsolve_left(d[y], y, a, b)
        d[b] = unsolve_right(d[y], a, b)


@tangent(np.linalg.solve)
def _(y, a, b):
    d[y] = solve_like(a, d[b] - matrix_times(d[a], y, b), b)


@adjoint(
    np.linalg.cholesky,
    signature="a, *, upper=False",
    infer=infer_square,
    says="Cholesky factor: from `A = L @ L.T`, `d(A) = d(L) @ L.T + L @ d(L).T`",
)
def _(y, a, *, upper=False):
    # Murray, Differentiation of the Cholesky decomposition (2016), equation 10.
    if surely(np.ndim(y) == 2 and not upper and not np.iscomplexobj(y)):
        lower = np.tril(y.T @ d[y])
        symmetric = lower + np.tril(lower, -1).T
        whole = 0.5 * np.linalg.solve(y.T, np.linalg.solve(y.T, symmetric).T)
        d[a] = np.tril(whole) + np.tril(whole, -1)
    else:
        d[a] = uncholesky(d[y], y, upper)


@tangent(np.linalg.cholesky)
def _(y, a, *, upper=False):
    d[y] = cholesky_tangent(d[a], y, upper)


@adjoint(np.linalg.pinv, signature="a, rcond=None, hermitian=False", infer=infer_pinv)
def _(y, a, rcond=None, hermitian=False):
    d[a] = unpinv(d[y], y, a, hermitian)


@tangent(np.linalg.pinv)
def _(y, a, rcond=None, hermitian=False):
    d[y] = pinv_tangent(d[a], y, a, hermitian)


@adjoint(
    np.linalg.eigh,
    infer=infer_eigh,
    says="eigenvalues: `d(w) = v.T @ d(A) @ v`; vectors turn by `1 / (w[i] - w[j])`",
)
def _(y, a, UPLO="L"):
    d[a] = uneigh(d[y], y, UPLO)


@tangent(np.linalg.eigh)
def _(y, a, UPLO="L"):
    d[y] = eigh_tangent(d[a], y, UPLO)


@adjoint(
    np.linalg.eigvalsh,
    infer=infer_eigvalsh,
    says="eigenvalues: `d(w) = v.T @ d(A) @ v`",
)
def _(y, a, UPLO="L"):
    d[a] = uneigvalsh(d[y], a, UPLO)


@tangent(np.linalg.eigvalsh)
def _(y, a, UPLO="L"):
    d[y] = eigvalsh_tangent(d[a], a, UPLO)


@adjoint(np.linalg.svd, infer=infer_svd)
def _(y, a, full_matrices=True, compute_uv=True, hermitian=False):
    d[a] = unsvd(d[y], y, a, hermitian)


@tangent(np.linalg.svd)
def _(y, a, full_matrices=True, compute_uv=True, hermitian=False):
    d[y] = svd_tangent(d[a], y, a, hermitian)


@adjoint(np.linalg.svdvals, infer=infer_svdvals)
def _(y, a):
    d[a] = unsvdvals(d[y], a)


@tangent(np.linalg.svdvals)
def _(y, a):
    d[y] = svdvals_tangent(d[a], a)


@adjoint(np.linalg.qr, infer=infer_qr)
def _(y, a, mode="reduced"):
    # Walter and Lehmann, Algorithmic differentiation of linear algebra (2018).
    if surely(
        mode == "reduced"
        and np.ndim(a) == 2
        and np.shape(a)[0] >= np.shape(a)[1]
        and np.ndim(d[y][0]) == np.ndim(d[y][1]) == 2
        and not np.iscomplexobj(a)
    ):
        inner = y[1] @ d[y][1].T - d[y][0].T @ y[0]
        symmetric = np.tril(inner) + np.tril(inner, -1).T
        d[a] = np.linalg.solve(y[1], (d[y][0] + y[0] @ symmetric).T).T
    else:
        d[a] = unqr(d[y], y, a, mode)


@tangent(np.linalg.qr)
def _(y, a, mode="reduced"):
    d[y] = qr_tangent(d[a], y, mode)


@adjoint(
    np.linalg.lstsq, infer=infer_lstsq, says="least squares: from the normal equations"
)
def _(y, a, b, rcond=None):
    d[a] = unlstsq_left(d[y], y, a, b)
    d[b] = unlstsq_right(d[y], y, a, b)


@tangent(np.linalg.lstsq)
def _(y, a, b, rcond=None):
    d[y] = lstsq_tangent(d[a], d[b], y, a, b)


operation(np.linalg.lstsq, real_only=True)
inert(np.linalg.matrix_rank)
