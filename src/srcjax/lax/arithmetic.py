"""Operations on numbers, entry by entry: NumPy's own where they are the same.

As in JAX the two arguments of an operation have one shape and one dtype, but for
numbers: nothing is broadcast or promoted. What JAX refuses is refused here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcjax.analysis.types import Const, Scalar, Type, dtype_of, shape_of
from srcjax.ops.record import inert, written_out

# -- of one array -------------------------------------------------------------------

abs = np.abs
acos = np.arccos
acosh = np.arccosh
asin = np.arcsin
asinh = np.arcsinh
atan = np.arctan
atanh = np.arctanh
bitwise_not = np.bitwise_not
cbrt = np.cbrt
ceil = np.ceil
conj = np.conj
cos = np.cos
cosh = np.cosh
exp = np.exp
exp2 = np.exp2
expm1 = np.expm1
floor = np.floor
imag = np.imag
is_finite = np.isfinite
log = np.log
log1p = np.log1p
neg = np.negative
population_count = np.bitwise_count
real = np.real
reciprocal = np.reciprocal
sign = np.sign
sin = np.sin
sinh = np.sinh
sqrt = np.sqrt
square = np.square
tan = np.tan
tanh = np.tanh


def rsqrt(x: Any) -> Any:
    """`1 / sqrt(x)`."""
    return 1 / np.sqrt(x)


def logistic(x: Any) -> Any:
    """`1 / (1 + exp(-x))`; nothing overflows."""
    return np.exp(-np.logaddexp(0, -x))


def integer_pow(x: Any, y: int) -> Any:
    """`x**y` of a whole number `y`."""
    return x**y


def round(x: Any, rounding_method: int = 0) -> Any:  # noqa: A001
    """The nearest whole number; halves go away from zero, with method 1 to even."""
    if rounding_method == 1:
        return np.round(x)
    return np.trunc(x + np.copysign(0.5, x))


# -- of two arrays ------------------------------------------------------------------


def are_alike(x: Any, y: Any) -> bool:
    """Whether arrays have one dtype and one shape; numbers go with all arrays."""
    if isinstance(x, (bool, int, float, complex)):
        return True
    if isinstance(y, (bool, int, float, complex)):
        return True
    one_shape = np.ndim(x) == 0 or np.ndim(y) == 0 or np.shape(x) == np.shape(y)
    return bool(x.dtype == y.dtype and one_shape)


@written_out
def infer_are_alike(x: Type, y: Type) -> Type:
    """In transforms what types tell decides: the text has no test."""
    if any(isinstance(t, Scalar) and t.python for t in (x, y)):
        return Const(value=True)
    if isinstance(x, Const) or isinstance(y, Const):
        return Const(value=True)
    dtypes, shapes = (dtype_of(x), dtype_of(y)), (shape_of(x), shape_of(y))
    if None in dtypes or None in shapes or () in shapes:
        return Const(value=None in dtypes or dtypes[0] == dtypes[1])
    pairs = zip(*map(tuple, shapes), strict=False)  # type: ignore[arg-type]
    sizes = [(m, n) for m, n in pairs if isinstance(m, int) and isinstance(n, int)]
    one_rank = len(shapes[0] or ()) == len(shapes[1] or ())
    alike = one_rank and all(m == n for m, n in sizes) and dtypes[0] == dtypes[1]
    return Const(value=alike)


inert(are_alike, name="srcjax.lax.are_alike", infer=infer_are_alike)


def mismatch(name: str, x: Any, y: Any) -> TypeError:
    """What is raised for arrays that are not alike."""
    return TypeError(
        f"lax.{name} of {np.asarray(x).dtype}{list(np.shape(x))} and "
        f"{np.asarray(y).dtype}{list(np.shape(y))}: make them alike"
    )


@written_out
def add(x: Any, y: Any) -> Any:
    """`x + y`."""
    if not are_alike(x, y):
        raise mismatch("add", x, y)
    return x + y


@written_out
def sub(x: Any, y: Any) -> Any:
    """`x - y`."""
    if not are_alike(x, y):
        raise mismatch("sub", x, y)
    return x - y


@written_out
def mul(x: Any, y: Any) -> Any:
    """`x * y`."""
    if not are_alike(x, y):
        raise mismatch("mul", x, y)
    return x * y


@written_out
def div(x: Any, y: Any) -> Any:
    """`x / y`; of whole numbers the whole part, towards zero."""
    if not are_alike(x, y):
        raise mismatch("div", x, y)
    if np.result_type(x, y).kind in "iub":
        return np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))
    return x / y


@written_out
def rem(x: Any, y: Any) -> Any:
    """What is left of `x` after division by `y`, with the sign of `x`."""
    if not are_alike(x, y):
        raise mismatch("rem", x, y)
    return np.fmod(x, y)


@written_out
def pow(x: Any, y: Any) -> Any:  # noqa: A001
    """`x**y`."""
    if not are_alike(x, y):
        raise mismatch("pow", x, y)
    return x**y


@written_out
def max(x: Any, y: Any) -> Any:  # noqa: A001
    """The larger one."""
    if not are_alike(x, y):
        raise mismatch("max", x, y)
    return np.maximum(x, y)


@written_out
def min(x: Any, y: Any) -> Any:  # noqa: A001
    """The smaller one."""
    if not are_alike(x, y):
        raise mismatch("min", x, y)
    return np.minimum(x, y)


@written_out
def atan2(x: Any, y: Any) -> Any:
    """The angle of `x / y`, in its quadrant."""
    if not are_alike(x, y):
        raise mismatch("atan2", x, y)
    return np.arctan2(x, y)


@written_out
def nextafter(x1: Any, x2: Any) -> Any:
    """The next number from `x1` towards `x2`."""
    if not are_alike(x1, x2):
        raise mismatch("nextafter", x1, x2)
    return np.nextafter(x1, x2)


@written_out
def complex_of(x: Any, y: Any) -> Any:
    """`x + 1j * y`."""
    if not are_alike(x, y):
        raise mismatch("complex", x, y)
    return x + 1j * y


@written_out
def eq(x: Any, y: Any) -> Any:
    """`x == y`."""
    if not are_alike(x, y):
        raise mismatch("eq", x, y)
    return np.equal(x, y)


@written_out
def ne(x: Any, y: Any) -> Any:
    """`x != y`."""
    if not are_alike(x, y):
        raise mismatch("ne", x, y)
    return np.not_equal(x, y)


@written_out
def lt(x: Any, y: Any) -> Any:
    """`x < y`."""
    if not are_alike(x, y):
        raise mismatch("lt", x, y)
    return np.less(x, y)


@written_out
def le(x: Any, y: Any) -> Any:
    """`x <= y`."""
    if not are_alike(x, y):
        raise mismatch("le", x, y)
    return np.less_equal(x, y)


@written_out
def gt(x: Any, y: Any) -> Any:
    """`x > y`."""
    if not are_alike(x, y):
        raise mismatch("gt", x, y)
    return np.greater(x, y)


@written_out
def ge(x: Any, y: Any) -> Any:
    """`x >= y`."""
    if not are_alike(x, y):
        raise mismatch("ge", x, y)
    return np.greater_equal(x, y)


bitwise_and = np.bitwise_and
bitwise_or = np.bitwise_or
bitwise_xor = np.bitwise_xor
shift_left = np.left_shift
shift_right_arithmetic = np.right_shift


def shift_right_logical(x: Any, y: Any) -> Any:
    """The bits `y` places to the right, with zeros on the left of negative numbers."""
    unsigned = x.view(f"u{x.dtype.itemsize}") if x.dtype.kind == "i" else x
    return np.right_shift(unsigned, y.astype(unsigned.dtype)).view(x.dtype)


# -- of three and more --------------------------------------------------------------


def clamp(min: Any, x: Any, max: Any) -> Any:
    """`x`, or the bound that it is beyond."""
    return np.minimum(np.maximum(x, min), max)


@written_out
def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """`on_true` where `pred` is true, `on_false` elsewhere; both are computed."""
    if not are_alike(on_true, on_false):
        raise mismatch("select", on_true, on_false)
    return np.where(pred, on_true, on_false)


@written_out
def select_n(which: Any, *cases: Any) -> Any:
    """`cases[which]`, entry by entry: `which` has truth values, or numbers of cases."""
    found = cases[0]
    for k in range(1, len(cases)):
        if not are_alike(cases[0], cases[k]):
            raise mismatch("select_n", cases[0], cases[k])
        found = np.where(which == k, cases[k], found)
    return found


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """The array with another dtype."""
    return np.asarray(operand).astype(new_dtype)


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """The bits of an array, read as another dtype of the same size."""
    if np.dtype(new_dtype).itemsize != operand.dtype.itemsize:
        raise TypeError(f"{operand.dtype} and {np.dtype(new_dtype)} differ in size")
    return operand.view(new_dtype)
