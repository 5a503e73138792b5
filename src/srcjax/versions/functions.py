"""The Python function behind what users give: an operation, or one with a rule."""

from __future__ import annotations

import functools
import inspect
import keyword
import math
import operator
import sys
import types as pytypes
from collections.abc import Callable
from inspect import Parameter
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from srcjax.analysis.arrays import inside
from srcjax.analysis.custom import (
    Checkpointed,
    CustomBatch,
    CustomRule,
    CustomTangent,
    is_made,
)
from srcjax.analysis.kept import Kept
from srcjax.backends.load import load
from srcjax.errors import ArgumentError
from srcjax.late import late
from srcjax.versions.described import is_library_file

if TYPE_CHECKING:
    from srcjax.analysis import wrappers
    from srcjax.ops import record
else:
    record = late("srcjax.ops.record")
    wrappers = late("srcjax.analysis.wrappers")


def underlying(function: Any) -> Callable:
    """The Python function behind a custom rule or checkpoint, or in a library's place.

    That of a library, `scipy.optimize.rosen`, is differentiated as it is where called.
    """
    function = inside(function)
    served = record.composite_of(function) if may_be_served(function) else None
    if inspect.isfunction(served):
        return served
    if is_of_library(function):
        bound = wrappers.called_method(function)
        served = record.composite_of(bound)
        if inspect.isfunction(served) or inspect.ismethod(served):
            return served
    while isinstance(function, (CustomRule, CustomTangent, CustomBatch, Checkpointed)):
        if not isinstance(function, Checkpointed):
            return _calling(function)
        function = function.function
    return _around_operation(function)


def _inside(function: Any) -> tuple[Any, int]:
    """The function that runs, and how many arguments it is given beforehand."""
    function, given = underlying(function), 0
    while isinstance(function, functools.partial):
        function, given = function.func, given + len(function.args)
    return function, given + inspect.ismethod(function)


def takes_more(function: Any) -> bool:
    """Whether it has `*args`."""
    code = getattr(_inside(function)[0], "__code__", None)
    return code is not None and bool(code.co_flags & inspect.CO_VARARGS)


def positional_count(function: Any) -> int:
    """How many arguments a call gives by position, before those for `*args`."""
    found, given = _inside(function)
    return max(found.__code__.co_argcount - given, 0)


def _around_operation(function: Any) -> Callable:
    """A Python function that calls an operation, `np.sin`, `partial(np.sum, axis=0)`.

    Everything else as it is.
    """
    if isinstance(function, functools.partial):
        return _bound_operation(function)
    if not callable(function) or isinstance(function, _IN_PYTHON):
        return function
    call = inspect.getattr_static(type(function), "__call__")
    if isinstance(call, pytypes.FunctionType):
        return function
    return with_source(function, *arguments_of(function))


_IN_PYTHON = (pytypes.FunctionType, pytypes.MethodType, staticmethod, classmethod)


def _bound_operation(given: functools.partial) -> Callable:
    """The same of a partial: what it gives by name is what the function takes so."""

    def made() -> Any:
        count, more = arguments_of(given.func)
        count = max(count, len(given.args))
        inner = with_source(given.func, count, more, tuple(given.keywords))
        if inner is given.func:
            return given
        return functools.partial(inner, *given.args, **given.keywords)

    found: Callable = _WRAPPERS.get(id(given), given, made)
    return found


def arguments_of(function: Any) -> tuple[int, bool]:
    """How many arguments a function needs, and whether it may take more of them."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0, True
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.default is Parameter.empty]
    return sum(p.kind in positional for p in needed), any(map(_may_lack, parameters))


def _may_lack(p: Parameter) -> bool:
    """Whether a call may leave the argument out, or give more: `np.where`, `max`."""
    may_lack = p.kind is Parameter.POSITIONAL_ONLY and p.default is not Parameter.empty
    return may_lack or p.kind is Parameter.VAR_POSITIONAL


def may_be_served(function: Any) -> bool:
    """Whether another function may stand for one: those of libraries alone."""
    if not inspect.isfunction(function) or hasattr(function, "__srcjax_transform__"):
        return False
    known = "srcjax.ops.record" in sys.modules
    return known or is_library_file(function.__code__.co_filename)


def is_of_library(function: Any) -> bool:
    """Whether it is an object of a library's class that is called, or its method."""
    if inspect.ismethod(function):
        return is_library_file(function.__func__.__code__.co_filename)
    if inspect.isfunction(function) or isinstance(function, type):
        return False
    call = inspect.getattr_static(type(function), "__call__", None)
    if not inspect.isfunction(call):
        return False
    by_numba = "numba" in sys.modules and wrappers.is_elementwise(function)
    return by_numba or is_library_file(call.__code__.co_filename)


def _calling(rule: CustomRule | CustomTangent | CustomBatch) -> Callable:
    """A Python function that calls a function with its own rule."""
    if isinstance(rule, CustomBatch):
        pass  # a batch says that it needs one
    elif isinstance(rule, CustomTangent):
        if rule.rule is None:
            raise ArgumentError(
                f"`{rule.__name__}` was made by custom_jvp but has no rule",
                instead=f"`{rule.__name__}.defjvp(rule)`",
            )
    elif rule.fwd is None or rule.bwd is None:
        raise ArgumentError(
            f"`{rule.__name__}` was made by custom_vjp but has no rule",
            instead=f"`{rule.__name__}.defvjp(forward, backward)`",
        )

    def made() -> Any:
        names = list(inspect.signature(rule.function).parameters)
        joined, name = ", ".join(names), rule.__name__
        text = f"def {name}_({joined}):\n    return {name}({joined})\n"
        return getattr(load(text, f"{name}_", {name: rule}), f"{name}_")

    found: Callable = _CALLING.get(id(rule), rule, made)
    return found


_CALLING = Kept()


_WRAPPERS = Kept()


def with_source(
    f: Callable, count: int, more: bool = False, by_name: tuple[str, ...] = ()
) -> Callable:
    """A Python function around an operation such as `np.sin`; others as they are.

    Args:
        f: the operation.
        count: how many arguments it is given by position.
        more: whether it may be given more of them.
        by_name: what it is given by name.
    """
    f = inside(f)
    if inspect.isfunction(f):
        return f
    from srcjax.ops import registry  # noqa: F401  (fills the table of operations)

    if record.lookup(f) is None:
        return f

    def made() -> Any:
        taken = [*_positional(f, count), *(["*given"] if more else [])]
        passed = [*taken, *(f"{n}={n}" for n in by_name)]
        name = getattr(f, "__name__", "function")
        home, value = _home(f)
        called = f"{home}.{name}" if home else f"{name}_"
        text = (
            f"def {name}({', '.join([*taken, *by_name])}):\n"
            f"    return {called}({', '.join(passed)})\n"
        )
        return getattr(load(text, name, {home or called: value}), name)

    found: Callable = _WRAPPERS.get((id(f), count, more, by_name), f, made)
    return found


def as_function(f: Callable) -> Callable:
    """A function in the place of what binds arguments of one that a transform made.

    Of `model.step`, of a class with `@jit` above `step`, and of `partial(jit(f), a)`,
    one that calls it; others are as they are.
    """
    inside: Any = f.__func__ if inspect.ismethod(f) else None
    if isinstance(f, functools.partial):
        inside = f.func
    return f if inside is None or not is_made(inside) else _calling_bound(f)


@functools.lru_cache(256)
def _calling_bound(f: Callable) -> Callable:
    return calling_as_it_is(f)


def calling_as_it_is(f: Callable) -> Callable:
    """A Python function of the same arguments that calls one without a text."""
    of_partial = getattr(f, "func", None)
    name = getattr(f, "__name__", getattr(of_partial, "__name__", ""))
    name = name if name.isidentifier() and not keyword.iskeyword(name) else "fn"
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        parameters = [
            Parameter("args", Parameter.VAR_POSITIONAL),
            Parameter("kwargs", Parameter.VAR_KEYWORD),
        ]
    called = f"{name}_"
    while called in {p.name for p in parameters}:
        called += "_"
    plain = [
        p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else None)
        for p in parameters
    ]
    passed = [_PASSED.get(p.kind, "{0}").format(p.name) for p in parameters]
    text = (
        f"def {name}{inspect.Signature(plain)}:\n"
        f"    return {called}({', '.join(passed)})\n"
    )
    found: Any = getattr(load(text, name, {called: f}), name)
    given = {p.name: p.default for p in parameters if p.default is not p.empty}
    by_name = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
    found.__defaults__ = tuple(v for n, v in given.items() if n not in by_name)
    found.__kwdefaults__ = {n: v for n, v in given.items() if n in by_name}
    return cast("Callable", found)


_PASSED: dict[Any, str] = {
    Parameter.VAR_POSITIONAL: "*{0}",
    Parameter.KEYWORD_ONLY: "{0}={0}",
    Parameter.VAR_KEYWORD: "**{0}",
}


def _positional(f: Callable, count: int) -> list[str]:
    """Names for the arguments: those of the function, where it tells them."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return list("xyzuvwabc")[:count]
    names = [p.name for p in parameters if p.kind is not Parameter.VAR_POSITIONAL]
    return names[:count] if len(names) >= count else list("xyzuvwabc")[:count]


def _home(f: Callable) -> tuple[str, Any]:
    """What a program calls the module of an operation, and the module."""
    name = getattr(f, "__name__", "")
    for home, module in _HOMES:
        if getattr(module, name, None) is f:
            return home, module
    return "", f


_HOMES = [("np", np), ("math", math), ("operator", operator), ("linalg", np.linalg)]
