"""The backward sweep as the mirror image of the forward one.

The core form is walked from its end. What comes out is a tree of nodes in forward
order: `Group` (a statement and its backward code), `Branch`, `Loop`, `Block`; the code
that makes both sides of a branch, and the head and end of a loop, agree on which
adjoints are present is part of the nodes. `saving` turns the tree into two programs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import bound_before, surely
from srcjax.analysis.flow.control import Control, Way, control
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Type,
    Unknown,
    has_complex,
    shape_of,
)
from srcjax.transforms.places import Adjoint, Path, Place, part_of
from srcjax.transforms.reasons import ANEW, ELSEWHERE, FILLED, ZERO, Reason
from srcjax.transforms.reverse.rules import Rules


@dataclass
class Group:
    """A statement and the code that passes its adjoint on."""

    stmt: gast.stmt
    code: list[gast.stmt]
    forward: list[gast.stmt] | None = None


@dataclass
class Branch:
    """An `if`; the tails end the backward code of each side."""

    stmt: gast.If
    then: list[Any]
    orelse: list[Any]
    then_tail: list[gast.stmt] = field(default_factory=list)
    else_tail: list[gast.stmt] = field(default_factory=list)
    before: list[gast.stmt] = field(default_factory=list)


@dataclass
class Attempt(Branch):
    """A `try` in core form: its body, and its handlers (which set a flag).

    The backward code of the body runs where nothing was caught.
    """

    stmt: gast.Try
    #: What stands between the body and the `else` of a `try` of the user's own.
    orelse_from: gast.stmt = field(default_factory=gast.Pass)


@dataclass
class Loop:
    """A `for` or `while`; `before` precedes its backward loop, `tail` ends the body."""

    stmt: Any
    body: list[Any]
    before: list[gast.stmt] = field(default_factory=list)
    tail: list[gast.stmt] = field(default_factory=list)
    #: Adjoints that have their full shape at the head of the backward loop, and are a
    #: plain zero at the end of its body.
    full_at_head: frozenset[str] = frozenset()


@dataclass
class Block:
    """A `with` or `try ... finally`: blocks that run one after the other."""

    stmt: Any
    body: list[Any]
    #: What stands at the ends of the blocks, where there are several.
    ends: list[Group] = field(default_factory=list)


def with_items(
    code: list[gast.stmt], stmt: gast.stmt, before: gast.stmt
) -> list[gast.stmt]:
    """Backward code that reads items of a display by their names.

        values = [x, h]
        joined = np.concatenate(values)

    Where it reads `len(values[0])`, it says `len(x)`, and needs no list.
    """
    display = before.value if isinstance(before, gast.Assign) else None
    if not isinstance(display, (gast.List, gast.Tuple)):
        return code
    (target,) = before.targets
    names = {e.id for e in display.elts if isinstance(e, gast.Name)}
    if not isinstance(target, gast.Name) or names & syntax.names_written(stmt):
        return code

    def visit(expr: gast.expr) -> gast.expr:
        if not isinstance(expr, gast.Subscript) or not isinstance(expr.ctx, gast.Load):
            return expr
        if not syntax.is_name(expr.value, target.id):
            return expr
        index = getattr(expr.slice, "value", None)
        if type(index) is not int or not 0 <= index < len(display.elts):
            return expr
        item = display.elts[index]
        return syntax.clone(item) if isinstance(item, gast.Name) else expr

    return [syntax.map_expressions(part, visit) for part in code]


class Sweep:
    """Builds the tree of one unit."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.places = rules.places

    def block(self, stmts: list[gast.stmt]) -> list[Any]:
        """The nodes of a block, in forward order; walked from the end."""
        before = [None, *stmts][: len(stmts)]
        pairs = zip(stmts, before, strict=True)
        nodes = [self.node(stmt, last) for stmt, last in reversed(list(pairs))]
        nodes.reverse()
        return nodes

    def node(self, stmt: gast.stmt, before: gast.stmt | None = None) -> Any:
        run = control(stmt)
        if run is not None:
            self.rules.left_out.clear()
            node = self.compound(stmt, run)
            self.rules.left_out.clear()
            return node
        code = self.rules.differentiate(stmt)
        if before is not None:
            code = with_items(code, stmt, before)
        return Group(stmt, code, self.rules.forward.get(id(stmt)))

    def compound(self, stmt: Any, run: Control) -> Any:
        """The node of a statement with blocks."""
        if run.way is Way.LOOP:
            return self.loop(stmt)
        first, *others = run.blocks
        if run.way is not Way.ONCE:
            other = [s for block in others for s in block]
            if run.way is Way.CHOICE:
                return self.branch(Branch(stmt, [], []), first, other)
            node = Attempt(stmt, [], [])
            if stmt.orelse:
                first = [*stmt.body, node.orelse_from, *stmt.orelse]
            return self.branch(node, first, other)
        if not others:
            return Block(stmt, self.block(first))
        body: list[Any] = []
        ends: list[Group] = []
        for block in reversed(run.blocks):
            ends.insert(0, Group(gast.Pass(), []))
            body = [*self.block(block), ends[0], *body]
        return Block(stmt, body, ends)

    # -- branches ---------------------------------------------------------------------

    def inside(self, stmts: list[gast.stmt]) -> list[Any]:
        """The nodes of a block that may not be executed, or more than once."""
        self.rules.depth += 1
        nodes = self.block(stmts)
        self.rules.depth -= 1
        return nodes

    def parts_only(self, stmt: gast.stmt) -> list[gast.stmt]:
        """Code that takes whole adjoints of containers into their parts."""
        self.rules.stmt, self.rules.code, self.rules.reasons = stmt, [], ()
        for name in sorted({name for name, _ in self.places.present}):
            self.rules.explode(name)
        code, self.rules.code = self.rules.code, []
        return code

    def branch(
        self, node: Branch, body: list[gast.stmt], orelse: list[gast.stmt]
    ) -> Branch:
        stmt = node.stmt
        node.before = self.parts_only(stmt)
        before = self.places.snapshot()
        node.then = self.inside(body)
        first = self.places.snapshot()
        self.places.restore(before)
        node.orelse = self.inside(orelse)
        second = self.places.snapshot()
        merged = self.merge(first, second)
        self.places.restore(first)
        node.then_tail = self.fit(stmt, merged, ELSEWHERE)
        self.places.restore(second)
        node.else_tail = self.fit(stmt, merged, ELSEWHERE)
        self.places.restore(merged)
        return node

    def merge(
        self, a: dict[Place, Adjoint], b: dict[Place, Adjoint]
    ) -> dict[Place, Adjoint]:
        """The state in which both can be brought: present where either is."""
        merged: dict[Place, Adjoint] = {}
        for place in [*a, *(p for p in b if p not in a)]:
            one, two = a.get(place), b.get(place)
            present = one or two
            assert present is not None
            if one is not None and two is not None:
                lazy = one.lazy if one.lazy == two.lazy else None
                merged[place] = Adjoint(one.variable, lazy, one.owned and two.owned)
            else:
                merged[place] = Adjoint(present.variable, None, present.owned)
        return merged

    def fit(
        self, stmt: gast.stmt, wanted: dict[Place, Adjoint], zero: Reason = ZERO
    ) -> list[gast.stmt]:
        """Code that brings the present adjoints to the wanted state.

        `zero` says why those are zero that are not there.
        """
        rules = self.rules
        rules.stmt, rules.code = stmt, []
        for place, want in wanted.items():
            name, path = place
            rules.reasons = (FILLED if name in rules.single_pass else zero,)
            have = self.places.present.get(place)
            t = self.type_at(name, path)
            if have is None and want.lazy == UNKNOWN:
                if has_complex(t):
                    rules.mixed.add(name)
                self.places.partial.add(want.variable)
                rules.emit(syntax.assign(want.variable, syntax.const(0.0)))
            elif have is None:
                start = (
                    rules.initial(name, t)
                    if not path
                    else rules.zero(t, rules.primal(name, path))
                )
                start = self.if_bound(name, start, stmt)
                rules.emit(syntax.assign(want.variable, start))
            elif have.lazy is not None and want.lazy is None:
                rules.materialise(name, path, t, have)
        rules.reasons = ()
        code, rules.code = rules.code, []
        return code

    def type_at(self, name: str, path: Path) -> Type:
        """The type of a part of what a name holds."""
        try:
            return part_of(self.rules.type_of_name(name), path)
        except KeyError:
            base = self.rules.base(name)
            raise self.rules.refuse(
                f"`{base}` is a container on one way here, and none on another",
                "a name of its own for each",
            ) from None

    def if_bound(self, name: str, zero: gast.expr, stmt: gast.stmt) -> gast.expr:
        """A zero that looks into its value, which may be None: not bound so far."""
        if name not in syntax.names_read(zero):
            return zero
        unit = self.rules.unit
        if name in set(unit.parameters) | bound_before(unit.node.body, stmt):
            return zero
        self.rules.asked_early.add(name)
        whole = isinstance(zero, gast.Call) and zero.args
        if whole and syntax.is_name(zero.args[0], name):
            return zero
        return syntax.expression(
            "z if v is not None else None", z=zero, v=syntax.name(name)
        )

    # -- loops ------------------------------------------------------------------------

    def loop(self, stmt: Any) -> Loop:
        start = self.parts_only(stmt)
        inside = syntax.all_names(stmt)
        start += self.own_buffers(stmt, inside)
        after = self.places.snapshot()
        head = {
            place: replace(state, lazy=None) if place[0] in inside else state
            for place, state in after.items()
        }
        for _ in range(12):
            self.places.restore(head)
            body = self.inside(stmt.body)
            self.loop_target(stmt)
            out = self.places.snapshot()
            merged = self.merge(head, out)
            for place in merged:
                if place not in head and place[0] in inside:
                    merged[place] = replace(merged[place], lazy=None, owned=True)
                killed = place in head and place not in out
                kind = self.rules.type_of_name(place[0])
                if killed and isinstance(kind, (Array, Unknown)):
                    merged[place] = replace(merged[place], lazy=UNKNOWN, owned=False)
                    continue
                if place in head:
                    owned = head[place].owned and merged[place].owned
                    lazy = head[place].lazy
                    merged[place] = replace(merged[place], owned=owned, lazy=lazy)
            if merged == head:
                break
            head = merged
        node = Loop(stmt, body)
        node.tail = self.fit(stmt, head, ANEW)
        node.full_at_head = frozenset(
            state.variable
            for (name, path), state in after.items()
            if state.lazy is None
            and (name, path) in head
            and head[name, path].lazy == UNKNOWN
            and not path
            and shape_of(self.rules.type_of_name(name)) is not None
        )
        self.places.restore(after)
        node.before = [*start, *self.fit(stmt, head)]
        self.places.restore(head)
        return node

    def own_buffers(self, stmt: gast.stmt, inside: set[str]) -> list[gast.stmt]:
        """Copy, once before the loop, what the loop is going to add to in place."""
        rules = self.rules
        rules.stmt, rules.code, rules.reasons = stmt, [], ()
        for name, path in list(self.places.present):
            if (
                not path
                and name in inside
                and name not in rules.views
                and rules.kind(name) in ("buffer", "list", "dict")
            ):
                rules.ensure_buffer(name)
        code, rules.code = rules.code, []
        return code

    def loop_target(self, stmt: Any) -> None:
        """The loop's own names are bound by its head."""
        if isinstance(stmt, gast.For):
            for name in syntax.names_written(stmt.target):
                self.places.kill(name)


def surely_bound(nodes: list, name: str) -> bool:
    """Whether the nodes bind the name on every path, or do not bind it at all."""
    return any(name in surely(node.stmt) for node in nodes) or not any(
        name in syntax.names_written(node.stmt) for node in nodes
    )


def has_code(node: Any) -> bool:
    """Whether any backward code hangs below a branch or loop."""
    if isinstance(node, Group):
        return bool(node.code)
    if isinstance(node, Branch):
        tails = bool(node.then_tail or node.else_tail)
        return tails or any(map(has_code, [*node.then, *node.orelse]))
    if isinstance(node, Loop):
        return bool(node.tail) or any(map(has_code, node.body))
    return any(map(has_code, node.body))
