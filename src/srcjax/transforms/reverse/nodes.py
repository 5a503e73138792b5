"""Adjoints of objects of registered classes, made as the classes say."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.registered import method_of, node_of
from srcjax.analysis.skeletons import Held, is_held
from srcjax.analysis.types import Const, Dict, List, Object, Tuple, Type, parts
from srcjax.errors import UnsupportedError
from srcjax.transforms.places import is_static, keyed_parts, read_part
from srcjax.transforms.writer import Writer


def holds_node(t: Type) -> bool:
    """Whether it is an object of a registered class, or one is in it.

    Or a dict of a class of its own.
    """
    own = isinstance(t, Object) and node_of(t.cls) is not None
    own = own or isinstance(t, Dict) and t.cls is not dict
    return own or any(map(holds_node, parts(t)))


def shown_parts(value: gast.expr, t: Type) -> dict[Any, gast.expr]:
    """The parts of a container: those of its display, or what is read from it."""
    keys = [key for key, _ in keyed_parts(t)]
    if isinstance(value, gast.Call) and isinstance(t, Dict) and len(value.args) == 1:
        value = value.args[0]  # `OrderedDict({"a": x})`
    if isinstance(value, (gast.Tuple, gast.List)) and len(value.elts) == len(keys):
        return dict(zip(keys, value.elts, strict=True))
    if isinstance(value, gast.Dict) and None not in value.keys:
        found = {getattr(k, "value", None): v for k, v in _pairs(value)}
        if list(found) == keys:
            return found
    if isinstance(value, gast.Call) and not value.args:
        named = {k.arg: k.value for k in value.keywords}
        if list(named) == keys:
            return named
    return {key: read_part(t, syntax.clone(value), key) for key in keys}


def _pairs(value: gast.Dict) -> zip:
    return zip(value.keys, value.values, strict=True)


def made_anew(
    writer: Writer, t: Object, held: dict[Any, gast.expr], fixed: frozenset[str]
) -> gast.expr:
    """The call that makes the object from its children, in which adjoints stand."""
    cls: Any = t.cls
    node = node_of(cls)
    assert node is not None
    shell = object.__new__(cls)
    for key, part in t.items:
        value = held_tree(part, held[key])
        if isinstance(part, Const) and key in fixed:
            value = part.value
        object.__setattr__(shell, key, value)
    try:
        children, aux = node.flatten(shell)
        given = [displayed(writer, aux), displayed(writer, tuple(children))]
    except Exception as error:
        raise UnsupportedError(
            f"the function that takes a {cls.__name__} apart looks into what it holds: "
            f"{error or type(error).__name__}",
            instead="one that gives attributes of the object as they are",
        ) from None
    unflatten: Any = node.unflatten
    method = method_of(cls, unflatten)
    if method is not None:
        writer.needs[cls.__name__] = cls
        return syntax.call(f"{cls.__name__}.{method}", *given)
    name = f"make_{cls.__name__.lower()}"
    writer.needs[name] = unflatten
    return syntax.call(name, *given)


def held_tree(t: Type, value: gast.expr) -> Any:
    """Containers of the type, of the parts of the expression."""
    if isinstance(t, (Tuple, List, Dict)) and is_static(t):
        shown = shown_parts(value, t)
        made = {key: held_tree(part, shown[key]) for key, part in keyed_parts(t)}
        if isinstance(t, Dict):
            return made
        if isinstance(t, List):
            return list(made.values())
        cls: Any = t.cls
        return cls(*made.values()) if cls else tuple(made.values())
    held = Held(t)
    held.node = value
    return held


def displayed(writer: Writer, value: Any) -> gast.expr:
    """The expression for a container of such parts."""
    if is_held(value):
        return value.node
    if value is None or type(value) in (bool, int, float, complex, str, bytes):
        return syntax.const(value)
    if type(value) is dict:
        keys: list[gast.expr | None] = [displayed(writer, k) for k in value]
        return gast.Dict(keys, [displayed(writer, v) for v in value.values()])
    if type(value) is list:
        return gast.List([displayed(writer, v) for v in value], syntax.LOAD)
    if isinstance(value, tuple):
        shown = [displayed(writer, v) for v in value]
        if type(value) is tuple:
            return gast.Tuple(shown, syntax.LOAD)
        cls: Any = type(value)
        writer.needs[cls.__name__] = cls
        return syntax.call(cls.__name__, *shown)
    name = "structure"
    while writer.needs.get(name, value) is not value:
        name += "_"
    writer.needs[name] = value
    return syntax.name(name)
