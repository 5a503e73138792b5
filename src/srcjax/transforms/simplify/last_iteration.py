"""Skip a product whose result the last iteration of a loop drops.

Before:                                  After:

    for i in reversed(range(n)):             for i in reversed(range(n)):
        dW[i] = h[i].T @ dz                      dW[i] = h[i].T @ dz
        dh = dz @ W[i].T                         if i > 0:
                                                     dh = dz @ W[i].T

The adjoint of a value that a loop carries goes round the backward loop; what the value
was at first often has no derivative (the inputs of the first layer), so that nothing
reads what the last iteration passes on. The condition costs a line: it is put around
products of matrices only, and only where the loop counts already.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import called
from srcjax.transforms.simplify.dead import DeadCode, Shares, given_away

Predicate = Callable[[gast.expr], bool]


class _Guard(DeadCode):
    """Liveness that looks at each loop as if no iteration followed."""

    costs: Predicate

    def loop(self, stmt: Any, live: set[str]) -> Any:
        after = set(live)
        kept = super().loop(stmt, live)
        test = None if kept is None or self.looking else goes_on(kept)
        if test is not None:
            kept.body = self.guarded(kept.body, test, after)
        return kept

    def guarded(
        self, body: list[gast.stmt], test: gast.expr, after: set[str]
    ) -> list[gast.stmt]:
        """The body with a condition around what is dropped at the end."""
        dropped = self.dropped(body, after)
        out = list(body)
        for position, stmt in enumerate(body):
            costly = position in dropped and self.is_costly(stmt)
            if costly and any(s is stmt for s in out):
                group = [body[p] for p in _chain(body, position, dropped)]
                if not _read_elsewhere(body, group):
                    _put(out, group, test)
        return out

    def dropped(self, body: list[gast.stmt], after: set[str]) -> set[int]:
        """Positions of the statements that the last iteration does not need."""
        live = set(after)
        plain = DeadCode(self.shares, self.local, self.given)
        copies = syntax.clone(body)  # all of them: statements are known by identity
        return {
            position
            for position in reversed(range(len(body)))
            if plain.statement(copies[position], live) is None
        }

    def is_costly(self, stmt: Any) -> bool:
        if not getattr(stmt, "backward", False):
            return False
        return isinstance(stmt, (gast.Assign, gast.AugAssign)) and self.costs(
            stmt.value
        )


def goes_on(loop: Any) -> gast.expr | None:
    """The condition that another iteration follows, where the loop has an index."""
    over: Any = getattr(loop, "iter", None)
    if called(over) != "reversed":
        return None
    over = over.args[0]
    if called(over) != "range":
        return None
    index = loop.target
    if not isinstance(index, gast.Name) or index.id not in syntax.names_read(loop.body):
        return None
    start = over.args[0] if len(over.args) > 1 else syntax.const(0)
    if not syntax.is_atom(start):
        return None
    changed = syntax.names_written(loop.body)
    if changed & {index.id, *syntax.names_read(start)}:
        return None
    operator = gast.NotEq() if len(over.args) > 2 else gast.Gt()
    return gast.Compare(syntax.name(index.id), [operator], [syntax.clone(start)])


def _chain(body: list[gast.stmt], start: int, dropped: set[int]) -> list[int]:
    """Positions around the start that are dropped with it and belong to it."""
    positions = [start]
    for step in (-1, 1):
        position = start + step
        while position in dropped:
            group = [body[p] for p in positions]
            stmt = body[position]
            fed = syntax.names_written(stmt) & syntax.names_read(group)
            feeds = syntax.names_written(group) & syntax.names_read(stmt)
            if not (fed or feeds) or not getattr(stmt, "backward", False):
                break
            positions.append(position)
            position += step
    return sorted(positions)


def _read_elsewhere(body: list[gast.stmt], group: list[gast.stmt]) -> bool:
    """Whether the rest of the iteration reads what the group computes."""
    last = next(i for i, stmt in enumerate(body) if stmt is group[-1])
    results = syntax.names_written(group)
    for stmt in group:
        if isinstance(stmt, gast.AugAssign):
            results |= _base(stmt.target)
    return any(is_read(body[last + 1 :], name) for name in results)


def is_read(stmts: list[gast.stmt], name: str) -> bool:
    """Whether the statements read the name, or add to it."""
    return name in syntax.names_read(stmts) or any(
        isinstance(s, gast.AugAssign) and name in _base(s.target)
        for s in syntax.walk(stmts)
    )


def _base(target: Any) -> set[str]:
    root = syntax.root_of(target)
    return {root} if root else set()


def _put(out: list[gast.stmt], group: list[gast.stmt], test: gast.expr) -> None:
    """Replace the group by an `if`, after the code of the same line of the user's."""
    at = next(i for i, stmt in enumerate(out) if stmt is group[0])
    del out[at : at + len(group)]
    line = getattr(group[-1], "user_line", None)
    reads, writes = syntax.names_read(group), syntax.names_written(group)
    while at < len(out) and getattr(out[at], "user_line", None) == line:
        stmt: Any = out[at]
        plain = isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name)
        if not plain or syntax.names_written(stmt) & (reads | writes):
            break
        at += 1
    guard = gast.If(syntax.clone(test), group, [])
    guard.backward, guard.user_line, guard.last_iteration = True, line, True
    out.insert(at, guard)


def guard_last(
    node: gast.FunctionDef,
    costs: Predicate,
    shares: Shares = lambda name: set(),
) -> None:
    """Put conditions around dropped products in the function's loops, in place.

    `costs` tells of an expression whether it is worth a condition.
    """
    parameters = {a.id for a in syntax.walk(node.args) if isinstance(a, gast.Name)}
    local = syntax.names_written(node.body) - parameters
    guard = _Guard(shares, local, given_away(node.body, local | parameters))
    guard.costs = costs
    node.body = guard.block(node.body, set())
