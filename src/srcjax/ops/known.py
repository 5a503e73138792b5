"""What types tell of arguments: the values of flags and axes, the items of lists."""

from __future__ import annotations

from typing import Any

from srcjax.analysis.types import Const, List, Scalar, Tuple, Type

MISSING = object()


def known(t: Type | None, default: object = MISSING) -> object:
    """The value of a known constant (also None, tuples of constants), else `MISSING`.

    An absent argument (t None) has its `default`.
    """
    if t is None:
        return default
    if isinstance(t, Const):
        return t.value
    if isinstance(t, Scalar) and isinstance(t.size, int):
        return t.size
    if isinstance(t, Tuple):
        values = [known(item) for item in t.items]
        return MISSING if any(v is MISSING for v in values) else tuple(values)
    return MISSING


def known_value(t: Type | None, default: object = MISSING) -> Any:
    """Like `known`, lists of constants included."""
    if isinstance(t, (Tuple, List)) and t.items is not None:
        values = [known_value(item) for item in t.items]
        if any(v is MISSING for v in values):
            return MISSING
        return values if isinstance(t, List) and t.cls is list else tuple(values)
    return known(t, default)


def types_in(arrays: Any) -> list[Type] | None:
    """The types of the items of a list or tuple of known length, else None."""
    if isinstance(arrays, (Tuple, List)):
        return None if arrays.items is None else list(arrays.items)
    return list(arrays) if isinstance(arrays, (tuple, list)) else None


__all__ = ["MISSING", "known", "known_value", "types_in"]
