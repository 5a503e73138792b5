"""Loops over the keys of what is not known to be a mapping.

    for key in value:
        total = total + value[key]

What indexes the value that it comes from is a key of it, or a whole number: no
derivative flows through either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from srcjax import syntax

_SIMPLE = (gast.Assign, gast.AugAssign, gast.Expr)
#: What is inside of these may not be evaluated, or later, or of other names.
_SOMETIMES = (
    gast.BoolOp,
    gast.Compare,
    gast.DictComp,
    gast.GeneratorExp,
    gast.IfExp,
    gast.Lambda,
    gast.ListComp,
    gast.SetComp,
)


def keys_of(loop: gast.For) -> str | None:
    """The name of what each pass of the loop surely indexes by what it visits."""
    over, target = loop.iter, loop.target
    if isinstance(over, gast.Call) and syntax.is_name(over.func, "list"):
        over = over.args[0] if len(over.args) == 1 else over
    if not isinstance(over, gast.Name) or not isinstance(target, gast.Name):
        return None
    if {over.id, target.id} & syntax.names_written(loop.body):
        return None
    indexed = any(
        isinstance(node, gast.Subscript)
        and syntax.is_name(node.value, over.id)
        and syntax.is_name(node.slice, target.id)
        for stmt in loop.body
        if isinstance(stmt, _SIMPLE)
        for node in _evaluated(stmt)
    )
    return over.id if indexed else None


def _evaluated(node: Any) -> Iterator[Any]:
    """The nodes that are evaluated whenever the statement is."""
    if isinstance(node, _SOMETIMES):
        return
    yield node
    for child in gast.iter_child_nodes(node):
        yield from _evaluated(child)
