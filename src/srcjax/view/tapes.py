"""Where the text puts something on a tape, and where it takes it off again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from srcjax.teaching.statements import Statement
from srcjax.view.shown import Row, Sides

#: So many tapes are drawn beside each other.
MOST_BESIDE = 4


@dataclass(eq=False)
class Tape:
    """A list or an array that the forward sweep fills and the backward sweep reads."""

    name: str
    pushes: list[int] = field(default_factory=list)
    pops: list[int] = field(default_factory=list)
    #: The column that it is drawn in.
    column: int = 0

    @property
    def first(self) -> int:
        return min(self.pushes + self.pops)

    @property
    def last(self) -> int:
        return max(self.pushes + self.pops)


def tapes_of(sides: Sides) -> list[Tape]:
    """The tapes of a text, in the order in which they are first filled.

    What a name is follows from what is done to it: a name that srcjax made, which lines
    of the forward sweep put items into and lines of the backward sweep read.
    """
    found: dict[tuple[str, str], Tape] = {}
    for row in _statements(sides):
        for name in _filled(row.statement):
            if row.sweep == "forward" and name in sides.module.made:
                key = _key(sides, row, name)
                found.setdefault(key, Tape(name)).pushes.append(row.number)
    for row in _statements(sides):
        if row.sweep == "backward" and row.statement is not None:
            for name in _emptied(row.statement):
                tape = found.get(_key(sides, row, name))
                if tape is not None:
                    tape.pops.append(row.number)
    tied = sorted((t for t in found.values() if t.pops), key=lambda t: t.first)
    return list(_in_columns(tied))


def _statements(sides: Sides) -> Iterator[Row]:
    """The rows on which a statement begins."""
    for row in sides.rows:
        if row.statement is not None and row.statement.first == row.number:
            yield row


def _key(sides: Sides, row: Row, name: str) -> tuple[str, str]:
    """A tape that a forward function hands to its backward function is one tape."""
    kept = [tapes for _, tapes in sides.module.kept.values() if name in tapes]
    return ("" if len(kept) > 1 else row.function), name


def _filled(statement: Statement | None) -> Iterator[str]:
    """The names that an item is put into."""
    if statement is None:
        return
    node = statement.node
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        appended = isinstance(called, ast.Attribute) and called.attr == "append"
        if appended and isinstance(called.value, ast.Name):  # type: ignore[attr-defined]
            yield called.value.id  # type: ignore[attr-defined]
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                yield target.value.id


def _emptied(statement: Statement) -> set[str]:
    """The names that items are taken of: popped, indexed or gone through."""
    node = statement.node
    if isinstance(node, ast.For):
        return {n.id for n in ast.walk(node.iter) if isinstance(n, ast.Name)}
    found = set()
    for part in statement.nodes():
        if isinstance(getattr(part, "ctx", None), ast.Store):
            continue
        item = isinstance(part, ast.Subscript)
        popped = isinstance(part, ast.Attribute) and part.attr == "pop"
        if (item or popped) and isinstance(part.value, ast.Name):  # type: ignore[attr-defined]
            found.add(part.value.id)  # type: ignore[attr-defined]
    return found


def _in_columns(tapes: list[Tape]) -> Iterator[Tape]:
    """Tapes that overlap stand beside each other; too many are left out."""
    ends: list[int] = []
    for tape in tapes:
        free = next((k for k, end in enumerate(ends) if end < tape.first), len(ends))
        if free == MOST_BESIDE:
            continue
        ends[free : free + 1] = [tape.last]
        tape.column = free
        yield tape
