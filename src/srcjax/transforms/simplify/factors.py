"""Cancel what a product multiplies by and divides by.

Before:                                 After:

    2 * (a / s**2 / (2 * s)) * r            a / s**2 / s * r
    dy * gamma * p / gamma                  dy * p
    -0.5 / det * det * inverse              -0.5 * inverse
    2 * (a * b)                             2 * a * b
    1 / s * r, 1 / 3 * r                    r / s, r / 3

The parts of a chain of products and quotients keep their order; constants are gathered
in front. A rewriting is given up where the result could have another shape or dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import is_pure, same_value

_CHAIN = (gast.Mult, gast.Div)
#: Divisions that stay as they are written: 1/3 has no short literal.
_LONGEST = 8
#: What `1 / s * r` starts with, which is `r / s` for numbers: of arrays it is one pass.
#: A minus is such a factor, too: `-(a * b)` is `-a * b`, but `-a / (3 * b)` stays.
_ONES = ("1", "1.0", "-1", "-1.0")


@dataclass
class Factor:
    """`base ** power`, with a negative power where it is divided by."""

    base: Any
    power: int


def cancelled(
    node: gast.expr,
    alike: Callable[[gast.expr, gast.expr], bool],
    is_float: Callable[[gast.expr], bool],
    is_number: Callable[[gast.expr], bool],
) -> gast.expr:
    """The product or quotient in lowest terms; the node itself if it is.

    **Arguments:**

    - `node`: an expression without side effects; it is not changed.
    - `alike`: whether two expressions are known to be floating, of one shape and dtype.
    - `is_float`: whether an expression is known to be floating.
    - `is_number`: whether an expression is known to be a number: of those, divisors
      become powers (`/ s**2 / s` is `/ s**3`), which take long for an array.
    """
    if not (isinstance(node, gast.BinOp) and isinstance(node.op, _CHAIN)):
        return node
    if not (_is_chain(node.left) or _is_chain(node.right)):
        return node
    factors = factors_of(node)
    constants = [f for f in factors if number_of(f.base) is not None]
    rest = [f for f in factors if number_of(f.base) is None]
    number = Fraction(1)
    for factor in constants:
        value = number_of(factor.base)
        if not value:
            return node
        number *= Fraction(value) ** factor.power
    kept = _cancel(rest, is_number)
    magnitudes = [f for f in constants if abs(number_of(f.base) or 0) != 1]
    gathers = len(magnitudes) > 1
    opens = bool(magnitudes) and _opens(node)
    one = syntax.text(factors[0].base) in _ONES and any(f.power > 0 for f in rest)
    one = one and (number_of(_first(node)) is not None or not magnitudes)
    one = one and is_number(node)
    if len(kept) == len(rest) and not (gathers or opens or one):
        return node
    new = product(number, kept)
    if new is None and one and abs(number.numerator) == 1:
        whole = product(Fraction(number.numerator), kept)  # `1 / 3 * r` is `r / 3`
        divisor = syntax.const(number.denominator)
        new = whole and gast.BinOp(whole, gast.Div(), divisor)
    if new is None:
        return node
    if sum(abs(f.power) for f in kept) == sum(abs(f.power) for f in rest):
        same = any(is_float(f.base) for f in rest)  # only constants have gone
    else:
        same = alike(new, node)
    return new if same else node


def _is_chain(node: Any) -> bool:
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        node = node.operand
    return isinstance(node, gast.BinOp) and isinstance(node.op, (*_CHAIN, gast.Pow))


def _first(node: Any) -> Any:
    """What a chain starts with."""
    while isinstance(node, gast.BinOp) and isinstance(node.op, _CHAIN):
        node = node.left
    return node


def _opens(node: Any) -> bool:
    """Whether a constant stands in front of parentheses: `2 * (a * b)`."""
    if not isinstance(node, gast.BinOp):
        return False
    inner: Any = node.right
    product = isinstance(inner, gast.BinOp) and isinstance(inner.op, _CHAIN)
    return (
        isinstance(node.op, gast.Mult) and product and number_of(node.left) is not None
    )


def factors_of(node: gast.expr) -> list[Factor]:
    """The factors of a chain, from left to right; a minus is the factor -1."""
    return list(_factors(node, 1))


def _factors(node: Any, sign: int) -> Any:
    """The factors of a chain, from left to right; a minus is the factor -1."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, _CHAIN):
        yield from _factors(node.left, sign)
        yield from _factors(
            node.right, sign if isinstance(node.op, gast.Mult) else -sign
        )
    elif number_of(node) is None and _is_minus(node):
        yield Factor(syntax.const(-1), 1)
        yield from _factors(node.operand, sign)
    elif isinstance(node, gast.BinOp) and isinstance(node.op, gast.Pow):
        power = number_of(node.right)
        if isinstance(power, int) and power > 1:
            yield Factor(node.left, sign * power)
        else:
            yield Factor(node, sign)
    else:
        yield Factor(node, sign)


def _is_minus(node: Any) -> bool:
    return isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub)


def number_of(node: Any) -> int | float | None:
    """The value of a finite real literal, with its sign."""
    if _is_minus(node):
        inner = number_of(node.operand)
        return None if inner is None else -inner
    if isinstance(node, gast.Constant) and type(node.value) in (int, float):
        finite = abs(node.value) < 1e300
        return node.value if finite else None
    return None


def _cancel(
    factors: list[Factor], is_number: Callable[[gast.expr], bool]
) -> list[Factor]:
    """The factors without those that are both multiplied and divided by."""
    kept: list[Factor] = []
    for factor in factors:
        left = factor.power
        for other in kept:
            if not left or not same_value(other.base, factor.base):
                continue
            if left < 0 and other.power < 0 and is_number(factor.base):
                other.power, left = other.power + left, 0
            elif other.power * left < 0:
                step = min(abs(left), abs(other.power))
                other.power += step if other.power < 0 else -step
                left += step if left < 0 else -step
        kept = [f for f in kept if f.power]
        if left:
            kept.append(Factor(factor.base, left))
    return kept


def product(number: Fraction, factors: list[Factor]) -> gast.expr | None:
    """The product written out; None if the number has no short literal."""
    if not factors:
        return None
    size = abs(number)
    literal = float(size)
    if Fraction(literal) != size:
        return None
    if literal.is_integer() and literal < 2**31:
        shown: Any = int(literal)
    else:
        shown = literal
    if len(repr(shown)) > _LONGEST:
        return None
    ordered = list(factors)
    if ordered[0].power < 0 and size == 1:  # start with what is multiplied by
        first = next((f for f in ordered if f.power > 0), None)
        if first is not None and all(is_pure(f.base) for f in ordered):
            ordered = [first, *(f for f in ordered if f is not first)]
    result: gast.expr | None = None
    if size != 1 or ordered[0].power < 0:
        result = syntax.const(shown)
        if number < 0:
            result = gast.UnaryOp(gast.USub(), result)
    for factor in ordered:
        part = factor.base
        if abs(factor.power) > 1:
            part = gast.BinOp(part, gast.Pow(), syntax.const(abs(factor.power)))
        if result is None:
            result = gast.UnaryOp(gast.USub(), part) if number < 0 else part
        else:
            op = gast.Mult() if factor.power > 0 else gast.Div()
            result = gast.BinOp(result, op, part)
    return result
