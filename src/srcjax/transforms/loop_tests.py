"""Tests of loops that were taken apart, where what they call is now read in place.

Before:                              After:

    while True:                          while len(stack_items) > 0:
        size = len(stack_items)              top = stack_items.pop()
        condition = size > 0
        if not condition:
            break
        else:
            top = stack_items.pop()

`while stack.size() > 0` is lowered so that the method can stand in its place.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import is_active
from srcjax.frontend.unit import Unit
from srcjax.transforms.call_effects import Computes


def join_tests(program: Program, unit: Unit) -> bool:
    """Write such loops with their tests; whether there was one."""
    loops = [s for s in syntax.all_statements(unit.node.body) if _is_taken_apart(s)]
    if not loops:
        return False
    computes = Computes(program, unit)
    types = program.types_of(unit)
    bound, read = syntax.binding_counts(unit.node), syntax.read_counts(unit.node)
    joined = False
    for loop in loops:
        *parts, stop = loop.body
        test = stop.test.operand
        names = [part.targets[0].id for part in parts]
        once = all(n in unit.temps and bound[n] == read[n] == 1 for n in names)
        still = not any(n in types and is_active(types[n]) for n in names)
        if not (once and still and all(computes(part.value) for part in parts)):
            continue
        for part in reversed(parts):
            test = syntax.substitute(test, {part.targets[0].id: part.value})
        loop.test, loop.body = test, stop.orelse
        joined = True
    return joined


def _is_taken_apart(loop: Any) -> bool:
    """Whether all that such a loop does is to make its test and to go by it."""
    if not isinstance(loop, gast.While) or not getattr(loop, "taken_apart", False):
        return False
    *parts, stop = loop.body
    fits = isinstance(stop, gast.If) and isinstance(stop.test, gast.UnaryOp)
    ends = fits and len(stop.body) == 1 and isinstance(stop.body[0], gast.Break)
    return ends and all(
        isinstance(part, gast.Assign) and isinstance(part.targets[0], gast.Name)
        for part in parts
    )
