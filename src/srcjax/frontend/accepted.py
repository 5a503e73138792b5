"""check: what of the language a function uses, and what becomes of it.

Before:

    for v in x:
        if v < 0:
            break
        total += v * v if v > 1 else v

After:

    for v in x:
        if v < 0:
            # break: what follows stands under its condition
            break
        # `a if c else b`: an `if`
        total += v * v if v > 1 else v

What is not in the language is refused by whoever meets it: `read` (generators,
coroutines) and `normalise` (the rest), which alone knows what is differentiated.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.unit import Unit, parameter_names
from srcjax.frontend.varying import Varying

AS_WRITTEN = "as written: nothing here is differentiated"
_LOOPS = (gast.For, gast.While)
_COMPREHENSIONS = {
    gast.ListComp: "list comprehension: a loop that appends",
    gast.SetComp: "set comprehension: a loop that adds",
    gast.DictComp: "dict comprehension: a loop that fills a dict",
    gast.GeneratorExp: "generator expression: a loop",
}
_FUNCTIONS = (gast.Lambda, gast.FunctionDef)
_SCOPES = (*_FUNCTIONS, *_COMPREHENSIONS)


def accepted(unit: Unit, source: Any) -> gast.FunctionDef:
    """The function as read, with comments on what `normalise` made of it.

    `unit` is its normal form, which knows the names that may carry a derivative.
    """
    node: gast.FunctionDef = syntax.clone(source.node)
    bound = syntax.names_written(node.body) | set(parameter_names(node.args))
    varying = Varying(source.resolve, bound)
    varying.names = unit.varying
    header = map(syntax.comment, _names(node, source, unit, bound))
    node.body = [*header, *_annotated(node.body, varying, node.body[-1])]
    return node


def _names(
    node: gast.FunctionDef, source: Any, unit: Unit, bound: set[str]
) -> Iterator[str]:
    """What the names of the function are, by kind."""
    carrying = [n for n in _in_order(node) if n in unit.varying]
    yield f"may carry a derivative: {', '.join(carrying) or 'nothing'}"
    inner = [n.args for n in syntax.walk(node.body) if isinstance(n, _FUNCTIONS)]
    bound = bound.union(*map(parameter_names, inner))
    found = []
    for name in sorted(syntax.names_read(node) - bound):
        try:
            value = source.resolve(name)
        except KeyError:
            found.append(f"{name} is not defined")
            continue
        if getattr(builtins, name, source) is not value:
            found.append(f"{name} = {_describe(value)}")
    if found:
        yield "from outside: " + ", ".join(found)


def _in_order(node: gast.FunctionDef) -> list[str]:
    found = dict.fromkeys(parameter_names(node.args))
    for sub in syntax.walk(node.body):
        if isinstance(sub, gast.Name) and isinstance(sub.ctx, gast.Store):
            found[sub.id] = None
    return list(found)


def _describe(value: Any) -> str:
    if isinstance(value, ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, (bool, int, float, complex, str, type(None))):
        text = repr(value)
        return text if len(text) <= 24 else type(value).__name__
    name = getattr(value, "__name__", None)
    if isinstance(name, str):
        return f"{type(value).__name__} {name}"
    return type(value).__name__


def _annotated(
    body: list[gast.stmt], varying: Varying, last: gast.stmt | None = None
) -> list[gast.stmt]:
    """The statements, each below the comments on it; `last` ends the function."""
    found: list[gast.stmt] = []
    untouched = False
    for stmt in body:
        plain = not varying.touches(stmt) and not _leaves(stmt)
        if plain and not isinstance(stmt, gast.Pass):
            if not untouched:
                found.append(syntax.comment(AS_WRITTEN))
            untouched = True
            found.append(stmt)
            continue
        untouched = False
        notes = dict.fromkeys(_notes(stmt, varying, stmt is last))
        found.extend(map(syntax.comment, notes))
        syntax.rewrite_blocks(stmt, lambda block: _annotated(block, varying))
        found.append(stmt)
    return found


def _leaves(stmt: gast.stmt) -> bool:
    """Whether the statement may end the function or an iteration."""
    exits = (gast.Return, gast.Break, gast.Continue)
    return any(isinstance(s, exits) for s in syntax.walk(stmt))


def _notes(stmt: gast.stmt, varying: Varying, ends: bool) -> Iterator[str]:
    """What becomes of a statement, construct by construct."""
    if isinstance(stmt, gast.Break):
        yield "break: what follows it stands under its condition"
    elif isinstance(stmt, gast.Continue):
        yield "continue: the rest of the iteration stands under a condition"
    elif isinstance(stmt, gast.Return) and not ends:
        yield "early return: one return at the end, and conditions that lead to it"
    elif isinstance(stmt, _LOOPS) and stmt.orelse:
        yield "`else` of a loop: an `if` after it"
    elif isinstance(stmt, gast.Match):
        yield "match: a chain of `if`"
    elif isinstance(stmt, gast.Try) and stmt.handlers:
        yield "except: a flag, and an `if` after the `try`"
    elif isinstance(stmt, gast.FunctionDef):
        recursive = stmt.name in syntax.names_read(stmt.body)
        where = (
            "taken out, as it calls itself"
            if recursive
            else "written where it is called"
        )
        yield f"inner function: {where}"
    elif isinstance(stmt, gast.Assign) and len(stmt.targets) > 1:
        yield "several targets: an assignment for each"
    elif isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Attribute):
        yield "update of an attribute: read, compute, write"
    if isinstance(stmt, gast.Assign) and _is_nested(stmt.targets[0]):
        yield "unpacking: one level at a time"
    if isinstance(stmt, (gast.FunctionDef, gast.ClassDef)):
        return
    for node in _expressions(stmt):
        note = _note_of(node, varying)
        if note is not None:
            yield note


def _note_of(node: gast.AST, varying: Varying) -> str | None:
    """What becomes of an expression, None if it stays what it is."""
    if isinstance(node, gast.NamedExpr):
        return "walrus: an assignment before" if varying.carries(node) else None
    if not isinstance(node, gast.expr) or not varying.carries(node):
        return None
    if isinstance(node, gast.IfExp):
        return "`a if c else b`: an `if`"
    if isinstance(node, gast.BoolOp):
        word = "and" if isinstance(node.op, gast.And) else "or"
        return f"`{word}` by value: an `if`"
    if isinstance(node, gast.Lambda):
        return "lambda: written where it is called"
    if isinstance(node, gast.Call) and any(k.arg == "out" for k in node.keywords):
        return "`out=`: an assignment to the contents"
    return _COMPREHENSIONS.get(type(node))


def _is_nested(target: Any) -> bool:
    return isinstance(target, (gast.Tuple, gast.List)) and not all(
        isinstance(e, gast.Name) for e in target.elts
    )


def _expressions(stmt: gast.stmt) -> Iterator[gast.AST]:
    """The expressions of a statement itself, without those of the blocks in it."""
    blocks = (gast.stmt, gast.ExceptHandler, gast.match_case)
    todo = [n for n in gast.iter_child_nodes(stmt) if not isinstance(n, blocks)]
    while todo:
        node = todo.pop(0)
        yield node
        if not isinstance(node, _SCOPES):
            todo.extend(gast.iter_child_nodes(node))


__all__ = ["accepted"]
