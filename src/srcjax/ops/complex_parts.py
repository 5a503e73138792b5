"""Parts of complex numbers: abs, real, imag, conjugate, angle.

The real case of the first four is in `ops.arithmetic`, whose records are extended here.
Complex cotangents follow JAX (see `runtime.complex_parts`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcjax.analysis.types import (
    FLOAT,
    UNKNOWN,
    Array,
    Scalar,
    Type,
    dtype_of,
    is_number,
    shape_of,
)
from srcjax.ops.arithmetic import infer_part
from srcjax.ops.record import adjoint, inert, operation, tangent
from srcjax.runtime import seed_of_real

# ruff: noqa: F821
# mypy: disable-error-code="no-redef, name-defined"
d: Any  # adjoints by name, in the text of rules

# -- helpers where the dtype is known -----------------------------------------------


# -- rules --------------------------------------------------------------------------


@adjoint(np.absolute)
def _(y, x):
    d[x] = unabs(d[y], y, x)


@tangent(np.absolute)
def _(y, x):
    d[y] = abs_tangent(d[x], y, x)


@adjoint(np.real)
def _(y, val):
    d[val] = unreal(d[y], val)


operation(np.imag, inert=False, alias="part", linear="val")


@adjoint(np.imag)
def _(y, val):
    """The imaginary part has no adjoint in the real direction."""
    d[val] = unimag(d[y], val)


@adjoint(np.conjugate)
def _(y, x):
    d[x] = unconjugate(d[y], x)


@tangent(np.conjugate)
def _(y, x):
    d[y] = unconjugate(d[x], x)


@adjoint(np.ndarray.conjugate)
def _(y, x):
    d[x] = unconjugate(d[y], x)


@tangent(np.ndarray.conjugate)
def _(y, x):
    d[y] = unconjugate(d[x], x)


def infer_angle(z: Type, **_: Type) -> Type:
    part = infer_part(z)
    dtype = dtype_of(part)
    if dtype is not None and dtype.kind in "biu":
        dtype = np.dtype(float)
    if is_number(z):
        return Scalar(dtype=dtype)
    return Array(dtype=dtype, shape=shape_of(z)) if isinstance(z, Array) else UNKNOWN


@adjoint(np.angle, signature="z, deg=False", infer=infer_angle)
def _(y, z, deg=False):
    d[z] = unangle(d[y], z, deg)


@tangent(np.angle)
def _(y, z, deg=False):
    d[y] = angle_tangent(d[z], z, deg)


inert(seed_of_real, signature="y", infer=lambda y: FLOAT)
