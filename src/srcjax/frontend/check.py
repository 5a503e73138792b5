"""Is this the core form that the passes agreed on?

`violations` looks at a unit between two passes. The tests turn `pipeline.VALIDATE` on,
so that it is asked after every pass of every program, and of what a transform wrote.

That is core form but for two things (`_IF_WRITTEN`). An expression may be made of
several operations, as those of rules are: `dx = dy * (1 - y * y)`, `return dx, dz`. And
a loop over examples that go their own ways may be left before its end: `if not
running.any(): break`.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import Way, is_compound, runs
from srcjax.frontend.attempts import caught_flag
from srcjax.frontend.unit import Unit
from srcjax.frontend.varying import Varying

_SIMPLE = (
    gast.Assign,
    gast.AugAssign,
    gast.AnnAssign,
    gast.Expr,
    gast.Assert,
    gast.Raise,
    gast.Pass,
    gast.FunctionDef,
    gast.ClassDef,
    gast.Import,
    gast.ImportFrom,
    gast.Global,
    gast.Delete,
)
_SEVERAL = "two operations"
_EARLY = "a break does not stand last in its iteration"
#: What is no violation in a function that a transform wrote, as it is said.
_IF_WRITTEN = (_SEVERAL, _EARLY)

#
# A `try` with handlers has the mark `lowered` (`frontend.attempts.lowered_try`). Its
# handlers hold assignments `flag = constant`, then `name = exception`, nothing else;
# what the user's handlers do stands in an `if flag:` after it.


def violations(unit: Unit, written: bool = False) -> list[str]:
    """What is not core form in the unit, one text each; empty if all is well.

    Args:
        written: whether a transform wrote it.
    """
    found: list[str] = []
    body = unit.node.body
    if not body or not isinstance(body[-1], gast.Return):
        return ["the last statement is no return"]
    returns = body[-1].value
    if not written and not syntax.is_atom(returns) and _names(returns, unit):
        found.append(f"no atom is returned: {syntax.text(body[-1])}")
    _block(body[:-1], unit, found, in_loop=False, last=True)
    if written:
        found = [text for text in found if not text.startswith(_IF_WRITTEN)]
    return found


def _names(node: Any, unit: Unit) -> set[str]:
    return syntax.names_read(node) & unit.varying


def _carries(node: Any, unit: Unit) -> bool:
    """Whether a derivative may flow into the value: `1.0 * (len(xs) - 1)` has none."""
    bound = syntax.names_written(unit.node.body) | set(unit.parameters)
    varying = Varying(unit.source.resolve, bound)
    varying.names = unit.varying
    return bool(varying.carries(node))


def _block(
    stmts: list[gast.stmt], unit: Unit, found: list[str], in_loop: bool, last: bool
) -> None:
    for position, stmt in enumerate(stmts):
        ending = last and position == len(stmts) - 1
        if isinstance(stmt, gast.Break):
            if not (in_loop and ending):
                found.append(_EARLY)
        elif isinstance(stmt, (gast.Return, gast.Continue)):
            found.append(f"{type(stmt).__name__.lower()} inside the body")
        elif isinstance(stmt, (gast.For, gast.While)):
            if stmt.orelse and _touches(stmt, unit):
                found.append("a loop has an else")
            if _touches(stmt, unit):
                _block(stmt.body, unit, found, True, True)
        elif runs(stmt, Way.ATTEMPT) and caught_flag(stmt) is None:
            if _touches(stmt, unit):
                found.append("the handlers of a try do more than set its flag")
        elif is_compound(stmt):
            # A `break` in a `try` does not end the block that the `try` stands in.
            last_too = ending and not isinstance(stmt, gast.Try)
            for block in syntax.inner_blocks(stmt):
                _block(block, unit, found, in_loop, last_too)
        elif not isinstance(stmt, _SIMPLE):
            if _touches(stmt, unit):
                found.append(f"{type(stmt).__name__} is not in the core form")
        elif isinstance(stmt, gast.Assign):
            _assignment(stmt, unit, found)


def _touches(stmt: Any, unit: Unit) -> bool:
    return bool(syntax.all_names(stmt) & unit.varying)


def _assignment(stmt: gast.Assign, unit: Unit, found: list[str]) -> None:
    target = stmt.targets[0]
    if not _names(stmt.value, unit) or not _touches(target, unit):
        return
    if len(stmt.targets) != 1:
        found.append(f"several targets: {syntax.text(stmt)}")
    if isinstance(target, (gast.Tuple, gast.List)) and not all(
        isinstance(e, gast.Name) for e in target.elts
    ):
        found.append(f"nested targets: {syntax.text(stmt)}")
    stored = isinstance(target, (gast.Subscript, gast.Attribute))
    made = isinstance(stmt.value, (gast.BinOp, gast.UnaryOp, gast.Call))
    if stored and made and _carries(stmt.value, unit):
        found.append(f"{_SEVERAL}: {syntax.text(stmt)}")
    if isinstance(stmt.value, gast.BinOp):
        for side in (stmt.value.left, stmt.value.right):
            if isinstance(side, gast.BinOp) and _names(side, unit):
                if not _carries(stmt.value, unit):
                    break
                found.append(f"{_SEVERAL}: {syntax.text(stmt)}")


__all__ = ["violations"]
