"""Loops that examples leave one by one: they run on those that are still in them.

while x > 1:                    lanes = np.arange(len(x))
    x = x / 2                   while True:
                                    lanes = lanes[x[lanes] > 1]
                                    if not lanes.size:
                                        break
                                    x[lanes] = x[lanes] / 2
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed
from srcjax.analysis.flow.control import own_breaks
from srcjax.analysis.types import (
    Array,
    Scalar,
    shape_of,
)
from srcjax.transforms.batch.regions import BOOL, Regions, copy_of_array
from srcjax.transforms.call_effects import called
from srcjax.transforms.reasons import Reason, because

#: What explained text says of loops that some examples leave before others.
LANES = Reason(
    slot="batch", said="one loop for all examples, until the last one is done"
)
IN_LOOP = Reason(slot="batch", said="the numbers of the examples in the loop")
STAY = Reason(slot="batch", said="the examples that stay in the loop")
DONE = Reason(slot="batch", said="all examples are done")


class LaneLoops(Regions):
    """Writes the loops of a batch."""

    def while_loop(self, stmt: gast.While) -> list[gast.stmt]:
        inside = [s for s in stmt.body if isinstance(s, gast.If) and own_breaks([s])]
        mapped = any(self.condition(s.test) is not None for s in inner_tests(inside))
        if not mapped:
            restored = restored_while(stmt)
            test = restored.test
            new = gast.While(self.shapes(test), self.block(restored.body), [])
            return [new]
        return self.lane_loop(stmt, None)

    def for_loop(self, stmt: gast.For) -> list[gast.stmt]:
        over = stmt.iter
        inside = [s for s in stmt.body if isinstance(s, gast.If) and own_breaks([s])]
        leaves = any(self.condition(s.test) is not None for s in inner_tests(inside))
        counted = isinstance(over, gast.Call) and called(over) == "range"
        per_example = counted and any(map(self.reads_mapped, over.args))
        if not counted and self.reads_mapped(over):
            raise self.refuse("a loop over this mapped value", "an index loop")
        if leaves and self.felt.left_over(stmt):
            raise self.felt_by_others(over)
        if leaves or per_example:
            return self.lane_loop(stmt, over if per_example else None)
        new = gast.For(syntax.clone(stmt.target), self.shapes(over), [], [], None)
        new.body = [*self.own_counter(new), *self.block(stmt.body)] or [gast.Pass()]
        return [new]

    def own_counter(self, new: gast.For) -> list[gast.stmt]:
        """A counter that is mapped after the loop: one for each example."""
        if not isinstance(new.target, gast.Name) or not self.mapped(new.target):
            return []
        name = new.target.id
        step = self.unit.names.fresh(name)
        new.target = syntax.name(step, store=True)
        full = syntax.expression("np.full(n, i)", n=self.count(), i=syntax.name(step))
        return [syntax.assign(name, full)]

    def lane_loop(self, stmt: Any, per_example: Any) -> list[gast.stmt]:
        """A loop on the examples that are still in it."""
        lanes = self.unit.names.fresh("lanes")
        self.numbered.add(lanes)
        self.types[lanes] = Array(dtype=np.dtype(int), shape=(None,))
        where = syntax.name(lanes)
        carried = self.carried(stmt)
        self.check_merged(stmt, carried)
        unbound = self.maybe_unbound(stmt)
        every = syntax.expression("np.arange(n)", n=self.count())
        out: list[gast.stmt] = [syntax.assign(lanes, every)]
        because(out[-1], IN_LOOP)
        for n in carried:
            if n in unbound and n not in self.declared:
                out.append(syntax.assign(n, syntax.const(None)))
                self.declared.add(n)
            else:
                out += self.own(n)
        go_on = self.flag()
        head: list[gast.stmt] = []
        body = syntax_with_stops(stmt.body, go_on.id)
        stops = any(syntax.is_name(n, go_on.id) for n in syntax.walk(body))
        if isinstance(stmt, gast.For):
            new: Any = gast.For(
                syntax.clone(stmt.target), self.shapes(stmt.iter), [], [], None
            )
            counter = self.own_counter(new)
            if per_example is not None:
                per_example = syntax.clone(per_example)
                out += self.stop_apart(stmt, per_example)
                unread = not syntax.count_reads(self.unit.node, "_")
                if syntax.is_name(new.target, "_") and unread:  # it is read now
                    new.target.id = self.unit.names.fresh("i")
                new.iter, test = self.longest(per_example, new.target, where)
                head = self.narrowed(lanes, test)
            if counter:
                renamed = stmt.target.id
                body = [syntax.assign(renamed, syntax.as_load(new.target)), *body]
            made = self.loop_body(body, where, carried, go_on.id, stops)
            new.body = [*head, *made]
        else:
            new = gast.While(syntax.const(True), [], [])
            first, test, rest = split_test(stmt)
            if test is not None:
                test = self.as_mask(test)
                new.body = self.tested(
                    first, test, rest, where, carried, go_on.id, lanes
                )
            else:
                made = self.loop_body(body, where, carried, go_on.id, stops)
                new.body = made
        because(new, LANES)
        out.append(new)
        for s in syntax.walk(out):
            if isinstance(s, gast.stmt):
                s.backward = True
        return out

    def loop_body(
        self,
        body: list[gast.stmt],
        where: gast.Name,
        carried: list[str],
        go_on: str,
        stops: bool,
        shared: tuple[str, ...] = (),
    ) -> list[gast.stmt]:
        """One iteration on the examples in the loop; those that leave are let go."""
        kept = frozenset([go_on, *shared])
        made = self.on_lanes(body, where, "lanes", carried, set(carried), kept)
        if not stops:
            return made
        start = syntax.assign(
            go_on, syntax.expression("np.ones(len(l), dtype=bool)", l=where)
        )
        ending = self.narrowed(where.id, syntax.name(go_on))
        return [start, *made, *ending]

    def as_mask(self, test: gast.expr) -> gast.expr:
        """A test that is a number as one that is true or false: no place in lanes."""
        t = self.example(test)
        shape = shape_of(t)
        if shape:
            one = f"v[{', '.join('0' for _ in shape)}]"
            known = all(d == 1 for d in shape)
            test = syntax.expression(one if known else "np.reshape(v, ())", v=test)
        if isinstance(t, (Array, Scalar)) and (t.dtype is None or t.dtype.kind != "b"):
            return syntax.expression("c != 0", c=test)
        return test

    def tested(
        self,
        first: list[gast.stmt],
        test: gast.expr,
        rest: list[gast.stmt],
        where: gast.Name,
        carried: list[str],
        go_on: str,
        lanes: str,
    ) -> list[gast.stmt]:
        """`while test: rest`, the test made by the statements `first`."""
        used = [n for n in carried if n in self.assigned(first)]
        shared = tuple(
            n
            for n in sorted(syntax.names_written(first) & exposed(rest))
            if self.is_lane_name(n) and n not in carried
        )
        made = self.on_lanes(
            [*first, syntax.assign(go_on, test)],
            where,
            "lanes",
            used,
            set(used),
            frozenset([go_on, *shared]),
        )
        narrowed = self.narrowed(lanes, syntax.name(go_on))
        for n in shared:
            part = syntax.expression("x[g]", x=syntax.name(n), g=syntax.name(go_on))
            narrowed.append(syntax.assign(n, part))
        head = [*made, *narrowed]
        again = self.flag()
        rest = syntax_with_stops(rest, again.id)
        stops = any(syntax.is_name(n, again.id) for n in syntax.walk(rest))
        written = [n for n in carried if n in self.assigned(rest)]
        made = self.loop_body(rest, where, written, again.id, stops, shared)
        return [*head, *made]

    def flag(self) -> gast.Name:
        """A name for which of the examples stay in a loop."""
        name = self.held("go_on", Scalar(True, frozenset(), BOOL, True))
        self.dtypes[name.id] = BOOL
        self.flags.add(name.id)
        return name

    def narrowed(self, lanes: str, test: gast.expr) -> list[gast.stmt]:
        """`lanes = lanes[test]`, and out of the loop when none is left."""
        new = gast.Subscript(syntax.name(lanes), test, syntax.LOAD)
        empty = syntax.expression("not l.size", l=syntax.name(lanes))
        made = [syntax.assign(lanes, new), gast.If(empty, [gast.Break()], [])]
        because(made[0], STAY)
        because(made[1], DONE)
        return made

    def stop_apart(self, stmt: gast.For, over: gast.Call) -> list[gast.stmt]:
        """Keep where a range ends, which the loop changes under its name."""
        place = 0 if len(over.args) == 1 else 1
        stop = over.args[place]
        if not syntax.names_read(stop) & syntax.names_written(stmt):
            return []
        t = self.example(stop)
        over.args[place] = held = self.held("stop", t)
        copy = self.by_parts(t, stop, copy_of_array) or syntax.call("copied", stop)
        return [syntax.assign(held.id, copy)]

    def longest(self, over: gast.Call, target: Any, where: gast.Name) -> tuple:
        """The range of the example with most iterations, and who is still in it."""
        args = over.args
        start, stop = (None, args[0]) if len(args) == 1 else args[:2]
        step = args[2] if len(args) == 3 else None
        others = [a for a in (start, step) if a is not None]
        if any(map(self.reads_mapped, others)) or not isinstance(target, gast.Name):
            raise self.refuse(
                "a range whose start or step differs between examples",
                "a range of a mapped length",
            )
        down = isinstance(step, gast.UnaryOp)
        if step is not None and not down and not isinstance(step, gast.Constant):
            raise self.refuse("a range with an unknown step", "a literal step")
        extreme = "np.min(s)" if down else "np.max(s, initial=0)"
        if down:
            extreme = "np.min(s, initial=0)"
        if start is not None and not down:
            extreme = "np.max(s)"
        last = syntax.expression(f"int({extreme})", s=syntax.clone(stop))
        new_args = [last] if start is None else [start, last]
        if step is not None:
            new_args.append(step)
        relation = "i > s[l]" if down else "i < s[l]"
        test = syntax.expression(
            relation, i=syntax.as_load(target), s=syntax.clone(stop), l=where
        )
        return syntax.call("range", *map(self.shapes, new_args)), test


def inner_tests(stmts: list[Any]) -> list[Any]:
    """The branches inside branches that lead to a break."""
    found: list[Any] = []
    for s in stmts:
        found.append(s)
        nested = [n for n in [*s.body, *s.orelse] if isinstance(n, gast.If)]
        found += inner_tests([n for n in nested if own_breaks([n])])
    return found


def split_test(stmt: gast.While) -> tuple[list[gast.stmt], gast.expr | None, list]:
    """`while True: first; if test: rest; else: break` in its three parts."""
    last = stmt.body[-1] if stmt.body else None
    if not isinstance(last, gast.If):
        return [], None, []
    alone = len(last.orelse) == 1 and isinstance(last.orelse[0], gast.Break)
    early = any(isinstance(s, gast.If) and own_breaks([s]) for s in stmt.body[:-1])
    if not alone or early:
        return [], None, []
    return list(stmt.body[:-1]), last.test, list(last.body)


def restored_while(stmt: gast.While) -> gast.While:
    """`while True: c = test; if c: ...; else: break` as `while test: ...`."""
    first, test, rest = split_test(stmt)
    if test is None or len(first) > 1:
        return stmt
    if not first:
        return gast.While(test, rest, [])
    only = first[0]
    if (
        isinstance(only, gast.Assign)
        and isinstance(test, gast.Name)
        and syntax.is_name(only.targets[0], test.id)
        and not syntax.count_reads(rest, test.id)
    ):
        return gast.While(only.value, rest, [])
    return stmt


def syntax_with_stops(stmts: list[gast.stmt], flag: str) -> list[gast.stmt]:
    """The statements with `break` as `flag = False`."""

    def visit(block: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for s in block:
            if isinstance(s, gast.Break):
                stop = syntax.assign(flag, syntax.const(False))
                stop.user_line = getattr(s, "user_line", None)
                out.append(stop)
            elif own_breaks([s]):
                new = syntax.rebuilt(s, visit)
                new.origin = getattr(s, "origin", s)
                out.append(new)
            else:
                out.append(s)
        return out

    return visit(stmts)
