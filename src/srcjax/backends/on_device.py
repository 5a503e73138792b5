"""Which values are in the memory of a GPU."""

from __future__ import annotations

import functools
from typing import Any


def is_on_device(x: Any) -> bool:
    """Whether a value is a CuPy array, without asking CuPy."""
    cls: Any = type(x)
    return is_array_of_device(cls)


@functools.lru_cache(256)
def is_array_of_device(cls: Any) -> bool:
    """Whether a class is that of CuPy's arrays."""
    return cls.__module__.partition(".")[0] == "cupy" and hasattr(cls, "dtype")
