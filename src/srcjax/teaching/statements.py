"""Statements by the lines that they stand on, in generated text and in the user's."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.backends.module import Module
from srcjax.process import tree_of

#: The user's file, the line in it, and its text.
Place = tuple[str, int, str]


@dataclass(eq=False)
class Statement:
    """A simple statement, or the head of a compound one."""

    node: ast.stmt
    first: int
    last: int
    #: The function that it stands in, and the loops around it, the outermost first.
    function: Function
    loops: tuple[Statement, ...] = ()
    #: What it binds or changes: names, and items such as `u[i]`.
    targets: tuple[str, ...] = ()
    #: The items among them, compiled, where reading them again changes nothing.
    items: dict[str, Any] = field(default_factory=dict)
    #: Several statements stand on its line: they cannot be told apart.
    shared: bool = False
    #: Of generated text: the user's line, and whether it is of the backward sweep.
    place: Place | None = None
    backward: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it binds, or whose values it changes."""
        return tuple(dict.fromkeys(t.partition("[")[0] for t in self.targets))

    def nodes(self) -> Iterator[ast.AST]:
        """All nodes that it consists of, those of its head alone if it is compound."""
        parts: list[Any] = [self.node]
        if hasattr(self.node, "body"):
            parts = [getattr(self.node, n, None) for n in ("test", "iter", "subject")]
        for part in parts:
            if part is not None:
                yield from ast.walk(part)

    def reads(self) -> set[str]:
        """The names that it reads."""
        found = set()
        for node in self.nodes():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.add(node.id)
            elif isinstance(node, ast.AugAssign):
                found.update(self.names)
        return found


@dataclass(eq=False)
class Function:
    """A function, and what stands on its lines."""

    name: str
    first: int
    parameters: tuple[str, ...]
    by_line: dict[int, Statement] = field(default_factory=dict)
    #: Of generated text: the user's name that each derivative belongs to.
    derivatives: dict[str, str] = field(default_factory=dict)


def functions_of(tree: ast.Module) -> dict[tuple[str, int], Function]:
    """All functions in a tree, by name and first line (that of the code object)."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            function = Function(node.name, first, _parameters(node.args))
            _add(function, node.body, ())
            found[node.name, first] = function
    return found


def _parameters(arguments: ast.arguments) -> tuple[str, ...]:
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return tuple(a.arg for a in named)


def _add(
    function: Function, body: list[ast.stmt], loops: tuple[Statement, ...]
) -> None:
    for node in body:
        blocks = list(_blocks(node))
        own = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        last = node.end_lineno or node.lineno
        if blocks or own:
            last = _end_of_head(node)
        targets, items = _targets(node)
        statement = Statement(node, node.lineno, last, function, loops, targets, items)
        for line in range(statement.first, statement.last + 1):
            other = function.by_line.setdefault(line, statement)
            if other is not statement:
                other.shared = True
        loop = isinstance(node, (ast.For, ast.While))
        for block in blocks if not own else ():
            inside = (*loops, statement) if loop and block is node.body else loops  # type: ignore[attr-defined]
            _add(function, block, inside)


def _blocks(node: Any) -> Iterator[list[ast.stmt]]:
    for _, value in ast.iter_fields(node):
        parts = value if isinstance(value, list) else []
        if parts and isinstance(parts[0], ast.stmt):
            yield parts
        elif parts and isinstance(parts[0], (ast.excepthandler, ast.match_case)):
            yield from (part.body for part in parts)


def _end_of_head(node: Any) -> int:
    """The last line of what stands before the colon."""
    parts = [getattr(node, n, None) for n in ("test", "iter", "subject", "args")]
    parts += getattr(node, "items", [])
    ends = [getattr(p, "end_lineno", None) for p in parts]
    return int(max([node.lineno, *(e for e in ends if e)]))


def _targets(node: ast.stmt) -> tuple[tuple[str, ...], dict[str, Any]]:
    """What a statement binds or changes, and how its items are read."""
    given: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        given = list(node.targets)
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For)):
        given = [node.target]
    elif isinstance(node, ast.With):
        given = [i.optional_vars for i in node.items if i.optional_vars is not None]
    found: list[str] = []
    items: dict[str, Any] = {}
    for target in _flat(given):
        if isinstance(target, ast.Name):
            found.append(target.id)
        elif isinstance(target, ast.Subscript) and _is_plain(target):
            text = ast.unparse(target)
            found.append(text)
            items[text] = compile(text, "<item>", "eval")
    return tuple(dict.fromkeys(found)), items


def _flat(targets: list[ast.expr]) -> Iterator[ast.expr]:
    for target in targets:
        if isinstance(target, (ast.Tuple, ast.List)):
            yield from _flat(target.elts)
        elif isinstance(target, ast.Starred):
            yield from _flat([target.value])
        else:
            yield target


_PLAIN = (ast.Name, ast.Constant, ast.Subscript, ast.Slice, ast.Tuple, ast.BinOp)
_PLAIN += (ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)  # type: ignore[assignment]


def _is_plain(target: ast.Subscript) -> bool:
    """Whether it may be read once more: names, numbers and arithmetic of them."""
    base: ast.expr = target
    while isinstance(base, ast.Subscript):
        base = base.value
    return isinstance(base, ast.Name) and all(
        isinstance(n, _PLAIN) for n in ast.walk(target)
    )


def generated(module: Module) -> dict[tuple[str, int], Function]:
    """The functions of generated text, with the user's lines and derivatives."""
    tree = tree_of(module.text)
    found = functions_of(tree)
    by_name: dict[str, Function] = {f.name: f for f in found.values()}
    for node in module.functions:
        function = by_name[node.name]
        function.derivatives = _derivatives(node)
        printed = next(
            n
            for n in tree.body
            if isinstance(n, ast.FunctionDef) and n.name == node.name
        )
        for function in (f for f in found.values() if _inside(printed, f)):
            _pair(function, node.body, printed.body)
            if not function.derivatives:
                function.derivatives = _derivatives(node)
    return found


def _inside(printed: ast.FunctionDef, function: Function) -> bool:
    first = min([printed.lineno, *(d.lineno for d in printed.decorator_list)])
    return first <= function.first <= (printed.end_lineno or printed.lineno)


def _pair(function: Function, ours: list, theirs: list) -> None:
    mine = [s for s in ours if not syntax.is_comment(s)]
    for a, b in zip(mine, theirs, strict=False):
        statement = function.by_line.get(b.lineno)
        if statement is not None and statement.node.lineno == b.lineno:
            statement.place = syntax.line_behind(a)
            statement.backward = bool(getattr(a, "backward", False))
        inside = (syntax.inner_blocks(s, definitions=True) for s in (a, b))
        for inner, printed in zip(*inside, strict=False):
            _pair(function, inner, printed)


def _derivatives(node: gast.FunctionDef) -> dict[str, str]:
    """The user's name that each derivative of a function belongs to, where it is one.

    What the passes left of the marks that `Finisher.mark_derivatives` made.
    """
    found: dict[str, set[str]] = {}
    for name in syntax.walk(node):
        of = getattr(name, "derivative_of", None)
        if of is not None and isinstance(name, gast.Name):
            found.setdefault(name.id, set()).add(of)
    return {name: of.pop() for name, of in found.items() if len(of) == 1}


def users(filename: str, module_globals: dict[str, Any]) -> dict[Any, Function]:
    """The functions of a file of the user's, or of a cell. Empty if it has no text."""
    text = "".join(linecache.getlines(filename, module_globals))
    try:
        return functions_of(ast.parse(text))
    except SyntaxError:
        return {}
