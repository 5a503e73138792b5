"""`global` in a function: names of its module, which the text sets in that module.

Before:                                  After:

    def f(x):                                def f(x):
        global calls                             mine.calls += 1
        calls += 1                               return x * x
        return x * x

The generated function stands in a module of its own: a `global` there would be another
variable.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import gast

from srcjax import syntax

_SCOPES = (
    *(gast.FunctionDef, gast.Lambda, gast.ClassDef),
    *(gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp),
)
Refuse = Callable[[gast.AST, str, str], Exception]


def rebound_globals(
    node: gast.FunctionDef, around: dict[str, Any], refuse: Refuse
) -> tuple[dict[str, Any], set[str]]:
    """Set names of the module as its attributes: the module by its name, and these.

    Raises UnsupportedError where that is not what the names mean everywhere.
    """
    declared = [n for n in syntax.walk(node) if isinstance(n, gast.Global)]
    if not declared:
        return {}, set()
    names = {name for stmt in declared for name in stmt.names}
    rebound = names & syntax.names_written(node.body)
    shown = f"`global {', '.join(sorted(rebound))}`"
    module = sys.modules.get(str(around.get("__name__")))
    if rebound and (module is None or vars(module) is not around):
        raise refuse(
            declared[0],
            f"{shown} sets a variable of a namespace that is no module",
            "an attribute of an object, or an item of a dict",
        )
    if rebound and any(_means_another(scope, rebound) for scope in _scopes(node)):
        raise refuse(
            declared[0],
            f"{shown} sets a variable of the module, whose name means another one too, "
            "or is bound by no assignment",
            "assignments to a name of its own",
        )
    _drop_declarations(node)
    if module is None or not rebound:
        return {}, set()
    base = module.__name__.rpartition(".")[2].strip("_") or "module"
    name = syntax.Names(syntax.all_names(node) | set(around)).fresh(base)

    def as_attribute(expr: gast.expr) -> gast.expr:
        if not isinstance(expr, gast.Name) or expr.id not in rebound:
            return expr
        held = gast.copy_location(syntax.name(name), expr)
        return gast.copy_location(gast.Attribute(held, expr.id, expr.ctx), expr)

    node.body = [syntax.map_expressions(stmt, as_attribute) for stmt in node.body]
    return {name: module}, rebound


def _drop_declarations(node: gast.FunctionDef) -> None:
    """Take `global` out of the function, and of those inside of it."""

    def dropped(block: list[Any]) -> list[Any]:
        for stmt in block:
            if isinstance(stmt, gast.FunctionDef):
                stmt.body = dropped(stmt.body)
            syntax.rewrite_blocks(stmt, dropped)
        kept = [stmt for stmt in block if not isinstance(stmt, gast.Global)]
        return kept or ([gast.Pass()] if block else [])

    node.body = dropped(node.body)


def _scopes(node: gast.FunctionDef) -> Iterator[Any]:
    """The function, and what has names of its own inside of it."""
    return (n for n in syntax.walk(node) if isinstance(n, _SCOPES))


def _means_another(scope: Any, names: set[str]) -> bool:
    """Whether one of the names is another variable here, or is bound in another way."""
    if isinstance(scope, gast.ClassDef):
        return bool(names & syntax.all_names(scope))
    if not isinstance(scope, (gast.FunctionDef, gast.Lambda)):
        targets = [generator.target for generator in scope.generators]
        return bool(names & syntax.names_written(targets))
    if any(isinstance(n, gast.Name) and n.id in names for n in syntax.walk(scope.args)):
        return True
    if isinstance(scope, gast.Lambda):
        return bool(names & syntax.names_written(scope.body))
    own = list(_own_statements(scope.body))
    declared = {n for s in own if isinstance(s, gast.Global) for n in s.names}
    for stmt in own:
        bound = names & syntax.names_written(syntax.head(stmt))
        if isinstance(stmt, (gast.FunctionDef, gast.ClassDef)):
            bound = names & {stmt.name}
        assigns = isinstance(stmt, (gast.Assign, gast.AugAssign, gast.AnnAssign))
        value = getattr(stmt, "value", None)
        if bound and not (assigns and bound <= declared):
            return True
        if value is not None and names & syntax.names_written(value):
            return True
    return False


def _own_statements(block: list[Any]) -> Iterator[Any]:
    """The statements of a function, without those of functions inside of it."""
    for stmt in block:
        yield stmt
        for inner in syntax.inner_blocks(stmt):
            yield from _own_statements(inner)


__all__ = ["rebound_globals"]
