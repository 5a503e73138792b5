"""The parameters of generated functions: the user's own, with defaults as text."""

from __future__ import annotations

import copy
import math
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    Array,
    Dict,
    List,
    Type,
    all_buffers,
    is_number,
    join_all,
    parts,
)
from srcjax.frontend.unit import Unit
from srcjax.transforms.writer import Writer


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


def copies_of_written(writer: Writer) -> list[gast.Assign]:
    """Copies of the arguments that the unit writes to: they are the caller's own."""
    unit = writer.unit
    made: list[gast.Assign] = []
    for name in unit.parameters:
        t = _written_argument(writer, name)
        value = syntax.name(name)
        if t is None:
            continue
        if isinstance(t, Array):
            copied = syntax.expression("x.copy()", x=value)
        elif isinstance(t, List) and _holds_numbers(writer.type_of_name(name)):
            copied = syntax.call("list", value)
        elif isinstance(t, Dict) and _holds_numbers(writer.type_of_name(name)):
            copied = syntax.call("dict", value)
        else:
            copied = deep_copy(unit, writer.needs, value)
        made.append(syntax.assign(name, copied))
    return made


def _written_argument(writer: Writer, name: str) -> Type | None:
    """The type of an argument that is written to, None if it is not.

    The name may be bound to other values later: those are not the caller's.
    """

    def is_own(buffer: Any) -> bool:
        while isinstance(buffer, tuple) and buffer != ("param", name):
            buffer = buffer[0]
        return buffer == ("param", name)

    found = [
        v.before[name]
        for stmt in syntax.walk(writer.unit.node)
        if isinstance(stmt, gast.stmt)
        for v in writer.facts.of(stmt)
        if name in v.before
    ]
    own = [t for t in found if any(map(is_own, all_buffers(t)))]
    buffers = frozenset().union(*map(all_buffers, own))
    return join_all(own) if any(map(is_own, buffers & writer.written)) else None


def _holds_numbers(t: Type) -> bool:
    """Whether a container has parts that need no copies."""
    return isinstance(t, (List, Dict)) and all(map(is_number, parts(t)))


__all__ = ["copies_of_written", "deep_copy", "user_parameters"]
