"""The tangent of an operation: its own call on tangents, or its rule, filled in.

y = np.sum(x, axis=0)       y_dot = np.sum(x_dot, axis=0)       (linear)
y = A @ x                   y_dot = A_dot @ x + A @ x_dot       (linear in each)
y = np.tanh(x)              y_dot = x_dot * (1 - y**2)          (a rule)
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Scalar,
    Unknown,
    dtype_of,
    has_complex,
    is_number,
    same_shape,
    shape_of,
)
from srcjax.ops.carry_nothing import named_in_tangent
from srcjax.ops.record import Op, active_terms
from srcjax.transforms.forward.tangents import Tangents
from srcjax.transforms.places import is_lazy
from srcjax.transforms.reasons import Reason
from srcjax.transforms.rule_text import (
    RuleText,
    bound_arguments,
    check_nothing_lost,
    flat_arguments,
)


class TangentTemplates(Tangents):
    """Writes the tangents of operations."""

    def apply(
        self,
        name: str,
        op: Op,
        value: gast.expr,
        args: list[gast.expr],
        keywords: dict[str, gast.expr],
        family: str,
    ) -> gast.expr | None:
        """The tangent of `name = value`, a call of the operation; None for zero.

        `args` and `keywords` are nodes of `value` itself.
        """
        bound = bound_arguments(self, op, args, keywords)
        flat = flat_arguments(bound)
        active = [n for n, v in flat.items() if self.any_active(v)]
        if op.inert or not active:
            return None
        if not op.linear and op.tangent is None:
            raise self.no_rule(op.name)
        check_nothing_lost(self, op, active, named_in_tangent(op))
        terms = self.linear_terms(op, value, flat)
        if op.tangent is not None:
            done = {n.lstrip("*") for group in op.linear for n in group}
            rule = RuleText(self, op, op.tangent, bound, name, self.dot, family)
            terms += self.pasted(rule, done)
        self.reasons = tuple(Reason(op, "tangent", n) for n in active)
        if not terms:
            return None
        total = terms[0]
        for term in terms[1:]:
            total = gast.BinOp(total, gast.Add(), term)
        total = self.typer.agree(total, self.envs)
        if op.elementwise:
            operands = [v for v in flat.values() if isinstance(v, gast.Name)]
            return self.spread(name, total, operands)
        return self.filled(name, total) if self.is_smaller(name, total) else total

    def is_smaller(self, name: str, total: gast.expr) -> bool:
        """Whether a tangent has less items than the result, where that is known.

        A helper of reverse mode may leave an adjoint as it is that fits its value by
        broadcasting.
        """
        return any(
            is_lazy(self.typer.type_of(total, env), env.get(name, UNKNOWN))
            for env in self.envs
            if shape_of(env.get(name, UNKNOWN)) is not None
        )

    def linear_terms(self, op: Op, value: gast.expr, bound: dict) -> list[gast.expr]:
        """The user's own call, with tangents in place of what it is linear in."""
        terms = []
        for group in op.linear:
            if group[0].startswith("*"):
                for node in self.items(op, bound.get(group[0][1:], ())):
                    if self.any_active(node):
                        terms.append(syntax.replaced(value, {id(node): self.dot(node)}))
                continue
            if not any(self.any_active(bound.get(n)) for n in group):
                continue
            tangents: dict[int, gast.expr] = {}
            for parameter in group:
                given = bound.get(parameter, ())
                for node in given if isinstance(given, tuple) else (given,):
                    tangents[id(node)] = self.as_owner(value, node, self.dot(node))
            terms.append(syntax.replaced(value, tangents))
        return terms

    def as_owner(self, value: gast.expr, node: Any, tangent: gast.expr) -> gast.expr:
        """The tangent of what a method is called of, or an item taken.

        That is a number of NumPy's if it is one; its tangent may be one of Python's.
        """
        place = value.func if isinstance(value, gast.Call) else value
        t = self.type_of(node) if isinstance(node, gast.Name) else UNKNOWN
        owner = isinstance(place, (gast.Attribute, gast.Subscript))
        if not owner or place.value is not node:
            return tangent
        if not isinstance(t, Scalar) or t.dtype is None:
            return tangent
        return syntax.expression(f"np.{t.dtype.name}(v)", v=tangent)

    def items(self, op: Op, given: Any) -> list[gast.expr]:
        """The items of an argument that the operation is linear in one by one."""
        if isinstance(given, (gast.Tuple, gast.List)):
            given = given.elts
        if isinstance(given, (tuple, list)) and not any(
            isinstance(node, gast.Starred) for node in given
        ):
            return list(given)
        raise self.refuse(
            f"how many arrays `{op.name}` gets is not written in the call",
            "the arrays one by one",
        )

    def pasted(self, rule: RuleText, done: set[str]) -> list[gast.expr]:
        """The terms of a rule; the arguments in `done` have theirs already."""
        wanted = {
            n for n, v in rule.holes.items() if n not in done and self.any_active(v)
        }
        if not wanted - {rule.result}:
            return []
        terms: list[gast.expr] = []
        for stmt in rule.terms():
            directions = _directions(stmt.value)
            if not directions or wanted & set(directions):
                terms.append(rule.fill(active_terms(stmt.value, wanted)))
        return terms

    # -- shapes -----------------------------------------------------------------------

    def spread(
        self, name: str, total: gast.expr, operands: list[gast.Name]
    ) -> gast.expr:
        """Broadcast the tangent of an elementwise result to the result's shape.

        Where every operand that may be an array stands in the expression, it has the
        shape of the result already.
        """
        want = self.type_of(syntax.name(name))
        if is_number(want):
            return self.in_dtype(total, name) if has_complex(want) else total
        have = self.type_of(total)
        if isinstance(want, Array) and same_shape(shape_of(have), shape_of(want)):
            return self.in_dtype(total, name)
        reads = syntax.names_read(total)
        missing = [
            o
            for o in operands
            if o.id not in reads
            and self.dot_name_if_active(o) not in reads
            and not is_number(self.type_of(o))
        ]
        if not missing:
            return total
        if not isinstance(want, Array):
            return syntax.call("broadcast_like", total, syntax.name(name))
        return self.filled(name, total)

    def filled(self, name: str, total: gast.expr) -> gast.expr:
        """A tangent in the shape of the array it is of."""
        known = {"y": syntax.name(name), "t": total}
        if is_number(self.type_of(total)):
            return syntax.expression("np.full_like(y, t)", **known)
        return syntax.expression("np.broadcast_to(t, y.shape).copy()", **known)

    def dot_name_if_active(self, node: gast.Name) -> str | None:
        return self.dot_name(node.id) if self.active(node) else None

    def in_dtype(self, total: gast.expr, name: str) -> gast.expr:
        """Cast where the result is certainly of a wider dtype than its tangent."""
        want = self.type_of(syntax.name(name))
        have = self.type_of(total)
        known = isinstance(have, (Array, Scalar)) and isinstance(want, (Array, Scalar))
        if not known or dtype_of(have) is None or dtype_of(want) is None:
            return total
        if has_complex(want) and not has_complex(have):
            return syntax.expression("t + 0j", t=total)
        weak = isinstance(have, Scalar) and have.python
        if dtype_of(have) == dtype_of(want) or weak or isinstance(want, Unknown):
            return total
        cast = syntax.expression("t.astype(y.dtype)", t=total, y=syntax.name(name))
        return cast if isinstance(have, Array) else total


def _directions(value: gast.expr) -> list[str]:
    """The parameters whose tangents an expression of a rule reads."""
    return [
        n.slice.id
        for n in syntax.walk(value)
        if isinstance(n, gast.Subscript) and syntax.is_name(n.value, "d")
    ]
