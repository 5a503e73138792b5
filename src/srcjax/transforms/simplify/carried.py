"""Comments of a generated text, on the lines of what is made of it.

    def grad_f(w, x):                    def vmap_grad_f(w, x):
        z = x @ w                            z = w @ x.T
        # return np.sum(np.tanh(z))          # return np.sum(np.tanh(z))
        dz = 1 - np.tanh(z) ** 2             dz = 1 - np.tanh(z) ** 2
        # z = x @ w                          # z = x @ w
        return dz @ x                        return dz @ x

What a second derivative, or the gradients of a batch, do for a line of the user's says
so like the gradient that they are made of.
"""

from __future__ import annotations

import ast
from types import ModuleType
from typing import Any

import gast

from srcjax import syntax
from srcjax.backends.load import generated_module, line_map_of
from srcjax.process import tree_of

#: The comments above a line, or above those of the same line of the user's before it.
Comments = dict[int, tuple[str, ...]]


def carry_comments(node: gast.FunctionDef) -> None:
    """Put the comments of the text that it was made of into a function, in place."""
    carrier = _Carrier()
    node.body = carrier.block(node.body)


class _Carrier:
    """Goes through the statements of one function, in their order."""

    def __init__(self) -> None:
        self.texts: dict[str, Comments] = {}

    def block(self, body: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        last: tuple[str, ...] = ()
        for stmt in body:
            found = self.of(stmt)
            if found != last:
                out += map(syntax.comment, found)
            last = found
            if syntax.inner_blocks(stmt):
                syntax.rewrite_blocks(stmt, self.block)
                last = ()
            out.append(stmt)
        return out

    def of(self, stmt: gast.stmt) -> tuple[str, ...]:
        """The comments that the line behind a statement stands under."""
        where = syntax.line_behind(stmt)
        if where is None:
            return ()
        name, line, _ = where
        if name not in self.texts:
            module = generated_module(name)
            self.texts[name] = {} if module is None else comments_of(module)
        return self.texts[name].get(line, ())


def comments_of(module: ModuleType) -> Comments:
    """The comments in the text of a generated module, by the lines below them."""
    text = module.__loader__.text  # type: ignore[union-attr]
    lines, places = text.splitlines(), line_map_of(module)
    found: Comments = {}

    def block(body: list[Any]) -> None:
        current: tuple[str, ...] = ()
        behind = None
        for stmt in body:
            above = _above(lines, stmt.lineno)
            if above:
                current, behind = above, places.get(stmt.lineno)
            elif places.get(stmt.lineno) != behind:
                current = ()
            if current:
                found[stmt.lineno] = current
            for inner in syntax.inner_blocks(stmt):
                block(inner)

    for function in tree_of(text).body:
        if isinstance(function, ast.FunctionDef):
            block(function.body)
    return found


def _above(lines: list[str], number: int) -> tuple[str, ...]:
    """The comment lines above a line."""
    first = number - 1
    while first and lines[first - 1].split()[:1] == ["#"]:
        first -= 1
    return tuple(line.strip()[2:] for line in lines[first : number - 1])


__all__ = ["carry_comments", "comments_of"]
