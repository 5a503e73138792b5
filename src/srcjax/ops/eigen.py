"""Eigenvalues of general matrices, roots of polynomials, polynomials of roots.

The results of `eig` are complex where one eigenvalue is, which the types cannot tell.
Where eigenvalues are equal, the derivative of the eigenvectors is infinite or NaN, as
in JAX and NumPy's own `eigh`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcjax.analysis.types import Array, Tuple, Type, shape_of
from srcjax.ops.record import adjoint, tangent

# ruff: noqa: F821
# mypy: disable-error-code="no-redef, name-defined"
d: Any  # adjoints by name, in the text of rules


def infer_eig(a: Type) -> Type:
    shape = shape_of(a)
    values = Array(shape=None if shape is None else shape[:-1])
    cls = type(np.linalg.eig(np.eye(1)))
    return Tuple(items=(values, Array(shape=shape)), cls=cls)


@adjoint(np.linalg.eig, signature="a", infer=infer_eig, may_be_complex=True)
def _(y, a):
    d[a] = uneig(d[y], y, a)


@tangent(np.linalg.eig)
def _(y, a):
    d[y] = eig_tangent(d[a], y)


@adjoint(
    np.roots,
    signature="p",
    infer=lambda p: Array(shape=(None,)),
    may_be_complex=True,
)
def _(y, p):
    d[p] = unroots(d[y], y, p)


@tangent(np.roots)
def _(y, p):
    d[y] = roots_tangent(d[p], y, p)


@adjoint(
    np.poly,
    signature="seq_of_zeros",
    infer=lambda seq_of_zeros: Array(),
    may_be_complex=True,
)
def _(y, seq_of_zeros):
    d[seq_of_zeros] = unpoly(d[y], seq_of_zeros)


@tangent(np.poly)
def _(y, seq_of_zeros):
    d[y] = poly_tangent(d[seq_of_zeros], y, seq_of_zeros)
