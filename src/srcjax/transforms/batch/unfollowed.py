"""Whether a function that is called as it is only computes what it gives.

A batch calls a function in which nothing differs between examples once for all of them.
In a branch that some of them take, what it does beside giving a value would be done
once, and not once for each of these. Its text tells whether there is anything: it is
taken to be there, where the text does not tell.
"""

from __future__ import annotations

import builtins
import inspect
import types as pytypes
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.unfollowed import core_form
from srcjax.analysis.wrappers import compiled_from
from srcjax.frontend.helper_names import HELPERS
from srcjax.frontend.unit import Unit, parameter_names
from srcjax.ops.effects import effect_of_function

#: What is not there when a name is looked up.
_NOTHING = object()
#: Values whose methods look at what they are called on, if they do not change it.
_PLAIN = (
    np.ndarray,
    list,
    dict,
    set,
    tuple,
    str,
    bytes,
    int,
    float,
    complex,
    np.generic,
)
#: Statements that change what stands around a function, or wait for something.
_REACHING_OUT = (gast.Global, gast.Nonlocal, gast.Delete, gast.With, gast.Import)
_WAITING = (gast.Yield, gast.YieldFrom, gast.Await)


class Computing:
    """Tells of functions, each of which is looked at once."""

    def __init__(self) -> None:
        self.known: dict[int, bool] = {}
        self.alive: list[Any] = []

    def only(self, function: Any) -> bool:
        """Whether a call of the object does nothing but give a value."""
        function = getattr(function, "function", function)  # one with rules of its own
        function = getattr(function, "__func__", function)
        function = compiled_from(function, []) or function
        if effect_of_function(function).pure:
            return True
        if isinstance(function, type):
            return self.makes(function)
        if not isinstance(function, pytypes.FunctionType):
            call = inspect.getattr_static(type(function), "__call__", None)
            return isinstance(call, pytypes.FunctionType) and self.only(call)
        return self.looked_at(function)

    def makes(self, cls: type) -> bool:
        """Whether a class does nothing but make its objects."""
        found = [getattr(cls, n, None) for n in ("__new__", "__init__")]
        found.append(getattr(cls, "__post_init__", None))
        own = [m for m in found if isinstance(m, pytypes.FunctionType)]
        return type(cls) is type and all(self.looked_at(m, True) for m in own)

    def looked_at(self, function: pytypes.FunctionType, makes: bool = False) -> bool:
        """The same, by its text; with `makes`, the first parameter is made by it."""
        if id(function) not in self.known:
            self.alive.append(function)
            self.known[id(function)] = True  # of a function that calls itself
            unit = core_form(function)
            self.known[id(function)] = unit is not None and self.unit(unit, makes)
        return self.known[id(function)]

    def unit(self, unit: Unit, makes: bool) -> bool:
        own = names_of_its_own(unit)
        if makes:
            own.update(unit.parameters[:1])
        bound = syntax.names_written(unit.node) | set(parameter_names(unit.node.args))
        return all(
            self.node(unit, node, own, bound) for node in syntax.walk(unit.node.body)
        )

    def node(self, unit: Unit, node: Any, own: set[str], bound: set[str]) -> bool:
        """Whether evaluating the node itself only computes."""
        if isinstance(node, (*_REACHING_OUT, *_WAITING)):
            return False
        if isinstance(node, (gast.Subscript, gast.Attribute)):
            held = isinstance(node.value, gast.Name) and node.value.id in own
            return held or isinstance(node.ctx, gast.Load)
        if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
            return node.target.id in own
        if isinstance(node, (gast.For, gast.comprehension)):
            taken = node.iter.id if isinstance(node.iter, gast.Name) else ""
            return taken in bound or not hasattr(looked_up(unit, taken), "__next__")
        if not isinstance(node, gast.Call):
            return True
        if any(k.arg == "out" for k in node.keywords):
            return False
        return self.call(unit, node, own, bound)

    def call(self, unit: Unit, call: gast.Call, own: set[str], bound: set[str]) -> bool:
        chain = syntax.dotted(call.func)
        root, *rest = (chain or "").split(".")
        if chain is not None and root not in bound:
            found = looked_up(unit, root)
            for part in rest:
                found = getattr(found, part, _NOTHING)
            return found is not _NOTHING and self.only(found)
        if not isinstance(call.func, gast.Attribute):
            return False
        return self.method(call.func.attr, getattr(call.func.value, "id", "") in own)

    def method(self, name: str, is_own: bool) -> bool:
        """Whether a method that arrays and containers have does no more than to look.

        It may change what is the function's own.
        """
        methods = [m for cls in _PLAIN if (m := getattr(cls, name, None)) is not None]
        effects = [effect_of_function(m) for m in methods]
        plain = bool(effects) and all(effect.contained for effect in effects)
        return plain and (is_own or all(effect.pure for effect in effects))


def names_of_its_own(unit: Unit) -> set[str]:
    """Names that hold nothing but what the function made, or Python's numbers."""
    found: dict[str, bool] = dict.fromkeys(parameter_names(unit.node.args), False)
    for stmt in syntax.all_statements(unit.node.body):
        value = stmt.value if isinstance(stmt, gast.Assign) else None
        for name in syntax.names_written(syntax.head(stmt)):
            plain = syntax.is_name(getattr(stmt, "targets", [None])[0], name)
            new = isinstance(stmt, gast.AugAssign) or (plain and is_new(unit, value))
            found[name] = new and found.get(name, True)
    return {name for name, new in found.items() if new}


def is_new(unit: Unit, value: Any) -> bool:
    """Whether an expression makes what it gives."""
    displays = (gast.List, gast.Dict, gast.Set, gast.Tuple, gast.Constant, gast.BinOp)
    if isinstance(value, displays):
        return True
    chain = syntax.dotted(value.func) if isinstance(value, gast.Call) else None
    root, *rest = (chain or "").split(".")
    found = looked_up(unit, root)
    for part in rest:
        found = getattr(found, part, _NOTHING)
    makers = (list, dict, set, tuple, np.zeros, np.ones, np.empty, np.full, np.array)
    return any(found is maker for maker in makers)


def looked_up(unit: Unit, name: str) -> Any:
    """What a name from around a function stands for."""
    try:
        return unit.source.resolve(name)
    except KeyError:
        return HELPERS.get(name, getattr(builtins, name, _NOTHING))


__all__ = ["Computing"]
