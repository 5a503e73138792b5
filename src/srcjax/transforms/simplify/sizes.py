"""Ask the shape of what an array is made of, where that is the same.

Before:                                  After:

    power = centred**2                       power = centred**2
    dy = d / power.shape[1] * centred        dy = d / centred.shape[1] * centred

A power whose shape alone was asked for again may then go into the line that reads it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import called

_ASKED = ("shape", "size", "ndim")


def sizes_of_operands(
    node: gast.FunctionDef,
    is_ours: Callable[[str], bool],
    is_array: Callable[[gast.expr], bool],
) -> bool:
    """Ask operands for their shapes in the function, in place; whether any was."""
    parameters = {a.id for a in syntax.walk(node.args) if isinstance(a, gast.Name)}
    bound = Counter(
        n.id
        for n in syntax.names_in(node.body)
        if not isinstance(n.ctx, gast.Load) and n.id not in parameters
    )
    again = parameters & syntax.names_written(node.body)
    made: dict[str, str] = {}
    for stmt in node.body:
        if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.targets[0]):
            continue
        name, whole = stmt.targets[0].id, _operand(stmt.value)
        if bound[name] != 1 or not whole or not is_ours(name):
            continue
        once = bound[whole] == 1 or (whole in parameters and whole not in again)
        if once and is_array(syntax.name(whole)):
            made[name] = made.get(whole, whole)
    changed = False
    for sub in syntax.walk(node.body):
        asked: Any = None
        if isinstance(sub, gast.Attribute) and sub.attr in _ASKED:
            asked = sub.value
        elif called(sub) == "len" and len(sub.args) == 1:
            asked = sub.args[0]
        if isinstance(asked, gast.Name) and asked.id in made:
            asked.id = made[asked.id]
            changed = True
    return changed


def _operand(value: Any) -> str:
    """`x` of `-x`, `x**2` and `2 * x`."""
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        return getattr(value.operand, "id", "")
    if not isinstance(value, gast.BinOp) or isinstance(value.op, gast.MatMult):
        return ""
    parts = [value.left, value.right]
    names = [p.id for p in parts if isinstance(p, gast.Name)]
    plain = len(names) == 1 and any(isinstance(p, gast.Constant) for p in parts)
    return names[0] if plain else ""
