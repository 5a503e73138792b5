"""What the types decide about the core form, before it is differentiated.

- a branch whose condition is known is replaced by the side that is taken;
- `x += v` on a number becomes `x = x + v` (an array's stays in place);
- a loop over the items of something that varies becomes a loop over an index, with
  `item = xs[i]` first in its body (`simplify.sugar` turns it back where it can);
- calls are inlined where they must or should be (see `inline`).
"""

from __future__ import annotations

import builtins
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.infer import BoundTo
from srcjax.analysis.program import Facts, Program, Variant
from srcjax.analysis.types import (
    Array,
    Closure,
    Const,
    Dict,
    List,
    Object,
    Tuple,
    Type,
    is_active,
    is_number,
    join_all,
)
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.normalise import Unit
from srcjax.transforms.inline import SMALL, Inliner


def settle(program: Program, unit: Unit, recursive: set[int]) -> bool:
    """Rewrite the unit in place; True if something changed (infer again then)."""
    settling = Settling(program, unit, recursive)
    unit.node.body = settling.block(unit.node.body)
    return settling.changed


class Settling:
    """One pass over one unit."""

    def __init__(self, program: Program, unit: Unit, recursive: set[int]) -> None:
        self.program = program
        self.facts: Facts = program.facts
        self.unit = unit
        self.recursive = recursive
        self.inliner = Inliner(program, unit)
        self.changed = False

    def block(self, stmts: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for stmt in stmts:
            new = self.statement(stmt)
            for s in new:
                if getattr(s, "user_line", None) is None:
                    s.user_line = getattr(stmt, "user_line", None)
                if getattr(s, "lineno", None) is None:
                    gast.copy_location(s, stmt)
            out.extend(new)
        return out

    def statement(self, stmt: gast.stmt) -> list[gast.stmt]:
        handler = getattr(self, f"on_{type(stmt).__name__}", None)
        found: list[gast.stmt] = handler(stmt) if handler is not None else [stmt]
        return found

    def type_before(self, stmt: gast.stmt, name: str) -> Type | None:
        """The join of what the name was when the statement was reached."""
        return join_all(
            v.before[name] for v in self.facts.of(stmt) if name in v.before
        )

    # -- control flow -----------------------------------------------------------------

    def on_If(self, stmt: gast.If) -> list[gast.stmt]:
        outcomes = self.facts.tests.get(id(stmt))
        pure = not any(isinstance(n, gast.NamedExpr) for n in syntax.walk(stmt.test))
        if outcomes in ({True}, {False}) and pure:
            self.changed = True
            taken = stmt.body if outcomes == {True} else stmt.orelse
            return self.block([s for s in taken if not isinstance(s, gast.Pass)])
        stmt.body = self.block(stmt.body)
        stmt.orelse = self.block(stmt.orelse)
        return [stmt]

    def on_While(self, stmt: Any) -> list[gast.stmt]:
        stmt.body = self.block(stmt.body)
        return [stmt]

    def on_With(self, stmt: gast.With) -> list[gast.stmt]:
        return self.on_While(stmt)

    def on_Try(self, stmt: gast.Try) -> list[gast.stmt]:
        stmt.body = self.block(stmt.body)
        stmt.finalbody = self.block(stmt.finalbody)
        return [stmt]

    def on_For(self, stmt: gast.For) -> list[gast.stmt]:
        before: list[gast.stmt] = []
        variants = self.facts.of(stmt)
        active = any(
            is_active(t)
            for v in variants
            for n, t in v.before.items()
            if n in syntax.names_read(stmt.iter)
        )
        if active and not self.is_range(stmt.iter):
            self.changed = True
            before = self.index_loop(stmt, variants)
        stmt.body = self.block(stmt.body)
        return [*before, stmt]

    def is_range(self, node: gast.expr) -> bool:
        return isinstance(node, gast.Call) and self.is_builtin(node.func, "range")

    def is_builtin(self, node: gast.expr, name: str) -> bool:
        if not syntax.is_name(node, name):
            return False
        try:
            value = self.program.resolve(self.unit, name)
        except KeyError:
            return False
        return value is getattr(builtins, name)

    def index_loop(self, stmt: gast.For, variants: list[Variant]) -> list[gast.stmt]:
        """Rewrite the loop over an index; returns what must stand before it."""
        self.before: list[gast.stmt] = []
        if self.is_dict_view(stmt, variants):
            return self.dict_loop(stmt, variants)
        index = self.index_name(stmt)
        lengths: list[gast.expr] = []
        binds: list[gast.stmt] = []
        self.bind_items(stmt.target, stmt.iter, index, lengths, binds, variants)
        count = lengths[0]
        if len(lengths) > 1:
            count = syntax.call("min", *lengths)
        for bind in binds:
            bind.user_line = getattr(stmt, "user_line", None)
            gast.copy_location(bind, stmt)
        stmt.target = syntax.name(index, store=True)
        stmt.iter = syntax.call("range", count)
        stmt.body = [*binds, *stmt.body]
        return self.before

    def index_name(self, stmt: gast.For) -> str:
        """`i` (the user's own counter where the loop has one)."""
        taken = syntax.all_names(stmt)
        for id in ("i", "j", "k"):
            if id not in taken and id not in self.unit.names.taken:
                self.unit.names.taken.add(id)
                break
        else:
            id = self.unit.names.fresh("i")
        self.unit.temps.add(id)
        return id

    def bind_items(
        self,
        target: Any,
        over: gast.expr,
        index: str,
        lengths: list[gast.expr],
        binds: list[gast.stmt],
        variants: list[Variant],
    ) -> None:
        """Bind `target` to item number `index` of what the loop runs over."""
        i: gast.expr = syntax.name(index)
        plain = isinstance(over, gast.Call) and isinstance(over.func, gast.Name)
        if plain and self.is_builtin(over.func, "zip"):
            if isinstance(target, gast.Tuple) and len(target.elts) == len(over.args):
                for element, part in zip(target.elts, over.args, strict=True):
                    self.bind_items(element, part, index, lengths, binds, variants)
                return
        if plain and self.is_builtin(over.func, "enumerate"):
            if isinstance(target, gast.Tuple) and len(target.elts) == 2:
                number = i
                if len(over.args) > 1:
                    number = gast.BinOp(i, gast.Add(), over.args[1])
                binds.append(syntax.assign(target.elts[0], number))
                self.bind_items(
                    target.elts[1], over.args[0], index, lengths, binds, variants
                )
                return
        if plain and self.is_builtin(over.func, "reversed"):
            sequence = self.sequence(over.args[0], variants)
            lengths.append(syntax.call("len", sequence))
            item = syntax.expression("s[-1 - i]", s=sequence, i=i)
            self.bind_target(target, item, binds)
            return
        if self.is_range(over):
            held = self.hold(over, "steps")
            lengths.append(syntax.call("len", held))
            self.bind_target(target, gast.Subscript(held, i, syntax.LOAD), binds)
            return
        sequence = self.sequence(over, variants)
        lengths.append(syntax.call("len", sequence))
        self.bind_target(target, gast.Subscript(sequence, i, syntax.LOAD), binds)

    def bind_target(
        self, target: Any, value: gast.expr, binds: list[gast.stmt]
    ) -> None:
        """`target = value`, with tuple targets by way of a temporary."""
        if isinstance(target, gast.Name):
            binds.append(syntax.assign(target, value))
            return
        item = self.unit.names.fresh("item")
        self.unit.temps.add(item)
        self.unit.varying.add(item)
        binds.append(syntax.assign(item, value))
        names: list[gast.expr] = []
        nested = []
        for element in target.elts:
            if isinstance(element, gast.Name):
                names.append(element)
            else:
                inner = self.unit.names.fresh("item")
                self.unit.temps.add(inner)
                self.unit.varying.add(inner)
                names.append(syntax.name(inner, store=True))
                nested.append((element, inner))
        whole = gast.Tuple(names, syntax.STORE)
        binds.append(gast.Assign([whole], syntax.name(item), None))
        for element, inner in nested:
            parts: list[gast.stmt] = []
            self.bind_target(element, syntax.name(inner), parts)
            binds.extend(parts)

    def sequence(self, over: gast.expr, variants: list[Variant]) -> gast.expr:
        """A name that can be indexed."""
        if isinstance(over, gast.Name):
            types = [v.before[over.id] for v in variants if over.id in v.before]
            if types and all(isinstance(t, Dict) for t in types):
                return self.hold(syntax.call("list", over), "keys")
            indexable = (Tuple, List, Array)
            if types and all(isinstance(t, indexable) for t in types):
                return over
            if any(is_active(t) for t in types) or over.id in self.unit.varying:
                return over
        view = isinstance(over, gast.Call) and isinstance(over.func, gast.Attribute)
        if view and over.func.attr in ("values", "items"):
            return self.hold(syntax.call("list", over), over.func.attr)
        return self.hold(syntax.call("list", over), "items")

    def hold(self, value: gast.expr, base: str) -> gast.Name:
        """Evaluate once, before the loop."""
        id = self.unit.names.fresh(base)
        self.unit.temps.add(id)
        if syntax.names_read(value) & self.unit.varying:
            self.unit.varying.add(id)
        self.before.append(syntax.assign(id, value))
        return syntax.name(id)

    def is_dict_view(self, stmt: gast.For, variants: list[Variant]) -> bool:
        over = stmt.iter
        if isinstance(over, gast.Name):
            types = [v.before[over.id] for v in variants if over.id in v.before]
            return bool(types) and all(isinstance(t, Dict) for t in types)
        return (
            isinstance(over, gast.Call)
            and isinstance(over.func, gast.Attribute)
            and over.func.attr in ("items", "values", "keys")
        )

    def dict_loop(self, stmt: gast.For, variants: list[Variant]) -> list[gast.stmt]:
        """`for k, v in d.items()` is `for k in list(d): v = d[k]`."""
        over = stmt.iter
        if isinstance(over, gast.Name):
            stmt.iter = syntax.call("list", over)
            return []
        base, kind = over.func.value, over.func.attr  # type: ignore[attr-defined]
        if kind == "keys":
            stmt.iter = syntax.call("list", base)
            return []
        key = self.unit.names.fresh("key")
        self.unit.temps.add(key)
        binds: list[gast.stmt] = []
        item = gast.Subscript(base, syntax.name(key), syntax.LOAD)
        if kind == "values":
            self.bind_target(stmt.target, item, binds)
        elif isinstance(stmt.target, gast.Tuple):
            first, second = stmt.target.elts
            if isinstance(first, gast.Name):
                key = first.id
                item = gast.Subscript(base, syntax.name(key), syntax.LOAD)
            else:
                self.bind_target(first, syntax.name(key), binds)
            self.bind_target(second, item, binds)
        else:
            pair = gast.Tuple([syntax.name(key), item], syntax.LOAD)
            value = self.unit.names.fresh("value")
            self.unit.temps.add(value)
            self.unit.varying.add(value)
            binds.append(syntax.assign(value, item))
            pair = gast.Tuple([syntax.name(key), syntax.name(value)], syntax.LOAD)
            binds.append(syntax.assign(stmt.target, pair))
        stmt.target = syntax.name(key, store=True)
        stmt.iter = syntax.call("list", base)
        stmt.body = [*binds, *stmt.body]
        for bind in binds:
            gast.copy_location(bind, stmt)
        return []

    # -- simple statements ------------------------------------------------------------

    def on_AugAssign(self, stmt: gast.AugAssign) -> list[gast.stmt]:
        target = stmt.target
        if isinstance(target, gast.Name):
            old = self.type_before(stmt, target.id)
            if isinstance(old, Array) and old.shape != ():
                return self.in_place(stmt)
            if isinstance(old, List) and old.cls is list:
                self.changed = True
                call = syntax.expression("xs.extend(v)", xs=syntax.name(target.id),
                                         v=stmt.value)
                return [gast.Expr(call)]
            if old is None and not self.facts.of(stmt):
                return [stmt]
            self.changed = True
            value = gast.BinOp(syntax.name(target.id), stmt.op, stmt.value)
            return [syntax.assign(target, value)]
        base = target.value
        held = self.type_before(stmt, base.id) if isinstance(base, gast.Name) else None
        if isinstance(held, Array):
            return self.in_place(stmt)
        if not self.facts.of(stmt):
            return [stmt]
        return self.by_parts(stmt)

    def in_place(self, stmt: gast.AugAssign) -> list[gast.stmt]:
        """An update of an array: `+ - * /` have rules of their own."""
        if isinstance(stmt.op, (gast.Add, gast.Sub, gast.Mult, gast.Div)):
            value = stmt.value
            if isinstance(value, gast.Name) and not isinstance(
                stmt.op, (gast.Add, gast.Sub)
            ):
                base = stmt.target
                while isinstance(base, gast.Subscript):
                    base = base.value
                types = [v.before for v in self.facts.of(stmt)]
                shared = any(
                    t[value.id].buffers & t[base.id].buffers
                    for t in types
                    if value.id in t and base.id in t
                )
                if shared:
                    return self.by_parts(stmt)
            return [stmt]
        return self.by_parts(stmt)

    def by_parts(self, stmt: gast.AugAssign) -> list[gast.stmt]:
        """`b[i] op= v` as `t = b[i]; t2 = t op v; b[i] = t2`."""
        self.changed = True
        target = stmt.target
        new = self.unit.names.fresh("value")
        self.unit.temps.add(new)
        self.unit.varying.add(new)
        if isinstance(target, gast.Name):
            value = gast.BinOp(syntax.name(target.id), stmt.op, stmt.value)
            whole = gast.Subscript(syntax.name(target.id), syntax.const(...), None)
            return [syntax.assign(new, value), syntax.assign(whole, syntax.name(new))]
        old = self.unit.names.fresh("item")
        self.unit.temps.add(old)
        self.unit.varying.add(old)
        value = gast.BinOp(syntax.name(old), stmt.op, stmt.value)
        return [
            syntax.assign(old, syntax.as_load(target)),
            syntax.assign(new, value),
            syntax.assign(syntax.clone(target), syntax.name(new)),
        ]

    def on_Assign(self, stmt: gast.Assign) -> list[gast.stmt]:
        value = stmt.value
        if isinstance(value, gast.Call) and isinstance(stmt.targets[0], gast.Name):
            inlined = self.inline(stmt, value, stmt.targets[0].id)
            if inlined is not None:
                return inlined
        if isinstance(value, gast.Attribute):
            callees = self.facts.callees.get(id(value), [])
            if len(callees) == 1 and id(callees[0]) in self.program.units:
                self.changed = True
                function = self.inliner.constant(callees[0], value.attr)
                call = gast.Call(syntax.name(function), [value.value], [])
                stmt.value = gast.copy_location(call, value)
        return [stmt]

    def on_Expr(self, stmt: gast.Expr) -> list[gast.stmt]:
        if isinstance(stmt.value, gast.Call):
            inlined = self.inline(stmt, stmt.value, None)
            if inlined is not None:
                return inlined
        return [stmt]

    def inline(
        self, stmt: gast.stmt, call: gast.Call, target: str | None
    ) -> list[gast.stmt] | None:
        callees = self.facts.callees.get(id(call), [])
        if len(callees) != 1:
            return None
        callee = callees[0]
        if not self.should_inline(stmt, call, callee, target):
            return None
        self.expand_stars(stmt, call)
        if isinstance(callee, Closure) and self.is_recursive(callee):
            raise error_at(
                UnsupportedError,
                self.unit.source,
                call,
                f"`{syntax.text(call.func)}` is a recursive function defined inside "
                "another function",
                "define it at module level and pass what it needs as arguments",
            )
        call.user_line = getattr(stmt, "user_line", None)
        found = self.inliner.expand(call, callee, target)
        if found is not None:
            self.changed = True
        return found

    def is_recursive(self, closure: Closure) -> bool:
        definition = closure.definition
        name = getattr(definition, "name", None)
        return name is not None and name in syntax.names_read(definition.body)

    def expand_stars(self, stmt: gast.stmt, call: gast.Call) -> None:
        """`f(*xs)` with a known number of items is `f(xs[0], xs[1])`."""
        args: list[gast.expr] = []
        for a in call.args:
            if isinstance(a, gast.Starred) and isinstance(a.value, gast.Name):
                t = self.type_before(stmt, a.value.id)
                items = getattr(t, "items", None)
                if isinstance(t, (Tuple, List)) and items is not None:
                    for i in range(len(items)):
                        item = gast.Subscript(a.value, syntax.const(i), syntax.LOAD)
                        args.append(item)
                    continue
            args.append(a)
        call.args = args
        keywords: list[gast.keyword] = []
        for k in call.keywords:
            if k.arg is None and isinstance(k.value, gast.Name):
                t = self.type_before(stmt, k.value.id)
                if isinstance(t, Dict) and t.items is not None:
                    for key, _ in t.items:
                        item = gast.Subscript(k.value, syntax.const(key), syntax.LOAD)
                        keywords.append(gast.keyword(key, item))
                    continue
            keywords.append(k)
        call.keywords = keywords

    def should_inline(
        self, stmt: gast.stmt, call: gast.Call, callee: Any, target: str | None
    ) -> bool:
        if isinstance(callee, Closure):
            return True
        function = callee
        if isinstance(callee, BoundTo):
            function = callee.function
        function = getattr(function, "__func__", function)
        unit = self.program.units.get(id(function))
        if unit is None or id(function) in self.recursive:
            return False
        if isinstance(callee, BoundTo) or function is not callee:
            return True
        if not any(
            is_active(t) for v in self.facts.of(stmt) for t in v.before.values()
        ):
            return False
        arguments = [*call.args, *(k.value for k in call.keywords)]
        if any(isinstance(a, gast.Starred) for a in arguments) or any(
            k.arg is None for k in call.keywords
        ):
            return True
        for variant in self.facts.of(stmt):
            for a in arguments:
                if isinstance(a, gast.Name) and self.is_function(variant, a.id):
                    return True
        if self.writes_arguments(unit) or target is None:
            return True
        surface = unit.source.node.body
        simple = (gast.Return, gast.Assign, gast.Expr, gast.AugAssign)
        lines = [s for s in surface if not isinstance(s, gast.Expr)]
        return len(lines) <= SMALL and all(isinstance(s, simple) for s in surface)

    def is_function(self, variant: Variant, name: str) -> bool:
        t = variant.before.get(name)
        if isinstance(t, Object):
            return True
        if isinstance(t, Closure):
            return True
        if isinstance(t, Const) and callable(t.value):
            return not isinstance(t.value, type)
        if t is None and name not in syntax.names_written(self.unit.node):
            try:
                return callable(self.program.resolve(self.unit, name))
            except KeyError:
                return False
        return False

    def writes_arguments(self, unit: Unit) -> bool:
        """Whether the callee changes an array or container that it was given."""
        local = set()
        for node in syntax.walk(unit.node):
            local.add(id(node))
        written = set()
        for node in syntax.walk(unit.node):
            written |= set(self.facts.writes.get(id(node), ()))
        return any(not (isinstance(b, int) and b in local) for b in written)


__all__ = ["is_number", "settle"]
