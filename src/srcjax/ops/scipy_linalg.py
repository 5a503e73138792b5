"""scipy.linalg: decompositions, systems, functions of matrices.

Functions of a symmetric matrix have adjoints in the triangle that they read, as in
`srcjax.ops.linalg`; pivots are constants. What plain NumPy can say is in
`srcjax.ops.composites.scipy_linalg`.
"""

from __future__ import annotations

from typing import Any

import scipy.linalg

from srcjax.analysis.types import UNKNOWN, Array, Const, Tuple, Type, shape_of
from srcjax.ops.infer_rules import FALSE, NONE
from srcjax.ops.known import MISSING, known_value
from srcjax.ops.linalg import (
    infer_det,
    infer_solve,
    infer_square,
    linalg_dtype,
    real_dtype,
    smaller,
)
from srcjax.ops.record import adjoint, inert, operation, surely, tangent

# ruff: noqa: F821
# mypy: disable-error-code="no-redef, name-defined"
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules

ALL = Const(value="a")

#: Functions whose derivative is left out, and why. The reasons are for readers, and for
#: the test that looks for functions that nobody thought of.
NO_DERIVATIVE = {
    "bandwidth": "counts",
    "cdf2rdf": "eigenvalues in pairs: the basis is not determined by the matrix",
    "cossin": "the bases are not determined by the matrix",
    "funm": "the function is any Python code of arrays: its divided differences are "
    "not known; `expm`, `logm`, `sqrtm` and the trigonometric functions have rules",
    "hessenberg": "the basis is a product of reflections that depends on the algorithm",
    "null_space": "the basis of the null space is not determined by the matrix",
    "ordqz": "see qz",
    "orth": "only the space is determined by the matrix, not the basis",
    "qz": "see schur",
    "schur": "the order of the eigenvalues and the phases are those of the algorithm",
}


def infer_eigen(
    a: Type, b: Type = NONE, eigvals_only: Type = FALSE, **how: Type
) -> Type:
    """Values and vectors, all of them unless a subset is asked for."""
    only = known_value(eigvals_only)
    subset = [how.get("subset_by_index", NONE), how.get("subset_by_value", NONE)]
    if only is MISSING or len(shape_of(a) or (1, 1)) > 2:
        return UNKNOWN
    size = (shape_of(a) or (None,))[:1]
    found = size if subset == [NONE, NONE] else (None,)
    values = Array(dtype=real_dtype(a) if b == NONE else None, shape=found)
    if only:
        return values
    dtype = linalg_dtype(a) if b == NONE else None
    return Tuple(items=(values, Array(dtype=dtype, shape=(*size, *found))))


def infer_tridiagonal(
    d: Type, e: Type, eigvals_only: Type = FALSE, select: Type = ALL, **_: Type
) -> Type:
    matrix = Array(dtype=linalg_dtype(d, e), shape=(shape_of(d) or (None,)) * 2)
    subset = NONE if select == ALL else select
    return infer_eigen(matrix, NONE, eigvals_only, subset_by_index=subset)


def infer_lu(
    a: Type, permute_l: Type = FALSE, p_indices: Type = FALSE, **_: Type
) -> Type:
    merged, indices = known_value(permute_l), known_value(p_indices)
    shape = shape_of(a)
    if merged is MISSING or indices is MISSING or shape is None or len(shape) != 2:
        return UNKNOWN
    rows, columns = shape
    size = smaller(rows, columns)
    left = Array(dtype=linalg_dtype(a), shape=(rows, size))
    right = Array(dtype=linalg_dtype(a), shape=(size, columns))
    if merged:
        return Tuple(items=(left, right))
    order = Array(shape=(rows,) if indices else (rows, rows))
    return Tuple(items=(order, left, right))


def infer_lu_factor(a: Type, **_: Type) -> Type:
    return Tuple(items=(infer_square(a), Array(shape=(None,))))


def infer_polar(a: Type, side: Type = NONE) -> Type:
    shape = shape_of(a)
    if shape is None or len(shape) != 2:
        return UNKNOWN
    left = known_value(side) == "left"
    size = shape[:1] if left else shape[1:]
    return Tuple(items=(infer_square(a), Array(dtype=linalg_dtype(a), shape=size * 2)))


def infer_banded(l_and_u: Type, ab: Type, b: Type, **_: Type) -> Type:
    return Array(dtype=linalg_dtype(ab, b), shape=shape_of(b))


def infer_sylvester(a: Type, b: Type, q: Type) -> Type:
    return Array(dtype=linalg_dtype(a, b, q), shape=shape_of(q))


def infer_function(A: Type, **_: Type) -> Type:  # noqa: N803  (SciPy's name)
    return Array(shape=shape_of(A))  # it may be complex


def infer_cho_factor(a: Type, lower: Type = FALSE, **_: Type) -> Type:
    return Tuple(items=(infer_square(a), lower))


def infer_cho_solve(c_and_lower: Type, b: Type, **_: Type) -> Type:
    if not isinstance(c_and_lower, Tuple):
        return Array(shape=shape_of(b))
    return Array(dtype=linalg_dtype(c_and_lower.items[0], b), shape=shape_of(b))


# -- matrices and systems ------------------------------------------------------------


@adjoint(
    scipy.linalg.inv,
    signature="a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False",
    infer=infer_square,
)
def _(y, a, *, assume_a=None, lower=False):
    if surely(assume_a is None):
        d[a] = -transposed(y) @ d[y] @ transposed(y)
    else:
        d[a] = unscipy_inv(d[y], y, assume_a, lower)


@tangent(scipy.linalg.inv)
def _(y, a, *, assume_a=None, lower=False):
    d[y] = -y @ full_matrix(d[a], assume_a, lower, False) @ y


@adjoint(
    scipy.linalg.det,
    signature="a, overwrite_a=False, check_finite=True",
    infer=infer_det,
)
def _(y, a, overwrite_a=False, check_finite=True):
    d[a] = per_matrix(d[y] * y, a) * transposed(np.linalg.inv(a))


@tangent(scipy.linalg.det)
def _(y, a, overwrite_a=False, check_finite=True):
    d[y] = y * trace_of_solution(a, d[a])


@adjoint(
    scipy.linalg.solve,
    signature="a, b, lower=False, overwrite_a=False, overwrite_b=False, "
    "check_finite=True, assume_a=None, transposed=False",
    infer=infer_solve,
)
def _(
    y,
    a,
    b,
    lower=False,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    assume_a=None,
    transposed=False,
):
    d[a] = unscipy_solve(d[y], y, a, b, 0, assume_a, lower, transposed)
    d[b] = unscipy_solve(d[y], y, a, b, 1, assume_a, lower, transposed)


@tangent(scipy.linalg.solve)
def _(
    y,
    a,
    b,
    lower=False,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    assume_a=None,
    transposed=False,
):
    matrix = full_matrix(a, assume_a, lower, transposed)
    d[y] = solve_like(
        matrix,
        d[b] - matrix_times(full_matrix(d[a], assume_a, lower, transposed), y, b),
        b,
    )


@adjoint(
    scipy.linalg.cholesky,
    signature="a, lower=False, overwrite_a=False, check_finite=True",
    infer=infer_square,
)
def _(y, a, lower=False, overwrite_a=False, check_finite=True):
    d[a] = uncholesky(d[y], y, not lower)


@tangent(scipy.linalg.cholesky)
def _(y, a, lower=False, overwrite_a=False, check_finite=True):
    d[y] = cholesky_tangent(d[a], y, not lower)


@adjoint(
    scipy.linalg.solve_triangular,
    signature="a, b, trans=0, lower=False, unit_diagonal=False, "
    "overwrite_b=False, check_finite=True",
    infer=infer_solve,
)
def _(
    y,
    a,
    b,
    trans=0,
    lower=False,
    unit_diagonal=False,
    overwrite_b=False,
    check_finite=True,
):
    solution = scipy.linalg.solve_triangular(
        a,
        d[y],
        trans=1 if trans in (0, "N") else 0,
        lower=lower,
        unit_diagonal=unit_diagonal,
    )
    d[a] = unsolve_triangular_left(solution, y, trans, lower, unit_diagonal)
    d[b] = solution


@tangent(scipy.linalg.solve_triangular)
def _(
    y,
    a,
    b,
    trans=0,
    lower=False,
    unit_diagonal=False,
    overwrite_b=False,
    check_finite=True,
):
    d[y] = scipy.linalg.solve_triangular(
        a,
        d[b] - triangle_times(d[a], y, trans, lower, unit_diagonal),
        trans=trans,
        lower=lower,
        unit_diagonal=unit_diagonal,
    )


@adjoint(
    scipy.linalg.cho_factor,
    signature="a, lower=False, overwrite_a=False, check_finite=True",
    infer=infer_cho_factor,
)
def _(y, a, lower=False, overwrite_a=False, check_finite=True):
    d[a] = uncho_factor(d[y][0], y[0], y[1])


@tangent(scipy.linalg.cho_factor)
def _(y, a, lower=False, overwrite_a=False, check_finite=True):
    d[y] = (cho_factor_tangent(d[a], y[0], y[1]), 0.0)


@adjoint(
    scipy.linalg.cho_solve,
    signature="c_and_lower, b, overwrite_b=False, check_finite=True",
    infer=infer_cho_solve,
)
def _(y, c_and_lower, b, overwrite_b=False, check_finite=True):
    solution = scipy.linalg.cho_solve(c_and_lower, d[y])
    d[c_and_lower] = (
        uncho_solve_left(solution, y, c_and_lower[0], c_and_lower[1]),
        None,
    )
    d[b] = solution


@tangent(scipy.linalg.cho_solve)
def _(y, c_and_lower, b, overwrite_b=False, check_finite=True):
    d[y] = scipy.linalg.cho_solve(
        c_and_lower,
        d[b] - factors_times(d[c_and_lower][0], y, c_and_lower[0], c_and_lower[1]),
    )


@adjoint(scipy.linalg.expm, signature="a", infer=infer_square)
def _(y, a):
    d[a] = unexpm(d[y], a)


@tangent(scipy.linalg.expm)
def _(y, a):
    d[y] = unexpm(d[a], transposed(a))


for holomorphic in (
    scipy.linalg.inv,
    scipy.linalg.det,
    scipy.linalg.expm,
    scipy.linalg.solve,
    scipy.linalg.cholesky,
    scipy.linalg.cho_factor,
):
    operation(holomorphic, real_only=False)

_EIGH = (
    "a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, "
    "overwrite_b=False, type=1, check_finite=True, subset_by_index=None, "
    "subset_by_value=None, driver=None"
)

# -- eigenvalues ---------------------------------------------------------------------


@adjoint(scipy.linalg.eigh, signature=_EIGH, infer=infer_eigen)
def _(
    y,
    a,
    b=None,
    lower=True,
    eigvals_only=False,
    type=1,
    subset_by_index=None,
    subset_by_value=None,
):
    d[a], d[b] = scipy_uneigh(
        d[y],
        y,
        a,
        b,
        lower,
        eigvals_only,
        subset_by_index,
        subset_by_value,
        type,
    )


@tangent(scipy.linalg.eigh)
def _(
    y,
    a,
    b=None,
    lower=True,
    eigvals_only=False,
    type=1,
    subset_by_index=None,
    subset_by_value=None,
):
    if b is None:
        d[y] = scipy_eigh_tangent(
            d[a],
            None,
            y,
            a,
            None,
            lower,
            eigvals_only,
            subset_by_index,
            subset_by_value,
            type,
        )
    else:
        d[y] = scipy_eigh_tangent(
            d[a],
            d[b],
            y,
            a,
            b,
            lower,
            eigvals_only,
            subset_by_index,
            subset_by_value,
            type,
        )


# The signature's own `d` is the diagonal: `d[d]` is its adjoint.
@adjoint(
    scipy.linalg.eigh_tridiagonal,
    signature="d, e, eigvals_only=False, select='a', select_range=None, "
    "check_finite=True, tol=0.0, lapack_driver='auto'",
    infer=infer_tridiagonal,
)
def _(y, d, e, eigvals_only=False, select="a"):
    d[d], d[e] = uneigh_tridiagonal(d[y], y, d, e, eigvals_only, select)


@tangent(scipy.linalg.eigh_tridiagonal)
def _(y, d, e, eigvals_only=False, select="a"):
    d[y] = eigh_tridiagonal_tangent(d[d], d[e], y, d, e, eigvals_only, select)


# -- triangular factors --------------------------------------------------------------


@adjoint(
    scipy.linalg.lu,
    signature="a, permute_l=False, overwrite_a=False, check_finite=True, "
    "p_indices=False",
    infer=infer_lu,
)
def _(y, a, permute_l=False, p_indices=False):
    d[a] = scipy_unlu(d[y], y, a, permute_l, p_indices)


@tangent(scipy.linalg.lu)
def _(y, a, permute_l=False, p_indices=False):
    d[y] = scipy_lu_tangent(d[a], y, a, permute_l, p_indices)


@adjoint(
    scipy.linalg.lu_factor,
    signature="a, overwrite_a=False, check_finite=True",
    infer=infer_lu_factor,
)
def _(y, a):
    d[a] = unlu_factor(d[y], y)


@tangent(scipy.linalg.lu_factor)
def _(y, a):
    d[y] = lu_factor_tangent(d[a], y)


# -- systems -------------------------------------------------------------------------


@adjoint(
    scipy.linalg.solve_banded,
    signature="l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, "
    "check_finite=True",
    infer=infer_banded,
)
def _(y, l_and_u, ab, b):
    db = scipy.linalg.solve_banded(l_and_u[::-1], transposed_bands(l_and_u, ab), d[y])
    d[ab] = -bands_of_product(l_and_u, db, y)
    d[b] = db


@tangent(scipy.linalg.solve_banded)
def _(y, l_and_u, ab, b):
    d[y] = scipy.linalg.solve_banded(l_and_u, ab, d[b])
    d[y] = -scipy.linalg.solve_banded(l_and_u, ab, bands_times(l_and_u, d[ab], y))


@adjoint(scipy.linalg.solve_sylvester, signature="a, b, q", infer=infer_sylvester)
def _(y, a, b, q):
    dq = scipy.linalg.solve_sylvester(transposed(a), transposed(b), d[y])
    d[a] = -dq @ transposed(y)
    d[b] = -transposed(y) @ dq
    d[q] = dq


@tangent(scipy.linalg.solve_sylvester)
def _(y, a, b, q):
    d[y] = scipy.linalg.solve_sylvester(a, b, d[q] - d[a] @ y - y @ d[b])


# -- functions of matrices -----------------------------------------------------------


@adjoint(scipy.linalg.polar, signature="a, side='right'", infer=infer_polar)
def _(y, a, side="right"):
    d[a] = unpolar(d[y], y, a, side)


@tangent(scipy.linalg.polar)
def _(y, a, side="right"):
    d[y] = polar_tangent(d[a], y, a, side)


@adjoint(scipy.linalg.sqrtm, signature="A", infer=infer_function)
def _(y, A):  # noqa: N803
    turned = transposed(y)
    d[A] = real_for_real(scipy.linalg.solve_sylvester(turned, turned, d[y]), A)


@tangent(scipy.linalg.sqrtm)
def _(y, A):  # noqa: N803
    d[y] = scipy.linalg.solve_sylvester(y, y, d[A])


@adjoint(scipy.linalg.logm, signature="A", infer=infer_function)
def _(y, A):  # noqa: N803
    d[A] = real_for_real(logm_along(A.T, d[y]), A)


@tangent(scipy.linalg.logm)
def _(y, A):  # noqa: N803
    d[y] = logm_along(A, d[A])


for of_complex in (
    scipy.linalg.lu,
    scipy.linalg.lu_factor,
    scipy.linalg.eigh,
    scipy.linalg.polar,
    scipy.linalg.solve_sylvester,
    scipy.linalg.sqrtm,
    scipy.linalg.logm,
):
    operation(of_complex, real_only=False)

# -- constants -----------------------------------------------------------------------
inert(
    scipy.linalg.dft, scipy.linalg.hadamard, scipy.linalg.helmert,
    scipy.linalg.hilbert, scipy.linalg.invhilbert, scipy.linalg.invpascal,
    scipy.linalg.pascal, scipy.linalg.issymmetric, scipy.linalg.ishermitian,
    scipy.linalg.bandwidth,
)  # fmt: skip
