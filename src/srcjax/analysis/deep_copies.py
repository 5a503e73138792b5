"""What `copy.deepcopy` does to a value, as its type tells."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from srcjax.analysis.types import (
    NONE,
    Buffers,
    Const,
    Object,
    Other,
    Type,
    all_buffers,
    parts,
)

#: What a copy of is the same object.
_COPIED_AS_ITSELF = (
    *(type(None), bool, int, float, complex, str, bytes, range, slice, type(...)),
    *(type, FunctionType, BuiltinFunctionType, np.generic, np.dtype, np.ufunc),
)


def is_another(t: Type) -> bool:
    """Whether a copy of what is known by its value is another object."""

    def other(value: Any) -> bool:
        if type(value) is tuple:
            return any(map(other, value))
        return not isinstance(value, _COPIED_AS_ITSELF)

    return isinstance(t, Const) and other(t.value)


def holds_twice(t: Type) -> bool:
    """Whether two parts of a container may be one array, or share memory."""
    seen: Buffers = NONE
    for part in parts(t):
        found = all_buffers(part)
        if found & seen or holds_twice(part):
            return True
        seen |= found
    return False


def holds_object(t: Type) -> bool:
    """Whether the value or a part of it may have a `__deepcopy__` of its own."""
    own = getattr(t, "cls", None) not in (None, list, tuple)
    return isinstance(t, (Object, Other)) or own or any(map(holds_object, parts(t)))
