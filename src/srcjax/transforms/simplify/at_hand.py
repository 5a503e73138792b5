"""Read a value that has a name, instead of computing it again.

Before:                                  After:

    c = np.cos(yaw)                          c = np.cos(yaw)
    dyaw = d * np.cos(yaw)                   dyaw = d * c

    y_dot = x_dot * np.exp(x - s)            e = np.exp(x - s)
    e = np.exp(x - s)                        y_dot = x_dot * e
    dx = d * e                               dx = d * e

So it is with elementwise functions of one argument and with products of matrices, which
cost more than a name. What the name holds is never written to, and what it is made of
is the same at both places. A name that srcjax made moves up to the first statement that
surely computes the value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.lift import SCOPES
from srcjax.ops.elementwise_facts import is_elementwise
from srcjax.transforms.call_effects import called, is_pure, written_bases
from srcjax.transforms.simplify.kin import Near, may_be_one_of

#: What may leave a part of itself out.
_AT_TIMES = (gast.IfExp, gast.BoolOp, gast.Compare)


def read_at_hand(
    node: gast.FunctionDef,
    is_ours: Callable[[str], bool],
    shares: Callable[[str], set[str]],
) -> bool:
    """Read values by their names in the function, in place; whether any was.

    `is_ours` tells the names that srcjax made, `shares` the names that may share memory
    with a name.
    """
    found = Counter(gast.dump(sub) for sub in syntax.walk(node.body) if _is_costly(sub))
    again = {key for key, times in found.items() if times > 1}
    if not again:
        return False
    reading = _Reading(node, is_ours, shares, again)
    for block in list(syntax.blocks(node.body)):
        reading.block(block)
    return reading.changed


def _is_costly(value: Any) -> bool:
    """`np.exp(x)`, `A @ x`, or an operation with such a function."""
    if not isinstance(value, gast.BinOp):
        return _is_function(value)
    product = isinstance(value.op, gast.MatMult)
    return product or _is_function(value.left) or _is_function(value.right)


def _is_function(value: Any) -> bool:
    return isinstance(value, gast.Call) and is_elementwise(called(value))


class _Reading:
    """Goes over the blocks of one function; `again` are the values found twice."""

    def __init__(
        self,
        node: gast.FunctionDef,
        is_ours: Callable[[str], bool],
        shares: Callable[[str], set[str]],
        again: set[str],
    ) -> None:
        self.is_ours = is_ours
        self.shares = shares
        self.again = again
        self.changed = False
        self.written = written_bases(node.body)
        #: What statements compute that is found twice, and what they change.
        self.computed: syntax.ByNode[set[str]] = syntax.ByNode()
        self.gone: syntax.ByNode[set[str]] = syntax.ByNode()
        #: Of the block at hand: where statements stand, and where each value is
        #: computed first and last.
        self.order: dict[int, int] = {}
        self.ends: dict[str, list[int]] = {}
        #: The names that it reads before it binds them, or never binds.
        self.read_first: set[str] = set()
        self.bound = Counter(
            n.id
            for n in syntax.names_in([node.args, *node.body])
            if not isinstance(n.ctx, gast.Load)
        )

    def block(self, stmts: list[Any]) -> None:
        """Look for the names that hold values, and read them in the block."""
        self.order = {id(stmt): k for k, stmt in enumerate(stmts)}
        self.ends.clear()
        self.read_first = _read_first(stmts)
        for k, stmt in enumerate(stmts):
            for told in self.values_in(stmt):
                self.ends.setdefault(told, [k, k])[1] = k
        for stmt in list(stmts):
            value = self.held(stmt)
            if value is not None:
                at = next(k for k, s in enumerate(stmts) if s is stmt)
                self.below(stmts, at, value)
                if self.is_ours(stmt.targets[0].id):
                    self.above(stmts, at, value)

    def held(self, stmt: Any) -> gast.expr | None:
        """The value that the statement gives a name, if it is found twice."""
        if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
            return None
        target, value = stmt.targets[0], stmt.value
        if not isinstance(target, gast.Name) or not _is_costly(value):
            return None
        once = self.bound[target.id] == 1 and target.id not in syntax.names_read(value)
        if not once or not is_pure(value):
            return None
        if gast.dump(value) not in self.again:
            return None
        kept = not may_be_one_of(self.shares, (target.id,), self.written)
        return value if kept else None

    def below(self, stmts: list[Any], at: int, value: gast.expr) -> None:
        """Read the name in the statements after it, as far as it holds the value."""
        name, reads = stmts[at].targets[0].id, syntax.names_read(value)
        told, near = gast.dump(value), Near(self.shares, reads)
        _, last = self.ends[told]
        for stmt in stmts[at + 1 :]:
            if self.order[id(stmt)] > last:
                return
            changes = near.meets(self.changed_by(stmt))
            if changes and (syntax.has_blocks(stmt) or isinstance(stmt, SCOPES)):
                return
            if self.computes(stmt, told) and _read(stmt, value, name):
                self.changed = True
                self.computed.forget(stmt)
            if changes:
                return

    def above(self, stmts: list[Any], at: int, value: gast.expr) -> None:
        """Move the name up to the first statement that computes the value."""
        moved, reads = stmts[at], syntax.names_read(value)
        first, told = at, gast.dump(value)
        near = Near(self.shares, {*reads, moved.targets[0].id})
        earliest, _ = self.ends[told]
        again = moved.targets[0].id in self.read_first
        for k in reversed(range(at)):
            stmt = stmts[k]
            if self.order[id(stmt)] < earliest:
                break
            read = again and moved.targets[0].id in syntax.names_read(stmt)
            if read or near.meets(self.changed_by(stmt)):
                break
            if not self.computes(stmt, told):
                continue
            plain = not syntax.has_blocks(stmt) and not isinstance(stmt, SCOPES)
            if plain and _reads(stmt, value, surely=True):
                first = k
        if first == at:
            return
        for stmt in stmts[first:at]:
            if self.computes(stmt, told):
                _read(stmt, value, moved.targets[0].id)
                self.computed.forget(stmt)
        self.order[id(moved)] = self.order[id(stmts[first])]
        stmts.insert(first, stmts.pop(at))
        for mark in ("backward", "user_line"):
            setattr(moved, mark, getattr(stmts[first + 1], mark, None))
        self.changed = True

    def changed_by(self, stmt: Any) -> set[str]:
        """The names that may hold something else after the statement."""
        gone = self.gone.get(stmt)
        if gone is None:
            gone = syntax.names_written(stmt) | written_bases(stmt)
            if isinstance(stmt, gast.FunctionDef):
                gone.add(stmt.name)
            self.gone[stmt] = gone
        return gone

    def computes(self, stmt: Any, told: str) -> bool:
        """Whether a value, as `gast.dump` tells it, is part of the statement."""
        return told in self.values_in(stmt)

    def values_in(self, stmt: Any) -> set[str]:
        """The values that are part of the statement and found twice."""
        found = self.computed.get(stmt)
        if found is None:
            dumps = (gast.dump(s) for s in syntax.walk(stmt) if _is_costly(s))
            found = self.computed[stmt] = self.again.intersection(dumps)
        return found


def _read_first(stmts: list[Any]) -> set[str]:
    """The names that a statement reads before one of the block binds them."""
    found: set[str] = set()
    bound: set[str] = set()
    for stmt in stmts:
        reads, binds = syntax.names_of_both_kinds(stmt)
        found |= reads - bound
        bound |= binds
    return found


def _read(stmt: Any, value: gast.expr, name: str) -> bool:
    """Put the name wherever the statement computes with the value."""
    found = _reads(stmt, value)
    for parent, key, at in found:
        if at is None:
            setattr(parent, key, syntax.name(name))
        else:
            getattr(parent, key)[at] = syntax.name(name)
    return bool(found)


def _reads(
    node: Any, value: gast.expr, surely: bool = False, used_up: bool = False
) -> list[tuple[Any, str, int | None]]:
    """Where the value is an operand: nothing else gets hold of its memory there.

    `surely`: only where it is computed whenever the statement runs.
    """
    found: list[tuple[Any, str, int | None]] = []
    if isinstance(node, SCOPES) or (surely and isinstance(node, _AT_TIMES)):
        return found
    through = used_up and isinstance(node, gast.Subscript)
    mine = through or _uses_up(node)
    for key in node._fields:
        child = getattr(node, key, None)
        for at, part in (
            enumerate(child) if isinstance(child, list) else [(None, child)]
        ):
            if not isinstance(part, gast.AST):
                continue
            if mine and syntax.equal(part, value):
                found.append((node, key, at))
            else:
                found += _reads(part, value, surely, mine)
    return found


def _uses_up(node: Any) -> bool:
    """Whether the value of the expression is new, whatever it is made of."""
    operator = isinstance(node, (gast.BinOp, gast.UnaryOp))
    return operator or _is_function(node)


__all__ = ["read_at_hand"]
