"""What a run may change: noted before, told after, and put back.

Two texts of one function are compared by running both, and each has to find the world
as the other one found it. Copies would not do: a function of the user's that is called
sees the originals.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import functools
import inspect
import random
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

#: Beyond so many objects, only the first ones are looked at.
MOST = 20_000
_ATOMS = (type(None), bool, int, float, complex, str, bytes, type, types.ModuleType)
_LIBRARIES = ("builtins", "numpy", "scipy", "srcjax", "math", "functools", "typing")


class World:
    """The mutable objects that are reached from some values."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self.objects: list[Any] = []
        self.seen: dict[int, Any] = {}
        todo = collections.deque(roots)
        while todo and len(self.seen) < MOST:
            value = todo.popleft()
            if isinstance(value, _ATOMS) and not is_users_class(value):
                continue
            if id(value) in self.seen:
                continue
            self.seen[id(value)] = value
            if is_mutable(value):
                self.objects.append(value)
            todo.extend(inside(value))
        self.kept = [contents(value) for value in self.objects]
        self.random = np.random.get_state(), random.getstate()

    def bytes(self) -> int:
        """The size of all arrays that are kept."""
        return sum(k.nbytes for k in self.kept if isinstance(k, np.ndarray))

    def changed(self) -> list[Any]:
        """What the objects hold now: nothing of those that are as they were."""
        return [
            None if same(now := contents(value), kept) else now
            for value, kept in zip(self.objects, self.kept, strict=True)
        ]

    def put_back(self) -> None:
        """Give all objects their contents back."""
        for value, kept in zip(self.objects, self.kept, strict=True):
            put_back(value, kept)

    def restore(self) -> None:
        """Put everything back, and start random numbers where they were."""
        self.put_back()
        np.random.set_state(self.random[0])
        random.setstate(self.random[1])


#: What reaches outside of the process: it cannot be put back.
_OUTSIDE = frozenset(
    ["os", "io", "subprocess", "socket", "shutil", "urllib", "http", "requests"]
    + [
        "sqlite3",
        "multiprocessing",
        "threading",
        "asyncio",
        "ctypes",
        "time",
        "pathlib",
    ]
)


def leads_outside(roots: Iterable[Any]) -> bool:
    """Whether functions that are reached may read or write files and the like."""
    seen: set[int] = set()
    todo = collections.deque(roots)
    while todo and len(seen) < MOST:
        value = todo.popleft()
        if id(value) in seen or isinstance(value, np.ndarray):
            continue
        seen.add(id(value))
        home = getattr(value, "__module__", None) or getattr(value, "__name__", None)
        outside = str(home).split(".")[0].lstrip("_") in _OUTSIDE
        if outside and (callable(value) or isinstance(value, types.ModuleType)):
            return True
        if value is input or isinstance(value, types.GeneratorType):
            return True
        if isinstance(value, types.FunctionType) and (
            builtins_of(value) & {"open", "input"}
        ):
            return True
        if not isinstance(value, _ATOMS) or is_users_class(value):
            todo.extend(inside(value))
    return False


def builtins_of(function: types.FunctionType) -> set[str]:
    """The names of builtins that a function of the user's looks up."""
    home = (function.__module__ or "").split(".")[0]
    if home in _LIBRARIES:
        return set()
    names = names_of(function.__code__)
    return {n for n in names if n not in function.__globals__ and hasattr(builtins, n)}


def is_users_class(value: Any) -> bool:
    """A class that is no library's: its attributes may change."""
    home = getattr(value, "__module__", None) or "builtins"
    return isinstance(value, type) and home.split(".")[0] not in _LIBRARIES


def is_mutable(value: Any) -> bool:
    """Whether contents of the object can be noted and put back."""
    if isinstance(value, np.ndarray):
        return bool(value.flags.writeable)
    plain = (list, dict, set, bytearray, collections.deque, np.random.Generator)
    if isinstance(value, plain):
        return True
    callables = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
    if isinstance(value, (*callables, functools.partial)):
        return False
    return hasattr(value, "__dict__") and not isinstance(value, type)


def contents(value: Any) -> Any:
    """What the object holds, one level deep."""
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    if isinstance(value, np.ndarray):
        return np.array(value, copy=True, subok=False)
    held = getattr(value, "__dict__", None)
    more = dict(held) if isinstance(held, dict) else None
    if isinstance(value, (list, collections.deque)):
        return (list(value), more)
    if isinstance(value, dict):
        return (list(value.items()), more)
    if isinstance(value, set):
        return (set(value), more)
    if isinstance(value, bytearray):
        return bytes(value)
    return more


def same(now: Any, kept: Any) -> bool:
    """Whether an object holds the very same things."""
    if isinstance(now, np.ndarray):
        return now.shape == kept.shape and now.tobytes() == kept.tobytes()
    if isinstance(now, tuple):
        return all(map(same, now, kept))
    if isinstance(now, dict) and isinstance(kept, dict):
        return now.keys() == kept.keys() and all(
            same_item(now[k], kept[k]) for k in now
        )
    if isinstance(now, list) and isinstance(kept, list):
        return len(now) == len(kept) and all(map(same_item, now, kept))
    return bool(now == kept)


def same_item(now: Any, kept: Any) -> bool:
    """The same object, or an equal number or string (or a pair of such)."""
    if now is kept:
        return True
    if isinstance(now, tuple) and isinstance(kept, tuple) and len(now) == len(kept):
        return all(map(same_item, now, kept))
    atoms = (bool, int, float, complex, str, bytes)
    return type(now) is type(kept) and isinstance(now, atoms) and now == kept


def put_back(value: Any, kept: Any) -> None:
    """Give an object its contents back."""
    if isinstance(value, np.random.Generator):
        value.bit_generator.state = kept
        return
    if isinstance(value, np.ndarray):
        if value.shape == kept.shape:
            value[...] = kept
        return
    if isinstance(value, bytearray):
        value[:] = kept
        return
    items, more = kept if isinstance(kept, tuple) else (None, kept)
    if isinstance(value, list):
        list.__setitem__(value, slice(None), items)
    elif isinstance(value, collections.deque):
        value.clear()
        value.extend(items)
    elif isinstance(value, dict):
        if not same(list(value.items()), items):
            value.clear()
            value.update(items)
    elif isinstance(value, set):
        value.clear()
        value.update(items)
    if more is not None:
        vars(value).clear()
        vars(value).update(more)


def inside(value: Any) -> Iterator[Any]:
    """The objects that an object leads to."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            yield from value.ravel().tolist()
        if isinstance(value.base, np.ndarray):
            yield value.base
    elif isinstance(value, dict):
        yield from list(value.values())
    elif isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        yield from list(value)
    elif isinstance(value, functools.partial):
        yield value.func
        yield from value.args
        yield from value.keywords.values()
    elif isinstance(value, types.MethodType):
        yield value.__self__
        yield value.__func__
    elif isinstance(value, types.FunctionType):
        yield from of_function(value)
    elif is_users_class(value):
        yield from [v for k, v in list(vars(value).items()) if not is_dunder(k)]
    held = getattr(value, "__dict__", None)
    if isinstance(held, dict) and not isinstance(value, types.FunctionType):
        yield from list(held.values())
        yield type(value)


def is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name != "__init__"


def of_function(function: types.FunctionType) -> Iterator[Any]:
    """What a function reads from around it, unless a library wrote it.

    What a transform made, or wraps, is the user's function that it is of.
    """
    transform = getattr(function, "__srcjax_transform__", None)
    of = getattr(function, "__srcjax_function__", getattr(transform, "function", None))
    if of is not None:
        yield of
        return
    home = (function.__module__ or "").split(".")[0]
    if home in _LIBRARIES:
        return
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # not bound yet
            yield cell.cell_contents
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    around = function.__globals__
    for name in names_of(function.__code__):
        if name in around:
            yield around[name]
    unwrapped = inspect.unwrap(function)
    if unwrapped is not function:
        yield unwrapped


def names_of(code: types.CodeType) -> set[str]:
    """The names that a function, and those inside it, look up."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= names_of(constant)
    return found
