"""Spread a list of adjoints into the result, instead of naming each of its items.

Before:                                  After:

    dlayers_0 = dlayers[0]
    dlayers_1 = dlayers[1]
    return [dlayers_0, dlayers_1, dW]        return [*dlayers, dW]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import List, Type


def spread_items(node: gast.FunctionDef, type_of_name: Callable[[str], Type]) -> None:
    """Spread lists in what the function returns, in place.

    All items of a list in their order have to be there, and each be named for that.
    """
    last = node.body[-1]
    if not isinstance(last, gast.Return) or last.value is None:
        return
    reads, bound = syntax.read_counts(node), syntax.binding_counts(node)
    items: dict[str, tuple[str, int]] = {}
    for stmt in node.body:
        found = _item(stmt)
        if found is not None and reads[found[0]] == bound[found[0]] == 1:
            items[found[0]] = found[1:]
    gone: set[str] = set()
    for display in syntax.walk(last.value):
        if isinstance(display, (gast.List, gast.Tuple)):
            display.elts = _spread(display.elts, items, type_of_name, gone)
    node.body = [s for s in node.body if (_item(s) or ("",))[0] not in gone]


def _item(stmt: Any) -> tuple[str, str, int] | None:
    """The names and the index of `d_0 = d[0]`."""
    if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.targets[0]):
        return None
    value = stmt.value
    if not isinstance(value, gast.Subscript) or not syntax.is_name(value.value):
        return None
    index = value.slice.value if isinstance(value.slice, gast.Constant) else None
    if type(index) is not int or len(stmt.targets) > 1:
        return None
    return stmt.targets[0].id, value.value.id, index


def _spread(
    elements: list[Any],
    items: dict[str, tuple[str, int]],
    type_of_name: Callable[[str], Type],
    gone: set[str],
) -> list[Any]:
    out: list[Any] = []
    at = 0
    while at < len(elements):
        whole, index = items.get(getattr(elements[at], "id", ""), ("", -1))
        t = type_of_name(whole) if index == 0 else None
        count = len(t.items) if isinstance(t, List) and t.items else 0
        run = elements[at : at + count]
        names = [getattr(e, "id", "") for e in run]
        if count and [items.get(n) for n in names] == [
            (whole, k) for k in range(count)
        ]:
            out.append(gast.Starred(syntax.name(whole), syntax.LOAD))
            gone.update(names)
            at += count
        else:
            out.append(elements[at])
            at += 1
    return out


__all__ = ["spread_items"]
