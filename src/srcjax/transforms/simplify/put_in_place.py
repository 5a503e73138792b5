"""Add to items what is computed for that alone.

Before:                                 After:

    # y = a * x                             # y = a * x
    dx = dy * a                             dxs[i] += dy * a
    da += dy * x                            da += dy * x
    # for x in xs:
    dxs[i] += dx

What would make a line too long keeps its name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import called, is_pure
from srcjax.transforms.reasons import take_over
from srcjax.transforms.simplify.delay import commute

Shares = Callable[[str], set[str]]
#: The longest line in which an item is added to, in characters.
_WIDTH = 76


def put_in_place(node: gast.FunctionDef, shares: Shares) -> bool:
    """Do so in the loops of the function, in place; whether there was any."""
    reads = syntax.read_counts(node.body)
    bound = syntax.binding_counts(node)
    updated = {getattr(s.target, "id", "") for s in syntax.updates(node.body)}

    def once(name: str) -> bool:
        return reads[name] == 1 == bound[name] and name not in updated

    changed = False
    for loop in syntax.all_statements(node.body):
        if isinstance(loop, (gast.For, gast.While)):
            changed |= _in_block(loop.body, once, shares)
    return changed


def _in_block(block: list[Any], once: Callable[[str], bool], shares: Shares) -> bool:
    before = len(block)
    for stmt in list(block):
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        name = getattr(target, "id", "")
        if not name or not _goes_back(stmt) or not once(name):
            continue
        at = next(k for k, s in enumerate(block) if s is stmt)
        end = next((k for k, s in enumerate(block) if _placed(s) == name), -1)
        if end < at or not is_pure(stmt.value):
            continue
        place = syntax.substitute(block[end], {name: stmt.value})
        between = block[at + 1 : end]
        if len(syntax.text(place)) > _WIDTH or any(map(_leaves, between)):
            continue
        if not all(commute(place, s, shares) for s in between):
            continue
        take_over(place, stmt)
        place.user_line = getattr(stmt, "user_line", None)
        block[at : end + 1] = [place, *between]
    return len(block) != before


def _leaves(stmt: Any) -> bool:
    leaving = (gast.Return, gast.Break, gast.Continue, gast.Raise, gast.FunctionDef)
    return any(isinstance(s, leaving) for s in syntax.walk(stmt))


def _goes_back(stmt: gast.stmt) -> bool:
    return bool(getattr(stmt, "backward", False))


def _placed(stmt: Any) -> str:
    """`d` of `ds[i] += d`, `ds[i] = ds[i] + d` and `ds = add_at(ds, i, d)`."""
    value: Any = getattr(stmt, "value", None)
    if not _goes_back(stmt):
        return ""
    if isinstance(stmt, gast.AugAssign):
        return getattr(value, "id", "") if _is_item(stmt.target) else ""
    if not isinstance(stmt, gast.Assign):
        return ""
    if called(value) == "add_at" and len(value.args) == 3:
        return getattr(value.args[2], "id", "")
    if not _is_item(stmt.targets[0]) or not isinstance(value, gast.BinOp):
        return ""
    return getattr(value.right, "id", "") if isinstance(value.op, gast.Add) else ""


def _is_item(place: Any) -> bool:
    return isinstance(place, gast.Subscript) and syntax.is_name(place.value)


__all__ = ["put_in_place"]
