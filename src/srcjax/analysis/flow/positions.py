"""Where statements stand, and which of them may run between which."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from srcjax import syntax
from srcjax.analysis.flow.control import Way, control, runs


@dataclass(frozen=True)
class Position:
    """The place of a statement: its number, and what is around it."""

    order: int
    #: The loops, by the identity of their statements, from the outermost.
    loops: tuple[int, ...] = ()
    #: The lists of statements, from the outermost.
    blocks: tuple[int, ...] = ()
    #: The side of each branch that it is on.
    sides: dict[int, int] = field(default_factory=dict)
    #: The branches that no loop repeats.
    once: frozenset[int] = frozenset()

    def excludes(self, other: Position) -> bool:
        """Whether the two are on different sides of one branch."""
        return any(
            self.sides[key] != other.sides[key]
            for key in self.sides.keys() & other.sides.keys()
        )

    def never_with(self, other: Position) -> bool:
        """Whether one does not run if the other does, in any iteration."""
        return any(
            self.sides[key] != other.sides[key]
            for key in self.once & other.sides.keys()
        )

    def may_follow(self, other: Position) -> bool:
        """Whether it may run after the other one has."""
        return other.order < self.order or bool(set(self.loops) & set(other.loops))


def between(start: Position, other: Position, use: Position) -> bool:
    """Whether `other` may run after `start`, and before the use of what it has made."""
    if any(k in use.loops and k not in start.loops for k in other.loops):
        return True
    if start.order < other.order < use.order:
        return True
    same = start.blocks == use.blocks[: len(start.blocks)]
    if start.order < use.order and same:
        return False  # `start` has run since in any case
    return bool(set(other.loops) & set(start.loops))


class Positions:
    """The positions of the statements of a body, at any depth, in order of the text."""

    def __init__(self, body: list[Any]) -> None:
        self.stmts: list[Any] = []
        self.of: dict[int, Position] = {}
        #: The list of statements that each one is in.
        self.block_of: dict[int, list[Any]] = {}
        self._add(body, Position(0))

    def _add(self, block: list[Any], around: Position) -> None:
        blocks = (*around.blocks, id(block))
        for stmt in block:
            here = Position(
                len(self.stmts), around.loops, blocks, around.sides, around.once
            )
            self.of[id(stmt)] = here
            self.block_of[id(stmt)] = block
            self.stmts.append(stmt)
            run = control(stmt)
            for side, inner in enumerate(syntax.inner_blocks(stmt)):
                self._add(inner, _inside(here, stmt, run.way if run else None, side))

    def head(self, stmt: Any) -> Position:
        """The position of what a loop evaluates and binds at each trip."""
        here = self.of[id(stmt)]
        inside = (*here.loops, id(stmt)) if runs(stmt, Way.LOOP) else here.loops
        return replace(here, loops=inside)

    def __getitem__(self, stmt: Any) -> Position:
        return self.of[id(stmt)]

    def __contains__(self, stmt: Any) -> bool:
        return id(stmt) in self.of


def _inside(here: Position, stmt: Any, way: Way | None, side: int) -> Position:
    """What is around the statements of a block."""
    loops, sides, once = here.loops, here.sides, here.once
    if way is Way.LOOP:
        loops = (*loops, id(stmt))
    elif way is Way.CHOICE:
        sides = {**sides, id(stmt): side}
        once = once if loops else once | {id(stmt)}
    return Position(here.order, loops, here.blocks, sides, once)
