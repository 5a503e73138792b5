"""Functions that stand in the place of a library's own: `np.sin = something_else`.

Rules are for the libraries' functions, and their text names them: with another one in
such a place, a derivative would be silently wrong.
"""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Iterable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.errors import UnsupportedError

_LIBRARIES = frozenset({"numpy", "scipy"})
#: The builtins that generated text calls.
NAMED_BUILTINS = frozenset(
    """
    abs bool complex dict enumerate float getattr hasattr int isinstance len list max
    min range reversed round slice sorted sum tuple type zip
    """.split()  # noqa: SIM905
)
#: What names of modules mean in generated text.
NAMED_MODULES: dict[str, ModuleType] = {"np": np, "math": math}
_OURS = _LIBRARIES | {"srcjax"}


def is_foreign(function: Any) -> bool:
    """Whether what is called so is no library's, nor one of Python's own functions."""
    if isinstance(function, FunctionType):  # `__module__` may be a copy
        home = function.__globals__.get("__name__", "")
        return _root(home) not in _OURS | sys.stdlib_module_names
    if isinstance(function, MethodType):
        return is_foreign(function.__func__)
    if isinstance(function, (type, BuiltinFunctionType, np.ufunc)):
        return False
    home = type(function).__module__
    if home == "uarray":  # with a choice of backends: the functions of scipy.fft
        home = function.__module__
    compiled = home.startswith("_cython_")
    return not compiled and _root(home) not in _OURS | {"builtins"}


def is_users(called: Any) -> bool:
    """Whether a call of it runs Python code that is no library's."""
    if isinstance(called, partial):
        return is_users(called.func)
    if isinstance(called, type):
        return _root(called.__module__) not in _OURS | {"builtins"}
    if isinstance(called, FunctionType | MethodType):
        return is_foreign(called)
    compiled_from = getattr(called, "py_func", None)
    if isinstance(compiled_from, FunctionType):
        return is_foreign(compiled_from)
    written = getattr(type(called), "__call__", None)  # noqa: B004
    return isinstance(written, FunctionType) and is_foreign(written)


def _root(home: Any) -> str:
    return str(home).partition(".")[0]


def refuse_foreign(functions: Iterable[Any]) -> None:
    """Raise where one of the functions that a rule is for is no library's own."""
    for function in functions:
        if is_foreign(function):
            raise _error(repr(function))


def refuse_patched(functions: Iterable[Any], values: dict[str, Any]) -> None:
    """Raise where generated text would find another function in a library's place."""
    seen: set[str] = set()
    for node in syntax.walk(list(functions)):
        if isinstance(node, gast.Attribute):
            chain = syntax.dotted(node)
        elif isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
            chain = node.func.id
        else:
            continue
        if chain is None or chain in seen:
            continue
        seen.add(chain)
        if is_foreign(_meant(chain, values)):
            raise _error(f"`{chain}`")


def _meant(chain: str, values: dict[str, Any]) -> Any:
    """What a name of a library or of Python's stands for; None for another one."""
    root, *rest = chain.split(".")
    if not rest:
        named = root in NAMED_BUILTINS and root not in values
        return getattr(builtins, root, None) if named else None
    found: Any = values.get(root, NAMED_MODULES.get(root))
    for name in rest:
        if not isinstance(found, ModuleType):
            return None
        home = _root(found.__name__)
        own = getattr(found, "__all__", dir(found))
        if home not in (*_LIBRARIES, "math") or name not in own:
            return None  # what somebody added is called as any function
        found = getattr(found, name, None)
    return found


def _error(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"{name} stands in the place of a library's own function, which srcjax's rules "
        "are for\nInstead: the library's function in its place, and another name for "
        "this one"
    )
