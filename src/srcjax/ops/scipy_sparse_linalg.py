"""scipy.sparse.linalg: systems that are solved step by step.

A solution has the derivatives of the equation that it solves, found by the same solver
with the same tolerance (the implicit function theorem): no derivative goes through its
steps. A sparse matrix, or a `LinearOperator`, is constant; a dense one need not be.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse.linalg

from srcjax.analysis.types import UNKNOWN, Array, Scalar, Tuple, Type, shape_of
from srcjax.ops.linalg import linalg_dtype
from srcjax.ops.record import adjoint, surely, tangent

# ruff: noqa: F821, N803
# mypy: disable-error-code="no-redef, name-defined"
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules

SAYS = {
    "A": "linear system: `A @ x = b` gives `d[A] = -d[b] @ x.T`",
    "b": "linear system: `A @ x = b` gives `A.T @ d[b] = d[x]`",
    "y": "linear system: `A @ x = b` gives `A @ d(x) = d(b) - d(A) @ x`",
}
#: What a solution does not depend on, but for what is left of the residual.
CONSTANT = ("x0", "rtol", "atol", "maxiter", "M", "callback")
OBJECTS = ("A", "M")
SIGNATURE = (
    "A, b, x0=None, *, rtol=1e-05, atol=0.0, maxiter=None, M=None, callback=None"
)
GMRES = (
    "A, b, x0=None, *, rtol=1e-05, atol=0.0, restart=None, maxiter=None, M=None, "
    "callback=None, callback_type=None"
)


def infer_iterated(A: Type, b: Type, **_: Type) -> Type:
    """The solution, and how it ended."""
    shape = shape_of(b)
    if shape is None or len(shape) != 1:
        return UNKNOWN
    dtype = linalg_dtype(A, b) if isinstance(A, Array) else None
    solution = Array(dtype=dtype, shape=shape)
    return Tuple(items=(solution, Scalar(dtype=np.dtype(int), python=True)))


@adjoint(
    scipy.sparse.linalg.cg,
    signature=SIGNATURE,
    infer=infer_iterated,
    says=SAYS,
    constant=CONSTANT,
    objects=OBJECTS,
)
def _(y, A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None):
    # The matrix is symmetric.
    solution = scipy.sparse.linalg.cg(
        A, d[y][0], rtol=rtol, atol=atol, maxiter=maxiter, M=M
    )[0]
    d[b] = solution
    d[A] = -np.outer(solution, y[0])


@tangent(scipy.sparse.linalg.cg)
def _(y, A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None):
    d[y] = (
        scipy.sparse.linalg.cg(
            A, d[b] - d[A] @ y[0], rtol=rtol, atol=atol, maxiter=maxiter, M=M
        )[0],
        0,
    )


@adjoint(
    scipy.sparse.linalg.bicgstab,
    signature=SIGNATURE,
    infer=infer_iterated,
    says=SAYS,
    constant=CONSTANT,
    objects=OBJECTS,
)
def _(y, A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None):
    if surely(M is None):
        solution = scipy.sparse.linalg.bicgstab(
            A.T, d[y][0], rtol=rtol, atol=atol, maxiter=maxiter
        )[0]
    else:
        solution = scipy.sparse.linalg.bicgstab(
            A.T, d[y][0], rtol=rtol, atol=atol, maxiter=maxiter, M=turned(M)
        )[0]
    d[b] = solution
    d[A] = -np.outer(solution, y[0])


@tangent(scipy.sparse.linalg.bicgstab)
def _(y, A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None):
    d[y] = (
        scipy.sparse.linalg.bicgstab(
            A, d[b] - d[A] @ y[0], rtol=rtol, atol=atol, maxiter=maxiter, M=M
        )[0],
        0,
    )


@adjoint(
    scipy.sparse.linalg.gmres,
    signature=GMRES,
    infer=infer_iterated,
    says=SAYS,
    constant=(*CONSTANT, "restart", "callback_type"),
    objects=OBJECTS,
)
def _(y, A, b, x0=None, *, rtol=1e-5, atol=0.0, restart=None, maxiter=None, M=None):
    if surely(M is None):
        solution = scipy.sparse.linalg.gmres(
            A.T, d[y][0], rtol=rtol, atol=atol, restart=restart, maxiter=maxiter
        )[0]
    else:
        solution = scipy.sparse.linalg.gmres(
            A.T,
            d[y][0],
            rtol=rtol,
            atol=atol,
            restart=restart,
            maxiter=maxiter,
            M=turned(M),
        )[0]
    d[b] = solution
    d[A] = -np.outer(solution, y[0])


@tangent(scipy.sparse.linalg.gmres)
def _(y, A, b, x0=None, *, rtol=1e-5, atol=0.0, restart=None, maxiter=None, M=None):
    d[y] = (
        scipy.sparse.linalg.gmres(
            A,
            d[b] - d[A] @ y[0],
            rtol=rtol,
            atol=atol,
            restart=restart,
            maxiter=maxiter,
            M=M,
        )[0],
        0,
    )
