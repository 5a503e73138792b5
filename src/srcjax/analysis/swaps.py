"""`a, b = b, a` of arrays that are written in place.

Two buffers that trade their names, as in a stencil that reads one and writes the
other, are seen as two names that trade what their buffers hold: then each name keeps a
buffer of its own, and so does its adjoint (`da, db = db, da`). That is right as long as
nothing else holds one of the buffers; `transforms.reverse.planning` sees to that.
"""

from __future__ import annotations

from typing import Any

from srcjax.analysis.types import Array, Type, ageless_buffers


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
