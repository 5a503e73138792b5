"""What a container holds more than once.

    rows = [[0.0] * 2] * 2          one row, which both items are
    rows = [[0.0] * 2 for _ in x]   rows of their own, made at one place

What is written to the first kind through one item shows in the other, so that a
tangent, an adjoint or a batch of it has to hold one part twice as well.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    Dict,
    List,
    Object,
    Tuple,
    Type,
    all_buffers,
    parts,
)
from srcjax.frontend.unit import Unit

#: What is inside of these is evaluated more than once.
_REPEATING = (
    gast.For,
    gast.While,
    gast.ListComp,
    gast.DictComp,
    gast.GeneratorExp,
    gast.FunctionDef,
    gast.Lambda,
)


def repeats(source: Type, certain: bool = False) -> set[Any]:
    """Buffers that several items of a container (certainly) share."""
    if not isinstance(source, (List, Dict, Tuple, Object)) or source.items is None:
        return set()
    seen: set[Any] = set()
    found: set[Any] = set()
    for t in parts(source):
        if certain and len(t.buffers) != 1:
            continue
        found |= seen & all_buffers(t)
        seen |= all_buffers(t)
    return found


def made_in_loops(unit: Unit) -> set[int]:
    """What is made at one place and still is another object each time."""
    return {
        id(node)
        for loop in syntax.walk(unit.node.body)
        if isinstance(loop, _REPEATING)
        for node in syntax.walk(loop)
    }


__all__ = ["made_in_loops", "repeats"]
