"""Whether a view still is what it was bound to, where it is used.

    row = rows[i]
    i += 1                # the adjoint of `row` is not `drows[i]` from here on
    row *= 2

The adjoint of a view is the same view of another adjoint, wherever the view is read or
written. So the names in it must stand for the same values there, and the containers on
the way must hold the same items.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.positions import Position, Positions, between
from srcjax.analysis.types import Buffers


class Steadiness:
    """The places of a function's statements, and what is bound and used there."""

    def __init__(
        self, body: list[gast.stmt], written: Callable[[gast.stmt], Buffers]
    ) -> None:
        self.places = Positions(body)
        self.bound: dict[str, list[Position]] = {}
        self.used: dict[str, list[Position]] = {}
        #: Statements that change a container or an array.
        self.writes: list[tuple[Position, Any, Buffers]] = []
        self.written = written
        for stmt in self.places.stmts:
            for part in syntax.head(stmt):
                self.note(part, self.places.head(stmt))

    def note(self, node: Any, place: Position) -> None:
        """Remember what a statement, or the head of one, binds, uses and writes."""
        for name in syntax.names_written(node):
            self.bound.setdefault(name, []).append(place)
        for name in syntax.all_names(node):
            self.used.setdefault(name, []).append(place)
        if isinstance(node, gast.stmt):
            memory = self.written(node)
            if memory:
                self.writes.append((place, node, memory))

    def uses(self, name: str, start: Position) -> list[Position]:
        """Where the name is used, but for the statement that it is made by."""
        return [use for use in self.used[name] if use.order != start.order]

    def moves(self, view: str, made: gast.stmt, names: set[str]) -> str | None:
        """The name in a view that stands for something else where the view is used.

        `made` is the statement that has read them.
        """
        start = self.places[made]
        for name in sorted(names):
            for bound in self.bound.get(name, ()):
                if any(between(start, bound, u) for u in self.uses(view, start)):
                    return name
        return None

    def replaced(self, view: str, made: Any, memory: Buffers) -> gast.stmt | None:
        """The statement that may put something else where a view was taken from.

        `made` is `name = container[key]`, of a container in `memory`.
        """
        start, item = self.places[made], made.value
        for place, stmt, written in self.writes:
            if not written & memory or _leaves(stmt, item):
                continue
            if any(between(start, place, u) for u in self.uses(view, start)):
                return stmt
        return None


def _leaves(stmt: Any, item: Any) -> bool:
    """Whether what changes the container certainly leaves the item where it is."""
    target = getattr(stmt, "target", None)
    if isinstance(stmt, gast.Assign):
        target = stmt.targets[0]
    if isinstance(item, gast.Attribute):
        return isinstance(target, gast.Attribute) and target.attr != item.attr
    key = _constant(item.slice)
    if isinstance(target, gast.Subscript):
        other = _constant(target.slice)
        known = key is not None and other is not None
        return known and key != other and not any(map(_is_negative, (key, other)))
    call: Any = getattr(stmt, "value", None)
    appended = isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute)
    if appended and call.func.attr == "append":
        return key is not None and not _is_negative(key)
    return False


def _constant(index: Any) -> Any:
    if isinstance(index, gast.UnaryOp) and isinstance(index.operand, gast.Constant):
        return -1 if isinstance(index.op, gast.USub) else None
    return index.value if isinstance(index, gast.Constant) else None


def _is_negative(key: Any) -> bool:
    return isinstance(key, int) and key < 0
