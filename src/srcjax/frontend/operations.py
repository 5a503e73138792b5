"""Expressions in core form: one operation a statement, on names and literals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.frontend.einsum_lists import with_letters
from srcjax.frontend.loops import binds
from srcjax.frontend.special_calls import SpecialCalls
from srcjax.frontend.ufuncs import unwrap_out

_UNSUPPORTED = {
    gast.Yield: ("a generator has no single result", "build and return a list"),
    gast.YieldFrom: ("a generator has no single result", "build and return a list"),
    gast.Await: ("async code cannot be differentiated", "a plain function"),
}

#: Parts of these are evaluated more than once.
_LATER = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


class Operations(SpecialCalls):
    """Lowers expressions and tests."""

    def test(self, node: gast.expr) -> gast.expr:
        """A condition: no derivative flows through it, but a batch may."""
        if self.varying.all_kinds and self.varying.carries(node):
            return self.atom(self.as_condition(node))
        return self.lower_walrus(node) if binds(node) else node

    def as_condition(self, node: gast.expr) -> gast.expr:
        """`a < b < c` as `a < b and b < c`; only the truth of the value matters."""
        if isinstance(node, gast.Compare) and len(node.ops) > 1:
            later = syntax.walk(node.comparators[1:])
            if any(isinstance(e, gast.Call) for e in later):
                # It is evaluated only where what comes before holds.
                left, middle = self.atom(node.left), self.atom(node.comparators[0])
                first = gast.Compare(left, node.ops[:1], [middle])
                rest = gast.Compare(middle, node.ops[1:], node.comparators[1:])
                return gast.BoolOp(gast.And(), [first, rest])
            atoms = [self.atom(e) for e in (node.left, *node.comparators)]
            pairs = [
                gast.Compare(left, [op], [right])
                for left, op, right in zip(atoms, node.ops, atoms[1:], strict=False)
            ]
            return gast.BoolOp(gast.And(), pairs)
        return node

    def of_Compare(self, node: gast.Compare) -> gast.expr:
        if len(node.ops) > 1:
            return self.operation(self.as_condition(node))
        operands = [self.atom(node.left), self.atom(node.comparators[0])]
        return gast.Compare(operands[0], node.ops, [operands[1]])

    def lower_walrus(self, node: gast.expr) -> gast.expr:
        """Take varying walrus assignments out of an inert expression."""
        if isinstance(node, gast.Lambda):
            return node  # its names are its own
        if isinstance(node, gast.NamedExpr):
            self.bind(node.target, node.value)
            return syntax.name(node.target.id)
        if isinstance(node, gast.BoolOp) and binds(node.values[1:]):
            return self.boolean(node)
        if isinstance(node, gast.IfExp) and binds([node.body, node.orelse]):
            return self.of_IfExp(node)
        if isinstance(node, _LATER) and binds(node):
            raise self.refuse(
                node, "`:=` in a loop inside of an expression", "a loop of statements"
            )
        for keyword in getattr(node, "keywords", ()):
            keyword.value = self.lower_walrus(keyword.value)
        for key, value in list(node.__dict__.items()):
            if isinstance(value, gast.expr):
                setattr(node, key, self.lower_walrus(value))
            elif isinstance(value, list):
                new = [
                    self.lower_walrus(v) if isinstance(v, gast.expr) else v
                    for v in value
                ]
                setattr(node, key, new)
        return node

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
            return self.lower_walrus(node)
        handler: Callable | None = getattr(self, f"of_{type(node).__name__}", None)
        if handler is None and self.varying.run_time:
            return self.lower_walrus(node)
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
        left = self.atom(node.left)
        return gast.BinOp(left, node.op, self.atom(node.right))

    def of_UnaryOp(self, node: gast.UnaryOp) -> gast.expr:
        return gast.UnaryOp(node.op, self.atom(node.operand))

    def of_Attribute(self, node: gast.Attribute) -> gast.expr:
        return gast.Attribute(self.atom(node.value), node.attr, syntax.LOAD)

    def of_Subscript(self, node: gast.Subscript) -> gast.expr:
        base = self.atom(node.value)
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
        return type(node)(self.atoms(node.elts), syntax.LOAD)

    of_List = of_Tuple

    def of_Dict(self, node: gast.Dict) -> gast.expr:
        keys = [None if k is None else self.atom(k) for k in node.keys]
        return gast.Dict(keys, [self.atom(v) for v in node.values])

    def of_NamedExpr(self, node: gast.NamedExpr) -> gast.expr:
        self.bind(node.target, node.value)
        return syntax.name(node.target.id)

    def of_IfExp(self, node: gast.IfExp) -> gast.expr:
        test = self.test(node.test)
        id = self.new_temp("value")
        branches = []
        for part in (node.body, node.orelse):
            outer, self.out = self.out, []
            self.emit(syntax.assign(id, self.operation(part)))
            branches.append(self.out)
            self.out = outer
        self.emit(gast.If(test, *branches))
        return syntax.name(id)

    def of_BoolOp(self, node: gast.BoolOp) -> gast.expr:
        return self.boolean(node)

    def boolean(self, node: gast.BoolOp) -> gast.expr:
        """`a and b` by value: b is evaluated only where a decides nothing."""
        id = self.new_temp("value")
        self.emit(syntax.assign(id, self.operation(node.values[0])))
        test: gast.expr = syntax.name(id)
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
        special = self.special_call(node)
        if special is not None:
            return special
        listed = self.listed_generator(node)
        if listed is not None:
            return listed
        if self.varying.value(node.func) is np.einsum:
            node = with_letters(node)
        function = node.func
        if isinstance(function, gast.Attribute):
            if self.varying.value(function) is None:
                base = self.atom(function.value)
                function = gast.Attribute(base, function.attr, syntax.LOAD)
        elif not isinstance(function, gast.Name):
            function = self.atom(function)
        unwrap_out(node)
        args = self.atoms(self.held_iterators(node))
        keywords = [gast.keyword(k.arg, self.argument(k.value)) for k in node.keywords]
        called = gast.Call(function, args, keywords)
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
