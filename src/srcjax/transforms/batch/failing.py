"""Which statements may fail on their own, whatever the examples are.

A side that no example takes must not run where it may: `x[3]` of arrays of two.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
    Object,
    Scalar,
    Sym,
    Tuple,
    Type,
    is_active,
    shape_of,
)
from srcjax.ops.elementwise_facts import elementwise_operation, function_named
from srcjax.transforms.call_effects import called

_ARITHMETIC = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.Pow)


def may_fail(
    stmts: list[gast.stmt], types: Mapping[str, Type], missing: Set[str]
) -> bool:
    """Whether a statement may raise an error although no example is there.

    `missing` are the names that may be None.
    """
    return not all(_is_safe(stmt, types, missing) for stmt in stmts)


def _computes_with(stmt: gast.Assign, missing: Set[str]) -> bool:
    """Whether a statement does more with one of the names than to name it again."""
    plain = (gast.Name, gast.Tuple, gast.List, gast.Dict, gast.Compare)
    named = isinstance(stmt.value, plain)
    return not named and not missing.isdisjoint(syntax.names_read(stmt))


def _is_safe(stmt: gast.stmt, types: Mapping[str, Type], missing: Set[str]) -> bool:
    if isinstance(stmt, gast.Pass):
        return True
    if isinstance(stmt, gast.If):
        return not may_fail([*stmt.body, *stmt.orelse], types, missing)
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) > 1:
        return False
    if _computes_with(stmt, missing):
        return False
    target, value = stmt.targets[0], stmt.value
    if isinstance(target, gast.Name):
        return _gives(value, types.get(target.id, UNKNOWN), types)
    stored = isinstance(target, gast.Subscript) and _shape(value, types) == ()
    return stored and _has_item(target, types)


def _gives(value: gast.expr, result: Type, types: Mapping[str, Type]) -> bool:
    """Whether the operation surely gives a value."""
    if isinstance(value, (gast.Name, gast.Constant, gast.UnaryOp)):
        return True
    if isinstance(value, (gast.List, gast.Tuple)):
        return not any(isinstance(e, gast.Starred) for e in value.elts)
    if isinstance(value, (gast.Dict, gast.Compare)):
        return all(isinstance(k, gast.Constant) for k in getattr(value, "keys", ()))
    known = isinstance(result, Scalar) or (
        isinstance(result, Array) and shape_of(result) is not None
    )
    if isinstance(value, gast.BinOp):
        mapped = any(is_active(_of(v, types)) for v in (value.left, value.right))
        return known and mapped and isinstance(value.op, _ARITHMETIC)
    if isinstance(value, gast.Subscript):
        return _has_item(value, types)
    if isinstance(value, gast.Attribute):
        return known
    if not isinstance(value, gast.Call) or not known:
        return False
    if isinstance(function_named(called(value)), np.ufunc):
        return True
    mapped = any(is_active(_of(v, types)) for v in value.args)
    return mapped and elementwise_operation(called(value)) is not None


def _has_item(node: gast.Subscript, types: Mapping[str, Type]) -> bool:
    """Whether there is such an item, or there are such items."""
    base = _of(node.value, types)
    if isinstance(base, (Tuple, List, Dict, Object)):
        key = _of(node.slice, types)
        if not isinstance(key, Const) or not isinstance(base, (Tuple, List, Dict)):
            return False
        if isinstance(base, Dict):
            return any(key.value == k for k, _ in base.items or ())
        count = len(base.items or ())
        return isinstance(key.value, int) and -count <= key.value < count
    shape = shape_of(base)
    entries = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    if not isinstance(base, Array) or shape is None or len(entries) > len(shape):
        return False
    return all(map(_in_axis, entries, shape, [types] * len(shape)))


def _in_axis(entry: gast.expr, size: Any, types: Mapping[str, Type]) -> bool:
    if isinstance(entry, gast.Slice):
        return True
    index = _of(entry, types)
    if is_active(index):
        return isinstance(index, (Array, Scalar))  # there is none to look for
    if not isinstance(index, Const) or type(index.value) is not int:
        return False
    if isinstance(size, Sym):  # two at least, of what is an argument's own
        size = 2 if size.sizes is not None and size.name in size.sizes.example else 0
    return isinstance(size, int) and -size <= index.value < size


def _of(node: Any, types: Mapping[str, Type]) -> Type:
    if isinstance(node, gast.Constant):
        return Const(value=node.value)
    if isinstance(node, gast.UnaryOp) and isinstance(node.operand, gast.Constant):
        value = node.operand.value
        if isinstance(node.op, gast.USub) and isinstance(value, (int, float)):
            return Const(value=-value)
    return types.get(getattr(node, "id", ""), UNKNOWN)


def _shape(node: gast.expr, types: Mapping[str, Type]) -> Any:
    t = _of(node, types)
    return () if isinstance(t, (Const, Scalar)) else shape_of(t)


__all__ = ["may_fail"]
