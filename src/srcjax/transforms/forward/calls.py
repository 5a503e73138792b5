"""Tangents of calls: operations, containers, constructors and other functions.

y = g(a, b)          y, y_dot = g_jvp(a, b, a_dot, b_dot)
"""

from __future__ import annotations

import inspect
import types as pytypes
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import is_dataclass
from types import SimpleNamespace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.binding import signature_of, spread_of
from srcjax.analysis.custom import (
    Checkpointed,
    CustomRule,
    CustomRules,
    CustomTangent,
)
from srcjax.analysis.program import Program
from srcjax.analysis.references import JVP, JVP_AT_RUN_TIME
from srcjax.analysis.types import Closure, List, Tuple
from srcjax.errors import NoRuleError
from srcjax.frontend.unit import Unit
from srcjax.ops.record import Op
from srcjax.transforms.call_effects import called, made_from
from srcjax.transforms.callees import Callees
from srcjax.transforms.forward.rule_templates import TangentTemplates
from srcjax.transforms.reasons import Reason, because
from srcjax.transforms.rule_text import family_of

#: What explained text says of calls of functions that have their own text.
CHAIN = Reason(
    slot="tangent", said="chain rule: the function gives its tangent as well"
)

#: Arguments of container methods that are kept or given back: positions.
_VALUES = {
    "append": (0,),
    "appendleft": (0,),
    "extend": (0,),
    "extendleft": (0,),
    "insert": (1,),
    "get": (1,),
    "setdefault": (1,),
    "update": (0,),
}
#: Container methods that look for a value, or order by value: not the same on tangents.
_BY_VALUE = frozenset(["sort", "remove"])
#: Container methods whose result carries no derivative and that change nothing.
_LOOKING = frozenset(["index", "count", "keys"])
#: Functions that build the same container of tangents.
_STRUCTURAL = frozenset(["list", "tuple", "dict", "reversed", "zip", "object.__new__"])


class TangentCallees(Callees):
    """The functions that one transform calls, and the names of their tangents."""

    def __init__(self, program: Program, names: syntax.Names) -> None:
        super().__init__(program, names, ("jvp",))
        self.dot_names: dict[int, dict[str, str]] = {}

    def dots(self, unit: Unit) -> dict[str, str]:
        """The parameters for tangents, by the parameter that they belong to."""
        key = id(unit)
        if key not in self.dot_names:
            self.dot_names[key] = {
                n: unit.names.fresh(f"{n}_dot") for n in unit.parameters
            }
        return self.dot_names[key]


class CallTangents(TangentTemplates):
    """Writes the tangents of calls."""

    callees: TangentCallees

    def callee_of(self, value: gast.Call) -> tuple[Any, bool]:
        """What is called, and whether anything is known of it."""
        found = self.facts.callees.get(id(value), [])
        return (found[0] if len(found) == 1 else None), bool(found)

    def container_method(self, value: Any) -> str | None:
        """`append` for a call of that method of a list."""
        if not isinstance(value, gast.Call):
            return None
        callee, _ = self.callee_of(value)
        return callee.split(".")[1] if isinstance(callee, str) else None

    # -- values ------------------------------------------------------------------------

    def of_Call(self, name: str, value: gast.Call, original: Any) -> gast.expr | None:
        """The tangent of `name = f(...)`, where it can be said in one expression."""
        callee, known = self.callee_of(original)
        if isinstance(callee, str):
            return self.effect_of(value, callee.split(".")[1])
        if isinstance(callee, Op):
            method = isinstance(value.func, gast.Attribute) and self.is_value(
                value.func.value
            )
            args, keywords = self.operands_of(value, method)
            family = family_of(value)
            return self.apply(name, callee, value, args, keywords, family)
        if isinstance(callee, type):
            return self.constructor(value, callee)
        function = called(value)
        if function in _STRUCTURAL:
            return self.structural(value)
        if function == "range" or not self.hides_active(original):
            return None
        raise self.not_followed(original)

    def structural(self, value: gast.Call) -> gast.expr:
        """`list(xs)` of tangents, `object.__new__(Point)` for tangents."""
        new = syntax.clone(value)
        if called(value) != "object.__new__":
            if value.args and not any(map(self.moves, value.args)):  # `list("abc")`
                return self.zero(self.type_of(value), value)
            new.args = [self.dot(a) for a in value.args]
        for keyword, old in zip(new.keywords, value.keywords, strict=True):
            keyword.value = self.dot(old.value)
        return new

    def moves(self, node: Any) -> bool:
        """Whether an argument has a tangent that is no None."""
        dot = self.dot(node)
        return not (isinstance(dot, gast.Constant) and dot.value is None)

    def constructor(self, value: gast.Call, cls: type) -> gast.expr:
        """`Point(x, y)` of a dataclass or namedtuple: the same class of tangents."""
        if cls in (SimpleNamespace, OrderedDict) and not value.args:
            keywords = {k.arg or "": self.dot(k.value) for k in value.keywords}
            return syntax.call(syntax.clone(value.func), **keywords)
        if not (is_dataclass(cls) or hasattr(cls, "_fields")):
            raise self.refuse(
                f"a {cls.__name__} of differentiated values",
                "a tuple, a dict or a dataclass",
            )
        bound = inspect.signature(cls).bind_partial(
            *value.args, **{k.arg or "": k.value for k in value.keywords}
        )
        names = list(inspect.signature(cls).parameters)
        given = {n: self.dot(v) for n, v in bound.arguments.items()}
        missing = [n for n in names if n not in given]
        made = {n: given.get(n, syntax.const(None)) for n in names}
        if missing and hasattr(cls, "_fields"):
            made = {n: given.get(n, syntax.const(0.0)) for n in names}
        new = syntax.call(syntax.clone(value.func), *made.values())
        return new

    def effect_of(self, value: gast.Call, method: str | None = None) -> Any:
        """The same method call on the container of tangents; None if there is none."""
        method = method or self.container_method(value)
        if method is None:
            return self.array_effect(value)
        base = value.func.value
        if not self.active(base) or method in _LOOKING:
            return None
        if method in _BY_VALUE:
            raise self.refuse(
                f"`{method}` of a list of differentiated values",
                "build a new list instead",
            )
        if method == "update" and any(map(self.is_iterator, value.args)):
            raise self.refuse(
                "`update` of a dict with differentiated values from an iterator",
                "`dict(...)` of it",
            )
        kept = _VALUES.get(method, ())
        if method == "pop" and "dict" in str(self.callee_of(value)[0]):
            kept = (1,)
        new = syntax.clone(value)
        new.func.value = self.dot(base)
        new.args = [
            self.dot(a) if k in kept else syntax.clone(a)
            for k, a in enumerate(value.args)
        ]
        for keyword, old in zip(new.keywords, value.keywords, strict=True):
            keyword.value = self.dot(old.value)
        return new

    def is_iterator(self, argument: gast.expr) -> bool:
        """Whether it may be read once, and not for the tangents again."""
        t = self.type_of(argument) if isinstance(argument, gast.Name) else None
        lazy = isinstance(t, Tuple) or (isinstance(t, List) and t.cls is tuple)
        return lazy and self.any_active(argument)

    def array_effect(self, value: gast.Call) -> gast.expr | None:
        """`x.fill(v)`, `np.add.at(x, i, v)`, `np.copyto(x, v)` on the tangents."""
        callee, _ = self.callee_of(value)
        function = value.func
        if isinstance(function, gast.Attribute) and function.attr == "fill":
            if not self.active(function.value):
                return None
            filled = syntax.call("x.fill", self.dot(value.args[0]))
            filled.func.value = self.dot(function.value)
            return filled
        if not any(self.any_active(a) for a in value.args):
            return None
        if getattr(callee, "__name__", "") == "at":
            if callee.__self__.__name__ not in ("add", "subtract"):
                raise self.refuse(
                    f"`np.{callee.__self__.__name__}.at` on a differentiated array",
                    "a loop over the indices, or `np.add.at`",
                )
            base, index, added = value.args
            if not self.any_active(added):
                return None
            return syntax.call(
                syntax.clone(function), self.dot(base), index, self.dot(added)
            )
        name = getattr(callee, "__name__", "") or getattr(callee, "name", "")
        if name.rpartition(".")[2] in ("copyto", "put", "fill_diagonal"):
            new = syntax.clone(value)
            new.args[0] = self.dot(value.args[0])
            new.args[-1] = self.dot(value.args[-1])
            return new
        if isinstance(callee, Op) and callee.writes:
            raise self.refuse(
                f"`{callee.name}` on a differentiated array",
                "an assignment to the array",
            )
        self.check_effect(value, callee)
        return None

    # -- functions ---------------------------------------------------------------------

    def call_with_tangent(self, name: str | None, value: Any) -> gast.stmt | None:
        """`name, name_dot = g_jvp(...)` for a call of a function with tangents."""
        if not isinstance(value, gast.Call):
            return None
        callee, known = self.callee_of(value)
        operands = [*value.args, *(k.value for k in value.keywords)]
        flows = any(self.any_active(a) for a in operands)
        if isinstance(callee, (Op, str, type)) or not (known and flows):
            return None
        call: gast.expr | None = None
        if isinstance(callee, CustomRules):
            call = self.custom_call(value, callee)
        elif isinstance(callee, CustomRule):
            raise self.refuse(
                f"`{callee.__name__}` has a rule for reverse mode only (custom_vjp)",
                "`srcjax.custom_jvp`, which serves both modes",
                NoRuleError,
            )
        if isinstance(callee, CustomTangent):
            call = self.custom_call(value, callee)
        elif isinstance(callee, (pytypes.FunctionType, pytypes.MethodType)):
            function = getattr(callee, "__func__", callee)
            unit = self.program.units.get(id(function))
            if unit is not None and function is callee:
                call = self.unit_call(value, unit)
        elif isinstance(callee, Closure):
            return None
        transformed = getattr(callee, "__srcjax_transform__", None)
        unclear = callee is None or transformed is not None
        if isinstance(callee, Checkpointed):
            call = self.unknown_call(self.positional(value, callee.function))
        elif call is None and unclear:
            call = self.unknown_call(value)
        if call is None:
            return None
        call = self.typer.agree(call, self.envs)
        if name is None:
            return gast.Expr(call)
        dot = self.dot_name(name) if self.active(syntax.name(name)) else "_"
        both = [syntax.name(name, store=True), syntax.name(dot, store=True)]
        made = gast.Assign([gast.Tuple(both, syntax.STORE)], call, None)
        because(made, CHAIN)
        return made

    def custom_call(
        self, value: gast.Call, callee: CustomTangent | CustomRules
    ) -> gast.expr:
        """`f_rule((x,), (x_dot,))` of a function with its own tangent rule."""
        if isinstance(callee, CustomTangent):
            self.check_tangent_rule(callee)
        args = self.positional(value, callee.function).args
        fixed = [syntax.clone(args[i]) for i in callee.nondiff_argnums]
        moving = [a for i, a in enumerate(args) if i not in callee.nondiff_argnums]
        primals = gast.Tuple(list(map(syntax.clone, moving)), syntax.LOAD)
        tangents = gast.Tuple(list(map(self.dot, moving)), syntax.LOAD)
        rule = self.callees.constant(f"{callee.__name__}_rule", callee.rule)
        return gast.Call(syntax.name(rule), [*fixed, primals, tangents], [])

    def unit_call(self, value: gast.Call, unit: Unit) -> gast.expr:
        """The call of a callee's tangent function."""
        signature = signature_of(unit.node.args, unit.source)
        keywords = {k.arg: k.value for k in value.keywords}
        bound = signature.bind(*value.args, **keywords).arguments
        function = syntax.name(self.callees.names_of(unit)[0])
        wanted = self.callees.active(unit)
        tangents = {}
        for parameter in wanted:
            given = bound.get(parameter)
            if given is None:
                default = unit.source.defaults.get(parameter)
                kind = signature.parameters[parameter].kind
                if kind is inspect.Parameter.VAR_POSITIONAL:
                    tangents[parameter] = gast.Tuple([], syntax.LOAD)
                elif kind is inspect.Parameter.VAR_KEYWORD:
                    tangents[parameter] = gast.Dict([], [])
                else:
                    number = isinstance(default, (int, float))
                    tangents[parameter] = syntax.const(0.0 if number else None)
            elif isinstance(given, tuple):
                tangents[parameter] = gast.Tuple(list(map(self.dot, given)), None)
            elif isinstance(given, dict):
                keys: Any = [syntax.const(k) for k in given]
                tangents[parameter] = gast.Dict(
                    keys, list(map(self.dot, given.values()))
                )
            else:
                tangents[parameter] = self.dot(given)
        tangents |= self.given_by_star(value, unit, wanted)
        names = self.callees.dots(unit)
        named = {names[n]: t for n, t in tangents.items()}
        return made_from(call_with_dots(function, value, named, unit), value)

    def given_by_star(
        self, value: gast.Call, unit: Unit, wanted: Sequence[str]
    ) -> dict[str, gast.expr]:
        """The tangents of parameters that `*xs` gives: `xs_dot[0]`, `xs_dot[1:]`."""
        _, whole, named, unclear = spread_of(unit.node.args, value)
        if whole is None or not named:
            return {}
        if unclear:
            raise self.refuse(
                f"`{syntax.text(value)}` gives arguments by a star to `{unit.name}`, "
                "which calls itself",
                "a list or tuple as one argument",
            )
        dots = self.dot(whole)
        found = {
            p: syntax.expression(f"d[{k}]", d=dots)
            for k, p in enumerate(named)
            if p in wanted
        }
        rest = unit.node.args.vararg.id
        if rest in wanted:
            found[rest] = syntax.expression(f"tuple(d[{len(named)}:])", d=dots)
        return found

    def unknown_call(self, value: gast.Call) -> gast.expr | None:
        """A callee known only when the program runs: ask `jvp` for its tangent."""
        if value.keywords or any(isinstance(a, gast.Starred) for a in value.args):
            return None
        self.check_closed(value.func)
        self.check_given(value)
        numbers = all(map(self.is_real_number, value.args))
        jvp = JVP if numbers else JVP_AT_RUN_TIME
        function = self.callees.constant(jvp.name, jvp)
        primals = gast.Tuple([syntax.clone(a) for a in value.args], syntax.LOAD)
        tangents = gast.Tuple([self.dot(a) for a in value.args], syntax.LOAD)
        return syntax.call(function, syntax.clone(value.func), primals, tangents)


def plain_signature(arguments: gast.arguments) -> bool:
    """Whether tangents can follow the parameters by position."""
    return not (
        arguments.defaults
        or arguments.kwonlyargs
        or arguments.vararg
        or arguments.kwarg
        or arguments.posonlyargs
    )


def call_with_dots(
    function: gast.expr, value: gast.Call, tangents: dict[str, Any], unit: Unit
) -> gast.Call:
    """The user's call with the tangents added."""
    args = [syntax.clone(a) for a in value.args]
    keywords = [syntax.clone(k) for k in value.keywords]
    if plain_signature(unit.node.args) and not keywords:
        return gast.Call(function, [*args, *tangents.values()], [])
    keywords += [gast.keyword(n, v) for n, v in tangents.items()]
    return gast.Call(function, args, keywords)
