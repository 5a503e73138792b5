"""A table of values as text."""

from __future__ import annotations

import os
from typing import Any

from srcjax.teaching.showing import shown
from srcjax.teaching.tables import (
    Cell,
    Group,
    group_of,
    parts_of,
    said_of,
    summary,
)

#: Cells are no wider than this; what is longer is cut.
MOST_CELLS = 32


def as_text(trace: Any) -> str:
    """The whole table."""
    groups = [group_of(line) for line in trace.lines]
    given = ", ".join(f"{k}={shown(v)}" for k, v in trace.arguments.items())
    rows = [f"{trace.name}({given})", ""]
    width = max((_length(g) for g in groups), default=0)
    names = max((len(r.name) for g in groups for r in g.rows), default=0)
    names = max(names, 8 if trace.measured else 0)
    where = max((len(_where(g.line, trace)) for g in groups), default=0)
    for title, _, part in parts_of(trace.lines, groups):
        rows += [*([""] if rows[-1] else []), *([f"{title}:"] if title else [])]
        for group in part:
            place = _where(group.line, trace)
            rows += _group_rows(group, width, f"{place:<{where}}", names)
    found = summary(trace)
    if found:
        rows += ["", *found]
    return "\n".join(row.rstrip() for row in rows)


def _length(group: Group) -> int:
    return max(len(line) - 4 for line in group.line.text.splitlines())


def _where(line: Any, trace: Any) -> str:
    """The number of the user's line, and its file where there are several."""
    if line.place is None:
        return ""
    several = len({each.place[0] for each in trace.lines if each.place}) > 1
    file = os.path.basename(line.place[0]) if several else ""
    return f"({file}:{line.place[1]})" if several else f"({line.place[1]})"


def _group_rows(group: Group, width: int, place: str, names: int) -> list[str]:
    """The lines of one statement, and beside and below them its values."""
    texts = [t[4:] for t in group.line.text.splitlines()]
    sides = _sides(group, names)
    rows = []
    for k in range(max(len(texts), len(sides))):
        number = f"{group.line.number + k:4}" if k < len(texts) else " " * 4
        text = texts[k] if k < len(texts) else ""
        where = place if k == 0 else " " * len(place)
        side = sides[k] if k < len(sides) else ""
        rows.append(f"{number}  {text:<{width}}  {where}  {side}")
    return rows


def _sides(group: Group, names: int) -> list[str]:
    """A line for each name, and one for what was measured of it."""
    columns = range(len(group.columns))
    widths = [max([1, *(_width(r.cells[c]) for r in group.rows)]) for c in columns]
    found = []
    for row in group.rows:
        values = [_cut(cell.text) for cell in row.cells]
        found.append(f"{row.name:<{names}}  {_aligned(values, widths)}")
        if any(cell.measured is not None for cell in row.cells):
            said = [_cut(said_of(cell.measured)) for cell in row.cells]
            found.append(f"{'measured':>{names}}  {_aligned(said, widths)}")
    return found


def _width(cell: Cell) -> int:
    return max(len(_cut(cell.text)), len(_cut(said_of(cell.measured))))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CELLS else f"{text[: MOST_CELLS - 3]}..."


def _aligned(values: list[str], widths: list[int]) -> str:
    return "  ".join(f"{v:<{w}}" for v, w in zip(values, widths, strict=True))
