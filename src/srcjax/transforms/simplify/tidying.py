"""Expressions of generated code in the words a person would use, by their types."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
    Scalar,
    Tuple,
    Type,
    dtype_of,
    has_complex,
    is_number,
    same_dtype,
    same_shape,
    same_size,
    shape_of,
)
from srcjax.frontend.unit import Unit
from srcjax.ops.elementwise_facts import gives_float, gives_float_of, is_elementwise
from srcjax.transforms.algebra import tidy
from srcjax.transforms.call_effects import called, is_pure
from srcjax.transforms.simplify.factors import cancelled
from srcjax.transforms.simplify.plain import (
    LIKE,
    constant_last,
    factor_outside,
    filled_with,
    item_of_sum,
    join_choices,
    join_halves,
    method_of_number,
    plain_axis,
    plain_count,
    plain_list,
    plain_ones,
    plain_unbroadcast,
    plain_where,
    sign_outside,
    transposed,
    whole_number,
    without_copies,
    without_minus,
    without_slices,
    without_zeros,
    zero_choice,
)
from srcjax.transforms.writer import Writer

#: Whether a value is floating, if what these names stand for is.
Floating = Callable[[Any, set[str]], bool]


def floating_names(node: gast.FunctionDef, is_floating: Floating) -> set[str]:
    """Names that are bound to nothing but what surely is floating."""
    given = {n.id for n in syntax.walk(node.args) if isinstance(n, gast.Name)}
    found: dict[str, list[Any]] = {}
    for stmt in syntax.all_statements(node.body):
        if isinstance(stmt, gast.Assign):
            for target in filter(syntax.is_name, stmt.targets):
                found.setdefault(target.id, []).append(stmt.value)
    bound = syntax.binding_counts(node.body)
    names = {n for n, values in found.items() if bound[n] == len(values)} - given
    while True:
        left = {n for n in names if all(is_floating(v, names) for v in found[n])}
        if left == names:
            return names
        names = left


def _is_floating(value: Any, names: set[str], calls: bool = False) -> bool:
    """Whether the value is floating, if what these names stand for is.

    With `calls` also what functions give of floats, as `np.linalg.solve` does.
    """
    if isinstance(value, gast.Name):
        return value.id in names
    if isinstance(value, gast.Constant):
        return type(value.value) is float
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        return _is_floating(value.operand, names, calls)
    if isinstance(value, gast.Call):
        return gives_float(called(value)) or (calls and _gives_float(value, names))
    if calls and isinstance(value, gast.Attribute) and value.attr == "T":
        return _is_floating(value.value, names, calls)
    if not isinstance(value, gast.BinOp):
        return False
    if isinstance(value.op, (gast.Add, gast.Sub, gast.Mult)):
        return any(_is_floating(v, names, calls) for v in (value.left, value.right))
    return isinstance(value.op, gast.Div)


def _gives_float(call: gast.Call, names: set[str]) -> bool:
    """Whether a call of arrays alone gives floats, if what these names stand for is."""
    if call.keywords or not call.args or not called(call):
        return False
    floating = tuple(_is_floating(a, names, calls=True) for a in call.args)
    return gives_float_of(called(call), floating)


_given_floats: Floating = functools.partial(_is_floating, calls=True)


class Tidying:
    """Rewrites the expressions of one function."""

    rules: Writer
    node: gast.FunctionDef
    unit: Unit
    #: Where the adjoint (or tangent) variables belong: name and path of the value.
    adjoints: dict[str, tuple]
    #: What `floating` found in the function as it stands.
    known_floating: dict[Floating, set[str]] | None = None

    def tidy(self, value: gast.expr) -> gast.expr:
        """The expression in fewer and plainer words, with the same value."""
        value = syntax.rewritten(value, self.plainer)
        value = tidy(value, self.is_adjoint, self.is_float_by_itself)
        return syntax.rewritten(value, self.shorter)

    def plainer(self, node: gast.expr) -> gast.expr:
        """The node, whose parts are plain, in the words a person would use."""
        for kinds, change in self.plain_words:
            if type(node) in kinds:
                node = change(node)
        return node

    @functools.cached_property
    def plain_words(self) -> list[tuple[frozenset[type], Callable[..., Any]]]:
        """What makes expressions plain, in its order, by the kinds that it looks at."""
        call, attribute = gast.Call, gast.Attribute
        operator, subscript = gast.BinOp, gast.Subscript
        operators = (gast.BinOp, gast.UnaryOp)
        every = (*operators, gast.Call)
        alike = self.alike
        rows: list[tuple[Any, Callable[..., Any]]] = [
            ((operator,), self.without_zero),
            ((attribute,), self.plain_size),
            (every, without_copies),
            (operators, lambda node: without_slices(node, self.is_array)),
            ((call,), plain_unbroadcast),
            ((call,), method_of_number),
            ((attribute,), self.plain_transpose),
            ((attribute, call), lambda node: sign_outside(node, self.is_float)),
            ((call,), self.plain_length),
            ((call,), self.without_cast),
            ((call,), plain_count),
            ((call,), plain_list),
            ((call,), plain_axis),
            ((gast.Compare,), constant_last),
            ((operator,), self.joined_halves),
            ((call,), plain_ones),
            ((call,), self.plain_like),
            ((subscript,), item_of_sum),
            ((call,), lambda node: factor_outside(node, self.is_float)),
            ((operator,), self.flat_sum),
            ((operator,), lambda node: without_zeros(node, alike)),
            ((operator,), lambda node: join_choices(node, alike)),
            ((call,), plain_where),
            ((call,), lambda node: zero_choice(node, alike)),
            ((operator,), self.without_filled),
            ((operator,), self.without_complex_one),
            ((operator,), self.plain_mean),
            ((operator,), self.plain_share),
            ((operator,), self.counted_sum),
        ]
        return [(frozenset(kinds), change) for kinds, change in rows]

    def is_ours(self, name: str) -> bool:
        """Whether the user's text has no such name."""
        return name not in self.unit.names.reserved

    def is_array(self, node: gast.expr) -> bool:
        """Whether the value is known to be an array."""
        return isinstance(self.type_of(node), Array)

    def shorter(self, node: gast.expr) -> gast.expr:
        """One product or sum in lowest terms, with its minus where it reads best."""
        return self.plain_minus(self.lowest_terms(node))

    def plain_like(self, node: gast.expr) -> gast.expr:
        """`np.zeros_like(a - np.log(b))` is `np.zeros_like(a)`, if `a` is alike."""
        if called(node) not in LIKE or len(node.args) != 1 or node.keywords:
            return node
        whole = node.args[0]
        if isinstance(whole, gast.Name) or not is_pure(whole):
            return node
        names = (n for n in syntax.walk(whole) if isinstance(n, gast.Name))
        found = next((n for n in names if self.alike(n, whole)), None)
        return node if found is None else gast.Call(node.func, [found], [])

    def plain_length(self, node: gast.expr) -> gast.expr:
        """`len(list(x))` is `len(x)` of what has a length."""
        if called(node) != "len" or called(node.args[0]) != "list":
            return node
        items = node.args[0].args
        sized = items and isinstance(self.type_of(items[0]), (Array, Dict, List, Tuple))
        return syntax.call("len", items[0]) if sized else node

    def without_cast(self, node: gast.expr) -> gast.expr:
        """`np.float32(v)` is `v`, a number of NumPy's of that dtype."""
        if called(node) not in _CASTS or len(node.args) != 1 or node.keywords:
            return node
        if not syntax.names_read(node.args[0]).isdisjoint(self.adjoints):
            return node  # of which the dtype is supposed
        found = self.type_of(node.args[0])
        if not isinstance(found, Scalar) or found.python:
            return node
        return node.args[0] if found.dtype == _CASTS[called(node)] else node

    def flat_sum(self, node: gast.expr) -> gast.expr:
        """`a + (b + c)` is `a + b + c`, where all are of one shape."""
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.Add):
            return node
        right = node.right
        if not isinstance(right, gast.BinOp) or not isinstance(
            right.op, (gast.Add, gast.Sub)
        ):
            return node
        if not (self.alike(node.left, right.left) and self.alike(right.right, right)):
            return node
        first = self.flat_sum(gast.BinOp(node.left, gast.Add(), right.left))
        return gast.BinOp(first, right.op, right.right)

    def joined_halves(self, node: gast.expr) -> gast.expr:
        """Where two values are equal, `np.maximum` has half of each derivative."""
        return join_halves(node, lambda v: dtype_of(self.type_of(v)) is _DOUBLE)

    def lowest_terms(self, node: gast.expr) -> gast.expr:
        """`2 * (a / (2 * b))` is `a / b`."""
        return cancelled(node, self.alike, self.is_float, self.is_number)

    def alike(self, new: gast.expr, old: gast.expr) -> bool:
        """Whether both are floating, of one shape and dtype."""
        if not self.is_float(old):
            return False
        types = [self.whole_type_of(e) for e in (new, old)]
        if dtype_of(types[0]) != dtype_of(types[1]):
            return False
        if all(map(is_number, types)):
            return True
        return same_shape(shape_of(types[0]), shape_of(types[1]))

    def plain_minus(self, node: gast.expr) -> gast.expr:
        """`a + -2 * b * c` is `a - 2 * b * c`, and so is `-2 * b * c + a`."""
        if not isinstance(node, gast.BinOp) or not isinstance(
            node.op, (gast.Add, gast.Sub)
        ):
            return node

        def negative(term: gast.expr) -> bool:
            return without_minus(term) is not None

        plus = isinstance(node.op, gast.Add) and is_pure(node)
        if plus and negative(node.left) and not negative(node.right):
            node = gast.BinOp(node.right, gast.Add(), node.left)
        factors: list[Any] = []
        first: Any = node.right
        while isinstance(first, gast.BinOp) and isinstance(
            first.op, (gast.Mult, gast.Div, gast.MatMult)
        ):
            factors.append(first)
            first = first.left
        if not (isinstance(first, gast.UnaryOp) and isinstance(first.op, gast.USub)):
            return node
        number = isinstance(first.operand, gast.Constant)
        count = self.is_count(first.operand)
        ours = count or self.is_float(first.operand) or self.is_adjoint(first.operand)
        if not (ours or (number and factors)):
            return node
        divided = bool(factors) and isinstance(factors[-1].op, gast.Div)
        exact = number and isinstance(first.operand.value, int)
        sure = divided or not (exact or count) or (count and not factors)
        signed = any(self.is_adjoint(f.right) for f in factors)
        signed |= self.is_adjoint(first.operand)
        if not (sure or signed or self.is_float(node.right)):
            return node
        product = first.operand
        for factor in reversed(factors):
            product = gast.BinOp(product, factor.op, factor.right)
        op = gast.Sub() if isinstance(node.op, gast.Add) else gast.Add()
        return gast.BinOp(node.left, op, product)

    def without_filled(self, node: gast.expr) -> gast.expr:
        """`np.full_like(a, c)[:, None] * b` is `c * b`, if `b` has the whole shape."""
        if not isinstance(node, gast.BinOp):
            return node
        if not isinstance(node.op, (gast.Mult, gast.Div)):
            return node
        for filled in (node.left, node.right):
            number = filled_with(filled)
            if number is None:
                continue
            # It was rounded to the dtype of the array.
            dtypes = [dtype_of(self.type_of(v)) for v in (filled, node)]
            if dtypes[0] is None or not same_dtype(*dtypes) or not is_pure(node):
                continue
            first = filled is node.left
            parts = (number, node.right) if first else (node.left, number)
            new = gast.BinOp(parts[0], node.op, parts[1])
            if self.alike(new, node):
                return new
        return node

    def without_complex_one(self, node: gast.expr) -> gast.expr:
        """`(1 + 0j) * z`, of a holomorphic gradient, is `1.0 * z` for complex `z`."""
        factors, leaf = [], node
        while isinstance(leaf, gast.BinOp) and isinstance(
            leaf.op, (gast.Mult, gast.Div)
        ):
            factors.append(leaf.right)
            leaf = leaf.left
        inner = leaf.operand if isinstance(leaf, gast.UnaryOp) else leaf
        one = isinstance(inner, gast.Constant) and isinstance(inner.value, complex)
        if (
            one
            and inner.value == 1
            and any(has_complex(self.type_of(f)) for f in factors)
        ):
            plain: gast.expr = syntax.replaced(node, {id(inner): syntax.const(1.0)})
            return plain
        return node

    def plain_mean(self, node: gast.expr) -> gast.expr:
        """`d.sum(axis=0) / x.shape[0]` is `d.mean(axis=0)`, where `x` is as long.

        NumPy's mean of single or double precision is that quotient.
        """
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.Div):
            return node
        total: Any = without_minus(node.left) or node.left
        if not isinstance(total, gast.Call) or total.args or not is_pure(total):
            return node
        method, words = total.func, {k.arg: k.value for k in total.keywords}
        if getattr(method, "attr", "") != "sum" or words.keys() - {"axis", "keepdims"}:
            return node
        summed = self.type_of(method.value)
        shape, dtype = shape_of(summed), dtype_of(summed)
        if not isinstance(summed, Array) or not shape or dtype is None:
            return node
        axis = words.get("axis")
        along: tuple | None = tuple(shape)
        if axis is not None:
            whole: Any = getattr(axis, "value", None)
            fits = type(whole) is int and 0 <= whole < len(shape)
            along = (shape[whole],) if fits else None
        exact = dtype.kind in "fc" and dtype not in (np.float16, np.longdouble)
        if along is None or not exact or not self.is_size(node.right, along):
            return node
        mean = gast.Call(gast.Attribute(method.value, "mean", syntax.LOAD), [], [])
        mean.keywords = total.keywords
        return mean if total is node.left else gast.UnaryOp(gast.USub(), mean)

    def shortest(self, node: gast.expr) -> gast.expr:
        """`min(len(x), y.shape[1], n)` is `min(len(x), n)`, if `y` is as wide."""
        if called(node) != "min" or node.keywords or not is_pure(node):
            return node
        kept: list[gast.expr] = []
        sizes: list[Any] = []
        for length in node.args:
            if not any(self.is_size(length, (size,)) for size in sizes):
                kept.append(length)
                sizes.append(self.size_of(length))
        return kept[0] if len(kept) == 1 else gast.Call(node.func, kept, [])

    def size_of(self, node: Any) -> Any:
        """The size that `len(x)` or `x.shape[1]` gives, if it is known."""
        of: Any = None
        at: Any = 0
        if called(node) == "len" and len(node.args) == 1:
            of = node.args[0]
        elif isinstance(node, gast.Subscript):
            sized = isinstance(node.value, gast.Attribute) and node.value.attr
            of = node.value.value if sized == "shape" else None
            at = getattr(node.slice, "value", None)
        sizes = None if of is None else shape_of(self.type_of(of))
        if sizes is None or type(at) is not int or not 0 <= at < len(sizes):
            return None
        return sizes[at]

    def is_size(self, node: Any, along: tuple) -> bool:
        """Whether it is the number of items along axes of these sizes."""
        if isinstance(node, gast.Attribute) and node.attr == "size":
            return same_shape(shape_of(self.type_of(node.value)), along)
        return len(along) == 1 and same_size(self.size_of(node), along[0])

    def plain_share(self, node: gast.expr) -> gast.expr:
        """`1.0 * chosen / n` is `chosen / n` of numbers and arrays: a quotient."""
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.Div):
            return node
        top = node.left
        if not isinstance(top, gast.BinOp) or not isinstance(top.op, gast.Mult):
            return node
        one = isinstance(top.left, gast.Constant) and top.left.value == 1
        types = [self.type_of(v) for v in (top.right, node.right)]
        known = [t is not None and t.kind in "biufc" for t in map(dtype_of, types)]
        if not one or not all(known):
            return node
        return gast.BinOp(top.right, gast.Div(), node.right)

    def counted_sum(self, node: gast.expr) -> gast.expr:
        """`-1.0 * n - d` is `-n - d` of a count of Python's and what is floating.

        So is `1.0 * (a > b) + d` of truth values, or whole numbers, and doubles.
        """
        if not isinstance(node, gast.BinOp):
            return node
        if not isinstance(node.op, (gast.Add, gast.Sub)):
            return node
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if not isinstance(side, gast.BinOp) or not isinstance(side.op, gast.Mult):
                continue
            factor = whole_number(side.left)
            counted = self.is_count(side.right)
            if factor is None or not (counted or self.is_whole_beside(side, other)):
                continue
            if not self.is_float(other):
                continue
            whole: gast.expr = gast.BinOp(factor, gast.Mult(), side.right)
            if syntax.text(factor) in ("1", "-1"):
                whole = side.right
                if isinstance(factor, gast.UnaryOp):
                    whole = gast.UnaryOp(gast.USub(), whole)
            pair = (whole, other) if side is node.left else (other, whole)
            return gast.BinOp(pair[0], node.op, pair[1])
        return node

    def is_whole_beside(self, side: gast.BinOp, other: gast.expr) -> bool:
        """Whether `1.0 * n` is of truth values or whole numbers, beside doubles."""
        one = isinstance(side.left, gast.Constant) and side.left.value == 1
        dtypes = [dtype_of(self.type_of(v)) for v in (side.right, other)]
        whole = dtypes[0] is not None and dtypes[0].kind in "bi"
        literal = isinstance(side.right, gast.Constant)
        return one and whole and not literal and dtypes[1] is _DOUBLE

    def plain_size(self, node: gast.expr) -> gast.expr:
        """`(x**2).size` is `x.size`."""
        if not isinstance(node, gast.Attribute) or node.attr not in ("size", "shape"):
            return node
        inner = node.value
        operands: list[gast.expr] = []
        if isinstance(inner, gast.BinOp) and not isinstance(inner.op, gast.MatMult):
            operands = [inner.left, inner.right]
        elif isinstance(inner, gast.UnaryOp):
            operands = [inner.operand]
        elif isinstance(inner, gast.Call) and len(inner.args) == 1:
            chain = called(inner)
            operands = inner.args if is_elementwise(chain) else []
        elif isinstance(inner, gast.Call) and not inner.keywords:
            pairwise = called(inner) in ("np.maximum", "np.minimum")
            operands = inner.args if pairwise and is_pure(inner) else []
        if node.attr == "size" and isinstance(inner, gast.Call) and not operands:
            return self.size_of_reduction(node, inner)
        whole = shape_of(self.type_of(inner)) if operands else None
        if whole == ():  # the operands may be numbers of Python
            return syntax.expression("1" if node.attr == "size" else "()")
        for operand in operands:
            if isinstance(operand, gast.Constant):
                continue
            if same_shape(shape_of(self.type_of(operand)), whole):
                return self.plain_size(gast.Attribute(operand, node.attr, syntax.LOAD))
        return self.size_of_given(inner) or node if node.attr == "size" else node

    def size_of_given(self, inner: gast.expr) -> gast.expr | None:
        """`(x - y).size` as the size, or length, of an argument, where it is that.

        What the user gave a name stays, if it is there for more than its size.
        """
        shape = shape_of(self.type_of(inner))
        if not shape:
            return None
        named = isinstance(inner, gast.Name) and not self.is_ours(inner.id)
        if named and not self.is_there_for_size(inner.id):
            return None
        given = [a for a in self.node.args.args if isinstance(a, gast.Name)]
        bound = syntax.names_written(self.node.body) if given else set()
        shapes = {
            a.id: shape_of(self.type_of(syntax.name(a.id)))
            for a in given
            if a.id not in bound and self.is_array(syntax.name(a.id))
        }
        alike = [n for n, other in shapes.items() if same_shape(other, shape)]
        if len(shape) == 1:
            alike += [n for n, o in shapes.items() if o and same_size(o[0], shape[0])]
            return syntax.call("len", syntax.name(alike[0])) if alike else None
        whole = syntax.name(alike[0]) if alike else None
        return whole and gast.Attribute(whole, "size", syntax.LOAD)

    def is_there_for_size(self, name: str) -> bool:
        """Whether the number of items is all that the text reads of a name."""
        sized = sum(
            isinstance(n, gast.Attribute)
            and n.attr == "size"
            and syntax.is_name(n.value, name)
            for n in syntax.walk(self.node.body)
        )
        return syntax.count_reads(self.node.body, name) == sized

    def size_of_reduction(self, node: gast.Attribute, inner: gast.Call) -> gast.expr:
        """`np.sum(x * y, axis=1).size` is `x.shape[0]`."""
        reduces = called(inner) in ("np.sum", "np.mean", "np.max", "np.var")
        axis = next((k.value for k in inner.keywords if k.arg == "axis"), None)
        plain = len(inner.keywords) == 1 and len(inner.args) == 1
        if not (reduces and plain and isinstance(axis, gast.Constant)):
            return node
        shape = shape_of(self.type_of(inner.args[0]))
        if shape is None or len(shape) != 2 or axis.value not in (0, 1, -1):
            return node
        whole = gast.Attribute(inner.args[0], "shape", syntax.LOAD)
        kept = 1 - axis.value % 2
        return gast.Subscript(self.plain_size(whole), syntax.const(kept), syntax.LOAD)

    def plain_transpose(self, node: gast.expr) -> gast.expr:
        """`x.T.T` is `x`, and `(A.T @ B).T` is `B.T @ A`."""
        inner = transposed(node)
        if inner is None:
            return node
        if isinstance(self.type_of(inner), Scalar):
            return inner  # it may be a number of Python
        if transposed(inner) is not None:
            return transposed(inner) or node
        if isinstance(inner, gast.BinOp) and isinstance(inner.op, gast.MatMult):
            operands = (inner.left, inner.right)
            ranks = [shape_of(self.type_of(x)) for x in operands]
            some = any(transposed(x) is not None for x in operands)
            if some and all(r is not None and len(r) == 2 for r in ranks):
                left, right = (
                    self.plain_transpose(gast.Attribute(x, "T", syntax.LOAD))
                    for x in operands
                )
                return gast.BinOp(right, gast.MatMult(), left)
        return node

    def without_zero(self, node: gast.expr) -> gast.expr:
        """`n - 0` and `0 + n` are `n` for a count n."""
        if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub)):
            first = getattr(node.left, "value", None)
            added = isinstance(node.op, gast.Add) and type(first) is int and first == 0
            if added and self.is_count(node.right):
                return node.right
            zero = isinstance(node.right, gast.Constant) and node.right.value == 0
            if (
                zero
                and isinstance(node.right.value, int)
                and is_number(self.type_of(node.left))
            ):
                return node.left
        return node

    def type_of(self, node: gast.expr) -> Type:
        env = {}
        for name in syntax.names_read(node):
            if name in self.adjoints or name in self.rules.types:
                env[name] = self.type_of_name(name)
        return self.rules.typer.type_of(node, env)

    def whole_type_of(self, node: gast.expr) -> Type:
        """The type, of adjoints where they have the shape of their values."""
        if syntax.names_read(node).isdisjoint(self.rules.places.read_small):
            return self.type_of(node)
        return UNKNOWN

    def type_of_name(self, name: str) -> Type:
        place = self.adjoints.get(name)
        if name in self.rules.places.partial:
            return UNKNOWN
        if place is not None:
            from srcjax.transforms.places import part_of

            t = self.rules.type_of_name(place[0])
            try:
                return part_of(t, place[1]) if place[1] else t
            except KeyError:
                return UNKNOWN
        return self.rules.types.get(name, UNKNOWN)

    def is_adjoint(self, node: gast.expr) -> bool:
        """Whether it is an adjoint or tangent: no unsigned integer has one."""
        if called(node) == "unbroadcast":
            return self.is_adjoint(node.args[0])
        if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Mult, gast.Div)):
            return self.is_adjoint(node.left) or self.is_adjoint(node.right)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            return self.is_adjoint(node.operand)
        if isinstance(node, gast.Subscript):  # a part of one
            return self.is_adjoint(node.value)
        return isinstance(node, gast.Name) and node.id in self.adjoints

    def is_count(self, node: gast.expr) -> bool:
        """Whether it is a whole number of Python's, which has a sign."""
        t = self.type_of(node)
        return isinstance(t, Scalar) and t.python is True and t.dtype == int

    def is_number(self, node: gast.expr) -> bool:
        return is_number(self.type_of(node))

    def is_float(self, node: gast.expr) -> bool:
        """Whether it is floating, also as what a function gives of floats."""
        return self.floats(node, _given_floats) or self.is_float_by_itself(node)

    def is_float_by_itself(self, node: gast.expr) -> bool:
        if self.floats(node, _is_floating):
            return True
        t = self.type_of(node)
        dtype = dtype_of(t)
        if isinstance(t, Array) and t.shape == ():
            return False  # `1.0 * x` is a number; to `x` itself may be written
        if isinstance(t, Const):
            return isinstance(t.value, float)
        return (
            isinstance(t, (Array, Scalar)) and dtype is not None and dtype.kind in "fc"
        )

    def floats(self, node: gast.expr, is_floating: Floating) -> bool:
        """Whether it is a call or name that stands for floats, whatever the types."""
        if not isinstance(node, (gast.Call, gast.Name)):
            return False
        known = self.known_floating = self.known_floating or {}
        if is_floating not in known:
            known[is_floating] = floating_names(self.node, is_floating)
        return is_floating(node, known[is_floating])

    def is_immutable(self, node: gast.expr) -> bool:
        """Whether the value is a number: nothing can be written to it."""
        return is_number(self.type_of(node))

    def has_product(self, node: gast.expr) -> bool:
        """Whether the expression has a product with a matrix: real work."""
        for sub in syntax.walk(node):
            operands: list[gast.expr] = []
            if isinstance(sub, gast.BinOp) and isinstance(sub.op, gast.MatMult):
                operands = [sub.left, sub.right]
            elif isinstance(sub, gast.Call) and called(sub) in _PRODUCTS:
                operands = sub.args
            ranks = [len(shape_of(self.type_of(o)) or ()) for o in operands]
            if max(ranks, default=0) >= 2:
                return True
        return False


#: What makes numbers of NumPy's that are not in double precision.
_CASTS = {f"np.{name}": np.dtype(name) for name in ("float16", "float32", "complex64")}
_DOUBLE = np.dtype(float)
#: Functions whose work grows faster than their arguments.
_PRODUCTS = frozenset(
    f"np.{name}"
    for name in ["dot", "matmul", "einsum", "tensordot", "kron", "linalg.solve"]
)
