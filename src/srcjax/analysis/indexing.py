"""Types of items and slices of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from srcjax.analysis.array_likes import array_of
from srcjax.analysis.sizes import Sym, made_of, multiple
from srcjax.analysis.types import (
    NONE,
    UNKNOWN,
    Array,
    Const,
    List,
    Scalar,
    Tuple,
    Type,
    Unknown,
    broadcast_shapes,
    dtype_of,
    is_number,
    shape_of,
    shift,
    type_of,
)
from srcjax.ops.known import MISSING, known


def index_array(base: Array, index: Type) -> Type:
    """The type of `array[index]` by NumPy's indexing rules."""
    if base.shape is None or getattr(base.dtype, "kind", "") == "V":  # records: views
        return Unknown(base.active, base.buffers)
    entries = [as_index(e) for e in entries_of(index)]
    consumed = sum(
        0
        if isinstance(e, Const) and e.value in (None, ...)
        else (shape_rank(e) if is_mask(e) else 1)
        for e in entries
    )
    shape: list[Any] = []
    axis = 0
    advanced: list[Any] = []
    #: Where in the result the axes of index arrays begin; they come first where other
    #: entries stand between the arrays (and the numbers, which count as arrays then).
    advanced_at: int | None = None
    between = apart = False
    arrays = any(is_index_array(e) for e in entries)
    missing = len(base.shape) - consumed
    dotted = any(isinstance(e, Const) and e.value is ... for e in entries)
    if not dotted:
        entries.append(Const(value=...))
    if missing < 0:
        return Unknown(base.active, base.buffers)
    for e in entries:
        number = is_number(e) and getattr(dtype_of(e), "kind", "") in "iu"
        if number and not arrays:
            axis += 1
        elif number or is_index_array(e):
            if advanced_at is None:
                advanced_at = len(shape)
            apart |= between
            if not number and dtype_of(e) is None:  # it may be a mask
                return Unknown(base.active, base.buffers)
            if is_mask(e):
                advanced.append((None,))
                axis += shape_rank(e)
            else:
                advanced.append(shape_of(e))
                axis += 1
        elif isinstance(e, Const) and e.value is ...:
            shape.extend(base.shape[axis : axis + missing])
            axis += missing
            between |= advanced_at is not None
        elif isinstance(e, Const) and e.value is None:
            shape.append(1)
            between |= advanced_at is not None
        elif isinstance(e, Tuple) and e.cls is slice:
            shape.append(slice_dim(base.shape[axis], list(map(bound_of, e.items))))
            axis += 1
            between |= advanced_at is not None
        else:
            return Unknown(base.active, base.buffers)
    if advanced_at is None:
        if not shape and not dotted:  # `x[0, ...]` is a view without axes
            return Scalar(base.active, NONE, base.dtype)
        return Array(base.active, base.buffers, base.dtype, tuple(shape))
    if any(a is None for a in advanced):
        return Unknown(base.active)
    merged = broadcast_shapes(*advanced) or ()
    at = 0 if apart else advanced_at
    shape[at:at] = merged
    return Array(base.active, NONE, base.dtype, tuple(shape))


def entries_of(index: Type) -> list[Type]:
    """What stands between the commas of an index; of a tuple not known, UNKNOWN."""
    if isinstance(index, Const) and isinstance(index.value, tuple):
        index = type_of(index.value)
    if isinstance(index, Tuple) and index.cls is not slice:
        return list(index.items)
    if isinstance(index, List) and index.cls is tuple:
        return [UNKNOWN] if index.items is None else list(index.items)
    return [index]


def as_index(e: Type) -> Type:
    """An entry of an index, where lists and tuples are arrays."""
    if isinstance(e, Const) and isinstance(e.value, (slice, list, tuple)):
        e = type_of(e.value)
    listed = isinstance(e, (List, Tuple)) and e.cls is not slice
    return array_of(e) if listed else e


def is_index_array(e: Type) -> bool:
    return isinstance(e, Array)


def is_mask(e: Type) -> bool:
    return isinstance(e, Array) and e.dtype is not None and e.dtype.kind == "b"


def shape_rank(e: Type) -> int:
    """The rank of an index array (1 when not known)."""
    shape = shape_of(e)
    return len(shape) if shape is not None else 1


def bound_of(t: Type) -> Any:
    """A bound of a slice: a number, None, the size that it is, or `...`."""
    value = known(t)
    if value is not MISSING:
        return value
    size = t.size if isinstance(t, Scalar) else None
    return ... if size is None else size


def slice_dim(dim: Any, bounds: Sequence[Any]) -> Any:
    """The size of `axis[lower:upper:step]`; a bound that is not known is `...`."""
    values = list(bounds)
    lower, upper, step = values
    if values == [None, None, None] or (lower, upper, step) == (None, None, -1):
        return dim
    if any(isinstance(v, Sym) for v in values):
        return slice_of_sizes(dim, values)
    if ... in values or not all(v is None or isinstance(v, int) for v in values):
        return None
    if isinstance(dim, int):
        return len(range(*slice(lower, upper, step).indices(dim)))
    if step in (None, 1) and dim is not None:
        start = lower or 0
        stop = upper if upper is not None else 0
        if start >= 0 and (upper is None or stop < 0):
            return shift(dim, stop - start)
    if step == -1 and dim is not None:
        start = -1 if lower is None else lower
        stop = -1 if upper is None else upper
        if start < 0 and (upper is None or stop >= 0):
            return shift(dim, start - stop)
    if not isinstance(dim, Sym) or dim.sizes is None:
        return None
    return dim.sizes.resolved(made_of("[:]", dim, lower, upper, step))


def slice_of_sizes(dim: Any, bounds: Sequence[Any]) -> Any:
    """The size of `axis[n : 2 * n]`, where `n` is the size of another axis.

    None where they come from others in more ways: halves of halves would have sizes
    that nobody can read.
    """
    *ends, step = bounds
    if not isinstance(dim, Sym) or dim.sizes is None or step not in (None, 1):
        return None
    sized = [each for each in (dim, *ends) if isinstance(each, Sym)]
    if any(getattr(multiple(each)[1], "made", None) for each in sized):
        return None
    for end in ends:
        if isinstance(end, Sym):
            if dim.sizes.size(end) is None:
                return None
        elif end is not None and (type(end) is not int or end < 0):
            return None
    return dim.sizes.resolved(made_of("[:]", dim, *ends, None))


def row_count(t: Type | None) -> int | None:
    """How many items an array of few certainly has."""
    if isinstance(t, Array) and t.shape and isinstance(t.shape[0], int):
        return t.shape[0] if t.shape[0] <= 16 else None
    return None
