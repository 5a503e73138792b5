"""Operators, and the elementwise functions of numpy and math: one row each.

`elementwise` reads the rows: the functions that are the same operation, its partial
derivatives in the direction `d`, and its C expression. Aliases such as `np.acos` or
`np.pow` are the same objects as the names used here.

Conventions, those of JAX where it has one:
- where two branches meet, each gets half (`maximum`, `minimum`, `clip`, `max`, `min`);
- `abs` has derivative 0 at 0, and so have `hypot` and `copysign` there;
- a constant exponent folds (`d * 2 * x`); with an exponent of 0 the derivative is 0,
  also at base 0; the derivative to the exponent is 0 at base 0, NaN at a negative base;
- no constant is a NumPy scalar: `math.log(2)` leaves float32 alone, `np.log(2)` not.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from srcjax.analysis.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    UNKNOWN,
    Array,
    Const,
    Scalar,
    Tuple,
    Type,
    dtype_of,
    is_number,
    join,
    rank_of,
    shape_of,
)
from srcjax.ops.infer_rules import NONE, infer_elementwise, value_of_shape
from srcjax.ops.record import adjoint, elementwise, inert, operation, tangent

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules

# -- arithmetic ---------------------------------------------------------------------
elementwise((np.add, operator.add), "d", "d", kernel="{a} + {b}")
elementwise((np.subtract, operator.sub), "d", "-d", kernel="{a} - {b}")
elementwise((np.multiply, operator.mul), "d * b", "d * a", kernel="{a} * {b}")
elementwise(
    (np.divide, operator.truediv),
    "d / b",
    "-d * a / b**2",
    kernel="{a} / {b}",
)
elementwise(
    (np.power, operator.pow, pow, math.pow),
    "d * b * power_below(a, b)",
    "d * y * log_of_base(a, b)",
    kernel="pow({a}, {b})",
)
elementwise(
    np.float_power,
    "d * b * power_below(a, b)",
    "d * y * log_of_base(a, b)",
    kernel="pow({a}, {b})",
)
elementwise(
    (np.mod, operator.mod),  # np.remainder too
    "d",
    "-d * (a // b)",
    kernel="{a} - {b} * floor({a} / {b})",
)
elementwise((np.fmod, math.fmod), "d", "-d * np.trunc(a / b)", kernel="fmod({a}, {b})")
elementwise(math.remainder, "d", "-d * np.rint(a / b)", kernel="remainder({a}, {b})")
elementwise((np.negative, operator.neg), "-d", kernel="-{x}")
elementwise((np.positive, operator.pos), "d", kernel="{x}")
elementwise(
    (np.absolute, np.fabs, abs, operator.abs, math.fabs),
    "d * np.sign(x)",
    kernel="fabs({x})",
)
elementwise(np.reciprocal, "-d * y**2", kernel="1 / {x}")
elementwise(np.square, "d * 2 * x", kernel="{x} * {x}")
elementwise((np.sqrt, math.sqrt), "d / (2 * y)", kernel="sqrt({x})")
elementwise((np.cbrt, math.cbrt), "d / (3 * y**2)", kernel="cbrt({x})")

# -- exponentials and logarithms -----------------------------------------------------
elementwise((np.exp, math.exp), "d * y", kernel="exp({x})")
elementwise((np.exp2, math.exp2), "d * y * math.log(2)", kernel="exp2({x})")
elementwise((np.expm1, math.expm1), "d * (y + 1)", kernel="expm1({x})")
elementwise((np.log, math.log), "d / x", kernel="log({x})")
elementwise((np.log2, math.log2), "d / (x * math.log(2))", kernel="log2({x})")
elementwise((np.log10, math.log10), "d / (x * math.log(10))", kernel="log10({x})")
elementwise((np.log1p, math.log1p), "d / (1 + x)", kernel="log1p({x})")
elementwise(
    np.logaddexp,
    "d * np.exp(a - y)",
    "d * np.exp(b - y)",
    kernel="fmax({a}, {b}) + log1p(exp(-fabs({a} - {b})))",
)
elementwise(
    np.logaddexp2,
    "d * np.exp2(a - y)",
    "d * np.exp2(b - y)",
    kernel="fmax({a}, {b}) + log2(1 + exp2(-fabs({a} - {b})))",
)

# -- trigonometric and hyperbolic ----------------------------------------------------
elementwise((np.sin, math.sin), "d * np.cos(x)", kernel="sin({x})")
elementwise((np.cos, math.cos), "-d * np.sin(x)", kernel="cos({x})")
elementwise((np.tan, math.tan), "d * (1 + y**2)", kernel="tan({x})")
elementwise((np.arcsin, math.asin), "d / np.sqrt(1 - x**2)", kernel="asin({x})")
elementwise((np.arccos, math.acos), "-d / np.sqrt(1 - x**2)", kernel="acos({x})")
elementwise((np.arctan, math.atan), "d / (1 + x**2)", kernel="atan({x})")
elementwise(
    (np.arctan2, math.atan2),
    "d * b / (a**2 + b**2)",
    "-d * a / (a**2 + b**2)",
    kernel="atan2({a}, {b})",
)
elementwise((np.sinh, math.sinh), "d * np.cosh(x)", kernel="sinh({x})")
elementwise((np.cosh, math.cosh), "d * np.sinh(x)", kernel="cosh({x})")
elementwise((np.tanh, math.tanh), "d * (1 - y**2)", kernel="tanh({x})")
elementwise((np.arcsinh, math.asinh), "d / np.sqrt(x**2 + 1)", kernel="asinh({x})")
# np.sinh(y) is np.sqrt(x**2 - 1), of the right sign for complex numbers too.
elementwise((np.arccosh, math.acosh), "d / np.sinh(y)", kernel="acosh({x})")
elementwise((np.arctanh, math.atanh), "d / (1 - x**2)", kernel="atanh({x})")
elementwise(
    (np.hypot, math.hypot),
    "d * a / np.where(y == 0, 1, y)",
    "d * b / np.where(y == 0, 1, y)",
    kernel="hypot({a}, {b})",
)
elementwise(
    (np.deg2rad, np.radians, math.radians),
    "np.deg2rad(d)",
    kernel="{x} * 0.017453292519943295",
)
elementwise(
    (np.rad2deg, np.degrees, math.degrees),
    "np.rad2deg(d)",
    kernel="{x} * 57.29577951308232",
)
elementwise(
    np.sinc,
    "d * sinc_slope(x)",
    kernel="{x} == 0 ? 1 : sinpi({x}) / (M_PI * {x})",
)

# -- extremes: where both are equal each gets half, as in JAX -------------------------


def infer_extreme(a: Type, b: Type) -> Type:
    """Builtin `max(a, b)`: one of the two numbers."""
    return join(a, b) if is_number(a) and is_number(b) else UNKNOWN


elementwise(
    np.maximum,
    "d * (a > b) + d * (a == b) / 2",
    "d * (b > a) + d * (a == b) / 2",
    kernel="{a} >= {b} || {a} != {a} ? {a} : {b}",
)
elementwise(
    np.minimum,
    "d * (a < b) + d * (a == b) / 2",
    "d * (b < a) + d * (a == b) / 2",
    kernel="{a} <= {b} || {a} != {a} ? {a} : {b}",
)
elementwise(
    max,
    "d * (a > b) + d * (a == b) / 2",
    "d * (b > a) + d * (a == b) / 2",
    infer=infer_extreme,
    kernel="{b} > {a} ? {b} : {a}",
)
elementwise(
    min,
    "d * (a < b) + d * (a == b) / 2",
    "d * (b < a) + d * (a == b) / 2",
    infer=infer_extreme,
    kernel="{b} < {a} ? {b} : {a}",
)
elementwise(
    np.fmax,  # a NaN loses, whatever the other
    "d * ((a > b) | np.isnan(b)) + d * (a == b) / 2",
    "d * ((b > a) | np.isnan(a)) + d * (a == b) / 2",
    kernel="fmax({a}, {b})",
)
elementwise(
    np.fmin,
    "d * ((a < b) | np.isnan(b)) + d * (a == b) / 2",
    "d * ((b < a) | np.isnan(a)) + d * (a == b) / 2",
    kernel="fmin({a}, {b})",
)


def infer_clip(a: Type, a_min: Type = NONE, a_max: Type = NONE) -> Type:
    """Broadcast with the bounds that there are."""
    given = [t for t in (a_min, a_max) if t != NONE]
    return infer_elementwise(lambda x, *b: np.clip(x, b[0], b[-1]), a, *(given or [a]))


def infer_clip_method(a: Type, min: Type = NONE, max: Type = NONE) -> Type:
    return infer_clip(a, min, max)


@adjoint(np.clip, infer=infer_clip, elementwise=True)
def _(y, a, a_min=None, a_max=None):
    d[a] = unbroadcast(clip_adjoint(d[y], a, a_min, a_max), a)
    d[a_min] = unbroadcast(np.where(a == a_min, d[y] / 2, d[y] * (y == a_min)), a_min)
    d[a_max] = unbroadcast(np.where(a == a_max, d[y] / 2, d[y] * (y == a_max)), a_max)


@tangent(np.clip)
def _(y, a, a_min=None, a_max=None):
    d[y] = clip_adjoint(d[a], a, a_min, a_max)
    d[y] = np.where(a == a_min, d[a_min] / 2, d[a_min] * (y == a_min))
    d[y] = np.where(a == a_max, d[a_max] / 2, d[a_max] * (y == a_max))


@adjoint(np.ndarray.clip, methods=["clip"], infer=infer_clip_method, elementwise=True)
def _(y, a, min=None, max=None):
    d[a] = unbroadcast(clip_adjoint(d[y], a, min, max), a)
    d[min] = unbroadcast(np.where(a == min, d[y] / 2, d[y] * (y == min)), min)
    d[max] = unbroadcast(np.where(a == max, d[y] / 2, d[y] * (y == max)), max)


@tangent(np.ndarray.clip)
def _(y, a, min=None, max=None):
    d[y] = clip_adjoint(d[a], a, min, max)
    d[y] = np.where(a == min, d[min] / 2, d[min] * (y == min))
    d[y] = np.where(a == max, d[max] / 2, d[max] * (y == max))


# -- choice, sign and rounding -------------------------------------------------------


def infer_where(a: Type, b: Type | None = None, c: Type | None = None) -> Type:
    """`np.where(cond)` gives index arrays, one per axis."""
    if b is not None and c is not None:
        found = infer_elementwise(np.where, a, b, c)
        if shape_of(found) == ():  # np.where is no ufunc: no scalars
            return Array(dtype=dtype_of(found), shape=())
        return found
    rank = rank_of(a)
    if rank is None:
        return UNKNOWN
    return Tuple(items=(Array(dtype=np.dtype(np.intp), shape=(None,)),) * rank)


elementwise(
    np.where,
    None,
    "np.where(a, d, 0)",
    "np.where(a, 0, d)",
    infer=infer_where,
    signature="a, b=None, c=None",
    linear=[("b", "c")],
    kernel="{a} ? {b} : {c}",
)
elementwise(
    (np.copysign, math.copysign),
    "d * np.copysign(np.sign(a), a * b)",
    None,
    kernel="copysign({a}, {b})",
)
elementwise(
    np.heaviside,
    None,
    "d * (a == 0)",
    kernel="{a} == 0 ? {b} : ({a} > 0 ? 1 : ({a} < 0 ? 0 : {a}))",
)
elementwise((np.ldexp, math.ldexp), "np.ldexp(d, b)", None, kernel="ldexp({a}, {b})")
elementwise(np.sign, None, kernel="({x} > 0) - ({x} < 0)", real_only=True)
elementwise(np.floor, None, kernel="floor({x})")
elementwise(np.ceil, None, kernel="ceil({x})")
elementwise((np.trunc, np.fix), None, kernel="trunc({x})")
elementwise(np.rint, None, kernel="rint({x})")
elementwise(np.signbit, None, kernel="signbit({x})")
elementwise((np.floor_divide, operator.floordiv), None, None, kernel="floor({a} / {b})")
elementwise((np.nextafter, math.nextafter), "d", None, kernel="nextafter({a}, {b})")


def infer_round(a: Type, decimals: Type = NONE) -> Type:
    """The array's own dtype."""
    dtype = dtype_of(a)
    if is_number(a):
        return Scalar(dtype=dtype)
    return value_of_shape(dtype, shape_of(a)) if shape_of(a) is not None else UNKNOWN


def infer_builtin_round(number: Type, ndigits: Type = NONE) -> Type:
    """An int, unless digits are asked for."""
    return INT if ndigits == NONE else UNKNOWN


inert(
    np.round,
    np.around,
    signature="a, decimals=0",
    methods=["round"],
    infer=infer_round,
)
inert(round, signature="number, ndigits=None", infer=infer_builtin_round)
inert(
    math.floor,
    math.ceil,
    math.trunc,
    int,
    signature="x",
    infer=lambda x: INT,
)
inert(
    math.gcd, math.lcm, math.comb, math.perm, math.factorial, math.isqrt,
    infer=lambda *args, **kwargs: INT,
    signature="*args",
)  # fmt: skip
inert(bool, operator.not_, operator.truth, signature="x", infer=lambda x: BOOL)
inert(
    math.isclose, operator.is_, operator.is_not, operator.contains,
    infer=lambda *args, **kwargs: BOOL,
)  # fmt: skip
inert(operator.index, signature="x", infer=lambda x: INT)
inert(math.ulp, signature="x", infer=lambda x: FLOAT)
inert(np.spacing, signature="x")
inert(np.gcd, np.lcm, elementwise=True, signature="a, b")


# -- two results ---------------------------------------------------------------------


def infer_divmod(a: Type, b: Type) -> Type:
    quotient = infer_elementwise(operator.floordiv, a, b)
    return Tuple(items=(quotient, infer_elementwise(operator.mod, a, b)))


@adjoint(np.divmod, signature="a, b", infer=infer_divmod)
def _(y, a, b):
    d[a] = unbroadcast(d[y][1], a)
    d[b] = unbroadcast(-d[y][1] * (a // b), b)


@tangent(np.divmod)
def _(y, a, b):
    d[y] = (zeros_like(y[0]), d[a] - d[b] * y[0])


operation(np.divmod, divmod)


def infer_modf(x: Type) -> Type:
    part = infer_elementwise(np.trunc, x)
    return Tuple(items=(part, part))


@adjoint(np.modf, signature="x", infer=infer_modf)
def _(y, x):
    d[x] = d[y][0]


@tangent(np.modf)
def _(y, x):
    d[y] = (d[x], zeros_like(y[1]))


operation(np.modf, math.modf)


def infer_frexp(x: Type) -> Type:
    shape = shape_of(x)
    part = infer_elementwise(np.trunc, x)
    if shape is None:
        return Tuple(items=(part, UNKNOWN))
    return Tuple(items=(part, value_of_shape(np.intc, shape)))


@adjoint(np.frexp, signature="x", infer=infer_frexp)
def _(y, x):
    d[x] = d[y][0] * 0.5 ** y[1]


@tangent(np.frexp)
def _(y, x):
    d[y] = (d[x] * 0.5 ** y[1], zeros_like(y[1]))


operation(np.frexp, math.frexp)


# -- conversions of numbers ----------------------------------------------------------


@adjoint(float, signature="x", infer=lambda x: FLOAT, linear="x", real_only=True)
def _(y, x):
    d[x] = unbroadcast(d[y], x)


def infer_item(x: Type) -> Type:
    """A Python number."""
    dtype = dtype_of(x)
    if dtype is None:
        return UNKNOWN
    return COMPLEX if dtype.kind == "c" else FLOAT


@adjoint(np.ndarray.item, methods=["item"], signature="x", infer=infer_item, linear="x")
def _(y, x):
    d[x] = unbroadcast(d[y], x)


def infer_complex(real: Type, imag: Type = NONE) -> Type:
    return COMPLEX


@adjoint(complex, signature="real, imag=0.0", infer=infer_complex)
def _(y, real, imag=0.0):
    d[real] = unbroadcast(from_parts(d[y], real), real)
    d[imag] = unbroadcast(from_parts(d[y], imag, True), imag)


@tangent(complex)
def _(y, real, imag=0.0):
    d[y] = complex(d[real])
    d[y] = d[imag] * 1j


def infer_nan_to_num(x: Type, nan: Type = NONE, **_: Type) -> Type:
    return infer_elementwise(np.nan_to_num, x)


@adjoint(np.nan_to_num, infer=infer_nan_to_num, elementwise=True, real_only=True)
def _(y, x, *, nan=0.0, posinf=None, neginf=None):
    d[x] = np.where(np.isfinite(x), d[y], 0)
    d[nan] = unbroadcast(np.where(np.isnan(x), d[y], 0), nan)
    d[posinf] = unbroadcast(np.where(np.isposinf(x), d[y], 0), posinf)
    d[neginf] = unbroadcast(np.where(np.isneginf(x), d[y], 0), neginf)


@tangent(np.nan_to_num)
def _(y, x, *, nan=0.0, posinf=None, neginf=None):
    d[y] = np.where(np.isfinite(x), d[x], 0)
    d[y] = np.where(np.isnan(x), d[nan], 0)
    d[y] = np.where(np.isposinf(x), d[posinf], 0)
    d[y] = np.where(np.isneginf(x), d[neginf], 0)


# -- real arguments of functions for complex ones ------------------------------------


def infer_part(val: Type) -> Type:
    """The part of a real argument; of a complex one its shape."""
    dtype, shape = dtype_of(val), shape_of(val)
    if dtype is not None and dtype.kind == "c":
        dtype = np.dtype(f"f{dtype.itemsize // 2}")
    if isinstance(val, Array):
        return Array(dtype=dtype, shape=shape)
    return Scalar(dtype=dtype) if is_number(val) else UNKNOWN


@adjoint(
    np.real,
    attributes=["real"],
    alias="view",
    infer=infer_part,
    cheap=True,
    linear="val",
)
def _(y, val):
    d[val] = d[y]


inert(np.imag, signature="val", attributes=["imag"], infer=infer_part)
elementwise(np.conjugate, "d", kernel="{x}", alias="maybe")
operation(np.conjugate, methods=["conj", "conjugate"])

# -- comparisons, logic and bits -----------------------------------------------------
elementwise((np.less, operator.lt), None, None, kernel="{a} < {b}")
elementwise((np.less_equal, operator.le), None, None, kernel="{a} <= {b}")
elementwise((np.greater, operator.gt), None, None, kernel="{a} > {b}")
elementwise((np.greater_equal, operator.ge), None, None, kernel="{a} >= {b}")
elementwise((np.equal, operator.eq), None, None, kernel="{a} == {b}")
elementwise((np.not_equal, operator.ne), None, None, kernel="{a} != {b}")
elementwise(np.logical_and, None, None, kernel="{a} && {b}")
elementwise(np.logical_or, None, None, kernel="{a} || {b}")
elementwise(np.logical_xor, None, None, kernel="!{a} != !{b}")
elementwise(np.logical_not, None, kernel="!{x}")
elementwise((np.isnan, math.isnan), None, kernel="{x} != {x}")
elementwise((np.isinf, math.isinf), None, kernel="isinf({x})")
elementwise((np.isfinite, math.isfinite), None, kernel="isfinite({x})")
elementwise((np.bitwise_and, operator.and_), None, None, kernel="{a} & {b}")
elementwise((np.bitwise_or, operator.or_), None, None, kernel="{a} | {b}")
elementwise((np.bitwise_xor, operator.xor), None, None, kernel="{a} ^ {b}")
elementwise((np.left_shift, operator.lshift), None, None, kernel="{a} << {b}")
elementwise((np.right_shift, operator.rshift), None, None, kernel="{a} >> {b}")
elementwise((np.invert, operator.invert), None)


def infer_isclose(a: Type, b: Type, **_: Type) -> Type:
    return infer_elementwise(np.equal, a, b)


inert(
    np.isclose,
    signature="a, b, rtol=1e-05, atol=1e-08, equal_nan=False",
    infer=infer_isclose,
)
inert(
    np.isreal, np.iscomplex, np.isposinf, np.isneginf,
    elementwise=True,
    signature="x",
)  # fmt: skip
inert(
    np.allclose, np.array_equal, np.array_equiv, np.isscalar,
    infer=lambda *args, **kwargs: BOOL,
)  # fmt: skip


def infer_iscomplexobj(x: Type) -> Type:
    """Known where the dtype is."""
    dtype = dtype_of(x)
    return BOOL if dtype is None else Const(value=dtype.kind == "c")


def infer_isrealobj(x: Type) -> Type:
    dtype = dtype_of(x)
    return BOOL if dtype is None else Const(value=dtype.kind != "c")


inert(np.iscomplexobj, signature="x", infer=infer_iscomplexobj)
inert(np.isrealobj, signature="x", infer=infer_isrealobj)
