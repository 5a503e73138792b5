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
from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import is_pure, written_bases

Shares = Callable[[str], set[str]]


@dataclass(frozen=True)
class Quotient:
    """That a name holds a product divided by something, or the negative of that."""

    name: str
    factors: tuple[gast.expr, ...]
    bottom: gast.expr
    negative: bool
    #: Whether it is one of the way back.
    backward: bool

    def reads(self) -> set[str]:
        return syntax.names_read([*self.factors, self.bottom])


#: The quotients that have names, the last one last.
Known = list[Quotient]


def use_quotients(block: list[Any], shares: Shares, known: Known | None = None) -> bool:
    """Read quotients that have names, in the block, in place; whether any was read."""
    known = list(known or [])
    changed = False
    for stmt in block:
        # What memory names share is asked only where there is a quotient to lose.
        new = _quotient(stmt)
        gone = _changed_by(stmt, shares) if known or new else set()
        inner = syntax.inner_blocks(stmt)
        if inner:
            standing = _without(known, gone)
            for each in inner:
                changed |= use_quotients(each, shares, standing)
        elif known and _read(stmt, known):
            changed = True
            new = _quotient(stmt)
        known = _without(known, gone)
        if new is not None and not gone - {new.name} & new.reads():
            known.append(new)
    return changed


def _quotient(stmt: Any) -> Quotient | None:
    """What is divided by what in `q = a * b / c`."""
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
        return None
    target, value = stmt.targets[0], stmt.value
    if not isinstance(target, gast.Name):
        return None
    negative = False
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        negative, value = True, value.operand
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Div):
        return None
    factors = _factors(value.left)
    if isinstance(factors[0], gast.UnaryOp):
        sign: Any = factors[0]
        if not isinstance(sign.op, gast.USub):
            return None
        negative, factors[0] = not negative, sign.operand
    if all(isinstance(f, gast.Constant) for f in factors):
        return None
    back = getattr(stmt, "backward", False)
    found = Quotient(target.id, tuple(factors), value.right, negative, back)
    if target.id in found.reads() or not all(map(is_pure, [*factors, value.right])):
        return None
    return found


def _factors(node: Any) -> list[gast.expr]:
    """`a`, `b` and `c` of `a * b * c`."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
        return [*_factors(node.left), node.right]
    return [node]


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

    def with_quotient(node: gast.expr) -> gast.expr:
        for quotient in known:
            found = _replaced(node, quotient)
            if found is not None:
                changed.append(quotient)
                return gast.copy_location(found, node)
        return node

    if not isinstance(stmt, (gast.Assign, gast.AugAssign, gast.Expr, gast.Return)):
        return False
    back = getattr(stmt, "backward", False) or isinstance(stmt, gast.Return)
    if stmt.value is None or not back:
        return False
    value = syntax.map_expressions(stmt.value, with_quotient)
    if changed:
        stmt.value = value
    return bool(changed)


def _replaced(node: Any, quotient: Quotient) -> gast.expr | None:
    """`d * q / b` of `d * a / b**2`, and `d * q` of `d * a / b`, for `q = a / b`."""
    if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.Div):
        return None
    power: Any = node.right
    square = (
        isinstance(power, gast.BinOp)
        and isinstance(power.op, gast.Pow)
        and getattr(power.right, "value", None) == 2
        and syntax.equal(power.left, quotient.bottom)
    )
    if not square and not syntax.equal(power, quotient.bottom):
        return None
    rest = _factors(node.left)
    negative = quotient.negative
    if isinstance(rest[0], gast.UnaryOp) and isinstance(rest[0].op, gast.USub):
        negative, rest[0] = not negative, rest[0].operand
    place = None
    for factor in quotient.factors:
        at = next((k for k, f in enumerate(rest) if syntax.equal(f, factor)), None)
        if at is None:
            return None
        place = at if place is None else min(place, at)
        del rest[at]
    if not rest and not square:
        return None  # it would be another name for the same memory
    assert place is not None
    rest.insert(place, syntax.name(quotient.name))
    product = gast.UnaryOp(gast.USub(), rest[0]) if negative else rest[0]
    for factor in rest[1:]:
        product = gast.BinOp(product, gast.Mult(), factor)
    if square:
        product = gast.BinOp(product, gast.Div(), power.left)
    return product
