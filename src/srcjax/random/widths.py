"""How wide draws are where no dtype is asked for: as in JAX without, or with, x64."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

#: Whether draws are float64, int64 and uint64 where they are not asked for.
WIDE = False


def set_wide(on: Any) -> None:
    """Let draws have 64 bits, or 32. Raises TypeError if it is no truth value."""
    global WIDE
    if not isinstance(on, (bool, np.bool_)):
        raise TypeError(f"jax_enable_x64 is True or False, not {on!r}")
    WIDE = bool(on)


@contextlib.contextmanager
def enable_x64(new_val: bool = True) -> Iterator[None]:
    """Inside of it draws are float64, int64 and uint64 where no `dtype=` is given.

    Those are other numbers than the narrow ones: JAX's with its `enable_x64`. Nothing
    else has a narrow default here: `srcjax.numpy` is NumPy's, and float64 stays
    float64. It holds for all threads of the process.

        with srcjax.enable_x64():
            x = srcjax.random.normal(key, (3,))  # float64

    Raises:
        TypeError: the argument is no truth value.
    """
    before = WIDE
    set_wide(new_val)
    try:
        yield
    finally:
        set_wide(before)


def default(narrow: Any) -> np.dtype:
    """The dtype that stands for a narrow one now: itself, or that of 64 bits."""
    found = np.dtype(narrow)
    return np.dtype(f"{found.kind}8") if WIDE and found.itemsize == 4 else found
