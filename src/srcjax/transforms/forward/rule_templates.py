"""The tangent of an operation: its own call on tangents, or its rule, filled in.

y = np.sum(x, axis=0)       y_dot = np.sum(x_dot, axis=0)       (linear)
y = A @ x                   y_dot = A_dot @ x + A @ x_dot       (linear in each)
y = np.tanh(x)              y_dot = x_dot * (1 - y**2)          (a rule)
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.known_values import truth
from srcjax.analysis.types import (
    Array,
    Scalar,
    Unknown,
    dtype_of,
    has_complex,
    is_number,
    same_shape,
    shape_of,
)
from srcjax.errors import NoRuleError
from srcjax.ops.carry_nothing import lost_arguments, named_in_tangent
from srcjax.ops.record import Op, Template, active_terms
from srcjax.transforms.forward.tangents import Tangents
from srcjax.transforms.reverse.rule_templates import _as_math, _flatten

Holes = dict[str, Any]


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
        try:
            bound = op.bind(args, keywords)
        except TypeError as error:
            raise self.refuse(
                f"`{op.name}` with these arguments has no derivative rule ({error})",
                f"only the arguments `{op.signature}`",
                NoRuleError,
            ) from None
        flat = _flatten(bound)
        active = [n for n, v in flat.items() if self.any_active(v)]
        if op.inert or not active:
            return None
        if not op.linear and op.tangent is None:
            raise self.refuse(
                f"`{op.name}` has no forward derivative rule",
                f"give it one with `@srcjax.tangent({op.name})`, or wrap what needs no "
                "derivative in `srcjax.stop_gradient`",
                NoRuleError,
            )
        lost = lost_arguments(op, active, named_in_tangent(op))
        if lost:
            shown = " and ".join(f"`{n}`" for n in lost)
            raise self.refuse(
                f"`{op.name}` has no forward derivative rule for its argument {shown}, "
                "which depends on a differentiated value",
                "`srcjax.stop_gradient` of the argument if it is a constant here, or a "
                f"rule that names it: `@srcjax.tangent({op.name})`",
                NoRuleError,
            )
        terms = self.linear_terms(op, value, flat)
        if op.tangent is not None:
            done = {n.lstrip("*") for group in op.linear for n in group}
            holes = self.holes(op, bound)
            terms += self.pasted(name, op.tangent, holes, family, done)
        if not terms:
            return None
        total = terms[0]
        for term in terms[1:]:
            total = gast.BinOp(total, gast.Add(), term)
        total = self.typer.agree(total, self.envs)
        if op.elementwise:
            operands = [v for v in flat.values() if isinstance(v, gast.Name)]
            total = self.spread(name, total, operands)
        return total

    def linear_terms(self, op: Op, value: gast.expr, bound: dict) -> list[gast.expr]:
        """The user's own call, with tangents in place of what it is linear in."""
        terms = []
        for group in op.linear:
            if group[0].startswith("*"):
                for node in self.items(op, bound.get(group[0][1:], ())):
                    if self.any_active(node):
                        terms.append(_replaced(value, {id(node): self.dot(node)}))
                continue
            if not any(self.any_active(bound.get(n)) for n in group):
                continue
            tangents: dict[int, gast.expr] = {}
            for parameter in group:
                given = bound.get(parameter, ())
                for node in given if isinstance(given, tuple) else (given,):
                    tangents[id(node)] = self.dot(node)
            terms.append(_replaced(value, tangents))
        return terms

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

    def holes(self, op: Op, bound: dict) -> Holes:
        """What stands for each parameter of the rule."""
        holes: Holes = {}
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

    def pasted(
        self,
        name: str,
        template: Template,
        holes: Holes,
        family: str,
        done: set[str],
    ) -> list[gast.expr]:
        """The terms of a rule with the user's names in place of its parameters.

        The arguments in `done` have their terms already.
        """
        result = template.parameters[0]
        holes = {**holes, result: syntax.name(name)}
        terms: list[gast.expr] = []
        wanted = [n for n, v in holes.items() if n not in done and self.any_active(v)]
        if set(wanted) - {result}:
            self.paste_block(template.body, holes, set(wanted), family, terms)
        return terms

    def paste_block(
        self,
        body: list[gast.stmt],
        holes: Holes,
        wanted: set[str],
        family: str,
        terms: list[gast.expr],
    ) -> None:
        for stmt in body:
            if isinstance(stmt, gast.If):
                test = self.fill(stmt.test, holes, family)
                outcome = self.decide(test)
                if outcome is None:
                    raise self.refuse(
                        f"`{syntax.text(test)}` must be known before the program runs",
                        "a constant argument",
                    )
                chosen = stmt.body if outcome else stmt.orelse
                self.paste_block(chosen, holes, wanted, family, terms)
            elif isinstance(stmt, gast.Assign):
                self.paste_assignment(stmt, holes, wanted, family, terms)

    def paste_assignment(
        self,
        stmt: gast.Assign,
        holes: Holes,
        wanted: set[str],
        family: str,
        terms: list[gast.expr],
    ) -> None:
        """`q = e` keeps a value; `d[y] = e` adds a term, unless its tangents are 0."""
        target = stmt.targets[0]
        directions = _directions(stmt.value)
        if isinstance(target, gast.Subscript):
            if not directions or wanted & set(directions):
                terms.append(self.fill(active_terms(stmt.value, wanted), holes, family))
            return
        value = self.fill(stmt.value, holes, family)
        if isinstance(target, gast.Tuple):
            kept: Any = self.held("parts", value)
            for position, element in enumerate(target.elts):
                index = syntax.const(position)
                holes[element.id] = gast.Subscript(kept, index, syntax.LOAD)
            return
        holes[target.id] = self.held(target.id, value)

    def decide(self, test: gast.expr) -> bool | None:
        """The outcome of a condition of a rule, where the types tell."""
        outcomes = {
            truth(self.typer.type_of(self.typer.specialise(test, env), env))
            for env in self.envs or [{}]
        }
        return outcomes.pop() if len(outcomes) == 1 else None

    def fill(self, node: gast.expr, holes: Holes, family: str) -> gast.expr:
        """A rule's expression with the user's names in place of its parameters."""

        def visit(sub: Any) -> Any:
            if isinstance(sub, gast.Subscript) and syntax.is_name(sub.value, "d"):
                return self.dot(holes.get(sub.slice.id, syntax.const(0.0)))
            if isinstance(sub, gast.Name):
                found = holes.get(sub.id)
                return syntax.name(sub.id) if found is None else syntax.clone(found)
            if isinstance(sub, gast.AST):
                cls: Any = type(sub)
                new = cls.__new__(cls)
                for key, value in sub.__dict__.items():
                    if isinstance(value, gast.AST):
                        value = visit(value)
                    elif isinstance(value, list):
                        value = [visit(v) for v in value]
                    new.__dict__[key] = value
                if family == "math" and syntax.dotted(new) is not None:
                    return _as_math(new)
                return new
            return sub

        filled: gast.expr = visit(node)
        return filled

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
        return syntax.call("broadcast_like", total, syntax.name(name))

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


def _replaced(node: Any, tangents: dict[int, gast.expr]) -> Any:
    """A copy of the tree with some of its nodes, by identity, replaced."""
    if id(node) in tangents:
        return syntax.clone(tangents[id(node)])
    if isinstance(node, list):
        return [_replaced(n, tangents) for n in node]
    if isinstance(node, gast.AST):
        cls: Any = type(node)
        new = cls.__new__(cls)
        for key, value in node.__dict__.items():
            if isinstance(value, (gast.AST, list)):
                value = _replaced(value, tangents)
            new.__dict__[key] = value
        return new
    return node
