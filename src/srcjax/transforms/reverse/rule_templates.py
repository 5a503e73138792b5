"""Applying the derivative rule of an operation: its template, filled in and pasted."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    List,
    Tuple,
    is_number,
    shape_of,
)
from srcjax.errors import NoRuleError
from srcjax.ops.carry_nothing import lost_arguments
from srcjax.ops.record import Op, Template
from srcjax.transforms.reverse.contributions import Contributions
from srcjax.transforms.reverse.places import (
    is_static,
)

#: Operations that make an array from a list of lists of numbers.
_ARRAY_MAKERS = {"numpy.array", "numpy.asarray", "numpy.ascontiguousarray"}


class RuleTemplates(Contributions):
    """Writes the backward code of operations that have a rule."""

    # -- rules ------------------------------------------------------------------------

    def apply(
        self,
        name: str,
        op: Op,
        args: list[gast.expr],
        keywords: dict[str, gast.expr],
        family: str,
    ) -> None:
        """Paste the operation's adjoint rule."""
        try:
            bound = op.bind(args, keywords)
        except TypeError as error:
            raise self.refuse(
                f"`{op.name}` with these arguments has no derivative rule ({error})",
                f"only the arguments `{op.signature}`",
                NoRuleError,
            ) from None
        flat = _flatten(bound)
        if op.inert or not any(self.any_active(v) for v in flat.values()):
            return
        first = args[0] if args else None
        if op.name in _ARRAY_MAKERS and isinstance(first, gast.Name):
            t = self.type_of_name(first.id)
            if isinstance(t, (List, Tuple)):
                d = self.adjoint(name)
                if not (self.kind(first.id) == "split" and is_static(t)):
                    d = syntax.call("unarray", d, first)
                self.contribute(first.id, d)
                return
        active = [n for n, v in flat.items() if self.any_active(v)]
        if op.adjoint is None or not op.differentiable:
            raise self.refuse(
                f"`{op.name}` has no derivative rule",
                f"give it one with `@srcjax.adjoint({op.name})`, or wrap what needs no "
                "derivative in `srcjax.stop_gradient`",
                NoRuleError,
            )
        self.refuse_lost(op, active, set(op.differentiable))
        holes = self.holes(op, op.adjoint, bound)
        self.paste(name, op, op.adjoint, holes, family)

    def refuse_lost(self, op: Op, active: list[str], named: set[str]) -> None:
        """A derivative must not be lost in an argument that no rule names."""
        lost = lost_arguments(op, active, named)
        if lost:
            shown = " and ".join(f"`{n}`" for n in lost)
            raise self.refuse(
                f"`{op.name}` has no derivative rule for its argument {shown}, which "
                "depends on a differentiated value",
                "`srcjax.stop_gradient` of the argument if it is a constant here, or a "
                f"rule that names it: `@srcjax.adjoint({op.name})`",
                NoRuleError,
            )

    def any_active(self, value: Any) -> bool:
        if isinstance(value, (tuple, list)):
            return any(map(self.any_active, value))
        if isinstance(value, (gast.Tuple, gast.List)):
            return any(map(self.any_active, value.elts))
        return self.active(value)

    def holes(self, op: Op, template: Template, bound: dict) -> dict[str, gast.expr]:
        """What stands for each parameter of the rule."""
        holes: dict[str, gast.expr] = {}
        for parameter in op.signature.parameters.values():
            if parameter.name in bound:
                value = bound[parameter.name]
                if isinstance(value, tuple):
                    value = gast.Tuple(list(value), syntax.LOAD)
                if isinstance(value, dict):
                    continue
                holes[parameter.name] = value
            elif parameter.default is not parameter.empty:
                holes[parameter.name] = syntax.const(parameter.default)
        return holes

    def paste(
        self,
        name: str,
        op: Op,
        template: Template,
        holes: dict[str, gast.expr],
        family: str,
    ) -> None:
        result = template.parameters[0]
        holes = {**holes, result: syntax.name(name)}
        lazy = any(
            self.places.present[p].lazy is not None for p in self.places.of(name)
        )
        if lazy and not self.may_stay_lazy(name, op, holes):
            self.adjoint(name, full=True)
            self.refresh_adjoint_types()
        seed = self.adjoint(name, full=False)
        if not isinstance(seed, gast.Name) and _seed_reads(template, result) > 1:
            held = self.unit.names.fresh("d" + self.base(name))
            self.unit.temps.add(held)
            self.emit(syntax.assign(held, seed))
            for env in self.envs:
                env[held] = env.get(name, UNKNOWN)
            seed = syntax.name(held)
        self.paste_block(template.body, holes, result, seed, family)

    def may_stay_lazy(self, name: str, op: Op, holes: dict[str, gast.expr]) -> bool:
        """Elementwise rules broadcast: a smaller seed does unless axes are summed."""
        if op.spreads:
            return all(
                place.lazy is not None and shape_of(place.lazy) == ()
                for key, place in self.places.present.items()
                if key[0] == name
            )
        if not op.elementwise:
            return False
        want = shape_of(self.type_of_name(name))
        for parameter in op.differentiable:
            node = holes.get(parameter)
            if self.active(node):
                have = shape_of(self.type_of_name(node.id))  # type: ignore[union-attr]
                if have is None and self.others_are_numbers(op, holes, parameter):
                    continue  # of the shape of the result, whatever it is
                if have is None or have != want:
                    if have == () and self.is_counted(name, op, holes):
                        continue
                    return False
        return True

    def others_are_numbers(
        self, op: Op, holes: dict[str, gast.expr], parameter: str
    ) -> bool:
        """Whether an elementwise operation has one operand that may be an array."""
        others = [
            holes[p] for p in op.signature.parameters if p in holes and p != parameter
        ]
        return all(is_number(self.type_of(o)) for o in others)

    def is_counted(self, name: str, op: Op, holes: dict[str, gast.expr]) -> bool:
        """Whether a seed that is one number can be multiplied by the number of items.

        What broadcasts a number to an array sums the adjoint of the array for it.
        """
        t = self.type_of_name(name)
        shapes = [shape_of(self.type_of(holes[p])) for p in op.differentiable]
        plain = (
            None not in shapes
            and op.adjoint is not None
            and all(
                isinstance(s, gast.Assign)
                and isinstance(s.targets[0], gast.Subscript)
                and syntax.dotted(getattr(s.value, "func", None)) == "unbroadcast"
                for s in op.adjoint.body
            )
        )
        return (
            plain
            and isinstance(t, Array)
            and t.shape is not None
            and all(
                place.lazy is not None and shape_of(place.lazy) == ()
                for key, place in self.places.present.items()
                if key[0] == name
            )
        )

    def counted(self, name: str, value: gast.expr) -> gast.expr:
        """`unbroadcast(e, x)` with the sum written as a product where `e` is a number.

        `e` then stands for an array of the shape of `name` with this one value.
        """
        if syntax.dotted(getattr(value, "func", None)) != "unbroadcast":
            return value
        inner, like = value.args
        t, small = self.type_of_name(name), shape_of(self.type_of(like))
        if not isinstance(t, Array) or not t.shape or small != ():
            return value
        if shape_of(self.type_of(inner)) != ():
            return value
        size = gast.Attribute(syntax.name(name), "size", syntax.LOAD)
        return gast.BinOp(inner, gast.Mult(), size)

    def refresh_adjoint_types(self) -> None:
        for env in self.envs:
            for (name, path), place in self.places.present.items():
                if place.lazy is None and not path:
                    env[place.variable] = env.get(name, UNKNOWN)

    def paste_block(
        self,
        body: list[gast.stmt],
        holes: dict[str, gast.expr],
        result: str,
        seed: gast.expr,
        family: str,
    ) -> None:
        for stmt in body:
            if isinstance(stmt, gast.If):
                test = self.fill(stmt.test, holes, result, seed, family)
                outcome = self.decide(test)
                if outcome is None:
                    raise self.refuse(
                        f"`{syntax.text(test)}` must be known before the program runs",
                        "a constant argument",
                    )
                chosen = stmt.body if outcome else stmt.orelse
                self.paste_block(chosen, holes, result, seed, family)
                continue
            if not isinstance(stmt, gast.Assign):
                continue
            target = stmt.targets[0]
            if isinstance(target, gast.Name):
                value = self.fill(stmt.value, holes, result, seed, family)
                local = self.unit.names.fresh(target.id)
                self.unit.temps.add(local)
                value = self.typer.agree(value, self.envs)
                self.emit(syntax.assign(local, value))
                for env in self.envs:
                    env[local] = self.typer.type_of(value, env)
                holes = {**holes, target.id: syntax.name(local)}
                continue
            self.paste_contribution(stmt, target, holes, result, seed, family)

    def paste_contribution(
        self,
        stmt: gast.Assign,
        target: Any,
        holes: dict[str, gast.expr],
        result: str,
        seed: gast.expr,
        family: str,
    ) -> None:
        """`d[x] = e`, `d[a], d[b] = e`."""
        if isinstance(target, gast.Tuple):
            wanted = [self.any_active(holes.get(e.slice.id)) for e in target.elts]
            if not any(wanted):
                return
            value = self.fill(stmt.value, holes, result, seed, family)
            if isinstance(value, gast.Tuple):
                items: list[gast.expr] = value.elts
            else:
                held = self.unit.names.fresh("contribution")
                self.unit.temps.add(held)
                value = self.typer.agree(value, self.envs)
                self.emit(syntax.assign(held, value))
                items = [
                    gast.Subscript(syntax.name(held), syntax.const(k), syntax.LOAD)
                    for k in range(len(target.elts))
                ]
            for element, item, want in zip(target.elts, items, wanted, strict=True):
                if want:
                    self.contribute_to(holes[element.slice.id], item)
            return
        node = holes.get(target.slice.id)
        if node is None or not self.any_active(node):
            return
        value = self.fill(stmt.value, holes, result, seed, family)
        made = holes[result]
        if isinstance(made, gast.Name) and self.has_lazy(made.id):
            value = self.counted(made.id, value)
        self.contribute_to(node, value)

    def has_lazy(self, name: str) -> bool:
        """Whether the adjoint of the name stands for a larger one."""
        return any(
            self.places.present[place].lazy is not None
            for place in self.places.of(name)
        )

    def contribute_to(self, node: Any, value: gast.expr) -> None:
        """Contribute to an atom, or to the parts of a display."""
        if isinstance(node, gast.Name):
            self.contribute(node.id, value)
            return
        value = self.typer.agree(value, self.envs)
        if isinstance(value, (gast.Tuple, gast.List)) and len(value.elts) == len(
            node.elts
        ):
            for element, item in zip(node.elts, value.elts, strict=True):
                if self.active(element):
                    self.contribute(element.id, item)
            return
        held = self.unit.names.fresh("parts")
        self.unit.temps.add(held)
        self.emit(syntax.assign(held, value))
        for env in self.envs:
            env[held] = self.typer.type_of(value, env)
        for position, element in enumerate(node.elts):
            if self.active(element):
                item = gast.Subscript(
                    syntax.name(held), syntax.const(position), syntax.LOAD
                )
                self.contribute(element.id, item)

    def decide(self, test: gast.expr) -> bool | None:
        """The outcome of a condition of a rule, where the types tell."""
        from srcjax.analysis.known_values import truth

        outcomes = {
            truth(self.typer.type_of(self.typer.specialise(test, env), env))
            for env in self.envs
        }
        return outcomes.pop() if len(outcomes) == 1 else None

    def fill(
        self,
        node: gast.expr,
        holes: dict[str, gast.expr],
        result: str,
        seed: gast.expr,
        family: str,
    ) -> gast.expr:
        """A rule's expression with the user's names in place of its parameters."""

        def visit(sub: Any) -> Any:
            if isinstance(sub, gast.Subscript) and syntax.is_name(sub.value, "d"):
                return syntax.clone(seed)
            if isinstance(sub, gast.Name):
                if sub.id in holes:
                    return syntax.clone(holes[sub.id])
                return syntax.name(sub.id)
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


def _seed_reads(template: Template, result: str) -> int:
    return sum(
        isinstance(n, gast.Subscript)
        and isinstance(n.ctx, gast.Load)
        and syntax.is_name(n.value, "d")
        for n in syntax.walk(template.body)
    )


def _as_math(node: gast.expr) -> gast.expr:
    """`np.cos` as `math.cos` in the rule of a math function."""
    import math

    chain = syntax.dotted(node)
    if chain and chain.startswith("np.") and hasattr(math, chain[3:]):
        return syntax.expression("math." + chain[3:])
    return node


def _flatten(bound: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in bound.items():
        if isinstance(value, dict):
            flat.update(value)
        else:
            flat[name] = value
    return flat
