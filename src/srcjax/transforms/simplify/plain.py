"""Generated expressions in the words a person would use."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from keyword import iskeyword
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.ops.expand import has_shape_of
from srcjax.transforms.algebra import adds_axes
from srcjax.transforms.call_effects import called, copied, is_pure, same_value
from srcjax.transforms.simplify.factors import number_of as literal_of


def transposed(node: Any) -> gast.expr | None:
    """`x` of `x.T`."""
    is_t = isinstance(node, gast.Attribute) and node.attr == "T"
    return node.value if is_t else None


def shape_of_zeros(node: gast.expr, is_array: Callable[[gast.expr], bool]) -> gast.expr:
    """`np.zeros_like(x).shape` is `x.shape` of an array."""
    made = node.value if isinstance(node, gast.Attribute) else None
    if not isinstance(made, gast.Call) or len(made.args) != 1 or made.keywords:
        return node
    if node.attr not in ("shape", "size") or called(made) not in LIKE:
        return node
    if not is_array(made.args[0]):
        return node
    return gast.Attribute(made.args[0], node.attr, syntax.LOAD)


#: What makes an array of the shape and dtype of another one.
LIKE = frozenset(["np.zeros_like", "np.ones_like", "np.empty_like"])


def item_of_display(node: gast.expr) -> gast.expr:
    """`(a, b)[0]` is `a`, where leaving `b` out leaves no effect out."""
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Dict):
        return item_of_dict(node)
    if not isinstance(node, gast.Subscript) or not isinstance(
        node.value, (gast.Tuple, gast.List)
    ):
        return node
    items = node.value.elts
    index = getattr(node.slice, "value", None)
    if isinstance(node.slice, gast.UnaryOp) and isinstance(node.slice.op, gast.USub):
        last = getattr(node.slice.operand, "value", None)
        index = -last if type(last) is int else None
    if type(index) is not int or not -len(items) <= index < len(items):
        return node
    others = [item for item in items if item is not items[index]]
    if any(isinstance(i, gast.Starred) or not is_pure(i) for i in others):
        return node
    chosen: gast.expr = items[index]
    return node if isinstance(chosen, gast.Starred) else chosen


def item_of_list(node: gast.expr, is_array: Callable[[gast.expr], bool]) -> gast.expr:
    """`list(x)[1]` is `x[1]`, of an array."""
    whole: Any = getattr(node, "value", None)
    if not isinstance(node, gast.Subscript) or called(whole) != "list":
        return node
    if len(whole.args) != 1 or isinstance(node.slice, gast.Slice):
        return node
    array = whole.args[0]
    return gast.Subscript(array, node.slice, node.ctx) if is_array(array) else node


def item_of_slice(node: gast.expr, is_array: Callable[[gast.expr], bool]) -> gast.expr:
    """`x[-1:][0]` is `x[-1]`, and `x[:2][0]` is `x[0]`, of an array.

    Where there is no such item, neither of both has it.
    """
    whole: Any = getattr(node, "value", None)
    if not isinstance(node, gast.Subscript) or not isinstance(whole, gast.Subscript):
        return node
    part, first = whole.slice, literal_of(node.slice) == 0
    if not (first and isinstance(part, gast.Slice)) or part.step is not None:
        return node
    lower = 0 if part.lower is None else literal_of(part.lower)
    upper = 1 if part.upper is None else literal_of(part.upper)
    if lower is None or upper is None or lower < -1 or not is_array(whole.value):
        return node
    if part.upper is not None and not 0 <= lower < upper:
        return node
    return gast.Subscript(whole.value, syntax.const(lower), node.ctx)


def einsum_of_one(node: gast.expr, is_float: Callable[[gast.expr], bool]) -> gast.expr:
    """`np.einsum(",ij->j", 1.0, x)` is `x.sum(axis=0)`, of floating-point numbers."""
    if called(node) != "np.einsum" or node.keywords:
        return node
    formula, *operands = node.args
    left, arrow, kept = str(getattr(formula, "value", "")).partition("->")
    terms = left.split(",")
    if not arrow or "." in left or len(terms) != len(operands):
        return node
    ones = [
        k for k, each in enumerate(operands) if not terms[k] and literal_of(each) == 1
    ]
    rest = [k for k in range(len(operands)) if k not in ones]
    if not ones or not rest or not all(is_float(operands[k]) for k in rest):
        return node
    if len(rest) == 1:
        return _summed(operands[rest[0]], terms[rest[0]], kept)
    subscripts = syntax.const(f"{','.join(terms[k] for k in rest)}->{kept}")
    return syntax.call("np.einsum", subscripts, *(operands[k] for k in rest))


def _summed(x: gast.expr, labels: str, kept: str) -> gast.expr:
    """`np.einsum("ij->j", x)` as `x.sum(axis=0)`."""
    if labels == kept:
        return x
    in_order = "".join(label for label in labels if label in kept) == kept
    if len(set(labels)) < len(labels) or not in_order:
        return syntax.call("np.einsum", syntax.const(f"{labels}->{kept}"), x)
    axes = tuple(k for k, label in enumerate(labels) if label not in kept)
    axis = syntax.const(axes[0] if len(axes) == 1 else axes)
    return syntax.expression("x.sum(axis=a)" if kept else "x.sum()", x=x, a=axis)


def decided(node: gast.expr) -> gast.expr:
    """`0.5 is not None and x > 0.5` is `x > 0.5`; other constants are not looked at."""
    if isinstance(node, gast.Compare) and len(node.ops) == 1:
        sides = (node.left, node.comparators[0])
        known = all(isinstance(side, gast.Constant) for side in sides)
        if not known or all(side.value is not None for side in sides):
            return node
        same = sides[0].value is sides[1].value
        if isinstance(node.ops[0], (gast.Is, gast.IsNot)):
            return syntax.const(same == isinstance(node.ops[0], gast.Is))
    if isinstance(node, gast.BoolOp):
        passes = isinstance(node.op, gast.And)
        first, *rest = node.values
        if _is_truth(first, not passes):
            return first
        if _is_truth(first, passes):
            return rest[0] if len(rest) == 1 else decided(gast.BoolOp(node.op, rest))
    return node


def _is_truth(node: gast.expr, value: bool) -> bool:
    return isinstance(node, gast.Constant) and node.value is value


def flat_display(node: gast.expr) -> gast.expr:
    """`(n, *(k, m))` is `(n, k, m)`."""
    if not isinstance(node, (gast.Tuple, gast.List)):
        return node
    if not any(map(_is_starred_display, node.elts)):
        return node
    items = [
        item
        for each in node.elts
        for item in (each.value.elts if _is_starred_display(each) else [each])
    ]
    return type(node)(items, node.ctx)


def _is_starred_display(node: Any) -> bool:
    return isinstance(node, gast.Starred) and isinstance(
        node.value, (gast.Tuple, gast.List)
    )


def flat_call(node: gast.expr) -> gast.expr:
    """`f(*(a, b), **{"k": v})` is `f(a, b, k=v)`, and `tuple([a, b])` is `(a, b)`.

    And `min(min(a, b), c)`, of which the two halves have been named, is `min(a, b, c)`.
    """
    if not isinstance(node, gast.Call):
        return node
    node = _flat_extreme(node)
    made = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if called(node) == "tuple" and isinstance(made, (gast.List, gast.Tuple)):
        return gast.Tuple(made.elts, syntax.LOAD)
    parted = [_named(k) for k in node.keywords]
    if not any(map(_is_starred_display, node.args)) and not any(parted):
        return node
    args = flat_display(gast.Tuple(node.args, syntax.LOAD)).elts
    keywords = [
        each
        for keyword, parts in zip(node.keywords, parted, strict=True)
        for each in (parts or [keyword])
    ]
    names = [k.arg for k in keywords if k.arg is not None]
    if len(set(names)) < len(names):  # an error, which it stays
        return node
    return gast.Call(node.func, args, keywords)


def _flat_extreme(node: gast.Call) -> gast.Call:
    """`min(min(a, b), c)` is `min(a, b, c)`: the first one that is least."""
    first: Any = node.args[0] if len(node.args) > 1 else None
    if called(node) not in ("min", "max") or called(first) != called(node):
        return node
    starred = any(isinstance(a, gast.Starred) for a in [*node.args, *first.args])
    if node.keywords or first.keywords or len(first.args) < 2 or starred:
        return node
    flat = syntax.clone_shallow(node)
    flat.args = [*first.args, *node.args[1:]]
    return flat


def _named(given: gast.keyword) -> list[gast.keyword]:
    """The keywords that `**{"k": v}` stands for; none of anything else."""
    if given.arg is not None or not isinstance(given.value, gast.Dict):
        return []
    keys = [getattr(key, "value", None) for key in given.value.keys]
    if not all(
        isinstance(k, str) and k.isidentifier() and not iskeyword(k) for k in keys
    ):
        return []
    return [gast.keyword(k, v) for k, v in zip(keys, given.value.values, strict=True)]


def item_of_dict(node: gast.Subscript) -> gast.expr:
    """`{"a": x, "b": y}["a"]` is `x`."""
    keys = [k.value if isinstance(k, gast.Constant) else None for k in node.value.keys]
    wanted = node.slice.value if isinstance(node.slice, gast.Constant) else None
    if wanted is None or None in keys or keys.count(wanted) != 1:
        return node
    chosen: gast.expr = node.value.values[keys.index(wanted)]
    others = [item for item in node.value.values if item is not chosen]
    return chosen if all(is_pure(item) for item in others) else node


def without_minus(node: gast.expr) -> gast.expr | None:
    """`a * b / c` of `-a * b / c`; None of a product without a minus in front."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        operand: gast.expr = node.operand
        return operand
    if not isinstance(node, gast.BinOp) or not isinstance(
        node.op, (gast.Mult, gast.Div)
    ):
        return None
    first = without_minus(node.left)
    return None if first is None else gast.BinOp(first, node.op, node.right)


def sign_outside(
    node: gast.expr, is_float: Callable[[gast.expr], bool] = lambda node: False
) -> gast.expr:
    """`(-x).T` is `-x.T`, and so are sums, `(-x * y).sum()`, and `np.outer(-x, y)`.

    `np.linalg.solve(A, -b)`, too.
    """
    inner = transposed(node)
    if inner is not None:
        plain = without_minus(inner)
        if plain is not None:
            return gast.UnaryOp(gast.USub(), gast.Attribute(plain, "T", syntax.LOAD))
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
        plain = without_minus(node.func.value)
        if node.func.attr == "sum" and plain is not None and not node.args:
            method = gast.Attribute(plain, "sum", syntax.LOAD)
            total = gast.Call(method, [], node.keywords)
            return gast.UnaryOp(gast.USub(), total)
    if isinstance(node, gast.Call) and called(node) == "np.outer" and node.args:
        plain = without_minus(node.args[0])
        if plain is not None:
            outer = gast.Call(node.func, [plain, *node.args[1:]], node.keywords)
            return gast.UnaryOp(gast.USub(), outer)
    solves = called(node) == "np.linalg.solve" and not node.keywords
    if solves and len(node.args) == 2:
        plain = without_minus(node.args[1])
        if plain is not None and is_float(plain):
            solved = gast.Call(node.func, [node.args[0], plain], [])
            return gast.UnaryOp(gast.USub(), solved)
    return node


def method_of_number(node: gast.expr) -> gast.expr:
    """`(1.0).reshape(s)` is `np.reshape(1.0, s)`.

    A gradient starts with a number, where the result may be an array of one item.
    """
    method: Any = getattr(node, "func", None)
    if not isinstance(method, gast.Attribute) or not _is_float(method.value):
        return node
    if hasattr(float, method.attr) or not hasattr(np.ndarray, method.attr):
        return node
    call: Any = node
    if not hasattr(np, method.attr) or len(call.args) > 1:  # the sizes one by one
        return node
    function = syntax.expression(f"np.{method.attr}")
    return gast.Call(function, [method.value, *call.args], call.keywords)


def _is_float(node: Any) -> bool:
    """Whether it is written as a number, which has none of the methods of arrays."""
    return isinstance(node, gast.Constant) and type(node.value) is float


def constant_last(node: gast.expr) -> gast.expr:
    """`0 == x` is `x == 0`."""
    if not isinstance(node, gast.Compare) or len(node.ops) != 1:
        return node
    first, last = node.left, node.comparators[0]
    if isinstance(first, gast.Constant) and not isinstance(last, gast.Constant):
        equality = isinstance(node.ops[0], gast.Eq)
        return gast.Compare(last, node.ops, [first]) if equality else node
    return node


def join_halves(node: gast.expr, is_double: Any) -> gast.expr:
    """`d * (x > 0) + d * (x == 0) / 2` is `d * ((x > 0) + (x == 0) / 2)`.

    Only in double precision: the half of a truth value is a double.
    """
    if not (isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add)):
        return node
    first, second = node.left, node.right
    if not (isinstance(second, gast.BinOp) and isinstance(second.op, gast.Div)):
        return node
    pairs = [first, second.left]
    if not all(
        isinstance(p, gast.BinOp) and isinstance(p.op, gast.Mult) for p in pairs
    ):
        return node
    one, two = pairs
    same = same_value(one.left, two.left)
    if not (same and isinstance(one.right, gast.Compare)):
        return node
    if not isinstance(two.right, gast.Compare) or not is_double(one.left):
        return node
    half = gast.BinOp(two.right, second.op, second.right)
    return gast.BinOp(one.left, one.op, gast.BinOp(one.right, node.op, half))


def factor_outside(node: gast.expr, is_float: Callable[[gast.expr], bool]) -> gast.expr:
    """`np.sum(2 * a * b)` is `2 * np.sum(a * b)`: one product, not one an item."""
    if called(node) not in ("np.sum", "np.mean") or len(node.args) != 1:
        return node
    product = node.args[0]
    if {k.arg for k in node.keywords} - {"axis", "keepdims"} or not is_float(product):
        return node
    factors: list[tuple[gast.expr, Any, gast.expr]] = []
    leaf = product
    while isinstance(leaf, gast.BinOp) and isinstance(leaf.op, (gast.Mult, gast.Div)):
        factors.append((leaf, leaf.op, leaf.right))
        leaf = leaf.left
    number = leaf.operand if isinstance(leaf, gast.UnaryOp) else leaf
    plain = isinstance(number, gast.Constant) and type(number.value) in (int, float)
    if not plain or not factors or not isinstance(factors[-1][1], gast.Mult):
        return node
    rest = factors[-1][2]
    for _, operator, factor in reversed(factors[:-1]):
        rest = gast.BinOp(rest, operator, factor)
    if not is_float(rest):
        return node
    total = gast.Call(node.func, [rest], node.keywords)
    return gast.BinOp(leaf, gast.Mult(), total)


def item_of_sum(node: gast.expr) -> gast.expr:
    """`x.sum(axis=1, keepdims=True)[:, 0]` is `x.sum(axis=1)`."""
    if not isinstance(node, gast.Subscript):
        return node
    whole: Any = node.value
    if isinstance(whole, gast.UnaryOp) and isinstance(whole.op, gast.USub):
        inner = gast.Subscript(whole.operand, node.slice, node.ctx)
        plain = item_of_sum(inner)
        return node if plain is inner else gast.UnaryOp(whole.op, plain)
    index = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    keywords = {k.arg: k.value for k in getattr(whole, "keywords", ())}
    if getattr(getattr(whole, "func", None), "attr", "") not in ("sum", "mean"):
        return node
    if set(keywords) != {"axis", "keepdims"} or whole.args:
        return node
    axis, kept = (getattr(keywords[k], "value", None) for k in ("axis", "keepdims"))
    others = [e for position, e in enumerate(index) if position != axis]
    if kept is not True or type(axis) is not int or not 0 <= axis < len(index):
        return node
    first = isinstance(index[axis], gast.Constant) and index[axis].value == 0
    if not first or not all(map(syntax.is_full_slice, others)):
        return node
    only = [k for k in whole.keywords if k.arg == "axis"]
    return gast.Call(whole.func, whole.args, only)


def join_choices(node: gast.expr, alike: Any) -> gast.expr:
    """`np.where(c, a, 0) + np.where(c, 0, b) * k` is `np.where(c, a, b * k)`.

    Where `k` is no number, `alike` has to find one shape.
    """
    if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.Add):
        return node
    first, second = _choice(node.left), _choice(node.right)
    if first is None or second is None or not same_value(first[0], second[0]):
        return node
    for one, two in ((first, second), (second, first)):
        if _is_zero(one[2]) and _is_zero(two[1]):
            joined = syntax.call("np.where", one[0], one[1], two[2])
            plain = all(_is_scaled(side) for side in (node.left, node.right))
            return joined if plain or alike(joined, node) else node
    return node


def zero_choice(node: gast.expr, alike: Any) -> gast.expr:
    """`np.where(c, a, np.zeros_like(b))` is `np.where(c, a, 0)`, for one shape.

    And `np.where(c, a, a)` is `a`.
    """
    choice = _choice(node) if isinstance(node, gast.Call) else None
    if choice is None or not is_pure(node):
        return node
    if same_value(choice[1], choice[2]) and alike(choice[1], node):
        return choice[1]
    zeros = [called(part) == "np.zeros_like" for part in choice[1:]]
    if sum(zeros) != 1:
        return node
    parts = [
        syntax.const(0) if zero else part
        for zero, part in zip(zeros, choice[1:], strict=True)
    ]
    plain = syntax.call("np.where", choice[0], *parts)
    return plain if alike(plain, node) else node


def _is_scaled(node: Any) -> bool:
    """`np.where(...)`, perhaps times numbers."""
    while isinstance(node, gast.BinOp):
        left = isinstance(node.left, gast.Constant)
        if not left and not isinstance(node.right, gast.Constant):
            return False
        node = node.right if left else node.left
    return True


def _choice(node: Any) -> tuple[gast.expr, gast.expr, gast.expr] | None:
    """The parts of `np.where(c, a, b)`, what is beside it multiplied in."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Mult, gast.Div)):
        inner, left = _choice(node.left), False
        if inner is None and isinstance(node.op, gast.Mult):
            inner, left = _choice(node.right), True
        if inner is None or not is_pure(node):
            return None

        def scaled(part: gast.expr) -> gast.expr:
            if _is_zero(part):
                return part
            pair = (node.left, part) if left else (part, node.right)
            return gast.BinOp(pair[0], node.op, pair[1])

        return inner[0], scaled(inner[1]), scaled(inner[2])
    if called(node) == "np.where" and len(node.args) == 3:
        return node.args[0], node.args[1], node.args[2]
    return None


def _is_zero(node: Any) -> bool:
    return isinstance(node, gast.Constant) and node.value == 0


def without_zeros(node: gast.expr, alike: Any) -> gast.expr:
    """`a @ b - np.zeros_like(c).T @ d` is `a @ b`, where `alike` finds one shape."""
    if not isinstance(node, gast.BinOp) or not isinstance(
        node.op, (gast.Add, gast.Sub)
    ):
        return node
    if _vanishes(node.right) and alike(node.left, node):
        return node.left
    if _vanishes(node.left) and alike(node.right, node):
        minus = isinstance(node.op, gast.Sub)
        return gast.UnaryOp(gast.USub(), node.right) if minus else node.right
    return node


def _vanishes(value: Any) -> bool:
    """Whether the expression is a product with `np.zeros_like(...)`."""
    if isinstance(value, gast.BinOp) and isinstance(
        value.op, (gast.Mult, gast.MatMult)
    ):
        return _vanishes(value.left) or _vanishes(value.right)
    if transposed(value) is not None:
        return _vanishes(value.value)
    return called(value) == "np.zeros_like"


#: Functions whose result is always a new array.
_MAKERS = frozenset(
    f"np.{name}" for name in ("zeros", "ones", "full", "empty", "arange", "where")
)


def without_copies(node: gast.expr) -> gast.expr:
    """`a.copy() * 2` is `a * 2`: arithmetic makes a new array anyway.

    `a.copy()[1:].copy()` is `a[1:].copy()`.
    """

    def bare(operand: gast.expr) -> gast.expr:
        return copied(operand) or operand

    if isinstance(node, gast.BinOp):
        left, right = bare(node.left), bare(node.right)
        same = left is node.left and right is node.right
        return node if same else gast.BinOp(left, node.op, right)
    if isinstance(node, gast.UnaryOp):
        operand = bare(node.operand)
        return node if operand is node.operand else gast.UnaryOp(node.op, operand)
    inner = bare(node)
    if inner is not node and isinstance(inner, gast.Subscript):
        whole = bare(inner.value)
        if whole is inner.value:
            return node
        part = gast.Subscript(whole, inner.slice, syntax.LOAD)
        return syntax.expression("part.copy()", part=part)
    chain = called(inner)
    made = isinstance(inner, (gast.BinOp, gast.UnaryOp)) or chain in _MAKERS
    return inner if made else node


def drop_defaults(call: gast.Call, function: Any) -> None:
    """`f(x, None)` is `f(x)`, where the second is None if it is not given. In place."""
    parameters = list(inspect.signature(function).parameters.values())
    while call.args and not call.keywords and len(call.args) <= len(parameters):
        last, parameter = call.args[-1], parameters[len(call.args) - 1]
        given = isinstance(last, gast.Constant) and parameter.kind in _BY_PLACE
        default = parameter.default
        if not given or type(last.value) is not type(default) or last.value != default:
            return
        call.args.pop()


#: Parameters that an argument without a name is for.
_BY_PLACE = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


def without_slices(node: gast.expr, is_array: Callable[[gast.expr], bool]) -> gast.expr:
    """`2 * a[:]` is `2 * a` of an array."""

    def bare(operand: Any) -> Any:
        whole = isinstance(operand, gast.Subscript) and syntax.is_full_slice(
            operand.slice
        )
        return operand.value if whole and is_array(operand.value) else operand

    if isinstance(node, gast.BinOp):
        left, right = bare(node.left), bare(node.right)
        same = left is node.left and right is node.right
        return node if same else gast.BinOp(left, node.op, right)
    if isinstance(node, gast.UnaryOp):
        operand = bare(node.operand)
        return node if operand is node.operand else gast.UnaryOp(node.op, operand)
    return node


def plain_ones(node: gast.expr) -> gast.expr:
    """`np.full_like(x, 1.0)` is `np.ones_like(x)`."""
    if called(node) != "np.full_like":
        return node
    if len(node.args) == 2 and not node.keywords:
        one = isinstance(node.args[1], gast.Constant) and node.args[1].value == 1
        return syntax.call("np.ones_like", node.args[0]) if one else node
    return node


def whole_number(node: Any) -> gast.expr | None:
    """`-2` for `-2.0`, None for what is no such literal."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        inner = whole_number(node.operand)
        return None if inner is None else gast.UnaryOp(node.op, inner)
    value = node.value if isinstance(node, gast.Constant) else None
    whole = isinstance(value, float) and value.is_integer() and 0 < value < 2**31
    return syntax.const(int(value)) if whole else None  # type: ignore[arg-type]


def filled_with(node: gast.expr) -> gast.expr | None:
    """The number that an array like another is filled with, new axes or not."""
    while isinstance(node, gast.Subscript) and adds_axes(node.slice):
        node = node.value
    chain = called(node)
    if chain == "np.ones_like" and len(node.args) == 1 and not node.keywords:
        return syntax.const(1.0)
    if chain == "np.full_like" and len(node.args) == 2 and not node.keywords:
        number: gast.expr = node.args[1]
        return number
    return None


def plain_count(node: gast.expr) -> gast.expr:
    """`np.size(x**2)` is `np.size(x)`."""
    if called(node) != "np.size" or len(node.args) != 1:
        return node
    whole = node.args[0]
    if not isinstance(whole, gast.BinOp) or isinstance(whole.op, gast.MatMult):
        return node
    if not isinstance(whole.right, gast.Constant) or not is_pure(whole.left):
        return node
    return syntax.call("np.size", whole.left)


def plain_list(node: gast.expr) -> gast.expr:
    """`list(x).copy()` and `list(list(x))` are `list(x)`."""
    made = copied(node)
    if called(node) == "list" and len(node.args) == 1 and not node.keywords:
        made = node.args[0]
    new = isinstance(made, gast.List) or called(made) == "list"
    return made if new else node


def plain_axis(node: gast.expr) -> gast.expr:
    """`np.concatenate(parts, 0)` is `np.concatenate(parts)`."""
    if called(node) != "np.concatenate" or len(node.args) != 2 or node.keywords:
        return node
    first = isinstance(node.args[1], gast.Constant) and node.args[1].value == 0
    return syntax.call("np.concatenate", node.args[0]) if first else node


def plain_unbroadcast(node: gast.expr) -> gast.expr:
    """`unbroadcast(2 * x, x)` is `2 * x`."""
    if called(node) == "unbroadcast":
        value, like = node.args
        if has_shape_of(value, like):
            return value
    return node


def number_of(value: Any) -> gast.expr | None:
    """The number that fills a one-dimensional array: 2.0 for `np.full(n, 2.0)`."""
    chain = called(value)
    known = {"np.zeros": 0.0, "np.ones": 1.0}
    number: Any = None
    if chain in known and len(value.args) == 1 and not value.keywords:
        number = syntax.const(known[chain])
    elif chain == "np.full" and len(value.args) == 2 and not value.keywords:
        number = value.args[1]
    elif chain == "np.zeros" and len(value.args) == 1 and _are_ints(value.keywords):
        number = syntax.const(0)
    plain = number.operand if isinstance(number, gast.UnaryOp) else number
    if not isinstance(plain, gast.Constant) or isinstance(value.args[0], gast.Tuple):
        return None
    return number


def _are_ints(keywords: list[Any]) -> bool:
    """Whether the only keyword is `dtype=int`."""
    return len(keywords) == 1 and (
        keywords[0].arg == "dtype" and syntax.is_name(keywords[0].value, "int")
    )


def store_number(stmt: Any) -> None:
    """`x[m] = np.full(n, 2.0)` is `x[m] = 2.0`, in place."""
    if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Subscript):
        stmt.value = number_of(stmt.value) or stmt.value


def plain_where(node: gast.expr) -> gast.expr:
    """`np.where(~c, np.full(n, 2.0), x)` is `np.where(c, x, 2.0)`."""
    if called(node) != "np.where" or len(node.args) != 3:
        return node
    test, then, otherwise = node.args
    then, otherwise = number_of(then) or then, number_of(otherwise) or otherwise
    if syntax.text(then) == "False" and _all_true(otherwise):
        return gast.UnaryOp(gast.Invert(), test)
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Invert):
        test, then, otherwise = test.operand, otherwise, then
    return gast.Call(node.func, [test, then, otherwise], node.keywords)


def _all_true(node: gast.expr) -> bool:
    """`np.ones(n, dtype=bool)`."""
    return (
        called(node) == "np.ones"
        and len(node.keywords) == 1
        and syntax.text(node.keywords[0].value) == "bool"
    )


def join_copies(stmts: list[gast.stmt]) -> list[gast.stmt]:
    """`x = a; x = x.copy()` is `x = a.copy()`, where nothing between looks at `x`."""
    out: list[gast.stmt] = []
    for stmt in stmts:
        syntax.rewrite_blocks(stmt, join_copies)
        if not _joined(out, stmt):
            out.append(stmt)
    return out


def _joined(before: list[gast.stmt], stmt: Any) -> bool:
    """Whether the copy could be made where its name was assigned."""
    target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
    if not isinstance(target, gast.Name):
        return False
    name = target.id
    own = syntax.expression("x.copy()", x=syntax.name(name))
    if not syntax.equal(stmt.value, own):
        return False
    branches: list[gast.If] = []
    for earlier in reversed(before):
        if name not in syntax.all_names(earlier):
            simple = isinstance(earlier, gast.Assign) and isinstance(
                earlier.targets[0], gast.Name
            )
            if not simple or not _leaves_arrays(earlier.value):
                return False
            continue
        if isinstance(earlier, gast.If) and _copies_first(earlier, name, own):
            branches.append(earlier)
            continue
        if not (
            isinstance(earlier, gast.Assign)
            and syntax.is_name(earlier.targets[0], name)
            and len(earlier.targets) == 1
            and name not in syntax.names_read(earlier.value)
        ):
            return False
        whole = syntax.clone(stmt.value)
        whole.func.value = earlier.value
        earlier.value = without_copies(whole)
        for branch in branches:
            _leave_out_copies(branch, name, own)
        return True
    return False


def _leaves_arrays(value: gast.expr) -> bool:
    """Whether the value is made without a write to an array: NumPy's, or a copy."""
    if not isinstance(value, gast.Call):
        return True
    return called(value).startswith("np.") or getattr(value, "of_array", False)


def _copies_first(branch: gast.If, name: str, own: gast.expr) -> bool:
    """Whether each block that has to do with the name makes a copy of it first.

    What else a block writes to in place, it has made.
    """
    if name in syntax.all_names(branch.test):
        return False
    for block in (branch.body, branch.orelse):
        made: set[str] = set()
        for stmt in block:
            target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
            if isinstance(target, gast.Name):
                if target.id == name and not syntax.equal(stmt.value, own):
                    return False
                early = name not in made and name in syntax.names_read(stmt)
                if early and target.id != name:
                    return False
                if target.id == name or _makes_array(stmt.value):
                    made.add(target.id)
                elif isinstance(stmt.value, gast.Call):
                    return False
                continue
            written = target if target is not None else getattr(stmt, "target", None)
            if written is None or syntax.root_of(written) not in made:
                return False
    return True


def _makes_array(value: gast.expr) -> bool:
    """Whether the expression is a call of NumPy's that makes an array."""
    return called(value) in ("np.zeros_like", "np.ones_like", "np.full_like")


def _leave_out_copies(branch: gast.If, name: str, own: gast.expr) -> None:
    for block in (branch.body, branch.orelse):
        block[:] = [
            s
            for s in block
            if not (
                isinstance(s, gast.Assign)
                and syntax.is_name(s.targets[0], name)
                and syntax.equal(s.value, own)
            )
        ]
