"""Documents and the line breaker: lays text out as `ruff format` would.

A document is text with places where the line may break. Groups break together: a
group is printed on one line if it fits, else each of its own breaks is taken. This
is the model of Wadler's and Prettier's printers, with the extra elements by which
Ruff decides between breaking inside brackets and adding parentheses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias
from unicodedata import combining, east_asian_width

WIDTH = 88
INDENT = 4


@dataclass(slots=True, eq=False)
class Line:
    """A place to break: `flat` is printed when the line does not break here."""

    flat: str
    forced: bool = False


@dataclass(slots=True, eq=False)
class Group:
    """Breaks together. `key` names it for others; `only_if` names a group that must
    have been broken, else this is no group of its own and its parent decides."""

    body: Doc
    key: int = 0
    expand: bool = False
    only_if: int = 0


@dataclass(slots=True, eq=False)
class IfBroken:
    """One text if the group (named by `key`, else the enclosing one) is broken."""

    broken: Doc
    flat: Doc = ""
    key: int = 0


@dataclass(slots=True, eq=False)
class Indent:
    """Indents the lines of its body; with `key`, only if that group is broken."""

    body: Doc
    key: int = 0


@dataclass(slots=True, eq=False)
class OwnBrackets:
    """Brackets that may break while the group `key` around them stays unbroken."""

    body: Doc
    key: int = 0


@dataclass(slots=True, eq=False)
class ParenthesizeToFit:
    """Parentheses around its body if the body fits with them and not without."""

    body: Doc
    key: int


@dataclass(slots=True, eq=False)
class Choice:
    """The first variant whose first line fits; the last is broken up."""

    variants: list[Doc]


_Element: TypeAlias = (
    Line | Group | IfBroken | Indent | OwnBrackets | ParenthesizeToFit | Choice
)
Doc: TypeAlias = str | list["Doc"] | _Element
# A document to print, the columns it is indented by, and whether its lines break.
Command: TypeAlias = tuple[Doc, int, bool]

SPACE = Line(" ")
SOFT = Line("")
HARD = Line("", forced=True)

# What is measured: up to the first break; every line; only where brackets end.
_FIRST_LINE, _ALL_LINES, _ENDS_OF_BRACKETS = range(3)


def block(body: Doc) -> list[Doc]:
    """The body on indented lines of its own, if the group breaks."""
    return [Indent([SOFT, body]), SOFT]


def width(text: str) -> int:
    """The columns that the text takes on a line."""
    if text.isascii():
        return len(text)
    return sum(
        2 if east_asian_width(char) in "WF" else not combining(char) for char in text
    )


def join(items: list[Doc], *between: Doc) -> list[Doc]:
    """The items with `between` between them."""
    joined: list[Doc] = []
    for index, item in enumerate(items):
        if index:
            joined.extend(between)
        joined.append(item)
    return joined


def flat(doc: Doc) -> str:
    """The document on one line."""
    pieces: list[str] = []
    _flatten(doc, pieces)
    return "".join(pieces)


def _flatten(doc: Doc, pieces: list[str]) -> None:
    if isinstance(doc, str):
        pieces.append(doc)
    elif isinstance(doc, list):
        for part in doc:
            _flatten(part, pieces)
    elif isinstance(doc, (Line, IfBroken)):
        _flatten(doc.flat, pieces)
    elif isinstance(doc, Choice):
        _flatten(doc.variants[0], pieces)
    else:
        _flatten(doc.body, pieces)


def render(doc: Doc, indent: int) -> str:
    """The document's lines, the first one starting at column `indent`."""
    text = flat(doc)
    if indent + width(text) <= WIDTH:
        return text
    return _Breaker(indent).run(doc)


class _Breaker:
    """Prints one document, breaking lines where they are too long."""

    def __init__(self, indent: int) -> None:
        self.indent = indent
        self.column = indent
        self.out: list[str] = []
        self.stack: list[Command] = []
        self.broken: dict[int, bool] = {}
        # Whether the enclosing flat group is already known to fit on this line.
        self.measured = False

    def run(self, doc: Doc) -> str:
        self.stack.append((doc, self.indent, True))
        while self.stack:
            self._step(*self.stack.pop())
        return "".join(self.out)

    def _step(self, doc: Doc, indent: int, breaks: bool) -> None:
        push = self.stack.append
        if isinstance(doc, str):
            self.out.append(doc)
            self.column += width(doc)
        elif isinstance(doc, list):
            self.stack.extend((part, indent, breaks) for part in reversed(doc))
        elif isinstance(doc, Line):
            if breaks or doc.forced:
                self.out.append("\n" + " " * indent)
                self.column = indent
                self.measured = False
            else:
                push((doc.flat, indent, breaks))
        elif isinstance(doc, Group):
            if not doc.only_if or self.broken[doc.only_if]:
                breaks = doc.expand or self._must_break(
                    doc.body, doc.key, indent, breaks
                )
                if doc.key:
                    self.broken[doc.key] = breaks
            push((doc.body, indent, breaks))
        elif isinstance(doc, IfBroken):
            chosen = self.broken[doc.key] if doc.key else breaks
            push((doc.broken if chosen else doc.flat, indent, breaks))
        elif isinstance(doc, Indent):
            deeper = not doc.key or self.broken[doc.key]
            push((doc.body, indent + INDENT if deeper else indent, breaks))
        elif isinstance(doc, OwnBrackets):
            if not (doc.key and self.broken[doc.key]):
                self.measured = False
            push((doc.body, indent, breaks))
        elif isinstance(doc, ParenthesizeToFit):
            self._parenthesize_to_fit(doc, indent, breaks)
        else:
            self._choose(doc, indent, breaks)

    def _must_break(self, body: Doc, key: int, indent: int, breaks: bool) -> bool:
        if not breaks and self.measured:
            return False
        self.measured = True
        if key:
            self.broken[key] = False
        return not self._fits([(body, indent, False)])

    def _parenthesize_to_fit(
        self, doc: ParenthesizeToFit, indent: int, breaks: bool
    ) -> None:
        expanded = False
        inner = indent + INDENT
        opening: list[Command] = [(HARD, inner, True), ("(", indent, breaks)]
        if self._must_break(doc.body, doc.key, indent, breaks):
            self.broken[doc.key] = True
            expanded = self._fits([(doc.body, inner, True), *opening], all_lines=True)
        self.broken[doc.key] = expanded
        if expanded:
            self.stack += [(")", indent, True), (HARD, indent, True)]
            self.stack += [(doc.body, inner, True), *opening]
        else:
            self.stack.append((doc.body, indent, False))

    def _choose(self, doc: Choice, indent: int, breaks: bool) -> None:
        if not breaks and self.measured:
            self.stack.append((doc.variants[0], indent, False))
            return
        self.measured = True
        for variant in doc.variants[:-1]:
            if self._fits([(variant, indent, False)]):
                self.stack.append((variant, indent, False))
                return
        self.stack.append((doc.variants[-1], indent, True))

    def _fits(self, commands: list[Command], all_lines: bool = False) -> bool:
        """Whether the commands, and what follows on the same line, fit.

        Lines are measured up to the first break that is taken, or all of them if
        `all_lines`. Brackets that may break on their own are measured broken, and
        what they hold is not held against what is around them.
        """
        rest = len(self.stack)
        column = self.column
        measure = _ALL_LINES if all_lines else _FIRST_LINE
        todo = [(*command, measure) for command in commands]
        while True:
            if todo:
                doc, indent, breaks, measure = todo.pop()
            elif rest:
                rest -= 1
                doc, indent, breaks = self.stack[rest]
                measure = _FIRST_LINE
            else:
                return True
            if isinstance(doc, str):
                column += width(doc)
                if column > WIDTH and measure != _ENDS_OF_BRACKETS:
                    return False
            elif isinstance(doc, list):
                todo.extend((part, indent, breaks, measure) for part in reversed(doc))
            elif isinstance(doc, Line):
                if not (breaks or doc.forced):
                    todo.append((doc.flat, indent, breaks, measure))
                elif measure and breaks:
                    column = indent
                else:
                    return True
            elif isinstance(doc, Group):
                if not doc.only_if or self.broken.get(doc.only_if, breaks):
                    breaks = breaks or doc.expand
                    if doc.key:
                        self.broken[doc.key] = breaks
                todo.append((doc.body, indent, breaks, measure))
            elif isinstance(doc, IfBroken):
                chosen = self.broken.get(doc.key, breaks) if doc.key else breaks
                todo.append(
                    (doc.broken if chosen else doc.flat, indent, breaks, measure)
                )
            elif isinstance(doc, Indent):
                deeper = not doc.key or self.broken.get(doc.key, breaks)
                deeper_by = INDENT if deeper else 0
                todo.append((doc.body, indent + deeper_by, breaks, measure))
            elif isinstance(doc, OwnBrackets):
                if not (doc.key and self.broken.get(doc.key, breaks)):
                    breaks, measure = True, _ENDS_OF_BRACKETS
                todo.append((doc.body, indent, breaks, measure))
            elif isinstance(doc, ParenthesizeToFit):
                self.broken[doc.key] = breaks
                todo.append((doc.body, indent, breaks, measure))
            else:
                variant = doc.variants[-1 if breaks else 0]
                todo.append((variant, indent, breaks, measure))
