"""Find the syntax tree node that a live function was compiled from.

`inspect.getsource` is not enough for this. It follows `__wrapped__` to another
function, it cannot tell two lambdas on a line apart, and it returns whatever stands
at that line today. Here the whole file is parsed, so that lines and columns are the
file's own, and the node is compared with the function's code object.
"""

from __future__ import annotations
import __future__

import ast
import dis
import linecache
import os
import sys
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from srcjax.errors import SourceNotFoundError
from srcjax.process import warnings_are

__all__ = ["FunctionNode", "Located", "locate"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# (line, column), the columns in bytes as in `ast`.
Position = tuple[int, int]

# `from __future__ import ...` may come from elsewhere than the text: from an earlier
# notebook cell, for example. The code object remembers it.
FUTURE_FLAGS = 0
for _feature in __future__.all_feature_names:
    FUTURE_FLAGS |= getattr(__future__, _feature).compiler_flag

# These instructions carry no position of the function's body.
PROLOGUE = {
    dis.opmap[name]
    for name in ("RESUME", "MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR", "NOP")
    if name in dis.opmap
}

MAX_CACHED_FILES = 256
#: So many cells are looked into for what magics of IPython ran.
MOST_CELLS = 50


@dataclass(frozen=True, eq=False)
class Located:
    """Where a function stands in its file.

    - `node`: the node in the tree of the whole file; shared, not to be changed.
    - `class_name`: the class whose body it stands in, which decides how names such
        as `__x` are mangled; None outside of classes.
    - `lines`: all lines of the file.
    """

    node: FunctionNode
    class_name: str | None
    lines: list[str]


def locate(func: FunctionType) -> Located:
    """Returns the node that `func` was compiled from.

    Raises `SourceNotFoundError` where there is no source, or where what stands there
    now would not compile to the code of `func`.
    """
    code = func.__code__
    file = _open(code.co_filename, func.__globals__)
    found = file.find(code) if file else None
    if found is None and os.path.exists(code.co_filename):
        # linecache may hold an older text than the one that was imported. Only for
        # files on disk: a check must not throw notebook cells away.
        linecache.checkcache(code.co_filename)
        file = _open(code.co_filename, func.__globals__)
        found = file.find(code) if file else None
    if found is None and not os.path.exists(code.co_filename):
        found = _in_a_cell(code)
    if found is not None:
        return found
    if file is None:
        raise SourceNotFoundError(
            f"The source of `{func.__qualname__}` was not found: it was compiled from "
            f"{code.co_filename!r}, which has no text to read.",
            instead="define it in a file or in a notebook cell. Code from exec(), "
            "from `python -c` or from a plain Python prompt keeps no source.",
            filename=code.co_filename,
            lineno=code.co_firstlineno,
        )
    raise SourceNotFoundError(
        f"The source of `{func.__qualname__}` is not what it was compiled from: "
        f"{code.co_filename!r}, line {code.co_firstlineno}, changed after it was "
        "imported, or its code was rewritten while it was imported.",
        instead="import the file again, or restart Python.",
        filename=code.co_filename,
        lineno=code.co_firstlineno,
    )


def _in_a_cell(code: CodeType) -> Located | None:
    """Where a function stands in a cell of which IPython compiled a part elsewhere.

    `%%time` and `%time` do so, and keep no text. What is found compiles to the code.
    """
    shell_of = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = shell_of() if shell_of is not None else None
    if shell is None:
        return None
    cells = shell.user_ns.get("In", ())[-MOST_CELLS:]
    for cell in reversed([*cells, *shell.history_manager.input_hist_raw[-1:]]):
        for text in _within_magics(cell):
            lines = shell.transform_cell(text).splitlines(keepends=True)
            found = ParsedFile(code.co_filename, lines).find(code)
            if found is not None:
                return found
    return None


def _within_magics(cell: str) -> Iterator[str]:
    """What `%%time` and `%time` run of the text of a cell."""
    first, _, rest = cell.lstrip().partition("\n")
    if first.startswith("%%"):
        yield rest
    for line in cell.splitlines():
        magic, _, statement = line.strip().partition(" ")
        if magic.startswith("%") and not magic.startswith("%%"):
            yield statement.strip()


class ParsedFile:
    """The tree and the code objects of one text, made when they are first needed."""

    def __init__(self, filename: str, lines: list[str]) -> None:
        self.filename = filename
        self.lines = lines
        self.tree = self._compile(ast.PyCF_ONLY_AST)
        self._codes: dict[tuple[int, bool], dict[tuple[int, str], list[CodeType]]] = {}

    def find(self, code: CodeType) -> Located | None:
        """The node that compiles to `code`; None if there is none in this text."""
        if self.tree is None:
            return None
        nodes = list(_functions_at(self.tree, code.co_firstlineno, code.co_name))
        twins = [c for c in self.compiled_at(code) if _same_code(code, c)]
        if not twins and not os.path.exists(self.filename):
            # Notebooks compile each statement of a cell alone, and what a call compiles
            # to depends on the imports around it.
            twins = [c for c in self.compiled_at(code, True) if _same_code(code, c)]
        if not nodes or not twins:
            return None
        if code.co_name == "<lambda>":
            return self._find_lambda(code, nodes, twins)
        # A `def` starts its line, so there is only one on it.
        node, class_name = nodes[0]
        return Located(node, class_name, self.lines)

    def compiled_at(self, code: CodeType, alone: bool = False) -> list[CodeType]:
        """What this text compiles to at the line, and under the name, of `code`."""
        flags = code.co_flags & FUTURE_FLAGS
        if (flags, alone) not in self._codes:
            table: dict[tuple[int, str], list[CodeType]] = {}
            for module in self._compiled(flags, alone):
                for each in _nested_codes(module):
                    place = each.co_firstlineno, each.co_name
                    table.setdefault(place, []).append(each)
            self._codes[flags, alone] = table
        return self._codes[flags, alone].get((code.co_firstlineno, code.co_name), [])

    def _compiled(self, flags: int, alone: bool) -> Iterator[CodeType]:
        """The module, or its statements, each compiled alone."""
        trees = [ast.Module([s], []) for s in self.tree.body] if alone else [None]
        for tree in trees:
            module = self._compile(flags, tree)
            if module is not None:
                yield module

    def _find_lambda(
        self,
        code: CodeType,
        nodes: list[tuple[FunctionNode, str | None]],
        twins: list[CodeType],
    ) -> Located | None:
        span = _code_span(code)
        if span is not None:
            if span not in [_code_span(twin) for twin in twins]:
                return None
            inside = [n for n in nodes if _contains(_body_span(n[0]), span)]
            # Code of an outer lambda never lies inside the body of an inner one.
            best = max(inside, key=lambda n: _body_span(n[0])[0], default=None)
            return Located(*best, self.lines) if best else None
        # Columns were switched off (`-X no_debug_ranges`), or it is only a constant:
        # compile each candidate.
        same = [
            node
            for index, node in enumerate(nodes)
            if _same_code(code, self._compile_lambda(index, code))
        ]
        if not same:
            return None
        if len({ast.dump(node) for node, _ in same}) > 1:
            raise SourceNotFoundError(
                "Several lambdas on this line compile to the same code, so they "
                "cannot be told apart.",
                instead="put each lambda on a line of its own.",
                filename=self.filename,
                lineno=code.co_firstlineno,
            )
        return Located(*same[0], self.lines)

    def _compile_lambda(self, index: int, like: CodeType) -> CodeType:
        """The code of the lambda that is number `index` of those on its line.

        Compiled in its place, as its code depends on what is around it: on imports,
        for example. It is known by its line, to which nothing else is moved.
        """
        tree = self._compile(ast.PyCF_ONLY_AST)
        line = like.co_firstlineno
        node: Any = list(_functions_at(tree, line, like.co_name))[index][0]
        shift = len(self.lines)
        node.lineno += shift
        node.end_lineno += shift
        # Its defaults stay: they may contain other lambdas.
        ast.increment_lineno(node.body, shift)
        module = self._compile(like.co_flags & FUTURE_FLAGS, tree)
        # Lambdas in its body come after it.
        return next(
            code
            for code in _nested_codes(module)
            if (code.co_firstlineno, code.co_name) == (line + shift, like.co_name)
        )

    def _compile(self, flags: int, tree: ast.AST | None = None) -> Any:
        """The tree or the code of the text, or the code of `tree`.

        None if the text is not, or no longer, Python.
        """
        source: Any = "".join(self.lines) if tree is None else tree
        # Notebook cells may use `await` at their top level.
        flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        # Python said it when the file was imported; it is not ours to say again.
        with warnings_are("ignore"):
            try:
                return compile(source, self.filename, "exec", flags, dont_inherit=True)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None


_files: OrderedDict[str, ParsedFile] = OrderedDict()


def _open(filename: str, module_globals: dict[str, Any]) -> ParsedFile | None:
    """The parsed text of `filename` as linecache has it; None if there is no text."""
    lines = linecache.getlines(filename, module_globals)
    if not lines:
        return None
    file = _files.get(filename)
    # linecache keeps one list for as long as the text is the same.
    if file is None or (file.lines is not lines and file.lines != lines):
        file = _files[filename] = ParsedFile(filename, lines)
        while len(_files) > MAX_CACHED_FILES:
            _files.popitem(last=False)
    return file


def _functions_at(
    tree: ast.AST, line: int, name: str
) -> Iterator[tuple[FunctionNode, str | None]]:
    """Each function named `name` that starts at `line`, and its enclosing class.

    A decorated function starts at its first decorator, as `co_firstlineno` has it.
    """
    todo: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while todo:
        node, class_name = todo.pop()
        named = isinstance(node, FunctionNode) and name == _code_name(node)
        if named and _first_line(node) == line:
            yield node, class_name  # type: ignore[misc]
        if isinstance(node, ast.ClassDef):
            class_name = node.name
        todo += [
            (child, class_name)
            for child in ast.iter_child_nodes(node)
            # A node without a position, such as `arguments`, may contain any line.
            if not hasattr(child, "lineno")
            or _first_line(child) <= line <= child.end_lineno  # type: ignore[attr-defined]
        ]


def _code_name(node: ast.AST) -> str:
    return getattr(node, "name", "<lambda>")


def _first_line(node: Any) -> int:
    decorators = getattr(node, "decorator_list", ())
    return min([node.lineno, *(d.lineno for d in decorators)])


def _nested_codes(code: CodeType) -> Iterator[CodeType]:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from _nested_codes(const)


def _same_code(live: CodeType, compiled: CodeType) -> bool:
    """Whether `live` could have been compiled from the text of `compiled`."""
    if _fingerprint(live) == _fingerprint(compiled):
        return True
    # pytest rewrites the assert statements of test modules, which only adds to a
    # function. Its own names start with "@", which no name in a text can.
    if not any(n.startswith("@py") for n in live.co_names + live.co_varnames):
        return False
    return (
        _parameters(live) == _parameters(compiled)
        and set(live.co_freevars) == set(compiled.co_freevars)
        and set(live.co_names) >= set(compiled.co_names)
        and _plain_consts(live) >= _plain_consts(compiled)
    )


def _fingerprint(code: CodeType) -> tuple[Any, ...]:
    """All of a code object that decides what it does, wherever it stands."""
    return (
        code.co_name,
        _parameters(code),
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        tuple(
            _fingerprint(const) if isinstance(const, CodeType) else _const_key(const)
            for const in code.co_consts
        ),
    )


def _parameters(code: CodeType) -> tuple[Any, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    return (
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_varnames[:count],
    )


def _plain_consts(code: CodeType) -> set[Any]:
    return {_const_key(c) for c in code.co_consts if not isinstance(c, CodeType)}


def _const_key(const: Any) -> Any:
    """Tells constants apart that are equal: 1, 1.0, True; 0.0, -0.0."""
    if isinstance(const, frozenset):
        # The order of a set's elements depends on how it was built.
        return (frozenset, *sorted(map(repr, const)))
    return type(const), repr(const)


def _code_span(code: CodeType) -> tuple[Position, Position] | None:
    """Where the instructions of `code` begin and end; None if columns are unknown."""
    starts: list[Position] = []
    ends: list[Position] = []
    for opcode, position in zip(code.co_code[::2], code.co_positions(), strict=False):
        line, end_line, column, end_column = position
        if opcode in PROLOGUE or line is None or end_line is None:
            continue
        # Up to 3.12 the return of a lambda has its line, and no width.
        if (
            column is None
            or end_column is None
            or (line, column) == (end_line, end_column)
        ):
            continue
        starts.append((line, column))
        ends.append((end_line, end_column))
    return (min(starts), max(ends)) if starts else None


def _body_span(node: Any) -> tuple[Position, Position]:
    body = node.body
    return (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)


def _contains(
    outer: tuple[Position, Position], inner: tuple[Position, Position]
) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]
