"""Loops as equations: what they carry, and what they read and give in each trip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed, surely
from srcjax.jaxprs.breaks import WhileLoop
from srcjax.jaxprs.forms import ClosedJaxpr, JaxprEqn
from srcjax.jaxprs.operations import converted, traced
from srcjax.jaxprs.traced import Trace, Traced, Unwritable, flat_traced, needed
from srcjax.jaxprs.values import (
    Appended,
    Inner,
    LastRow,
    Made,
    Pending,
    Rows,
    copied_scope,
    is_appended,
    is_structure,
    leaf_pairs,
    not_of_loops,
    popped,
    rebuilt,
    refuse_shared_writes,
    replaced,
    row_leaves,
    same,
    small,
    variable,
)

#: The same set of names has to change in a loop however often it runs.
ROUNDS = 8


@dataclass
class Trip:
    """A trip through a loop, with new values for what trips change."""

    names: list[str]
    #: The values before the loop, and those that stand for them in the trip.
    leaves: list[Traced]
    fresh: list[Traced]
    item: Any
    #: The next number of a range.
    step: Any
    eqns: list[JaxprEqn]
    #: The names after it, and the values of those that it changes.
    own: dict
    after: list[Traced]
    #: The lists that it appends to, and what.
    lists: dict[str, Any]
    appended: tuple


class Loops:
    """The loops of a function."""

    def __init__(self, run: Any) -> None:
        self.run = run
        self.trace: Trace = run.trace

    def while_loop(self, loop: WhileLoop, scope: dict) -> None:
        def trip(own: dict) -> None:
            self.run.block([*loop.before, *loop.body], own)

        inside = [*loop.before, loop.test, *loop.body]
        perhaps = syntax.names_written(inside) & self.run.read_outside(inside)
        names = self.carried(trip, scope, perhaps)
        self.run.refuse_aliases([*loop.before, *loop.body], names, scope)
        for _ in range(ROUNDS):
            leaves = self.leaves_of(names, scope)
            inner, fresh = self.with_fresh(names, scope, leaves)
            with self.trace.inside() as test_eqns:
                test = traced(self.trace, self.run.test(loop, inner))
            with self.trace.inside() as eqns:
                own = copied_scope(inner)
                trip(own)
                after, wider = self.fitted(names, own, leaves)
            if wider is None:
                break
            self.widen(names, scope, wider)
        else:
            raise not_settled()
        variables = [variable(f) for f in fresh]
        cond_jaxpr, around0 = self.trace.closed(test_eqns, variables, [test.var])
        body_jaxpr, around1 = self.trace.closed(eqns, variables, [a.var for a in after])
        outer = self.trace.emit_all(
            "while",
            [*(Traced(self.trace, v) for v in (*around0, *around1)), *leaves],
            [(f.shape, f.dtype) for f in fresh],
            body_jaxpr=ClosedJaxpr(body_jaxpr, []),
            body_nconsts=len(around1),
            cond_jaxpr=ClosedJaxpr(cond_jaxpr, []),
            cond_nconsts=len(around0),
        )
        self.take(names, scope, outer)
        start = len(self.trace.eqns)
        self.run.block(loop.before, scope)  # what the last test computed
        self.trace.spare |= set(map(id, self.trace.eqns[start:]))

    def scan(self, stmt: gast.For, items: Any, scope: dict) -> None:
        """A loop over a range, or over rows of arrays, as one equation."""
        bound = set().union(*map(surely, stmt.body)) - exposed(stmt.body)
        for name in bound:  # what it was before is not read
            scope.pop(name, None)
        stacks = {
            name: value
            for name, value in scope.items()
            if isinstance(value, Rows) and value is not items
            if len(value) == len(items)
        }
        trip = self.trip_of(stmt, items, scope, stacks)
        passed = self.passed_on(items, trip.item)
        taken = [trip.own[n] for n in stacks if trip.own[n].taken]
        if taken and trip.lists and isinstance(items, range):
            raise not_of_loops()
        rows = row_leaves(trip.appended)
        stacked = passed
        last: Any = None
        if trip.leaves or taken or any(id(r.var) not in passed for r in rows):
            outer, last = self.scan_equation(trip, items, taken, scope)
            stacked = {id(r.var): o for r, o in zip(rows, outer, strict=True)}
        for name, each in zip(trip.lists, trip.appended, strict=True):
            new = {id(r): stacked[id(r.var)] for r in row_leaves(each)}
            scope[name] = Rows(replaced(each, new))
        for name, value in stacks.items():
            scope[name] = [] if trip.own[name].taken else value
        targets = {n.id for n in syntax.walk(stmt.target) if isinstance(n, gast.Name)}
        for name, value in trip.own.items():
            if isinstance(value, Made):
                continue  # of one trip, as are the values that it sees
            if name in targets or name not in scope:
                whole = all(id(leaf.var) in passed for leaf in flat_traced(value))
                here = last is None or whole
                scope[name] = LastRow(value, passed) if here else last(value)
        if isinstance(items, range) and isinstance(stmt.target, gast.Name):
            scope[stmt.target.id] = items[-1]

    def trip_of(self, stmt: gast.For, items: Any, scope: dict, stacks: dict) -> Trip:
        """One trip through a loop, with new values for what it changes."""

        def run(own: dict, item: Any) -> None:
            self.run.store(stmt.target, item, own)
            self.run.block(stmt.body, own)

        def unstack() -> None:
            scope.update({n: popped(self.trace, rows) for n, rows in stacks.items()})

        unstack()
        targets = {n.id for n in syntax.walk(stmt.target) if isinstance(n, gast.Name)}
        lists: dict[str, Any] = {}

        def some(own: dict) -> None:
            run(own, self.some_item(items))

        perhaps = syntax.names_written(stmt.body).difference(*map(surely, stmt.body))
        perhaps &= self.run.read_outside(stmt.body)
        names = self.carried(some, scope, perhaps, lists)
        names = [n for n in names if n not in targets]
        self.run.refuse_aliases(stmt.body, names, scope)
        for _ in range(ROUNDS):
            unstack()
            leaves = self.leaves_of(names, scope)
            inner, fresh = self.with_fresh(names, scope, leaves)
            item = self.some_item(items)
            with self.trace.inside() as eqns:
                own = copied_scope(inner)  # arrays may be written in place
                own.update({n: Appended() for n in lists})
                step = item + items.step if isinstance(items, range) else None
                run(own, item)
                after, wider = self.fitted(names, own, leaves)
            put = [own[n].items() for n in lists]
            if any(len(items) != 1 for items in put):
                raise not_of_loops()
            if wider is None:
                appended = tuple(items[0] for items in put)
                return Trip(
                    names, leaves, fresh, item, step, eqns, own, after, lists, appended
                )
            self.widen(names, scope, wider)
        raise not_settled()

    def some_item(self, items: Any) -> Any:
        """What a loop gets in a trip: a number, a row, or a structure of rows."""
        if isinstance(items, range):
            return self.trace.fresh((), np.dtype(int), True)
        if isinstance(items, Rows):
            return popped(self.trace, items).row
        row = self.trace.fresh(items.shape[1:], items.dtype)
        row.shared = row.ndim > 0
        return row

    def scan_equation(
        self, trip: Trip, items: Any, taken: list, scope: dict
    ) -> tuple[list[Traced], Any]:
        """The equation: what it gives of each trip, and how the last one is read."""
        trace, by_index = self.trace, isinstance(items, range)
        rows = row_leaves(trip.appended)
        carried = [variable(f) for f in trip.fresh]
        given: list[Any] = list(trip.leaves)
        results = [variable(a) for a in trip.after]
        outs = [*results, *map(variable, rows)]
        counts = by_index and any(
            v is trip.item.var for e in needed(trip.eqns, outs) for v in e.invars
        )
        if counts:
            carried = [trip.item.var, *carried]
            given = [items.start, *given]
            results = [trip.step.var, *results]
        if not by_index:
            carried += [leaf.var for leaf in flat_traced(trip.item)]
            given += flat_traced(items.rows if isinstance(items, Rows) else items)
        for stack in taken:
            carried += [leaf.var for leaf in flat_traced(stack.row)]
            whole = list(flat_traced(stack.rows))
            given += whole if by_index else [np.flip(r, 0) for r in whole]
        jaxpr, around = trace.closed(
            trip.eqns, carried, [*results, *map(variable, rows)]
        )
        shapes = [(v.aval.shape, v.aval.dtype) for v in results]
        shapes += [((len(items), *r.shape), r.dtype) for r in rows]
        reverse = bool(taken) and by_index
        outer = trace.emit_all(
            "scan",
            [*(Traced(trace, v) for v in around), *given],
            shapes,
            jaxpr=ClosedJaxpr(jaxpr, []),
            length=len(items),
            num_carry=len(results),
            num_consts=len(around),
            reverse=reverse,
            unroll=1,
        )
        start = len(results) - len(trip.leaves)
        self.take(trip.names, scope, outer[start : len(results)])

        def last(value: Any) -> Pending:
            return Pending(trace, value, jaxpr, reverse)

        return outer[len(results) :], last

    def passed_on(self, items: Any, item: Any) -> dict[int, Traced]:
        """The arrays of which a trip gets rows, by these."""
        if isinstance(items, range):
            return {}
        whole = flat_traced(items.rows if isinstance(items, Rows) else items)
        return {
            id(row.var): rows
            for row, rows in zip(flat_traced(item), whole, strict=True)
        }

    def carried(
        self,
        trip: Callable[[dict], None],
        scope: dict,
        perhaps: set[str],
        lists: dict | None = None,
    ) -> list[str]:
        """The names of before that a trip changes, whatever their values are.

        Args:
            perhaps: names that are read after the loop, and that a trip may bind or
                not: where they are not bound before, they are zeros.
        """
        names: list[str] = []
        for _ in range(ROUNDS):
            leaves = self.leaves_of(names, scope)
            with self.trace.inside():
                own, _ = self.with_fresh(names, scope, leaves)
                before = copied_scope(own)
                trip(own)
            refuse_shared_writes(own, scope, self.run.given)
            new = []
            for name, old in before.items():
                if name in names or same(own[name], old):
                    continue
                if not is_structure(old):
                    raise Unwritable(
                        f"make_jaxpr: a loop binds `{name}`, an object, anew",
                        instead="arrays, or tuples, lists and dicts of them",
                    )
                if lists is not None and is_appended(own[name], old):
                    lists[name] = None
                else:
                    new.append(name)
            first = [n for n in own if n in perhaps and n not in scope]
            scope.update({n: self.run.zeros_of(own[n]) for n in first})
            if not new and not first:
                return names
            names += new
        raise not_settled()

    def leaves_of(self, names: list[str], scope: dict) -> list[Traced]:
        """The numbers and arrays of names."""
        return [
            traced(self.trace, leaf)
            for name in names
            for leaf, _ in leaf_pairs(scope[name], scope[name], name)
        ]

    def with_fresh(
        self, names: list[str], scope: dict, leaves: list[Traced]
    ) -> tuple[Inner, list[Traced]]:
        """The scope with new values for the numbers and arrays of names."""
        own = copied_scope(scope)
        fresh = [self.trace.fresh(v.shape, v.dtype, v.python) for v in leaves]
        rest = iter(fresh)
        for name in names:
            own[name] = rebuilt(scope[name], scope[name], rest)
            for python, new in zip(
                leaf_pairs(scope[name], scope[name], name),
                flat_traced(own[name]),
                strict=False,
            ):
                old = python[0]
                new.python = isinstance(old, (int, float, complex)) or bool(
                    isinstance(old, Traced) and old.python
                )
        return own, fresh

    def fitted(
        self, names: list[str], own: dict, leaves: list[Traced]
    ) -> tuple[list[Traced], list[np.dtype] | None]:
        """The values after a trip, of the dtypes of before; else what these must be."""
        found = self.leaves_of(names, own)
        if len(found) != len(leaves) or any(
            a.shape != b.shape for a, b in zip(found, leaves, strict=True)
        ):
            raise Unwritable(
                "make_jaxpr: an array has another shape after a trip through a loop",
                instead="arrays of one shape",
            )
        wanted = [
            np.result_type(small(a), small(b))
            for a, b in zip(found, leaves, strict=True)
        ]
        if any(w != b.dtype for w, b in zip(wanted, leaves, strict=True)):
            return found, wanted
        return [converted(a, b.dtype) for a, b in zip(found, leaves, strict=True)], None

    def widen(self, names: list[str], scope: dict, dtypes: list[np.dtype]) -> None:
        """Let the values before a loop have the dtypes that they have after a trip."""
        leaves = self.leaves_of(names, scope)
        new = iter([converted(v, d) for v, d in zip(leaves, dtypes, strict=True)])
        for name in names:
            scope[name] = rebuilt(scope[name], scope[name], new)

    def take(self, names: list[str], scope: dict, leaves: list[Traced]) -> None:
        """Give names what a loop gives."""
        rest = iter(leaves)
        for name in names:
            scope[name] = rebuilt(scope[name], scope[name], rest)


def not_settled() -> Unwritable:
    return Unwritable(
        "make_jaxpr: the types in a loop do not settle", instead="arrays of one dtype"
    )
