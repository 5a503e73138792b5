"""Objects of libraries that stand for a function in Python, of the same value."""

from __future__ import annotations

import functools
import sys
import types as pytypes
from typing import Any

from srcjax.analysis.types import Type, Varies, is_number, varies


def function_within(value: Any, given: list[Type]) -> pytypes.FunctionType | None:
    """The function that `value` stands for in code that varies; None if there is none.

    Behind `functools.lru_cache`, and behind `numba.njit` where a derivative flows: what
    only runs stays compiled. Behind `numba.vectorize` where numbers are `given`.
    """
    if isinstance(value, functools._lru_cache_wrapper):
        inner = value.__wrapped__
        return inner if isinstance(inner, pytypes.FunctionType) else None
    return compiled_from(value, given) if varies() is Varies.DERIVATIVES else None


def compiled_from(value: Any, given: list[Type]) -> pytypes.FunctionType | None:
    """The function in Python that Numba compiled; None if `value` is none of these."""
    extending = sys.modules.get("numba.extending")
    if extending is None:
        return None
    elementwise = getattr(sys.modules.get("numba.np.ufunc.dufunc"), "DUFunc", ())
    if isinstance(value, elementwise):
        numbers = all(map(is_number, given))
        found = value._dispatcher.py_func if numbers else None
    else:
        found = value.py_func if extending.is_jitted(value) else None
    return found if isinstance(found, pytypes.FunctionType) else None


__all__ = ["compiled_from", "function_within"]
