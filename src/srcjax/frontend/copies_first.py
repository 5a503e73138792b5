"""Hand on the values of an iteration before it may end the loop.

Before:                                  After:

    for _ in range(n):                       for _ in range(n):
        new = 0.5 * (x + a / x)                  new = 0.5 * (x + a / x)
        if abs(new - x) < tol:                   done = abs(new - x) < tol
            return new                           x = new
        x = new                                  if done:
    return x                                         return x
                                             return x

Then all iterations do the same, and the backward sweep needs not know which of them was
the last one. So it is where a derivative is written backwards, only names are bound to
what other names hold, and nobody asks for what they held before where the loop is left.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import EXITS

_SCOPES = (
    gast.FunctionDef,
    gast.AsyncFunctionDef,
    gast.ClassDef,
    gast.Lambda,
    gast.GeneratorExp,
)
_OUTSIDE = (gast.Global, gast.Nonlocal, gast.Try, gast.With, gast.Delete)


def with_copies_first(
    body: list[gast.stmt],
    names: syntax.Names,
    parameters: Set[str],
    varying: Set[str],
) -> list[gast.stmt]:
    """The body of a function with the copies of loops before their exits, in place."""
    nodes = list(syntax.walk(body))
    if any(isinstance(n, _OUTSIDE) for n in nodes):
        return body
    kept = {
        name
        for node in nodes
        if isinstance(node, _SCOPES)
        for name in syntax.all_names(node)
    }
    _Loops(body, names, set(varying), kept).block(body, set(parameters), None)
    return body


class _Loops:
    """The loops of one function; `kept` are names that functions in it may read."""

    def __init__(
        self, body: list[gast.stmt], names: syntax.Names, varying: set[str], kept: set
    ) -> None:
        self.body = body
        self.names = names
        self.varying = varying
        self.kept = kept

    def block(self, stmts: list[Any], bound: set[str], trip: set[str] | None) -> None:
        """Change the loops of a block.

        `bound` are the names that surely have a value there, `trip` those that each
        trip of the loop around has bound, if there is one.
        """
        bound, trip = set(bound), None if trip is None else set(trip)
        for stmt in stmts:
            if isinstance(stmt, _SCOPES):
                continue
            if isinstance(stmt, (gast.For, gast.While)):
                given = set()
                if isinstance(stmt, gast.For):
                    given = syntax.names_written(stmt.target)
                if not stmt.orelse:
                    self.loop(stmt, bound | given, trip)
                self.block(stmt.body, bound | given, given)
                self.block(stmt.orelse, bound, trip)
            else:
                for inner in syntax.inner_blocks(stmt):
                    self.block(inner, bound, trip)
            if isinstance(stmt, gast.Assign):
                bound |= syntax.names_written(stmt)
                if trip is not None:
                    trip |= syntax.names_written(stmt)

    def loop(self, loop: Any, bound: set[str], trip: set[str] | None) -> None:
        """Move copies at the end of the loop before the exit that precedes them."""
        stmts = loop.body
        last = max((k for k, s in enumerate(stmts) if not _copied(s)), default=-1)
        copies, leaving = stmts[last + 1 :], stmts[last] if last >= 0 else None
        if not copies or not isinstance(leaving, gast.If) or leaving.orelse:
            return
        pairs = [pair for s in copies for pair in _copied(s)]
        targets = {name for name, _ in pairs}
        for stmt in stmts[:last]:
            if isinstance(stmt, gast.Assign):
                bound = bound | syntax.names_written(stmt)
        if not isinstance(leaving.body[-1], (gast.Break, gast.Return)):
            return
        if not {old for _, old in pairs} <= bound:
            return
        if not targets & self.varying or targets & self.kept:
            return
        if isinstance(loop, gast.For) and targets & syntax.names_written(loop.target):
            return
        inside = leaving.body
        same = inside[-1 - len(copies) : -1]
        if len(same) == len(copies) and all(map(syntax.equal, same, copies)):
            inside = [*inside[: -1 - len(copies)], inside[-1]]
            if syntax.all_names(inside[:-1]) & targets:
                return
        elif not self.is_forgotten(loop, inside, targets, trip):
            return
        elif isinstance(inside[-1], gast.Return):
            inside = [*inside[:-1], _with_copies(inside[-1], copies)]
        test: Any = leaving.test
        before: list[gast.stmt] = []
        if not _is_apart(test, targets):
            done = self.names.fresh("done")
            before = [gast.copy_location(syntax.assign(done, test), leaving)]
            test = syntax.name(done)
        new = gast.copy_location(gast.If(test, inside, []), leaving)
        loop.body = [*stmts[:last], *before, *copies, new]

    def is_forgotten(
        self, loop: Any, inside: list[Any], targets: set[str], trip: set[str] | None
    ) -> bool:
        """Whether nobody asks for what the targets held, where the loop is left."""
        *others, exit_ = inside
        if any(isinstance(s, EXITS) for s in syntax.walk(others)):
            return False
        if syntax.all_names(others) & targets:
            return False
        if isinstance(exit_, gast.Return):
            read = syntax.names_read(exit_.value) if exit_.value is not None else set()
            return not read & targets
        if any(
            syntax.count_reads(self.body, name) > syntax.count_reads(loop, name)
            for name in targets
        ):
            return False
        return trip is None or targets <= trip


def _copied(stmt: Any) -> list[tuple[str, str]]:
    """`x` and `new` of `x = new`, and those of `x, y = u, v`; empty for others."""
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
        return []
    target, value = stmt.targets[0], stmt.value
    if isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=False))
        same = len(target.elts) == len(value.elts)
    else:
        pairs, same = [(target, value)], True
    if not same or not all(isinstance(n, gast.Name) for p in pairs for n in p):
        return []
    return [(new.id, old.id) for new, old in pairs]


def _with_copies(stmt: gast.Return, copies: list[Any]) -> gast.Return:
    """`return x` for `return new` behind `x = new`."""
    pairs = [pair for s in copies for pair in _copied(s)]
    written = {new for new, _ in pairs}
    named = {
        old: new
        for k, (new, old) in enumerate(pairs)
        if old not in written and new not in {n for n, _ in pairs[k + 1 :]}
    }
    if stmt.value is None or any(
        isinstance(n, gast.NamedExpr) for n in syntax.walk(stmt.value)
    ):
        return stmt
    new = {old: syntax.name(to) for old, to in named.items()}
    value = syntax.substitute(stmt.value, new)
    return gast.copy_location(gast.Return(value), stmt)


def _is_apart(test: gast.expr, targets: set[str]) -> bool:
    """Whether the test may be asked after the copies."""
    plain = not any(isinstance(n, gast.NamedExpr) for n in syntax.walk(test))
    return plain and not targets & syntax.names_read(test)


__all__ = ["with_copies_first"]
