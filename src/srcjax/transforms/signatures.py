"""The parameters of generated functions: the user's own, with defaults as text."""

from __future__ import annotations

import copy
import math
from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.unit import Unit


def user_parameters(unit: Unit, needs: dict[str, Any]) -> gast.arguments:
    """The user's own parameters; defaults without a literal are added to `needs`."""
    arguments: gast.arguments = syntax.clone(unit.node.args)
    for a in syntax.walk(arguments):
        if isinstance(a, gast.Name):
            a.annotation = None
    names = [*arguments.posonlyargs, *arguments.args]
    first = len(names) - len(arguments.defaults)
    arguments.defaults = [
        _default(unit, needs, a.id, d)
        for a, d in zip(names[first:], arguments.defaults, strict=True)
    ]
    arguments.kw_defaults = [
        None if d is None else _default(unit, needs, a.id, d)
        for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return arguments


def _default(
    unit: Unit, needs: dict[str, Any], name: str, written: gast.expr
) -> gast.expr:
    """A default in the text: as written if it is a literal, else its value."""
    if isinstance(written, gast.Constant) or (
        isinstance(written, gast.UnaryOp) and isinstance(written.operand, gast.Constant)
    ):
        return written
    value = unit.source.defaults.get(name)
    if type(value) in (int, bool, str, type(None)) or (
        type(value) is float and math.isfinite(value)
    ):
        return syntax.expression(repr(value))
    known = unit.names.fresh(f"default_{name}")
    needs[known] = value
    return syntax.name(known)


def deep_copy(unit: Unit, needs: dict[str, Any], value: gast.expr) -> gast.expr:
    """`copy.deepcopy(value)`; the module's name in `needs` is none of the unit's own.

    A variable may be called `copy`: then the module is `copy2`.
    """
    name = next((n for n, known in needs.items() if known is copy), None)
    if name is None:
        name = unit.names.fresh("copy")
        needs[name] = copy
    return syntax.call(f"{name}.deepcopy", value)


__all__ = ["deep_copy", "user_parameters"]
