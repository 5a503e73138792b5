"""Replace calls of runtime helpers by what they stand for, where types tell."""

from __future__ import annotations

import math
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.infer import Interpreter
from srcjax.analysis.known_values import truth
from srcjax.analysis.program import Program, Variant
from srcjax.analysis.types import Const, Scalar, Type, join
from srcjax.frontend.unit import Unit
from srcjax.ops.expand import EXPANSIONS

_MODULES: dict[str, Type] = {"np": Const(value=np), "math": Const(value=math)}
try:  # SciPy is optional
    import scipy
    import scipy.linalg
    import scipy.special

    _MODULES["scipy"] = Const(value=scipy)
except ImportError:  # pragma: no cover
    pass

Env = dict[str, Type]
#: Stands for a call of the helper `size_along`, which gives an integer.
_COUNT = "__count"
_INTEGER = Scalar(dtype=np.dtype(int), python=True)


def _count_as_number(node: gast.expr) -> gast.expr:
    called = syntax.dotted(getattr(node, "func", None)) == "size_along"
    return syntax.name(_COUNT) if called else node


class Typer:
    """Types of expressions of generated code, in a given environment."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.interpreter = Interpreter(program)
        self.interpreter.unit = unit
        self.interpreter.settled = True

    def type_of(self, node: gast.expr, env: Env) -> Type:
        """The type of the expression; unknown where it cannot be told."""
        from srcjax.analysis.types import UNKNOWN

        if any(syntax.is_name(n, "size_along") for n in syntax.walk(node)):
            node = syntax.map_expressions(node, _count_as_number)
        try:
            return self.interpreter.eval(node, {**_MODULES, **env, _COUNT: _INTEGER})
        except Exception:
            return UNKNOWN

    def specialise(self, node: Any, env: Env) -> Any:
        """The tree with helper calls replaced where the types in `env` tell."""

        def visit(expr: gast.expr) -> gast.expr:
            if isinstance(expr, gast.Call) and isinstance(expr.func, gast.Name):
                expansion = EXPANSIONS.get(expr.func.id)
                plain = not expr.keywords and not any(
                    isinstance(a, gast.Starred) for a in expr.args
                )
                if expansion is not None and plain:
                    types = [self.type_of(a, env) for a in expr.args]
                    found = expansion(expr.args, types)
                    if found is not None:
                        return (
                            self.specialise(found, env) if found is not expr else expr
                        )
            if isinstance(expr, gast.IfExp):
                outcome = truth(self.type_of(expr.test, env))
                if outcome is not None:
                    return expr.body if outcome else expr.orelse
            return expr

        return syntax.map_expressions(node, visit)

    def agree(self, node: Any, envs: list[Env]) -> Any:
        """Specialise for every variant; where the texts differ, for their join."""
        if not envs:
            return self.specialise(node, {})
        first = self.specialise(syntax.clone(node), envs[0])
        for env in envs[1:]:
            other = self.specialise(syntax.clone(node), env)
            if not syntax.equal(first, other):
                return self.specialise(node, join_environments(envs))
        return first


def join_environments(envs: list[Env]) -> Env:
    """Name by name, what holds in all."""
    result = dict(envs[0])
    for env in envs[1:]:
        for name, t in env.items():
            result[name] = join(result[name], t) if name in result else t
    return result


def environments(variants: list[Variant], target_after: set[str]) -> list[Env]:
    """Types around a statement: before it, and after it for what it defines."""
    return [
        {**v.before, **{n: t for n, t in v.after.items() if n in target_after}}
        for v in variants
    ]
