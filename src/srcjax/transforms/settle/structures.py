"""Calls of functions of structure, written out: `tree.map(f, {"w": w})` is
`{"w": f(w)}`.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.registered import method_of, node_of
from srcjax.analysis.skeletons import (
    Held,
    NotKnown,
    is_function,
    is_held,
    is_open,
    is_part,
    leaf_test,
    skeleton,
)
from srcjax.analysis.structural import by_item
from srcjax.analysis.types import (
    Const,
    Leaf,
    List,
    Type,
    Varies,
    is_lowered,
    varies,
)
from srcjax.errors import ArgumentError, SrcjaxError, UnsupportedError, error_at
from srcjax.ops.record import lookup
from srcjax.transforms.places import ordered, read_part
from srcjax.transforms.settle.calls import CallSettling


class StructureSettling(CallSettling):
    """Writes out calls of functions of structure."""

    def by_structure(
        self, stmt: gast.Assign, call: gast.Call, function: Any
    ) -> list[gast.stmt] | None:
        """The containers that the call gives, made of what its arguments hold."""
        arguments = [*call.args, *(k.value for k in call.keywords)]
        types = [self.value_type(stmt, a) for a in arguments]
        if varies() is not Varies.RUN_TIME and not any(
            is_lowered(t) or is_function(t) for t in types
        ):
            return None  # it stays as the user wrote it
        if any(isinstance(a, gast.Starred) for a in call.args) or any(
            k.arg is None for k in call.keywords
        ):
            before = self.expand_stars(stmt, call)
            return [*before, stmt] if before else None
        keywords = {k.arg: k.value for k in call.keywords}
        try:
            bound = inspect.signature(function).bind(*call.args, **keywords)
        except TypeError:
            return None
        writer = Writer(self, stmt, call)
        writer.lists = by_item(function) == "append" and not self.is_list(stmt, bound)
        try:
            given = {
                name: tuple(writer.argument(name, node) for node in found)
                if isinstance(found, tuple)
                else writer.argument(name, found)
                for name, found in bound.arguments.items()
            }
        except NotKnown:
            return self.level_by_level(stmt, call, function, bound)
        bound.arguments.update(given)
        try:
            made = function(*bound.args, **bound.kwargs)
            value = writer.display(made, whole=True)
        except SrcjaxError:
            raise
        except NotKnown:
            op = lookup(function)
            if op is not None and op.inert:
                return None  # it is called when the text runs
            raise error_at(
                UnsupportedError,
                self.unit.source,
                call,
                f"`{syntax.text(call.func)}` asks for the values in a tree, which are "
                "not known before it runs",
                "functions that take objects apart by what attributes they have",
            ) from None
        except Exception as error:
            raise error_at(
                ArgumentError,
                self.unit.source,
                call,
                f"`{syntax.text(call.func)}`: {error or type(error).__name__}",
                "trees whose structures fit",
            ) from None
        stmt.value = gast.copy_location(value, call)
        return [*writer.before, stmt]

    def level_by_level(
        self,
        stmt: gast.Assign,
        call: gast.Call,
        function: Any,
        bound: inspect.BoundArguments,
    ) -> list[gast.stmt] | None:
        """A loop over lists of any length, for functions of a tree at a time."""
        loop = by_item(function)
        if loop is None or "is_leaf" in bound.arguments:
            return None
        trees = [v for v in bound.args if isinstance(v, gast.Name)]
        trees = [v for v in trees if not self.is_called(stmt, v)]
        types = [self.value_type(stmt, v) for v in trees]
        if not all(isinstance(t, List) and t.cls is list for t in types):
            return None
        index, made = self.fresh("i", varying=False), self.fresh("items")
        item = self.fresh("item")
        parts = [self.fresh("item") for _ in trees]
        swapped = {
            id(v): syntax.name(part) for v, part in zip(trees, parts, strict=True)
        }
        inner = gast.copy_location(syntax.replaced(call, swapped), call)
        body: list[gast.stmt] = [
            syntax.assign(part, gast.Subscript(v, syntax.name(index), syntax.LOAD))
            for v, part in zip(trees, parts, strict=True)
        ]
        add = syntax.expression(f"xs.{loop}(v)", xs=syntax.name(made))
        add.args = [syntax.name(item)]
        body += [syntax.assign(item, inner), gast.Expr(add)]
        count = syntax.call("len", trees[0])
        over = syntax.call("range", count)
        stmt.value = syntax.name(made)
        return [
            syntax.assign(made, gast.List([], syntax.LOAD)),
            gast.For(syntax.name(index, store=True), over, body, [], None),
            stmt,
        ]

    def is_list(self, stmt: gast.stmt, bound: inspect.BoundArguments) -> bool:
        """Whether a tree is a list of any length as a whole."""
        return any(
            is_open(self.value_type(stmt, node))
            for node in bound.args
            if isinstance(node, gast.Name)
        )

    def is_called(self, stmt: gast.stmt, node: gast.expr) -> bool:
        """Whether an argument is a function."""
        return is_function(self.value_type(stmt, node))

    def value_type(self, stmt: gast.stmt, node: gast.expr) -> Type:
        """What is known of an argument, also of one from around the function."""
        if isinstance(node, gast.Constant):
            return Const(value=node.value)
        found = self.type_here(stmt, node.id) if isinstance(node, gast.Name) else None
        if found is None:
            env: Any = {}
            for variant in self.facts.of(stmt):
                env = {**env, **variant.before}
            found = self.typer.type_of(node, env)
        return found


class Writer:
    """Statements for what a function of structure does with leaves."""

    def __init__(
        self, settling: StructureSettling, stmt: gast.Assign, call: gast.Call
    ) -> None:
        self.settling = settling
        self.stmt = stmt
        self.call = call
        self.before: list[gast.stmt] = []
        #: Whether lists of any length are leaves, of which the call is made in turn.
        self.lists = False

    def argument(self, name: str, node: gast.expr) -> Any:
        """What the function is run on for an argument. Raises NotKnown."""
        t = self.settling.value_type(self.stmt, node)
        if name == "is_leaf":
            return leaf_test(t, self.settling.program, self.settling.unit)
        if is_function(t):
            function = node if syntax.is_atom(node) else self.hold(node, "function")
            return lambda *args: self.called(function, args, name)
        whole = Held(t)
        supposed = isinstance(t, Leaf)
        plain = syntax.is_atom(node) and not supposed
        whole.node = node if plain else self.hold(node, name)
        if supposed:
            self.before[-1].holds_leaf = True
        return skeleton(t, whole, self.lists)

    def called(self, function: gast.expr, args: tuple, name: str) -> Held:
        """The result of a function for leaves; what is no leaf's is called `name`."""
        nodes = [self.display(arg) for arg in args]
        call = gast.Call(syntax.clone(function), nodes, [])
        if any(is_held(arg) and is_open(arg.type) for arg in args):
            call = gast.Call(syntax.clone(self.call.func), [call.func, *nodes], [])
        result = Held(Type())
        shown = base(next(filter(is_held, args), None))
        result.node = self.hold(call, shown if is_part(args[-1]) else name)
        return result

    def hold(self, value: gast.expr, shown: str = "item") -> gast.Name:
        """A name for the value, from here on."""
        id_ = self.settling.fresh(shown)
        gast.copy_location(value, self.call)
        self.before.append(gast.copy_location(syntax.assign(id_, value), self.stmt))
        return syntax.name(id_)

    def node_of(self, held: Held) -> gast.expr:
        """The leaf, read from what holds it."""
        if held.node is None:
            assert held.holder is not None
            whole = self.node_of(held.holder)
            part = read_part(held.holder.type, whole, held.key)
            held.node = self.hold(part, base(held))
            self.before[-1].holds_leaf = isinstance(held.type, Leaf)
        return syntax.clone(held.node)

    def display(self, value: Any, whole: bool = False) -> gast.expr:
        """The expression for a container or leaf: a name, unless it is the whole."""
        if is_held(value):
            return self.node_of(value)
        if value is None or type(value) in (bool, int, float, str):
            return syntax.const(value)
        parts_are_read = whole and type(value) in (tuple, list)
        if not parts_are_read and not is_part(value) and value not in ((), [], {}):
            constant = self.settling.inliner.constant(value, "structure")
            return syntax.name(constant)
        made = self.container(value)
        return made if whole else self.hold(made, "items")

    def container(self, value: Any) -> gast.expr:
        """The display of a container of other values."""
        constant = self.settling.inliner.constant
        cls = type(value)
        if cls is dict:
            keys: list[gast.expr | None] = [self.display(key) for key in value]
            return gast.Dict(keys, [self.display(v) for v in value.values()])
        if cls is OrderedDict:
            shown = {key: self.display(v) for key, v in value.items()}
            return ordered(constant(cls, cls.__name__), shown)
        if cls is list:
            made = gast.List([self.display(v) for v in value], syntax.LOAD)
            made.of_parts = True
            return made
        if isinstance(value, tuple):
            parts = [self.display(v) for v in value]
            if cls is tuple:
                return gast.Tuple(parts, syntax.LOAD)
            return syntax.call(syntax.name(constant(cls, cls.__name__)), *parts)
        node = node_of(cls)
        if node is None:
            raise ArgumentError(
                f"a {cls.__name__} is made of differentiated values",
                instead="a list, tuple, dict, namedtuple or a class that is registered",
            )
        if node.data or node.meta:
            held = {f: getattr(value, f) for f in (*node.data, *node.meta)}
            named = {name: self.display(v) for name, v in held.items()}
            return syntax.call(syntax.name(constant(cls, cls.__name__)), **named)
        found, aux = node.flatten(value)
        parts = [self.display(aux), self.display(tuple(found))]
        method = method_of(cls, node.unflatten)
        if method is not None:
            return syntax.call(f"{constant(cls, cls.__name__)}.{method}", *parts)
        unflatten = constant(node.unflatten, f"make_{cls.__name__.lower()}")
        return syntax.call(syntax.name(unflatten), *parts)


def base(held: Held | None) -> str:
    """A name for what comes of the leaf: its key."""
    while held is not None:
        key = held.key
        if isinstance(key, str) and key.isidentifier():
            return key
        if held.holder is None and isinstance(held.node, gast.Name):
            return held.node.id
        held = held.holder
    return "item"
