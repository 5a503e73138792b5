"""Spread a list of adjoints into the result, instead of naming each of its items.

Before:                                  After:

    dlayers_0 = dlayers[0]
    dlayers_1 = dlayers[1]
    return [dlayers_0, dlayers_1, dW]        return [*dlayers, dW]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import List, Type


def spread_items(
    node: gast.FunctionDef,
    type_of_name: Callable[[str], Type],
    is_ours: Callable[[str], bool],
) -> None:
    """Spread lists in what the function returns, in place.

    All items of a list that srcjax made have to be there in their order, alone or each
    with a name for that. Several results stay apart.
    """
    last = node.body[-1]
    if not isinstance(last, gast.Return) or last.value is None:
        return
    uses = Counter(n.id for n in syntax.names_in(node))
    items: dict[str, tuple[str, int]] = {}
    changed: set[str] = set()
    for stmt in reversed(node.body[:-1]):
        found = _item(stmt)
        if found is None:
            changed |= syntax.all_names(stmt)
            continue
        name, whole, index = found
        alone = uses[name] == 2 and whole not in changed
        if alone and is_ours(name) and is_ours(whole):
            items[name] = whole, index
    gone: set[str] = set()
    for display in syntax.walk(last.value):
        several = display is last.value and isinstance(display, gast.Tuple)
        if isinstance(display, (gast.List, gast.Tuple)) and not several:
            parts = [_part(e, items, is_ours) for e in display.elts]
            display.elts = _spread(display.elts, parts, type_of_name, gone)
    node.body = [s for s in node.body if (_item(s) or ("",))[0] not in gone]


def _item(stmt: Any) -> tuple[str, str, int] | None:
    """The names and the index of `d_0 = d[0]`."""
    if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.targets[0]):
        return None
    whole, index = _subscript(stmt.value)
    if index < 0 or len(stmt.targets) > 1:
        return None
    return stmt.targets[0].id, whole, index


def _subscript(value: Any) -> tuple[str, int]:
    """The name and the index of `d[0]`; -1 for all else."""
    if not isinstance(value, gast.Subscript) or not syntax.is_name(value.value):
        return "", -1
    index = value.slice.value if isinstance(value.slice, gast.Constant) else None
    return (value.value.id, index) if type(index) is int else ("", -1)


def _part(
    element: Any, items: dict[str, tuple[str, int]], is_ours: Callable[[str], bool]
) -> tuple[str, int]:
    """Of which list an element is which item; -1 for all else."""
    if isinstance(element, gast.Name):
        return items.get(element.id, ("", -1))
    whole, index = _subscript(element)
    return (whole, index) if whole and is_ours(whole) else ("", -1)


def _spread(
    elements: list[Any],
    parts: list[tuple[str, int]],
    type_of_name: Callable[[str], Type],
    gone: set[str],
) -> list[Any]:
    out: list[Any] = []
    at = 0
    while at < len(elements):
        whole, index = parts[at]
        t = type_of_name(whole) if index == 0 else None
        count = len(t.items) if isinstance(t, List) and t.items else 0
        if count and parts[at : at + count] == [(whole, k) for k in range(count)]:
            out.append(gast.Starred(syntax.name(whole), syntax.LOAD))
            run = elements[at : at + count]
            gone.update(e.id for e in run if isinstance(e, gast.Name))
            at += count
        else:
            out.append(elements[at])
            at += 1
    return out


__all__ = ["spread_items"]
