"""Kernels as the Python that they are: nothing is compiled, and new memory is NaN.

Numba does not look at bounds, and new memory mostly holds zeros. Here an index out of
bounds raises, and what was not written shows in the result.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from srcjax.backends.kernels import Kernel


def poisoned(shape, dtype=float, **options) -> np.ndarray:
    """`np.empty`, with what no program makes."""
    made = np.empty(shape, dtype, **options)
    made.fill(np.nan if made.dtype.kind in "fc" else 77)
    return made


NUMPY = types.SimpleNamespace(**{name: getattr(np, name) for name in dir(np)})
NUMPY.empty = poisoned


def as_python(kernel: Any, *args: Any) -> Any:
    """The first call of a kernel: nothing is compiled."""
    plain = kernel.function
    kernel.function = types.FunctionType(
        plain.__code__, {**plain.__globals__, "np": NUMPY}, plain.__name__
    )
    kernel.call = kernel.function
    return kernel.function(*args)


@contextlib.contextmanager
def kernels_as_python() -> Iterator[None]:
    """Kernels that are called first in here run as Python from then on."""
    first = Kernel.first
    Kernel.first = as_python  # type: ignore[method-assign]
    try:
        yield
    finally:
        Kernel.first = first  # type: ignore[method-assign]
