"""`global` and `nonlocal` in a function: variables that the text sets where they are.

Before:                                  After:

    def f(x):                                def f(x):
        global calls                             mine.calls += 1
        calls += 1                               return x * x
        return x * x

    def f(x):                                def f(x):
        nonlocal calls                           calls_cell.cell_contents += 1
        calls += 1                               return x * x
        return x * x

The generated function stands in a module of its own: a `global` there would be another
variable, and there is nothing around it that a `nonlocal` could mean.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import CellType
from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.unit import parameter_names

_SCOPES = (
    *(gast.FunctionDef, gast.Lambda, gast.ClassDef),
    *syntax.COMPREHENSIONS,
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
    if _is_ambiguous(node, rebound, gast.Global):
        raise refuse(
            declared[0],
            f"{shown} sets a variable of the module, whose name means another one too, "
            "or is bound by no assignment",
            "assignments to a name of its own",
        )
    _drop_declarations(node, names, gast.Global)
    if module is None or not rebound:
        return {}, set()
    base = module.__name__.rpartition(".")[2].strip("_") or "module"
    name = syntax.Names(syntax.all_names(node) | set(around)).fresh(base)
    _set_attributes(node, {id: (name, id) for id in rebound})
    return {name: module}, rebound


def read_globals(
    node: gast.FunctionDef,
    around: dict[str, Any],
    names: set[str],
    held: dict[str, Any],
) -> dict[str, Any]:
    """Read names of the module as its attributes, too: the module by its name.

    Nothing changes where that is not what the names mean everywhere.

    Args:
        names: what other functions set while this one runs.
        held: what the function has by names of its own already.
    """
    module = sys.modules.get(str(around.get("__name__")))
    own = set(parameter_names(node.args)) | syntax.names_written(node.body)
    names = names & syntax.all_names(node) - own
    if not names or module is None or vars(module) is not around:
        return {}
    if _is_ambiguous(node, names, gast.Global):
        return {}
    known = [name for name, value in held.items() if value is module]
    base = module.__name__.rpartition(".")[2].strip("_") or "module"
    free = syntax.Names(syntax.all_names(node) | set(around))
    name = known[0] if known else free.fresh(base)
    _set_attributes(node, {id: (name, id) for id in names})
    return {name: module}


def rebound_cells(
    node: gast.FunctionDef,
    closure: dict[str, CellType],
    around: dict[str, Any],
    refuse: Refuse,
) -> tuple[dict[str, Any], set[str]]:
    """Set variables of functions around it in their cells: these, and the names.

    Args:
        closure: the cells of the function by name. What a `nonlocal` means that is no
            variable of one of them belongs to the function itself, and stays.

    Raises UnsupportedError where that is not what the names mean everywhere.
    """
    declared = [n for n in syntax.walk(node) if isinstance(n, gast.Nonlocal)]
    names = {name for stmt in declared for name in stmt.names} & closure.keys()
    rebound = names & syntax.names_written(node.body)
    if _is_ambiguous(node, rebound, gast.Nonlocal):
        raise refuse(
            declared[0],
            f"`nonlocal {', '.join(sorted(rebound))}` sets a variable of a function "
            "around this one, whose name means another one too, or is bound by no "
            "assignment",
            "assignments to a name of its own",
        )
    _drop_declarations(node, names, gast.Nonlocal)
    free = syntax.Names(syntax.all_names(node) | closure.keys() | set(around))
    held = {id: free.fresh(f"{id}_cell") for id in sorted(rebound)}
    _set_attributes(node, {id: (held[id], "cell_contents") for id in rebound})
    return {held[id]: closure[id] for id in rebound}, rebound


def _set_attributes(node: gast.FunctionDef, places: dict[str, tuple[str, str]]) -> None:
    """For names of variables, in place, the attributes of objects that they are."""

    def as_attribute(expr: gast.expr) -> gast.expr:
        if not isinstance(expr, gast.Name) or expr.id not in places:
            return expr
        holder, attribute = places[expr.id]
        held = gast.copy_location(syntax.name(holder), expr)
        return gast.copy_location(gast.Attribute(held, attribute, expr.ctx), expr)

    if places:
        node.body = [syntax.map_expressions(stmt, as_attribute) for stmt in node.body]


def _drop_declarations(node: gast.FunctionDef, names: set[str], kind: Any) -> None:
    """Take these names out of declarations in the function, and in those inside."""

    def dropped(block: list[Any]) -> list[Any]:
        for stmt in block:
            if isinstance(stmt, gast.FunctionDef):
                stmt.body = dropped(stmt.body)
            syntax.rewrite_blocks(stmt, dropped)
            if isinstance(stmt, kind):
                stmt.names = [name for name in stmt.names if name not in names]
        kept = [stmt for stmt in block if not isinstance(stmt, kind) or stmt.names]
        return kept or ([gast.Pass()] if block else [])

    node.body = dropped(node.body)


def _is_ambiguous(node: gast.FunctionDef, names: set[str], kind: Any) -> bool:
    """Whether one of the names means another variable somewhere in the function."""
    return any(_means_another(scope, names, kind) for scope in _scopes(node))


def _scopes(node: gast.FunctionDef) -> Iterator[Any]:
    """The function, and what has names of its own inside of it."""
    return (n for n in syntax.walk(node) if isinstance(n, _SCOPES))


def _means_another(scope: Any, names: set[str], kind: Any) -> bool:
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
    declared = {n for s in own if isinstance(s, kind) for n in s.names}
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


__all__ = ["rebound_cells", "rebound_globals"]
