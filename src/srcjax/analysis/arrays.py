"""Arrays as programs that were written for JAX have them: NumPy's, with `x.at[i]`.

`srcjax.numpy`, `srcjax.random` and `device_put` make them, so that what such a program
does around its transformed functions runs too:

    x = jnp.arange(3.0)
    y = x.at[0].set(5.0)
    loss(y).block_until_ready()

To transforms they are the arrays that they are, and no text tells them apart.
"""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from srcjax.analysis.registered import record_fields


def _library() -> Any:
    """What users import, which stands on this."""
    return importlib.import_module("srcjax")


class _AnyArray(type):
    """`isinstance(x, Array)` asks whether `x` is an array, of whatever class."""

    def __instancecheck__(cls, value: Any) -> bool:
        mine = type(value)
        on_device = hasattr(mine, "__cuda_array_interface__")
        return isinstance(value, np.ndarray) or mine in _OWN or on_device

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, np.ndarray)


class Array(np.ndarray, metaclass=_AnyArray):
    """An array of NumPy's that has `.at[...]`, `.block_until_ready()`, `.devices()`.

    Operations are NumPy's, their results of this class too where they are arrays;
    single numbers are NumPy's, with the last two of these. `np.asarray(x)` is the plain
    array.

    `isinstance(x, srcjax.Array)` holds for every array.
    """

    __slots__ = ()

    def __array_wrap__(
        self, array: Any, context: Any = None, return_scalar: bool = False
    ) -> Any:
        if return_scalar:
            return ready_number(array[()])
        return array if type(array) is type(self) else array.view(type(self))

    @property
    def at(self) -> Any:
        """What `srcjax.at(x)` is: `x.at[i].set(v)` is `x` with `v` at `i`."""
        return _library().at(self)

    def block_until_ready(self) -> Any:
        """The same, which is ready."""
        return self

    def devices(self) -> set:
        """Where it is: on the CPU."""
        return {_library().devices("cpu")[0]}


def _ready(base: type) -> type:
    """A class of numbers that can be waited for, as an `Array` can.

    What is mixed in would come before NumPy's class, whose `repr` crashes by that.
    """
    own = {name: vars(Array)[name] for name in ("block_until_ready", "devices")}
    return type(base.__name__, (base,), {"__slots__": (), **own})


#: The classes of numbers that are ready. From NumPy's class of flags none is derived.
_NUMBERS = {
    np.dtype(code).type: _ready(np.dtype(code).type) for code in "bhilqBHILQefdFD"
}
_OWN = frozenset([Array, *_NUMBERS.values()])


def ready_number(value: Any) -> Any:
    """A number of NumPy's that can be waited for; anything else as it is."""
    cls = _NUMBERS.get(type(value))
    return value if cls is None else cls(value)


#: The classes of arrays on which operations are those of NumPy.
ARRAYS = (np.ndarray, Array)


def as_arrays(value: Any) -> Any:
    """The value, with arrays of NumPy's own class as `Array`; no memory is copied.

    Of lists and tuples (namedtuples too) the items, of dicts the values, and in place
    the fields of dataclasses and of registered classes. What there is nothing to change
    in stays the same object.
    """
    return with_class(as_arrays, value)


def with_class(f: Callable, value: Any) -> Any:
    """An array or a number as `Array` has it; of other values `f` of the parts."""
    cls = type(value)
    if cls is np.ndarray:
        return value.view(Array) if value.dtype.kind in "biufc" else value
    if cls in _OWN or cls is float or cls in _NUMBERS:
        return ready_number(value)
    return of_parts(f, value) if has_parts(value) else of_record(f, value)


def as_plain(value: Any) -> Any:
    """The value, with each `Array` in it as an array of NumPy's own class."""
    return numpys(value) if type(value) in _OWN else of_parts(as_plain, value)


def numpys(value: Any) -> Any:
    """An `Array`, or a number like it, as NumPy has it."""
    return value.view(np.ndarray) if type(value) is Array else value.dtype.type(value)


def of_parts(f: Callable, value: Any) -> Any:
    """A list, tuple or dict with `f` of its parts; the same one if all are the same."""
    if not has_parts(value):
        return value
    parts = parts_of(value)
    changed = [f(part) for part in parts]
    if all(map(operator.is_, changed, parts)):
        return value
    cls: Any = type(value)
    if cls is dict:
        return dict(zip(value, changed, strict=True))
    return changed if cls is list else getattr(cls, "_make", cls)(changed)


def of_record(f: Callable, value: Any) -> Any:
    """A dataclass, or one of a registered class, with `f` of its fields in them."""
    for name in record_fields(value) or ():
        part = getattr(value, name, None)
        new = f(part)
        if new is not part:
            object.__setattr__(value, name, new)
    return value


def has_parts(value: Any) -> bool:
    """Whether it is a list, dict or tuple, or a namedtuple."""
    cls = type(value)
    if cls is list or cls is tuple or cls is dict:
        return True
    return isinstance(value, tuple) and hasattr(value, "_fields")


def parts_of(value: Any) -> Any:
    """The items of a list or tuple, the values of a dict."""
    return list(value.values()) if type(value) is dict else value


def holds_arrays(value: Any) -> bool:
    """Whether an `Array` is in it, or in its lists, tuples and dicts."""
    cls = type(value)
    if cls is np.ndarray:
        return False
    return cls in _OWN or has_parts(value) and any(map(holds_arrays, parts_of(value)))


def are_given(args: tuple, kwargs: dict[str, Any]) -> bool:
    """Whether a call is given an `Array`."""
    if any(map(holds_arrays, args)):
        return True
    return bool(kwargs) and any(map(holds_arrays, kwargs.values()))


def giving_arrays(function: Callable) -> Callable:
    """The function, with results as `as_arrays` has them."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return as_arrays(function(*args, **kwargs))

    return called


def as_given(function: Callable) -> Callable:
    """The same where an argument is, or holds, an `Array`; else the results as is."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return as_arrays(result) if are_given(args, kwargs) else result

    return called


def taking_arrays(function: Callable) -> Callable:
    """The function, given each array as an `Array`; it gives those of NumPy's."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        named = {name: _given(value) for name, value in kwargs.items()}
        return as_plain(function(*map(_given, args), **named))

    return called


def _given(value: Any) -> Any:
    """An array as `Array`; a list, tuple or dict of such."""
    if type(value) is np.ndarray:
        return as_arrays(value)
    return of_parts(_given, value)


class Plain:
    """A call with arrays of NumPy's own class in the place of each `Array`.

    Operations on these are faster. What the function does to a list or a dict that it
    is given is done to the user's, which it gets back for it too.
    """

    def __init__(self) -> None:
        #: What stands for the user's arrays, lists and dicts, by their ids.
        self.instead: dict[int, Any] = {}
        #: The user's lists and dicts, by the ids of what stands for them.
        self.users: dict[int, Any] = {}
        #: What stands for them, with the keys and the parts before the call.
        self.contents: list[tuple[Any, Any, list[Any], list[Any]]] = []

    def of(self, value: Any) -> Any:
        """What the function is given for a value: the same for the same one."""
        cls = type(value)
        if cls in _OWN or cls is dict or cls is list:
            found = self.instead.get(id(value))
            if found is None:
                found = numpys(value) if cls in _OWN else self.of_container(value)
                self.instead[id(value)] = found
            return found
        return of_parts(self.of, value)

    def of_container(self, value: Any) -> Any:
        """A list or dict of what stands for its parts; the same if all are the same."""
        parts = parts_of(value)
        plain = [self.of(part) for part in parts]
        if all(map(operator.is_, plain, parts)):
            return value
        found = plain if type(value) is list else dict(zip(value, plain, strict=True))
        self.users[id(found)] = value
        keys = [] if found is plain else list(found)
        self.contents.append((value, found, keys, plain.copy()))
        return found

    def back(self, value: Any) -> Any:
        """What the user gets for a result."""
        users = self.users.get(id(value))
        return with_class(self.back, value) if users is None else users

    def write_back(self) -> None:
        """Let the user's lists and dicts hold what the function left in theirs."""
        for value, plain, keys, before in self.contents:
            now = parts_of(plain)
            same = len(now) == len(before) and all(map(operator.is_, now, before))
            if same and (type(plain) is list or list(plain) == keys):
                continue
            parts = [self.back(part) for part in now]
            if type(plain) is list:
                value[:] = parts
            else:
                value.clear()
                value.update(zip(plain, parts, strict=True))


def call_plainly(function: Callable, args: tuple, kwargs: dict) -> Any:
    """What a function gives, which is to meet arrays of NumPy's own class alone.

    Its results are `Array`s.
    """
    plain = Plain()
    given = [plain.of(a) for a in args]
    named = {name: plain.of(a) for name, a in kwargs.items()}
    try:
        result = function(*given, **named)
    finally:
        if plain.contents:
            plain.write_back()
    return plain.back(result)


#: Modules whose functions give arrays of this class have this name in them.
GIVES_ARRAYS = "__srcjax_gives_arrays__"

#: The functions of libraries, by those that stand for them.
_INSIDE: dict[FunctionType, Callable] = {}
_GIVING: set[FunctionType] = set()


def standing_for(function: Callable, dressed: Callable = giving_arrays) -> Callable:
    """What `dressed` makes of a library's function; in a text it is that one."""
    made: Any = dressed(function)
    _INSIDE[made] = function
    if dressed is giving_arrays:
        _GIVING.add(made)
    return made


def gives_arrays(value: Any) -> bool:
    """Whether it is a function that always gives an `Array`, or a module of these."""
    if isinstance(value, ModuleType):
        return GIVES_ARRAYS in vars(value)
    return type(value) is FunctionType and value in _GIVING


def inside(function: Any) -> Any:
    """What `standing_for` was given; anything else itself."""
    plain = type(function) is FunctionType
    return _INSIDE.get(function, function) if plain else function


def stand_for(
    scope: dict[str, Any], dressed: Callable, but: Iterable[str] = ()
) -> None:
    """Let the functions of a package be dressed for its users.

    Those that its `__all__` names, and that are written in it. `scope`: its globals;
    `but`: names of those that stay as they are.
    """
    package = scope["__name__"].split(".")
    for name in {*scope["__all__"]}.difference(but):
        found: Any = scope.get(name)
        if type(found) is not FunctionType:
            continue
        if found.__module__.split(".")[: len(package)] == package:
            scope[name] = standing_for(found, dressed)
