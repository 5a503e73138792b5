"""What a statement divides by what, and derivatives of it that read the quotient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import is_pure


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


def quotient_of(stmt: Any) -> Quotient | None:
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


def with_quotient(node: Any, quotient: Quotient) -> gast.expr | None:
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


__all__ = ["Quotient", "quotient_of", "with_quotient"]
