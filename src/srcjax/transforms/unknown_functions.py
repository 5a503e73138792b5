"""Write derivatives of functions that are not known as calls of functions.

Before:                               After:

    value = vjp(f, x)                     y = f(x)
    y, pullback = value                   pullback = (f, x)
    dx = pullback(dy)                     g = pullback[0]
                                          pulled = pullback_of(g)
                                          x_2 = pullback[1]
                                          dx = pulled(dy, x_2)

    value = jvp(f, (x,), (x_dot,))        pushed = tangent_of(f)
                                          value = pushed(x, x_dot)

The derivative of `pulled` is asked for when the program runs, as that of `f` is
(`srcjax.api.at_run_time`). An array that is written somewhere is copied into the
pullback, which has to see what `f` saw.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.nested import NestedCall, Unclear
from srcjax.analysis.program import Program
from srcjax.analysis.references import PULLBACK_OF, TANGENT_OF, Reference
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Dict,
    List,
    Transformed,
    Tuple,
    Type,
    all_buffers,
    is_active,
    is_number,
    join_all,
)
from srcjax.frontend.unit import Unit
from srcjax.transforms.inline import Inliner


def call_when_run(program: Program) -> bool:
    """Rewrite all calls of which the function is not known; True if there were any."""
    changed = False
    for unit in program.reached():
        writer = _Writer(program, unit)
        for block, stmt in statements_with_calls(unit):
            new = writer.write(stmt)
            if new is None:
                continue
            changed = True
            for s in new:
                s.user_line = getattr(stmt, "user_line", None)
                gast.copy_location(s, stmt)
            at = next(i for i, s in enumerate(block) if s is stmt)
            block[at : at + 1] = new
    return changed


def kept_in_loops(program: Program) -> bool:
    """Whether a loop takes a pullback out of a list: which one, is not known then."""

    def taken(stmt: Any) -> bool:
        if not isinstance(stmt, gast.Assign) or not isinstance(
            stmt.targets[0], gast.Name
        ):
            return False
        base = stmt.value
        if isinstance(base, gast.Call):
            base = base.func
        if not isinstance(base, (gast.Subscript, gast.Attribute)):
            return False
        name, owner = stmt.targets[0].id, getattr(base.value, "id", "")
        return any(
            is_pullback(v.after.get(name, UNKNOWN))
            and isinstance(v.before.get(owner), (List, Dict))
            for v in program.facts.of(stmt)
        )

    return any(
        taken(stmt)
        for unit in program.reached()
        for loop in syntax.all_statements(unit.node.body)
        if isinstance(loop, (gast.For, gast.While))
        for stmt in syntax.all_statements(loop.body)
    )


def is_pullback(t: Type) -> bool:
    """Whether it is what `vjp` gave, before that is written out."""
    return isinstance(t, Transformed) and t.maker is None


def statements_with_calls(unit: Unit) -> list[tuple[list[Any], Any]]:
    """Statements `name = call` (or the call alone) with the block each stands in."""
    found = []
    blocks = [unit.node.body]
    while blocks:
        block = blocks.pop()
        for stmt in block:
            blocks += syntax.inner_blocks(stmt)
            if isinstance(stmt, (gast.Assign, gast.Expr)):
                found.append((block, stmt))
    return found


class _Writer:
    """Rewrites the statements of one unit; None for what stays."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program = program
        self.unit = unit
        self.facts = program.facts
        self.written = program.facts.written()
        self.inliner = Inliner(program, unit)
        self.before: list[gast.stmt] = []

    def write(self, stmt: Any) -> list[gast.stmt] | None:
        call = stmt.value
        if not isinstance(call, gast.Call) or isinstance(stmt, gast.Expr):
            return None
        self.before = []
        kinds = {c.kind for c in self.facts.callees.get(id(call), []) if _unsettled(c)}
        if kinds == {"vjp"}:
            value = self.forward(stmt, call)
        elif kinds == {"jvp"}:
            value = self.pushed(stmt, call)
        else:
            value = self.pulled(stmt, call)
        if value is None:
            return None
        return [*self.before, gast.Assign(stmt.targets, value, None)]

    def forward(self, stmt: Any, call: gast.Call) -> gast.expr | None:
        """`vjp(f, x)` as the value, and what its pullback is made of."""
        if call.keywords or any(isinstance(a, gast.Starred) for a in call.args):
            return None
        function, *primals = call.args
        if self.holds_active(stmt, function):
            return None
        held: list[gast.expr] = [self.atom(function, "function")]
        for primal in primals:
            t = self.type_of(stmt, primal)
            if is_number(t) or not all_buffers(t) & self.written:
                held.append(syntax.clone(primal))
            elif isinstance(t, Array):
                held.append(self.temp(syntax.expression("v.copy()", v=primal), "copy"))
            else:
                return None
        value = self.temp(gast.Call(held[0], syntax.clone(primals), []), "y")
        pullback = self.temp(gast.Tuple(syntax.clone(held), syntax.LOAD), "pullback")
        return gast.Tuple([value, pullback], syntax.LOAD)

    def pulled(self, stmt: Any, call: gast.Call) -> gast.expr | None:
        """`pullback(dy)`, where the pullback is that of a function not known."""
        name = getattr(call.func, "id", "")
        t = self.type_of(stmt, call.func)
        if not isinstance(t, Transformed) or not is_pullback(t):
            return None
        if call.keywords or len(call.args) != 1 or not isinstance(t.function, Tuple):
            return None
        function, *primals = (
            self.temp(syntax.expression("p[i]", p=syntax.name(name), i=i), "item")
            for i in map(syntax.const, range(1 + len(t.function.items)))
        )
        made = self.made(PULLBACK_OF, function)
        return gast.Call(made, [*call.args, *primals], [])

    def pushed(self, stmt: Any, call: gast.Call) -> gast.expr | None:
        """`jvp(f, primals, tangents)` as a call with all of them."""
        if call.keywords or len(call.args) != 3:
            return None
        function, *both = call.args
        if self.holds_active(stmt, function):
            return None
        items: list[gast.expr] = []
        for part in both:
            t = self.type_of(stmt, part)
            if isinstance(part, (gast.Tuple, gast.List)):
                items += part.elts
            elif isinstance(part, gast.Name) and isinstance(t, Tuple):
                for i in map(syntax.const, range(len(t.items))):
                    item = syntax.expression("p[i]", p=part, i=i)
                    items.append(self.temp(item, "item"))
            else:
                return None
        if len(items) % 2 or any(_is_none(i) for i in items):
            return None
        return gast.Call(self.made(TANGENT_OF, function), items, [])

    def holds_active(self, stmt: Any, function: gast.expr) -> bool:
        """Whether a derivative flows through variables that the function takes."""
        names = map(syntax.name, syntax.names_read(function))
        return any(is_active(self.type_of(stmt, n)) for n in names)

    def made(self, maker: Reference, function: gast.expr) -> gast.expr:
        name = self.inliner.constant(maker.value, maker.name)  # inference follows it
        call = syntax.call(name, syntax.clone(function))
        return self.temp(call, "pulled" if maker is PULLBACK_OF else "pushed")

    def atom(self, value: gast.expr, base: str) -> gast.expr:
        return value if isinstance(value, gast.Name) else self.temp(value, base)

    def temp(self, value: gast.expr, base: str) -> gast.expr:
        name = self.unit.names.fresh(base)
        self.unit.temps.add(name)
        self.unit.varying.add(name)
        self.before.append(syntax.assign(name, value))
        return syntax.name(name)

    def type_of(self, stmt: Any, node: gast.expr) -> Type:
        """The type of an atom in front of the statement."""
        if isinstance(node, gast.Constant):
            return Tuple()  # nothing that could be written to
        if not isinstance(node, gast.Name):
            return UNKNOWN
        found = [v.before.get(node.id, UNKNOWN) for v in self.facts.of(stmt)]
        return join_all(found) or UNKNOWN


def _unsettled(callee: Any) -> bool:
    return isinstance(callee, (NestedCall, Unclear))


def _is_none(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and node.value is None
