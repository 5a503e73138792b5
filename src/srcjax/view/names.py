"""All uses of a name on both sides, and the value that an adjoint belongs to."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from srcjax.view.shown import Shown, Sides


@dataclass(frozen=True)
class Use:
    """A name in a line: from column `start` to `end`."""

    start: int
    end: int
    #: All uses of one name have one number.
    name: int
    #: Of a derivative: the number of the name whose derivative it is.
    of: int | None = None


#: The uses in each line, by its number.
Uses = dict[int, list[Use]]


class Numbers:
    """A number for each name, given when it is first met."""

    def __init__(self) -> None:
        self.known: dict[Any, int] = {}

    def of(self, key: Any) -> int:
        return self.known.setdefault(key, len(self.known))


def uses_of(sides: Sides) -> tuple[dict[Shown, Uses], Uses]:
    """The uses of names in the user's functions, and in the text."""
    numbers = Numbers()
    own = {shown: _bound(_inside(shown)) for shown in sides.shown}
    left = {
        shown: _uses(
            _inside(shown),
            shown.file.lines,
            lambda n, shown=shown: (
                (numbers.of((shown, n)), None) if n in own[shown] else None
            ),
            shown.indent,
        )
        for shown in sides.shown
    }
    right: Uses = {}
    lines = sides.module.text.splitlines()
    for node in ast.parse(sides.module.text).body:
        if isinstance(node, ast.FunctionDef):
            _add(right, _right(node, sides, own, numbers, lines))
    return left, right


def _right(
    node: ast.FunctionDef,
    sides: Sides,
    own: dict[Shown, set[str]],
    numbers: Numbers,
    lines: list[str],
) -> Uses:
    """The uses in a function of the text: the user's names have the user's numbers."""
    derivatives: dict[str, str] = {}
    for function in sides.functions.values():
        if node.lineno <= function.first <= (node.end_lineno or node.lineno):
            derivatives |= function.derivatives
    bound = _bound([node])
    sources = sides.sources.get(node.name, [])

    def theirs(name: str) -> int | None:
        shown = next((s for s in sources if name in own[s]), None)
        return None if shown is None else numbers.of((shown, name))

    def number(name: str) -> tuple[int, int | None] | None:
        if name not in bound:
            return None
        if name in derivatives:
            return numbers.of((node.name, name)), theirs(derivatives[name])
        found = theirs(name)
        if found is None:  # a tape has one name in both functions
            found = numbers.of(
                ("text", name) if _is_kept(sides, name) else (node, name)
            )
        return found, None

    return _uses([node], [line + "\n" for line in lines], number, 0)


def _is_kept(sides: Sides, name: str) -> bool:
    """Whether several functions of the text know it as a tape."""
    return sum(name in tapes for _, tapes in sides.module.kept.values()) > 1


def _inside(shown: Shown) -> list[ast.AST]:
    """The names of a function of the user's."""
    return [
        node
        for node in ast.walk(shown.file.tree)
        if isinstance(node, (ast.Name, ast.arg))
        and shown.first <= node.lineno <= shown.last
    ]


def _names(nodes: Iterable[ast.AST]) -> Iterator[ast.Name | ast.arg]:
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, (ast.Name, ast.arg)):
                yield node


def _bound(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that get values there."""
    return {
        node.arg if isinstance(node, ast.arg) else node.id
        for node in _names(nodes)
        if isinstance(node, ast.arg) or isinstance(node.ctx, ast.Store)
    }


def _uses(nodes: Iterable[ast.AST], lines: list[str], number: Any, cut: int) -> Uses:
    found: Uses = {}
    seen: set[tuple[int, int]] = set()
    for node in _names(nodes):
        name = node.arg if isinstance(node, ast.arg) else node.id
        known = number(name)
        if known is None or (node.lineno, node.col_offset) in seen:
            continue
        seen.add((node.lineno, node.col_offset))
        before = lines[node.lineno - 1].encode()[: node.col_offset]
        start = len(before.decode()) - cut
        use = Use(start, start + len(name), *known)
        found.setdefault(node.lineno, []).append(use)
    for uses in found.values():
        uses.sort(key=lambda use: use.start)
    return found


def _add(known: Uses, more: Uses) -> None:
    for line, uses in more.items():
        known.setdefault(line, []).extend(uses)
