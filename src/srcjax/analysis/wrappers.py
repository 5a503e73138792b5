"""Objects of libraries that stand for a function in Python, of the same value."""

from __future__ import annotations

import functools
import sys
import types as pytypes
from collections.abc import Iterable
from typing import Any

import numpy as np

from srcjax.analysis.types import Type, Varies, is_number, varies
from srcjax.ops.record import composite_of


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
    if is_elementwise(value):
        numbers = all(map(is_number, given))
        found = value._dispatcher.py_func if numbers else None
    else:
        found = value.py_func if extending.is_jitted(value) else None
    return found if isinstance(found, pytypes.FunctionType) else None


def is_elementwise(value: Any) -> bool:
    """Whether it was made by `numba.vectorize`."""
    made = getattr(sys.modules.get("numba.np.ufunc.dufunc"), "DUFunc", ())
    return isinstance(value, made)


def called_method(
    value: Any, given: list[Type] | None = None, names: Iterable[str] | None = None
) -> Any:
    """The method that the call of an object runs, if there is a composite of it.

    Behind `numba.vectorize` it is that of `np.vectorize`, unless numbers are `given`;
    the one for what `np.vectorize` excludes, for calls with keywords of these `names`.
    """
    if is_elementwise(value) and not (given and all(map(is_number, given))):
        value = _vectorized(value)
    method = getattr(type(value), "__call__", None)  # noqa: B004
    if type(value) is np.vectorize and value.excluded:
        named = names is not None and value.excluded.issuperset(names)
        by_name = named and not any(isinstance(key, int) for key in value.excluded)
        method = with_names_excluded if by_name else with_some_excluded
    if not isinstance(method, pytypes.FunctionType):
        return value
    bound = pytypes.MethodType(method, value)
    return value if composite_of(bound) is None else bound


def with_names_excluded(self: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of an `np.vectorize`, all of whose keywords are excluded."""
    return self(*args, **kwargs)


def with_some_excluded(self: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of an `np.vectorize` that excludes arguments."""
    return self(*args, **kwargs)


@functools.cache
def _vectorized(value: Any) -> Any:
    return np.vectorize(value._dispatcher.py_func)


__all__ = [
    "called_method",
    "compiled_from",
    "function_within",
    "with_names_excluded",
    "with_some_excluded",
]
