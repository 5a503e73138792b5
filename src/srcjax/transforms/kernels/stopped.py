"""`stop_gradient(x)` as `x`: where nothing is differentiated any more it is the same.

    m = stop_gradient(np.max(x))     ->     m = np.max(x)

Else each softmax would be two kernels, with a call of Python between them.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.stopped import stop_gradient
from srcjax.analysis.types import Const
from srcjax.frontend.unit import Unit
from srcjax.transforms.kernels.decided import assigned
from srcjax.transforms.specialise import Typer


def without_stops(program: Program, unit: Unit) -> None:
    """Let the value stand where derivatives end, in place."""
    types = program.types_of(unit)
    typer = Typer(program, unit)

    def value(node: Any) -> Any:
        """What a call gives that ends derivatives; other nodes as they are."""
        while isinstance(node, gast.Call) and len(node.args) == 1 and not node.keywords:
            callee = typer.type_of(node.func, types)
            if not (isinstance(callee, Const) and callee.value is stop_gradient):
                break
            if isinstance(node.args[0], gast.Starred):
                break
            (node,) = node.args
        return node

    # Statements that know them may go.
    program.facts.changed.setdefault(id(unit.node), {}).update(types)
    copies: set[int] = set()
    for holder in list(syntax.walk(unit.node.body)):
        for field, part in vars(holder).items():  # in place: facts are by identity
            if isinstance(part, list):
                part[:] = map(value, part)
            elif isinstance(part, gast.Call) and value(part) is not part:
                setattr(holder, field, value(part))
                copies.add(id(holder))
    if copies:
        without_copies(unit, copies)


def without_copies(unit: Unit, copies: set[int]) -> None:
    """Let one name do for `m = x` right behind where `x` is made, in place."""
    bindings = syntax.binding_counts(unit.node.body)
    same: dict[str, str] = {}

    def block(stmts: list[Any]) -> list[Any]:
        kept: list[Any] = []
        for stmt in stmts:
            syntax.rewrite_blocks(stmt, block)
            target = assigned(stmt) if id(stmt) in copies else ""
            value = getattr(stmt.value, "id", "") if target else ""
            made = value and kept and assigned(kept[-1]) == value
            made = made and not {target, value} & set(unit.parameters)
            if made and bindings[target] == bindings[value] == 1:
                same[target] = value
            else:
                kept.append(stmt)
        return kept

    unit.node.body = block(unit.node.body)
    syntax.rename(unit.node.body, same)
