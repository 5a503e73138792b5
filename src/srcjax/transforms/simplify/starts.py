"""Read the number that a name starts from where a branch reads the name first.

Before:                          After:

    dp = 1.0                         dp = 1.0
    if p < 0:                        if p < 0:
        dp = 0.1 * dp                    dp = 0.1

The name holds the number until something binds it again, in the branch or before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.simplify.nest import decide


def read_starts(block: list[Any], own: Callable[[str], bool]) -> bool:
    """Do so in the block and those inside, in place; whether any was read.

    `own` tells the names that srcjax made: the user's lines stay as they are.
    """
    changed = False
    starts: dict[str, gast.Constant] = {}
    for stmt in block:
        if isinstance(stmt, gast.If):
            for side in (stmt.body, stmt.orelse):
                changed |= _read(side, dict(starts))
        for inner in syntax.inner_blocks(stmt):
            changed |= read_starts(inner, own)
        for name in syntax.names_written(stmt):
            starts.pop(name, None)
        name = getattr(stmt.targets[0], "id", "") if _is_plain(stmt) else ""
        if name and own(name) and _is_number(stmt.value):
            starts[name] = stmt.value
    return changed


def _is_plain(stmt: Any) -> bool:
    """`x = ...`"""
    return isinstance(stmt, gast.Assign) and syntax.is_name(stmt.targets[0])


def _is_number(value: Any) -> bool:
    return isinstance(value, gast.Constant) and type(value.value) in (int, float)


def _read(side: list[Any], starts: dict[str, gast.Constant]) -> bool:
    """Put numbers in place of names, up to where these are bound again."""
    changed = False
    for stmt in side:
        if not starts or syntax.has_blocks(stmt):
            return changed
        scopes = (gast.Lambda, gast.comprehension)
        if _is_plain(stmt) and not any(
            isinstance(n, scopes) for n in syntax.walk(stmt)
        ):
            found = {
                id(n): syntax.clone(starts[n.id])
                for n in syntax.names_in(stmt.value)
                if n.id in starts
            }
            if found:
                stmt.value = syntax.replaced(stmt.value, found)
                changed = True
            decide(stmt)
        for name in syntax.names_written(stmt):
            starts.pop(name, None)
    return changed
