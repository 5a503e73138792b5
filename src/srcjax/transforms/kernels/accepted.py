"""What kernels compute with, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import Array, Const, Scalar, Type, dtype_of, is_number

#: What machine arithmetic computes as NumPy does.
DTYPES = tuple(map(np.dtype, (np.float64, np.float32, np.int64, np.bool_)))
#: The largest whole number whose sums and products are sure to fit.
LARGEST = 2**62


class NotCompiled(Exception):
    """Why a statement stays Python."""

    def __init__(self, stmt: Any, reason: str) -> None:
        super().__init__(reason)
        self.stmt = stmt
        self.reason = reason


class LeavesLate(NotCompiled):
    """The kernel would have to be left after it wrote to what it is given."""


def kind(t: Type) -> str:
    """`f`, `i` or `b` of numbers and arrays that kernels compute with, else nothing."""
    if not (is_number(t) or isinstance(t, Array)):
        return ""
    dtype = dtype_of(t)
    known = t.value if isinstance(t, Const) else 0
    if isinstance(known, int) and abs(known) > LARGEST:
        return ""
    if dtype is None or not any(dtype is d or dtype.str == d.str for d in DTYPES):
        return ""
    return dtype.kind


def is_kernel_number(t: Type) -> bool:
    """Whether a value is one number in a kernel."""
    return is_number(t) and kind(t) != ""


def is_kernel_array(t: Type) -> bool:
    """Whether a value is an array in a kernel: those without dimensions are none."""
    return isinstance(t, Array) and kind(t) != "" and bool(t.shape)


def is_single(t: Type) -> bool:
    """Whether a value has single precision."""
    dtype = dtype_of(t)
    return dtype is not None and dtype.str == np.dtype(np.float32).str


def is_pythons(t: Type) -> bool:
    """Whether a number is Python's own: it divides by zero loudly, and never wraps."""
    if isinstance(t, Const):
        return isinstance(t.value, (int, float))
    return isinstance(t, Scalar) and t.python is True


def array_of(maker: str, shape: gast.expr, dtype: Any, *fill: gast.expr) -> gast.expr:
    """An array that is made: `np.empty(shape)`, `np.full((n, m), v, np.float32)`."""
    given = [shape, *fill]
    if dtype != np.float64:
        given.append(syntax.expression(f"np.{np.dtype(dtype).type.__name__}"))
    return syntax.call(syntax.expression(f"np.{maker}"), *given)


def stored_number(value: gast.expr, of: Type, to: Type, stmt: Any) -> gast.expr:
    """A number that is stored in an array, as NumPy converts it."""
    if kind(of) == kind(to) or kind(to) == "f":
        return value
    if kind(to) == "i" and kind(of) == "b":
        return syntax.call("int", value)
    raise NotCompiled(stmt, "a number is stored in an array of another dtype")


def other_shape(new: Any, place: Any) -> bool:
    """Whether an update has another shape than what it updates, for all that is known.

    Of sizes that are not known it is asked when the loop begins.
    """
    if new is None or place is None or len(new) != len(place):
        return True
    return any(
        isinstance(m, int) and isinstance(n, int) and m != n
        for m, n in zip(new, place, strict=True)
    )


def plus_one(node: gast.expr) -> gast.expr:
    """`n + 1`."""
    if isinstance(node, gast.Constant):
        return syntax.const(node.value + 1)
    return syntax.expression("n + 1", n=node)


def less_one(node: gast.expr) -> gast.expr:
    """`n - 1`."""
    if isinstance(node, gast.Constant):
        return syntax.const(node.value - 1)
    return syntax.expression("n - 1", n=node)
