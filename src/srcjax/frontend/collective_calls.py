"""Calls whose value depends on all the examples of a named axis, whatever they get.

`psum(1, "i")` has no mapped argument, and yet `vmap` must see it: it is a part of the
core form, wherever it stands, and so is the call of a function that contains one.
"""

from __future__ import annotations

from typing import Any

from srcjax.ops.record import lookup


def uses_collectives(function: Any) -> bool:
    """Whether a function (or one that it calls by name) may contain a collective.

    Its value may then differ between examples, or need all of them, though none of
    its arguments is mapped. Looks at names alone, so it may say yes too often.
    """
    return _uses(function, set())


def _uses(function: Any, seen: set[int]) -> bool:
    function = getattr(function, "__func__", function)
    op = lookup(function)
    if op is not None:
        return op.collective
    code = getattr(function, "__code__", None)
    if not hasattr(function, "__globals__"):
        return False  # what Numba compiled has code alone
    module = str(getattr(function, "__module__", ""))
    if code is None or id(function) in seen or module.startswith(("numpy", "scipy")):
        return False
    seen.add(id(function))
    named = set(code.co_names) | set(code.co_freevars)
    for inner in code.co_consts:
        if hasattr(inner, "co_names"):
            named |= set(inner.co_names)
    cells = function.__closure__ or ()
    values = dict(zip(code.co_freevars, cells, strict=False))
    for name in named:
        value: Any = function.__globals__.get(name)
        if name in values:
            try:
                value = values[name].cell_contents
            except ValueError:
                continue
        if getattr(value, "__name__", None) == "srcjax":
            if any(_is_collective(getattr(value, n, None)) for n in named):
                return True
        elif callable(value) and not isinstance(value, type) and _uses(value, seen):
            return True
    return False


def _is_collective(value: Any) -> bool:
    op = None if value is None else lookup(value)
    return op is not None and op.collective


__all__ = ["uses_collectives"]
