"""Docstrings are plain text with code in backticks: what else RST reads is escaped."""

from __future__ import annotations

import re

from sphinx.application import Sphinx

#: Code in backticks, with a letter that follows it at once (`tuple`s).
CODE = re.compile(r"(`[^`]*`)(\w?)")


def escaped(line: str) -> str:
    """The line as RST: `*` and `|` outside of code are themselves."""
    if line.lstrip().startswith((">>>", "...")):
        return line
    parts = CODE.split(line)
    for i in range(0, len(parts), 3):
        parts[i] = re.sub(r"([*|])", r"\\\1", parts[i])
    for i in range(2, len(parts), 3):
        parts[i] = parts[i] and rf"\ {parts[i]}"
    return "".join(parts)


def _escape(app: Sphinx, what: str, name: str, of: object, options: object, lines):
    """Lines of an example after `::` stay as they are."""
    literal = False
    for i, line in enumerate(lines):
        if literal and line and not line.startswith(" "):
            literal = False
        if not literal:
            lines[i] = escaped(line)
        literal = literal or line.endswith("::")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", _escape, priority=100)  # before napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
