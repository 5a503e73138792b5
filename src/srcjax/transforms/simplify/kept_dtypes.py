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

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import Array, Const, Scalar, Type, dtype_of

#: What an expression holds: a dtype, the type of a Python number, or None: not known.
Kind = np.dtype | type | None
Types = Callable[[str], Type]

_WIDER = (bool, int, float, complex)
_SAME = frozenset(["copy", "reshape", "sum", "mean", "transpose", "ravel", "swapaxes"])
_LIKE = frozenset(["np.zeros_like", "np.ones_like", "np.full_like", "np.empty_like"])
_NUMBERS = {f"np.{n}": np.dtype(n) for n in ("float16", "float32", "float64", "int64")}
_TESTS = frozenset(["np.isfinite", "np.isnan", "np.isinf", "np.logical_not"])


def keep_dtypes(
    node: gast.FunctionDef, at: int, wanted: list[Type], types: Types
) -> bool:
    """Cast gradients that surely have another precision; whether one was cast.

    `at` is the place of the gradient in the returned tuple (-1: all of it), `wanted`
    the types of the arguments it belongs to.
    """
    dtypes = [_precision(t) for t in wanted]
    if not any(dtypes):
        return False
    kinds = _Kinds(types)
    kinds.block(node.body)
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
    new = [kinds.cast(p, d) for p, d in zip(parts, dtypes, strict=True)]
    if all(a is b for a, b in zip(new, parts, strict=True)):
        return False
    if value is not parts[0]:
        value.elts = new
    elif at >= 0:
        returned.value.elts[at] = new[0]
    else:
        returned.value = new[0]
    return True


def _precision(t: Type) -> np.dtype | None:
    """The dtype of an array or NumPy number that is not in double precision."""
    if not isinstance(t, (Array, Scalar)):
        return None
    dtype = dtype_of(t)
    return dtype if dtype is not None and dtype.char in "efF" else None


class _Kinds:
    """What the names of a function hold, statement by statement."""

    def __init__(self, types: Types) -> None:
        self.types = types
        self.names: dict[str, Kind] = {}

    def block(self, stmts: list[gast.stmt]) -> None:
        for stmt in stmts:
            target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
            if isinstance(target, gast.Name):
                self.names[target.id] = self.of(stmt.value)
            elif isinstance(target, (gast.Subscript, gast.Attribute)):
                continue  # what is stored takes the dtype of the array
            elif not isinstance(stmt, gast.Return):
                for name in syntax.names_written(stmt):
                    self.names[name] = None

    def cast(self, value: gast.expr, dtype: np.dtype | None) -> gast.expr:
        """The value in the dtype, where it surely has another one."""
        found = self.of(value)
        if dtype is None or found is None or found == dtype:
            return value
        if not isinstance(found, np.dtype):  # of a number
            return syntax.expression(f"np.{dtype.name}(v)", v=value)
        return syntax.expression(f"(v).astype(np.{dtype.name})", v=value)

    def of(self, node: Any) -> Kind:
        if isinstance(node, gast.Constant):
            return type(node.value) if type(node.value) in _WIDER else None
        if isinstance(node, gast.Name):
            if node.id in self.names:
                return self.names[node.id]
            return _kind_of_type(self.types(node.id))
        if isinstance(node, gast.Compare):
            return _compared([self.of(n) for n in (node.left, *node.comparators)])
        if isinstance(node, gast.UnaryOp):
            return self.of(node.operand)
        if isinstance(node, gast.BinOp):
            joined = _joined(self.of(node.left), self.of(node.right))
            divides = isinstance(node.op, gast.Div)
            return _as_float(joined) if divides else joined
        if isinstance(node, gast.Subscript):
            return _of_array(self.of(node.value))
        if isinstance(node, gast.Attribute) and node.attr == "T":
            return self.of(node.value)
        if isinstance(node, gast.Call):
            return self.of_call(node)
        return None

    def of_call(self, node: gast.Call) -> Kind:
        if any(k.arg == "dtype" for k in node.keywords):
            return None
        name = syntax.dotted(node.func)
        if name == "np.where" and len(node.args) == 3:
            joined = _joined(*map(self.of, node.args[1:]))
            return np.dtype(joined) if isinstance(joined, type) else joined
        if name in _NUMBERS:
            return _NUMBERS[name]
        if name in _TESTS:
            return np.dtype(bool)
        if name in _LIKE and node.args:
            return _of_array(self.of(node.args[0]))
        if isinstance(node.func, gast.Attribute) and node.func.attr in _SAME:
            held = (
                self.of(node.func.value) if name is None or "np." not in name else None
            )
            return held if held not in (np.dtype(bool), np.dtype(int)) else None
        return None


def _kind_of_type(t: Type) -> Kind:
    if isinstance(t, Array):
        return t.dtype
    if isinstance(t, Const):
        return type(t.value) if type(t.value) in _WIDER else None
    if isinstance(t, Scalar) and t.python and t.dtype is not None:
        return {"b": bool, "i": int, "f": float, "c": complex}.get(t.dtype.kind)
    return t.dtype if isinstance(t, Scalar) else None


def _of_array(kind: Kind) -> Kind:
    return kind if isinstance(kind, np.dtype) else None


def _as_float(kind: Kind) -> Kind:
    if kind in (bool, int):
        return float
    if isinstance(kind, np.dtype) and kind.kind in "biu":
        return np.dtype(float)
    return kind


def _compared(kinds: list[Kind]) -> Kind:
    if None in kinds:
        return None
    return np.dtype(bool) if any(isinstance(k, np.dtype) for k in kinds) else bool


def _joined(left: Kind, right: Kind) -> Kind:
    """The dtype of an operation on both: Python numbers take that of the array."""
    if left is None or right is None:
        return None
    if isinstance(left, type) and isinstance(right, type):
        return max(left, right, key=_WIDER.index)
    if isinstance(right, np.dtype) and isinstance(left, type):
        left, right = right, left
    if isinstance(right, type):
        return np.result_type(np.empty(1, left), right())
    return np.result_type(left, right)
