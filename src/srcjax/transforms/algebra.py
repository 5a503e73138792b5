"""Local algebra: a generated expression becomes what a person would have written.

dy * 1.0 + -(2 * (0.5 * x))    ->    dy - x
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import is_pure, same_value

Predicate = Callable[[gast.expr], bool]
Number = int | float
Bindings = dict[str, gast.expr]


def tidy(expr: gast.expr, is_signed: Predicate, is_float: Predicate) -> gast.expr:
    """Rewrites arithmetic, from the inside out, without changing dtype or shape.

    Values are kept to the last bit, with six exceptions that a reader would not
    write out: the sign of a zero (`x + 0`), the rounding of `x * (1 / y)`, which
    becomes `x / y`, that of nested constant factors such as `3 * (5 * x)`, that of
    their product (`3 * (0.1 * x)` is `0.3 * x`), that of powers of powers, and that of
    what two terms of a sum have in common: `x * y - x * z` is `x * (y - z)`.

    **Arguments:**

    - `expr`: an expression; it is not changed. What has an effect in it, as
      `tape.pop()`, is evaluated as often as before, in the same order.
    - `is_signed`: whether an expression is known to be no unsigned integer or truth
      value, such as an adjoint. What is floating is signed without being asked for.
    - `is_float`: whether an expression is known to be floating or complex. It is
      asked about subtrees of `expr` only; what follows for sums, products and so on
      is worked out here.

    **Returns:** the new expression, which shares the unchanged parts of the old one.
    A result that was a fresh array may now be an operand itself: `x * 1` is `x`.
    """
    return _Tidier(is_signed, is_float).run(expr)


@dataclass
class Rule:
    """A pattern and what replaces it.

    `a` and `b` stand for any expression, `c` and `k` for a numeric constant. Those in
    `floats` have to be floating, those in `signed` no unsigned integers (`a|b`: one of
    them), and `when` takes the constants.
    """

    pattern: str
    result: str
    floats: str = ""
    signed: str = ""
    when: Callable[..., bool] | None = None
    tree: gast.expr = field(init=False)
    template: gast.expr = field(init=False)
    constants: list[str] = field(init=False)
    keeps_order: bool = field(init=False)

    def __post_init__(self) -> None:
        self.tree = _parse(self.pattern)
        self.template = _parse(self.result)
        self.constants = [name for name in ("c", "k") if name in self.pattern]
        before, after = map(_operands_in_order, (self.tree, self.template))
        self.keeps_order = before == after


def _parse(text: str) -> gast.expr:
    return syntax.gast_of(text, mode="eval").body


def _operands_in_order(tree: gast.expr) -> list[str]:
    """What a pattern evaluates, in its order: each of `a` and `b` once."""
    names = [name.id for name in syntax.names_in(tree) if name.id in ("a", "b")]
    return list(dict.fromkeys(names))


def _negative(c: Number) -> bool:
    return c < 0


def _whole(c: Number) -> bool:
    """A float that an integer can stand for next to a floating operand."""
    return isinstance(c, float) and c.is_integer() and 0 < abs(c) < 2**31


def _counts(c: Number, k: Number) -> bool:
    """Powers that are products: how they are grouped is a matter of rounding."""
    return all(type(v) is int and 0 < v < 8 for v in (c, k))


def _square_is_short(c: Number, k: Number) -> bool:
    return type(c) is int and type(k) is int and 0 < k < 8 and abs(c) ** k < 100


def _is_short(value: Number) -> bool:
    return math.isfinite(value) and len(repr(abs(value))) <= 8


def _times(c: Number, k: Number) -> Number:
    """The product of two literals as a person computes it: 0.3 for 3 * 0.1."""
    product = c * k
    if not math.isfinite(product) or Fraction(c) * Fraction(k) == Fraction(product):
        return product
    written = Decimal(repr(c)) * Decimal(repr(k))
    nearest = float(written)
    return nearest if Decimal(repr(nearest)) == written else product


def _product_is_exact(c: Number, k: Number) -> bool:
    """Whether the product can be written down, in few digits."""
    product = _times(c, k)
    if not _is_short(product):
        return False
    if Fraction(c) * Fraction(k) == Fraction(product):
        return True
    return Decimal(repr(c)) * Decimal(repr(k)) == Decimal(repr(product))


def _float_product_is_exact(c: Number, k: Number) -> bool:
    """Whatever the first one is multiplied with is floating then."""
    return isinstance(c, float) and _product_is_exact(c, k)


def _product_with_float_is_exact(c: Number, k: Number) -> bool:
    """Whatever the second one is multiplied with is floating, and so is their product.

    As a literal: what is shown as a whole number would not be.
    """
    return _float_product_is_exact(k, c) and isinstance(_times(c, k), float)


def _quotient_is_exact(c: Number, k: Number) -> bool:
    if not k or not _is_short(c / k):
        return False
    return Fraction(c) / Fraction(k) == Fraction(c / k)


def _sum_is_exact(c: Number, k: Number) -> bool:
    return _is_short(c + k) and Fraction(c) + Fraction(k) == Fraction(c + k)


def _difference_is_exact(c: Number, k: Number) -> bool:
    return _sum_is_exact(c, -k)


def _binary_powers(c: Number, k: Number) -> bool:
    return all(abs(math.frexp(v)[0]) == 0.5 for v in (c, k)) and _is_short(c * k)


RULES = [
    # Neutral elements
    Rule("a * 1", "a", floats="a"),  # a·1 = a
    Rule("1 * a", "a", floats="a"),  # 1·a = a
    Rule("a / 1", "a", floats="a"),  # a/1 = a
    Rule("a ** 1", "a"),  # a¹ = a
    Rule("a + 0", "a", floats="a"),  # a + 0 = a, but for -0.0
    Rule("0 + a", "a", floats="a"),  # 0 + a = a, but for -0.0
    Rule("a - 0", "a", floats="a"),  # a - 0 = a
    # Signs
    Rule("--a", "a", signed="a"),  # -(-a) = a
    Rule("0 - a", "-a", signed="a"),  # 0 - a = -a, but for 0.0
    Rule("a * -1", "-a", signed="a"),  # a·(-1) = -a
    Rule("-1 * a", "-a", signed="a"),  # (-1)·a = -a
    Rule("a / -1", "-a", signed="a"),  # a/(-1) = -a
    Rule("-(a - b)", "b - a", signed="a|b"),  # -(a - b) = b - a, but for 0.0
    Rule("a + -b", "a - b", signed="b"),  # a + (-b) = a - b
    Rule("a - -b", "a + b", signed="b"),  # a - (-b) = a + b
    Rule("-a + b", "b - a", signed="a"),  # (-a) + b = b - a
    Rule("a + c", "a - -c", when=_negative),  # a + (-2) = a - 2
    Rule("a - c", "a + -c", when=_negative),  # a - (-2) = a + 2
    # One sign in front of a product
    Rule("-a * b", "-(a * b)", signed="a"),  # (-a)·b = -(a·b)
    Rule("a * -b", "-(a * b)", signed="b"),  # a·(-b) = -(a·b)
    Rule("-a @ b", "-(a @ b)", signed="a"),  # (-A)·B = -(A·B)
    Rule("a @ -b", "-(a @ b)", signed="b"),  # A·(-B) = -(A·B)
    Rule("-a / b", "-(a / b)", signed="a"),  # (-a)/b = -(a/b)
    Rule("a / -b", "-(a / b)", signed="b"),  # a/(-b) = -(a/b)
    Rule("a * c", "-(a * -c)", signed="a", when=_negative),  # a·(-2) = -(a·2)
    Rule("a / c", "-(a / -c)", signed="a", when=_negative),  # a/(-2) = -(a/2)
    Rule("-(c * a)", "-c * a", signed="a"),  # -(2·a) = (-2)·a
    Rule("-(a * c)", "-c * a", signed="a"),  # -(a·2) = (-2)·a
    Rule("-(c / a)", "-c / a", signed="a"),  # -(2/a) = (-2)/a
    Rule("-(-a * b)", "a * b"),  # -((-a)·b) = a·b, for integers that wrap as well
    # ... which a sum takes up
    Rule("a + c * b", "a - -c * b", signed="b", when=_negative),  # a + (-2)·b = a - 2·b
    Rule("a - c * b", "a + -c * b", signed="b", when=_negative),  # a - (-2)·b = a + 2·b
    Rule("a + c / b", "a - -c / b", signed="b", when=_negative),  # a + (-2)/b = a - 2/b
    Rule("a - c / b", "a + -c / b", signed="b", when=_negative),  # a - (-2)/b = a + 2/b
    Rule("c * a + b", "b - -c * a", signed="a", when=_negative),  # (-2)·a + b = b - 2·a
    Rule("c / a + b", "b - -c / a", signed="a", when=_negative),  # (-2)/a + b = b - 2/a
    # Constant factors
    Rule("c * (k * a)", "(c * k) * a", floats="a", when=_product_is_exact),  # 2·(3·a)
    Rule("c * (a * k)", "(c * k) * a", floats="a", when=_product_is_exact),  # 2·(a·3)
    Rule("(c * a) * k", "(c * k) * a", floats="a", when=_product_is_exact),  # (2·a)·3
    Rule("(a * c) * k", "(c * k) * a", floats="a", when=_product_is_exact),  # (a·2)·3
    Rule("(c * a) * k", "(c * k) * a", when=_float_product_is_exact),  # (1.0·a)·2
    Rule(
        "(a * c) * k", "(c * k) * a", signed="a", when=_float_product_is_exact
    ),  # (a·0.5)·2
    Rule("c * (k * a)", "(c * k) * a", when=_product_with_float_is_exact),  # 2·(1.0·a)
    Rule(
        "c * (a * k)", "(c * k) * a", signed="a", when=_product_with_float_is_exact
    ),  # 2·(a·0.5)
    Rule("c * (k / a)", "(c * k) / a", when=_product_is_exact),  # 2·(3/a)
    Rule("(c / a) * k", "(c * k) / a", when=_product_is_exact),  # (2/a)·3
    Rule("(c * a) / k", "(c / k) * a", floats="a", when=_quotient_is_exact),  # (6·a)/2
    Rule("(a * c) / k", "(c / k) * a", floats="a", when=_quotient_is_exact),  # (a·6)/2
    Rule("c * (a / k)", "(c / k) * a", floats="a", when=_quotient_is_exact),  # 6·(a/2)
    Rule("(a / k) * c", "(c / k) * a", floats="a", when=_quotient_is_exact),  # (a/2)·6
    Rule("(a / c) / k", "a / (c * k)", floats="a", when=_binary_powers),  # (a/2)/4
    # The same kind of number in fewer characters
    Rule("c * a", "int(c) * a", floats="a", when=_whole),  # 2.0·a = 2·a
    Rule("a * c", "a * int(c)", floats="a", when=_whole),  # a·2.0 = a·2
    Rule("a / c", "a / int(c)", floats="a", when=_whole),  # a/2.0 = a/2
    Rule("c / a", "int(c) / a", when=_whole),  # 2.0/a = 2/a
    Rule("a ** c", "a ** int(c)", floats="a", when=_whole),  # a^2.0 = a²
    Rule("(a ** c) ** k", "a ** (c * k)", floats="a", when=_counts),  # (a²)² = a⁴
    Rule("(c * a) ** k", "c**k * a**k", floats="a", when=_square_is_short),  # (2·a)²
    # Equal terms and reciprocals
    Rule("a + a", "2 * a", signed="a"),  # a + a = 2·a
    Rule("(b + a) + a", "b + 2 * a", floats="ab"),  # but for rounding
    Rule("(a + b) + a", "2 * a + b", floats="ab"),  # but for rounding
    Rule("(a - b) + a", "2 * a - b", floats="ab"),  # but for rounding
    Rule("a * b + b * a", "2 * a * b", floats="ab"),  # a·b + b·a = 2·a·b
    Rule("c * a + k * a", "(c + k) * a", floats="a", when=_sum_is_exact),  # 2·a + 3·a
    Rule("c * a - k * a", "(c - k) * a", floats="a", when=_difference_is_exact),
    Rule("a * (1 / b)", "a / b", floats="ab"),  # a·(1/b) = a/b, but for rounding
    Rule("(1 / a) * b", "b / a", floats="ab"),  # (1/a)·b = b/a, but for rounding
    # A share: what overflows is the same as before
    Rule("a / (c + b) * b", "a * (b / (c + b))", floats="ab"),  # but for rounding
]

_FOLDS: dict[type[gast.AST], Callable[[Any, Any], Any]] = {
    gast.Add: lambda x, y: x + y,
    gast.Sub: lambda x, y: x - y,
    gast.Mult: _times,
    gast.Div: lambda x, y: x / y,
    gast.FloorDiv: lambda x, y: x // y,
    gast.Mod: lambda x, y: x % y,
    gast.Pow: lambda x, y: x**y,
}
_ARITHMETIC = (gast.Add, gast.Sub, gast.Mult, gast.MatMult, gast.Div, gast.Pow)
# Names bound inside these are not the names around them.
_SCOPES = (
    gast.Lambda,
    gast.ListComp,
    gast.SetComp,
    gast.DictComp,
    gast.GeneratorExp,
    gast.JoinedStr,
)


_LEAVES = (gast.Name, gast.Constant, *_SCOPES)


def _operation(node: gast.AST) -> type[gast.AST] | None:
    """The operator by which rules are looked up."""
    if isinstance(node, gast.BinOp):
        return type(node.op)
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        return gast.USub
    return None


_BY_OPERATION: dict[type[gast.AST] | None, list[Rule]] = {}
for _rule in RULES:
    _BY_OPERATION.setdefault(_operation(_rule.tree), []).append(_rule)


def _constant(node: gast.AST) -> Number | None:
    """The value of a real literal, with its sign; None for anything else."""
    if isinstance(node, gast.Constant):
        return node.value if type(node.value) in (int, float) else None
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        value = _constant(node.operand)
        return None if value is None or value < 0 else -value
    return None


def _rules_for(node: gast.AST) -> tuple[Rule, ...]:
    """The rules whose operation, and whose kinds of operands, the node has."""
    operation: Any = _operation(node)
    if operation is None or _constant(node) is not None:
        return ()
    kinds = tuple(map(_kind, _operands(node)))
    return _with_operands(operation, kinds)


@functools.cache
def _with_operands(operation: Any, kinds: tuple[Any, ...]) -> tuple[Rule, ...]:
    """The rules for an operation on operands of these kinds (see `_kind`), in order."""
    return tuple(
        rule
        for rule in _BY_OPERATION.get(operation, ())
        if all(map(_may_be, _operands(rule.tree), kinds))
    )


def _kind(node: gast.AST) -> Any:
    """What of an operand rules can be looked up by: its operation, or a literal."""
    return gast.Constant if _constant(node) is not None else _operation(node)


def _may_be(pattern: gast.AST, kind: Any) -> bool:
    """Whether the operand of a pattern stands for operands of that kind."""
    if isinstance(pattern, gast.Name):
        return pattern.id not in ("c", "k") or kind is gast.Constant
    return bool(_kind(pattern) is kind)


def _literal(value: Number) -> gast.expr:
    if value < 0 or repr(value).startswith("-"):
        return gast.UnaryOp(gast.USub(), gast.Constant(-value, None))
    return gast.Constant(value, None)


_ELEMENTWISE = (gast.Add, gast.Sub, gast.Mult, gast.Div)


class _Tidier:
    """Applies the rules to one expression."""

    def __init__(self, is_signed: Predicate, is_float: Predicate) -> None:
        self.is_signed = is_signed
        self.is_float = is_float

    def run(self, expr: gast.expr) -> gast.expr:
        return self._signs_inside(self._tidied(expr))

    def _tidied(self, node: gast.AST) -> Any:
        """The node with tidy operands, then itself rewritten."""
        if isinstance(node, _LEAVES):
            return node
        return self._rewritten(_with_children(node, self._tidied))

    def _rewritten(self, node: gast.AST) -> gast.AST:
        """The node, of which the operands are tidy, after all rules that match."""
        folded = _folded(node)
        if folded is not None:
            return folded
        for rule in _rules_for(node):
            found: Bindings = {}
            if _matches(rule.tree, node, found) and self._applies(rule, found):
                return self._built(rule.template, found)
        return (
            _left_out_once(node)
            or self._gathered(node)
            or self._shared(node)
            or _sign_out(node)
            or node
        )

    def _shared(self, node: gast.AST) -> Any:
        """What both terms of a sum have, once: a·(b - c) for a·b - a·c, (a + b)/c.

        A person does not write it out either: 2·(a·b + c·d), with the 2 in front.
        """
        if not isinstance(node, gast.BinOp):
            return None
        if not isinstance(node.op, (gast.Add, gast.Sub)):
            return None
        left, right = node.left, node.right
        if not (isinstance(left, gast.BinOp) and isinstance(right, gast.BinOp)):
            return None
        if isinstance(left.op, gast.Div) and isinstance(right.op, gast.Div):
            same = same_value(left.right, right.right) and is_pure(left.right)
            over = left.left, right.left
            if not same or not all(map(self._is_floating, over)):
                return None
            return gast.BinOp(self._combined(node, *over), gast.Div(), left.right)
        first, second = list(_factors(left)), list(_factors(right))
        if min(len(first), len(second)) < 2 or not is_pure(node):
            return None
        for end in (1, -1):
            count = _in_common(first[::end], second[::end])
            parts = [each[::end][count:][::end] for each in (first, second)]
            if not count or not all(any(map(self._is_floating, p)) for p in parts):
                continue
            shared = first[:count] if end == 1 else first[-count:]
            rest = self._combined(node, *map(_product, parts))
            factors = [*shared, rest] if end == 1 else [rest, *shared]
            return self._rewritten(_product(factors))
        return None

    def _combined(self, node: gast.BinOp, left: Any, right: Any) -> Any:
        """The sum, or the difference, of other terms."""
        return self._rewritten(gast.BinOp(left, node.op, right))

    def _gathered(self, node: gast.AST) -> Any:
        """Constants in front of a product: 12·a·b for a·4·b·3, and 2·a for a·2.

        4·a[:, None] for 2·(2·a)[:, None], too: where there is another constant.
        """
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.Mult):
            return None
        factors = list(_factors(node))
        if any(_constant(f) is not None for f in factors):
            factors = [part for f in factors for part in _parted(f)]
        rest = [f for f in factors if _constant(f) is None]
        several = len(rest) < len(factors) - 1
        behind = len(rest) == len(factors) - 1 and _constant(factors[0]) is None
        if not (several or behind) or not any(map(self._is_floating, rest)):
            return None
        numbers = [c for c in map(_constant, factors) if c is not None]
        total = numbers[0]
        for number in numbers[1:]:
            if not _product_is_exact(total, number):
                return None
            total = _times(total, number)
        product: Any = _literal(total)
        for factor in rest:
            product = self._rewritten(gast.BinOp(product, gast.Mult(), factor))
        return product

    def _applies(self, rule: Rule, found: Bindings) -> bool:
        constants = [_constant(found[name]) for name in rule.constants]
        if rule.when is not None and not rule.when(*constants):
            return False
        if not (rule.keeps_order or all(map(is_pure, found.values()))):
            return False
        signed = [self._is_signed(found[name]) for name in rule.signed if name != "|"]
        if "|" in rule.signed:
            return any(signed)
        return all(signed) and all(self._is_floating(found[n]) for n in rule.floats)

    def _is_signed(self, node: gast.AST) -> bool:
        """Whether a minus does to it what it does to a number on paper."""
        if isinstance(node, gast.expr) and self.is_signed(node):
            return True
        if _operation(node) is gast.USub:
            return self._is_signed(node.operand)
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, _ARITHMETIC):
            return self._is_floating(node)
        if isinstance(node.op, gast.Div):
            return True
        return self._is_signed(node.left) or self._is_signed(node.right)

    def _built(self, template: gast.AST, found: Bindings) -> Any:
        """The template filled in; each of its operations is tidied in its turn."""
        if isinstance(template, gast.Name):
            return found[template.id]
        if isinstance(template, gast.Call):
            value = _constant(found[template.args[0].id])
            return _literal(int(value or 0))
        if isinstance(template, gast.Constant):
            return gast.Constant(template.value, None)
        filled = _with_children(template, lambda part: self._built(part, found))
        return self._rewritten(filled)

    def _is_floating(self, node: gast.AST) -> bool:
        """Whether it is floating by itself, or by arithmetic with what is."""
        if isinstance(node, gast.Constant):
            return isinstance(node.value, (float, complex))
        if _operation(node) is gast.USub:
            return self._is_floating(node.operand)
        if isinstance(node, gast.expr) and self.is_float(node):
            return True
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Div):
            return True
        if isinstance(node, gast.BinOp) and isinstance(node.op, _ARITHMETIC):
            return self._is_floating(node.left) or self._is_floating(node.right)
        if isinstance(node, gast.Subscript) and adds_axes(node.slice):
            return self._is_floating(node.value)
        return False

    def _signs_inside(self, node: gast.AST) -> Any:
        """-(a * b) becomes -a * b, which needs no parentheses."""
        if isinstance(node, _LEAVES):
            return node
        node = _with_children(node, self._signs_inside)
        if _operation(node) is gast.USub and _is_product(node.operand):
            return self._negated(node.operand) or node
        return node

    def _negated(self, node: gast.expr) -> gast.expr | None:
        """The product with a minus before its first factor, if that can have one."""
        if _is_product(node):
            first = self._negated(node.left)
            return first and gast.BinOp(first, node.op, node.right)
        value = _constant(node)
        if value is not None and value > 0:
            return _literal(-value)
        plain = isinstance(node, (gast.Name, gast.Call, gast.Attribute, gast.Subscript))
        if plain and self._is_signed(node):
            return gast.UnaryOp(gast.USub(), node)
        return None


def _left_out_once(node: Any) -> gast.expr | None:
    """`np.where(m, 0, np.where(m, 0, a) * b)` is `np.where(m, 0, a * b)`."""
    if not _leaves_out(node):
        return None
    mask = node.args[0]

    def inner(part: Any) -> Any:
        if isinstance(part, gast.BinOp) and isinstance(part.op, _ELEMENTWISE):
            left, right = inner(part.left), inner(part.right)
            same = left is part.left and right is part.right
            return part if same else gast.BinOp(left, part.op, right)
        if _leaves_out(part) and same_value(part.args[0], mask):
            return inner(part.args[2])
        return part

    rest = inner(node.args[2])
    if rest is node.args[2]:
        return None
    return gast.Call(node.func, [*node.args[:2], rest], [])


def _leaves_out(node: Any) -> bool:
    """Whether it is `np.where(m, 0, a)`."""
    if not isinstance(node, gast.Call) or node.keywords or len(node.args) != 3:
        return False
    function = node.func
    named = isinstance(function, gast.Attribute) and function.attr == "where"
    return named and _constant(node.args[1]) == 0


def _factors(node: gast.AST) -> Iterator[gast.AST]:
    """The factors of a product of products, from left to right."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
        yield from _factors(node.left)
        yield from _factors(node.right)
    else:
        yield node


def _product(factors: list[Any]) -> Any:
    """The product of factors, from left to right."""
    return functools.reduce(lambda a, b: gast.BinOp(a, gast.Mult(), b), factors)


def _in_common(first: list[Any], second: list[Any]) -> int:
    """With how many factors both lists begin; each has one more at least."""
    most = min(len(first), len(second)) - 1
    pairs = zip(first[:most], second[:most], strict=True)
    return sum(1 for _ in itertools.takewhile(lambda pair: same_value(*pair), pairs))


def _parted(factor: Any) -> list[Any]:
    """The constant and the rest of a factor that has new axes: 2 and a[:, None]."""
    if not isinstance(factor, gast.Subscript) or not adds_axes(factor.slice):
        return [factor]
    inner = list(_factors(factor.value))
    if _constant(inner[0]) is None or len(inner) == 1:
        return [factor]
    rest = _product(inner[1:])
    return [inner[0], gast.Subscript(rest, factor.slice, factor.ctx)]


def _sign_out(node: Any) -> Any:
    """The sign in front of what gets new axes: -a[:, None] for (-a)[:, None]."""
    added = isinstance(node, gast.Subscript) and adds_axes(node.slice)
    if not added or not isinstance(getattr(node.value, "op", None), gast.USub):
        return None
    inner = gast.Subscript(node.value.operand, node.slice, node.ctx)
    return gast.UnaryOp(node.value.op, inner)


def adds_axes(index: Any) -> bool:
    """Whether an index takes all there is, with new axes: `[:, None]`."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]

    def is_new(part: Any) -> bool:
        return isinstance(part, gast.Constant) and part.value is None

    def is_all(part: Any) -> bool:
        slices = isinstance(part, gast.Slice)
        return slices and not (part.lower or part.upper or part.step)

    return any(map(is_new, parts)) and all(is_new(p) or is_all(p) for p in parts)


def _is_product(node: gast.AST) -> bool:
    return isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Mult, gast.Div))


def _matches(pattern: gast.AST, node: gast.AST, found: Bindings) -> bool:
    """Whether the node has the form of the pattern; `found` gets what its names are."""
    value = _constant(node)
    if isinstance(pattern, gast.Name):
        if pattern.id in ("c", "k") and value is None:
            return False
        if pattern.id in found:
            return same_value(found[pattern.id], node)
        found[pattern.id] = node
        return True
    wanted = _constant(pattern)
    if wanted is not None:
        return value is not None and value == wanted
    # A negative literal is a constant, not a negation.
    if value is not None or _operation(pattern) is not _operation(node):
        return False
    pairs = zip(_operands(pattern), _operands(node), strict=True)
    return all(_matches(part, operand, found) for part, operand in pairs)


def _operands(node: gast.AST) -> list[gast.expr]:
    return [node.left, node.right] if isinstance(node, gast.BinOp) else [node.operand]


def _folded(node: gast.AST) -> gast.expr | None:
    """The value of an operation on two literals, if that is shorter to read."""
    if _operation(node) is gast.USub:
        inner = _constant(node.operand)
        return _literal(-inner) if inner is not None and inner < 0 else None
    if not isinstance(node, gast.BinOp) or type(node.op) not in _FOLDS:
        return None
    left, right = _constant(node.left), _constant(node.right)
    if left is None or right is None:
        return None
    if isinstance(node.op, gast.Pow) and max(abs(left), abs(right)) > 16:
        return None
    try:
        value = _FOLDS[type(node.op)](left, right)
    except (ArithmeticError, ValueError):
        return None
    return _literal(value) if isinstance(value, Number) and _is_short(value) else None


def _with_children(node: Any, change: Callable[[gast.AST], gast.AST]) -> Any:
    """The node with its expressions changed; the node itself if none of them is."""
    changed = None
    fields = node.__dict__
    for name in node._fields:
        value = fields.get(name)
        if isinstance(value, list):
            new: Any = [change(v) if isinstance(v, gast.AST) else v for v in value]
            same = all(a is b for a, b in zip(new, value, strict=True))
        elif isinstance(value, (gast.expr, gast.keyword)):
            new = change(value)
            same = new is value
        else:
            continue
        if not same:
            changed = changed or syntax.clone_shallow(node)
            setattr(changed, name, new)
    return changed or node
