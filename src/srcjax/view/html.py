"""The page of a view, from the files in `templates`."""

from __future__ import annotations

import functools
import hashlib
import html
import json
from collections.abc import Iterable, Sequence
from importlib import resources
from string import Template
from typing import Any

from srcjax.backends.explained import explain_lines
from srcjax.teaching.tables import shown_columns
from srcjax.view.names import Use, uses_of
from srcjax.view.runs import Moment, Played, Values, told
from srcjax.view.shown import Family, Row, Shown, Sides
from srcjax.view.stages import Stage
from srcjax.view.tapes import Tape, tapes_of

_SWEEPS = {"forward": " fw", "backward": " bw", "tangent": " tg", "": ""}
_LEGEND = {
    "fw": "forward sweep",
    "bw": "backward sweep",
    "tg": "tangents",
    "tape": "put on a tape, taken off",
}


def as_html(view: Any) -> str:
    """The whole view, as one piece."""
    writer = Writer(view.sides, view.run)
    left = "".join(writer.left_pane(each) for each in view.sides.shown)
    right = writer.right_pane()
    data = json.dumps(
        writer.data(view.stages), ensure_ascii=False, separators=(",", ":")
    )
    given = {
        "title": writer.title(view.name),
        "legend": writer.legend(),
        "left": left,
        "right": right,
        "columns": "" if view.run is None else _columns(view.run),
        "data": data.replace("</", "<\\/"),
        "style": template("view.css"),
        "steps": "" if view.run is None else str(len(view.run.moments)),
        "stages": str(len(view.stages)),
    }
    named = "".join(given.values()).encode()
    own = f"s{hashlib.sha256(named).hexdigest()[:10]}"
    script = template("view.js").replace("VIEW_ID", own)
    return Template(template("view.html")).substitute(given, id=own, script=script)


@functools.cache
def template(name: str) -> str:
    """A file of this room."""
    found = resources.files("srcjax.view").joinpath("templates", name)
    return found.read_text(encoding="utf-8").rstrip("\n")


def _columns(run: Played) -> str:
    return f'<p class="note">{html.escape(run.columns)}</p>' if run.columns else ""


class Writer:
    """Writes the parts of one view."""

    def __init__(self, sides: Sides, run: Played | None) -> None:
        self.sides, self.run = sides, run
        self.left_uses, self.right_uses = uses_of(sides)
        self.tapes = tapes_of(sides)
        #: What there is to say of lines of the text.
        self.rules = {e.first: e.text for e in explain_lines(sides.module) if e.words}
        run_of = [] if run is None else [*run.text.values(), *run.users.values()]
        self.widths = widths_of(run_of)
        self.families: dict[Family, int] = {}
        told = [row.family for row in sides.rows if row.family is not None]
        for family in sorted(set(told), key=self._order):
            self.families[family] = len(self.families)

    def _order(self, family: Family) -> tuple[int, int]:
        """The order of the left side."""
        places = [k for k, s in enumerate(self.sides.shown) if s.has(*family)]
        return (places or [len(self.sides.shown)])[0], family[1]

    # -- what stands above ------------------------------------------------------------

    def title(self, name: str) -> str:
        if self.run is None:
            return html.escape(name)
        given = ", ".join(f"{k}={told(v)}" for k, v in self.run.arguments.items())
        rest = f'<span class="dim">({html.escape(given)})</span>'
        result = f'<span class="dim"> = {html.escape(self.run.result)}</span>'
        return f"{html.escape(name)}{rest}{result}"

    def legend(self) -> str:
        there = {_SWEEPS[row.sweep].strip() for row in self.sides.rows}
        there |= {"tape"} if self.tapes else set()
        there -= {"fw"} if not there & {"bw", "tg"} else set()
        words = _LEGEND | ({"fw": "values"} if "tg" in there else {})
        return "".join(
            f'<span class="key {kind}">{said}</span>'
            for kind, said in words.items()
            if kind in there
        )

    # -- the left side ----------------------------------------------------------------

    def left_pane(self, shown: Shown) -> str:
        lines = shown.lines
        tokens = tokens_of("\n".join(lines.values()))
        rows = [
            self.left_row(shown, number, text, tokens[k])
            for k, (number, text) in enumerate(lines.items())
        ]
        title = html.escape(shown.name)
        return f'<div class="name">{title}</div><pre class="t">{"".join(rows)}</pre>'

    def left_row(self, shown: Shown, number: int, text: str, tokens: Tokens) -> str:
        statement = shown.file.statement(number)
        first = number if statement is None else statement.first
        family = (shown.file.name, first)
        values = None if self.run is None else self.run.users.get(family)
        if number != first:
            values = None
        key = f"L{self.sides.shown.index(shown)}.{number}"
        uses = self.left_uses[shown].get(number, [])
        code = highlighted(text, tokens, uses)
        mark = self._family(family)
        side = self.cells(values)
        kind = f"l{_wide(side, len(text) > LONG_LEFT)}"
        return _row(kind, key, mark, _number(number), code, side)

    # -- the right side ---------------------------------------------------------------

    def right_pane(self) -> str:
        tokens = tokens_of(self.sides.module.text)
        rows = [self.right_row(row, tokens[k]) for k, row in enumerate(self.sides.rows)]
        columns = 1 + max((t.column for t in self.tapes), default=-1)
        style = f' style="--tapes:{columns}"'
        return f'<pre class="t text"{style}>{"".join(rows)}</pre>'

    def right_row(self, row: Row, tokens: Tokens) -> str:
        code = highlighted(row.text, tokens, self.right_uses.get(row.number, []))
        values = None
        if self.run is not None and self.run.text.get(row.number) is not None:
            values = self.run.text[row.number]
        theirs = str(row.family[1]) if row.family and self.is_news(row) else ""
        head = (
            f'<span class="tp">{_brackets(self.tapes, row.number)}</span>'
            f"{_number(row.number)}"
            f'<span class="at{" is" if theirs else ""}">{theirs:>4} </span>'
        )
        side = self.cells(values)
        kind = f"l{_SWEEPS[row.sweep]}{_wide(side, len(row.text) > LONG_RIGHT)}"
        mark = self._family(row.family)
        return _row(kind, f"R{row.number}", mark, head, code, side)

    def is_news(self, row: Row) -> bool:
        """Whether the line above comes from another line of the user's."""
        above = self.sides.rows[row.number - 2] if row.number > 1 else None
        return above is None or above.family != row.family

    def cells(self, values: Values | None) -> str:
        """The values beside a line: names below each other, executions in columns."""
        if values is None or not values.names:
            return ""
        names, widths = self.widths[values.group]
        return _cells(values, names, widths)

    def _family(self, family: Family | None) -> str:
        number = None if family is None else self.families.get(family)
        return "" if number is None else f' data-f="{number}"'

    # -- what scripts read ------------------------------------------------------------

    def data(self, stages: list[Stage]) -> dict[str, Any]:
        return {
            "said": {f"R{line}": text for line, text in self.rules.items()},
            "rules": {n: self.said(f) for f, n in self.families.items()},
            "stages": _stages(stages),
            **({} if self.run is None else self.steps(self.run)),
        }

    def said(self, family: Family) -> list[str]:
        """Where a line of the user's stands, and the rules that it became lines by."""
        shown = next((s for s in self.sides.shown if s.has(*family)), None)
        if shown is None:
            return []
        lines = [row.number for row in self.sides.rows if row.family == family]
        rules = dict.fromkeys(self.rules[n] for n in lines if n in self.rules)
        return [f"line {family[1]} of {shown.name}", *rules]

    def steps(self, run: Played) -> dict[str, Any]:
        values = {f"R{line}": _plain(v) for line, v in run.text.items()}
        for family, each in run.users.items():
            key = self.left_key(family)
            if key:
                values[key] = _plain(each)
        return {"steps": [self.step(m) for m in run.moments], "values": values}

    def step(self, moment: Moment) -> list[Any]:
        row = self.sides.rows[moment.line - 1]
        left = "" if moment.family is None else self.left_key(moment.family)
        users = -1 if moment.users is None else moment.users
        where = row.function if len(self.sides.sources) > 1 else ""
        words = ", ".join(filter(None, (where or row.sweep, moment.told)))
        last = row.statement.last if row.statement is not None else moment.line
        return [moment.line, last, moment.execution, left, users, words, moment.done]

    def left_key(self, family: Family) -> str:
        for k, shown in enumerate(self.sides.shown):
            if shown.has(*family):
                return f"L{k}.{family[1]}"
        return ""


# -- lines -----------------------------------------------------------------------------

#: The values of longer lines stand below them.
LONG_LEFT, LONG_RIGHT = 40, 50
#: Cells up to this width stand below each other.
NARROW = 14

#: Of a line: class of colour, start and end of each token.
Tokens = list[tuple[str, int, int]]


def _row(kind: str, key: str, mark: str, head: str, code: str, side: str) -> str:
    # Without a style it reads as a comment.
    side = side and f'<span class="v"><span class="gap">  # </span>{side}</span>'
    return (
        f'<span class="{kind}" data-k="{key}"{mark}>{head}'
        f'<span class="c">{code}</span>{side}\n</span>'
    )


def _number(number: int) -> str:
    return f'<span class="no">{number:3} </span>'


def _wide(side: str, long: bool) -> str:
    """Code without values beside it takes their room; those of long code are below."""
    return (" w low" if long else "") if side else " w"


def _brackets(tapes: list[Tape], line: int) -> str:
    """What stands in the columns of the tapes: a bracket from push to pop."""
    count = 1 + max((t.column for t in tapes), default=-1)
    found = []
    for column in range(count):
        tape = next(
            (t for t in tapes if t.column == column and t.first <= line <= t.last), None
        )
        found.append("<b></b>" if tape is None else _bracket(tapes, tape, line))
    return "".join(found)


def _bracket(tapes: list[Tape], tape: Tape, line: int) -> str:
    kinds = [f"t{tapes.index(tape) % 4}"]
    kinds += ["top"] if line == tape.first else []
    kinds += ["end"] if line == tape.last else []
    said = ""
    if line in tape.pushes or line in tape.pops:
        word = "put on" if line in tape.pushes else "taken off"
        kinds.append("tick")
        said = f' title="{word} {html.escape(tape.name)}"'
    return f'<b class="{" ".join(kinds)}"{said}></b>'


def _cells(values: Values, wide: int, shared: dict[int, int]) -> str:
    """The cells, as wide as those of other lines of the loop, if they are narrow."""
    columns = shown_columns(values.count)
    found = []
    for name, texts in values.filled().items():
        cells = "  ".join(
            "\u2026" if k < 0 else texts[k].ljust(shared.get(k, 0)) for k in columns
        ).rstrip()
        found.append(
            f'<span class="n">{html.escape(name.ljust(wide))} </span>'
            f"<span>{html.escape(cells)}</span>"
        )
    return "\n".join(found)


def widths_of(values: Iterable[Values]) -> dict[int, tuple[int, dict[int, int]]]:
    """By group, how wide names and cells are, without those that are too wide."""
    found: dict[int, tuple[int, dict[int, int]]] = {}
    for each in values:
        wide, own = found.get(each.group, (0, {}))
        wide = max([wide, *(len(n) for n in each.names if len(n) <= NARROW)])
        for texts in each.names.values():
            for k, text in enumerate(texts):
                if len(text) <= NARROW:
                    own[k] = max(own.get(k, 0), len(text))
        found[each.group] = wide, own
    return found


def _plain(values: Values) -> list[Any]:
    return [values.group, values.count, values.filled()]


def tokens_of(text: str) -> list[Tokens]:
    """The tokens of each line; without Pygments none is coloured."""
    found: list[Tokens] = [[] for _ in range(text.count("\n") + 1)]
    try:
        from pygments.lexers import PythonLexer
    except ImportError:
        return found
    line = column = 0
    for kind, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text):
        for k, part in enumerate(value.split("\n")):
            if k:
                line, column = line + 1, 0
            colour = _colour(kind)
            if part and colour:
                found[line].append((colour, column, column + len(part)))
            column += len(part)
    return found


def _colour(kind: Any) -> str:
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    kinds = {
        "k": (Keyword, Operator.Word),
        "s": (String,),
        "m": (Number,),
        "h": (Comment,),
        "f": (Name.Function, Name.Builtin),
    }
    return next((c for c, ks in kinds.items() if any(kind in k for k in ks)), "")


def highlighted(text: str, tokens: Tokens, uses: Sequence[Use] = ()) -> str:
    """A line as HTML: tokens in their colours, and names that can be pointed at."""
    cuts = {0, len(text)}
    cuts |= {at for _, start, end in tokens for at in (start, end)}
    cuts |= {at for use in uses for at in (use.start, use.end)}
    found = []
    at = sorted(c for c in cuts if 0 <= c <= len(text))
    for start, end in zip(at, at[1:], strict=False):
        colour = next((c for c, a, b in tokens if a <= start < b), "")
        use = next((u for u in uses if u.start <= start < u.end), None)
        found.append(_piece(text[start:end], colour, use))
    return "".join(found)


def _piece(text: str, colour: str, use: Use | None) -> str:
    marks = f' class="{colour}"' if colour else ""
    if use is not None:
        marks += f' data-n="{use.name}"'
        marks += "" if use.of is None else f' data-of="{use.of}"'
    inside = html.escape(text, quote=False)
    return f"<i{marks}>{inside}</i>" if marks else inside


def _stages(stages: Iterable[Stage]) -> dict[str, Any]:
    """The stages, each line of them once."""
    known: dict[str, int] = {}
    listed = []
    for stage in stages:
        marks = "".join(mark for mark, _ in stage.lines)
        numbers = [known.setdefault(line, len(known)) for _, line in stage.lines]
        listed.append([stage.name, stage.said, marks, numbers])
    lines = [highlighted(line, tokens_of(line)[0]) for line in known]
    return {"lines": lines, "list": listed}
