"""Comprehensions, folds and calls of built-ins, lowered to loops and plain calls."""

from __future__ import annotations

import functools
import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.generators import Generators
from srcjax.frontend.lowering import binds
from srcjax.frontend.sequences import SequenceCalls
from srcjax.frontend.ufuncs import UfuncCalls
from srcjax.frontend.varying import find_varying


class SpecialCalls(UfuncCalls, SequenceCalls, Generators):
    """Lowers what stands for a loop."""

    def early_defaults(self, arguments: gast.arguments) -> gast.arguments:
        """Defaults are evaluated where the function is defined, not where it runs."""
        arguments = syntax.clone(arguments)

        def held(default: Any) -> Any:
            if default is None or isinstance(default, gast.Constant):
                return default
            if self.varying.value(default) is not None:
                return default
            return self.temp(self.operation(default), "default")

        arguments.defaults = [held(d) for d in arguments.defaults]
        arguments.kw_defaults = [held(d) for d in arguments.kw_defaults]
        return arguments

    def of_Lambda(self, node: gast.Lambda) -> gast.expr:
        id = self.new_temp("function")
        body = [gast.copy_location(gast.Return(node.body), node)]
        arguments = self.early_defaults(node.args)
        definition = gast.FunctionDef(id, arguments, body, [], None, None, [])
        self.emit(gast.copy_location(definition, node))
        return syntax.name(id)

    def attribute_or_default(self, node: gast.Call) -> gast.expr | None:
        """`getattr(v, "name", other)`: `v.name if hasattr(v, "name") else other`."""
        owner, key, default = node.args
        asks = syntax.name("hasattr")
        named = isinstance(key, gast.Constant) and isinstance(key.value, str)
        if not named or not self.varying.is_builtin(asks, "hasattr"):
            return None
        owner, default = self.atom(owner), self.atom(default)
        found = gast.Attribute(owner, key.value, syntax.LOAD)
        test = gast.Call(asks, [owner, key], [])
        gast.copy_location(found, node)
        chosen = gast.IfExp(test, found, default)
        return self.operation(gast.copy_location(chosen, node))

    def special_call(self, node: gast.Call) -> gast.expr | None:
        """Builtins that are loops: sum, reduce, map, list(generator)."""
        is_builtin = self.varying.is_builtin
        plain = not node.keywords and not any(
            isinstance(a, gast.Starred) for a in node.args
        )
        if isinstance(node.func, gast.Lambda):
            return None
        if self.given_options(node.func) is not None:
            return self.operation(self.with_options(node))
        if is_builtin(node.func, "sum") and node.args and len(node.args) <= 2:
            start = node.args[1] if len(node.args) == 2 else syntax.const(0)
            if node.keywords:
                start = node.keywords[0].value
            return self.fold(node.args[0], start, _plus)
        if is_builtin(node.func, "max", "min") and node.args:
            picked = self.picked_by_key(node)
            if picked is not None:
                return picked
        if is_builtin(node.func, "max", "min") and not node.keywords:
            return self.extreme(node)
        if is_builtin(node.func, "sorted") and len(node.args) == 1:
            return self.sorted_call(node)
        if is_builtin(node.func, "dict"):
            return self.dict_call(node)
        if self.varying.value(node.func) is OrderedDict:
            return self.ordered_call(node)
        attribute = self.attribute_asked_for(node)
        if attribute is not None:
            return self.operation(attribute)
        if is_builtin(node.func, "getattr") and len(node.args) == 3 and plain:
            picked = self.attribute_or_default(node)
            if picked is not None:
                return picked
        if is_builtin(node.func, "next") and plain and node.args:
            items, *default = node.args
            if isinstance(items, gast.GeneratorExp) and len(default) <= 1:
                return self.first_of(items, *default)
        grouped = self.groups(node)
        if grouped is not None:
            return self.operation(grouped)
        if self.rows_of(node) is not None:
            return self.columns(node)
        if is_builtin(node.func, "list", "tuple", "map", "filter") and plain:
            return self.sequence_call(node)
        filled = self.from_keys(node)
        if filled is not None:
            return self.operation(filled)
        value = self.varying.value(node.func)
        plain_function = self.ufunc_method(node, value)
        if plain_function is not None:
            return self.operation(plain_function)

        if value is functools.reduce and plain and len(node.args) >= 2:
            function = self.function_atom(node.args[0])
            start = node.args[2] if len(node.args) == 3 else None

            def combine(acc: gast.expr, item: gast.expr) -> gast.expr:
                return gast.Call(function, [acc, item], [])

            return self.fold(node.args[1], start, combine)
        if value is functools.partial and node.args:
            return self.partial_call(node)
        if value is math.hypot and plain and len(node.args) > 2:
            first, second, *rest = node.args
            pair = gast.copy_location(gast.Call(node.func, [first, second], []), node)
            whole = gast.Call(syntax.clone(node.func), [pair, *rest], [])
            return self.operation(gast.copy_location(whole, node))
        if value is math.log and plain and len(node.args) == 2:
            logs = [gast.Call(syntax.clone(node.func), [a], []) for a in node.args]
            ratio = syntax.expression("a / b", a=logs[0], b=logs[1])
            return self.operation(gast.copy_location(ratio, node))
        if value is math.prod and plain and len(node.args) == 1:
            return self.fold(node.args[0], syntax.const(1), _times)
        return None

    def attribute_asked_for(self, node: gast.expr) -> gast.Attribute | None:
        """`getattr(x, "mean")` as `x.mean`; None for anything else."""
        if not isinstance(node, gast.Call) or len(node.args) != 2 or node.keywords:
            return None
        key = getattr(node.args[1], "value", None)
        if not isinstance(key, str) or not self.varying.is_builtin(
            node.func, "getattr"
        ):
            return None
        attribute = gast.Attribute(node.args[0], key, syntax.LOAD)
        return gast.copy_location(attribute, node)

    def given_options(self, node: gast.expr) -> gast.expr | None:
        """`jit` of `partial(jit, static_argnums=1)`; None of what is no transform's."""
        if not isinstance(node, gast.Call) or len(node.args) != 1:
            return None
        if self.varying.value(node.func) is not functools.partial:
            return None
        maker = self.varying.value(node.args[0])
        return node.args[0] if is_transform(maker) else None

    def with_options(self, call: gast.Call) -> gast.Call:
        """`jit(f, static_argnums=1)` of `partial(jit, static_argnums=1)(f)`."""
        maker = self.given_options(call.func)
        if maker is None:
            return call
        keywords = [*call.func.keywords, *call.keywords]
        return gast.copy_location(gast.Call(maker, call.args, keywords), call)

    def partial_call(self, node: gast.Call) -> gast.expr:
        """`partial(f, a, k=v)` as a function defined here."""
        function, *args = node.args
        function, args = self.function_atom(function), self.atoms(args)
        keywords = [gast.keyword(k.arg, self.atom(k.value)) for k in node.keywords]
        more, named = self.names.fresh("args"), self.names.fresh("kwargs")
        starred = gast.Starred(syntax.name(more), syntax.LOAD)
        call = gast.Call(
            function,
            [*args, starred],
            [*keywords, gast.keyword(None, syntax.name(named))],
        )
        parameters = gast.arguments(
            [], [], _parameter(more), [], [], _parameter(named), []
        )
        return self.of_Lambda(gast.copy_location(gast.Lambda(parameters, call), node))

    def extreme(self, node: gast.Call) -> gast.expr | None:
        """`max(a, b, c)` two by two, and `max(xs)` as a loop."""
        function = node.func
        if any(isinstance(a, gast.Starred) for a in node.args):
            node = gast.Call(function, [gast.List(node.args, syntax.LOAD)], [])
        if len(node.args) == 1:

            def combine(acc: gast.expr, item: gast.expr) -> gast.expr:
                return gast.Call(syntax.clone(function), [acc, item], [])

            return self.fold(node.args[0], None, combine)
        if len(node.args) == 2:
            return None
        first, second, *rest = self.atoms(node.args)
        value: gast.expr = gast.Call(function, [first, second], [])
        for argument in rest:
            held = self.temp(value)
            value = gast.Call(syntax.clone(function), [held, argument], [])
        return value

    def sequence_call(self, node: gast.Call) -> gast.expr | None:
        """`list(f(x) for x in xs)`, `list(map(f, xs))` as comprehensions."""
        if self.varying.is_builtin(node.func, "map") and len(node.args) >= 2:
            function = self.function_atom(node.args[0])
            items = [self.names.fresh("item") for _ in node.args[1:]]
            targets: list[gast.expr] = [syntax.name(i, store=True) for i in items]
            iters = node.args[1:]
            over = iters[0] if len(iters) == 1 else syntax.call("zip", *iters)
            target = (
                targets[0] if len(targets) == 1 else gast.Tuple(targets, syntax.STORE)
            )
            elt = gast.Call(function, [syntax.name(i) for i in items], [])
            comprehension = gast.comprehension(target, over, [], 0)
            return self.of_ListComp(gast.ListComp(elt, [comprehension]))
        if self.varying.is_builtin(node.func, "filter"):
            if len(node.args) != 2:
                return None
            item = self.names.fresh("item")
            kept: gast.expr = syntax.name(item)
            if not (
                isinstance(node.args[0], gast.Constant) and node.args[0].value is None
            ):
                kept = gast.Call(
                    self.function_atom(node.args[0]), [syntax.name(item)], []
                )
            target = syntax.name(item, store=True)
            chosen = gast.comprehension(target, node.args[1], [kept], 0)
            return self.of_ListComp(gast.ListComp(syntax.name(item), [chosen]))
        if len(node.args) != 1:
            return None
        inner = node.args[0]
        is_map = isinstance(inner, gast.Call) and self.varying.is_builtin(
            inner.func, "map", "filter"
        )
        if isinstance(inner, gast.GeneratorExp) or is_map:
            items = self.atom(inner)
            if self.varying.is_builtin(node.func, "tuple"):
                return gast.Call(node.func, [items], [])
            return items
        lazy = isinstance(inner, gast.Call) and (
            self.varying.is_builtin(inner.func, "zip", "enumerate", "reversed")
            or self.generator_of(inner) is not None
        )
        view = (
            isinstance(inner, gast.Call)
            and isinstance(inner.func, gast.Attribute)
            and inner.func.attr in ("values", "items", "keys")
        )
        if lazy or view:
            id = self.names.fresh("item")
            comprehension = gast.comprehension(
                syntax.name(id, store=True), inner, [], 0
            )
            self.varying.names.add(id)
            items = self.of_ListComp(gast.ListComp(syntax.name(id), [comprehension]))
            if self.varying.is_builtin(node.func, "tuple"):
                return gast.Call(node.func, [items], [])
            return items
        return None

    def fold(
        self,
        iterable: gast.expr,
        start: gast.expr | None,
        combine: Callable[[gast.expr, gast.expr], gast.expr],
    ) -> gast.expr:
        """`acc = start; for item in iterable: acc = combine(acc, item)`."""
        total = self.new_temp("total")
        if start is None:
            sequence = self.atom(
                gast.ListComp(iterable.elt, iterable.generators)
                if isinstance(iterable, gast.GeneratorExp)
                else iterable
            )
            start = gast.Subscript(sequence, syntax.const(0), syntax.LOAD)
            iterable = syntax.expression("s[1:]", s=sequence)
        self.bind(syntax.name(total, store=True), start)
        step = [syntax.assign(total, combine(syntax.name(total), syntax.name("item")))]
        if isinstance(iterable, (gast.GeneratorExp, gast.ListComp)):
            value = combine(syntax.name(total), iterable.elt)
            step = [syntax.assign(total, value)]
            loop = self.comprehension_loops(iterable.generators, step)
        else:
            id = self.new_temp("item")
            step = [syntax.assign(total, combine(syntax.name(total), syntax.name(id)))]
            target = syntax.name(id, store=True)
            loop = [gast.For(target, iterable, step, [], None)]
        self.loop_statements(loop)
        return syntax.name(total)

    def first_of(
        self, items: gast.GeneratorExp, default: gast.expr | None = None
    ) -> gast.expr:
        """`next(f(x) for x in xs if c)` as a loop that does nothing after the first."""
        if self.acts(items):
            raise self.acts_inside(items)
        found, missing = self.new_temp("found"), self.new_temp("missing")
        if default is not None:
            self.bind(syntax.name(found, store=True), default)
        self.bind(syntax.name(missing, store=True), syntax.const(True))
        generators = syntax.clone(items.generators)
        for generator in generators:
            generator.ifs.insert(0, syntax.name(missing))
        step = [
            syntax.assign(found, items.elt),
            syntax.assign(missing, syntax.const(False)),
        ]
        loop = self.comprehension_loops(generators, step)
        if default is None:
            stop: gast.stmt = gast.Raise(syntax.name("StopIteration"), None)
            loop.append(gast.If(syntax.name(missing), [stop], []))
        self.loop_statements(loop)
        return syntax.name(found)

    def of_ListComp(self, node: Any) -> gast.expr:
        """`[f(x) for x in xs if c]` as a loop that appends."""
        id = self.new_temp("values")
        self.emit(syntax.assign(id, gast.List([], syntax.LOAD)))
        append = syntax.expression(
            "values.append(v)", values=syntax.name(id), v=node.elt
        )
        loop = self.comprehension_loops(node.generators, [gast.Expr(append)])
        self.loop_statements(loop)
        return syntax.name(id)

    def of_GeneratorExp(self, node: gast.GeneratorExp) -> gast.expr:
        if self.acts(node):  # who gets it may stop early, as `any` does
            raise self.acts_inside(node)
        return self.of_ListComp(node)

    def acts_inside(self, node: gast.expr) -> Exception:
        """The error that an effect is where nothing is known to be executed once."""
        what = "`:=`" if binds(node) else "an effect on differentiated values"
        where = "in a loop inside of an expression"
        return self.refuse(node, f"{what} {where}", "a loop of statements")

    def of_DictComp(self, node: gast.DictComp) -> gast.expr:
        id = self.new_temp("values")
        self.emit(syntax.assign(id, gast.Dict([], [])))
        store = gast.Subscript(syntax.name(id), node.key, None)
        loop = self.comprehension_loops(
            node.generators, [syntax.assign(store, node.value)]
        )
        self.loop_statements(loop)
        return syntax.name(id)

    def comprehension_loops(self, generators: list, step: list) -> list[gast.stmt]:
        """Nested loops of a comprehension; its targets get names of their own."""
        renamed: dict[str, str] = {}
        body: list[gast.stmt] = step
        for generator in reversed(generators):
            for test in reversed(generator.ifs):
                body = [gast.If(test, body, [])]
            body = [gast.For(generator.target, generator.iter, body, [], None)]
            for target in sorted(syntax.names_written(generator.target)):
                fresh = self.names.fresh(target)
                renamed[target] = fresh
                self.own_targets[fresh] = target
                if target in self.varying.names:
                    self.varying.names.add(fresh)
        copy = syntax.clone(body)
        first = copy[0].iter
        copy[0].iter = syntax.const(None)
        syntax.rename(copy, renamed)
        copy[0].iter = first
        return copy

    def loop_statements(self, loop: list[gast.stmt]) -> None:
        """Lower loops that were written here."""
        for stmt in syntax.walk(loop):
            if isinstance(stmt, gast.stmt) and not hasattr(stmt, "lineno"):
                gast.copy_location(stmt, self.at)
        find_varying(loop, [], self.varying)
        for stmt in loop:
            self.statement(stmt)


def _parameter(name: str) -> gast.Name:
    return gast.Name(name, gast.Param(), None, None)


def _plus(a: gast.expr, b: gast.expr) -> gast.expr:
    return gast.BinOp(a, gast.Add(), b)


def _times(a: gast.expr, b: gast.expr) -> gast.expr:
    return gast.BinOp(a, gast.Mult(), b)


def is_transform(value: Any) -> bool:
    """Whether it makes a function of a function, as `jit` and `checkpoint` do."""
    return hasattr(value, "__srcjax_maker__") or hasattr(value, "__srcjax_keeps__")
