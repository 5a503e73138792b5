"""Applying the derivative rule of an operation: its template, filled in and pasted."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    List,
    NumberOrArray,
    Tuple,
    is_number,
    present,
    same_shape,
    shape_of,
)
from srcjax.ops.record import Op, Template
from srcjax.transforms.call_effects import called
from srcjax.transforms.places import is_static
from srcjax.transforms.reasons import BROADCAST, Reason
from srcjax.transforms.reverse.contributions import Contributions
from srcjax.transforms.reverse.nominal import is_open
from srcjax.transforms.rule_text import (
    RuleText,
    bound_arguments,
    check_nothing_lost,
    flat_arguments,
    holes_of,
    is_result_of_numpy,
)
from srcjax.transforms.writer import OLD

#: Operations that make an array from a list of lists of numbers.
_ARRAY_MAKERS = {"numpy.array", "numpy.asarray", "numpy.ascontiguousarray"}


class RuleTemplates(Contributions):
    """Writes the backward code of operations that have a rule."""

    def apply(
        self,
        name: str,
        op: Op,
        args: list[gast.expr],
        keywords: dict[str, gast.expr],
        family: str,
    ) -> None:
        """Paste the operation's adjoint rule."""
        bound = bound_arguments(self, op, args, keywords)
        flat = flat_arguments(bound)
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
            raise self.no_rule(op.name)
        check_nothing_lost(self, op, active, set(op.differentiable))
        seed = self.seed(name, op, op.adjoint, holes_of(op, bound))
        rule = RuleText(self, op, op.adjoint, bound, name, lambda _: seed, family)
        shared = op.differentiable[0] if len(op.differentiable) == 1 else ""
        self.reasons = (Reason(op, "adjoint", shared),)
        names = {v.id for v in flat.values() if self.active(v)}
        first = self.left_out.alike(name, names)
        first |= {n for n in names if not self.has_adjoint(n)}
        for stmt in rule.terms():
            self.paste_contribution(rule, op, stmt, seed)
        self.left_out.after(name, op, flat, first)

    def seed(
        self, name: str, op: Op, template: Template, holes: dict[str, gast.expr]
    ) -> gast.expr:
        """The adjoint of the result, as the rule reads it."""
        lazy = any(
            self.places.present[p].lazy is not None for p in self.places.of(name)
        )
        if lazy and not self.may_stay_lazy(name, op, holes):
            self.adjoint(name, full=True)
            self.refresh_adjoint_types()
        sums = self.broadcast.shapes.is_matrix_product(self.stmt)
        if self.is_large(name) and (sums or self.is_operation(op)):
            return self.adjoint_at(name, (), self.type_of_name(name), False)
        seed = as_tuple(self.adjoint(name, full=False), self.needs)
        if isinstance(seed, gast.Tuple) and all(map(_is_plain, seed.elts)):
            return seed
        if isinstance(seed, gast.Name) or _seed_reads(template) <= 1:
            return seed
        return self.held(syntax.adjoint_name(self.base(name)), seed, like=name)

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
                t = self.type_of_name(node.id)  # type: ignore[union-attr]
                have = shape_of(present(t))
                if is_open(have) and self.others_are_numbers(op, holes, parameter):
                    continue  # of the shape of the result, whatever it is
                if self.nominal.is_meant(node, want):
                    continue
                if have is None or not same_shape(have, want):
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
                and called(s.value) == "unbroadcast"
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
        if called(value) != "unbroadcast":
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

    def paste_contribution(
        self, rule: RuleText, op: Op, stmt: gast.Assign, seed: gast.expr
    ) -> None:
        """`d[x] = e`, `d[a], d[b] = e`."""
        target: Any = stmt.targets[0]
        if isinstance(target, gast.Tuple):
            self.reasons = (Reason(op, "adjoint", target.elts[0].slice.id),)
            wanted = [self.any_active(rule.holes.get(e.slice.id)) for e in target.elts]
            if not any(wanted):
                return
            value = rule.fill(stmt.value)
            if isinstance(value, gast.Tuple):
                items: list[gast.expr] = value.elts
            else:
                held = self.held("contribution", value)
                items = [
                    gast.Subscript(held, syntax.const(k), syntax.LOAD)
                    for k in range(len(target.elts))
                ]
            for element, item, want in zip(target.elts, items, wanted, strict=True):
                if want:
                    self.contribute_to(rule.holes[element.slice.id], item)
            return
        node = rule.holes.get(target.slice.id)
        if node is None or not self.any_active(node):
            return
        self.reasons = (Reason(op, "adjoint", target.slice.id),)
        value = rule.fill(stmt.value)
        made = rule.holes[rule.result].id
        if self.has_lazy(made):
            value = self.counted(made, value)
        value = self.left_out.around(made, op, value, seed, node)
        value = self.summed(made, op, value, node)
        if called(value) == "unbroadcast":
            self.reasons = (*self.reasons, BROADCAST)
        self.contribute_to(node, value)
        self.to_number = self.in_shape = False

    def summed(self, made: str, op: Op, value: gast.expr, operand: Any) -> gast.expr:
        """A contribution to an operand of unknown shape: `unbroadcast` where needed.

        That of an elementwise operation which gave `made`.
        """
        if not isinstance(operand, gast.Name):
            return value
        if called(value) == "unbroadcast" and self.nominal.is_meant(
            operand, shape_of(self.type_of_name(made))
        ):
            inner: gast.expr = value.args[0]
            return inner
        sums, large = called(value) == "unbroadcast", self.is_large(made)
        if not self.is_open(operand.id) and not (large or sums):
            return value
        found, shapes = self.broadcast, self.broadcast.shapes
        if not self.is_operation(op):
            return value
        inner = value.args[0] if sums else value
        if id(self.stmt) in shapes.numbers and not large:
            self.to_number = self.in_shape = True
            return inner
        if not large and not (sums and self.is_open(operand.id)):
            return value
        whole = not self.reads_partial_zero(inner) and not self.is_given(made)
        own = operand.id.removesuffix(OLD)
        if whole and not large and shapes.has_shape_of_result(self.stmt, own):
            self.in_shape = True
            return inner
        running = id(self.stmt) in found.running and own != operand.id
        may = whole and self.is_open(own) and (running or own in found.late)
        spread = isinstance(self.type_of_name(own), NumberOrArray)
        if may and (spread or shape_of(self.type_of(inner)) is None):
            self.large.add(own)
            return inner
        return value if sums else syntax.call("unbroadcast", value, operand)

    def is_operation(self, op: Op) -> bool:
        """Whether the statement at hand is this elementwise operation."""
        found = self.broadcast.shapes.operation(self.stmt)
        return found is not None and found[0] is op

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
        held = self.held("parts", value)
        for position, element in enumerate(node.elts):
            if self.active(element):
                index = syntax.const(position)
                item = gast.Subscript(held, index, syntax.LOAD)
                self.contribute(element.id, item)


def as_tuple(adjoint: gast.expr, needs: dict[str, Any]) -> gast.expr:
    """`(dq, dr)` for `QRResult(dq, dr)`, the adjoint of a result that NumPy names."""
    cls = needs.get(called(adjoint))
    if not is_result_of_numpy(cls):
        return adjoint
    return gast.Tuple(adjoint.args, syntax.LOAD)


def _is_plain(adjoint: gast.expr) -> bool:
    """A name, a number, or zeros: what may be written out more than once."""
    zeros = called(adjoint) == "np.zeros_like"
    return syntax.is_atom(adjoint) or zeros


def _seed_reads(template: Template) -> int:
    """How often the rule reads the adjoint of the result."""
    return sum(
        isinstance(n, gast.Subscript)
        and isinstance(n.ctx, gast.Load)
        and syntax.is_name(n.value, "d")
        for n in syntax.walk(template.body)
    )
