"""What tells calls apart: the signature of their arguments."""

from __future__ import annotations

from dataclasses import is_dataclass
from types import MethodType, ModuleType
from typing import Any

import numpy as np

from srcjax.analysis.arrays import Array
from srcjax.analysis.plain import DICTS, is_size
from srcjax.analysis.registered import record_fields

Key = Any


def signature_key(value: Any) -> Key:
    """What specialisation depends on: hashable, equal where calls share a version.

    Tells apart what `type_of` tells apart. An object known by identity is kept alive by
    the type in its version, so that no other object can take its id.
    """
    cls = type(value)
    if cls is float:
        return cls
    if cls is int:
        return cls, is_size(value)
    if cls is np.ndarray or cls is Array:
        return value.dtype, value.shape
    if cls is list or cls is tuple:
        return cls, tuple([signature_key(v) for v in value])
    if cls in DICTS:
        pairs = [(k, signature_key(v)) for k, v in value.items()]
        return cls, tuple(pairs)
    if value is None or cls in (bool, str, bytes, range):
        return cls, value
    if isinstance(value, (str, bytes, slice)):
        return cls, repr(value)
    if isinstance(value, np.generic):
        return cls, value.dtype
    if isinstance(value, tuple):
        return cls, tuple([signature_key(v) for v in value])
    names = record_fields(value)
    if names is not None:
        parts = (signature_key(getattr(value, name, None)) for name in names)
        return cls, *((names,) if not is_dataclass(value) else ()), tuple(parts)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return cls, value.dtype, value.shape
    if isinstance(value, MethodType):  # made anew each time it is looked up
        return cls, id(value.__func__), id(value.__self__)
    if callable(value) or isinstance(value, (np.dtype, ModuleType)):
        return cls, id(value)
    return cls


def is_of_device(key: Key) -> bool:
    """Whether there is an array of a GPU among the values of a key."""
    if isinstance(key, tuple):
        return any(map(is_of_device, key))
    return isinstance(key, type) and key.__module__.partition(".")[0] == "cupy"
