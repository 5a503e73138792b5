"""The function itself, with all that it calls: what `pmap` runs on a device."""

from __future__ import annotations

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.frontend.unit import Unit
from srcjax.transforms.writer import Writer
from srcjax.transforms.written import Written


def written_plain(program: Program, unit: Unit, name: str) -> Written:
    """A unit in core form as the function of another name."""
    node = syntax.clone(unit.node)
    plain = gast.FunctionDef(name, node.args, node.body, [], None, None, [])
    return Written(plain, unit, Writer(program, unit), forward=True)


__all__ = ["written_plain"]
