"""What types tell of the places that an index means: whether they are in bounds.

A version of a text is written for sizes of which something is supposed
(`analysis.sizes`): that `x.at[3]` is in bounds is one more thing of that kind, and the
text says so when it is called with an `x` that has no such place.
"""

from __future__ import annotations

from typing import Any

from srcjax.analysis.indexing import as_index, entries_of, is_mask, shape_rank
from srcjax.analysis.known_values import span_of
from srcjax.analysis.sizes import Sym
from srcjax.analysis.types import (
    BOOL,
    Array,
    Const,
    Scalar,
    Tuple,
    Type,
    as_dim,
    dtype_of,
    is_number,
    known_order,
)


def infer_is_inside(x: Type, index: Type, wrap: Type = BOOL) -> Type:
    """Whether it is certain; False where it is not."""
    parts = known_parts(index)
    if parts is None or not isinstance(wrap, Const):
        return BOOL
    if not any(map(_is_numbers, parts)):
        return Const(value=True)
    if not isinstance(x, Array) or x.shape is None:
        return BOOL
    rest = len(x.shape) - sum(map(_axes_of, parts))
    if rest < 0:
        return BOOL
    axis, inside = 0, True
    for part in parts:
        if _is_numbers(part):
            n = x.shape[axis]
            # Each of them is asked: all that is supposed holds together.
            inside &= is_whole_number(part) and _is_within(part, n, wrap.value)
        axis += rest if part == Const(value=...) else _axes_of(part)
    return Const(value=inside)


def infer_is_place(i: Type, n: Type, wrap: Type = BOOL) -> Type:
    """Whether a number certainly is a place of an axis."""
    size = as_dim(n)
    if not isinstance(wrap, Const) or size is None:
        return BOOL
    if isinstance(i, Array) and i.dtype is not None:
        return Const(value=False)
    if not is_whole_number(i):
        return BOOL
    return Const(value=_is_within(i, size, wrap.value))


def infer_is_one_place(index: Type) -> Type:
    """Whether each part of the index is a number, a slice, None or `...`."""
    parts = known_parts(index)
    if parts is None:
        return BOOL
    return Const(value=not any(isinstance(part, Array) for part in parts))


def infer_comes_once(index: Type) -> Type:
    """Whether no part of the index is an array of numbers."""
    parts = known_parts(index)
    if parts is None:
        return BOOL
    masks = (is_mask(part) for part in parts if isinstance(part, Array))
    return Const(value=all(masks))


def known_parts(index: Type) -> list[Type] | None:
    """The parts of an index, None where the type does not tell what one of them is."""
    parts = [as_index(part) for part in entries_of(index)]
    return parts if all(map(_is_known, parts)) else None


def _is_known(part: Type) -> bool:
    if isinstance(part, Array):
        return dtype_of(part) is not None and part.shape is not None
    if isinstance(part, Const) and (part.value is None or part.value is ...):
        return True
    return is_whole_number(part) or isinstance(part, Tuple) and part.cls is slice


def is_whole_number(part: Type) -> bool:
    """Whether it is one whole number."""
    return is_number(part) and getattr(dtype_of(part), "kind", "?") in "iu"


def _is_numbers(part: Type) -> bool:
    """Whether it is a number, or an array of such."""
    return is_whole_number(part) or isinstance(part, Array) and not is_mask(part)


def _axes_of(part: Type) -> int:
    """How many axes a part of an index is about."""
    if isinstance(part, Const) and (part.value is None or part.value is ...):
        return 0
    return shape_rank(part) if is_mask(part) else 1


def _is_within(part: Type, n: Any, wrap: bool) -> bool:
    """Whether a number is certainly a place of an axis, or is supposed to be one."""
    span = span_of(part)
    if isinstance(part, Scalar) and part.size is None and part.span is None:
        return False
    if span is None or not isinstance(n, int | Sym):
        return False
    least, above = span
    if isinstance(least, int) and least < 0:
        return wrap and _is_at_least(n, -least) and _is_at_least(n, above)
    return _is_at_least(least, 0) and _is_at_least(n, above)


def _is_at_least(m: int | Sym, n: int | Sym) -> bool:
    """Whether `m >= n`, for all sizes or for those that are supposed."""
    if isinstance(m, int) and isinstance(n, int):
        return m >= n
    if isinstance(m, Sym) and isinstance(n, Sym) and m.name == n.name:
        return m.offset >= n.offset
    dim = m if isinstance(m, Sym) else n
    assert isinstance(dim, Sym)
    if dim.sizes is None:
        return known_order(m, n) is True
    return dim.sizes.suppose_order(m, n) is True
