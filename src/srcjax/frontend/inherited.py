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
    parameters = parameter_names(source.node.args)
    cls = _class_of(source) if parameters else None
    if cls is None:
        return source
    if syntax.count_bindings(source.node.body, parameters[0]):
        return source
    names = syntax.Names(syntax.all_names(source.node) | set(source.closure))
    node = syntax.clone(source.node)
    work = _Inherited(cls, parameters[0], names)
    node.body = [work.visit(stmt) for stmt in node.body]
    cells = {n: CellType(v) for n, v in work.found.items()}
    return replace(source, node=node, closure={**source.closure, **cells})


def _class_of(source: Any) -> type | None:
    """The class whose method this is, where it says `super()` or `super(Cls, self)`."""
    cell = source.closure.get("__class__")
    if cell is not None:
        found: type = cell.cell_contents
        return found
    for node in syntax.walk(source.node.body):
        if isinstance(node, gast.Call) and syntax.is_name(node.func, "super"):
            named = node.args[0] if len(node.args) == 2 else None
            cls = source.globals.get(getattr(named, "id", ""))
            if isinstance(cls, type) and source.func in vars(cls).values():
                return cls
    return None


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
        name = self.asked(node.func)
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
        name = self.asked(node)
        held = None if name is None else _inherited(self.cls, name)
        if not isinstance(held, property) or held.fget is None:
            return node
        call = gast.Call(self.named(held.fget, node), [syntax.name(self.owner)], [])
        return gast.copy_location(call, node)

    def asked(self, node: Any) -> str | None:
        """The name in `super().name`, or in `super(Cls, self).name`."""
        if not isinstance(node, gast.Attribute) or not isinstance(node.ctx, gast.Load):
            return None
        call = node.value
        if not isinstance(call, gast.Call) or not syntax.is_name(call.func, "super"):
            return None
        given = [getattr(a, "id", "") for a in call.args]
        full = given == [self.cls.__name__, self.owner]
        return node.attr if (full or not given) and not call.keywords else None

    def named(self, function: Any, at: gast.expr) -> gast.expr:
        owner, _, name = function.__qualname__.rpartition(".")
        base = f"{owner.rpartition('.')[2]}_{name.strip('_')}"
        known = [n for n, f in self.found.items() if f is function]
        fresh = known[0] if known else self.names.fresh(base)
        self.found[fresh] = function
        return gast.copy_location(syntax.name(fresh), at)


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
