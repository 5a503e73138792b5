"""Types of what classes make: records, objects, lists and tuples."""

from __future__ import annotations

import dataclasses
import inspect
import types as pytypes
from dataclasses import is_dataclass
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.binding import global_type
from srcjax.analysis.effects import UNROLLED
from srcjax.analysis.standard import is_standard
from srcjax.analysis.types import (
    NONE,
    Array,
    List,
    Object,
    Other,
    Tuple,
    Type,
    all_buffers,
    is_active,
    replace,
    type_of,
    with_active,
)
from srcjax.analysis.unfollowed import Unfollowed
from srcjax.frontend.dataclass_init import describe_init
from srcjax.frontend.inherited import for_class
from srcjax.frontend.unit import acting
from srcjax.ops.record import WRITTEN_OUT


class Constructing(Unfollowed):
    """Infers what calls of classes give."""

    def replaced(self, old: Any, changes: dict[str, Type], node: Any) -> Type:
        """`dataclasses.replace(p, x=v)`, `p._replace(x=v)`."""
        if isinstance(old, Tuple):
            names = old.cls._fields  # type: ignore[union-attr]
            new = tuple(
                changes.get(n, t) for n, t in zip(names, old.items, strict=True)
            )
            return Tuple(items=new, cls=old.cls)
        self.facts.nodes.append(node)
        items = tuple((n, changes.get(n, t)) for n, t in old.items)
        return Object(False, frozenset([id(node)]), old.cls, items)

    def convert(self, cls: Any, value: Type, node: Any) -> Type:
        """`list(x)`, `tuple(x)`."""
        buffers = frozenset([id(node)]) if cls is list else NONE
        self.facts.nodes.append(node)
        known = self.iteration(value)
        if known is not None and cls is tuple:
            return Tuple(items=tuple(known))
        if known is not None:
            return List(False, buffers, tuple(known), None, cls)
        if (
            isinstance(value, Array)
            and value.shape
            and isinstance(value.shape[0], int)
            and value.shape[0] <= UNROLLED
        ):
            items = (self.element(value),) * value.shape[0]
            if cls is tuple:
                return Tuple(items=items)
            return List(False, buffers, items)
        return List(False, buffers, None, self.element(value), cls)

    def construct(
        self, cls: type, args: list[Type], kwargs: dict[str, Type], node: Any
    ) -> Type:
        """An instance of a class: namedtuples and dataclasses keep their parts."""
        self.callee(node, cls)
        if cls is pytypes.SimpleNamespace and not args:
            self.facts.nodes.append(node)
            return Object(False, frozenset([id(node)]), cls, tuple(kwargs.items()))
        fields = getattr(cls, "_fields", None)
        active = any(map(is_active, [*args, *kwargs.values()]))
        try:
            if issubclass(cls, tuple) and fields is not None:
                bound = inspect.signature(cls).bind(*args, **kwargs)
                bound_types = dict(bound.arguments)
                defaults = getattr(cls, "_field_defaults", {})
                items = tuple(
                    bound_types[f] if f in bound_types else type_of(defaults[f])
                    for f in fields
                )
                return Tuple(items=items, cls=cls)
            signature = inspect.signature(cls)
            if is_dataclass(cls) and is_record(cls, signature):
                bound = signature.bind(*args, **kwargs)
                types = {
                    n: bound.arguments[n]
                    if n in bound.arguments
                    else global_type(p.default, n)
                    for n, p in signature.parameters.items()
                }
                self.facts.nodes.append(node)
                return Object(False, frozenset([id(node)]), cls, tuple(types.items()))
        except (TypeError, KeyError, ValueError):
            pass
        init = for_class(getattr(cls, "__init__", None), cls)
        if is_dataclass(cls):
            describe_init(cls)
        followed = active or self.is_kept_varying(node) or id(init) in WRITTEN_OUT
        if followed and is_plain_class(cls):
            made = Object(False, frozenset([id(node)]), cls)
            if init is object.__init__:
                self.facts.nodes.append(node)
                return made
            unit = self.active_unit(init, [made, *args], kwargs)
            if unit is not None:
                self.facts.constructed.add(id(node))
                self.facts.nodes.append(node)
                return replace(made, active=active)
        if active:
            given = [*args, *kwargs.values()]
            return with_active(self.opaque_call(cls, given, node), True)
        memory = NONE.union(*map(all_buffers, [*args, *kwargs.values()]))
        self.facts.nodes.append(node)
        if is_plain_class(cls):
            self.facts.objects[id(node)] = self.unit, acting(node)
        return Other(False, memory | {id(node)}, cls)

    def is_kept_varying(self, node: Any) -> bool:
        """Whether a name that may carry a derivative is bound to the value."""
        stmt = getattr(self, "current", None)
        return (
            isinstance(stmt, gast.Assign)
            and stmt.value is node
            and bool(syntax.names_written(stmt) & self.unit.varying)
        )


def is_plain_class(cls: type) -> bool:
    """Whether `cls(...)` is an empty object, and then a Python `__init__`."""
    init = cls.__init__  # type: ignore[misc]
    made: Any = cls.__new__
    called: Any = type(cls).__call__
    return (
        made is object.__new__
        and called is type.__call__
        and (init is object.__init__ or isinstance(init, pytypes.FunctionType))
        and not is_standard(init)
    )


def is_record(cls: Any, signature: inspect.Signature) -> bool:
    """Whether a dataclass holds what its call is given, and nothing else."""
    fields = dataclasses.fields(cls)
    return (
        not hasattr(cls, "__post_init__")
        and list(signature.parameters) == [f.name for f in fields]
        and all(f.default_factory is dataclasses.MISSING for f in fields)
    )
