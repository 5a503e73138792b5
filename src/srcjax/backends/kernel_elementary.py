"""Elementary functions that are worth computing ahead of a loop, by a kernel's text.

Apart from `kernel_ahead`, which changes texts: a process that finds all of its kernels
compiled imports nothing that reads them.
"""

from __future__ import annotations

import math
import re

import numpy as np

from srcjax.backends.elementary import name_of

#: What vectors take less time for, measured: the machine's own functions take 5 to 12
#: nanoseconds for one of these, vectors 3 (powers 7). For the others they take as long,
#: or longer: `sin` of any number takes four times as long.
_PAYS = frozenset(
    ["arccos", "arcsin", "arctan", "cbrt", "cosh", "exp", "expm1", "log", "log10"]
    + ["log1p", "power", "sinh", "tanh"]
)
#: What a text calls.
_CALLED = re.compile(r"((?:np|math)\.\w+)\(")


def may_compute(text: str) -> bool:
    """Whether a kernel's text has a loop, and an elementary function."""
    if "for " not in text:
        return False
    return "**" in text or any(map(function_of, set(_CALLED.findall(text))))


def function_of(path: str) -> str | None:
    """The elementary function that a text calls so; None for all others."""
    module, _, name = path.partition(".")
    function = getattr({"np": np, "math": math}.get(module), name, None)
    known = None if function is None else name_of(function)
    return known if known in _PAYS else None
