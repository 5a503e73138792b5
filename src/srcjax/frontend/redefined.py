"""A function that is defined more than once: which one it is, as a number.

Before:                               After:

    if c:                                 if c:
        def f(z):                             def f_1(z):
            return z**2                           return z**2
                                              f_choice = 1
    else:                                 else:
        def f(z):                             def f_2(z):
            return z**3                           return z**3
                                              f_choice = 2
    y = f(x)                              y = f_1(x) if f_choice == 1 else f_2(x)

A function that is put in place of its calls must be known where it is called. Only for
a name that is always called: one that is passed on would be another function later.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.lift import own_nodes

_DEFINITIONS = (gast.FunctionDef, gast.Lambda)


def lower_redefined(body: list[gast.stmt], names: syntax.Names) -> list[gast.stmt]:
    """The body with a name for each definition, and a choice at each call."""
    body = _branched(body)
    for name, definitions in _redefined(body).items():
        choice = names.fresh(f"{name}_choice")
        numbered = {id(d): k for k, d in enumerate(definitions, 1)}
        known = {k: names.fresh(f"{name}_{k}") for k in numbered.values()}
        body = _Numbered(name, choice, numbered, known).block(body)
    return body


def _redefined(body: list[gast.stmt]) -> dict[str, list[Any]]:
    """The definitions of each name that several functions, and nothing else, have."""
    found: dict[str, list[Any]] = {}
    own = own_nodes(body)
    for node in own:
        if isinstance(node, gast.FunctionDef) and not node.decorator_list:
            found.setdefault(node.name, []).append(node)
        elif _is_named(node, gast.Lambda, gast.Name, gast.Attribute):
            found.setdefault(node.targets[0].id, []).append(node)
    bound: dict[str, int] = {}
    for node in own:
        if isinstance(node, (gast.FunctionDef, gast.ClassDef)):
            bound[node.name] = bound.get(node.name, 0) + 1
        elif isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            bound[node.id] = bound.get(node.id, 0) + 1
    shared = {
        n
        for s in syntax.walk(body)
        if isinstance(s, (gast.Nonlocal, gast.Global))
        for n in s.names
    }
    return {
        name: nodes
        for name, nodes in found.items()
        if len(nodes) > 1
        and any(isinstance(getattr(d, "value", d), _DEFINITIONS) for d in nodes)
        and bound[name] == len(nodes)
        and name not in shared
        and _only_called(body, name)
    }


def _is_named(node: Any, *kinds: type) -> bool:
    """Whether the statement binds a name to an expression of these kinds."""
    return (
        isinstance(node, gast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], gast.Name)
        and isinstance(node.value, kinds)
    )


def _branched(stmts: list[gast.stmt]) -> list[gast.stmt]:
    """`f = (lambda z: z) if c else g` as an `if`."""
    out: list[gast.stmt] = []
    for stmt in stmts:
        for block in syntax.inner_blocks(stmt, definitions=True):
            block[:] = _branched(block)
        value = getattr(stmt, "value", None)
        sides = (getattr(value, "body", None), getattr(value, "orelse", None))
        chosen = any(isinstance(s, (gast.Lambda, gast.IfExp)) for s in sides)
        if _is_named(stmt, gast.IfExp) and chosen:
            name = stmt.targets[0].id
            made = [
                [gast.copy_location(syntax.assign(name, s), stmt)] for s in sides if s
            ]
            first, second = map(_branched, made)
            new = gast.If(stmt.value.test, first, second)
            out.append(gast.copy_location(new, stmt))
        else:
            out.append(stmt)
    return out


def _only_called(body: list[gast.stmt], name: str) -> bool:
    calls = sum(
        isinstance(n, gast.Call) and syntax.is_name(n.func, name)
        for n in syntax.walk(body)
    )
    return 0 < calls == syntax.count_reads(body, name)


class _Numbered(gast.NodeTransformer):
    """Renames the definitions apart, and writes the choice at the calls."""

    def __init__(
        self, name: str, choice: str, numbered: dict[int, int], known: dict[int, str]
    ) -> None:
        self.name = name
        self.choice = choice
        self.numbered = numbered
        self.known = known

    def block(self, stmts: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for stmt in stmts:
            number = self.numbered.get(id(stmt))
            for block in syntax.inner_blocks(stmt, definitions=True):
                block[:] = self.block(block)
            out.append(self.visit(stmt))
            if number is not None:
                if isinstance(stmt, gast.FunctionDef):
                    stmt.name = self.known[number]
                else:
                    stmt.targets = [syntax.name(self.known[number], store=True)]
                chosen = syntax.assign(self.choice, syntax.const(number))
                out.append(gast.copy_location(chosen, stmt))
        return out

    def visit_Call(self, node: gast.Call) -> gast.expr:
        self.generic_visit(node)
        if not syntax.is_name(node.func, self.name):
            return node
        *first, last = self.known
        found: gast.expr = self.call_of(node, last)
        for number in reversed(first):
            test = syntax.expression(f"{self.choice} == {number}")
            found = gast.IfExp(test, self.call_of(node, number), found)
            gast.copy_location(found, node)
        return found

    def call_of(self, node: gast.Call, number: int) -> gast.Call:
        call: gast.Call = syntax.clone(node)
        call.func = syntax.name(self.known[number])
        return call


__all__ = ["lower_redefined"]
