"""What the types decide about the core form, before it is differentiated.

- a branch whose condition is known is replaced by the side that is taken;
- `x += v` on a number becomes `x = x + v` (an array's stays in place);
- a loop over the items of something that varies becomes a loop over an index, with
  `item = xs[i]` first in its body (`simplify.sugar` turns it back where it can);
- calls are inlined where they must or should be (see `inline`).
"""

from __future__ import annotations

import builtins
import copy
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.binding import BoundTo
from srcjax.analysis.program import Facts, Program, Variant
from srcjax.analysis.swaps import swap_pairs, trade_contents
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Closure,
    Const,
    Dict,
    List,
    Object,
    Transformed,
    Tuple,
    Type,
    Unknown,
    is_active,
    join_all,
    parts,
    site_of,
)
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.attempts import caught_flag
from srcjax.frontend.unit import Unit
from srcjax.ops.record import Op
from srcjax.transforms.inline import SMALL, Inliner
from srcjax.transforms.rebinding import check_of, refusal
from srcjax.transforms.settle_containers import ContainerSettling


def is_function(t: Type | None) -> bool:
    """Whether the value is a function, which code should call by what it is."""
    if isinstance(t, Const):
        return callable(t.value) and not isinstance(t.value, type)
    return isinstance(t, Closure)


_RESIZING = frozenset(["append", "extend", "insert", "pop", "remove", "clear"])


def settle(program: Program, unit: Unit, recursive: set[int]) -> bool:
    """Rewrite the unit in place; True if something changed (infer again then)."""
    settling = Settling(program, unit, recursive)
    unit.node.body = settling.block(unit.node.body)
    return settling.changed


class Settling(ContainerSettling):
    """One pass over one unit."""

    def __init__(self, program: Program, unit: Unit, recursive: set[int]) -> None:
        self.program = program
        self.facts: Facts = program.facts
        self.unit = unit
        self.recursive = recursive
        self.inliner = Inliner(program, unit)
        self.changed = False
        #: What must stand before the loop that is rewritten.
        self.before: list[gast.stmt] = []

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
        return join_all(v.before[name] for v in self.facts.of(stmt) if name in v.before)

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
        if caught_flag(stmt) is not None:
            self.refuse_half_done(stmt)
        stmt.body = self.block(stmt.body)
        stmt.finalbody = self.block(stmt.finalbody)
        return [stmt]

    def refuse_half_done(self, stmt: gast.Try) -> None:
        """What a called function has changed when it raises must not be seen.

        A write in the body of the `try` itself stands last in its piece
        (`frontend.attempts`); the writes of functions put in place of their calls are
        only found here. Memory that is made in the body is not seen outside of it.
        """
        inside = {id(node) for node in syntax.walk(stmt.body)}
        for inner in syntax.walk(stmt.body):
            if inner is stmt.body[-1] or inner is getattr(stmt.body[-1], "value", None):
                continue
            written = self.facts.writes.get(id(inner), frozenset())
            if any(site_of(b) not in inside for b in written):
                where = inner if hasattr(inner, "lineno") else stmt
                raise error_at(
                    UnsupportedError,
                    self.unit.source,
                    where,
                    "this changes a value that is seen after an exception has left the "
                    "`try` half done",
                    "a copy that is changed, and kept where nothing was raised",
                )

    def on_For(self, stmt: gast.For) -> list[gast.stmt]:
        before: list[gast.stmt] = []
        variants = self.facts.of(stmt)
        unrolled = self.unroll_functions(stmt, variants)
        if unrolled is not None:
            self.changed = True
            return self.block(unrolled)
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

    def unroll_functions(
        self, stmt: gast.For, variants: list[Variant]
    ) -> list[gast.stmt] | None:
        """A loop over functions, written out: each is then called by what it is."""
        over = stmt.iter
        zipped = isinstance(over, gast.Call) and self.is_builtin(over.func, "zip")
        sequences = over.args if zipped else [over]
        types = [self.atom_type(stmt, s) for s in sequences]
        items: list[Any] = [getattr(t, "items", None) for t in types]
        functions = any(is_function(t) for known in items for t in known or ())
        varying = syntax.names_read(stmt.body) & self.unit.varying
        if not functions or not varying or any(known is None for known in items):
            return None
        nodes = list(syntax.walk(stmt.body))
        if any(isinstance(n, (gast.Break, gast.Continue)) for n in nodes):
            return None
        self.body_of_loop = [stmt]
        self.before.clear()
        index = self.unit.names.fresh("i")
        binds: list[gast.stmt] = []
        self.bind_items(stmt.target, over, index, [], binds, variants)
        out = list(self.before)
        for i in range(min(len(known) for known in items)):
            number = {index: syntax.const(i)}
            for inner in [*binds, *stmt.body]:
                copied = syntax.substitute(inner, number)
                copied.user_line = getattr(inner, "user_line", None)
                if getattr(copied, "lineno", None) is None:
                    gast.copy_location(copied, stmt)
                out.append(copied)
        return out

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
        self.before = []
        self.body_of_loop = [stmt]
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
        if (
            plain
            and self.is_builtin(over.func, "zip")
            and isinstance(target, gast.Tuple)
            and len(target.elts) == len(over.args)
        ):
            for element, part in zip(target.elts, over.args, strict=True):
                self.bind_items(element, part, index, lengths, binds, variants)
            return
        if (
            plain
            and self.is_builtin(over.func, "enumerate")
            and isinstance(target, gast.Tuple)
            and len(target.elts) == 2
        ):
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
            if over.id in syntax.names_written(self.body_of_loop):
                return self.hold(over, "items")
            self.refuse_growing(over)
            types = [v.before[over.id] for v in variants if over.id in v.before]
            known = [t for t in types if not isinstance(t, Unknown)]
            if known and all(isinstance(t, Dict) for t in known):
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

    def refuse_growing(self, over: gast.Name) -> None:
        """A list must keep its length while a loop runs over it."""
        for node in syntax.walk(self.body_of_loop):
            if (
                isinstance(node, gast.Call)
                and isinstance(node.func, gast.Attribute)
                and syntax.is_name(node.func.value, over.id)
                and node.func.attr in _RESIZING
            ):
                raise error_at(
                    UnsupportedError,
                    self.unit.source,
                    node,
                    f"`{over.id}` changes its length while a loop runs over it",
                    f"a loop over `list({over.id})`, or `while`",
                )

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
            self.refuse_growing(over)
            types = [v.before[over.id] for v in variants if over.id in v.before]
            known = [t for t in types if not isinstance(t, Unknown)]
            return bool(known) and all(isinstance(t, Dict) for t in known)
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
        base, kind = over.func.value, over.func.attr
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
                call = syntax.expression(
                    "xs.extend(v)", xs=syntax.name(target.id), v=stmt.value
                )
                return [gast.Expr(call)]
            if old is None and not self.facts.of(stmt):
                return [stmt]
            self.changed = True
            function = id(self.unit.source.func)
            alone = function == self.program.entry and function not in self.recursive
            check = check_of(self.program, self.unit, stmt, old, alone)
            value = gast.BinOp(syntax.name(target.id), stmt.op, stmt.value)
            return [*check, syntax.assign(target, value)]
        base = target.value
        held = self.type_before(stmt, base.id) if isinstance(base, gast.Name) else None
        if isinstance(held, Array):
            return self.in_place(stmt)
        if not self.facts.of(stmt):
            return [stmt]
        return self.by_parts(stmt)

    def in_place(self, stmt: gast.AugAssign) -> list[gast.stmt]:
        """An update of an array: `+ - * /` have rules of their own."""
        if self.repeats(stmt):
            return self.by_parts(stmt)
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

    def repeats(self, stmt: gast.AugAssign) -> bool:
        """Whether an index array may name an item twice."""
        target = stmt.target
        if not isinstance(target, gast.Subscript):
            return False
        for name in syntax.names_read(target.slice):
            t = self.type_before(stmt, name)
            if isinstance(t, (List, Tuple)):
                return True
            if isinstance(t, Array) and not (
                t.dtype is not None and t.dtype.kind == "b"
            ):
                return True
        return any(isinstance(n, gast.List) for n in syntax.walk(target.slice))

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
        if self.item_is_array(stmt, target):
            update = gast.AugAssign(syntax.name(old, store=True), stmt.op, stmt.value)
            return [syntax.assign(old, syntax.as_load(target)), update]
        check = []
        held = self.atom_type(stmt, target.value)
        if isinstance(held, (List, Dict)) and any(
            isinstance(t, Unknown) and is_active(t) for t in parts(held)
        ):
            check = [refusal(self.unit, old)]
        return [
            syntax.assign(old, syntax.as_load(target)),
            *check,
            syntax.assign(new, value),
            syntax.assign(syntax.clone(target), syntax.name(new)),
        ]

    def item_is_array(self, stmt: gast.AugAssign, target: Any) -> bool:
        """Whether an item of a list or dict is an array, which is updated in place."""
        held = self.atom_type(stmt, target.value)
        if not isinstance(held, (List, Dict, Tuple)):
            return False
        return any(isinstance(t, Array) and t.shape != () for t in parts(held))

    def swap(self, stmt: gast.Assign, pairs: list[tuple[str, str]]) -> list[gast.stmt]:
        """`a, b = b, a` stays for arrays that are written in place; else by parts."""
        swaps = {id(s) for s in syntax.walk(self.unit.node.body) if swap_pairs(s)}
        written = frozenset().union(
            *(b for key, b in self.facts.writes.items() if key not in swaps)
        )
        variants = [v.before for v in self.facts.of(stmt)]
        kept = bool(variants)
        for before in variants:
            types = [before.get(new, UNKNOWN) for new, _ in pairs]
            inside = any(t.buffers & written for t in types)
            kept = kept and inside and trade_contents(types)
        if kept or not variants:
            return [stmt]
        return self.one_by_one([new for new, _ in pairs], [old for _, old in pairs])

    def one_by_one(self, targets: list[str], values: list[str]) -> list[gast.stmt]:
        """`a, b = b, c` as single assignments, by way of temporaries where needed."""
        self.changed = True
        before: list[gast.stmt] = []
        after: list[gast.stmt] = []
        for target, value in zip(targets, values, strict=True):
            held = value
            if value in targets and value != target:
                held = self.unit.names.fresh(f"old_{value}")
                self.unit.temps.add(held)
                self.unit.varying.add(held)
                before.append(syntax.assign(held, syntax.name(value)))
            if held != target:
                after.append(syntax.assign(target, syntax.name(held)))
        return [*before, *after]

    def on_Assign(self, stmt: gast.Assign) -> list[gast.stmt]:
        value = stmt.value
        pairs = swap_pairs(stmt)
        if pairs:
            return self.swap(stmt, pairs)
        if isinstance(value, gast.Tuple) and isinstance(stmt.targets[0], gast.Tuple):
            # What was a swap, before its names were told apart.
            both = [*stmt.targets[0].elts, *value.elts]
            if all(isinstance(e, gast.Name) for e in both):
                new = [e.id for e in stmt.targets[0].elts]
                if len(new) == len(value.elts):
                    return self.one_by_one(new, [e.id for e in value.elts])
        found = self.unpacked_functions(stmt)
        if found is not None:
            self.changed = True
            return found
        rewritten = self.rewrite_value(stmt, value)
        if rewritten is not None:
            self.changed = True
            return rewritten
        if isinstance(value, gast.Call) and isinstance(stmt.targets[0], gast.Name):
            inlined = self.inline(stmt, value, stmt.targets[0].id)
            if inlined is not None:
                return inlined
        flat = isinstance(value, gast.Attribute) and value.attr == "flat"
        if flat and isinstance(self.atom_type(stmt, value.value), Array):
            self.changed = True
            stmt.value = syntax.expression("a.reshape(-1)", a=value.value)
            return [stmt]
        if isinstance(value, gast.Attribute):
            callees = self.facts.callees.get(id(value), [])
            if len(callees) == 1 and id(callees[0]) in self.program.units:
                self.changed = True
                function = self.inliner.constant(callees[0], value.attr)
                call = gast.Call(syntax.name(function), [value.value], [])
                stmt.value = gast.copy_location(call, value)
        return [stmt]

    def rewrite_value(
        self, stmt: gast.Assign, value: gast.expr
    ) -> list[gast.stmt] | None:
        """Values that are written otherwise once their types are known."""
        callees = self.facts.callees.get(id(value), [])
        callee = callees[0] if len(callees) == 1 else None
        if isinstance(value, gast.Subscript) and isinstance(callee, BoundTo):
            method = gast.Attribute(value.value, "__getitem__", syntax.LOAD)
            stmt.value = gast.copy_location(gast.Call(method, [value.slice], []), value)
            return [stmt]
        if isinstance(value, gast.BinOp):
            if isinstance(callee, BoundTo):
                left, right = value.left, value.right
                if self.owner_is(stmt, right, callee):
                    left, right = right, left
                method = gast.Attribute(left, callee.function.__name__, syntax.LOAD)
                stmt.value = gast.copy_location(gast.Call(method, [right], []), value)
                return [stmt]
            left_type = self.atom_type(stmt, value.left)
            if isinstance(value.op, gast.BitOr) and isinstance(left_type, Dict):
                stmt.value = gast.Dict([None, None], [value.left, value.right])
                return [stmt]
        if isinstance(value, gast.Dict) and None in value.keys:
            return self.spread_dict(stmt, value)
        if not isinstance(value, gast.Call):
            return None
        name = syntax.dotted(value.func)
        if name == "getattr" and len(value.args) == 2:
            key = value.args[1]
            if isinstance(key, gast.Constant) and isinstance(key.value, str):
                stmt.value = gast.Attribute(value.args[0], key.value, syntax.LOAD)
                return [stmt]
        if self.is_replace(stmt, value):
            return self.replace_call(stmt, value)
        if callee in (copy.deepcopy, copy.copy) and len(value.args) == 1:
            return self.copied(stmt, value, callee)
        if isinstance(callee, Op) and callee.collective:
            return self.part_by_part(stmt, value, callee)
        if isinstance(value.func, gast.Attribute) and value.func.attr == "tolist":
            return self.listed(stmt, value)
        if callee in ("dict.get", "dict.pop") and len(value.args) == 2:
            return self.item_or_default(stmt, value)
        if callee == "dict.setdefault" and isinstance(stmt.targets[0], gast.Name):
            stored = self.set_default(value)
            item = gast.Subscript(value.func.value, value.args[0], syntax.LOAD)
            stmt.value = gast.copy_location(item, value)
            return [stored, stmt]
        if isinstance(callee, type) and isinstance(stmt.targets[0], gast.Name):
            init = getattr(callee, "__init__", None)
            if id(init) in self.program.units:
                return self.construct(stmt, value, callee)
        return None

    def owner_is(self, stmt: gast.stmt, node: gast.expr, callee: BoundTo) -> bool:
        """Whether a reflected operator belongs to the right operand."""
        return callee.function.__name__.startswith("__r") and isinstance(
            self.atom_type(stmt, node), (Object, Tuple)
        )

    def atom_type(self, stmt: gast.stmt, node: gast.expr) -> Type | None:
        return self.type_before(stmt, node.id) if isinstance(node, gast.Name) else None

    def is_replace(self, stmt: gast.stmt, value: gast.Call) -> bool:
        if isinstance(value.func, gast.Attribute) and value.func.attr == "_replace":
            return isinstance(self.atom_type(stmt, value.func.value), Tuple)
        chain = syntax.dotted(value.func) or ""
        return (
            chain.split(".")[-1] == "replace"
            and bool(value.args)
            and isinstance(self.atom_type(stmt, value.args[0]), Object)
        )

    def replace_call(self, stmt: gast.Assign, value: gast.Call) -> list[gast.stmt]:
        """`dataclasses.replace(p, x=v)` is `P(x=v, y=p.y)`."""
        owner = value.args[0] if value.args else value.func.value
        t: Any = self.atom_type(stmt, owner)
        cls: Any = t.cls
        fields = cls._fields if isinstance(t, Tuple) else [k for k, _ in t.items]
        changes = {k.arg: k.value for k in value.keywords}
        before: list[gast.stmt] = []
        keywords: dict[str, gast.expr] = {}
        for field in fields:
            if field in changes:
                keywords[field] = changes[field]
                continue
            id = self.unit.names.fresh(field)
            self.unit.temps.add(id)
            self.unit.varying.add(id)
            part = gast.Attribute(owner, field, syntax.LOAD)
            before.append(syntax.assign(id, part))
            keywords[field] = syntax.name(id)
        name = self.inliner.constant(t.cls, t.cls.__name__)
        stmt.value = syntax.call(syntax.name(name), **keywords)
        return [*before, stmt]

    def construct(
        self, stmt: gast.Assign, value: gast.Call, cls: type
    ) -> list[gast.stmt] | None:
        """`p = C(a)`: an empty object, and the body of `C.__init__`."""
        name = stmt.targets[0].id
        made = self.unit.names.fresh(name)
        self.unit.temps.add(made)
        self.unit.varying |= {made, name}
        known = self.inliner.constant(cls, cls.__name__)
        new = syntax.assign(made, syntax.call("object.__new__", syntax.name(known)))
        function = syntax.name(self.inliner.constant(cls.__init__, "init"))  # type: ignore[misc]
        call = gast.Call(function, [syntax.name(made), *value.args], value.keywords)
        gast.copy_location(call, value)
        call.user_line = getattr(stmt, "user_line", None)
        before = self.expand_stars(stmt, call)
        body = self.inliner.expand(call, cls.__init__, None)  # type: ignore[misc]
        if body is None:
            return None
        return [*before, new, *body, syntax.assign(name, syntax.name(made))]

    def write_call(self, stmt: gast.Expr, call: gast.Call) -> list[gast.stmt] | None:
        """Calls that only write to their argument, as assignments."""
        import numpy as np

        callees = self.facts.callees.get(id(call), [])
        callee = callees[0] if len(callees) == 1 else None
        if callee is np.copyto and len(call.args) == 2 and not call.keywords:
            whole = gast.Subscript(call.args[0], syntax.const(...), None)
            return [syntax.assign(whole, call.args[1])]
        if callee is np.fill_diagonal and len(call.args) == 2 and not call.keywords:
            index = syntax.expression("np.diag_indices(min(a.shape))", a=call.args[0])
            where = self.unit.names.fresh("diagonal")
            self.unit.temps.add(where)
            item = gast.Subscript(call.args[0], syntax.name(where), None)
            return [syntax.assign(where, index), syntax.assign(item, call.args[1])]
        if isinstance(call.func, gast.Attribute):
            t = self.atom_type(stmt, call.func.value)
            method = call.func.attr
            if isinstance(t, Array) and method == "sort":
                held = self.unit.names.fresh("sorted_values")
                self.unit.temps.add(held)
                self.unit.varying.add(held)
                value = syntax.call("np.sort", call.func.value, *call.args)
                value.keywords = call.keywords
                whole = gast.Subscript(call.func.value, syntax.const(...), None)
                return [
                    syntax.assign(held, value),
                    syntax.assign(whole, syntax.name(held)),
                ]
            if isinstance(t, Dict) and method == "update":
                return self.update_call(stmt, call)
            if isinstance(t, Dict) and method == "setdefault":
                return [self.set_default(call)]
            if isinstance(t, List) and t.cls is list:
                return self.change_list(call)
        return None

    def on_Expr(self, stmt: gast.Expr) -> list[gast.stmt]:
        if isinstance(stmt.value, gast.Call):
            written = self.write_call(stmt, stmt.value)
            if written is not None:
                self.changed = True
                return written
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
            return self.written_out(stmt, call)
        before = self.expand_stars(stmt, call)
        if isinstance(callee, Closure) and self.is_recursive(callee):
            raise error_at(
                UnsupportedError,
                self.unit.source,
                call,
                f"`{syntax.text(call.func)}` is a recursive function defined inside "
                "another function",
                "define it at module level and pass what it needs as arguments",
            )
        if isinstance(callee, Closure) and self.made_in_a_loop(call, callee):
            raise error_at(
                UnsupportedError,
                self.unit.source,
                call,
                f"`{syntax.text(call.func)}` was made in a loop: which iteration's "
                "function it is, is only known when the program runs",
                "call it where it is made, or pass what it needs as arguments",
            )
        if isinstance(callee, Closure) and getattr(callee.definition, "once", False):
            self.use_once(call, callee)
        call.user_line = getattr(stmt, "user_line", None)
        found = self.inliner.expand(call, callee, target)
        if found is None:
            return None
        self.changed = True
        return [*before, *found]

    def original(self, node: gast.expr) -> str:
        """The name that a name stands for, by way of single assignments."""
        name = getattr(node, "id", "")
        for _ in range(5):
            values = [
                s.value
                for s in syntax.walk(self.unit.node.body)
                if isinstance(s, gast.Assign) and syntax.is_name(s.targets[0], name)
            ]
            single = syntax.count_bindings(self.unit.node, name) == 1
            if not (single and len(values) == 1 and isinstance(values[0], gast.Name)):
                break
            name = values[0].id
        return name

    def made_in_a_loop(self, call: gast.Call, closure: Closure) -> bool:
        """Whether a function of some iteration is called by another name."""
        definition = closure.definition
        if self.original(call.func) == getattr(definition, "name", ""):
            return False
        return any(
            any(node is definition for node in syntax.walk(loop.body))
            for loop in syntax.walk(self.unit.node.body)
            if isinstance(loop, (gast.For, gast.While))
        )

    def use_once(self, call: gast.Call, closure: Closure) -> None:
        """The pullback of a function that writes in place uses up what was saved."""
        definition = closure.definition
        used, definition.used = getattr(definition, "used", False), True
        loops = [
            loop
            for loop in syntax.walk(self.unit.node.body)
            if isinstance(loop, (gast.For, gast.While))
        ]
        apart = any(
            any(node is call for node in syntax.walk(loop.body))
            and not any(node is definition for node in syntax.walk(loop.body))
            for loop in loops
        )
        if used or apart:
            raise error_at(
                UnsupportedError,
                self.unit.source,
                call,
                "a pullback of a function that writes to its arrays is called more "
                "than once inside a transformed function",
                "`vjp` again for each call",
            )

    def is_recursive(self, closure: Closure) -> bool:
        definition = closure.definition
        name = getattr(definition, "name", None)
        return name is not None and name in syntax.names_read(definition.body)

    def written_out(self, stmt: gast.stmt, call: gast.Call) -> list[gast.stmt] | None:
        """The call without `*args` and `**kwargs` that hold differentiated values.

        Rules, and functions with derivative functions of their own, are told which
        argument is which. None if there is nothing to write out.
        """

        def starred() -> list[gast.expr]:
            args = [a.value for a in call.args if isinstance(a, gast.Starred)]
            return [*args, *(k.value for k in call.keywords if k.arg is None)]

        found = starred()
        if not any(is_active(self.atom_type(stmt, a) or UNKNOWN) for a in found):
            return None
        before = self.expand_stars(stmt, call)
        if len(starred()) == len(found):
            return None
        self.changed = True
        return [*before, stmt]

    def expand_stars(self, stmt: gast.stmt, call: gast.Call) -> list[gast.stmt]:
        """`f(*xs)` with a known number of items is `f(xs[0], xs[1])`."""
        before: list[gast.stmt] = []
        args: list[gast.expr] = []
        for a in call.args:
            if isinstance(a, gast.Starred) and isinstance(a.value, gast.Name):
                t = self.type_before(stmt, a.value.id)
                items = getattr(t, "items", None)
                if isinstance(t, (Tuple, List)) and items is not None:
                    for i in range(len(items)):
                        args.append(self.held_item(before, a.value, i))
                    continue
            args.append(a)
        call.args = args
        keywords: list[gast.keyword] = []
        for k in call.keywords:
            if k.arg is None and isinstance(k.value, gast.Name):
                t = self.type_before(stmt, k.value.id)
                if isinstance(t, Dict) and t.items is not None:
                    for key, _ in t.items:
                        item = self.held_item(before, k.value, key)
                        keywords.append(gast.keyword(key, item))
                    continue
            keywords.append(k)
        call.keywords = keywords
        return before

    def should_inline(
        self, stmt: gast.stmt, call: gast.Call, callee: Any, target: str | None
    ) -> bool:
        if isinstance(callee, Closure):
            # One that calls itself has no end in place; it may stay if it is inactive.
            return not self.is_recursive(callee) or self.carries(stmt, call, callee)
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
        definition = unit.node.args
        if definition.vararg is not None or definition.kwarg is not None:
            return True
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
        if self.gives_function(self.facts.results.get(id(function))):
            return True
        surface = unit.source.node.body
        simple = (gast.Return, gast.Assign, gast.Expr, gast.AugAssign)
        lines = [s for s in surface if not isinstance(s, gast.Expr)]
        return len(lines) <= SMALL and all(isinstance(s, simple) for s in surface)

    def unpacked_functions(self, stmt: gast.Assign) -> list[gast.stmt] | None:
        """`y, g = pair` for `pair = (a, h)`, h a function, is `y = a; g = h`."""
        target, whole = stmt.targets[0], stmt.value
        targets: dict[Any, gast.expr]
        if isinstance(whole, gast.Subscript) and isinstance(target, gast.Name):
            position = getattr(whole.slice, "value", None)
            targets, whole = {position: target}, whole.value
        elif isinstance(target, gast.Tuple):
            targets = dict(enumerate(target.elts))
        else:
            return None
        t = self.atom_type(stmt, whole)
        if not isinstance(t, Tuple) or not self.gives_function(t):
            return None
        name = self.original(whole)
        made = [
            s.value
            for s in syntax.walk(self.unit.node.body)
            if isinstance(s, gast.Assign) and syntax.is_name(s.targets[0], name)
        ]
        if len(made) != 1 or not isinstance(made[0], gast.Tuple):
            return None
        items = dict(enumerate(made[0].elts))
        once = {name, whole.id, *syntax.names_read(made[0])}
        if any(syntax.count_bindings(self.unit.node, n) > 1 for n in once) or not all(
            syntax.is_atom(items.get(k)) for k in targets
        ):
            return None
        return [syntax.assign(v, syntax.clone(items[k])) for k, v in targets.items()]

    def gives_function(self, t: Type | None) -> bool:
        """Whether a function defined inside the callee is a part of its result."""
        if t is None:
            return False
        return isinstance(t, (Closure, Transformed)) or any(
            map(self.gives_function, parts(t))
        )

    def carries(self, stmt: gast.stmt, call: gast.Call, callee: Closure) -> bool:
        """Whether a differentiated value goes into the call."""
        names = syntax.names_read([call.args, call.keywords])
        return callee.active or any(
            is_active(v.before[n])
            for v in self.facts.of(stmt)
            for n in names
            if n in v.before
        )

    def is_function(self, variant: Variant, name: str) -> bool:
        t = variant.before.get(name)
        if isinstance(t, Object):
            return True
        if isinstance(t, (Tuple, List)):
            return any(map(is_function, t.items or ()))
        if isinstance(t, (Closure, Transformed)):
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
        return any(site_of(b) not in local for b in written)
