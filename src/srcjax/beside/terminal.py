"""The terminal's view of generated source: beside the original, or below it."""

from __future__ import annotations

import os
import sys

from srcjax.beside.match import matched

MIN_COLUMN = 44
TITLES = ("your function", "written by srcjax")
# Foreground colours that light and dark terminals both show.
COLOURS = (34, 32, 35, 36, 33, 31)


def side_by_side(
    original: str, generated: str, width: int = 120, colour: bool = False
) -> str:
    """Both texts as columns of at most `width` cells, or below each other.

    Long lines are broken where both columns get at least 44 cells; in a narrower
    terminal the texts are stacked, each line whole. With `colour`, lines that belong
    together have a bar of one colour (ANSI codes) before them.
    """
    groups = matched(original, generated)
    texts = [original.rstrip("\n").splitlines(), generated.rstrip("\n").splitlines()]
    marks = [[_mark(g, colour) for g in side] for side in groups]
    bar = 2 if colour else 0
    need = [max(map(len, [title, *t])) for title, t in zip(TITLES, texts, strict=True)]
    room = width - 3 - 2 * bar
    if sum(need) > room:
        if room < 2 * MIN_COLUMN:
            return _stacked(texts, marks)
        left = min(need[0], max(room - need[1], MIN_COLUMN, room * 2 // 5))
        need = [left, room - left]
    columns = [
        _column(title, text, mark, cells, bar)
        for title, text, mark, cells in zip(TITLES, texts, marks, need, strict=True)
    ]
    count = max(map(len, columns))
    blank = (" " * (need[0] + bar), "")
    rows = []
    for i in range(count):
        left_cell = columns[0][i] if i < len(columns[0]) else blank[0]
        right_cell = columns[1][i].rstrip() if i < len(columns[1]) else blank[1]
        rows.append(f"{left_cell} | {right_cell}".rstrip())
    return "\n".join(rows) + "\n"


def for_prompt(text: str) -> str:
    """The text, in colours where it goes to the prompt of a terminal that has them."""
    return highlighted(text) if hasattr(sys, "ps1") and has_colours() else text


def has_colours() -> bool:
    """Whether what is printed goes to a terminal that shows colours."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and sys.stdout is not None and sys.stdout.isatty()


def highlighted(text: str) -> str:
    """The same with ANSI codes for colours; as it is without Pygments."""
    try:
        from pygments import highlight
        from pygments.formatters import TerminalFormatter
        from pygments.lexers import PythonLexer
    except ImportError:
        return text
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    found: str = highlight(text, lexer, TerminalFormatter())
    return found


def _mark(group: int | None, colour: bool) -> str:
    if not colour:
        return ""
    if group is None:
        return "  "
    return f"\x1b[{COLOURS[group % len(COLOURS)]}m\u258c\x1b[0m "


def _column(
    title: str, lines: list[str], marks: list[str], cells: int, bar: int
) -> list[str]:
    """Padded lines of one column, with its title."""
    rows = [f"{' ' * bar}{title:<{cells}}", f"{' ' * bar}{'-' * cells}"]
    for line, mark in zip(lines, marks, strict=False):
        rows += [f"{mark}{part:<{cells}}" for part in broken(line, cells)]
    return rows


def broken(line: str, cells: int) -> list[str]:
    """The line in parts of at most `cells`, broken at spaces where there are some."""
    parts = []
    indent = " " * min(len(line) - len(line.lstrip()) + 4, cells // 2)
    while len(line) > cells:
        start = len(line) - len(line.lstrip()) + 1
        cut = line.rfind(" ", start, cells + 1)
        cut = cells if cut <= start else cut
        parts.append(line[:cut])
        line = indent + line[cut:].lstrip()
    return [*parts, line]


def _stacked(texts: list[list[str]], marks: list[list[str]]) -> str:
    rows = []
    for title, text, mark in zip(TITLES, texts, marks, strict=True):
        rows += [title, "-" * len(title)]
        rows += [f"{m}{t}".rstrip() for t, m in zip(text, mark, strict=False)]
        rows.append("")
    return "\n".join(rows)
