"""The function itself, with all that it calls: what `pmap` runs on a device."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import runtime, syntax
from srcjax.analysis.program import Program
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.unit import Unit
from srcjax.ops.record import composite_of
from srcjax.transforms.writer import Writer
from srcjax.transforms.written import Written

#: Helpers that look into objects as they are when the function runs.
_OF_OBJECTS = (runtime.contents, runtime.restore_contents)


def written_plain(program: Program, unit: Unit, name: str) -> Written:
    """A unit in core form as the function of another name.

    Raises:
        UnsupportedError: it has to be run as it is.
    """
    local = syntax.names_written(unit.node) | set(unit.parameters)
    for node in syntax.walk(unit.node):
        if isinstance(node, gast.Call):
            check(program, unit, node, local)
    node = syntax.clone(unit.node)
    plain = gast.FunctionDef(name, node.args, node.body, [], None, None, [])
    return Written(plain, unit, Writer(program, unit), forward=True)


def check(program: Program, unit: Unit, call: gast.Call, local: set[str]) -> None:
    """What a call is taken for in core form is what it does. Raises UnsupportedError.

    Iterators of `itertools` are taken for lists, and what objects hold is saved in a
    form that they had before.
    """
    found = program.facts.callees.get(id(call), [])
    if any(callee in _OF_OBJECTS for callee in found if callable(callee)):
        raise refused(unit, call, "what objects hold is saved when it runs")
    first, *rest = (syntax.dotted(call.func) or "").split(".")
    if not first or first in local:
        return
    try:
        value = program.look(unit, first)
    except KeyError:
        return
    for name in rest:
        value = getattr(value, name, None)
    if getattr(value, "__module__", None) == "itertools" and composite_of(value):
        raise refused(unit, call, "an iterator is used up when it runs")


def refused(unit: Unit, node: Any, reason: str) -> UnsupportedError:
    return error_at(UnsupportedError, unit.source, node, reason)


__all__ = ["written_plain"]
