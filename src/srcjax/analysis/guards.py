"""What generated code was written for, and whether it still is so."""

from __future__ import annotations

import inspect
import operator
import types as pytypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from srcjax.analysis.arrays import ARRAYS
from srcjax.analysis.registered import record_fields
from srcjax.analysis.standard import is_of_library
from srcjax.late import late

if TYPE_CHECKING:
    from srcjax.analysis import binding
    from srcjax.analysis import types as ty
else:
    binding = late("srcjax.analysis.binding")
    ty = late("srcjax.analysis.types")


#: A list or dict of more items is looked at each time for what it is, not what it has.
MOST = 64


@dataclass
class Guard:
    """A name that was resolved: the generated code holds while it stays the same."""

    holder: Any
    key: str
    value: Any

    def holds(self) -> bool:
        """Whether the name still means the same object."""
        try:
            return self.value_in(self.holder) is self.value
        except (KeyError, ValueError, AttributeError):
            return False

    def value_in(self, holder: Any) -> Any:
        """What the name means there. Raises KeyError, ValueError, AttributeError."""
        if isinstance(holder, dict):
            return holder[self.key]
        if isinstance(holder, pytypes.CellType):
            return holder.cell_contents
        return getattr(holder, self.key)


class Data(Guard):
    """A name whose value the text has, and of which it went by the type alone.

    The same text serves another value of this kind (`versions.rebase`).
    """


_BY_VALUE: ContextVar[bool] = ContextVar("by value", default=False)


class Whole(Guard):
    """A name of a whole number, or of a few, which says how long axes are, or which.

    The text is for this value. Where it turns out to change, as a counter does, code
    goes by its type from then on.
    """

    #: Names of which other values were seen, by the code that they are free in.
    CHANGED: ClassVar[WeakKeyDictionary[pytypes.CodeType, set[str]]]
    CHANGED = WeakKeyDictionary()

    def __init__(
        self, holder: Any, key: str, value: Any, code: pytypes.CodeType
    ) -> None:
        super().__init__(holder, key, value)
        self.code = code

    def holds(self) -> bool:
        if super().holds():
            return True
        self.change()
        return False

    def change(self) -> None:
        """Another value was seen."""
        self.CHANGED.setdefault(self.code, set()).add(self.key)

    @classmethod
    def may_guard(cls, value: Any, key: str, code: pytypes.CodeType) -> bool:
        """Whether a text of the code may be for this value of the name."""
        by_type = not _BY_VALUE.get() and key in cls.CHANGED.get(code, ())
        return cls.is_one(value) and not by_type

    @staticmethod
    @contextmanager
    def by_value() -> Iterator[None]:
        """Inside, texts are for values that may change, too."""
        token = _BY_VALUE.set(True)
        try:
            yield
        finally:
            _BY_VALUE.reset(token)

    @staticmethod
    def is_one(value: Any) -> bool:
        """Whether it is a whole number, or a tuple of some."""
        if type(value) is not tuple:
            return type(value) is int
        return 0 < len(value) <= MOST and all(type(v) is int for v in value)


class Fixed(Guard):
    """A value in the text without a name around it: no other one can stand for it."""

    def __init__(self, value: Any) -> None:
        super().__init__({"": value}, "", value)


def is_data(value: Any) -> bool:
    """Whether a value is a number or an array, or a container of these.

    The type that inference has for it does not tell of its contents.
    """
    if type(value) in ARRAYS or isinstance(value, np.generic):
        return value.dtype.kind in "biufc"
    if type(value) in (tuple, list) and 0 < len(value) <= MOST:
        return all(map(is_data, value))
    if type(value) is dict and 0 < len(value) <= MOST:
        return all(map(is_data, value.values()))
    return type(value) in (int, float, complex)


def same_kind(old: Any, new: Any) -> bool:
    """Whether a text that has one of them by its type is a text for the other."""
    if type(old) in ARRAYS and type(new) in ARRAYS:
        return bool(old.dtype == new.dtype and old.shape == new.shape)
    if type(old) is not type(new):
        return False
    return is_data(new) and binding.global_type(old, "") == binding.global_type(new, "")


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
        if not same and type(value) is list and any(value is p for p in self.parts):
            binding.RESIZED.add(id(value))
        if same:
            self.value, self.parts = value, parts
        return same


class Written(Guard):
    """The code of a function and its defaults, which may be assigned to.

    What reloads a module as it is edited does so.
    """

    def __init__(self, function: pytypes.FunctionType) -> None:
        super().__init__(function, "__code__", function.__code__)
        self.defaults = function.__defaults__
        self.options = dict(function.__kwdefaults__ or {})

    def holds(self) -> bool:
        """Whether it is the function that was read."""
        now = self.holder.__kwdefaults__ or {}
        return (
            self.holder.__code__ is self.value
            and self.holder.__defaults__ is self.defaults
            and list(now) == list(self.options)
            and all(map(operator.is_, now.values(), self.options.values()))
        )


class Asked(Guard):
    """What a function gives that looks at the types of its arguments alone.

    It is asked again, of values of these types: it may go by a setting as well.
    """

    def __init__(self, function: Any, value: Any, ask: Callable[[], Any]) -> None:
        super().__init__(function, "", value)
        self.ask = ask

    def holds(self) -> bool:
        """Whether the function gives the same."""
        try:
            return _is_same(self.ask(), self.value)
        except Exception:
            return False


def _is_same(a: Any, b: Any) -> bool:
    """Whether they are the same object, or tuples of the same objects."""
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return all(map(_is_same, a, b))
    return a is b


class Items(Seen):
    """The same where each item has to stay the object that it is."""

    def __init__(self, holder: Any, key: str, value: Any) -> None:
        Guard.__init__(self, holder, key, value)
        self.parts = _parts(value)

    def holds(self) -> bool:
        """Whether all that was found there is there."""
        try:
            value = getattr(self.holder, self.key) if self.key else self.holder
        except AttributeError:
            return False
        parts = _parts(value)
        same = len(parts) == len(self.parts)
        return same and all(map(operator.is_, parts, self.parts))


def has_items(value: Any) -> bool:
    """Whether types are known of items that may be other ones later."""
    if isinstance(value, tuple):
        return any(map(has_items, value))
    return isinstance(value, (dict, list)) or record_fields(value) is not None


def _parts(value: Any) -> list[Any]:
    """The object, and if it may get other items all that is in it."""
    if not has_items(value) or (isinstance(value, (dict, list)) and len(value) > MOST):
        return [value]
    if isinstance(value, dict):
        inside = [*value, *value.values()]
    elif isinstance(value, (list, tuple)):
        inside = list(value)
    else:
        names = record_fields(value) or ()
        inside = [getattr(value, name, None) for name in names]
    found = [value, len(inside)]
    for part in inside:
        found += _parts(part)
    return found


def _look(value: Any) -> tuple[type, ty.Type | None]:
    large = isinstance(value, (dict, list)) and len(value) > MOST
    return type(value), None if large else binding.global_type(value, "")


def goes_without_saying(name: str, value: Any) -> bool:
    """Whether the name is that of a library, under which nobody has another module.

    Nearly every function reads `np`: looking whether it still is NumPy would cost as
    much as all else that a call looks at. A module called `model` or `xp` may be the
    next one in the next cell.
    """
    if not isinstance(value, pytypes.ModuleType) or not is_of_library(value):
        return False
    return name in ("np", value.__name__)


def attribute_guard(holder: Any, key: str, value: Any) -> Guard | None:
    """The guard of an attribute that was read; None if it stays, or is computed."""
    if isinstance(holder, pytypes.ModuleType):
        stays = is_of_library(holder) and not isinstance(value, bool)  # no switch
        return None if stays else Seen(holder, key, value)
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


__all__ = [
    "Asked",
    "Data",
    "Fixed",
    "Guard",
    "Items",
    "Seen",
    "Whole",
    "Written",
    "attribute_guard",
    "goes_without_saying",
    "has_items",
    "is_computed",
    "is_data",
    "same_kind",
]
