"""Attributes of objects that are given, as names: they are read when a function starts.

    v = s.v - dt * s.x                    v2, x = s.v, s.x
    energy = v * v + s.x * s.x     ->     v = v2 - dt * x
                                          energy = v * v + x * x

That is the same where the function writes to no attribute, and reading one is no more
than looking it up.
"""

from __future__ import annotations

import inspect
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import Object, Tuple, Type
from srcjax.frontend.unit import Unit
from srcjax.transforms.call_effects import effect_of
from srcjax.transforms.kernels.decided import assigned
from srcjax.transforms.specialise import Typer

#: How most objects look their attributes up.
PLAIN: Any = object.__getattribute__


def with_attributes_first(program: Program, unit: Unit) -> None:
    """Read what objects have that are given before all else, in place."""
    types = program.types_of(unit)
    typer = Typer(program, unit)
    for node in syntax.walk(unit.node.body):
        made = isinstance(node, gast.Call) and typer.type_of(node.func, types)
        if changes_objects(node) and not only_keeps(getattr(made, "value", None)):
            return
    changed = program.facts.changed.setdefault(id(unit.node), {})
    changed.update(types)  # statements that know them may go
    bindings = syntax.binding_counts(unit.node.body)
    steady = {n for n in unit.parameters if not bindings[n]}
    names: dict[tuple[str, str], str] = {}
    loads: list[Any] = []

    def named(node: Any) -> Any:
        """The name of an attribute that is read first; other nodes as they are."""
        if not isinstance(node, gast.Attribute):
            return node
        base = getattr(node.value, "id", "")
        if base not in steady or not has_item(types.get(base, Type()), node.attr):
            return node
        name = names.get((base, node.attr))
        if name is None:
            t = typer.type_of(node, types)
            name = names[base, node.attr] = unit.names.fresh(node.attr)
            unit.temps.add(name)
            unit.varying.add(name)
            types[name] = changed[name] = t
            steady.add(name)
            loads.append(syntax.assign(name, syntax.clone(node)))
        return syntax.name(name)

    for holder in list(syntax.walk(unit.node.body)):
        for field, value in vars(holder).items():  # in place: facts are by identity
            if isinstance(value, list):
                value[:] = map(named, value)
            else:
                setattr(holder, field, named(value))
    same: dict[str, str] = {}

    def block(stmts: list[Any]) -> list[Any]:
        """The statements without other names for what is read first."""
        kept = []
        for stmt in stmts:
            syntax.rewrite_blocks(stmt, block)
            target = assigned(stmt)
            value = getattr(stmt.value, "id", "") if target else ""
            if bindings[target] == 1 and value in names.values():
                same[target] = value
            else:
                kept.append(stmt)
        return kept

    unit.node.body = [*loads, *block(unit.node.body)]
    syntax.rename(unit.node.body, same)


def changes_objects(node: Any) -> bool:
    """Whether it may change what an attribute is."""
    if isinstance(node, gast.Attribute) and not isinstance(node.ctx, gast.Load):
        return True
    if not isinstance(node, gast.Call):
        return False
    effect = effect_of(node)
    return bool(effect.to_all or effect.names)


def only_keeps(made: Any) -> bool:
    """Whether it is a class whose objects keep what they are made with, and no more."""
    if not isinstance(made, type):
        return False
    if issubclass(made, BaseException):
        return made.__module__ == "builtins"
    if issubclass(made, tuple):
        return hasattr(made, "_fields")
    written = getattr(made.__dict__.get("__dataclass_params__"), "init", False)
    return written and not hasattr(made, "__post_init__")


def has_item(t: Type, attribute: str) -> bool:
    """Whether an object of the type has the attribute as a part, to be looked up."""
    if isinstance(t, Tuple):
        return attribute in getattr(t.cls, "_fields", ())
    if not isinstance(t, Object) or t.cls is None or attribute not in dict(t.items):
        return False
    if inspect.getattr_static(t.cls, "__getattribute__") is not PLAIN:
        return False
    found = inspect.getattr_static(t.cls, attribute, None)
    return not hasattr(type(found), "__get__") or inspect.ismemberdescriptor(found)
