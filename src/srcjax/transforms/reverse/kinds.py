"""A contribution to an adjoint as what its value is: a number, an array, a list.

    np.append([1.0, 2.0], x)      the adjoint of the list is an array
    np.take(x, [0, 0])            that of the number `x` is an array without axes

A derivative has the type of what it is the derivative of.
"""

from __future__ import annotations

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import (
    Array,
    List,
    Scalar,
    Tuple,
    Type,
    Unknown,
    dtype_of,
    is_number,
    parts,
    without_buffers,
)
from srcjax.frontend.helper_names import HELPERS


def in_kind_of(value: gast.expr, have: Type, t: Type) -> tuple[gast.expr, Type]:
    """The contribution to a value of type `t`, and its type then."""
    if is_number(t) and (isinstance(have, Array) or is_unsure(value, have)):
        summed = syntax.expression("np.sum(d)", d=value)
        return summed, Scalar(dtype=dtype_of(have))
    if isinstance(t, List) and isinstance(have, Array):
        text = "d.tolist()" if any(isinstance(p, List) for p in parts(t)) else "list(d)"
        return syntax.expression(text, d=value), without_buffers(t)
    if isinstance(t, List) and t.cls is list and isinstance(have, Tuple):
        return in_a_list(value), List(items=have.items)
    narrow = isinstance(have, Scalar) and have.dtype == np.dtype(np.float32)
    python = isinstance(t, Scalar) and t.python and t.dtype == np.dtype(float)
    if narrow and python:
        return syntax.call("float", value), t
    return value, have


def in_a_list(value: gast.expr) -> gast.expr:
    """The items of a tuple as a list, which can be written to."""
    if isinstance(value, gast.Tuple):
        return gast.List(value.elts, syntax.LOAD)
    return syntax.call("list", value)


def is_unsure(value: gast.expr, have: Type) -> bool:
    """Whether a helper gives what may be an array without axes."""
    called = value.func if isinstance(value, gast.Call) else None
    helper = isinstance(called, gast.Name) and called.id in HELPERS
    return helper and isinstance(have, Unknown)


__all__ = ["in_kind_of"]
