"""Arrays that are as long as they have to be: a row, where only one row is looked at.

    e = np.empty((len(x), x.shape[1]))        e = np.empty(x.shape[1])
    for i in range(len(x)):                   for i in range(len(x)):
        for j in range(e.shape[1]):     ->        for j in range(x.shape[1]):
            e[i, j] = ...                             e[j] = ...

First the sizes of what a kernel makes are said by those of what it is given; then an
array that only one loop looks at, each time at the row at hand, is made without rows.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.looking import MAKERS


def with_given_sizes(stmts: list[Any]) -> list[Any]:
    """The statements with the sizes of arrays as those that they were made with."""
    bindings = syntax.binding_counts(stmts)
    once = {name for name, count in bindings.items() if count == 1}

    def lasts(size: gast.expr) -> bool:
        """Whether a size is the same wherever it is asked for."""
        names = syntax.names_read(size) - {"len"}
        return all(n in once or not bindings[n] for n in names)

    def block(body: list[Any], around: dict[str, list[gast.expr]]) -> list[Any]:
        known = dict(around)
        out = []

        def visit(node: Any) -> Any:
            found = syntax.size_asked(node)
            sizes = known.get(found[0]) if found else None
            return syntax.clone(sizes[found[1]]) if found and sizes else node

        for stmt in body:
            if syntax.has_blocks(stmt):
                syntax.rewrite_blocks(stmt, lambda inner: block(inner, known))
                if isinstance(stmt, gast.For):
                    stmt.iter = syntax.map_expressions(stmt.iter, visit)
                elif isinstance(stmt, (gast.If, gast.While)):
                    stmt.test = syntax.map_expressions(stmt.test, visit)
                out.append(stmt)
                continue
            new = syntax.map_expressions(stmt, visit)
            made = sizes_made(new)
            if made is not None and all(map(lasts, made)):
                known.update({n: made for n in once & {new.targets[0].id}})
            out.append(new)
        return out

    return block(stmts, {})


def sizes_made(stmt: Any) -> list[gast.expr] | None:
    """The sizes that `y = np.empty((n, m))` spells out; None for all others."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.targets[0], gast.Name):
        return None
    if syntax.dotted(getattr(stmt.value, "func", None)) not in MAKERS:
        return None
    shape = stmt.value.args[0]
    sizes = list(shape.elts) if isinstance(shape, gast.Tuple) else [shape]
    is_size = isinstance(shape, gast.Tuple) or syntax.size_asked(shape) is not None
    return sizes if is_size or isinstance(shape, gast.Constant) else None


def with_rows_alone(stmts: list[Any]) -> list[Any]:
    """The statements with arrays of one row, where only the row at hand is used."""
    uses = syntax.use_counts(stmts)

    def block(body: list[Any]) -> list[Any]:
        for stmt in body:
            syntax.rewrite_blocks(stmt, block)
        for at, stmt in enumerate(body):
            sizes = sizes_made(stmt)
            empty = sizes and syntax.dotted(stmt.value.func) == "np.empty"
            if not empty or len(sizes or []) < 2:
                continue
            name = stmt.targets[0].id
            for loop in body[at + 1 :]:
                inside = syntax.count_uses(loop, name)
                if inside:
                    if inside == uses[name] and is_of_rows(loop, name):
                        take_row(stmt, loop, name)
                    break
        return body

    return block(stmts)


def is_of_rows(loop: Any, name: str) -> bool:
    """Whether all that a loop does with an array is at the row of its index."""
    if not isinstance(loop, gast.For) or not isinstance(loop.target, gast.Name):
        return False
    index = loop.target.id
    if index in syntax.names_written(loop.body):
        return False
    rows = [
        n
        for n in syntax.walk(loop.body)
        if isinstance(n, gast.Subscript)
        and syntax.is_name(n.value, name)
        and isinstance(n.slice, gast.Tuple)
        and syntax.is_name(n.slice.elts[0], index)
    ]
    return len(rows) == syntax.count_uses(loop, name)


def take_row(made: Any, loop: gast.For, name: str) -> None:
    """Leave the first axis of an array out."""

    def without_first(items: gast.expr) -> gast.expr:
        rest = items.elts[1:]
        return rest[0] if len(rest) == 1 else gast.Tuple(rest, syntax.LOAD)

    made.value.args[0] = without_first(made.value.args[0])
    for node in syntax.walk(loop.body):
        if isinstance(node, gast.Subscript) and syntax.is_name(node.value, name):
            node.slice = without_first(node.slice)
