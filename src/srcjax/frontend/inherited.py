"""`super().f(x)` as the call of the method that it means.

Before:                               After:

    def f(self, x):                       def f(self, x):
        return super().f(x) + 1               return Base_f(self, x) + 1

Which method that is depends on the class of `self`: with several base classes another
one may come between. Where a class that is derived from this one would find another
method, the call stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import CellType, FunctionType
from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.unit import parameter_names


def name_inherited(source: Any) -> Any:
    """The source with the methods of `super()` under names of their own."""
    cell = source.closure.get("__class__")
    parameters = parameter_names(source.node.args)
    if cell is None or not parameters:
        return source
    if syntax.count_bindings(source.node.body, parameters[0]):
        return source
    names = syntax.Names(syntax.all_names(source.node) | set(source.closure))
    node = syntax.clone(source.node)
    work = _Inherited(cell.cell_contents, parameters[0], names)
    node.body = [work.visit(stmt) for stmt in node.body]
    cells = {n: CellType(v) for n, v in work.found.items()}
    return replace(source, node=node, closure={**source.closure, **cells})


class _Inherited(gast.NodeTransformer):
    def __init__(self, cls: type, owner: str, names: syntax.Names) -> None:
        self.cls = cls
        self.owner = owner
        self.names = names
        self.found: dict[str, Any] = {}

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.FunctionDef:
        return node  # `super()` would be about its own first parameter

    visit_Lambda = visit_FunctionDef

    def visit_Call(self, node: gast.Call) -> gast.expr:
        self.generic_visit(node)
        name = _asked(node.func)
        method = None if name is None else _inherited(self.cls, name)
        if method is object.__init__ and not (node.args or node.keywords):
            return gast.copy_location(gast.Constant(None, None), node)
        if not isinstance(method, FunctionType) or name is None:
            return node
        node.func = self.named(method, node.func)
        node.args = [syntax.name(self.owner), *node.args]
        return node

    def visit_Attribute(self, node: gast.Attribute) -> gast.expr:
        self.generic_visit(node)
        name = _asked(node)
        held = None if name is None else _inherited(self.cls, name)
        if not isinstance(held, property) or held.fget is None:
            return node
        call = gast.Call(self.named(held.fget, node), [syntax.name(self.owner)], [])
        return gast.copy_location(call, node)

    def named(self, function: Any, at: gast.expr) -> gast.expr:
        owner, _, name = function.__qualname__.rpartition(".")
        base = f"{owner.rpartition('.')[2]}_{name.strip('_')}"
        known = [n for n, f in self.found.items() if f is function]
        fresh = known[0] if known else self.names.fresh(base)
        self.found[fresh] = function
        return gast.copy_location(syntax.name(fresh), at)


def _asked(node: Any) -> str | None:
    """The name in `super().name`."""
    if not isinstance(node, gast.Attribute) or not isinstance(node.ctx, gast.Load):
        return None
    call = node.value
    plain = isinstance(call, gast.Call) and not (call.args or call.keywords)
    return node.attr if plain and syntax.is_name(call.func, "super") else None


def _inherited(cls: type, name: str) -> Any:
    """What `super().name` is for all objects of the class; None if it differs."""
    found = {id(v): v for v in (_after(c, cls, name) for c in _derived(cls))}
    return next(iter(found.values())) if len(found) == 1 else None


def _after(owner: type, cls: type, name: str) -> Any:
    order = owner.__mro__
    for other in order[order.index(cls) + 1 :]:
        if name in vars(other):
            return vars(other)[name]
    return None


def _derived(cls: type) -> Iterator[type]:
    yield cls
    derived: list[type] = type.__subclasses__(cls)
    for other in derived:
        yield from _derived(other)


__all__ = ["name_inherited"]
