"""What belongs to Python's standard library, and to libraries that were installed."""

from __future__ import annotations

import os
import sys
import types as pytypes
from collections.abc import Iterator
from typing import Any


def is_standard(function: Any) -> bool:
    """Whether the function belongs to Python's standard library."""
    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    if file.startswith("<frozen "):
        return True
    return file.startswith(_STANDARD) and "site-packages" not in file


def nested(code: pytypes.CodeType) -> Iterator[pytypes.CodeType]:
    """The code of a function, and that of all that is defined in it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, pytypes.CodeType):
            yield from nested(const)


def is_installed(path: str) -> bool:
    """Whether the file belongs to a library that was installed, no code of the user."""
    return bool({"site-packages", "dist-packages"} & set(path.split(os.sep)))


def is_of_library(holder: Any) -> bool:
    """Whether a module, class or function is of Python, NumPy, SciPy or srcjax."""
    module = isinstance(holder, pytypes.ModuleType)
    path = holder.__name__ if module else holder.__module__ or ""
    return path.partition(".")[0] in _LIBRARIES


_LIBRARIES = sys.stdlib_module_names | {"numpy", "scipy", "srcjax"}
_STANDARD = os.path.dirname(os.__file__) + os.sep
