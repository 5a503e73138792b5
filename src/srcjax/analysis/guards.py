"""What generated code was written for, and whether it still is so."""

from __future__ import annotations

import inspect
import operator
import sys
import types as pytypes
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from srcjax.analysis.binding import global_type
from srcjax.analysis.types import Type

#: A list or dict of more items is looked at each time for what it is, not what it has.
MOST = 64
_LIBRARIES = sys.stdlib_module_names | {"numpy", "scipy", "srcjax"}


@dataclass
class Guard:
    """A name that was resolved: the generated code holds while it stays the same."""

    holder: Any
    key: str
    value: Any

    def holds(self) -> bool:
        """Whether the name still means the same object."""
        try:
            if isinstance(self.holder, dict):
                return self.holder[self.key] is self.value
            if isinstance(self.holder, pytypes.CellType):
                return self.holder.cell_contents is self.value
            return getattr(self.holder, self.key) is self.value
        except (KeyError, ValueError, AttributeError):
            return False


class Seen(Guard):
    """What was found in an object: it may be another value, of the same type.

    The attribute `key` of the holder; without a key, the holder's own items.
    """

    def __init__(self, holder: Any, key: str, value: Any) -> None:
        super().__init__(holder, key, value)
        self.found = _look(value)
        self.parts = _parts(value)

    def holds(self) -> bool:
        """Whether code for what was there is code for what is there now."""
        try:
            value = getattr(self.holder, self.key) if self.key else self.holder
        except AttributeError:
            return False
        parts = _parts(value)
        if len(parts) == len(self.parts) and all(map(operator.is_, parts, self.parts)):
            return True
        same = bool(_look(value) == self.found)
        if same:
            self.value, self.parts = value, parts
        return same


def has_items(value: Any) -> bool:
    """Whether types are known of items that may be other ones later."""
    if isinstance(value, tuple):
        return any(map(has_items, value))
    return isinstance(value, (dict, list)) or (
        is_dataclass(value) and not isinstance(value, type)
    )


def _parts(value: Any) -> list[Any]:
    """The object, and if it may get other items all that is in it."""
    if not has_items(value) or (isinstance(value, (dict, list)) and len(value) > MOST):
        return [value]
    if isinstance(value, dict):
        inside = [*value, *value.values()]
    elif isinstance(value, (list, tuple)):
        inside = list(value)
    else:
        inside = [getattr(value, f.name, None) for f in fields(value)]
    found = [value, len(inside)]
    for part in inside:
        found += _parts(part)
    return found


def _look(value: Any) -> tuple[type, Type | None]:
    large = isinstance(value, (dict, list)) and len(value) > MOST
    return type(value), None if large else global_type(value, "")


def attribute_guard(holder: Any, key: str, value: Any) -> Guard | None:
    """The guard of an attribute that was read; None if it stays, or is computed."""
    if isinstance(holder, pytypes.ModuleType):
        library = holder.__name__.partition(".")[0] in _LIBRARIES
        return None if library else Seen(holder, key, value)
    library = type(holder).__module__.partition(".")[0] in ("numpy", "scipy", "srcjax")
    if library or is_computed(holder, key):
        return None
    return Seen(holder, key, value)


def is_computed(holder: Any, key: str) -> bool:
    """Whether the attribute is what a method, a property or `__getattr__` gives."""
    try:
        if key in vars(holder) and not isinstance(holder, type):
            return False
    except TypeError:
        pass  # an object with slots
    found = inspect.getattr_static(holder, key, None)
    slot = isinstance(
        found, (pytypes.MemberDescriptorType, pytypes.GetSetDescriptorType)
    )
    return found is None or (hasattr(found, "__get__") and not slot)


__all__ = ["Guard", "Seen", "attribute_guard", "has_items", "is_computed"]
