"""Replace calls of runtime helpers by what they stand for, where types tell."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.infer import Interpreter
from srcjax.analysis.known_values import truth
from srcjax.analysis.program import Program, Variant
from srcjax.analysis.types import Const, OrNone, Scalar, Type, join_all
from srcjax.frontend.helper_names import HELPERS
from srcjax.frontend.unit import Unit
from srcjax.ops.expand import EXPANSIONS
from srcjax.transforms.call_effects import called
from srcjax.transforms.followed import Followed

_MODULES: dict[str, Type] = {"np": Const(value=np), "math": Const(value=math)}
try:  # SciPy is optional
    import scipy

    _MODULES["scipy"] = Const(value=scipy)
except ImportError:  # pragma: no cover
    pass

Env = dict[str, Type]
#: Stands for a call of the helper `size_along`, which gives an integer.
_COUNT = "__count"
_INTEGER = Scalar(dtype=np.dtype(int), python=True)


def _count_as_number(node: gast.expr) -> gast.expr:
    return syntax.name(_COUNT) if called(node) == "size_along" else node


class Typer:
    """Types of expressions of generated code, in a given environment."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.interpreter = Interpreter(program)
        # What an expression is asked about does not happen where it is asked.
        self.interpreter.facts = replace(
            program.facts, writes=dict(program.facts.writes)
        )
        self.interpreter.unit = unit
        self.interpreter.settled = True
        self.followed = Followed(self.type_of)

    def type_of(self, node: gast.expr, env: Env) -> Type:
        """The type of the expression; unknown where it cannot be told."""
        from srcjax.analysis.types import UNKNOWN

        names = {n.id for n in syntax.names_in(node)}
        if "size_along" in names:
            node = syntax.map_expressions(node, _count_as_number)
        known = {n: t for n in names if (t := env.get(n)) is not None}
        try:
            return self.interpreter.eval(node, {**_MODULES, **known, _COUNT: _INTEGER})
        except Exception:
            return UNKNOWN

    def specialise(self, node: Any, env: Env) -> Any:
        """The tree with helper calls replaced where the types in `env` tell."""

        def visit(expr: gast.expr) -> gast.expr:
            if isinstance(expr, gast.Call) and isinstance(expr.func, gast.Name):
                found = self.expanded(expr, env)
                if found is not None:
                    return self.specialise(found, env) if found is not expr else expr
            if isinstance(expr, gast.IfExp):
                outcome = truth(self.type_of(expr.test, env))
                if outcome is not None:
                    return expr.body if outcome else expr.orelse
            return expr

        return syntax.map_expressions(node, visit)

    def expanded(self, call: gast.Call, env: Env) -> gast.expr | None:
        """What a call of a helper stands for; None if it is none, or open."""
        if call.keywords or any(isinstance(a, gast.Starred) for a in call.args):
            return None
        name = call.func.id
        if name not in EXPANSIONS and name not in HELPERS:
            return None
        return self.stands_for(
            name, call.args, [self.type_of(a, env) for a in call.args]
        )

    def stands_for(
        self, helper: str, args: list[gast.expr], types: list[Type]
    ) -> gast.expr | None:
        """The expression that the helper is of these arguments; None if it is open."""
        expansion = EXPANSIONS.get(helper)
        if expansion is not None:
            return expansion(args, types)
        return self.followed.expand(helper, args, types)

    def agree(self, node: Any, envs: list[Env]) -> Any:
        """Specialise for every variant; where the texts differ, for their join."""
        if not envs:
            return self.specialise(node, {})
        first = self.specialise(node, envs[0])
        for env in envs[1:]:
            other = self.specialise(node, env)
            if not syntax.equal(first, other):
                return self.specialise(node, join_environments(envs))
        return first


class TypesAround(Env):
    """Types of names around a statement: its own are entries, others are asked for.

    A unit has as many names as statements: copying the types of all of them for each
    statement would take a time that is quadratic in the length of the unit.
    """

    def __init__(self, own: Env, others: Callable[[str], Type | None]) -> None:
        super().__init__(own)
        #: The type of a name that the statement does not mention.
        self.others = others

    def get(self, name: str, default: Any = None) -> Any:
        found = super().get(name)
        if found is None:
            found = self.others(name)
        return default if found is None else found

    def __missing__(self, name: str) -> Type:
        found = self.others(name)
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __eq__(self, other: object) -> bool:
        """Whether the statement sees the same in both, which are of the same unit."""
        if not isinstance(other, TypesAround):
            return NotImplemented
        return all(self.get(n) == other.get(n) for n in self.keys() | other.keys())

    __hash__ = None


def join_environments(envs: list[Env]) -> Env:
    """Name by name, what holds in all."""
    return TypesAround({}, lambda name: join_all(e[name] for e in envs if name in e))


def environments(stmt: gast.stmt, variants: list[Variant]) -> list[Env]:
    """Types around a statement: before it, and after it for what it defines.

    What it computes with is known after it to be there.
    """
    targets, operands = syntax.names_written(stmt), syntax.names_read(syntax.head(stmt))
    return [
        {
            **v.before,
            **{n: v.after[n] for n in operands if is_there_after(n, v)},
            **{n: t for n, t in v.after.items() if n in targets},
        }
        for v in variants
    ]


def is_there_after(name: str, variant: Variant) -> bool:
    """Whether what may be None before a statement is known after it not to be."""
    before = variant.before.get(name)
    return isinstance(before, OrNone) and variant.after.get(name) is before.value
