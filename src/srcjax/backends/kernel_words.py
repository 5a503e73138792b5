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
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from srcjax.backends.elementary import compiled
from srcjax.backends.kernel_memory import SMALL
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


@njit(nogil=True, error_model="numpy", forceinline=True)
def is_there(index, size):
    """Whether an axis of this size has an index."""
    return -size <= np.intp(index) < size


@njit(nogil=True, error_model="numpy", forceinline=True)
def beside(value, looked_at):
    """The value; what is looked at beside it may be an error."""
    return value


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

# -- products ------------------------------------------------------------------------

#: So many multiplications take less time than to call BLAS.
FEW, FEW_OF_ROWS = 256, 512


def product(a, b):
    """`np.dot(a, b)`; by loops where the arrays are small."""
    return np.dot(a, b)


def filled(a, b, out):
    """`np.dot(a, b)`, in `out`; a number where there is none."""
    return np.dot(a, b) if out is None else np.dot(a, b, out)


def shape_of(a, b):
    """The shape of a product."""
    return np.dot(a, b).shape


def is_loop(a, b):
    """Whether the product of arrays of these types has loops of its own here."""
    plain = isinstance(a, types.Array) and isinstance(b, types.Array)
    return (
        plain
        and a.dtype == b.dtype
        and isinstance(a.dtype, types.Float)
        and {a.ndim, b.ndim} <= {1, 2}
    )


@overload(shape_of, jit_options=IN_PLACE)
def typed_shape(a, b):
    if a.ndim == 1 and b.ndim == 1:
        return lambda a, b: ()
    if a.ndim == 1:
        return lambda a, b: (b.shape[1],)
    if b.ndim == 1:
        return lambda a, b: (len(a),)
    return lambda a, b: (len(a), b.shape[1])


@overload(product)
def typed_product(a, b):
    if not is_loop(a, b):
        return lambda a, b: np.dot(a, b)
    if a.ndim == 1 and b.ndim == 1:
        return lambda a, b: filled(a, b, None)
    return lambda a, b: filled(a, b, np.empty(shape_of(a, b), a.dtype))


@overload(filled)
def typed_filled(a, b, out):
    if not is_loop(a, b):
        if isinstance(out, types.Array):
            return lambda a, b, out: np.dot(a, b, out)
        return lambda a, b, out: np.dot(a, b)
    if a.ndim == 1 and b.ndim == 1:

        def of_vectors(a, b, out):
            if len(a) != len(b) or len(a) > FEW:
                return np.dot(a, b)
            found = a.dtype.type(0)
            for i in range(len(a)):
                found += a[i] * b[i]
            return found

        return of_vectors
    if a.ndim == 1:

        def of_columns(a, b, out):
            if len(a) != len(b) or b.size > FEW:
                return np.dot(a, b, out)
            out[:] = 0
            for i in range(len(a)):
                x = a[i]
                for j in range(b.shape[1]):
                    out[j] += x * b[i, j]
            return out

        return of_columns
    if b.ndim == 1:

        def of_rows(a, b, out):
            if a.shape[1] != len(b) or a.size > FEW:
                return np.dot(a, b, out)
            for i in range(len(a)):
                found = a.dtype.type(0)
                for j in range(len(b)):
                    found += a[i, j] * b[j]
                out[i] = found
            return out

        return of_rows

    def of_matrices(a, b, out):
        if a.shape[1] != len(b) or a.size * b.shape[1] > FEW_OF_ROWS:
            return np.dot(a, b, out)
        out[:] = 0
        for i in range(len(a)):
            for k in range(len(b)):
                x = a[i, k]
                for j in range(b.shape[1]):
                    out[i, j] += x * b[k, j]
        return out

    return of_matrices


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
    return with_room(array, 0)


@njit(nogil=True, error_model="numpy")
def with_room(array, size):
    """The array with as many places again, and at least so many."""
    found = on_large_pages(np.empty(max(2 * len(array), size), array.dtype))
    found[: len(array)] = array
    return found


#: To so many bytes memory of calls is aligned, and so many are between two arrays, so
#: that not all of them begin in the same lines of a cache.
ALIGNED, APART = 32, 192


@intrinsic(prefer_literal=True)
def of_call(typing, shape, dtype):
    """`np.empty(shape, dtype)` for what is gone with the call: cheap where it is small.

    None where the shape is `()`.
    """
    kind, ndim = arrayobj.ty_parse_dtype(dtype), arrayobj.ty_parse_shape(shape)
    if isinstance(shape, types.BaseTuple) and not len(shape):
        return types.none(shape, dtype), lambda context, *_: context.get_dummy_value()
    array_type = types.Array(kind, ndim, "C")
    dims: Any = shape if isinstance(shape, types.BaseTuple) else (shape,)
    values: list[Any] = [getattr(dim, "literal_value", None) for dim in dims]

    def generate(context, builder, signature, args):
        shapes = arrayobj._parse_shape(context, builder, signature.args[0], args[0])
        width = arrayobj.get_itemsize(context, array_type)
        size = context.get_constant(types.intp, width)
        most = size.type(SMALL)
        data = context.get_data_type(kind).as_pointer()
        strides: list[Any] = []
        item, is_small = size, ir.IntType(1)(1)
        for dim in reversed(shapes):
            strides.insert(0, size)
            is_small = builder.and_(is_small, builder.icmp_signed("<=", dim, most))
            size = builder.mul(size, dim)
        is_small = builder.and_(is_small, builder.icmp_signed("<=", size, most))
        byte = ir.IntType(8)
        nothing = byte.as_pointer()(None)
        known = math.prod(values) * width if None not in values else SMALL + 1
        count = max(known, 1) if known <= SMALL else SMALL + APART
        held = cgutils.alloca_once(builder, ir.ArrayType(byte, count))
        held.align = ALIGNED
        memory, owner = builder.bitcast(held, data), nothing
        if known > SMALL:
            before = builder.block
            with builder.if_then(builder.not_(is_small), likely=False):
                made = arrayobj._empty_nd_impl(context, builder, array_type, shapes)
                there, counted = made.data, made.meminfo
                large = builder.block
            here, memory = memory, builder.phi(data)
            owner = builder.phi(nothing.type)
            memory.add_incoming(here, before)
            memory.add_incoming(there, large)
            owner.add_incoming(nothing, before)
            owner.add_incoming(counted, large)
        array = arrayobj.make_array(array_type)(context, builder)
        arrayobj.populate_array(
            array,
            data=memory,
            shape=cgutils.pack_array(builder, shapes, ty=item.type),
            strides=cgutils.pack_array(builder, strides, ty=item.type),
            itemsize=item,
            meminfo=owner,
        )
        return array._getvalue()

    return array_type(shape, dtype), generate
