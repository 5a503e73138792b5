"""Words of the texts that Numba is given: elementary functions, extremes, large pages.

Imports Numba: to be imported when something is compiled.
"""

from __future__ import annotations

import functools
import math
import mmap
import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

from srcjax.backends.elementary import compiled
from srcjax.backends.kernels import OutOfBounds

# Numba compares the parameters of `typed` with those of what it gives: no annotations.
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

# -- elementary functions ------------------------------------------------------------

#: LLVM vectorises no loop with a call.
IN_PLACE: Any = {"forceinline": True}


@functools.cache
def elementary(name: str) -> Any:
    """An elementary function for floats of either precision, which vectorises."""
    function = getattr(np, name, None) or getattr(math, name)

    def of(*args: Any) -> Any:
        """The function for the widest of these types."""
        if not all(isinstance(a, types.Float) for a in args):
            raise TypeError(f"{name} of numbers that are no floats")
        wide = any(a.bitwidth == 64 for a in args)
        return compiled(function, np.float64 if wide else np.float32)

    if name in ("power", "arctan2", "logaddexp"):

        def of_two(a, b):
            return function(a, b)

        @overload(of_two, jit_options=IN_PLACE)
        def typed_two(a, b):
            found = of(a, b)
            if a == b:
                return lambda a, b: found(a, b)
            return lambda a, b: found(np.float64(a), np.float64(b))

        return of_two

    def of_one(a):
        return function(a)

    @overload(of_one, jit_options=IN_PLACE)
    def typed_one(a):
        found = of(a)
        return lambda a: found(a)

    return of_one


# -- indices -------------------------------------------------------------------------


@njit(nogil=True, error_model="numpy", forceinline=True)
def within(index, size, axis):
    """The index, if an axis of this size has it."""
    at = np.intp(index)
    if at < -size or at >= size:
        raise OutOfBounds(at, axis, size)  # type: ignore[arg-type]
    return at


# -- extremes ------------------------------------------------------------------------


def extreme(function: str) -> Any:
    """The larger or smaller of two floats, NaN if one of them is."""

    def typed(typing: Any, y: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = args[0].type
            held = context.cast(builder, args[1], x, y)
            of_two = ir.FunctionType(kind, [kind, kind])
            called = builder.module.declare_intrinsic(function, [kind], of_two)
            return builder.call(called, [args[0], held])

        return (y(y, x), generate) if isinstance(y, types.Float) else None

    return intrinsic(typed)


larger = extreme("llvm.maximum")
smaller = extreme("llvm.minimum")

# -- memory --------------------------------------------------------------------------

#: From so many bytes on, as NumPy has it.
LARGE = 1 << 22
PAGE = mmap.PAGESIZE
HUGE_PAGES = getattr(mmap, "MADV_HUGEPAGE", None)

if sys.platform == "linux" and HUGE_PAGES is not None:
    madvise: Any = types.ExternalFunction(
        "madvise", types.intc(types.uintp, types.uintp, types.intc)
    )

    @njit(nogil=True, error_model="numpy")
    def on_large_pages(array):
        """The new array: the system is asked for large pages, of which few are new."""
        if array.nbytes >= LARGE:
            first = (array.ctypes.data + PAGE - 1) // PAGE * PAGE
            madvise(first, array.nbytes - PAGE, HUGE_PAGES)
        return array

else:

    @njit(nogil=True, error_model="numpy")
    def on_large_pages(array):
        return array


@njit(nogil=True, error_model="numpy")
def cleared(array):
    """The new array with zeros, on large pages."""
    array = on_large_pages(array)
    array.fill(0)
    return array


@njit(nogil=True, error_model="numpy")
def longer(array):
    """The array with as many places again."""
    found = on_large_pages(np.empty(2 * len(array), array.dtype))
    found[: len(array)] = array
    return found
