"""Where each name of a function is read and bound, kept up to date when names change.

A pass that asks this of every statement would go through the function as often; so it
goes through it once.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, NamedTuple

import gast

from srcjax import syntax

#: What has a place of its own: statements, and what has blocks inside of statements.
_PLACES = (gast.stmt, gast.ExceptHandler, gast.match_case)


class Span(NamedTuple):
    """The places of a statement, and of the block that it is in."""

    first: int
    last: int
    #: The first places of all statements of the block.
    firsts: list[int]
    #: The last place of the block.
    end: int

    def from_statement_of(self, place: int) -> int:
        """The first place of the statement of the block in which a place is."""
        return self.firsts[bisect_right(self.firsts, place) - 1]


class Uses:
    """Reads and bindings by name, at places in the order of the text.

    A place is the number of a statement; -1 is that of the function's own head.
    """

    def __init__(self, node: gast.FunctionDef) -> None:
        self.node = node
        self.look()

    def look(self) -> None:
        """Go through the function."""
        self.reads: dict[str, list[int]] = {}
        #: As `syntax.binding_counts` counts them.
        self.bindings: dict[str, list[int]] = {}
        #: As `syntax.names_written` has them.
        self.writes: dict[str, list[int]] = {}
        #: Where an assignment makes another name, or a part, of what the name holds.
        self.kept: dict[str, list[int]] = {}
        self.names: dict[str, list[gast.Name]] = {}
        #: Names that are not only in nodes of their own, as those of functions are.
        self.elsewhere: set[str] = set()
        #: What has each place.
        self.stmts: list[Any] = []
        #: By statement of a block.
        self.spans: dict[int, Span] = {}
        outside = [self.node.args, self.node.decorator_list, self.node.returns]
        self.note(outside, -1)
        place = -1
        starts: dict[int, int] = {}
        updated = {id(sub.target) for sub in syntax.updates(self.node.body)}
        for sub in syntax.walk(self.node.body):
            if isinstance(sub, _PLACES):
                place += 1
                starts[id(sub)] = place
                self.stmts.append(sub)
            if isinstance(sub, gast.Name):
                self.note_name(sub, place, id(sub) in updated)
                self.names.setdefault(sub.id, []).append(sub)
            elif isinstance(sub, gast.Assign):
                for part in parts_of(sub.value):
                    if isinstance(part, gast.Name):
                        self.kept.setdefault(part.id, []).append(place)
            elif isinstance(sub, (gast.Global, gast.Nonlocal)):
                self.elsewhere.update(sub.names)
            elif isinstance(sub, tuple(syntax.BINDERS)):
                bound = syntax.bound_by(sub)
                if bound is not None:
                    self.elsewhere.add(bound)
                    self.writes.setdefault(bound, []).append(place)
        self.place(self.node.body, starts, place)

    def place(self, block: list[Any], starts: dict[int, int], end: int) -> None:
        """Note where the statements of a block are, whose last place is `end`.

        All have their places one after the other: each ends before the next begins.
        """
        firsts = [starts[id(stmt)] for stmt in block]
        for stmt, first, last in zip(block, firsts, _ends(firsts, end), strict=True):
            self.spans[id(stmt)] = Span(first, last, firsts, end)
            inner = list(syntax.holders(stmt))
            begins = [
                starts[id(getattr(part, field)[0] if part is stmt else part)]
                for part, field in inner
            ]
            for (part, field), inside in zip(inner, _ends(begins, last), strict=True):
                self.place(getattr(part, field), starts, inside)

    def note(self, code: Any, place: int) -> None:
        for sub in syntax.names_in(code):
            self.note_name(sub, place, False)

    def note_name(self, sub: gast.Name, place: int, updated: bool) -> None:
        if isinstance(sub.ctx, gast.Load):
            self.reads.setdefault(sub.id, []).append(place)
        elif not updated:
            self.bindings.setdefault(sub.id, []).append(place)
        if isinstance(sub.ctx, (gast.Store, gast.Del)):
            self.writes.setdefault(sub.id, []).append(place)

    def rename(self, old: str, new: str) -> None:
        """Give a name of the body another one, which may be there already."""
        if {old, new} & self.elsewhere:
            syntax.rename(self.node.body, {old: new})
            self.look()
            return
        for sub in self.names.get(old, ()):
            sub.id = new
        self.names.setdefault(new, []).extend(self.names.pop(old, ()))
        for found in (self.reads, self.bindings, self.writes, self.kept):
            places = found.pop(old, [])
            found.setdefault(new, []).extend(p for p in places if p >= 0)
            found[old] = [p for p in places if p < 0]


def parts_of(value: Any) -> list[Any]:
    """The items of a display, else the value itself."""
    return value.elts if isinstance(value, (gast.Tuple, gast.List)) else [value]


def _ends(begins: list[int], last: int) -> list[int]:
    """Where each of these ends, if it is before the next begins."""
    return [*(begin - 1 for begin in begins[1:]), last] if begins else []


def within(places: list[int] | None, first: int, last: int) -> int:
    """How many places are from the first to the last one."""
    return sum(first <= place <= last for place in places or ())
