"""Let the derivative of a quotient read the quotient.

Before:                              After:

    xn = xc / std                        xn = xc / std
    dxc = dxn / std                      dxc = dxn / std
    dstd = -dxn * xc / std**2            dstd = -dxn * xn / std

It is read where the text has a name for it, and neither it nor what it is made of has
changed since.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import written_bases

Shares = Callable[[str], set[str]]
#: The name of the quotient of two names.
Known = dict[tuple[str, str], str]


def use_quotients(block: list[Any], shares: Shares, known: Known | None = None) -> bool:
    """Read quotients that have names, in the block, in place; whether any was read."""
    known = dict(known or {})
    changed = False
    for stmt in block:
        quotient = _quotient(stmt)
        # What memory names share is asked only where there is a quotient to lose.
        gone = _changed_by(stmt, shares) if known or quotient else set()
        inner = syntax.inner_blocks(stmt)
        if inner:
            standing = _without(known, gone)
            for each in inner:
                changed |= use_quotients(each, shares, standing)
        elif known:
            changed |= _read(stmt, known)
        known = _without(known, gone)
        if quotient is not None and not gone - {quotient[1]} & set(quotient[0]):
            known[quotient[0]] = quotient[1]
    return changed


def _quotient(stmt: Any) -> tuple[tuple[str, str], str] | None:
    """The operands and the name of `q = a / b`."""
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
        return None
    target, value = stmt.targets[0], stmt.value
    if not isinstance(target, gast.Name) or not isinstance(value, gast.BinOp):
        return None
    a, b = value.left, value.right
    if not isinstance(a, gast.Name) or not isinstance(b, gast.Name):
        return None
    if not isinstance(value.op, gast.Div) or target.id in (a.id, b.id):
        return None
    return (a.id, b.id), target.id


def _changed_by(stmt: Any, shares: Shares) -> set[str]:
    """Names that hold something else after the statement, or may."""
    written = written_bases(stmt)
    return syntax.names_written(stmt).union(written, *map(shares, written))


def _without(known: Known, gone: set[str]) -> Known:
    return {key: q for key, q in known.items() if not gone & {*key, q}}


def _read(stmt: Any, known: Known) -> bool:
    """Put quotients into the expressions of a statement."""
    read = []

    def with_quotient(node: gast.expr) -> gast.expr:
        found = _over_square(node)
        if found is None:
            return node
        factor, a, b = found
        quotient = known.get((a.id, b.id))
        if quotient is None:
            return node
        read.append(quotient)
        product = gast.BinOp(factor, gast.Mult(), syntax.name(quotient))
        return gast.copy_location(gast.BinOp(product, gast.Div(), b), node)

    if not isinstance(stmt, (gast.Assign, gast.AugAssign, gast.Expr, gast.Return)):
        return False
    if stmt.value is None:
        return False
    value = syntax.map_expressions(stmt.value, with_quotient)
    if read:
        stmt.value = value
    return bool(read)


def _over_square(node: Any) -> tuple[gast.expr, gast.Name, gast.Name] | None:
    """The parts of `factor * a / b**2`."""
    if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.Div):
        return None
    top, bottom = node.left, node.right
    if not isinstance(bottom, gast.BinOp) or not isinstance(bottom.op, gast.Pow):
        return None
    if getattr(bottom.right, "value", None) != 2 or not isinstance(top, gast.BinOp):
        return None
    if not isinstance(top.op, gast.Mult):
        return None
    a, b = top.right, bottom.left
    if not isinstance(a, gast.Name) or not isinstance(b, gast.Name):
        return None
    return top.left, a, b
