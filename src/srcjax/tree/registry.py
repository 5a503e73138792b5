"""Classes of the user's as nodes of trees."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

import optree

from srcjax.analysis.registered import NAMESPACE, Node, register
from srcjax.tree.paths import GetAttrKey

_C = TypeVar("_C", bound=type)

Flatten = Callable[[Any], tuple[Iterable[Any], Any]]
Unflatten = Callable[[Any, Any], Any]


def register_pytree_node(
    nodetype: type,
    flatten_func: Flatten,
    unflatten_func: Unflatten,
    flatten_with_keys_func: Callable[[Any], tuple[Iterable[Any], Any]] | None = None,
) -> None:
    """Make the objects of a class nodes of trees.

    Args:
        nodetype: the class; its subclasses stay leaves.
        flatten_func: `flatten_func(node) -> (children, aux)`. `aux` is compared with
            `==`: it is a part of the structure.
        unflatten_func: `unflatten_func(aux, children) -> node`. Children may be any
            values, no numbers alone.
        flatten_with_keys_func: the same as `flatten_func`, with pairs of a key and a
            child.

    Raises:
        ValueError: the class is a node already.
    """
    keyed = flatten_with_keys_func

    def flatten(node: Any) -> tuple:
        if keyed is None:
            children, aux = flatten_func(node)
            return tuple(children), aux
        pairs, aux = keyed(node)
        keys, children = zip(*pairs, strict=True) if pairs else ((), ())
        return children, aux, keys

    optree.register_pytree_node(nodetype, flatten, unflatten_func, namespace=NAMESPACE)
    register(nodetype, Node(flatten_func, unflatten_func))


def register_pytree_node_class(cls: _C) -> _C:
    """A decorator for classes with `tree_flatten(self) -> (children, aux)` and a class
    method `tree_unflatten(cls, aux, children)`.
    """
    made: Any = cls
    register_pytree_node(cls, made.tree_flatten, made.tree_unflatten)
    return cls


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Unflatten,
    flatten_func: Flatten | None = None,
) -> None:
    """As `register_pytree_node`, of a function that tells the keys of the children."""

    def flatten(node: Any) -> tuple:
        pairs, aux = flatten_with_keys(node)
        return tuple(child for _, child in pairs), aux

    register_pytree_node(
        nodetype, flatten_func or flatten, unflatten_func, flatten_with_keys
    )


def register_pytree_with_keys_class(cls: _C) -> _C:
    """As `register_pytree_node_class`, with `tree_flatten_with_keys(self)`."""
    made: Any = cls
    register_pytree_with_keys(
        cls,
        made.tree_flatten_with_keys,
        made.tree_unflatten,
        getattr(made, "tree_flatten", None),
    )
    return cls


def register_dataclass(
    nodetype: _C,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> _C:
    """Make the objects of a dataclass nodes: `data_fields` are children.

    `meta_fields` are parts of the structure, and `drop_fields` are left out: their
    defaults are made again. Without `data_fields` and `meta_fields` the fields of a
    dataclass that have `metadata={"static": True}` are meta fields, and the others data
    fields. May be used as a decorator.

    Raises:
        TypeError: only one of `data_fields` and `meta_fields` is given, or neither for
            a class that is no dataclass.
        ValueError: the fields are not those of the dataclass that `__init__` takes.
    """
    if (data_fields is None) is not (meta_fields is None):
        raise TypeError("register_dataclass: give data_fields and meta_fields, or none")
    found = dataclasses.fields(nodetype) if dataclasses.is_dataclass(nodetype) else ()
    if data_fields is None or meta_fields is None:
        if not dataclasses.is_dataclass(nodetype):
            raise TypeError(f"{nodetype.__name__} is no dataclass: name its fields")
        static = {f.name for f in found if f.metadata.get("static", False)}
        names = [f.name for f in found if f.init and f.name not in drop_fields]
        data_fields = [name for name in names if name not in static]
        meta_fields = [name for name in names if name in static]
    data, meta = tuple(data_fields), tuple(meta_fields)
    if found:
        taken = {f.name for f in found if f.init} - set(drop_fields)
        if taken != {*data, *meta}:
            raise ValueError(
                f"{nodetype.__name__}: data_fields and meta_fields are "
                f"{sorted({*data, *meta})}, but the fields are {sorted(taken)}"
            )

    def flatten(node: Any) -> tuple:
        return tuple(getattr(node, f) for f in data), tuple(
            getattr(node, f) for f in meta
        )

    def flatten_with_keys(node: Any) -> tuple:
        children, aux = flatten(node)
        return tuple(zip(map(GetAttrKey, data), children, strict=True)), aux

    def unflatten(aux: tuple, children: Iterable[Any]) -> Any:
        kept = dict(zip(meta, aux, strict=True))
        return nodetype(**dict(zip(data, children, strict=True)), **kept)

    register_pytree_node(nodetype, flatten, unflatten, flatten_with_keys)
    register(nodetype, Node(flatten, unflatten, data, meta))
    return nodetype


def register_static(cls: _C) -> _C:
    """A decorator for classes whose objects are parts of the structure, with no leaves.

    They are compared with `==`.
    """

    def flatten(node: Hashable) -> tuple:
        return (), node

    register_pytree_node(cls, flatten, lambda aux, children: aux)
    return cls


class Partial(functools.partial):
    """`functools.partial` that is a node: its arguments are children.

    A function with data in it, to be handed through `tree.map`; the function itself is
    a part of the structure.
    """


register_pytree_node(
    Partial,
    lambda node: ((node.args, node.keywords), node.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)
