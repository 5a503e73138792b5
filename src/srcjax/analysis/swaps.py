"""`a, b = b, a` of arrays that are written in place.

Two buffers that trade their names, as in a stencil that reads one and writes the
other, are seen as two names that trade what their buffers hold: then each name keeps a
buffer of its own, and so does its adjoint (`da, db = db, da`). That is right as long as
nothing else holds one of the buffers; `transforms.reverse.planning` sees to that.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax.analysis.types import Array, Type, ageless_buffers


def swap_pairs(stmt: Any) -> list[tuple[str, str]]:
    """(new name, old name) of an assignment that permutes names; else empty."""
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
        return []
    target, value = stmt.targets[0], stmt.value
    if not isinstance(target, gast.Tuple) or not isinstance(value, gast.Tuple):
        return []
    if not all(isinstance(e, gast.Name) for e in (*target.elts, *value.elts)):
        return []
    new, old = [e.id for e in target.elts], [e.id for e in value.elts]
    if len(new) < 2 or len(set(new)) != len(new) or sorted(new) != sorted(old):
        return []
    return list(zip(new, old, strict=True))


def trade_contents(types: list[Type]) -> bool:
    """Whether values of these types can trade their contents: alike, and apart."""
    first = types[0]
    seen: set[Any] = set()
    for t in types:
        if not isinstance(t, Array) or not isinstance(first, Array) or t.shape is None:
            return False
        if t.shape != first.shape or t.dtype is None or t.dtype != first.dtype:
            return False
        buffers = ageless_buffers(t.buffers)
        if len(buffers) != 1 or buffers & seen or t.shape == ():
            return False
        seen |= buffers
    return True
