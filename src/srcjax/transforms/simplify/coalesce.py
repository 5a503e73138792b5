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
    parameters = {p.id for p in syntax.walk(node.args) if isinstance(p, gast.Name)}
    names = _Renaming(node)
    present = syntax.all_names(node)
    for name, base in sorted(bases.items(), key=lambda item: (len(item[0]), item[0])):
        if name not in present or name in parameters:
            continue
        if base in present and _overlap(node, names, name, base):
            continue
        names.rename(name, base)
        present = (present - {name}) | {base}
        if any(map(_is_self_copy, names.copies)):
            _drop_self_copies(node)
            names = _Renaming(node)
            present = syntax.all_names(node)


def renumber(
    node: gast.FunctionDef, numbered: dict[str, str], reserved: frozenset[str]
) -> None:
    """Give numbered names (`total3`) the lowest number that is free, in place."""
    present = syntax.all_names(node) | {node.name}
    bound = syntax.names_written(node.body)
    parameters = {p.id for p in syntax.walk(node.args) if isinstance(p, gast.Name)}
    names = _Renaming(node.body)
    for name, base in sorted(numbered.items(), key=lambda i: (len(i[0]), i[0])):
        if name not in bound or name in parameters:
            continue
        free = syntax.Names((present | reserved) - {name}).fresh(base)
        if len(free) <= len(name) and free != name:
            names.rename(name, free)
            present = (present - {name}) | {free}


class _Renaming:
    """Renames in a tree, and knows what its statements mention, without new walks."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        self.look()

    def look(self) -> None:
        """Find the names in the tree."""
        #: The nodes of each name, and the names that other nodes bind.
        self.nodes: dict[str, list[gast.Name]] = {}
        self.others: set[str] = set()
        #: Assignments of a name to a name.
        self.copies: list[gast.Assign] = []
        #: Nodes with scopes of their own.
        self.scopes: list[Any] = []
        self.mentioned: dict[int, tuple[set[str], set[str], bool]] = {}
        for sub in syntax.walk(self.tree):
            if isinstance(sub, gast.Name):
                self.nodes.setdefault(sub.id, []).append(sub)
            elif isinstance(sub, (gast.FunctionDef, gast.ClassDef)):
                self.others.add(sub.name)
            elif isinstance(sub, (gast.Global, gast.Nonlocal)):
                self.others |= set(sub.names)
            elif isinstance(sub, gast.ExceptHandler) and isinstance(sub.name, str):
                self.others.add(sub.name)
            elif isinstance(sub, gast.Assign) and isinstance(sub.value, gast.Name):
                self.copies.append(sub)
            own = isinstance(sub, (gast.FunctionDef, gast.Lambda, gast.comprehension))
            if own and sub is not self.tree:
                self.scopes.append(sub)

    def rename(self, name: str, new: str) -> None:
        """Rename every occurrence of the name, in place."""
        if name in self.others or new in self.others:
            syntax.rename(self.tree, {name: new})
            self.look()
            return
        nodes = self.nodes.pop(name, [])
        for node in nodes:
            node.id = new
        self.nodes.setdefault(new, []).extend(nodes)
        for reads, binds, _ in self.mentioned.values():
            for found in (reads, binds):
                if name in found:
                    found.remove(name)
                    found.add(new)

    def mentions(self, stmt: gast.stmt) -> tuple[set[str], set[str], bool]:
        """Names that the statement reads and binds; whether a `break` is inside.

        Or a `continue`.
        """
        if id(stmt) not in self.mentioned:
            jumps = (gast.Break, gast.Continue)
            breaks = any(isinstance(n, jumps) for n in syntax.walk(stmt))
            found = syntax.names_read(stmt), syntax.names_written(stmt), breaks
            self.mentioned[id(stmt)] = found
        return self.mentioned[id(stmt)]


def _drop_self_copies(node: gast.FunctionDef) -> None:
    def kept(block: list[gast.stmt]) -> list[gast.stmt]:
        return [s for s in block if not _is_self_copy(s)]

    for sub in syntax.walk(node):
        syntax.rewrite_blocks(sub, kept)
    node.body = kept(node.body) or [gast.Pass()]


def _is_self_copy(stmt: Any) -> bool:
    return (
        isinstance(stmt, gast.Assign)
        and len(stmt.targets) == 1
        and isinstance(stmt.targets[0], gast.Name)
        and syntax.is_name(stmt.value, stmt.targets[0].id)
    )


def _overlap(node: gast.FunctionDef, names: _Renaming, a: str, b: str) -> bool:
    """Whether one is defined while the other's value is still needed."""
    if any({a, b} & syntax.all_names(scope) for scope in names.scopes):
        return True
    live = _Live(names, a, b)
    start = live.block(node.body, frozenset())
    parameters = {p.id for p in syntax.walk(node.args) if isinstance(p, gast.Name)}
    if a in parameters and b in start or b in parameters and a in start:
        return True
    return bool(live.found)


def is_defined_while(node: gast.FunctionDef, name: str, other: str) -> bool:
    """Whether `name` may be defined while the value of `other` is still needed."""
    names = _Renaming(node)
    late = [s for s in names.scopes if not isinstance(s, gast.comprehension)]
    if any({name, other} & syntax.all_names(scope) for scope in late):
        return True
    live = _Live(names, name, other)
    live.block(node.body, frozenset())
    return name in live.found


class _Live:
    """Liveness of two names; notes a definition of one while the other is live."""

    def __init__(self, names: _Renaming, a: str, b: str) -> None:
        self.names = names
        self.a, self.b = a, b
        #: Which of them is defined while the other is live.
        self.found: set[str] = set()
        #: What is live after, and at the head of, each loop around.
        self.after: list[frozenset] = []
        self.around: list[frozenset] = []

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
                if other in live and not copy or other in names:
                    self.found.add(mine)
                live = live - {mine}
        return live

    def statement(self, stmt: Any, live: frozenset) -> frozenset:
        reads, binds, breaks = self.names.mentions(stmt)
        mine = (self.a, self.b)
        if not breaks and not any(n in reads or n in binds for n in mine):
            return live
        if isinstance(stmt, gast.If):
            first = self.block(stmt.body, live)
            second = self.block(stmt.orelse, live)
            return first | second | self.reads(stmt.test)
        if isinstance(stmt, (gast.For, gast.While)):
            is_for = isinstance(stmt, gast.For)
            header = self.reads(stmt.iter if is_for else stmt.test)
            around = live if is_for else live | header
            self.after.append(live)
            while True:
                self.around.append(around)
                inner = self.block(stmt.body, around)
                self.around.pop()
                if is_for:
                    inner = self.define(syntax.names_written(stmt.target), inner, None)
                if inner <= around:
                    break
                around = around | inner
            self.after.pop()
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
            return live | reads.intersection(mine)
        if isinstance(stmt, gast.Break):
            return self.after[-1]
        if isinstance(stmt, gast.Continue):
            return self.around[-1]
        live = self.define(binds, live, getattr(stmt, "value", None))
        return live | reads.intersection(mine)
