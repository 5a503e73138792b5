"""What statements mention: how often they read each name, and what they bind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax

_JUMPS = (gast.Break, gast.Continue)


@dataclass(slots=True)
class Mentions:
    """How often names are read, which are bound, and whether a jump is inside."""

    reads: dict[str, int]
    binds: set[str]
    #: A `break` or `continue`.
    jumps: bool = False

    def __contains__(self, name: str) -> bool:
        return name in self.reads or name in self.binds


def mentions(node: Any) -> Mentions:
    """What a node or a list of nodes mentions."""
    reads: dict[str, int] = {}
    names, others = syntax.occurrences(node)
    binds = set(others)
    for name in names:
        ctx = type(name.ctx)
        if ctx is gast.Load:
            reads[name.id] = reads.get(name.id, 0) + 1
        elif ctx is gast.Store or ctx is gast.Del:
            binds.add(name.id)
    return Mentions(reads, binds, has_jump(node))


def has_jump(node: Any) -> bool:
    """Whether a `break` or `continue` is inside."""
    if not isinstance(node, list):
        if not syntax.has_blocks(node):
            return isinstance(node, _JUMPS)
        node = [node]
    return any(isinstance(s, _JUMPS) for s in syntax.all_statements(node))


def own_mentions(stmt: Any) -> Mentions:
    """What a statement mentions itself, not the statements in its blocks.

    `x += v` reads `x`.
    """
    found = mentions(syntax.head(stmt))
    if isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name):
        found.reads[stmt.target.id] = found.reads.get(stmt.target.id, 0) + 1
    return found


class Known:
    """What the statements of a tree mention, without walking them again and again.

    Whoever changes a statement says so.
    """

    def __init__(self) -> None:
        self.simple: syntax.ByNode[Mentions] = syntax.ByNode()
        #: Of statements with blocks, until something in them changes.
        self.compound: syntax.ByNode[Mentions] = syntax.ByNode()

    def of(self, stmt: Any) -> Mentions:
        """What the statement and the statements in it mention."""
        found = self.simple.get(stmt) or self.compound.get(stmt)
        if found is None:
            inner = syntax.inner_blocks(stmt)
            if inner:
                found = self.compound[stmt] = self._joined(stmt, inner)
            else:
                found = self.simple[stmt] = mentions(stmt)
        return found

    def _joined(self, stmt: Any, inner: list[list[Any]]) -> Mentions:
        joined = mentions(syntax.head(stmt))
        for each in (self.of(s) for block in inner for s in block):
            joined.binds |= each.binds
            joined.jumps = joined.jumps or each.jumps
            for name, count in each.reads.items():
                joined.reads[name] = joined.reads.get(name, 0) + count
        return joined

    def changed(self, node: Any) -> None:
        """The statement, or something in it, is not what it was.

        It is to be said of the statements around it too.
        """
        self.simple.forget(node)
        self.compound.forget(node)

    def renamed(self, name: str, new: str) -> None:
        """A name became another one, everywhere."""
        for found in (*self.simple.values(), *self.compound.values()):
            if name in found.binds:
                found.binds.remove(name)
                found.binds.add(new)
            count = found.reads.pop(name, 0)
            if count:
                found.reads[new] = found.reads.get(new, 0) + count
