"""Which lines of a function and of its generated source belong together."""

from __future__ import annotations

import ast
import re
import textwrap

_COMPOUND = re.compile(
    r"(async|for|while|if|elif|else|with|try|finally|except|def|class)\b.*:$"
)


def matched(original: str, generated: str) -> tuple[list[int | None], list[int | None]]:
    """A group number for each line of both texts; None for a line in no group.

    A user's line, the generated lines under a comment that quotes it, and forward
    lines that are the same statement are one group. Groups are numbered from 0, in the
    order of the user's lines; a line that nothing belongs to has no group.
    """
    theirs = original.splitlines()
    ours = generated.splitlines()
    statements = _statements(original)
    quoted: dict[str, int] = {}  # first line, stripped -> statement
    same: dict[str, int] = {}  # normal form -> statement
    for i, (first, _, key) in enumerate(statements):
        # Lines that read the same are one group: a quotation fits each of them.
        i = quoted.setdefault(theirs[first].strip(), i)
        same.setdefault(key, i)
    left: list[int | None] = [None] * len(theirs)
    for first, last, _ in statements:
        for k in range(first, last + 1):
            left[k] = quoted[theirs[first].strip()]
    right = _under_comments(ours, quoted)
    for first, last, key in _statements(generated):
        if key in same and right[first] is None and not key.startswith("def "):
            right[first : last + 1] = [same[key]] * (last + 1 - first)
    number: dict[int, int] = {}
    used = set(right)
    for group in left:
        if group is not None and group in used:
            number.setdefault(group, len(number))
    return (
        [None if g is None else number.get(g) for g in left],
        [None if g is None else number.get(g) for g in right],
    )


def _under_comments(lines: list[str], quoted: dict[str, int]) -> list[int | None]:
    """The statement that the comment above each line quotes."""
    found: list[int | None] = []
    group: int | None = None
    indent = 0
    fresh = False  # the line above is a comment
    for line in lines:
        text = line.strip()
        depth = len(line) - len(line.lstrip())
        if text.startswith("# "):
            group, indent = quoted.get(text[2:].strip()), depth
        else:
            outside = not text or (depth < indent and text[:1] not in ")]}")
            result = text.startswith("return") and not fresh
            if outside or result or _COMPOUND.match(text):
                group = None
        fresh = text.startswith("# ")
        found.append(group)
    return found


def _statements(text: str) -> list[tuple[int, int, str]]:
    """First line, last line (from 0) and normal form of each statement or header."""
    lines = text.splitlines()
    try:
        tree = ast.parse(textwrap.dedent(text))
    except SyntaxError:  # a lambda within a call, say
        return [(i, i, "".join(x.split())) for i, x in enumerate(lines) if x.strip()]
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        if isinstance(node, ast.Match):
            body = [node.cases[0].pattern]
        if not body:
            last = node.end_lineno or node.lineno
            key = ast.unparse(node)
        else:
            last = max(node.lineno, body[0].lineno - 1)
            while last > node.lineno and lines[last - 1].strip()[:1] in ("", "#"):
                last -= 1  # a comment between header and body
            key = ast.unparse(node).partition("\n")[0]
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring
        found.append((node.lineno - 1, last - 1, key))
    return sorted(found)
