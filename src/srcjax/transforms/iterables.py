"""Whether what a loop runs over can be put in a list before the loop begins.

An iterator gives its items once, as they are asked for: it may have no end, the body
of the loop may take items from it too, and the items may be iterators that are used up
when the next one is asked for (`itertools.groupby`).
"""

from __future__ import annotations

import builtins
from collections.abc import Collection

import gast

from srcjax.analysis.foreign import own_method
from srcjax.analysis.standard import is_standard
from srcjax.analysis.types import (
    Array,
    Const,
    Dict,
    List,
    Other,
    Range,
    Tuple,
    Type,
    is_iterator,
)
from srcjax.transforms.specialise import Env, Typer

#: Built-ins that are iterators of collections where their arguments are.
_OF_COLLECTIONS = ("zip", "enumerate", "reversed", "sorted", "list", "tuple", "set")

#: What is said of a dict where the text goes through items by their places.
KEYS_REFUSED = "is a dict here: the text has to be written for its types"


def is_collection(node: gast.expr, typer: Typer, env: Env) -> bool:
    """Whether the items are all there, and stay, however often they are asked for."""
    if isinstance(node, gast.Call):
        function = typer.type_of(node.func, env)
        value = getattr(function, "value", None)
        name = getattr(value, "__name__", "")
        if value is getattr(builtins, name, node) and name in _OF_COLLECTIONS:
            return all(is_collection(a, typer, env) for a in node.args)
        if isinstance(node.func, gast.Attribute) and node.func.attr in (
            "items",
            "values",
            "keys",
        ):
            return is_collection(node.func.value, typer, env)
        if isinstance(node.func, gast.Attribute) and _is_text(node.func.value):
            return True  # "a b".split()
    return is_collection_type(typer.type_of(node, env))


def _is_text(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, str)


def is_collection_type(t: Type) -> bool:
    """Whether values of the type are collections, never iterators."""
    if isinstance(t, (Tuple, List)):
        return not is_iterator(t)
    if isinstance(t, (Array, Dict, Range)):
        return True
    cls = type(t.value) if isinstance(t, Const) else getattr(t, "cls", None)
    if not isinstance(t, (Const, Other)) or not isinstance(cls, type):
        return False
    own = [own_method(cls, name) for name in ("__iter__", "__len__", "__getitem__")]
    written = any(m is not None and not is_standard(m) for m in own)  # may do anything
    return issubclass(cls, Collection) and not written


__all__ = ["is_collection", "is_collection_type"]
