"""A function whose code or defaults are assigned to after a transform was made of it.

What reloads a module as it is edited does so: the function stays the same object.
"""

from __future__ import annotations

import functools
import inspect
import types as pytypes
from dataclasses import dataclass
from typing import Any

from srcjax.errors import ArgumentError

#: What a transform remembers of the function: it is read again.
_READ = ("source", "parameters", "signature", "wrt", "positional", "plain")


@dataclass(frozen=True, eq=False)
class State:
    """What can be assigned to of a function."""

    code: pytypes.CodeType
    defaults: tuple[Any, ...] | None
    options: dict[str, Any]

    def is_that_of(self, other: State) -> bool:
        """Whether it is the same code with the same defaults."""
        same = self.code is other.code and self.defaults is other.defaults
        return same and self.is_called_as(other)

    def is_called_as(self, other: State) -> bool:
        """Whether calls mean the same: a function that passes them on stays right."""
        codes = (self.code, other.code)
        mine, theirs = (inspect.getargs(code) for code in codes)
        given, now = self.defaults or (), other.defaults or ()
        return (
            mine == theirs
            and len({(c.co_posonlyargcount, c.co_kwonlyargcount) for c in codes}) == 1
            and list(self.options) == list(other.options)
            and len(given) == len(now)
            and all(map(_alike, given, now))
            and all(map(_alike, self.options.values(), other.options.values()))
        )


def _alike(a: Any, b: Any) -> bool:
    if a is b:
        return True
    return type(a) is type(b) and type(a) in (int, str, float) and repr(a) == repr(b)


def state_of(transform: Any) -> State | None:
    """That of the function that a transform, in the end, is of."""
    while transform.inner is not None:
        transform = transform.inner
    function = transform.function
    while isinstance(function, (functools.partial, pytypes.MethodType)):
        if isinstance(function, functools.partial):
            function = function.func
        else:
            function = function.__func__
    if not isinstance(function, pytypes.FunctionType):
        return None
    options = dict(function.__kwdefaults__ or {})
    return State(function.__code__, function.__defaults__, options)


def read_again(transform: Any) -> None:
    """Forget what was read of the function if its code is another one now.

    Raises:
        ArgumentError: it has other parameters or defaults than what users were given.
    """
    before, now = transform.read_as, state_of(transform)
    if before is None or now is None:
        transform.read_as = now
        return
    if before.is_that_of(now):
        return
    if not before.is_called_as(now):
        name, kind = transform.shown_name, transform.name
        raise ArgumentError(
            f"the parameters or defaults of {name} are others than when {kind} was "
            "given it",
            instead=f"`srcjax.{kind}({name})` once more",
        )
    transform.read_as = now
    while transform is not None:
        for key in _READ:
            vars(transform).pop(key, None)
        transform = transform.inner
