"""How control goes through the kinds of statements with blocks: the one list of them.

A pass asks which way a statement runs, not of which kind it is. A new kind of statement
that runs in one of these ways is one row of `_KINDS`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax


class Way(enum.Enum):
    """How the blocks of a statement run."""

    #: Exactly one of them (an empty one where there is no `else`).
    CHOICE = enum.auto()
    #: The first one, any number of times.
    LOOP = enum.auto()
    #: One after the other.
    ONCE = enum.auto()
    #: The first one, which may be left anywhere for one of the others.
    ATTEMPT = enum.auto()


@dataclass(slots=True)
class Control:
    """What a statement with blocks runs."""

    way: Way
    #: What is evaluated first: a test, what is iterated over, context managers.
    head: list[Any]
    blocks: list[list[Any]]
    #: What each trip of a loop binds, from what `head` gives.
    target: Any = None
    #: Whether `head` is evaluated again before each trip.
    repeated: bool = False
    #: The `else` of a loop, the `finally` of an attempt.
    last: list[Any] = field(default_factory=list)


def _if(stmt: gast.If) -> Control:
    return Control(Way.CHOICE, [stmt.test], [stmt.body, stmt.orelse])


def _match(stmt: gast.Match) -> Control:
    parts = [p for case in stmt.cases for p in (case.pattern, case.guard) if p]
    blocks = [case.body for case in stmt.cases]
    rest: list[list[Any]] = [] if _takes_all(stmt.cases[-1]) else [[]]
    return Control(Way.CHOICE, [stmt.subject, *parts], [*blocks, *rest])


def _takes_all(case: Any) -> bool:
    """Whether it is `case _` or `case name`, without a guard."""
    pattern = case.pattern
    every = isinstance(pattern, gast.MatchAs) and pattern.pattern is None
    return every and case.guard is None


def _for(stmt: gast.For) -> Control:
    return Control(
        Way.LOOP, [stmt.iter], [stmt.body], target=stmt.target, last=stmt.orelse
    )


def _while(stmt: gast.While) -> Control:
    return Control(Way.LOOP, [stmt.test], [stmt.body], repeated=True, last=stmt.orelse)


def _with(stmt: gast.With) -> Control:
    return Control(Way.ONCE, stmt.items, [stmt.body])


def _try(stmt: gast.Try) -> Control:
    if not stmt.handlers:
        blocks = [b for b in (stmt.body, stmt.orelse, stmt.finalbody) if b]
        return Control(Way.ONCE, [], blocks)
    body = [*stmt.body, *stmt.orelse] if stmt.orelse else stmt.body
    blocks = [body, *(handler.body for handler in stmt.handlers)]
    return Control(Way.ATTEMPT, syntax.head(stmt), blocks, last=stmt.finalbody)


_KINDS: dict[type, Callable[[Any], Control]] = {
    gast.If: _if,
    gast.Match: _match,
    gast.For: _for,
    gast.While: _while,
    gast.With: _with,
    gast.Try: _try,
}

#: Statements after which the next one does not run.
EXITS = (gast.Return, gast.Break, gast.Continue, gast.Raise)


def control(stmt: Any) -> Control | None:
    """What a statement with blocks runs; None for one without, and for definitions."""
    kind = _KINDS.get(type(stmt))
    return None if kind is None else kind(stmt)


def runs(stmt: Any, *ways: Way) -> bool:
    """Whether the statement has blocks that run in one of the ways."""
    run = control(stmt)
    return run is not None and run.way in ways


def is_compound(stmt: Any) -> bool:
    """Whether the statement has blocks that run where it stands."""
    return type(stmt) in _KINDS


def leaves(block: list[Any], exits: tuple[type, ...] = EXITS) -> bool:
    """Whether control never reaches the end of the block."""
    return any(_leaves(stmt, exits) for stmt in block)


def _leaves(stmt: Any, exits: tuple[type, ...]) -> bool:
    if isinstance(stmt, exits):
        return True
    run = control(stmt)
    if run is None or run.way is Way.LOOP:
        return False
    left = [leaves(block, exits) for block in run.blocks]
    every = any(left) if run.way is Way.ONCE else all(left)
    return every or leaves(run.last, exits)


def own_breaks(stmts: list[Any]) -> list[gast.stmt]:
    """The `break` statements that leave the loop whose body the statements are."""
    found: list[gast.stmt] = []
    for stmt in stmts:
        if isinstance(stmt, gast.Break):
            found.append(stmt)
        elif not runs(stmt, Way.LOOP):
            for block in syntax.inner_blocks(stmt):
                found += own_breaks(block)
    return found


def has_break(loop: Any) -> bool:
    """Whether a `break` leaves the loop."""
    return bool(own_breaks(loop.body))
