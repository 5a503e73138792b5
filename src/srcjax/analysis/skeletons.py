"""Containers of the structure that a type tells, with what is held of each leaf.

Functions of structure alone (`analysis.structural`) are run on them.
"""

from __future__ import annotations

import builtins
import inspect
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from srcjax import syntax
from srcjax.analysis.registered import node_of
from srcjax.analysis.types import (
    Array,
    Closure,
    Const,
    Dict,
    Leaf,
    List,
    Object,
    Other,
    Scalar,
    Transformed,
    Tuple,
    Type,
    Unknown,
    is_local,
    type_of,
)
from srcjax.frontend.unit import parameter_names


class NotKnown(Exception):
    """The structure of an argument is not known."""


class Held:
    """A leaf: where it is, by what holds it and its key there."""

    def __init__(self, t: Type, holder: Held | None = None, key: Any = None) -> None:
        self.type = t
        self.holder = holder
        self.key = key
        #: The expression for it, once there is one.
        self.node: Any = None

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """What `isinstance` says of the value."""
        if isinstance(self.type, Array):
            return np.ndarray
        if isinstance(self.type, Tuple) and self.type.cls is slice:
            return slice
        dtype = getattr(self.type, "dtype", None)
        if isinstance(self.type, Scalar) and dtype is not None:
            return type(dtype.type(0).item()) if self.type.python else dtype.type
        return Held

    def __repr__(self) -> str:
        return f"a value of the type {type(self.type).__name__.lower()}"

    def __bool__(self) -> bool:
        raise NotKnown

    def __eq__(self, other: object) -> bool:
        raise NotKnown

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        """What an array is, as far as its type tells; nothing that is in it."""
        if isinstance(self.type, Array) and name == "dtype" and self.type.dtype:
            return self.type.dtype
        if isinstance(self.type, Array) and name == "ndim" and self.type.shape:
            return len(self.type.shape)
        if hasattr(np.ndarray, name):
            raise NotKnown
        raise AttributeError(name)


def is_held(value: Any) -> bool:
    """Whether it stands for a leaf."""
    return type(value) is Held


def is_open(t: Type) -> bool:
    """Whether it is a list of any length."""
    return isinstance(t, List) and t.items is None


def skeleton(t: Type, held: Held, lists: bool = False) -> Any:
    """The containers of the type; `held` stands for the whole. Raises NotKnown.

    With `lists` those of any length are leaves.
    """

    def _part(t: Type, held: Held, key: Any) -> Any:
        return skeleton(t, Held(t, held, key), lists)

    if lists and is_open(t):
        return held
    if isinstance(t, Tuple) and t.cls is not slice:
        items = [_part(part, held, i) for i, part in enumerate(t.items)]
        return tuple(items) if t.cls is None else t.cls(*items)
    if isinstance(t, List):
        if t.items is None:
            raise NotKnown
        kind: Any = t.cls or list
        return kind(_part(part, held, i) for i, part in enumerate(t.items))
    if isinstance(t, Dict):
        if t.items is None:
            raise NotKnown
        if t.cls is defaultdict:  # its type does not tell what it makes
            raise NotKnown
        made_of: Any = t.cls
        return made_of((key, _part(part, held, key)) for key, part in t.items)
    if isinstance(t, Object) and node_of(t.cls) is not None:
        cls: Any = t.cls
        made = object.__new__(cls)
        for key, part in t.items:
            object.__setattr__(made, key, _part(part, held, key))
        return made
    if isinstance(t, Const) and not callable(t.value):
        return t.value
    if isinstance(t, (Unknown, Closure, Transformed)) and not isinstance(t, Leaf):
        raise NotKnown
    return held


def is_function(t: Type) -> bool:
    """Whether an argument is called with leaves."""
    if isinstance(t, Const):
        return callable(t.value)
    return is_local(t)


def is_part(value: Any) -> bool:
    """Whether it is a leaf, or a container that leaves are in."""
    return is_held(value) or any(map(is_part, children(value)))


def leaf_test(t: Type, program: Any, unit: Any) -> Any:
    """The function that is asked what is a leaf, which is run. Raises NotKnown."""
    if isinstance(t, Const) and (t.value is None or callable(t.value)):
        asked = t.value
    elif isinstance(t, Closure):
        asked = _defined(t.definition, program, unit)
    else:
        raise NotKnown
    return asked and (lambda value: is_held(value) or asked(value))


def _defined(definition: Any, program: Any, unit: Any) -> Any:
    """A function of the unit that reads nothing of it."""
    name = getattr(definition, "name", None)
    own = {name, *syntax.names_written(definition)}
    own |= set(parameter_names(definition.args))
    namespace: dict[str, Any] = {}
    for free in syntax.names_read(definition) - own:
        try:
            namespace[free] = program.look(unit, free)
        except KeyError:
            if not hasattr(builtins, free):
                raise NotKnown from None
    text = syntax.text(definition)
    if name is None:  # a lambda
        return eval(text, namespace)
    exec(text, namespace)
    return namespace[name]


def children(value: Any) -> tuple:
    """What a container holds; nothing in what is none."""
    if isinstance(value, (list, tuple)):
        return tuple(value)
    if isinstance(value, dict):
        return tuple(value.values())
    node = None if is_held(value) else node_of(type(value))
    return () if node is None else tuple(node.flatten(value)[0])


def type_from(value: Any, type_of: Callable[[Any], Type], buffer: Any) -> Type:
    """The type of a container made of leaves, which keep theirs."""
    if is_held(value):
        return value.type

    def inner(part: Any) -> Type:
        return type_from(part, type_of, buffer)

    if not is_part(value):
        return type_of(value)
    if isinstance(value, tuple):
        cls = type(value) if type(value) is not tuple else None
        return Tuple(items=tuple(map(inner, value)), cls=cls)
    memory = frozenset([buffer])
    if type(value) is list:
        return List(False, memory, tuple(map(inner, value)))
    if type(value) in (dict, OrderedDict):
        pairs = tuple((k, inner(v)) for k, v in value.items())
        return Dict(False, memory, pairs, None, type(value))
    return Other(False, memory, type(value))


def _not_told(*_: Any) -> Any:
    raise NotKnown


def type_of_structure(
    function: Any,
    args: list[Type],
    kwargs: dict[str, Type],
    buffer: Any,
    called: Callable[[Type, list[Type]], Type] = _not_told,
    test: Callable[[Type], Any] = _not_told,
) -> Type | None:
    """What a function of structure gives; None if it is not told.

    `called` tells what a function gives that it is given, and `test` makes a function
    of the type of `is_leaf`.
    """

    def argument(t: Type) -> Any:
        if not is_function(t):
            return skeleton(t, Held(t))
        return lambda *leaves: Held(called(t, [inner(leaf) for leaf in leaves]))

    def inner(value: Any) -> Type:
        return type_from(value, _constant, buffer)

    try:
        names = list(inspect.signature(function).parameters)
        told = dict(kwargs)
        if "is_leaf" in names and len(args) > names.index("is_leaf"):
            return None
        leaf = told.pop("is_leaf", None)
        named = {name: argument(t) for name, t in told.items()}
        if leaf is not None:
            named["is_leaf"] = test(leaf)
        return type_from(function(*map(argument, args), **named), _constant, buffer)
    except Exception:  # the call itself will tell, when it runs
        return None


def _constant(value: Any) -> Type:
    found = type_of(value)
    return Const(value=value) if isinstance(found, Other) else found
