"""Transforms of functions that were made of the same code, as lambdas in loops are."""

from __future__ import annotations

import functools
import inspect
import types as pytypes
from typing import Any

#: So many are kept; then all are forgotten. They would be made again.
MOST = 256

#: The transform that was used last, by what it is of; and the code, so that it lives.
_KEPT: dict[Any, tuple[Any, Any]] = {}


def keep(transform: Any) -> None:
    """Remember a transform that has versions."""
    key, code = key_of(transform)
    if key is None:
        return
    if len(_KEPT) >= MOST:
        _KEPT.clear()
    _KEPT[key] = code, transform


def forget() -> None:
    """Forget all transforms."""
    _KEPT.clear()


def of(transform: Any) -> Any:
    """The same transform of a function made of the same code; None without one."""
    found = _KEPT.get(key_of(transform)[0])
    return None if found is None or found[1] is transform else found[1]


def is_of_same(transform: Any, other: Any) -> bool:
    """Whether two transforms are, in the end, of the same function."""
    while transform.inner is not None:
        transform = transform.inner
    while other.inner is not None:
        other = other.inner
    return bool(transform.function is other.function)


def take_over(transform: Any) -> None:
    """Let a transform know its parameters without reading the function again."""
    relative = of(transform)
    base = transform
    while base.inner is not None:
        base = base.inner
    plain = getattr(base.function, "__func__", base.function)
    if relative is None or not isinstance(plain, pytypes.FunctionType):
        return
    if plain.__defaults__ or plain.__kwdefaults__:
        return  # they are part of the signature
    for name in ("parameters", "signature", "wrt", "positional"):
        if name in vars(relative):
            vars(transform).setdefault(name, vars(relative)[name])


def key_of(transform: Any) -> tuple[Any, Any]:
    """The transforms and the code that they are of, and that code itself."""
    kinds = []
    while True:
        options = transform.options()
        if options is None:
            return None, None
        kinds.append((type(transform), repr(options)))
        if transform.inner is None:
            break
        transform = transform.inner
    function = transform.function
    given: list[Any] = []  # beforehand: the rest of the parameters is left
    while isinstance(function, functools.partial):
        given.append((len(function.args), *function.keywords))
        function = function.func
    if inspect.ismethod(function):
        given.append(True)
        function = function.__func__
    code = getattr(function, "__code__", None)
    return (None, None) if code is None else ((id(code), *given, *kinds), code)
