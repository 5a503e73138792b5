"""Take what all terms of a sum are multiplied by out of it.

Before:                                    After:

    dE += ddelta - ddelta * e * cos_E          dE += ddelta * (1 - e * cos_E)
    dp = d * y / p - d * (1 - y) / (1 - p)     dp = d * (y / p - (1 - y) / (1 - p))

What is taken out is a name, with the number that all terms begin with, and the sum that
is left has the dtype of the whole: truth values and counts are not added up by
themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import is_pure
from srcjax.transforms.simplify.factors import Factor, factors_of, number_of, product

_SUM = (gast.Add, gast.Sub)
#: A term: the number that it is multiplied by, and its other factors.
_Term = tuple[Fraction, list[Factor]]


def factored(value: Any, alike: Callable[[gast.expr, gast.expr], bool]) -> Any:
    """The expression with its sums factored; the same one where there is none.

    `alike` tells whether two expressions are known to be floating, of one dtype.
    """
    new = _factored(value, alike)
    if new is not None:
        return new
    changed = False
    for key, part in value.__dict__.items():
        if isinstance(part, gast.expr) and not _goes_on(value, part):
            found: Any = factored(part, alike)
        elif isinstance(part, list):
            found = [
                factored(p, alike) if isinstance(p, gast.expr) else p for p in part
            ]
            found = part if all(map(_same, found, part)) else found
        else:
            continue
        if found is not part:
            if not changed:
                value, changed = syntax.clone_shallow(value), True
            setattr(value, key, found)
    return value


def _same(a: Any, b: Any) -> bool:
    return a is b


def _goes_on(value: Any, part: Any) -> bool:
    """Whether the part is a sum that the sum around it goes on with."""
    return _is_sum(value) and part is value.left and _is_sum(part)


def _is_sum(node: Any) -> bool:
    return isinstance(node, gast.BinOp) and isinstance(node.op, _SUM)


def _factored(
    value: Any, alike: Callable[[gast.expr, gast.expr], bool]
) -> gast.expr | None:
    """The sum as a product; None if its terms have no factor in common."""
    if not _is_sum(value):
        return None
    terms = [_term(node, sign) for node, sign in _terms(value)]
    common = _common([rest for _, rest in terms])
    if not common or not is_pure(value) or not all(number for number, _ in terms):
        return None
    numbers = {abs(number) for number, _ in terms}
    number = numbers.pop() if len(numbers) == 1 else Fraction(1)
    if all(own < 0 for own, _ in terms):
        number = -number
    left = [_without((own / number, rest), common) for own, rest in terms]
    inner = _sum(left, value, alike)
    outer = product(number, [Factor(syntax.name(name), 1) for name in common])
    if inner is None or outer is None:
        return None
    new = gast.BinOp(outer, gast.Mult(), inner)
    return syntax.clone(new)


def _terms(node: Any, sign: int = 1) -> list[tuple[Any, int]]:
    """The terms of a sum, and whether they are added or taken away."""
    if not _is_sum(node):
        return [(node, sign)]
    other = sign if isinstance(node.op, gast.Add) else -sign
    return [*_terms(node.left, sign), (node.right, other)]


def _term(node: Any, sign: int) -> _Term:
    number = Fraction(sign)
    rest = []
    for factor in factors_of(node):
        value = number_of(factor.base)
        if value is None:
            rest.append(factor)
        elif value or factor.power > 0:
            number *= Fraction(value) ** factor.power
        else:
            number *= 0
    return number, rest


def _common(terms: list[list[Factor]]) -> list[str]:
    """Names that each of the terms is multiplied by, in the order of the first."""
    names = [
        {f.base.id for f in rest if f.power == 1 and syntax.is_name(f.base)}
        for rest in terms
    ]
    shared = set.intersection(*names)
    ordered = [getattr(f.base, "id", "") for f in terms[0] if f.power == 1]
    return [n for n in dict.fromkeys(ordered) if n in shared]


def _without(term: _Term, common: list[str]) -> _Term:
    """The term without one factor of each of the names."""
    number, rest = term
    left = list(common)
    kept = []
    for factor in rest:
        name = getattr(factor.base, "id", "") if factor.power == 1 else ""
        if name in left:
            left.remove(name)
        else:
            kept.append(factor)
    return number, kept


def _sum(
    terms: list[_Term], whole: gast.expr, alike: Callable[[gast.expr, gast.expr], bool]
) -> gast.expr | None:
    """The sum of the terms, which begins with one that is added."""
    terms.sort(key=lambda term: term[0] < 0)
    if not any(rest for _, rest in terms):
        return None
    result: gast.expr | None = None
    for number, rest in terms:
        size = abs(number)
        shown = product(size, rest) if rest else _literal(size)
        if shown is None or (rest and not alike(shown, whole)):
            return None
        op = gast.Sub() if number < 0 else gast.Add()
        result = shown if result is None else gast.BinOp(result, op, shown)
    return result


def _literal(size: Fraction) -> gast.expr | None:
    """A number that is written in full."""
    if Fraction(float(size)) != size:
        return None
    return syntax.const(int(size) if size.denominator == 1 else float(size))


__all__ = ["factored"]
