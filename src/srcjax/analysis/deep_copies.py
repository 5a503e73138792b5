"""What `copy.deepcopy` does to a value, as its type tells."""

from __future__ import annotations

from srcjax.analysis.types import (
    NONE,
    Buffers,
    Object,
    Other,
    Type,
    all_buffers,
    parts,
)


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
