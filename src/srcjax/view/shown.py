"""What stands on the two sides of a view, and which lines belong together."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from srcjax.backends.explained import explain_lines
from srcjax.backends.load import generated_module, line_map_of
from srcjax.backends.module import Module
from srcjax.teaching.statements import (
    Function,
    Place,
    Statement,
    functions_of,
    generated,
)

#: A line of the user's: the file, and where the statement begins.
Family = tuple[str, int]


@dataclass(eq=False)
class File:
    """A file of the user's, or a cell: its lines, and what stands on them."""

    name: str
    lines: list[str]

    @cached_property
    def tree(self) -> ast.Module:
        try:
            return ast.parse("".join(self.lines))
        except SyntaxError:  # a cell with magic commands
            return ast.Module([], [])

    @cached_property
    def functions(self) -> dict[tuple[str, int], Function]:
        return functions_of(self.tree)

    @cached_property
    def nodes(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        return [node for node in ast.walk(self.tree) if isinstance(node, kinds)]

    def statement(self, line: int) -> Statement | None:
        """The statement, or the head of one, on a line."""
        for function in self.functions.values():
            if line in function.by_line:
                return function.by_line[line]
        return None


@dataclass(eq=False)
class Shown:
    """A function of the user's on the left: the lines `first` to `last` of a file."""

    name: str
    file: File
    first: int
    last: int

    @cached_property
    def indent(self) -> int:
        """By how much its lines are indented in the file."""
        rows = [r for r in self.file.lines[self.first - 1 : self.last] if r.strip()]
        return min((len(r) - len(r.lstrip()) for r in rows), default=0)

    @property
    def lines(self) -> dict[int, str]:
        """Its lines by number, without what all of them are indented by."""
        rows = self.file.lines[self.first - 1 : self.last]
        cut = (r.rstrip("\n")[self.indent :] for r in rows)
        return dict(enumerate(cut, self.first))

    def has(self, file: str, line: int) -> bool:
        return self.file.name == file and self.first <= line <= self.last


@dataclass(eq=False)
class Row:
    """A line of the generated text."""

    number: int
    text: str
    #: The top-level function that it stands in; "" outside of all.
    function: str = ""
    #: "forward", "backward", "tangent", or "" where there are no sweeps.
    sweep: str = ""
    family: Family | None = None
    #: The statement that begins on it, or that it is a part of.
    statement: Statement | None = None


@dataclass(eq=False)
class Sides:
    """Both sides: the user's functions, and the rows of the text."""

    module: Module
    shown: list[Shown]
    rows: list[Row]
    functions: dict[tuple[str, int], Function]
    #: The functions of the user's that lines of each function of the text come from,
    #: those of the most lines first.
    sources: dict[str, list[Shown]] = field(default_factory=dict)


def sides_of(found: Finder, module: Module) -> Sides:
    """What stands on the two sides of a view of a text."""
    functions = generated(module)
    rows = rows_of(module, functions, found)
    _mark_sweeps(rows, module, found.tangents)
    _comments(rows)
    _fill(rows)
    return Sides(
        module, found.in_order(), rows, functions, sources_of(rows, found.shown)
    )


def sources_of(rows: Iterable[Row], shown: list[Shown]) -> dict[str, list[Shown]]:
    """For each function of the text, whose lines it has: the most ones first."""
    counts: dict[str, dict[Shown, int]] = {}
    for row in rows:
        if row.family is not None:
            own = counts.setdefault(row.function, {})
            for each in shown:
                if each.has(*row.family):
                    own[each] = own.get(each, 0) + 1
    return {
        name: sorted(own, key=own.__getitem__)[::-1] for name, own in counts.items()
    }


class Finder:
    """The user's functions behind a text, found by the places of its lines."""

    def __init__(self, transform: Any) -> None:
        root = root_of(transform)
        source = root.source
        self.files = {source.filename: File(source.filename, source.lines)}
        name = "your function" if is_lambda(root) else source.name
        node = source.node
        file = self.files[source.filename]
        self.root = Shown(name, file, node.lineno, node.end_lineno)
        self.shown = [self.root]
        #: Whether tangents go beside the values.
        self.tangents = transform.name == "jvp" and root is transform

    def file(self, name: str) -> File:
        if name not in self.files:
            self.files[name] = File(name, linecache.getlines(name))
        return self.files[name]

    def family(self, place: Place | None) -> Family | None:
        """The user's statement behind a place, which may be one of a text before."""
        while place is not None:
            module = generated_module(place[0])
            if module is None:
                return self.users(place[0], place[1])
            place = line_map_of(module).get(place[1])
        return None

    def users(self, name: str, line: int) -> Family | None:
        """The statement on a line, whose function is to be shown."""
        if not any(each.has(name, line) for each in self.shown):
            around = [
                node
                for node in self.file(name).nodes
                if node.lineno <= line <= (node.end_lineno or node.lineno)
            ]
            if not around:
                return None
            outermost = min(around, key=lambda node: node.lineno)
            self.show(self.file(name), outermost)
        statement = self.file(name).statement(line)
        return name, line if statement is None else statement.first

    def show(self, file: File, node: Any) -> None:
        """Have a function on the left; one inside of it is shown there."""
        self.shown.append(Shown(node.name, file, node.lineno, node.end_lineno))

    def in_order(self) -> list[Shown]:
        """The function itself first, without those that another one contains."""
        return [
            each
            for each in self.shown
            if each is self.root
            or not any(
                other is not each
                and other.has(each.file.name, each.first)
                and other.last >= each.last
                for other in self.shown
            )
        ]


def root_of(transform: Any) -> Any:
    """The transform of the user's own function: the innermost one."""
    while transform.inner is not None:
        transform = transform.inner
    return transform


def is_lambda(root: Any) -> bool:
    """Whether the function of a transform is one."""
    return bool(getattr(root.source.func, "__name__", "") == "<lambda>")


# -- the text --------------------------------------------------------------------------


def rows_of(
    module: Module, functions: dict[tuple[str, int], Function], found: Finder
) -> list[Row]:
    """The lines of the text, with what is known of each."""
    rows = [Row(k, text) for k, text in enumerate(module.text.splitlines(), 1)]
    for node in ast.parse(module.text).body:
        if isinstance(node, ast.FunctionDef):
            for row in rows[node.lineno - 1 : node.end_lineno]:
                row.function = node.name
    for function in functions.values():
        for line, statement in function.by_line.items():
            row = rows[line - 1]
            row.statement, row.family = statement, found.family(statement.place)
    return rows


def _mark_sweeps(rows: list[Row], module: Module, tangents: bool) -> None:
    """Which sweep each line belongs to; in forward mode, what is a tangent.

    Lines of second derivatives, and of gradients of a batch, belong to the sweep of the
    gradient that they were made of.
    """
    turned, tested = set(module.backward), _tested(module)
    back = _on_the_way_back(module)
    if not (module.adjoints or turned or tangents or back):
        return
    inner = {row.function for row in rows if row.number in back}
    for row in rows:
        statement = row.statement
        if statement is None or _is_docstring(statement) or row.number in tested:
            continue
        if tangents:
            values = "backward" if row.number in back else "forward"
            row.sweep = "tangent" if statement.backward else values
            continue
        if back and not (module.adjoints or module.backward):
            if row.function in inner:
                row.sweep = "backward" if row.number in back else "forward"
            continue
        if statement.backward:
            turned.add(row.function)
        row.sweep = "backward" if row.function in turned else "forward"


def _on_the_way_back(module: Module) -> set[int]:
    """The lines that come from a backward sweep, and a `return` after them."""
    found: set[int] = set()
    for line in explain_lines(module):
        if line.on_the_way_back or (line.is_return and line.first - 1 in found):
            found.update(range(line.first, line.last + 1))
    return found


def _tested(module: Module) -> range:
    """The lines of the test of the arguments, which is no part of a sweep."""
    if not module.tested:
        return range(0)
    body = next(
        node.body
        for node in ast.parse(module.text).body
        if isinstance(node, ast.FunctionDef) and node.name == module.entry
    )
    return range(body[1].lineno, (body[1].end_lineno or 0) + 1)


def _is_docstring(statement: Statement) -> bool:
    node = statement.node
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _fill(rows: list[Row]) -> None:
    """What stands between lines of one sweep, as an `else`, is of it too."""
    above: tuple[int, str, str] | None = None
    for row in rows:
        if not row.sweep:
            continue
        if above is not None and above[1:] == (row.function, row.sweep):
            for between in rows[above[0] : row.number - 1]:
                between.sweep = row.sweep
        above = (row.number, row.function, row.sweep)


def _comments(rows: list[Row]) -> None:
    """A comment belongs to the line below it that it quotes, or speaks of."""
    following: Row | None = None
    for row in reversed(rows):
        if row.statement is not None:
            following = row
        elif row.text.lstrip().startswith("#") and following is not None:
            if following.function == row.function:
                row.sweep, row.family = following.sweep, following.family
        elif row.text.strip() and row.statement is None:
            following = None
