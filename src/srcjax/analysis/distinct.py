"""Index arrays that name no place twice.

    lanes = np.arange(n)            each place once
    lanes = lanes[mask]             still
    order = np.argsort(x)           a permutation
    [2, 0, 1]                       known to differ

What is read from such places is added to them without `np.add.at`, and what was
written to them is all still there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.looking import SHAPE_ATTRIBUTES
from srcjax.analysis.indexing import is_mask
from srcjax.analysis.types import List, Type, shape_of

TypeOf = Callable[[gast.expr], Type]


def all_differ(t: Type) -> bool:
    """Whether it is a list of known places that differ: none is counted from the end.

    What is counted from the start and what is counted from the end may be one place.
    """
    items = t.items if isinstance(t, List) else None
    places: list[Any] = [getattr(item, "value", None) for item in items or ()]
    plain = all(type(place) is int for place in places)
    if not places or not plain or len(set(places)) < len(places):
        return False
    return min(places) >= 0 or max(places) < 0


def distinct_names(node: gast.FunctionDef, type_of: TypeOf) -> frozenset[str]:
    """The names of a unit that only ever hold such arrays, which stay as they are."""
    values: dict[str, list[gast.expr | None]] = {}
    for stmt in syntax.walk(node.body):
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
            value = stmt.value if len(stmt.targets) == 1 else None
            values.setdefault(stmt.targets[0].id, []).append(value)
    found = {n for n in values if _is_vector(syntax.name(n), type_of)}
    found &= _only_looked_at(node, type_of, set(values))
    while True:
        kept = {
            n for n in found if all(_is_distinct(v, found, type_of) for v in values[n])
        }
        if kept == found:
            return frozenset(found)
        found = kept


def _is_vector(node: gast.expr, type_of: TypeOf) -> bool:
    return len(shape_of(type_of(node)) or ()) == 1


def _is_distinct(value: gast.expr | None, names: set[str], type_of: TypeOf) -> bool:
    if isinstance(value, gast.Subscript):
        return _is_one_of(value.value, names) and is_mask(type_of(value.slice))
    if not isinstance(value, gast.Call) or value.keywords:
        return False
    called = syntax.dotted(value.func)
    alone = len(value.args) == 1
    if called == "np.arange" and len(value.args) in (1, 2):
        first = value.args[0]
        return alone or (
            isinstance(first, gast.Constant)
            and type(first.value) is int
            and first.value >= 0
        )
    if called == "np.array" and alone and isinstance(value.args[0], gast.List):
        return all_differ(type_of(value.args[0]))
    if called == "np.argsort":
        return alone and _is_vector(value.args[0], type_of)
    return called == "np.flatnonzero" and alone


def _only_looked_at(
    node: gast.FunctionDef, type_of: TypeOf, names: set[str]
) -> set[str]:
    """The names of which every use reads, and gives no view of the memory away."""
    uses = dict.fromkeys(names, 0)
    written: dict[str, int] = dict.fromkeys(names, 0)

    def looked(expr: Any) -> None:
        if _is_one_of(expr, uses):
            uses[expr.id] -= 1

    for n in syntax.walk(node.body):
        if _is_one_of(n, uses):
            if isinstance(n.ctx, gast.Load):
                uses[n.id] += 1
            else:
                written[n.id] += 1
        elif isinstance(n, gast.Assign) and isinstance(n.targets[0], gast.Name):
            if n.targets[0].id in written and len(n.targets) == 1:
                written[n.targets[0].id] -= 1
        elif isinstance(n, gast.Subscript):
            entries = n.slice.elts if isinstance(n.slice, gast.Tuple) else [n.slice]
            for entry in entries:
                looked(entry)
            read = isinstance(n.ctx, gast.Load) and _is_one_of(n.value, uses)
            if read and is_mask(type_of(n.slice)):
                looked(n.value)
        elif isinstance(n, gast.Attribute) and n.attr in SHAPE_ATTRIBUTES:
            looked(n.value)
        elif isinstance(n, (gast.Compare, gast.BinOp)):
            for operand in [n.left, *getattr(n, "comparators", [])]:
                looked(operand)
            looked(getattr(n, "right", None))
        elif isinstance(n, gast.Call) and syntax.dotted(n.func) == "len":
            looked(n.args[0] if n.args else None)
    return {n for n in names if not uses[n] and not written[n]}


def _is_one_of(node: Any, names: Any) -> bool:
    """Whether the node is one of the names."""
    return isinstance(node, gast.Name) and node.id in names


__all__ = ["all_differ", "distinct_names"]
