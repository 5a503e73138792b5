"""Types of items and slices of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from srcjax.analysis.sizes import Sym, made_of
from srcjax.analysis.types import (
    NONE,
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
    parts,
    shape_of,
    shift,
)


def index_array(base: Array, index: Type) -> Type:
    """The type of `array[index]` by NumPy's indexing rules."""
    if base.shape is None:
        return Unknown(base.active, base.buffers)
    entries = (
        list(index.items)
        if isinstance(index, Tuple) and index.cls is not slice
        else [index]
    )
    consumed = sum(
        0
        if isinstance(e, Const) and e.value in (None, ...)
        else (shape_rank(e) if is_mask(e) else 1)
        for e in entries
    )
    shape: list[Any] = []
    axis = 0
    advanced: list[Any] = []
    advanced_at: int | None = None
    separated = False
    missing = len(base.shape) - consumed
    dotted = any(isinstance(e, Const) and e.value is ... for e in entries)
    if not dotted:
        entries.append(Const(value=...))
    if missing < 0:
        return Unknown(base.active, base.buffers)
    for e in entries:
        if isinstance(e, Const) and e.value is ...:
            shape.extend(base.shape[axis : axis + missing])
            axis += missing
            if advanced_at is not None and missing:
                separated = True
        elif isinstance(e, Const) and e.value is None:
            shape.append(1)
        elif isinstance(e, Tuple) and e.cls is slice:
            bounds = [i.value if isinstance(i, Const) else ... for i in e.items]
            shape.append(slice_dim(base.shape[axis], bounds))
            axis += 1
        elif is_number(e) and dtype_of(e) is not None and dtype_of(e).kind in "iu":  # type: ignore[union-attr]
            axis += 1
        elif isinstance(e, (Array, List, Tuple)):
            if advanced_at is None:
                advanced_at = len(shape)
            elif separated or len(shape) != advanced_at:
                return Unknown(base.active)
            if is_mask(e):
                advanced.append((None,))
                axis += shape_rank(e)
            else:
                advanced.append(
                    shape_of(e) if isinstance(e, Array) else (len(parts(e)) or None,)
                )
                axis += 1
        else:
            return Unknown(base.active, base.buffers)
    if advanced_at is None:
        if not shape and not dotted:  # `x[0, ...]` is a view without axes
            return Scalar(base.active, NONE, base.dtype)
        return Array(base.active, base.buffers, base.dtype, tuple(shape))
    if any(a is None for a in advanced):
        return Unknown(base.active)
    merged = broadcast_shapes(*advanced) or ()
    numbers = any(is_number(e) for e in entries)
    if numbers and len(entries) > 2:
        return Array(base.active, NONE, base.dtype, None)
    shape[advanced_at:advanced_at] = merged
    return Array(base.active, NONE, base.dtype, tuple(shape))


def is_mask(e: Type) -> bool:
    return isinstance(e, Array) and e.dtype is not None and e.dtype.kind == "b"


def shape_rank(e: Type) -> int:
    """The rank of an index array (1 when not known)."""
    shape = shape_of(e)
    return len(shape) if shape is not None else 1


def slice_dim(dim: Any, bounds: Sequence[Any]) -> Any:
    """The size of `axis[lower:upper:step]`; a bound that is not known is `...`."""
    values = list(bounds)
    lower, upper, step = values
    if values == [None, None, None] or (lower, upper, step) == (None, None, -1):
        return dim
    if ... in values or not all(v is None or isinstance(v, int) for v in values):
        return None
    if isinstance(dim, int):
        return len(range(*slice(lower, upper, step).indices(dim)))
    if step in (None, 1) and dim is not None:
        start = lower or 0
        stop = upper if upper is not None else 0
        if start >= 0 and (upper is None or stop < 0):
            return shift(dim, stop - start)
    if not isinstance(dim, Sym) or dim.sizes is None:
        return None
    return dim.sizes.resolved(made_of("[:]", dim, lower, upper, step))


def row_count(t: Type | None) -> int | None:
    """How many items an array of few certainly has."""
    if isinstance(t, Array) and t.shape and isinstance(t.shape[0], int):
        return t.shape[0] if t.shape[0] <= 16 else None
    return None
