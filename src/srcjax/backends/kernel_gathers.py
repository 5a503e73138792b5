"""What a loop looks up in an array is taken before it, by a loop of its own.

    for i in range(len(idx)):              x_taken = np.empty(len(idx), x.dtype)
        y[i] = tanh_(x[idx[i]])            for i in range(len(idx)):
                                      ->       x_taken[i] = x[idx[i]]
                                           for i in range(len(idx)):
                                               y[i] = tanh_(x_taken[i])

A compiler computes no elementary functions of several elements at once where it has to
look each of them up.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.looking import MAKERS


def with_gathers_apart(node: gast.FunctionDef, words: set[str]) -> None:
    """Take what loops look up before them, in place.

    Args:
        words: elementary functions, as the text calls them.
    """
    names = syntax.Names(syntax.all_names(node))
    bindings = syntax.binding_counts(node.body)
    made = {
        s.targets[0].id
        for s in syntax.walk(node.body)
        if isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and bindings[s.targets[0].id] == 1
        and syntax.dotted(getattr(s.value, "func", None)) in MAKERS
    }
    given = {p.id for p in node.args.args if not bindings[p.id]}

    def block(body: list[Any]) -> list[Any]:
        out = []
        for stmt in body:
            syntax.rewrite_blocks(stmt, block)
            if isinstance(stmt, gast.For) and computes(stmt, words):
                out += taken_before(stmt, made, given, names)
            out.append(stmt)
        return out

    node.body = block(node.body)


def computes(loop: gast.For, words: set[str]) -> bool:
    """Whether a loop calls elementary functions in plain steps."""
    over = loop.iter
    counts = isinstance(over, gast.Call) and syntax.is_name(over.func, "range")
    if not isinstance(loop.target, gast.Name) or not counts or len(over.args) != 1:
        return False
    calls = {getattr(n.func, "id", "") for n in calls_in(loop.body)}
    return all(isinstance(s, gast.Assign) for s in loop.body) and bool(calls & words)


def calls_in(body: list[Any]) -> list[gast.Call]:
    """All calls in statements."""
    return [n for n in syntax.walk(body) if isinstance(n, gast.Call)]


def taken_before(
    loop: gast.For, made: set[str], given: set[str], names: syntax.Names
) -> list[Any]:
    """The loops that take what a loop looks up; it reads that, in place.

    Args:
        made: arrays that the kernel makes, of memory of their own.
        given: those that it is given, which are none of these.
    """
    stored = {
        n.value.id
        for n in syntax.walk(loop.body)
        if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)
    }
    if not stored <= made:  # an index that is wrong is found after what it stored
        return []
    index = loop.target.id
    changing = syntax.names_written(loop.body)
    maybe = [
        n for n in syntax.walk(loop.body) if isinstance(n, (gast.IfExp, gast.BoolOp))
    ]
    perhaps = {id(n) for n in syntax.walk(maybe)}
    found: dict[str, tuple[gast.expr, str]] = {}
    for node in syntax.walk(loop.body):
        if not is_looked_up(node) or id(node) in perhaps:
            continue
        arrays = {syntax.root_of(n) for n in syntax.walk(node) if is_subscript(n)}
        if not arrays <= (made | given) - stored:  # it may look at what is stored
            continue
        if syntax.names_read(node) & (changing - {index}):
            continue
        text = syntax.text(node)
        if text not in found:
            found[text] = node, names.fresh(f"{node.value.id}_taken")
    out = []
    for node, name in found.values():
        size = syntax.clone(loop.iter.args[0])
        text = f"{name} = np.empty(n, x.dtype)\n"
        text += f"for {index} in range(n):\n    {name}[{index}] = element"
        out += syntax.statements(text, n=size, x=node.value, element=syntax.clone(node))

    def visit(node: gast.expr) -> gast.expr:
        if not is_looked_up(node) or syntax.text(node) not in found:
            return node
        return syntax.expression(f"{found[syntax.text(node)][1]}[{index}]")

    if found:
        loop.body = [syntax.map_expressions(s, visit) for s in loop.body]
    return out


def is_looked_up(node: Any) -> bool:
    """Whether it is `x[idx[i]]`."""
    if not is_subscript(node) or not isinstance(node.ctx, gast.Load):
        return False
    inner = list(filter(is_subscript, syntax.walk(node.slice)))
    return isinstance(node.value, gast.Name) and bool(inner)


def is_subscript(node: Any) -> bool:
    """Whether it is an element or a part."""
    return isinstance(node, gast.Subscript)
