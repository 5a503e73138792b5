"""`super().f(x)` as the call of the method that it means.

Before:                               After:

    def f(self, x):                       def f(self, x):
        return super().f(x) + 1               return Base_f(self, x) + 1

Which method that is depends on the class of `self`: with several base classes another
one may come between. Where classes derived from this one would find different methods,
the objects of each have a copy of the method of their own (`for_class`). In a method
whose object's class is not known it is `super(Cls, self)`, which Python finds anywhere.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from types import CellType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import gast

from srcjax import syntax
from srcjax.frontend.read import apart
from srcjax.frontend.unit import parameter_names

#: The copies of methods, and the class of the objects that each is for.
_FOR: WeakKeyDictionary[FunctionType, type] = WeakKeyDictionary()


def for_class(method: Any, cls: Any) -> Any:
    """The method as objects of the class have it.

    The method itself, unless what its `super()` finds, or what that finds in turn,
    depends on the class of the object.
    """
    owner = _defined_in(method) if isinstance(method, FunctionType) else None
    if owner is None or owner not in getattr(cls, "__mro__", ()):
        return method
    if not _depends(method, owner):
        return method
    return _copy_for(method, cls)


@functools.lru_cache(maxsize=512)  # the same object at each access
def _copy_for(method: FunctionType, cls: Any) -> FunctionType:
    copy = apart(method)
    _FOR[copy] = cls
    return copy


def _defined_in(method: FunctionType) -> type | None:
    """The class of a method that says `super()`."""
    code = method.__code__
    if "super" not in code.co_names or "__class__" not in code.co_freevars:
        return None
    cell = (method.__closure__ or ())[code.co_freevars.index("__class__")]
    try:
        owner = cell.cell_contents
    except ValueError:  # the class is not made yet
        return None
    return owner if isinstance(owner, type) else None


def _depends(method: FunctionType, owner: type) -> bool:
    """Whether what `super()` finds depends on the class of the object."""
    for name in method.__code__.co_names:
        each = (_after(c, owner, name) for c in _derived(owner))
        found: dict[int, Any] = {id(v): v for v in each}
        if len(found) > 1:
            return True
        for after in found.values():
            function = getattr(after, "fget", after)  # of a property
            above = (
                _defined_in(function) if isinstance(function, FunctionType) else None
            )
            if above is not None and _depends(function, above):
                return True
    return False


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
    work = _Inherited(cls, _FOR.get(source.func), parameters[0], names)
    node.body = [work.visit(stmt) for stmt in node.body]
    node.body = [_Explicit(work).visit(stmt) for stmt in node.body]
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


def methods_above(source: Any) -> list[tuple[type, str]]:
    """What `super()` finds in a method, as the class that has it and the name there."""
    parameters = parameter_names(source.node.args)
    cls = _class_of(source) if parameters else None
    if cls is None:
        return []
    work = _Inherited(cls, _FOR.get(source.func), parameters[0], syntax.Names(()))
    named = {work.asked(node) for node in syntax.walk(source.node.body)} - {None}
    return [
        (found, name)
        for name in sorted(filter(None, named))
        for of in ([work.of] if work.of is not None else _derived(cls))
        if (found := _holder_after(of, cls, name)) is not None
    ]


class _Inherited(gast.NodeTransformer):
    def __init__(
        self, cls: type, of: type | None, owner: str, names: syntax.Names
    ) -> None:
        #: The class of the method, and that of the object where it is known.
        self.cls = cls
        self.of = of
        self.owner = owner
        self.names = names
        self.found: dict[str, Any] = {}

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.FunctionDef:
        return node  # `super()` would be about its own first parameter

    visit_Lambda = visit_FunctionDef

    def visit_Call(self, node: gast.Call) -> gast.expr:
        self.generic_visit(node)
        name = self.asked(node.func)
        method = None if name is None else self.inherited(name)
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
        held = None if name is None else self.inherited(name)
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

    def inherited(self, name: str) -> Any:
        """What `super().name` is for the object; None if that is not known."""
        if self.of is not None:
            return _after(self.of, self.cls, name)
        found = {
            id(v): v for v in (_after(c, self.cls, name) for c in _derived(self.cls))
        }
        return next(iter(found.values())) if len(found) == 1 else None

    def named(self, function: Any, at: gast.expr) -> gast.expr:
        owner, _, name = function.__qualname__.rpartition(".")
        base = f"{owner.rpartition('.')[2]}_{name.strip('_')}"
        fresh = self.bound(base, for_class(function, self.of))
        return gast.copy_location(syntax.name(fresh), at)

    def bound(self, base: str, value: Any) -> str:
        """The name that the value has in the method."""
        known = [n for n, f in self.found.items() if f is value]
        fresh = known[0] if known else self.names.fresh(base)
        self.found[fresh] = value
        return fresh


class _Explicit(gast.NodeTransformer):
    """`super()` that is left, as `super(Cls, self)`: it may come to stand elsewhere."""

    def __init__(self, inherited: _Inherited) -> None:
        self.inherited = inherited

    visit_FunctionDef = visit_Lambda = _Inherited.visit_FunctionDef

    def visit_Call(self, node: gast.Call) -> gast.expr:
        self.generic_visit(node)
        if syntax.is_name(node.func, "super") and not (node.args or node.keywords):
            cls = self.inherited.cls
            known = self.inherited.bound(cls.__name__, cls)
            node.args = [syntax.name(known), syntax.name(self.inherited.owner)]
        return node


def _after(owner: type, cls: type, name: str) -> Any:
    """What `super().name` is in a method of `cls`, for an object of `owner`."""
    holder = _holder_after(owner, cls, name)
    return None if holder is None else vars(holder)[name]


def _holder_after(owner: type, cls: type, name: str) -> type | None:
    order = owner.__mro__
    others = order[order.index(cls) + 1 :]
    return next((other for other in others if name in vars(other)), None)


def _derived(cls: type) -> Iterator[type]:
    yield cls
    derived: list[type] = type.__subclasses__(cls)
    for other in derived:
        yield from _derived(other)


__all__ = ["for_class", "methods_above", "name_inherited"]
