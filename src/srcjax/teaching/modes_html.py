"""Both modes of a function as HTML."""

from __future__ import annotations

import html
from typing import Any

from srcjax.beside.html import STYLE, pane

_STYLE = """<style>
.srcjax-view table.modes{border-collapse:collapse;margin:4px 0;color:inherit;
font:12px/1.5 sans-serif}
.srcjax-view table.modes td,.srcjax-view table.modes th{padding:2px 14px 2px 10px;
text-align:left;border:0;background:transparent;color:inherit}
.srcjax-view table.modes tr{background:transparent}
.srcjax-view table.modes tr+tr>td{border-top:1px solid var(--edge)}
.srcjax-view table.modes th.cheaper{text-decoration:underline}
.srcjax-view .verdict{padding:4px 10px;font:12px/1.5 sans-serif;
border-top:1px solid var(--edge)}
</style>"""


def as_html(modes: Any) -> str:
    """The table above, the texts below; lines of one line of yours in one colour."""
    costs = (modes.forward, modes.reverse)
    heads = "".join(
        f'<th class="{"cheaper" if modes.cheaper == c.mode else ""}">{c.mode}</th>'
        for c in costs
    )
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in modes.rows()
    )
    lines = sorted({line for c in costs for line in c.places.values()})
    group = {line: k for k, line in enumerate(lines)}
    panes = "".join(pane(c.mode, c.text, _groups(c, group)) for c in costs)
    return (
        f'{STYLE}\n{_STYLE}\n<div class="srcjax-view"><div>'
        f'<div class="title">{html.escape(modes.title)}</div>'
        f'<table class="modes"><tr><th></th>{heads}</tr>{rows}</table>'
        f'<div class="verdict">{html.escape(modes.verdict)}</div></div></div>'
        f'<div class="srcjax-view" style="margin-top:8px">{panes}</div>'
    )


def _groups(cost: Any, group: dict[int, int]) -> list[int | None]:
    count = len(cost.text.splitlines())
    return [
        group[cost.places[line]] if line in cost.places else None
        for line in range(1, count + 1)
    ]
