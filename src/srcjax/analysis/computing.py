"""Whether a function of the user's only computes what it gives, by its text.

A batch calls a function in which nothing differs between examples once for all of them.
In a branch that some of them take, what it does beside giving a value would be done
once, and not once for each of these. A property of an object around the function is
asked for its value while types are inferred, if this changes nothing. Where the text
does not tell, the function is taken to do more.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import types as pytypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.custom import AsMethod
from srcjax.analysis.wrappers import compiled_from
from srcjax.errors import SrcjaxError
from srcjax.frontend.helper_names import HELPERS
from srcjax.frontend.normalise import normalise
from srcjax.frontend.read import read
from srcjax.frontend.unit import Unit, parameter_names

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


class Done(Protocol):
    """What the call of a function that is known does (see `ops.effects`)."""

    @property
    def contained(self) -> bool:
        """Whether nothing happens beside what it writes to its arguments."""

    @property
    def pure(self) -> bool:
        """Whether it only computes its value."""


#: Tells what functions do that are known: NumPy's, Python's, those of srcjax.
EffectOf = Callable[[Any], Done]


@dataclass(frozen=True)
class Anything:
    """What a function does that nobody knows."""

    contained: bool = False
    pure: bool = False


@dataclass(frozen=True)
class _Looked:
    """A function that is looked at."""

    unit: Unit
    #: Names that hold nothing but what the function made.
    own: set[str]
    #: Names that it binds.
    bound: set[str]
    #: The class whose method it is, None where that is not known.
    cls: Any

    def static(self, node: Any) -> Any:
        """What the class has for `self.name` in a method."""
        given = self.unit.parameters[:1]
        if self.cls is None or getattr(node.value, "id", None) not in given:
            return None
        return inspect.getattr_static(self.cls, node.attr, None)


class Computing:
    """Tells of functions, each of which is looked at once."""

    def __init__(self, effect_of: EffectOf) -> None:
        self.effect_of = effect_of
        self.known: dict[tuple[int, int], bool] = {}
        self.alive: list[Any] = []

    def only(self, function: Any, cls: Any = None) -> bool:
        """Whether a call of the object does nothing but give a value.

        `cls` is the class of its first argument, if it is a method of it.
        """
        function = getattr(function, "function", function)  # one with rules of its own
        function = getattr(function, "__func__", function)
        function = compiled_from(function, []) or function
        if self.effect_of(function).pure:
            return True
        if isinstance(function, type):
            return self.makes(function)
        if not isinstance(function, pytypes.FunctionType):
            call = inspect.getattr_static(type(function), "__call__", None)
            return isinstance(call, pytypes.FunctionType) and self.only(call)
        return self.looked_at(function, cls=cls)

    def reads(self, owner: Any, name: str) -> bool:
        """Whether `owner.name` does nothing but give a value."""
        cls = owner if isinstance(owner, type) else type(owner)
        asked = inspect.getattr_static(cls, "__getattribute__")
        if isinstance(asked, pytypes.FunctionType) and not self.only(asked, cls):
            return False
        static = inspect.getattr_static(owner, name, _NOTHING)
        if static is _NOTHING:
            other = inspect.getattr_static(cls, "__getattr__", None)
            return not isinstance(other, pytypes.FunctionType) or self.only(other, cls)
        getter = getter_of(static)
        return getter is None or self.only(getter, cls)

    def makes(self, cls: type) -> bool:
        """Whether a class does nothing but make its objects."""
        found = [getattr(cls, n, None) for n in ("__new__", "__init__")]
        found.append(getattr(cls, "__post_init__", None))
        own = [m for m in found if isinstance(m, pytypes.FunctionType)]
        return type(cls) is type and all(self.looked_at(m, True) for m in own)

    def looked_at(
        self, function: pytypes.FunctionType, makes: bool = False, cls: Any = None
    ) -> bool:
        """The same, by its text; with `makes`, the first parameter is made by it."""
        key = id(function), id(cls)
        if key not in self.known:
            self.alive.append((function, cls))
            self.known[key] = True  # of a function that calls itself
            unit = core_form(function)
            self.known[key] = unit is not None and self.unit(unit, makes, cls)
        return self.known[key]

    def unit(self, unit: Unit, makes: bool, cls: Any) -> bool:
        own = names_of_its_own(unit)
        if makes:
            own.update(unit.parameters[:1])
        bound = syntax.names_written(unit.node) | set(parameter_names(unit.node.args))
        looked = _Looked(unit, own, bound, cls)
        return all(self.node(looked, node) for node in syntax.walk(unit.node.body))

    def node(self, looked: _Looked, node: Any) -> bool:
        """Whether evaluating the node itself only computes."""
        if isinstance(node, (*_REACHING_OUT, *_WAITING)):
            return False
        if isinstance(node, (gast.Subscript, gast.Attribute)):
            if not isinstance(node.ctx, gast.Load):
                return getattr(node.value, "id", "") in looked.own
            static = looked.static(node) if isinstance(node, gast.Attribute) else None
            getter = getter_of(static)
            return getter is None or self.only(getter, looked.cls)
        if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
            return node.target.id in looked.own
        if isinstance(node, (gast.For, gast.comprehension)):
            taken = node.iter.id if isinstance(node.iter, gast.Name) else ""
            found = None if taken in looked.bound else looked_up(looked.unit, taken)
            return not hasattr(found, "__next__")
        if not isinstance(node, gast.Call):
            return True
        if any(k.arg == "out" for k in node.keywords):
            return False
        return self.call(looked, node)

    def call(self, looked: _Looked, call: gast.Call) -> bool:
        chain = syntax.dotted(call.func)
        root, *rest = (chain or "").split(".")
        if chain is not None and root not in looked.bound:
            found = looked_up(looked.unit, root)
            for part in rest:
                if not self.reads(found, part):
                    return False
                found = getattr(found, part, _NOTHING)
            return found is not _NOTHING and self.only(found)
        if not isinstance(call.func, gast.Attribute):
            return False
        static = looked.static(call.func)
        if isinstance(static, pytypes.FunctionType):
            return self.only(static, looked.cls)
        owner = getattr(call.func.value, "id", "")
        return self.method(call.func.attr, owner in looked.own)

    def method(self, name: str, is_own: bool) -> bool:
        """Whether a method that arrays and containers have does no more than to look.

        It may change what is the function's own.
        """
        methods = [m for cls in _PLAIN if (m := getattr(cls, name, None)) is not None]
        effects = [self.effect_of(m) for m in methods]
        plain = bool(effects) and all(effect.contained for effect in effects)
        return plain and (is_own or all(effect.pure for effect in effects))


def getter_of(static: Any) -> Any:
    """The function that a property of the user's calls for its value, if it is one."""
    if isinstance(static, property):
        return static.fget
    if isinstance(static, functools.cached_property):
        return static.func
    if isinstance(static, (pytypes.FunctionType, AsMethod)):
        return None
    get = getattr(type(static), "__get__", None)
    return get if isinstance(get, pytypes.FunctionType) else None


def core_form(function: Any) -> Unit | None:
    """The function's core form for inference alone; None if it is not readable."""
    try:
        source = read(function)
        return normalise(source, parameter_names(source.node.args))
    except SrcjaxError:
        return None


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
