"""Which adjoints of values of unknown shape need not be summed to that shape.

    t = a * b                          dt = dy * c
    y = t + c * t2                     da = unbroadcast(dt * b, a)

An operand may have been broadcast, so that its adjoint is a sum. But what goes on
through elementwise operations alone may be summed at their end: the factors on the way
are the same along the axes that are summed, and the sum of a sum is the sum.

- A value that is read once, by an elementwise operation, and is a sum or difference
  (`late`): its adjoint may keep the larger shape. Where two contributions are added
  they have to be of one shape, and a product with a slope, or the trips of a loop,
  would be work on the larger shape: there the sum is done at once.
- What a loop adds to (`running`): its adjoint is handed on as it is, trip by trip.
- Where the operand certainly has the shape of the result there is no sum (`Shapes`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.control import Way, control
from srcjax.analysis.types import (
    UNKNOWN,
    NumberOrArray,
    Shape,
    same_shape,
    shape_of,
)
from srcjax.transforms.reverse.shapes import Shapes

#: Operations that hand the adjoint on as it is, or with another sign.
_FREE = frozenset([np.add, np.subtract, np.negative, np.positive])
_PRODUCTS = frozenset([np.multiply, np.true_divide])

Counts = dict[str, int]
Ones = frozenset[str]


@dataclass
class _State:
    """What the rest of the function, from some point on, does with values."""

    #: How often each value gets a contribution: at most once, or more (2).
    counts: Counts = field(default_factory=dict)
    #: Names of values that are single numbers.
    ones: Ones = frozenset()
    #: Whether an error is raised, so that there is no rest.
    raises: bool = False

    def either(self, other: _State) -> _State:
        """One of two ways goes on from here."""
        if self.raises or other.raises:
            return other if self.raises else self
        names = self.counts.keys() | other.counts.keys()
        counts = {n: max(self.counts.get(n, 0), other.counts.get(n, 0)) for n in names}
        return _State(counts, self.ones & other.ones)


class Broadcast:
    """Looks at the statements of a unit from its end, as the backward sweep does."""

    def __init__(self, rules: Any) -> None:
        self.rules = rules
        *self.body, last = rules.unit.node.body
        #: Statements, and the names that stand for single numbers after them.
        self.ones: set[tuple[int, str]] = set()
        #: Statements that add to a value which a loop carries.
        self.running: set[int] = set()
        #: Names whose adjoint may have a larger shape than the value.
        self.late: set[str] = set()
        self.often: set[str] = set()
        self.carried: set[str] = set()
        self.breaks: list[_State] = []
        self.shapes = Shapes(rules)
        names = syntax.names_read(last)
        ones = frozenset(names if rules.of_number else ())
        start = self.block(self.body, _State(dict.fromkeys(names, 1), ones))
        self.shapes.find(start.ones, self.ones)
        self.find_late()

    # -- what is read how often, and what is a number ----------------------------------

    def block(self, stmts: list[Any], state: _State) -> _State:
        for stmt in reversed(stmts):
            run = control(stmt)
            state = (
                self.plain(stmt, state)
                if run is None
                else self.compound(stmt, run, state)
            )
        return state

    def compound(self, stmt: Any, run: Any, state: _State) -> _State:
        if run.way is Way.LOOP and not run.last:
            return self.loop(stmt, run, state)
        if run.way is Way.CHOICE:
            first, *others = [self.block(b, state) for b in run.blocks]
            for other in others:
                first = first.either(other)
            return first
        caught = any(isinstance(s, gast.Raise) for s in syntax.walk(stmt))
        if run.way is Way.ONCE and not caught:
            for block in reversed(run.blocks):
                state = self.block(block, state)
            return state
        return self.anything(stmt, state)

    def loop(self, stmt: Any, run: Any, after: _State) -> _State:
        """The state at the head of a loop: once more, or on to what follows."""
        self.breaks.append(after)
        bound = syntax.names_written(stmt)
        heads = syntax.names_read(run.head) if isinstance(stmt, gast.For) else set()
        ones, state = set(self.ones), after
        while True:
            self.ones = set(ones)
            start = self.block(run.blocks[0], state)
            start = self.forget(start, syntax.names_written(run.target), stmt)
            again = after.either(start)
            again = _State(again.counts, again.ones & state.ones, again.raises)
            self.often |= {n for n, k in again.counts.items() if k > 1}
            if again == state:
                break
            state = again
        self.breaks.pop()
        self.carried |= {n for n in bound if state.counts.get(n)}
        return self.reads(state, dict.fromkeys(heads, 2))

    def forget(self, state: _State, names: set[str], stmt: gast.stmt) -> _State:
        """Names are bound here: before, they stand for other values."""
        self.ones |= {(id(stmt), name) for name in names & state.ones}
        counts = {n: k for n, k in state.counts.items() if n not in names}
        return _State(counts, state.ones - names, state.raises)

    def reads(self, state: _State, more: Counts) -> _State:
        """Values are read here, too."""
        if state.raises:
            return state
        counts = dict(state.counts)
        for name, count in more.items():
            counts[name] = min(2, counts.get(name, 0) + count)
            if counts[name] > 1:
                self.often.add(name)
        return _State(counts, state.ones)

    def anything(self, stmt: Any, state: _State) -> _State:
        """A statement that is not looked into."""
        names = syntax.all_names(stmt)
        if control(stmt) is None:
            state = self.forget(state, syntax.names_written(stmt), stmt)
        ones = state.ones - syntax.names_written(stmt)
        state = _State(state.counts, ones, state.raises)
        return self.reads(state, dict.fromkeys(names, 2))

    def plain(self, stmt: Any, state: _State) -> _State:
        if isinstance(stmt, gast.Break):
            return self.breaks[-1] if self.breaks else _State()
        if isinstance(stmt, gast.Raise):
            return _State(raises=True)
        if isinstance(stmt, (gast.Return, gast.Continue)):
            return self.anything(stmt, _State(state.counts))
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        if not isinstance(target, gast.Name):
            return self.anything(stmt, state)
        one = target.id in state.ones
        state = self.forget(state, {target.id}, stmt)
        found = self.shapes.operation(stmt)
        if found is None:
            carries = self.rules.hides_active(stmt.value)
            weight = 2 if carries or self.defines(stmt.value) else 0
            names = syntax.all_names(stmt.value)
            if isinstance(stmt.value, gast.Name) and one:
                state = _State(state.counts, state.ones | names, state.raises)
            return self.reads(state, dict.fromkeys(names, weight))
        operands = [a.id for a in found[1] if isinstance(a, gast.Name)]
        if one:
            state = _State(state.counts, state.ones | set(operands), state.raises)
        return self.reads(state, {n: operands.count(n) for n in operands})

    def defines(self, value: gast.expr) -> bool:
        """Whether a function is made, that may read names later."""
        return any(isinstance(n, gast.Lambda) for n in syntax.walk(value))

    # -- whose adjoint may be summed later ---------------------------------------------

    def find_late(self) -> None:
        """Fill `late` and `running`."""
        for stmt in syntax.all_statements(self.body):
            found = self.shapes.operation(stmt)
            if found is None or not self.shapes.is_plain(stmt):
                continue
            result = stmt.targets[0].id
            for name in {a.id for a in found[1] if isinstance(a, gast.Name)}:
                if name in self.often or not self.is_open(name):
                    continue
                made = self.shapes.made.get(name, [None])
                carried = name in self.carried
                in_one_loop = len(self.shapes.homes[name]) == 1 and not carried
                if carried and name == result and self.is_free(stmt):
                    self.running.add(id(stmt))
                # The larger shape is what a number or array has but for no trips.
                spread = isinstance(self.rules.type_of_name(name), NumberOrArray)
                if (in_one_loop or spread) and name != result:
                    started = [s for s in made if not (spread and is_constant(s))]
                    if all(map(self.hands_on, started)):
                        self.late.add(name)

    def hands_on(self, stmt: Any) -> bool:
        """Whether the adjoint of what the statement gives may have a larger shape."""
        if self.is_free(stmt) or self.is_product(stmt):
            return True
        return self.shapes.is_matrix_product(stmt)

    def is_free(self, stmt: Any) -> bool:
        """Whether the statement is an operation that hands on an adjoint as it is."""
        found = self.shapes.operation(stmt)
        return found is not None and bool(_FREE & set(found[0].functions))

    def is_product(self, stmt: Any) -> bool:
        """Whether the statement is a product or quotient of two that are no numbers."""
        found = self.shapes.operation(stmt)
        return (
            found is not None
            and bool(_PRODUCTS & set(found[0].functions))
            and not any(self.shapes.is_number(a, self.shapes.singles) for a in found[1])
        )

    def is_open(self, name: str) -> bool:
        """Whether no statement knows the shape of a value that is not written to.

        Where one does it takes the adjoint for one of that shape: the larger one, of
        what is a number or an array.
        """
        if not self.rules.is_open(name) or self.rules.kind(name) != "value":
            return False
        t = self.rules.type_of_name(name)
        larger = t.shape if isinstance(t, NumberOrArray) else None
        return not any(
            self.knows(stmt, name, larger)
            for stmt in self.shapes.made.get(name, ())
            if not is_constant(stmt)
        )

    def knows(self, stmt: gast.stmt, name: str, but: Shape | None) -> bool:
        """Whether a value has a known shape whenever it runs, and not always that one.

        In a helper it may be a number in one call, and an array in another one.
        """
        variants = self.rules.facts.of(stmt)
        around = [[v.after for v in variants]]
        if name in syntax.names_read(stmt):
            around.append([v.before for v in variants])
        shapes = [[shape_of(types.get(name, UNKNOWN)) for types in e] for e in around]
        return any(
            None not in each and not all(same_shape(shape, but) for shape in each)
            for each in shapes
            if each
        )


def is_constant(stmt: Any) -> bool:
    """Whether the statement binds a name to a number that is written out."""
    return isinstance(getattr(stmt, "value", None), gast.Constant)
