"""Named axes: which names a collective such as `psum` may use where code is written.

`vmap(f, axis_name="i")` opens the name for as long as its text is written. What is
transformed meanwhile, `f` and the functions that it calls, may name the axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from srcjax.analysis.types import Const, List, Tuple, Type
from srcjax.errors import ArgumentError, SourceText, error_at
from srcjax.ops.record import Op


@dataclass(eq=False)
class NamedAxis:
    """An axis that is open; `used` tells whether a collective has named it."""

    name: str
    #: The number of examples, None if it is not known.
    size: int | None = None
    used: bool = False


_OPEN: ContextVar[tuple[NamedAxis, ...]] = ContextVar("open_axes", default=())


@contextmanager
def opened(name: str | None, size: int | None = None) -> Iterator[NamedAxis]:
    """Let collectives use the name (none, if it is None)."""
    axis = NamedAxis(name or "", size)
    token = _OPEN.set((*_OPEN.get(), axis) if name is not None else _OPEN.get())
    try:
        yield axis
    finally:
        _OPEN.reset(token)


def names_in_scope() -> tuple[str, ...]:
    """The names that are open, the innermost last."""
    return tuple(axis.name for axis in _OPEN.get())


def size_of_axis(t: Type | None) -> int | None:
    """The number of examples of the named axis (or axes), None if it is not known."""
    total = 1
    for name in axis_names(t) or ():
        found = [axis.size for axis in _OPEN.get() if axis.name == name]
        if not found or found[-1] is None:
            return None
        total *= found[-1]
    return total


def axis_names(t: Type | None) -> tuple[str, ...] | None:
    """The names in an `axis_name` argument; None if it is no name or tuple of names."""
    value = _value(t)
    names = value if isinstance(value, (tuple, list)) else (value,)
    return tuple(names) if names and all(isinstance(n, str) for n in names) else None


def names_of(op: Op, named: Type | None, source: SourceText, node: Any) -> tuple:
    """The axes that a collective is about, each of which is open.

    Raises:
        ArgumentError: what is given is no name that is known here, or not in scope.
    """
    given, names = _value(named), axis_names(named)
    short = op.name.rpartition(".")[2]

    def refuse(reason: str, instead: str) -> Exception:
        where = node if hasattr(node, "lineno") else source.node
        return error_at(ArgumentError, source, where, reason, instead)

    if names is None:
        raise refuse(
            f"{short}: the name of an axis has to be a string (or a tuple of them) "
            "that does not depend on the arguments"
            + (f", not {given!r}" if given is not None else ""),
            f'`{short}(..., axis_name="i")`',
        )
    for name in names:
        found = [axis for axis in _OPEN.get() if axis.name == name]
        if not found:
            known = ", ".join(map(repr, names_in_scope())) or "none"
            raise refuse(
                f"{short}: there is no axis of the name {name!r} here; names in "
                f"scope: {known}",
                f"`srcjax.vmap(f, axis_name={name!r})` around the function",
            )
        found[-1].used = True
    return names


def _value(t: Any) -> Any:
    if isinstance(t, Const):
        return t.value
    if isinstance(t, (Tuple, List)) and t.items is not None:
        return tuple(map(_value, t.items))
    return None


__all__ = [
    "NamedAxis",
    "axis_names",
    "names_in_scope",
    "names_of",
    "opened",
    "size_of_axis",
]
