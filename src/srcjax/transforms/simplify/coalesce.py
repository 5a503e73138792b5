"""Give the values of one variable its one name again, where they do not overlap.

Before:                          After:

    z = x @ W                        z = x @ W
    z2 = np.tanh(z)                  z = np.tanh(z)
    return z2                        return z
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax


def coalesce(node: gast.FunctionDef, bases: dict[str, str]) -> None:
    """Rename `bases` (name -> wanted name) where the wanted name is free, in place."""
    for name, base in sorted(bases.items(), key=lambda item: (len(item[0]), item[0])):
        present = syntax.all_names(node)
        parameters = {p.id for p in syntax.walk(node.args) if isinstance(p, gast.Name)}
        if name not in present or name in parameters:
            continue
        if base not in present or not _overlap(node, name, base):
            syntax.rename(node, {name: base})
            _drop_self_copies(node)


def renumber(
    node: gast.FunctionDef, numbered: dict[str, str], reserved: frozenset[str]
) -> None:
    """Give numbered names (`total3`) the lowest number that is free, in place."""
    present = syntax.all_names(node) | {node.name}
    bound = syntax.names_written(node.body)
    parameters = {p.id for p in syntax.walk(node.args) if isinstance(p, gast.Name)}
    for name, base in sorted(numbered.items(), key=lambda i: (len(i[0]), i[0])):
        if name not in bound or name in parameters:
            continue
        free = syntax.Names((present | reserved) - {name}).fresh(base)
        if len(free) <= len(name) and free != name:
            syntax.rename(node.body, {name: free})
            present = (present - {name}) | {free}


def _drop_self_copies(node: gast.FunctionDef) -> None:
    for sub in syntax.walk(node):
        for key in ("body", "orelse", "finalbody"):
            stmts = getattr(sub, key, None)
            if isinstance(stmts, list):
                kept = [s for s in stmts if not _is_self_copy(s)]
                if not kept and key == "body" and stmts:
                    kept = [gast.Pass()]
                setattr(sub, key, kept)


def _is_self_copy(stmt: Any) -> bool:
    return (
        isinstance(stmt, gast.Assign)
        and len(stmt.targets) == 1
        and isinstance(stmt.targets[0], gast.Name)
        and syntax.is_name(stmt.value, stmt.targets[0].id)
    )


def _overlap(node: gast.FunctionDef, a: str, b: str) -> bool:
    """Whether one is defined while the other's value is still needed."""
    for sub in syntax.walk(node.body):
        if isinstance(sub, (gast.FunctionDef, gast.Lambda, gast.comprehension)) and {
            a,
            b,
        } & syntax.all_names(sub):
            return True
    found: list[bool] = []
    live = _Live(a, b, found)
    start = live.block(node.body, frozenset())
    parameters = {p.id for p in syntax.walk(node.args) if isinstance(p, gast.Name)}
    if a in parameters and b in start or b in parameters and a in start:
        found.append(True)
    return bool(found)


class _Live:
    """Liveness of two names; notes a definition of one while the other is live."""

    def __init__(self, a: str, b: str, found: list[bool]) -> None:
        self.a, self.b, self.found = a, b, found

    def block(self, stmts: list[gast.stmt], live: frozenset) -> frozenset:
        for stmt in reversed(stmts):
            live = self.statement(stmt, live)
        return live

    def reads(self, node: Any) -> frozenset:
        names = syntax.names_read(node)
        return frozenset(n for n in (self.a, self.b) if n in names)

    def define(self, names: set[str], live: frozenset, value: Any) -> frozenset:
        for mine, other in ((self.a, self.b), (self.b, self.a)):
            if mine in names:
                copy = isinstance(value, gast.Name) and value.id == other
                if other in live and not copy:
                    self.found.append(True)
                if other in names:
                    self.found.append(True)
                live = live - {mine}
        return live

    def statement(self, stmt: Any, live: frozenset) -> frozenset:
        if isinstance(stmt, gast.If):
            first = self.block(stmt.body, live)
            second = self.block(stmt.orelse, live)
            return first | second | self.reads(stmt.test)
        if isinstance(stmt, (gast.For, gast.While)):
            is_for = isinstance(stmt, gast.For)
            header = self.reads(stmt.iter if is_for else stmt.test)
            around = live if is_for else live | header
            while True:
                inner = self.block(stmt.body, around)
                if is_for:
                    inner = self.define(syntax.names_written(stmt.target), inner, None)
                if inner <= around:
                    break
                around = around | inner
            return around | header
        if isinstance(stmt, gast.Try) and stmt.handlers:
            after = live
            for handler in stmt.handlers:
                after |= self.block(handler.body, live)
            for inner in reversed(stmt.body):
                live = self.statement(inner, live | after)
            return live | after
        if isinstance(stmt, (gast.With, gast.Try)):
            live = self.block(getattr(stmt, "finalbody", []), live)
            live = self.block(stmt.body, live)
            return live | self.reads(getattr(stmt, "items", []))
        if isinstance(stmt, gast.AugAssign):
            if isinstance(stmt.target, gast.Name) and stmt.target.id in (
                self.a,
                self.b,
            ):
                live = self.define({stmt.target.id}, live, stmt.value)
                live = live | {stmt.target.id}
            return live | self.reads(stmt)
        if isinstance(stmt, gast.Break):
            return frozenset((self.a, self.b)) & (live | self.exits())
        names = syntax.names_written(stmt)
        live = self.define(names, live, getattr(stmt, "value", None))
        return live | self.reads(stmt)

    def exits(self) -> frozenset:
        """At a `break` anything may be live after the loop: assume it is."""
        return frozenset((self.a, self.b))
