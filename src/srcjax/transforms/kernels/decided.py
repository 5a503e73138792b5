"""Statements that only say what is known before the function runs, and nobody reads.

def f(x, method="fast", tol=None):
    exact = method in ("exact", "slow")     (gone: the branches that it decides
    if exact: ...                            are chosen already)
    absent = tol is None
    if absent: tol = 1e-9             ->    tol = 1e-9
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    Const,
    List,
    Range,
    Tuple,
    Type,
    dtype_of,
    is_number,
)
from srcjax.frontend.unit import Unit
from srcjax.transforms.specialise import Typer

_PARTS = (gast.Compare, gast.BoolOp, gast.UnaryOp, gast.Tuple, gast.List)


def without_decided(program: Program, unit: Unit) -> None:
    """Remove what is known by value and not read, in place."""
    typer = Typer(program, unit)
    types = program.types_of(unit)
    # Statements that know them may go.
    program.facts.changed.setdefault(id(unit.node), {}).update(types)

    def type_of(node: gast.expr) -> Type:
        return typer.type_of(node, types)

    before = -1
    while before != (before := sum(1 for _ in syntax.all_statements(unit.node.body))):
        reads = syntax.use_counts(unit.node)

        def block(stmts: list[Any], reads: Any = reads) -> list[Any]:
            kept = []
            for stmt in stmts:
                syntax.rewrite_blocks(stmt, block)
                name = assigned(stmt)
                if name and not reads[name] and is_decided(stmt.value, type_of):
                    continue
                kept.append(stmt)
            return kept

        unit.node.body = block(unit.node.body)


def assigned(stmt: Any) -> str:
    """The one name that a statement binds; empty where it is another statement."""
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
        return ""
    return getattr(stmt.targets[0], "id", "")


def is_decided(node: Any, type_of: Callable[[gast.expr], Type]) -> bool:
    """Whether evaluating it gives what is known, and does nothing else."""
    if isinstance(node, gast.Constant):
        return True
    if isinstance(node, gast.Name):
        return is_known(type_of(node))
    if isinstance(node, gast.Call) and isinstance(type_of(node), Range):
        # `range(n)`, which loops over it say themselves (`range(a, b, 0)` raises)
        whole = all(is_whole(type_of(a)) for a in node.args)
        return whole and len(node.args) < 3 and not node.keywords
    if isinstance(node, gast.Compare) and is_identity(node):
        operands = [node.left, *node.comparators]
        return all(isinstance(n, (gast.Name, gast.Constant)) for n in operands)
    if not isinstance(node, _PARTS):
        return False
    parts = [n for n in vars(node).values() if isinstance(n, gast.expr)]
    for value in vars(node).values():
        if isinstance(value, list):
            parts += [n for n in value if isinstance(n, gast.expr)]
    return all(is_decided(n, type_of) for n in parts)


def is_whole(t: Type) -> bool:
    """Whether a value is an int."""
    dtype = dtype_of(t) if is_number(t) else None
    return dtype is not None and dtype.kind == "i"


def is_identity(node: gast.Compare) -> bool:
    """Whether it is `x is y`."""
    return all(isinstance(op, (gast.Is, gast.IsNot)) for op in node.ops)


def is_known(t: Type) -> bool:
    """Whether a value, or each part of it, is known."""
    if isinstance(t, (Tuple, List)):
        return t.items is not None and all(map(is_known, t.items))
    return isinstance(t, Const)
