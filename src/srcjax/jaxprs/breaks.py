"""Loops that are left in the middle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax

#: Names of loops' own, which no program has.
STOPPED, COUNTER = "<stopped>", "<counter>"


@dataclass
class WhileLoop:
    """`before; while test: body; before`."""

    before: list
    test: Any
    negated: bool
    body: list
    #: Whether it is left in other places, which set a flag.
    stops: bool

    @classmethod
    def of(cls, stmt: gast.While) -> WhileLoop:
        """The loop; core form has `while True: before; if not test: break; body`."""
        before, test, negated, body = [], stmt.test, False, stmt.body
        if getattr(test, "value", None) is True:
            for k, first in enumerate(body):
                if not isinstance(first, gast.If) or not has_break([first]):
                    continue
                alone = [
                    len(b) == 1 and always_leaves(b) for b in (first.body, first.orelse)
                ]
                if any(alone):
                    rest = first.orelse if alone[0] else first.body
                    before, test, negated = body[:k], first.test, alone[0]
                    body = [*rest, *body[k + 1 :]]
                break
        if has_break(body):
            before, test, negated, body = [], stmt.test, False, stmt.body
        stops = has_break(body)
        return cls(
            before, test, negated, without_breaks(body) if stops else body, stops
        )


def counted(stmt: gast.For, items: range, scope: dict) -> gast.While:
    """The loop over a range as one that counts."""
    scope[COUNTER] = items.start
    below = gast.Lt() if items.step > 0 else gast.Gt()
    test = gast.Compare(syntax.name(COUNTER), [below], [syntax.const(items.stop)])
    step = gast.BinOp(syntax.name(COUNTER), gast.Add(), syntax.const(items.step))
    first = gast.Assign([stmt.target], syntax.name(COUNTER), None)
    return gast.While(test, [first, syntax.assign(COUNTER, step), *stmt.body], [])


def has_break(body: list) -> bool:
    """Whether a loop with this body may be left."""
    return any(
        isinstance(stmt, gast.Break)
        or (
            isinstance(stmt, gast.If)
            and (has_break(stmt.body) or has_break(stmt.orelse))
        )
        for stmt in body
    )


def without_breaks(body: list) -> list:
    """`if c: break`, and what follows, as `if c: stopped = True`, `else: ...`."""
    new: list = []
    for k, stmt in enumerate(body):
        if isinstance(stmt, gast.Break):
            return [*new, syntax.assign(STOPPED, syntax.const(True))]
        if isinstance(stmt, gast.If) and has_break([stmt]):
            rest = body[k + 1 :]
            first, second = stmt.body, stmt.orelse
            if always_leaves(first):
                second = [*second, *rest]
            elif always_leaves(second):
                first = [*first, *rest]
            else:
                first, second = [*first, *rest], [*second, *rest]
            made = gast.If(
                stmt.test,
                without_breaks(first) or [gast.Pass()],
                without_breaks(second),
            )
            return [*new, made]
        new.append(stmt)
    return new


def always_leaves(body: list) -> bool:
    return bool(body) and isinstance(body[-1], gast.Break)
