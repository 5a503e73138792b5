"""Classes that users made nodes of trees, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True)
class Node:
    """The two ways between an object and what it holds."""

    flatten: Callable[[Any], tuple]
    unflatten: Callable[[Any, Any], Any]
    #: Of a dataclass: the fields that are children, and those of the structure.
    data: tuple[str, ...] = ()
    meta: tuple[str, ...] = ()


#: Where optree keeps them: classes that are registered with optree for all are nodes
#: too; what is registered here changes nothing for others who use optree.
NAMESPACE = "srcjax"

_NODES: dict[type, Node] = {}


def register(cls: type, node: Node) -> None:
    """From now on the objects of the class are nodes."""
    _NODES[cls] = node


def node_of(cls: Any) -> Node | None:
    """How objects of exactly this class are taken apart; None if they are leaves."""
    return _NODES.get(cls) if isinstance(cls, type) else None


def method_of(cls: Any, function: Any) -> str | None:
    """The name of the class method that it is; None if it is none."""
    name = getattr(function, "__name__", "")
    own = getattr(function, "__self__", None) is cls and hasattr(cls, name)
    return name if own else None


def record_fields(value: Any) -> tuple[str, ...] | None:
    """The attributes of an object that is a container of them; None if it is none.

    That are dataclasses, and objects of registered classes that keep what they hold in
    their `__dict__`.
    """
    if isinstance(value, type):
        return None
    if is_dataclass(value):
        return tuple(f.name for f in fields(value))
    if type(value) in _NODES and not isinstance(value, (list, tuple, dict)):
        return tuple(vars(value)) if _is_plain(type(value)) else None
    return None


def _is_plain(cls: type) -> bool:
    """Whether objects of the class are what is in their `__dict__`."""
    return cls.__dictoffset__ != 0 and not any(
        "__slots__" in vars(c) for c in cls.__mro__ if c is not object
    )


class _Mark:
    """Stands for what an attribute holds."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        raise ValueError

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise ValueError

    def __getattr__(self, name: str) -> Any:
        raise ValueError


@cache
def structure_fields(cls: Any, names: tuple[str, ...]) -> frozenset[str]:
    """The attributes of a registered class that belong to the structure of a tree.

    They are those that `flatten` does not give among the children.
    """
    node = node_of(cls)
    if node is None:
        return frozenset()
    if node.data or node.meta:
        return frozenset(node.meta)
    try:
        marked = object.__new__(cls)
        for name in names:
            object.__setattr__(marked, name, _Mark(name))
        return frozenset(names) - frozenset(_marked(node.flatten(marked)[0]))
    except Exception:  # it looks into what the attributes hold
        return frozenset()


def _marked(value: Any) -> Iterator[str]:
    if isinstance(value, _Mark):
        yield value.name
    elif isinstance(value, dict):
        yield from _marked(value.values())
    elif isinstance(value, Iterable) and not isinstance(value, str):
        for each in value:
            yield from _marked(each)
