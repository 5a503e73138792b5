"""Reads of what a function changes around it: counters, caches, options of a module.

    state.calls += 1
    y = x * state.calls        calls = state.calls
                               y = x * calls

The backward sweep comes after all of the changes, and leaves them as they are: what is
read in between is kept under a name, which is saved as others are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import Array, Const, Type, is_active
from srcjax.frontend.unit import Unit

TypeOf = Callable[[str], Type | None]


def changed_reads(
    program: Program, unit: Unit, expr: Any, type_of: TypeOf
) -> list[gast.expr]:
    """The parts of an expression that read what is changed around the function."""
    attributes = program.facts.set_attributes
    written = program.facts.set_around
    if not attributes and not written:
        return []
    bound = syntax.names_written(unit.node.body) | set(unit.parameters)

    def looked_up(name: str) -> Type | None:
        try:
            return program.type_around(program.look(unit, name), name)
        except KeyError:
            return None

    def around(node: Any) -> bool:
        root = syntax.root_of(node)
        if not root:
            return False
        return root not in bound or isinstance(type_of(root), Const)

    def reads(node: Any) -> bool:
        if not isinstance(getattr(node, "ctx", None), gast.Load):
            return False
        if isinstance(node, gast.Attribute):
            return node.attr in attributes and around(node)
        if isinstance(node, gast.Subscript):
            return bool(written) and around(node)
        if isinstance(node, gast.Name) and written and node.id not in bound:
            t = looked_up(node.id)
            if isinstance(t, Array) and not is_active(t):
                return not t.buffers.isdisjoint(written)
        return False

    found: list[gast.expr] = []
    todo = [expr]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo += node
        elif isinstance(node, gast.AST) and reads(node):
            found.append(node)
        elif isinstance(node, gast.AST):
            todo += [getattr(node, key, None) for key in node._fields]
    return found
