"""Let the derivative of a quotient read the quotient.

Before:                              After:

    xn = xc / std                        xn = xc / std
    dxc = dxn / std                      dxc = dxn / std
    dstd = -dxn * xc / std**2            dstd = -dxn * xn / std

    step = (x**3 - a) / total            step = (x**3 - a) / total
    dx = 6 * d * (x**3 - a) / total**2   dx = 6 * d * step / total

It is read where the text has a name for it, and neither it nor what it is made of has
changed since. Factors in front of what is divided may stand anywhere in the product,
and the quotient may be the negative one. Numbers are the same but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import written_bases
from srcjax.transforms.quotients import Quotient, quotient_of, with_quotient

Shares = Callable[[str], set[str]]


#: The quotients that have names, the last one last.
Known = list[Quotient]


def use_quotients(block: list[Any], shares: Shares, known: Known | None = None) -> bool:
    """Read quotients that have names, in the block, in place; whether any was read."""
    known = list(known or [])
    changed = False
    for stmt in block:
        # What memory names share is asked only where there is a quotient to lose.
        new = quotient_of(stmt)
        gone = _changed_by(stmt, shares) if known or new else set()
        inner = syntax.inner_blocks(stmt)
        if inner:
            standing = _without(known, gone)
            for each in inner:
                changed |= use_quotients(each, shares, standing)
        elif known and _read(stmt, known):
            changed = True
            new = quotient_of(stmt)
        known = _without(known, gone)
        if new is not None and not gone - {new.name} & new.reads():
            known.append(new)
    return changed


def _changed_by(stmt: Any, shares: Shares) -> set[str]:
    """Names that hold something else after the statement, or may."""
    written = written_bases(stmt)
    return syntax.names_written(stmt).union(written, *map(shares, written))


def _without(known: Known, gone: set[str]) -> Known:
    return [q for q in known if not gone & {q.name, *q.reads()}]


def _read(stmt: Any, known: Known) -> bool:
    """Put quotients into the expressions of a statement of the way back."""
    changed = []
    # With a value of the function's what it is made of may be read no more.
    known = sorted(reversed(known), key=lambda quotient: quotient.backward)

    def reading(node: gast.expr) -> gast.expr:
        for quotient in known:
            found = with_quotient(node, quotient)
            if found is not None:
                changed.append(quotient)
                return gast.copy_location(found, node)
        return node

    if not isinstance(stmt, (gast.Assign, gast.AugAssign, gast.Expr, gast.Return)):
        return False
    back = getattr(stmt, "backward", False) or isinstance(stmt, gast.Return)
    if stmt.value is None or not back:
        return False
    value = syntax.map_expressions(stmt.value, reading)
    if changed:
        stmt.value = value
    return bool(changed)
