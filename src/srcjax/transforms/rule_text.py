"""A derivative rule of an operation with the user's names in place of its parameters.

    @adjoint(np.tanh)                 y = np.tanh(z)
    def _(y, x):
        d[x] = d[y] * (1 - y * y)     dz = dy * (1 - y * y)

What `d[...]` stands for, and what becomes of the terms, is up to the direction.
"""

from __future__ import annotations

import math
import types as pytypes
from collections.abc import Callable, Iterator
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.guards import Guard
from srcjax.analysis.known_values import truth
from srcjax.errors import NoRuleError
from srcjax.ops.carry_nothing import lost_arguments
from srcjax.ops.record import Op, Template
from srcjax.transforms.call_effects import called
from srcjax.transforms.writer import DerivativeWriter


class RuleText:
    """A rule while it is pasted; `holes` says what stands for each of its names.

    `derivative` gives the derivative of what stands for a name, `result` is the name
    that the user gave to the value of the operation. In the rule of a function of
    `math` (`family`), `np.cos` is `math.cos`.
    """

    def __init__(
        self,
        writer: DerivativeWriter,
        op: Op,
        template: Template,
        bound: dict[str, Any],
        result: str,
        derivative: Callable[[Any], gast.expr],
        family: str,
    ) -> None:
        self.writer = writer
        self.op = op
        self.template = template
        self.derivative = derivative
        self.family = family
        self.result = template.parameters[0]
        #: Parameters for which the user's call has nothing.
        self.left_out = set(op.signature.parameters) - set(bound)
        self.holes: dict[str, Any] = {
            **globals_of(writer, template),
            **holes_of(op, bound),
            self.result: syntax.name(result),
        }

    def terms(self) -> Iterator[gast.Assign]:
        """The statements `d[x] = e` that apply; what is in front of one is kept."""
        return self.terms_of(self.template.body)

    def terms_of(self, body: list[gast.stmt]) -> Iterator[gast.Assign]:
        for stmt in body:
            if isinstance(stmt, gast.If):
                outcome = self.holds(stmt.test)
                if outcome is None:
                    test = syntax.text(self.fill(stmt.test))
                    raise self.writer.refuse(
                        f"`{test}` must be known before the program runs",
                        "a constant argument",
                    )
                yield from self.terms_of(stmt.body if outcome else stmt.orelse)
            elif isinstance(stmt, gast.Assign) and not self.keeps(stmt):
                yield stmt

    def keeps(self, stmt: gast.Assign) -> bool:
        """`q = e`, `q, r = e`: evaluate it here, and read it from here on."""
        target = stmt.targets[0]
        if isinstance(target, gast.Name):
            self.holes[target.id] = self.writer.held(target.id, self.fill(stmt.value))
            return True
        if not isinstance(target, gast.Tuple):
            return False
        names = [e.id for e in target.elts if isinstance(e, gast.Name)]
        if len(names) < len(target.elts):
            return False
        kept = self.writer.held("parts", self.fill(stmt.value))
        for position, name in enumerate(names):
            index = syntax.const(position)
            self.holes[name] = gast.Subscript(kept, index, syntax.LOAD)
        return True

    def holds(self, test: gast.expr) -> bool | None:
        """The outcome of a condition; `surely(test)` is false where no type tells."""
        if called(test) == "surely":
            return self.decide(self.fill(test.args[0])) is True
        return self.decide(self.fill(test))

    def decide(self, test: gast.expr) -> bool | None:
        """The outcome of a condition of the rule, where the types tell."""
        typer = self.writer.typer
        outcomes = {
            truth(typer.type_of(typer.specialise(test, env), env))
            for env in self.writer.envs or [{}]
        }
        return outcomes.pop() if len(outcomes) == 1 else None

    def fill(self, node: gast.expr) -> gast.expr:
        """An expression of the rule with what stands for its names."""

        def visit(sub: Any) -> Any:
            if isinstance(sub, gast.Subscript) and syntax.is_name(sub.value, "d"):
                primal = self.holes.get(sub.slice.id, syntax.const(0.0))
                return syntax.clone(self.derivative(primal))
            if isinstance(sub, gast.Name):
                hole = self.holes.get(sub.id)
                return syntax.name(sub.id) if hole is None else syntax.clone(hole)
            if isinstance(sub, list):
                return [visit(s) for s in sub]
            if not isinstance(sub, gast.AST):
                return sub
            new = syntax.clone_shallow(sub)
            for key, value in sub.__dict__.items():
                if key == "keywords":
                    value = self.keywords_of(sub)
                if isinstance(value, (gast.AST, list)):
                    new.__dict__[key] = visit(value)
            return as_math(new) if self.family == "math" else new

        filled: gast.expr = visit(node)
        return self.writer.with_names(filled)

    def keywords_of(self, call: gast.Call) -> list[gast.keyword]:
        """Those of a call; of the same function, without what the user left out."""
        value: Any = None
        for part in (syntax.dotted(call.func) or "").split("."):
            found = self.template.globals if value is None else vars_of(value)
            value = found.get(part)
        if value is None or value not in self.op.functions:
            return list(call.keywords)
        return [
            k
            for k in call.keywords
            if k.arg not in self.left_out or not syntax.is_name(k.value, k.arg)
        ]


def vars_of(value: Any) -> dict[str, Any]:
    """What a module has; nothing of all else."""
    return vars(value) if isinstance(value, pytypes.ModuleType) else {}


def is_result_of_numpy(cls: Any) -> bool:
    """Whether this is the class of a result that NumPy names (`eigh`, `svd`).

    Its derivatives are plain tuples: parts are taken by position, not by name.
    """
    return hasattr(cls, "_fields") and cls.__module__.startswith("numpy.")


def bound_arguments(
    writer: DerivativeWriter,
    op: Op,
    args: list[gast.expr],
    keywords: dict[str, gast.expr],
) -> dict[str, Any]:
    """The operands by parameter; arguments that no rule is for are refused."""
    try:
        return op.bind(args, keywords)
    except TypeError as error:
        raise writer.refuse(
            f"`{op.name}` with these arguments has no derivative rule ({error})",
            f"only the arguments `{op.signature}`",
            NoRuleError,
        ) from None


def check_nothing_lost(
    writer: DerivativeWriter, op: Op, active: list[str], named: set[str]
) -> None:
    """A derivative must not be lost in an argument that no rule names."""
    lost = lost_arguments(op, active, named)
    if lost:
        shown = " and ".join(f"`{n}`" for n in lost)
        raise writer.refuse(
            f"`{op.name}` has no {writer.rule_name} for its argument {shown}, which "
            "depends on a differentiated value",
            "`srcjax.stop_gradient` of the argument if it is a constant here, or a "
            f"rule that names it: `@srcjax.{writer.decorator}({op.name})`",
            NoRuleError,
        )


def globals_of(writer: DerivativeWriter, template: Template) -> dict[str, gast.expr]:
    """What stands for the globals of a user's rule: names that mean them in this unit.

    The rule may be of another module than the function, or its global have the name of
    a variable here. What the rules of srcjax call are helpers, known by their names, or
    functions of a module that users import (`srcjax.random`).
    """
    ours = str(template.globals.get("__name__", "")).startswith("srcjax.")
    unit = writer.unit
    own: set[str] | None = None  # asked for where a rule has globals of the kind
    found: dict[str, gast.expr] = {}
    for name in sorted(syntax.names_read(template.body) - {"d", *template.parameters}):
        if name not in template.globals:
            continue
        value = template.globals[name]
        module = isinstance(value, pytypes.ModuleType)
        if ours and not (module and value.__name__.split(".")[0] == "srcjax"):
            continue
        if not module:
            writer.program.rest_on(Guard(template.globals, name, value))
        if value is np:
            found[name] = syntax.name("np")
            continue
        if own is None:
            own = syntax.names_written(unit.node) | set(unit.parameters)
        if name in own or not _means(writer, name, value):
            named = [n for n, v in unit.extra.items() if v is value and n not in own]
            if module and not named:  # a module is what the user calls it
                read = sorted(syntax.names_read(unit.node) - own)
                named = [n for n in read if _means(writer, n, value)]
            alias = named[0] if named else unit.names.fresh(name)
            unit.extra[alias] = value
            found[name] = syntax.name(alias)
    return found


def _means(writer: DerivativeWriter, name: str, value: Any) -> bool:
    """Whether the name stands for the value in the unit's own module."""
    try:
        return writer.program.look(writer.unit, name) is value
    except KeyError:
        return False


def holes_of(op: Op, bound: dict[str, Any]) -> dict[str, gast.expr]:
    """What stands for each parameter of a rule."""
    holes: dict[str, gast.expr] = {}
    for parameter in op.signature.parameters.values():
        if parameter.name in bound:
            value = bound[parameter.name]
            if isinstance(value, tuple):
                value = gast.Tuple(list(value), syntax.LOAD)
            if not isinstance(value, dict):
                holes[parameter.name] = value
        elif parameter.default is not parameter.empty:
            holes[parameter.name] = syntax.const(parameter.default)
    return holes


def as_math(node: gast.expr) -> gast.expr:
    """`np.cos` as `math.cos`, where there is one."""
    chain = syntax.dotted(node)
    if chain and chain.startswith("np.") and hasattr(math, chain[3:]):
        return syntax.expression("math." + chain[3:])
    return node


def family_of(call: gast.Call) -> str:
    """`math` for a call of a function of that module, else `np`."""
    of_math = called(call).startswith("math.")
    return "math" if of_math else "np"


def flat_arguments(bound: dict[str, Any]) -> dict[str, Any]:
    """Bound arguments with those of `**keywords` among the others."""
    flat: dict[str, Any] = {}
    for name, value in bound.items():
        if isinstance(value, dict):
            flat.update(value)
        else:
            flat[name] = value
    return flat


__all__ = [
    "RuleText",
    "bound_arguments",
    "check_nothing_lost",
    "family_of",
    "flat_arguments",
    "holes_of",
]
