"""What transforms ask of options and of types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from srcjax.late import late

if TYPE_CHECKING:
    from srcjax.analysis import types as ty
else:
    ty = late("srcjax.analysis.types")


def listed(names: Sequence[str]) -> str:
    """`x`, `x and y`, `x, y and z`."""
    *first, last = names or ("nothing",)
    return f"{', '.join(first)} and {last}" if first else last


def is_option(value: Any) -> bool:
    """Whether a value tells what kind of transform it is one of, by being equal."""
    if isinstance(value, (tuple, list)):
        return all(map(is_option, value))
    if isinstance(value, dict):
        return all(map(is_option, value.values()))
    return value is None or type(value) in (int, str, bool)


def has_real(t: ty.Type) -> bool:
    """Whether the value or a part of it certainly is a real number."""
    dtype = ty.dtype_of(t)
    if dtype is not None and dtype.kind in "fiu":
        return True
    return any(has_real(part) for part in ty.parts(t))


def without_activity(t: ty.Type) -> ty.Type:
    """A type as a call sees it: a number that is not known by value, no activity."""
    if isinstance(t, ty.Const) and type(t.value) in (int, float, complex):
        return ty.Scalar(dtype=np.dtype(type(t.value)), python=True)
    return ty.with_active(t, False)


def own_memory(t: ty.Type, buffer: Any) -> ty.Type:
    """The type of an argument, as `type_of` gives it: memory of its own."""
    if isinstance(t, ty.Tuple):
        items = [own_memory(p, (buffer, i)) for i, p in enumerate(t.items)]
        return replace(t, items=tuple(items))
    if isinstance(t, ty.List) and t.items is not None:
        items = [own_memory(p, (buffer, i)) for i, p in enumerate(t.items)]
        return replace(t, items=tuple(items), buffers=frozenset([buffer]))
    if isinstance(t, (ty.Dict, ty.Object)) and t.items is not None:
        pairs = tuple((k, own_memory(p, (buffer, k))) for k, p in t.items)
        return replace(t, items=pairs, buffers=frozenset([buffer]))
    if isinstance(t, (ty.List, ty.Dict)) and t.elem is not None:
        elem = own_memory(t.elem, (buffer, None))
        return replace(t, elem=elem, buffers=frozenset([buffer]))
    if isinstance(t, (ty.Array, ty.Unknown, ty.List, ty.Dict)):
        return replace(t, buffers=frozenset([buffer]))
    return t


def is_container(t: ty.Type) -> bool:
    """Whether the value has parts: it may have none that is differentiated."""
    return isinstance(t, (ty.Tuple, ty.List, ty.Dict, ty.Object))
