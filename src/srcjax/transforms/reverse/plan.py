"""Places in a program, what backward code reads there, and what is to be saved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.positions import Position


@dataclass
class Read:
    """Backward code at `where` reads the value before or after its statement."""

    where: Position
    after: bool
    #: The definition that is computed again there, where it is that which reads.
    again: gast.stmt | None = None

    def before(self, at: Position) -> bool:
        """Whether a statement at `at` can run after what is read, in one iteration."""
        if self.where.excludes(at):
            return False
        if self.where.order == at.order:
            return not self.after
        return self.where.order < at.order


@dataclass
class Plan:
    """What to save and restore, by statement and block."""

    #: statement id -> names whose old value is saved before it
    overwritten: dict[int, list[str]] = field(default_factory=dict)
    #: statement id of in-place writes whose old content is saved
    contents: set[int] = field(default_factory=set)
    #: block id -> names saved at its end
    local: dict[int, list[str]] = field(default_factory=dict)
    #: block id -> definitions computed again at the start of its backward code
    again: dict[int, list[gast.stmt]] = field(default_factory=dict)
    #: names computed again at the head of the backward code that reads them first
    late: dict[str, gast.stmt] = field(default_factory=dict)

    def saves(self) -> int:
        """How many values are saved."""
        kept = [*self.overwritten.values(), *self.local.values()]
        return sum(map(len, kept))


class Planning:
    """What the parts of `Planner` share."""

    rules: Any
    unit: Any
    #: The statements of the unit with their backward code.
    nodes: list[Any]
    plan: Plan
    #: Places of statements, by identity.
    where: dict[int, Position]
    #: Statements by the order of their places.
    stmts: dict[int, gast.stmt]
    #: What stands in each loop, by the identity of its statement.
    places: dict[int, set[int]]
    #: Definitions of each name.
    defs: dict[str, list[tuple[Position, gast.stmt]]]
    #: Statements that write in place.
    writes: list[tuple[Position, gast.stmt]]
    #: What in a statement writes without being a store, by the statement's identity.
    hidden: dict[int, list[Any]]
    reads: dict[str, list[Read]]
    #: Loop nodes by the identity of their statement.
    loops: dict[int, Any]
    #: Nodes of each block.
    blocks: dict[int, list[Any]]
    #: The places of the nodes of each block, in their order.
    orders: dict[int, list[Position]]
    #: What statements read and bind, with the statements, by identity.
    known_names: dict[int, tuple[Any, frozenset[str], frozenset[str]]]
    #: Each `try`, by its identity.
    attempts: dict[int, Any]
    #: Loops with names whose value goes from one iteration to the next.
    carried: set[tuple[int, str]]
    #: The variables that keep conditions and what loops go over, by their statements.
    held: dict[int, str]
    #: The variables that count the trips of loops.
    trips: dict[int, str]

    def reads_of(self, stmt: Any) -> frozenset[str]:
        """The names that a statement of the forward sweep reads."""
        return self.names_of(stmt)[1]

    def bound_by(self, stmt: Any) -> frozenset[str]:
        """The names that a statement of the forward sweep binds."""
        return self.names_of(stmt)[2]

    def names_of(self, stmt: Any) -> tuple[Any, frozenset[str], frozenset[str]]:
        """The statement, which stays as it is, and what it reads and binds."""
        known = self.known_names.get(id(stmt))
        if known is None:
            reads, binds = syntax.names_of_both_kinds(stmt)
            known = stmt, frozenset(reads), frozenset(binds)
            self.known_names[id(stmt)] = known
        return known

    def overwriting(self, name: str) -> Iterator[tuple[Position, Any]]:
        """Where the name loses a value, and what binds it there.

        A loop gives its variable values of its own, and loses the one before it: once.
        So does a `try`, whose body may be left after it has bound the name.
        """
        for where, stmt in self.defs[name]:
            if isinstance(stmt, gast.For):
                yield self.where[id(stmt)], stmt
            elif stmt is not self.unit.node:  # where parameters have their values
                yield where, stmt
            for key in self.attempts_around(where):
                yield self.where[key], self.attempts[key]

    def attempts_around(self, where: Position) -> list[int]:
        """Each `try` in whose body the place is."""
        return [
            k for k, side in where.sides.items() if side == 0 and k in self.attempts
        ]

    def plan_name(self, name: str) -> bool:
        """Plan saves for one name; True if something new was planned."""
        raise NotImplementedError

    def old_is_read(self, name: str, at: Position) -> bool:
        """Whether the value overwritten at `at` is read by later backward code."""
        raise NotImplementedError
