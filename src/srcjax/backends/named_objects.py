"""Objects in the trees that no text says, such as members of an enum: by names."""

from __future__ import annotations

import enum
from typing import Any

import gast
import numpy as np

from srcjax import syntax

#: What the printer has a text for.
_PRINTED = (int, bool, float, complex, str, bytes, type(None), type(...), slice)


def name_objects(
    functions: list[gast.FunctionDef], values: dict[str, Any]
) -> dict[str, Any]:
    """Put names in the place of such objects, and tell what the names stand for.

    They are keys of dicts, which the types tell: `d[Color.RED]`. `values` are what the
    free names of the functions stand for.
    """
    found: dict[str, Any] = {}
    if all(map(is_printed, syntax.walk(functions))):
        return found
    bound = set().union(*map(syntax.names_written, functions))
    taken = set(values).union(*map(syntax.all_names, functions))

    def named(value: Any, base: str) -> gast.Name:
        for name, known in {**values, **found}.items():
            if known is value and name not in bound:
                return syntax.name(name)
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}{number}"
        taken.add(name)
        found[name] = value
        return syntax.name(name)

    def shown(node: gast.expr) -> gast.expr:
        if is_printed(node):
            return node
        value = node.value
        cls = type(value)
        if isinstance(value, enum.Enum) and value.name in cls.__members__:
            return gast.Attribute(named(cls, cls.__name__), value.name, syntax.LOAD)
        return named(value, "key")

    for function in functions:
        function.body = syntax.map_expressions(function.body, shown)
    return found


def is_printed(node: Any) -> bool:
    """Whether the printer has a text for the node."""
    return not isinstance(node, gast.Constant) or _has_text(node.value)


def _has_text(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_has_text, value))
    return type(value) in _PRINTED or isinstance(value, (np.generic, np.dtype))


__all__ = ["name_objects"]
