"""Values -> expressions that give them again, for exported modules."""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.arrays import ARRAYS

LARGEST_ARRAY = 2000
#: Arrays of one value repeated are written short from here on.
SHORT_FROM = 8

# value, a name for it -> a name or expression that stands for it
Reference = Callable[[Any, str], gast.expr]


class NotLiteral(Exception):
    """The value has no text. The message says which and why."""


def is_plain(value: Any) -> bool:
    """Whether the value is an immutable literal, so that equal ones are the same."""
    if isinstance(value, (tuple, frozenset)):
        return type(value) in (tuple, frozenset) and all(map(is_plain, value))
    return value is None or type(value) in (bool, int, float, complex, str, bytes)


def literal(value: Any, reference: Reference) -> gast.expr:
    """An expression that gives the value. Raises NotLiteral."""
    cls = type(value)
    if value is None or cls in (bool, str, bytes) or value is Ellipsis:
        return syntax.const(value)
    if cls in (int, float, complex):
        return _number(value, reference)
    if cls in (tuple, list, set, frozenset, dict):
        return _container(value, reference)
    if cls is slice or cls is range:
        parts = (value.start, value.stop, value.step)
        return syntax.call(cls.__name__, *(literal(p, reference) for p in parts))
    if isinstance(value, np.ndarray):
        return _array(value, reference)
    if isinstance(value, np.generic):
        inner = value.item()
        if isinstance(inner, np.generic) or value.dtype.kind not in "biufcSU":
            raise NotLiteral(f"a NumPy value of dtype {value.dtype} has no literal")
        return syntax.call(_np(reference, cls.__name__), literal(inner, reference))
    if isinstance(value, np.dtype):
        if value.hasobject or value.fields:
            raise NotLiteral(f"dtype {value} has no literal")
        return syntax.call(_np(reference, "dtype"), syntax.const(value.str))
    if isinstance(value, enum.Enum):
        return gast.Attribute(reference(cls, cls.__name__), value.name, syntax.LOAD)
    if isinstance(value, functools.partial) and cls is functools.partial:
        given = [reference(value.func, getattr(value.func, "__name__", "function"))]
        given += [literal(a, reference) for a in value.args]
        named = {k: literal(v, reference) for k, v in value.keywords.items()}
        return syntax.call(reference(cls, "partial"), *given, **named)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        named = {k: _part(getattr(value, k), k, reference) for k in value._fields}
        return syntax.call(reference(cls, cls.__name__), **named)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _dataclass(value, reference)
    if cls.__module__.partition(".")[0] == "cupy" and hasattr(value, "get"):
        host = literal(value.get(), reference)
        return syntax.call(reference(_cupy_array(), "array"), host)
    raise NotLiteral(f"it is a live object of type {cls.__module__}.{cls.__qualname__}")


def _cupy_array() -> Any:
    import cupy

    return cupy.array


def _part(value: Any, name: str, reference: Reference) -> gast.expr:
    """A part of a value: a literal where it is one, else a reference."""
    if callable(value) and not isinstance(value, (np.generic, functools.partial)):
        return reference(value, getattr(value, "__name__", name))
    return literal(value, reference)


def _np(reference: Reference, attribute: str) -> gast.expr:
    return gast.Attribute(reference(np, "np"), attribute, syntax.LOAD)


def _number(value: Any, reference: Reference) -> gast.expr:
    if isinstance(value, complex):
        parts = (_number(value.real, reference), _number(value.imag, reference))
        return syntax.call("complex", *parts)
    if isinstance(value, float) and not math.isfinite(value):
        name = "nan" if math.isnan(value) else "inf"
        found = _np(reference, name)
        return gast.UnaryOp(gast.USub(), found) if value < 0 else found
    if value < 0 or (isinstance(value, float) and math.copysign(1, value) < 0):
        return gast.UnaryOp(gast.USub(), syntax.const(-value))
    return syntax.const(value)


def _container(value: Any, reference: Reference) -> gast.expr:
    if isinstance(value, dict):
        keys = [_part(k, "key", reference) for k in value]
        values = [
            _part(
                v, k if isinstance(k, str) and k.isidentifier() else "value", reference
            )
            for k, v in value.items()
        ]
        return gast.Dict(keys, values)
    items = list(value)
    if isinstance(value, (set, frozenset)):
        items.sort(key=repr)  # the order of a set is not the same in each process
    parts = [_part(item, "value", reference) for item in items]
    if isinstance(value, tuple):
        return gast.Tuple(parts, syntax.LOAD)
    if isinstance(value, list):
        return gast.List(parts, syntax.LOAD)
    inner = [gast.Set(parts)] if parts else []
    if isinstance(value, frozenset) or not parts:
        return syntax.call(type(value).__name__, *inner)
    return inner[0]


def _array(value: np.ndarray, reference: Reference) -> gast.expr:
    if type(value) not in ARRAYS:
        name = type(value).__name__
        raise NotLiteral(f"it is a {name}, a subclass of np.ndarray")
    if value.dtype.kind not in "biufcSU" or value.dtype.char in "gG":
        raise NotLiteral(f"an array of dtype {value.dtype} has no literal")
    dtype = _dtype(value.dtype, reference)
    repeated = value.size > SHORT_FROM and _all_equal(value)
    if value.size == 0 or repeated:
        shape = literal(value.shape if value.ndim != 1 else value.size, reference)
        if value.size == 0 or not value.flat[0] and not _negative_zero(value.flat[0]):
            return syntax.call(_np(reference, "zeros"), shape, dtype=dtype)
        if value.dtype.kind in "iuf" and value.flat[0] == 1:
            return syntax.call(_np(reference, "ones"), shape, dtype=dtype)
        first = literal(value.flat[0].item(), reference)
        return syntax.call(_np(reference, "full"), shape, first, dtype=dtype)
    if value.size > LARGEST_ARRAY:
        raise NotLiteral(
            f"it is an array of {value.size} elements; at most {LARGEST_ARRAY} are "
            "written into a module"
        )
    items = literal(value.tolist(), reference)
    return syntax.call(_np(reference, "array"), items, dtype=dtype)


def _dtype(dtype: np.dtype, reference: Reference) -> gast.expr:
    name = dtype.name
    if dtype.isnative and getattr(np, name, None) is dtype.type:
        return _np(reference, name)
    if dtype.kind == "b":
        return syntax.expression("bool")
    return syntax.const(dtype.str)


def _negative_zero(value: Any) -> bool:
    return value == 0 and value.dtype.kind in "fc" and bool(np.signbit(value.real))


def _all_equal(value: np.ndarray) -> bool:
    flat = np.ascontiguousarray(value).ravel()
    return bool(flat.tobytes() == flat[:1].tobytes() * flat.size)


def _dataclass(value: Any, reference: Reference) -> gast.expr:
    cls = type(value)
    named = {}
    for field in dataclasses.fields(value):
        if not field.init:
            raise NotLiteral(
                f"it is a {cls.__name__} whose field {field.name} its constructor "
                "does not take"
            )
        named[field.name] = _part(getattr(value, field.name), field.name, reference)
    fields = {field.name for field in dataclasses.fields(value)}
    if set(getattr(value, "__dict__", fields)) - fields:
        raise NotLiteral(f"it is a {cls.__name__} with attributes beside its fields")
    return syntax.call(reference(cls, cls.__name__), **named)
