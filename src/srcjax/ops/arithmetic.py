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

from srcjax import runtime
from srcjax.analysis.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
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
from srcjax.ops.words import SIGN, TERM

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules

_SUM = {
    "a": TERM,
    "b": TERM,
    "y": "sum rule: `d(u + v) = d(u) + d(v)`",
}
_DIFFERENCE = {
    "a": TERM,
    "b": "what is subtracted gets the adjoint with a minus",
    "y": "sum rule: `d(u - v) = d(u) - d(v)`",
}
_LARGER = {
    "a": "the larger one gets the whole adjoint; at a tie each gets half",
    "b": "the larger one gets the whole adjoint; at a tie each gets half",
    "y": "the tangent of the larger one; at a tie, the mean of both",
}
_SMALLER = {
    "a": "the smaller one gets the whole adjoint; at a tie each gets half",
    "b": "the smaller one gets the whole adjoint; at a tie each gets half",
    "y": "the tangent of the smaller one; at a tie, the mean of both",
}

# -- arithmetic ---------------------------------------------------------------------
elementwise(
    (np.add, operator.add),
    "d",
    "d",
    says=_SUM,
    kernel="a + b",
    kinds="fi",
)
elementwise(
    (np.subtract, operator.sub),
    "d",
    "-d",
    says=_DIFFERENCE,
    kernel="a - b",
    kinds="fi",
)
elementwise(
    (np.multiply, operator.mul),
    "d * b",
    "d * a",
    says="product rule: `d(u * v) = v * d(u) + u * d(v)`",
    kernel="a * b",
    kinds="fi",
)
elementwise(
    (np.divide, operator.truediv),
    "d / b",
    "-d * a / b**2",
    says="quotient rule: `d(u / v) = d(u) / v - u * d(v) / v**2`",
    kernel="a / b",
)
_POWER = {
    "a": "power rule: `d(u**n) = n * u**(n - 1) * d(u)`",
    "b": "exponential: `d(a**v) = a**v * log(a) * d(v)`",
}
elementwise(
    (np.power, operator.pow, pow, math.pow),
    "d * b * power_below(a, b)",
    "d * y * log_of_base(a, b)",
    says=_POWER,
    kernel="a ** b",
)
elementwise(
    np.float_power,
    "d * b * power_below(a, b)",
    "d * y * log_of_base(a, b)",
    says=_POWER,
    kernel="a ** b",
)
elementwise(
    (np.mod, operator.mod),  # np.remainder too
    "d",
    "-d * (a // b)",
    kernel="a % b",
    kinds="fi",
)
elementwise((np.fmod, math.fmod), "d", "-d * np.trunc(a / b)", kernel="np.fmod(a, b)")
elementwise(math.remainder, "d", "-d * np.rint(a / b)")
elementwise((np.negative, operator.neg), "-d", says=SIGN, kernel="-x", kinds="fi")
elementwise(
    (np.positive, operator.pos), "d", says="nothing changes", kernel="x", kinds="fi"
)
elementwise(
    (np.absolute, np.fabs, abs, operator.abs, math.fabs),
    "d * np.sign(x)",
    says="`d(abs(u)) = sign(u) * d(u)`, 0 where u is 0",
    kernel="abs(x)",
    kinds="fi",
    cheap=True,
)
elementwise(
    np.reciprocal, "-d * y**2", says="`d(1 / u) = -d(u) / u**2`", kernel="1 / x"
)
elementwise(
    np.square,
    "d * 2 * x",
    says="power rule: `d(u**2) = 2 * u * d(u)`",
    kernel="x * x",
    kinds="fi",
)
elementwise((np.sqrt, math.sqrt), "d / (2 * y)", kernel="np.sqrt(x)")
elementwise((np.cbrt, math.cbrt), "d / (3 * y**2)", kernel="np.cbrt(x)")

# -- exponentials and logarithms -----------------------------------------------------
elementwise((np.exp, math.exp), "d * y", kernel="np.exp(x)")
elementwise((np.exp2, math.exp2), "d * y * math.log(2)", kernel="np.exp2(x)")
elementwise((np.expm1, math.expm1), "d * (y + 1)", kernel="np.expm1(x)")
elementwise((np.log, math.log), "d / x", kernel="np.log(x)")
elementwise((np.log2, math.log2), "d / (x * math.log(2))", kernel="np.log2(x)")
elementwise((np.log10, math.log10), "d / (x * math.log(10))", kernel="np.log10(x)")
elementwise((np.log1p, math.log1p), "d / (1 + x)", kernel="np.log1p(x)")
elementwise(
    np.logaddexp,
    "d * np.exp(a - y)",
    "d * np.exp(b - y)",
    kernel="np.logaddexp(a, b)",
)
elementwise(np.logaddexp2, "d * np.exp2(a - y)", "d * np.exp2(b - y)")

# -- trigonometric and hyperbolic ----------------------------------------------------
elementwise((np.sin, math.sin), "d * np.cos(x)", kernel="np.sin(x)")
elementwise((np.cos, math.cos), "-d * np.sin(x)", kernel="np.cos(x)")
elementwise((np.tan, math.tan), "d * (1 + y**2)", kernel="np.tan(x)")
elementwise((np.arcsin, math.asin), "d / root_below_one(x)", kernel="np.arcsin(x)")
elementwise((np.arccos, math.acos), "-d / root_below_one(x)", kernel="np.arccos(x)")
elementwise((np.arctan, math.atan), "d / (1 + x**2)", kernel="np.arctan(x)")
elementwise(
    (np.arctan2, math.atan2),
    "d * b / (a**2 + b**2)",
    "-d * a / (a**2 + b**2)",
    kernel="np.arctan2(a, b)",
)
elementwise((np.sinh, math.sinh), "d * np.cosh(x)", kernel="np.sinh(x)")
elementwise((np.cosh, math.cosh), "d * np.sinh(x)", kernel="np.cosh(x)")
elementwise((np.tanh, math.tanh), "d * (1 - y**2)", kernel="np.tanh(x)")
elementwise((np.arcsinh, math.asinh), "d / np.sqrt(x**2 + 1)", kernel="np.arcsinh(x)")
# np.sinh(y) is np.sqrt(x**2 - 1), of the right sign for complex numbers too.
elementwise((np.arccosh, math.acosh), "d / np.sinh(y)", kernel="np.arccosh(x)")
elementwise((np.arctanh, math.atanh), "d / (1 - x**2)", kernel="np.arctanh(x)")
elementwise(
    (np.hypot, math.hypot),
    "d * a / np.where(y == 0, 1, y)",
    "d * b / np.where(y == 0, 1, y)",
    kernel="np.hypot(a, b)",
)
elementwise(
    (np.deg2rad, np.radians, math.radians),
    "np.deg2rad(d)",
    kernel="x * 0.017453292519943295",
)
elementwise(
    (np.rad2deg, np.degrees, math.degrees),
    "np.rad2deg(d)",
    kernel="x * 57.29577951308232",
)
elementwise(
    np.sinc,
    "d * sinc_slope(x)",
    kernel="1.0 if x == 0 else np.sin(np.pi * x) / (np.pi * x)",
)

# -- extremes: where both are equal each gets half, as in JAX -------------------------


def infer_extreme(a: Type, b: Type) -> Type:
    """Builtin `max(a, b)`: one of the two numbers."""
    return join(a, b) if is_number(a) and is_number(b) else UNKNOWN


elementwise(
    np.maximum,
    "d * (a > b) + d * (a == b) / 2",
    "d * (b > a) + d * (a == b) / 2",
    says=_LARGER,
    kernel="a if a > b or a != a else b",
    kinds="fi",
)
elementwise(
    np.minimum,
    "d * (a < b) + d * (a == b) / 2",
    "d * (b < a) + d * (a == b) / 2",
    says=_SMALLER,
    kernel="a if a < b or a != a else b",
    kinds="fi",
)
elementwise(
    max,
    "d * (a > b) + d * (a == b) / 2",
    "d * (b > a) + d * (a == b) / 2",
    says=_LARGER,
    infer=infer_extreme,
    kernel="b if b > a else a",
    kinds="fi",
    cheap=True,
)
elementwise(
    min,
    "d * (a < b) + d * (a == b) / 2",
    "d * (b < a) + d * (a == b) / 2",
    says=_SMALLER,
    infer=infer_extreme,
    kernel="b if b < a else a",
    kinds="fi",
    cheap=True,
)
elementwise(
    np.fmax,  # a NaN loses, whatever the other
    "d * ((a > b) | np.isnan(b)) + d * (a == b) / 2",
    "d * ((b > a) | np.isnan(a)) + d * (a == b) / 2",
    says=_LARGER,
    kernel="a if a >= b or b != b else b",
    kinds="fi",
)
elementwise(
    np.fmin,
    "d * ((a < b) | np.isnan(b)) + d * (a == b) / 2",
    "d * ((b < a) | np.isnan(a)) + d * (a == b) / 2",
    says=_SMALLER,
    kernel="a if a <= b or b != b else b",
    kinds="fi",
)


def infer_clip(a: Type, a_min: Type = NONE, a_max: Type = NONE) -> Type:
    """Broadcast with the bounds that there are."""
    given = [t for t in (a_min, a_max) if t != NONE]
    return infer_elementwise(lambda x, *b: np.clip(x, b[0], b[-1]), a, *(given or [a]))


def infer_clip_method(a: Type, min: Type = NONE, max: Type = NONE) -> Type:
    return infer_clip(a, min, max)


@adjoint(np.clip, infer=infer_clip, elementwise=True)
def _(y, a, a_min=None, a_max=None):
    """Clipped values get no adjoint; at a bound each side gets half."""
    d[a] = unbroadcast(clip_adjoint(d[y], a, a_min, a_max), a)
    d[a_min] = unbroadcast(clip_adjoint_low(d[y], a, a_min, a_max), a_min)
    d[a_max] = unbroadcast(clip_adjoint_high(d[y], a, a_min, a_max), a_max)


@tangent(np.clip)
def _(y, a, a_min=None, a_max=None):
    """Clipped values have no tangent; at a bound it counts half."""
    d[y] = clip_adjoint(d[a], a, a_min, a_max)
    d[y] = clip_adjoint_low(d[a_min], a, a_min, a_max)
    d[y] = clip_adjoint_high(d[a_max], a, a_min, a_max)


@adjoint(np.ndarray.clip, methods=["clip"], infer=infer_clip_method, elementwise=True)
def _(y, a, min=None, max=None):
    """Clipped values get no adjoint; at a bound each side gets half."""
    d[a] = unbroadcast(clip_adjoint(d[y], a, min, max), a)
    d[min] = unbroadcast(clip_adjoint_low(d[y], a, min, max), min)
    d[max] = unbroadcast(clip_adjoint_high(d[y], a, min, max), max)


@tangent(np.ndarray.clip)
def _(y, a, min=None, max=None):
    """Clipped values have no tangent; at a bound it counts half."""
    d[y] = clip_adjoint(d[a], a, min, max)
    d[y] = clip_adjoint_low(d[min], a, min, max)
    d[y] = clip_adjoint_high(d[max], a, min, max)


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
    says="each side counts where it was chosen",
    infer=infer_where,
    signature="a, b=None, c=None",
    linear=[("b", "c")],
    kernel="b if a else c",
    kinds="fib",
)
elementwise(
    (np.copysign, math.copysign),
    "d * np.copysign(np.sign(a), a * b)",
    None,
    kernel="np.copysign(a, b)",
)
elementwise(
    np.heaviside,
    None,
    "d * (a == 0)",
    kernel="b if a == 0 else 1.0 if a > 0 else 0.0 if a < 0 else a",
)
elementwise((np.ldexp, math.ldexp), "np.ldexp(d, b)", None)
elementwise(np.sign, None, kernel="np.sign(x) + 0", kinds="fi", real_only=True)
elementwise(np.floor, None, kernel="np.floor(x)")
elementwise(np.ceil, None, kernel="np.ceil(x)")
elementwise((np.trunc, np.fix), None, kernel="np.trunc(x)")
elementwise(np.rint, None, kernel="np.rint(x)")
elementwise(np.signbit, None)
elementwise(
    (np.floor_divide, operator.floordiv), None, None, kernel="a // b", kinds="fi"
)
elementwise((np.nextafter, math.nextafter), "d", None)


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
    part = infer_elementwise(np.sqrt, x)  # a float of ints, too
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
    part = infer_elementwise(np.sqrt, x)  # a float of ints, too
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
    """Only the kind of number changed: the adjoint is passed on."""
    d[x] = unbroadcast(d[y], x)


def infer_item(x: Type) -> Type:
    """A Python number."""
    dtype = dtype_of(x)
    if dtype is None:
        return UNKNOWN
    return COMPLEX if dtype.kind == "c" else FLOAT


@adjoint(np.ndarray.item, methods=["item"], signature="x", infer=infer_item, linear="x")
def _(y, x):
    """Only the kind of number changed: the adjoint is passed on."""
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


@adjoint(
    runtime.complex_of,
    signature="real, imag",
    infer=lambda real, imag: infer_elementwise(np.multiply, real, COMPLEX),
)
def _(y, real, imag):
    d[real] = from_parts(d[y], real)
    d[imag] = from_parts(d[y], imag, True)


@tangent(runtime.complex_of)
def _(y, real, imag):
    d[y] = d[real].astype(complex)
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
    """The real part has no adjoint in the imaginary direction."""
    d[val] = d[y]


inert(np.imag, signature="val", attributes=["imag"], infer=infer_part)
elementwise(np.conjugate, "d", kernel="x", kinds="fi")
# The method gives an array of reals itself.
elementwise(
    np.ndarray.conjugate, "d", kinds="fi", alias="maybe",
    methods=["conj", "conjugate"],
)  # fmt: skip

# -- comparisons, logic and bits -----------------------------------------------------
elementwise((np.less, operator.lt), None, None, kernel="a < b", kinds="fib")
elementwise((np.less_equal, operator.le), None, None, kernel="a <= b", kinds="fib")
elementwise((np.greater, operator.gt), None, None, kernel="a > b", kinds="fib")
elementwise((np.greater_equal, operator.ge), None, None, kernel="a >= b", kinds="fib")
elementwise((np.equal, operator.eq), None, None, kernel="a == b", kinds="fib")
elementwise((np.not_equal, operator.ne), None, None, kernel="a != b", kinds="fib")
elementwise(np.logical_and, None, None, kernel="a != 0 and b != 0", kinds="fib")
elementwise(np.logical_or, None, None, kernel="a != 0 or b != 0", kinds="fib")
elementwise(np.logical_xor, None, None, kernel="(a != 0) != (b != 0)", kinds="fib")
elementwise(np.logical_not, None, kernel="x == 0", kinds="fib")
elementwise((np.isnan, math.isnan), None, kernel="x != x", kinds="fi")
elementwise((np.isinf, math.isinf), None, kernel="np.isinf(x)")
elementwise((np.isfinite, math.isfinite), None, kernel="np.isfinite(x)")
elementwise((np.bitwise_and, operator.and_), None, None, kernel="a & b", kinds="ib")
elementwise((np.bitwise_or, operator.or_), None, None, kernel="a | b", kinds="ib")
elementwise((np.bitwise_xor, operator.xor), None, None, kernel="a ^ b", kinds="ib")
elementwise((np.left_shift, operator.lshift), None, None, kernel="a << b", kinds="i")
elementwise((np.right_shift, operator.rshift), None, None, kernel="a >> b", kinds="i")
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


def infer_isscalar(element: Type) -> Type:
    """Known of Python's numbers, of arrays with axes and of containers."""
    if isinstance(element, Array) and element.shape:
        return Const(value=False)
    if isinstance(element, (Tuple, List, Dict)):
        return Const(value=False)
    python = isinstance(element, Scalar) and element.python
    return Const(value=True) if python else BOOL


inert(np.isscalar, signature="element", infer=infer_isscalar)
inert(
    np.allclose, np.array_equal, np.array_equiv,
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
