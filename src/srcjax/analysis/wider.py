"""Whether what is known of names says less than what was known of them before.

A loop in a loop is executed until its types settle, for each attempt at the loop around
it: what it starts with then covers what it started with before, and it may go on where
it ended.

    for i in range(n):              second attempt: `total` is in the memory of `x`, too
        for k in range(m):          starts with the types that it had at its end
            total = total + x[k]
"""

from __future__ import annotations

from srcjax.analysis.binding import Env
from srcjax.analysis.types import (
    Array,
    Dim,
    List,
    NumberOrArray,
    Scalar,
    Tuple,
    Type,
    Unknown,
    all_buffers,
    dtype_of,
    is_active,
    is_number,
    join,
    same_dtype,
)


def covers(env: Env, before: Env) -> bool:
    """Whether each name has a type in `env` that says nothing more than in `before`."""
    return all(name in env and is_wider(env[name], t) for name, t in before.items())


def is_wider(t: Type, than: Type) -> bool:
    """Whether every value of the second type is of the first one (or it is not known).

    As `join(than, t) == t`, but for what joining supposes of sizes.
    """
    if t is than or t == than:
        return True
    if type(t) is Unknown:
        return all_buffers(than) <= t.buffers and t.active >= is_active(than)
    if t.active < than.active or not than.buffers <= t.buffers:
        return False
    if isinstance(t, NumberOrArray):
        return join(than, t) == t
    if isinstance(t, Scalar):
        python = than.python if isinstance(than, Scalar) else True
        fits = is_number(than) and t.size is t.span is None
        fits = fits and t.python in (None, python)
        return fits and (t.dtype is None or same_dtype(t.dtype, dtype_of(than)))
    if isinstance(t, Array) and isinstance(than, Array):
        if t.dtype is not None and not same_dtype(t.dtype, than.dtype):
            return False
        return _is_any_shape(t.shape, than.shape)
    if isinstance(t, Tuple) and isinstance(than, Tuple):
        same = t.cls is than.cls and t.view == than.view
        return same and _are_wider(t.items, than.items)
    if isinstance(t, List) and isinstance(than, List):
        if t.cls is not than.cls or t.view != than.view:
            return False
        if t.items is None:
            return than.items is None and _are_wider(_elem(t), _elem(than))
        return than.items is not None and _are_wider(t.items, than.items)
    return False


def _are_wider(ts: tuple[Type, ...], than: tuple[Type, ...]) -> bool:
    return len(ts) == len(than) and all(map(is_wider, ts, than))


def _elem(t: List) -> tuple[Type, ...]:
    return () if t.elem is None else (t.elem,)


def _is_any_shape(shape: tuple[Dim, ...] | None, than: tuple[Dim, ...] | None) -> bool:
    if shape is None or than is None:
        return shape is None
    return len(shape) == len(than) and all(
        m is None or m == n for m, n in zip(shape, than, strict=True)
    )
