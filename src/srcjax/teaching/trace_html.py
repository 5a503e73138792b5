"""A table of values as HTML: no script, no other file, for light and dark pages."""

from __future__ import annotations

import html
from typing import Any

from srcjax.beside.html import STYLE, highlighted_lines
from srcjax.teaching.showing import shown
from srcjax.teaching.tables import (
    Cell,
    Group,
    Row,
    group_of,
    parts_of,
    said_of,
    summary,
)

_STYLE = """<style>
.srcjax-view table.trace{border-collapse:collapse;margin:0;
font:12px/1.45 ui-monospace,Menlo,Consolas,monospace;color:inherit}
.srcjax-view table.trace td,.srcjax-view table.trace th{padding:1px 8px;border:0;
text-align:left;vertical-align:top;white-space:pre;background:transparent;color:inherit}
.srcjax-view table.trace tr{background:transparent}
.srcjax-view table.trace th{font:600 12px sans-serif;opacity:.75;padding-top:8px}
.srcjax-view table.trace tr.line>td{border-top:1px solid var(--edge)}
.srcjax-view table.trace td.at{color:var(--c);text-align:right}
.srcjax-view table.trace td.forward{border-left:3px solid #2f7fd6}
.srcjax-view table.trace td.backward{border-left:3px solid #d6453f}
.srcjax-view table.trace .said{color:var(--c)}
.srcjax-view table.trace .agrees{color:var(--s)}
.srcjax-view table.trace .differs{color:#fff;background:#c8322b;font-weight:600;
padding:0 4px;border-radius:3px}
.srcjax-view .summary{padding:4px 10px;font:12px/1.5 sans-serif;white-space:pre-wrap;
border-top:1px solid var(--edge)}
</style>"""


def as_html(trace: Any) -> str:
    """The whole table."""
    groups = [group_of(line) for line in trace.lines]
    code = dict(enumerate(highlighted_lines(trace.text), 1))
    widest = max((len(g.columns) for g in groups), default=1)
    rows = []
    for title, backward, part in parts_of(trace.lines, groups):
        if title:
            rows.append(
                f'<tr><th colspan="{4 + widest}">{html.escape(title)}</th></tr>'
            )
        for group in part:
            rows += _rows(group, code, widest, backward)
    given = ", ".join(f"{k}={shown(v)}" for k, v in trace.arguments.items())
    title = html.escape(f"{trace.name}({given})")
    told = html.escape("\n".join(summary(trace)))
    below = f'<div class="summary">{told}</div>' if told else ""
    return (
        f'{STYLE}\n{_STYLE}\n<div class="srcjax-view"><div>'
        f'<div class="title">{title}</div><table class="trace">{"".join(rows)}</table>'
        f"{below}</div></div>"
    )


def _rows(group: Group, code: dict[int, str], widest: int, backward: bool) -> list[str]:
    """The rows of one statement: its text beside all that it gives values to."""
    line = group.line
    count = line.text.count("\n") + 1
    text = "\n".join(code[line.number + k] for k in range(count))
    sides = [side for row in group.rows for side in _sides(row, widest)]
    sides = sides or [f'<td></td><td colspan="{widest}"></td>']
    sweep = "backward" if backward else "forward"
    place = "" if line.place is None else f"{line.place[1]}"
    where = (
        "" if line.place is None else html.escape(f"{line.place[0]}:{line.place[1]}")
    )
    head = (
        f'<td class="at {sweep}" rowspan="{len(sides)}">{line.number}</td>'
        f'<td rowspan="{len(sides)}">{text}</td>'
        f'<td class="at" rowspan="{len(sides)}" title="{where}">{place}</td>'
    )
    first, *more = sides
    found = [f'<tr class="line">{head}{first}</tr>']
    return found + [f"<tr>{side}</tr>" for side in more]


def _sides(row: Row, widest: int) -> list[str]:
    """The cells of a name, and of what was measured of it."""
    rest = widest - len(row.cells)
    end = f'<td colspan="{rest}"></td>' if rest else ""
    values = "".join(f"<td>{html.escape(cell.text)}</td>" for cell in row.cells)
    found = [f"<td>{html.escape(row.name)}</td>{values}{end}"]
    if any(cell.measured is not None for cell in row.cells):
        said = "".join(map(_said, row.cells))
        found.append(f'<td class="said">measured</td>{said}{end}')
    return found


def _said(cell: Cell) -> str:
    found = cell.measured
    if found is None:
        return "<td></td>"
    kind = {"agrees": "agrees", "differs": "differs"}.get(found.verdict, "said")
    reason = html.escape(found.reason)
    text = html.escape(said_of(found))
    return f'<td><span class="{kind}" title="{reason}">{text}</span></td>'
