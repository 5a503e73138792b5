"""Parts of complex numbers: abs, real, imag, conjugate, angle.

The real case of the first four is in `ops.arithmetic`, whose records are extended here.
Complex cotangents follow JAX (see `runtime.complex_parts`).
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import runtime, syntax
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
from srcjax.ops.expand import Expansion, expands, is_real
from srcjax.ops.record import adjoint, inert, operation, tangent
from srcjax.runtime import (  # noqa: F401  (named in the rules)
    abs_tangent,
    angle_tangent,
    seed_of_real,
    unabs,
    unangle,
    unconjugate,
    unimag,
    unreal,
)

# ruff: noqa: F821
# mypy: disable-error-code="no-redef"
d: Any  # adjoints by name, in the text of rules

# -- helpers where the dtype is known -----------------------------------------------


def by_kind(real: str, complex_: str) -> Expansion:
    """The plain expression for a real argument (the last one), and for a complex one.

    In them `d` is the first argument and `y` the second; `R` is the real part of `d`.
    """

    def expand(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
        dtype = dtype_of(types[-1])
        if dtype is None:
            return None
        part = args[0]
        if not is_real(types[0]):
            part = syntax.expression("np.real(d)", d=part)
        form = complex_ if dtype.kind == "c" else real
        return syntax.expression(form, d=args[0], R=part, y=args[1], x=args[-1])

    return expand


expands(runtime.unabs)(
    by_kind("d * np.sign(x)", "R * np.conj(x) / np.where(y == 0, 1, y)")
)
expands(runtime.abs_tangent)(
    by_kind("d * np.sign(x)", "np.real(d * np.conj(x)) / np.where(y == 0, 1, y)")
)
expands(runtime.unreal)(by_kind("d", "R + 0j"))
expands(runtime.unimag)(by_kind("np.zeros_like(x)", "-1j * R"))
expands(runtime.unconjugate)(by_kind("d", "np.conj(d)"))


@expands(runtime.from_parts)
def _from_parts(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    form = "d * 1j" if len(args) > 2 else "d"
    if dtype_of(types[1]) is None:
        return None
    form = f"np.real({form})" if is_real(types[1]) else form
    return syntax.expression(form, d=args[0])


@expands(runtime.slogdet_slope)
def _slogdet_slope(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return args[0] if is_real(types[3]) else None


@expands(runtime.slogdet_tangent)
def _slogdet_tangent(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    if not is_real(types[1]):
        return None
    zero = "0.0" if is_number(types[1]) else "np.zeros_like(s)"
    return syntax.expression(f"({zero}, t)", t=args[0], s=args[1])


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
    d[val] = unimag(d[y], val)


@adjoint(np.conjugate)
def _(y, x):
    d[x] = unconjugate(d[y], x)


@tangent(np.conjugate)
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
