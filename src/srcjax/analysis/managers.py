"""What functions set around them that are not followed: those of `with`.

    @contextmanager
    def mode(name):                 with mode("fast"):
        global MODE                     y = f(x)        `f` reads MODE
        ...

A text in which `MODE` is what it was when it was written is wrong inside of the block.
The functions are looked at as they were compiled: a generator, or a method that has no
text, does no less.
"""

from __future__ import annotations

import dis
from collections import deque
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

import gast

from srcjax.analysis.standard import is_standard, nested
from srcjax.analysis.types import Const, Object, Other, Type


@dataclass
class Set:
    """What functions set around them, as far as it is found by name."""

    #: Variables: where they are (a namespace, a module, a cell), and their names.
    variables: set[tuple[int, str]] = field(default_factory=set)
    #: Names of containers that they read, and so may write to.
    containers: set[str] = field(default_factory=set)
    #: Attributes of objects, and of modules.
    attributes: set[str] = field(default_factory=set)


def set_by_manager(entered: Type, call: Any, called: Any) -> Set:
    """What a context manager sets when a block begins or ends.

    Args:
        entered: the type of the manager.
        call: the expression that gives it.
        called: the function that it calls, if it is known.
    """
    cls: Any = None
    if isinstance(entered, (Object, Other)):
        cls = entered.cls
    elif isinstance(entered, Const):
        cls = type(entered.value)
    functions = [getattr(cls, name, None) for name in ("__enter__", "__exit__")]
    if isinstance(call, gast.Call):
        functions.append(getattr(called, "__wrapped__", called))
    found, seen = Set(), set[int]()
    for function in functions:
        _look(function, cls, found, seen)
    return found


def _look(function: Any, cls: Any, found: Set, seen: set[int]) -> None:
    """Add what a function sets, and those that it calls by name or by `self`."""
    if not isinstance(function, FunctionType) or id(function) in seen:
        return
    if is_standard(function):
        return
    seen.add(id(function))
    around, cells = function.__globals__, function.__closure__ or ()
    free = dict(zip(function.__code__.co_freevars, cells, strict=True))
    for code in nested(function.__code__):
        base: Any = None
        for step in dis.get_instructions(code):
            name = step.argval
            if step.opname == "STORE_GLOBAL":
                found.variables.add((id(around), name))
                found.attributes.add(name)  # as which it is read
            elif step.opname == "STORE_DEREF" and name in free:
                found.variables.add((id(free[name]), name))
            elif step.opname == "STORE_ATTR":
                found.attributes.add(name)
                if isinstance(base, ModuleType):
                    found.variables |= {(id(base), name), (id(vars(base)), name)}
            base = None
            if step.opname == "LOAD_GLOBAL":
                base = around.get(name)
                _look(base, None, found, seen)
                if isinstance(base, (list, dict, set, deque)):
                    found.containers.add(name)
        for name in code.co_names if cls is not None else ():
            _look(getattr(cls, name, None), cls, found, seen)
