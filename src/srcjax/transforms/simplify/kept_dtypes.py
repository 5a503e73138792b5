"""Gradients have the dtype of what they belong to.

Before:                                    After:

    def grad_f(x):  # of float32               def grad_f(x):
        return np.where(x > 0, 1.05, 0)            dx = np.where(x > 0, 1.05, 0)
                                                   return dx.astype(np.float32)

Numbers in the text take the precision of the array beside them, so a cast is only
wanted where a gradient is made of numbers and conditions alone. What cannot be told
stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import (
    Array,
    Const,
    Scalar,
    Type,
    dtype_of,
    is_number,
    type_of,
)
from srcjax.transforms.call_effects import called


def keep_dtypes(
    node: gast.FunctionDef,
    at: int,
    wanted: list[Type],
    type_at: Callable[[Any, gast.expr], Type],
    adjoints: Collection[str],
) -> bool:
    """Cast gradients that surely have another precision; whether one was cast.

    `at` is the place of the gradient in the returned tuple (-1: all of it), `wanted`
    the types of the arguments it belongs to, `type_at` infers what an expression in a
    statement is, and `adjoints` are names of adjoints.
    """
    dtypes = [_precision(t) for t in wanted]
    if not any(dtypes):
        return False
    returned: Any = node.body[-1]
    if not isinstance(returned, gast.Return) or returned.value is None:
        return False
    value = returned.value
    if at >= 0:
        if not isinstance(value, gast.Tuple) or at >= len(value.elts):
            return False
        value = value.elts[at]
    parts = [value]
    if isinstance(value, gast.Tuple) and len(value.elts) == len(wanted):
        parts = list(value.elts)
    if len(parts) != len(wanted):
        return False
    made = {
        stmt.targets[0].id: stmt.value
        for stmt in node.body
        if isinstance(stmt, gast.Assign) and syntax.is_name(stmt.targets[0])
    }

    def is_sure(value: gast.expr, dtype: np.dtype) -> bool:
        name = getattr(value, "id", "")
        if name in made and syntax.count_bindings(node, name) == 1:
            value = made[name]
        cast = called(value) == f"np.{dtype.name}"
        return cast or syntax.names_read(value).isdisjoint(adjoints)

    new = [
        value if dtype is None else _kept(value, dtype, t, returned, type_at, is_sure)
        for value, dtype, t in zip(parts, dtypes, wanted, strict=True)
    ]
    if all(a is b for a, b in zip(new, parts, strict=True)):
        return False
    if value is not parts[0]:
        value.elts = new
    elif at >= 0:
        returned.value.elts[at] = new[0]
    else:
        returned.value = new[0]
    return True


def _kept(
    value: Any,
    dtype: np.dtype,
    wanted: Type,
    returned: gast.Return,
    type_at: Callable[[Any, gast.expr], Type],
    is_sure: Callable[[gast.expr, np.dtype], bool],
) -> gast.expr:
    """The gradient in the dtype; a number without a helper.

    An adjoint is supposed to have the dtype of what it belongs to, so that only of what
    is made of other values it `is_sure` that no cast is wanted.
    """
    helped = called(value) == "in_dtype_of" and len(value.args) == 2
    if not helped:
        return _cast(value, type_at(returned, value), dtype)
    inner = value.args[0]
    found = type_at(returned, inner)
    if not (is_number(found) and isinstance(wanted, Scalar)):
        return value
    while called(inner) == f"np.{dtype.name}" and len(inner.args) == 1:
        inner = inner.args[0]  # it is cast again
    other = dtype_of(found)
    if other is None or other.kind != dtype.kind:
        return value
    if is_sure(inner, dtype):
        return _cast(inner, found, dtype)
    return syntax.expression(f"np.{dtype.name}(v)", v=inner)


def _precision(t: Type) -> np.dtype | None:
    """The dtype of an array or NumPy number that is not in double precision."""
    if not isinstance(t, (Array, Scalar)):
        return None
    dtype = dtype_of(t)
    return dtype if dtype is not None and dtype.char in "efF" else None


def _cast(value: gast.expr, found: Type, dtype: np.dtype | None) -> gast.expr:
    """The value in the dtype, where it surely has another one."""
    if isinstance(found, Const):
        found = type_of(found.value)
    if dtype is not None and isinstance(found, Scalar) and found.python:
        return syntax.expression(f"np.{dtype.name}(v)", v=value)
    other = dtype_of(found) if isinstance(found, (Array, Scalar)) else None
    if dtype is None or other is None or other == dtype:
        return value
    return syntax.expression(f"(v).astype(np.{dtype.name})", v=value)
