"""Expressions in core form: one operation a statement, on names and literals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.looking import SHAPE_ATTRIBUTES
from srcjax.frontend.einsum_lists import with_letters
from srcjax.frontend.lowering import binds
from srcjax.frontend.special_calls import SpecialCalls
from srcjax.frontend.ufuncs import unwrap_out

_UNSUPPORTED = {
    gast.Yield: ("a generator has no single result", "build and return a list"),
    gast.YieldFrom: ("a generator has no single result", "build and return a list"),
    gast.Await: ("async code cannot be differentiated", "a plain function"),
}


class Operations(SpecialCalls):
    """Lowers expressions and tests."""

    def test(self, node: gast.expr) -> gast.expr:
        """A condition: no derivative flows through it, but a batch may."""
        if self.varying.all_kinds and self.varying.carries(node):
            return self.atom(self.as_condition(node))
        if not self.acts(node):
            return node
        found = self.in_parts(self.as_condition(node))
        called = isinstance(found, (gast.Call, gast.Attribute))
        return self.temp(found) if called else found

    def as_condition(self, node: gast.expr) -> gast.expr:
        """`a < b < c` as `a < b and b < c`; only the truth of the value matters."""
        if isinstance(node, gast.Compare) and len(node.ops) > 1:
            if any(map(self.may_act, syntax.walk(node.comparators[1:]))):
                # It is evaluated only where what comes before holds.
                left, middle = self.in_order([node.left, node.comparators[0]])
                middle = self.held(middle, node.comparators[1:])
                first = gast.Compare(left, node.ops[:1], [middle])
                rest = gast.Compare(middle, node.ops[1:], node.comparators[1:])
                return gast.BoolOp(gast.And(), [first, rest])
            atoms = self.in_order([node.left, *node.comparators])
            pairs = [
                gast.Compare(left, [op], [right])
                for left, op, right in zip(atoms, node.ops, atoms[1:], strict=False)
            ]
            return gast.BoolOp(gast.And(), pairs)
        return node

    def may_act(self, node: Any) -> bool:
        """Whether to evaluate it may change something: a call, what a class asks."""
        if isinstance(node, gast.Attribute):
            known = self.varying.value(node) is not None
            return not known and node.attr not in SHAPE_ATTRIBUTES
        return isinstance(node, (gast.Call, gast.NamedExpr)) or self.acts(node)

    def of_Compare(self, node: gast.Compare) -> gast.expr:
        if len(node.ops) > 1:
            return self.operation(self.as_condition(node))
        left, right = self.in_order([node.left, *node.comparators])
        return gast.Compare(left, node.ops, [right])

    def in_parts(self, node: gast.expr) -> gast.expr:
        """An inert expression, with all that has an effect in statements before it."""
        if isinstance(node, gast.Lambda):
            return node  # its names are its own
        if not self.acts(node) and not self.varying.asks_for_structure(node):
            return node
        handler: Callable | None = getattr(self, f"of_{type(node).__name__}", None)
        if handler is None:
            raise self.acts_inside(node)
        new: gast.expr = handler(node)
        return new if hasattr(new, "lineno") else gast.copy_location(new, node)

    def operation(self, node: gast.expr) -> gast.expr:
        """One operation on atoms (or an inert expression, as written)."""
        at, self.at = self.at, node if hasattr(node, "lineno") else self.at
        try:
            return self._operation(node)
        finally:
            self.at = at

    def _operation(self, node: gast.expr) -> gast.expr:
        if type(node) in _UNSUPPORTED:
            raise self.refuse(node, *_UNSUPPORTED[type(node)])
        if not self.varying.carries(node):
            return node
        if self.varying.inert_result(node):
            return self.in_parts(node)
        handler: Callable | None = getattr(self, f"of_{type(node).__name__}", None)
        if handler is None and self.varying.run_time and not binds(node):
            return node
        if handler is None:
            raise self.refuse(
                node,
                f"`{type(node).__name__}` on a differentiated value is not supported",
                "plain arithmetic, or `srcjax.stop_gradient` around the value",
            )
        new: gast.expr = handler(node)
        if not hasattr(new, "lineno"):
            gast.copy_location(new, node)
        return new

    def of_Name(self, node: gast.Name) -> gast.expr:
        return node

    def of_BinOp(self, node: gast.BinOp) -> gast.expr:
        left, right = self.in_order([node.left, node.right])
        return gast.BinOp(left, node.op, right)

    def of_UnaryOp(self, node: gast.UnaryOp) -> gast.expr:
        return gast.UnaryOp(node.op, self.atom(node.operand))

    def of_Attribute(self, node: gast.Attribute) -> gast.expr:
        return gast.Attribute(self.atom(node.value), node.attr, syntax.LOAD)

    def of_Subscript(self, node: gast.Subscript) -> gast.expr:
        base = self.held(self.atom(node.value), [node.slice])
        return gast.Subscript(base, self.index(node.slice), syntax.LOAD)

    def index(self, node: gast.expr) -> gast.expr:
        """An index: cheap integer expressions stay, the rest becomes names."""
        if isinstance(node, gast.Slice):
            lower, upper, step = (
                None if part is None else self.index(part)
                for part in (node.lower, node.upper, node.step)
            )
            return gast.Slice(lower, upper, step)
        if isinstance(node, gast.Tuple):
            if any(isinstance(e, gast.Starred) for e in node.elts):
                return self.atom(node)
            return gast.Tuple([self.index(e) for e in node.elts], syntax.LOAD)
        if _is_cheap_index(node):
            return node
        return self.atom(node)

    def of_Tuple(self, node: Any) -> gast.expr:
        self.check_kept(node.elts)
        return type(node)(self.atoms(node.elts), syntax.LOAD)

    of_List = of_Tuple

    def of_Dict(self, node: gast.Dict) -> gast.expr:
        self.check_kept(node.values)
        items = [e for pair in zip(node.keys, node.values, strict=True) for e in pair]
        found: list[Any] = []
        for place, item in enumerate(items):
            rest = [e for e in items[place + 1 :] if e is not None]
            held = None if item is None else self.held(self.atom(item), rest)
            if held is not None and place % 2 and items[place - 1] is None:
                held = self.unchanged(held, gast.Dict([None], [held]), rest)
            found.append(held)
        keys, values = found[::2], found[1::2]
        names = [isinstance(k, gast.Name) for k in keys]
        if len(keys) > 1 and any(names) and None not in keys:
            # Two of them may be equal: what the dict holds is the later value.
            id = self.new_temp("values")
            self.emit(syntax.assign(id, gast.Dict([], [])))
            for key, value in zip(keys, values, strict=True):
                place = gast.Subscript(syntax.name(id), key, None)
                self.emit(syntax.assign(place, value))
            return syntax.name(id)
        last = {k.value: i for i, k in enumerate(keys) if isinstance(k, gast.Constant)}
        for place, key in enumerate(keys):
            if isinstance(key, gast.Constant) and last[key.value] != place:
                values[place] = syntax.const(None)  # its place among the keys
        return gast.Dict(keys, values)

    def of_JoinedStr(self, node: gast.JoinedStr) -> gast.expr:
        values = []
        for part in node.values:
            new = syntax.clone(part)
            if isinstance(new, gast.FormattedValue):
                new.value = self.atom(new.value)
                if new.format_spec is not None:
                    new.format_spec = self.of_JoinedStr(new.format_spec)
            values.append(new)
        return gast.JoinedStr(values)

    def of_Set(self, node: gast.Set) -> gast.expr:
        return gast.Set(self.in_order(node.elts))

    def of_NamedExpr(self, node: gast.NamedExpr) -> gast.expr:
        self.bind(node.target, node.value)
        return syntax.name(node.target.id)

    def of_IfExp(self, node: gast.IfExp) -> gast.expr:
        id = self.new_temp("value")
        self.choose(
            node, lambda part: self.emit(syntax.assign(id, self.operation(part)))
        )
        return syntax.name(id)

    def of_BoolOp(self, node: gast.BoolOp) -> gast.expr:
        return self.boolean(node)

    def boolean(self, node: gast.BoolOp) -> gast.expr:
        """`a and b` by value: b is evaluated only where a decides nothing."""
        id = self.new_temp("value")
        first = self.operation(node.values[0])
        self.emit(syntax.assign(id, first))
        # What a name holds is asked itself: it may be one for all examples of a batch.
        test = syntax.clone(first) if syntax.is_name(first) else syntax.name(id)
        if isinstance(node.op, gast.Or):
            test = gast.UnaryOp(gast.Not(), test)
        rest = node.values[1:]
        following = rest[0] if len(rest) == 1 else gast.BoolOp(node.op, rest)
        outer, self.out = self.out, []
        self.emit(syntax.assign(id, self.operation(following)))
        body, self.out = self.out, outer
        self.emit(gast.If(test, body, []))
        return syntax.name(id)

    def of_Call(self, node: gast.Call) -> gast.expr:
        node.func = self.attribute_asked_for(node.func) or node.func
        special = self.special_call(node)
        if special is not None:
            return special
        listed = self.listed_generator(node)
        if listed is not None:
            return listed
        if self.varying.value(node.func) is np.einsum:
            node = with_letters(node)
        self.check_given(node)
        function = node.func
        if isinstance(function, gast.Attribute):
            if self.varying.value(function) is None:
                given = [*node.args, *(k.value for k in node.keywords)]
                base = self.held(self.atom(function.value), given)
                function = gast.Attribute(base, function.attr, syntax.LOAD)
        elif not isinstance(function, gast.Name):
            function = self.atom(function)
        unwrap_out(node)
        named = [k.value for k in node.keywords]
        args = self.atoms(self.held_iterators(node), named)
        values = self.atoms(named)
        keywords = [
            gast.keyword(k.arg, v) for k, v in zip(node.keywords, values, strict=True)
        ]
        called = gast.Call(function, args, keywords)
        called.iterators = getattr(node, "iterators", ())
        called.used_in = getattr(node, "used_in", None)
        if isinstance(self.varying.value(node.func), np.ufunc):
            return self.ufunc_call(called, self.varying.value(node.func))
        return self.out_argument(called)


def _is_cheap_index(node: Any) -> bool:
    """Integer arithmetic on names: cheap, and it reads best where it is used."""
    if isinstance(node, (gast.Name, gast.Constant)):
        return True
    if isinstance(node, gast.UnaryOp):
        return _is_cheap_index(node.operand)
    if isinstance(node, gast.BinOp):
        simple = (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv, gast.Mod)
        return (
            isinstance(node.op, simple)
            and _is_cheap_index(node.left)
            and _is_cheap_index(node.right)
        )
    return False
