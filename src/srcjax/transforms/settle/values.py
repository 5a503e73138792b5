"""Values and effects that are written otherwise once their types are known."""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections import OrderedDict
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.array_likes import nested
from srcjax.analysis.binding import BoundTo
from srcjax.analysis.flow.bindings import swap_pairs
from srcjax.analysis.foreign import (
    PRODUCT,
    own_method,
)
from srcjax.analysis.known_values import OPERATORS, class_of
from srcjax.analysis.structural import is_structural
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
    Object,
    Scalar,
    Tuple,
    Varies,
    is_active,
    is_none,
    is_number,
    rank_of,
    type_of,
    varies,
)
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.inherited import for_class
from srcjax.ops.known import known_value
from srcjax.ops.record import Op, lookup
from srcjax.transforms.call_effects import called
from srcjax.transforms.plain_calls import plain_call
from srcjax.transforms.settle.conversions import checks_of_dtype
from srcjax.transforms.settle.indices import IndexSettling
from srcjax.transforms.settle.structures import StructureSettling
from srcjax.transforms.settle.updates import UpdateSettling

#: What stands for `np.r_` and `np.c_`.
JOINING = {np.concatenate: "np.concatenate", np.column_stack: "np.column_stack"}


def joins(callee: Any) -> bool:
    """Whether an index is what `np.r_` or `np.c_` makes a call of."""
    return any(callee is function for function in JOINING)


class ValueSettling(StructureSettling, UpdateSettling, IndexSettling):
    """Rewrites assignments and calls for their effect."""

    def with_items(
        self, stmt: gast.Assign, display: gast.List | gast.Tuple
    ) -> list[gast.stmt] | None:
        """`[*d, e]` as `[d[0], d[1], e]`, where `d` is a list that a transform made.

        Its text spreads lists because that reads well (`simplify.spread`); here each
        item is a value of its own. None if there is no such list.
        """
        before: list[gast.stmt] = []
        elements: list[gast.expr] = []
        for element in display.elts:
            starred = isinstance(element, gast.Starred)
            whole = getattr(element.value, "id", "") if starred else ""
            t = self.type_before(stmt, whole) if whole in self.unit.made else None
            if not isinstance(t, (List, Tuple)) or t.items is None:
                elements.append(element)
                continue
            for k in range(len(t.items)):
                name = self.fresh(f"{whole}_{k}")
                item = syntax.expression(
                    "d[k]", d=syntax.name(whole), k=syntax.const(k)
                )
                before.append(gast.copy_location(syntax.assign(name, item), stmt))
                elements.append(syntax.name(name))
        if not before:
            return None
        display.elts = elements
        return [*before, stmt]

    def on_Assign(self, stmt: gast.Assign) -> list[gast.stmt]:
        value = stmt.value
        if getattr(stmt, "same_kind", False):
            self.check_dtype(stmt)
        checks = checks_of_dtype(self, stmt)
        if checks:
            self.changed = True
            return [*checks, stmt]
        pairs = swap_pairs(stmt)
        if pairs:
            return self.swap(stmt, pairs)
        if self.puts_back(stmt):
            self.changed = True
            return []
        if isinstance(value, gast.Tuple) and isinstance(stmt.targets[0], gast.Tuple):
            # What was a swap, before its names were told apart.
            both = [*stmt.targets[0].elts, *value.elts]
            if all(isinstance(e, gast.Name) for e in both):
                new = [e.id for e in stmt.targets[0].elts]
                if len(new) == len(value.elts):
                    return self.one_by_one(new, [e.id for e in value.elts])
        if isinstance(value, (gast.List, gast.Tuple)):
            spread = self.with_items(stmt, value)
            if spread is not None:
                self.changed = True
                return spread
        setter = self.setter(stmt)
        if setter is not None:
            self.changed = True
            return setter
        found = self.unpacked_functions(stmt)
        if found is not None:
            self.changed = True
            return found
        rewritten = self.rewrite_value(stmt, value) or self.unpacked_rows(stmt)
        if rewritten is not None:
            self.changed = True
            return rewritten
        if isinstance(value, gast.Call) and isinstance(stmt.targets[0], gast.Name):
            if self.gives_none(stmt):
                self.changed = True
                effect = gast.copy_location(gast.Expr(value), stmt)
                effect.user_line = getattr(stmt, "user_line", None)
                stmt.value = syntax.const(None)
                return [effect, stmt]
            inlined = self.inline(stmt, value, stmt.targets[0].id)
            if inlined is not None:
                return inlined
        flat = isinstance(value, gast.Attribute) and value.attr == "flat"
        if flat and isinstance(self.atom_type(stmt, value.value), Array):
            written = syntax.root_of(stmt.targets[0]) in self.stored_through()
            if written and varies() is Varies.RUN_TIME:  # it writes however `a` lies
                return [stmt]
            self.changed = True
            text = "a.reshape(-1, copy=False)" if written else "a.reshape(-1)"
            stmt.value = syntax.expression(text, a=value.value)
            return [stmt]
        if isinstance(value, gast.Attribute):
            callees = self.facts.callees.get(id(value), [])
            if len(callees) == 1 and id(callees[0]) in self.program.units:
                self.changed = True
                function = self.inliner.constant(callees[0], value.attr)
                call = gast.Call(syntax.name(function), [value.value], [])
                call = gast.copy_location(call, value)
                target = stmt.targets[0]
                if isinstance(target, gast.Name) and id(callees[0]) not in (
                    self.recursive
                ):
                    call.user_line = getattr(stmt, "user_line", None)
                    found = self.inliner.expand(call, callees[0], target.id)
                    if found is not None:
                        return found
                stmt.value = call
        return [stmt]

    def unpacked_rows(self, stmt: gast.Assign) -> list[gast.stmt] | None:
        """`a, b = m` as `a = m[0]`, `b = m[1]`, of an array that is written in place.

        Each of the rows is a view then that is followed by its own expression.
        """
        target, value = stmt.targets[0], stmt.value
        t = self.atom_type(stmt, value)
        if not isinstance(target, gast.Tuple) or not isinstance(t, Array):
            return None
        if len(t.shape or ()) < 2 or not t.buffers & self.facts.written():
            return None
        if t.shape[0] != len(target.elts):  # type: ignore[index]
            return None  # NumPy may refuse
        if not all(isinstance(e, gast.Name) and e.id != value.id for e in target.elts):
            return None
        found = []
        for k, e in enumerate(target.elts):
            row = gast.Subscript(syntax.clone(value), syntax.const(k), syntax.LOAD)
            found.append(gast.copy_location(syntax.assign(e.id, row), stmt))
        return found

    def stored_through(self) -> set[str]:
        """Names that items are stored to: a copy in their place would lose these."""
        return {
            syntax.root_of(node)
            for node in syntax.walk(self.unit.node)
            if isinstance(node, gast.Subscript) and not isinstance(node.ctx, gast.Load)
        }

    def slice_of(self, stmt: gast.Assign, value: Any) -> gast.Slice | None:
        """`1:3` of `xs.pop(s)` with `s = slice(1, 3)`, which stands for `del xs[s]`."""
        t = self.atom_type(stmt, value.args[0]) if len(value.args) == 1 else None
        given = getattr(t, "value", None)
        if isinstance(given, slice):
            bounds = [given.start, given.stop, given.step]
        elif isinstance(t, Tuple) and t.cls is slice:
            bounds = [getattr(part, "value", ...) for part in t.items]
        else:
            return None
        if ... in bounds:
            raise error_at(
                UnsupportedError,
                self.unit.source,
                value,
                "`del` at a slice whose bounds are not known",
                "the bounds themselves: `del xs[a:b]`",
            )
        return gast.Slice(*(None if b is None else syntax.const(b) for b in bounds))

    def by_method(self, stmt: gast.Assign, value: Any, name: str) -> list[gast.stmt]:
        """`v.__abs__()` for `abs(v)`, and `float` of what `v.__float__()` gives."""
        operands = [value.operand] if isinstance(value, gast.UnaryOp) else value.args
        method = gast.Attribute(operands[0], name, syntax.LOAD)
        call = gast.copy_location(gast.Call(method, operands[1:], []), value)
        if name not in ("__float__", "__int__", "__complex__"):
            stmt.value = call
            return [stmt]
        number = self.fresh("number")
        value.args = [syntax.name(number)]
        first = gast.copy_location(syntax.assign(number, call), stmt)
        return [first, stmt]

    def rewrite_value(
        self, stmt: gast.Assign, value: gast.expr
    ) -> list[gast.stmt] | None:
        """Values that are written otherwise once their types are known."""
        callees = self.facts.callees.get(id(value), [])
        callee = callees[0] if len(callees) == 1 else None
        if isinstance(value, gast.Subscript) and joins(callee):
            parts = getattr(value.slice, "elts", None) or [value.slice]
            joined = self.joined(stmt, callee, parts)
            stmt.value = gast.copy_location(joined[-1], value)
            return [*joined[:-1], stmt]
        if isinstance(value, gast.Subscript) and isinstance(callee, BoundTo):
            method = gast.Attribute(value.value, "__getitem__", syntax.LOAD)
            before, key = self.key_of(value.slice)
            stmt.value = gast.copy_location(gast.Call(method, [key], []), value)
            return [*before, stmt]
        method = self.method_kept(stmt, value)
        if method is not None:
            return [method]
        if isinstance(callee, BoundTo) and callee.behind:
            return self.by_method(stmt, value, callee.behind)
        if callee is PRODUCT:  # of a sparse matrix: `A.dot(x)`, `A * x`
            called = isinstance(value, gast.Call)
            pair = (
                (value.func.value, value.args[0])
                if called
                else (value.left, value.right)
            )
            product = gast.BinOp(pair[0], gast.MatMult(), pair[1])
            stmt.value = gast.copy_location(product, value)
            return [stmt]
        if isinstance(value, gast.BinOp):
            if isinstance(callee, BoundTo):
                left, right = value.left, value.right
                operator = OPERATORS[type(value.op)].__name__.strip("_")
                dunder = f"__{operator}__"
                cls = self.class_of_operand(stmt, left)
                if getattr(cls, dunder, None) is not callee.function:
                    left, right = right, left
                    dunder = f"__r{operator}__"
                method = gast.Attribute(left, dunder, syntax.LOAD)
                stmt.value = gast.copy_location(gast.Call(method, [right], []), value)
                return [stmt]
            left_type = self.atom_type(stmt, value.left)
            if isinstance(value.op, gast.BitOr) and isinstance(left_type, Dict):
                stmt.value = gast.Dict([None, None], [value.left, value.right])
                return [stmt]
        if isinstance(value, gast.Dict) and None in value.keys:
            return self.spread_dict(stmt, value)
        if callee == "list.pop" and (part := self.slice_of(stmt, value)) is not None:
            item = gast.Subscript(value.func.value, part, gast.Del())
            return [gast.copy_location(gast.Delete([item]), stmt)]
        if callee is OrderedDict and isinstance(value, gast.Call) and value.args:
            return self.ordered_items(stmt, value)
        if callee is dict and isinstance(value, gast.Call) and len(value.args) == 1:
            options = [k for k in value.keywords if k.arg is not None]
            held = self.atom_type(stmt, value.args[0])
            if isinstance(held, Dict) and held.items is None and not value.keywords:
                copied = syntax.expression("d.copy()", d=value.args[0])
                stmt.value = gast.copy_location(copied, value)
                return [stmt]
            if isinstance(held, Dict):
                keys = [None, *(syntax.const(k.arg) for k in options)]
                values = [value.args[0], *(k.value for k in options)]
                return self.spread_dict(stmt, gast.Dict(keys, values))
        if not isinstance(value, gast.Call):
            return None
        if callee in (list, dict) and not value.args and not value.keywords:
            empty: Any = gast.List([], syntax.LOAD) if callee is list else None
            stmt.value = gast.copy_location(empty or gast.Dict([], []), value)
            return [stmt]
        name = syntax.dotted(value.func)
        if name == "getattr" and len(value.args) == 2:
            key = self.attribute_name(stmt, value.args[1])
            if key is not None:
                stmt.value = gast.Attribute(value.args[0], key, syntax.LOAD)
                return [stmt]
        if self.is_replace(stmt, value):
            return self.replace_call(stmt, value)
        copying = copy.deepcopy if callee is lookup(copy.deepcopy) else callee
        if copying in (copy.deepcopy, copy.copy) and len(value.args) == 1:
            return self.copied(stmt, value, copying)
        if is_structural(callee):
            return self.by_structure(stmt, value, callee)
        if callee is max or callee is min:
            return self.picked(stmt, value, ">" if callee is max else "<")
        if isinstance(callee, Op) and callee.collective:
            return self.part_by_part(stmt, value, callee)
        gives_back = lookup(np.asarray), lookup(np.broadcast_to)
        if isinstance(callee, Op) and callee in gives_back:
            return self.given_back(stmt, value, callee)
        if isinstance(callee, Op) and callee is lookup(np.take):
            return self.taken(stmt, value, callee)
        if isinstance(value.func, gast.Attribute) and value.func.attr == "tolist":
            return self.listed(stmt, value)
        if callee in ("dict.values", "dict.items"):
            return self.view_as_items(stmt, value)
        if callee in ("dict.get", "dict.pop") and len(value.args) == 2:
            return self.item_or_default(stmt, value)
        if callee == "dict.setdefault" and isinstance(stmt.targets[0], gast.Name):
            stored = self.set_default(value)
            item = gast.Subscript(value.func.value, value.args[0], syntax.LOAD)
            stmt.value = gast.copy_location(item, value)
            return [stored, stmt]
        if isinstance(callee, type) and isinstance(stmt.targets[0], gast.Name):
            init: Any = for_class(getattr(callee, "__init__", None), callee)
            t = self.type_after(stmt, stmt.targets[0].id)
            bare = init is object.__init__ and isinstance(t, Object)
            if bare or id(init) in self.program.units:
                return self.construct(stmt, value, callee)
        return None

    def picked(self, stmt: gast.Assign, value: gast.Call, sign: str) -> list[Any]:
        """`if b > a: y = b`, `else: y = a` for `y = max(a, b)` of tuples."""
        a, b = value.args
        test = syntax.expression(f"b {sign} a", a=a, b=b)
        branches = []
        for one in (b, a):
            chosen = gast.Assign(syntax.clone(stmt.targets), syntax.clone(one), None)
            is_it = syntax.is_name(stmt.targets[0], getattr(one, "id", None))
            branches.append([] if is_it else [gast.copy_location(chosen, stmt)])
        if not branches[0]:  # `b = max(a, b)`
            test = gast.UnaryOp(gast.Not(), test)
            branches.reverse()
        return [gast.copy_location(gast.If(test, *branches), stmt)]

    def method_kept(self, stmt: gast.Assign, value: gast.expr) -> Any:
        """`def m(*args): return obj.method(*args)` for `m = obj.method`.

        Of an object with differentiated values: what gets it is given a function.
        """
        target = stmt.targets[0]
        if not isinstance(value, gast.Attribute) or not isinstance(target, gast.Name):
            return None
        owner = getattr(value.value, "id", "")
        t = self.type_after(stmt, target.id)
        kept = isinstance(t, Const) and isinstance(t.value, BoundTo) and is_active(t)
        if not kept or self.bindings[owner] != 1 or self.bindings[target.id] != 1:
            return None
        args, kwargs = self.fresh("args"), self.fresh("kwargs")
        given = f"(*{args}, **{kwargs})"
        text = f"def {target.id}{given}:\n    return f{given}"
        (made,) = syntax.statements(text, f=value)
        for node in syntax.walk(made):
            if isinstance(node, (gast.stmt, gast.expr)):
                gast.copy_location(node, stmt)
        return made

    def taken(
        self, stmt: gast.Assign, value: gast.Call, op: Op
    ) -> list[gast.stmt] | None:
        """`np.take(x, places, axis=1)` as `x[:, places]`, of an array.

        A row that one number takes would be a part of the array, and no copy.
        """
        if called(value) != "np.take":
            return None
        given = op.bind(value.args, {k.arg: k.value for k in value.keywords})
        x, places = given["x"], given["indices"]
        t = self.atom_type(stmt, x)
        rank = rank_of(t) if isinstance(t, Array) else None
        along = 0 if rank == 1 else None
        if "axis" in given:
            along = known_value(self.typer.type_of(given["axis"], {}))
        if not rank or type(along) is not int or "mode" in given:
            return None
        if not self.is_of_places(stmt, places, rank):
            return None
        index = [gast.Slice(None, None, None)] * (along % rank) + [places]
        at = index[0] if len(index) == 1 else gast.Tuple(index, syntax.LOAD)
        stmt.value = gast.copy_location(gast.Subscript(x, at, syntax.LOAD), value)
        return [stmt]

    def is_of_places(self, stmt: gast.Assign, index: gast.expr, rank: int) -> bool:
        """Whether it is an array or list of whole numbers; of a vector, also one."""
        if isinstance(index, gast.List):
            numbers = [getattr(e, "value", None) for e in index.elts]
            return bool(numbers) and all(type(n) is int for n in numbers)
        if not isinstance(index, gast.Name):
            return rank == 1 and type(getattr(index, "value", None)) is int
        t = self.atom_type(stmt, index)
        if t is None or (rank > 1 and not rank_of(t)):
            return False
        dtype = nested(t)[0] if isinstance(t, (Array, List, Scalar)) else None
        return dtype is not None and dtype.kind in "iu"

    def given_back(
        self, stmt: gast.Assign, value: gast.Call, op: Op
    ) -> list[gast.stmt] | None:
        """`y = x` of `np.asarray(x)` of an array, and `np.broadcast_to(x, x.shape)`."""
        if not value.args:
            return None
        env = {n: self.type_before(stmt, n) for n in syntax.names_read(value)}
        types = {n: t for n, t in env.items() if t is not None}
        found = plain_call(
            value, op.functions[0], lambda node: self.typer.type_of(node, types)
        )
        if not value.args or found is not value.args[0]:
            return None
        stmt.value = gast.copy_location(syntax.clone(found), value)
        return [stmt]

    def class_of_operand(self, stmt: gast.stmt, node: gast.expr) -> Any:
        """The class of an operand: of a value here, or of an object of the module."""
        t = self.atom_type(stmt, node)
        if t is not None:
            return class_of(t)
        try:
            return type(self.program.look(self.unit, getattr(node, "id", "")))
        except KeyError:
            return None

    def joined(self, stmt: gast.Assign, function: Any, parts: list) -> list[Any]:
        """`np.r_[a, x, b]` as `np.concatenate(([a], x, np.atleast_1d(b)))`, a call.

        Of a number `a`, an array `x`, and `b` that is not known.
        """
        before: list[Any] = []
        items: list[gast.expr] = []
        for part in parts:
            if not syntax.is_atom(part):
                item = self.fresh("row")
                before.append(syntax.assign(item, part))
                part = syntax.name(item)
            t = self.atom_type(stmt, part)
            if rank_of(t or UNKNOWN) in (1, 2):
                items.append(part)
                continue
            item = self.fresh("row")
            row: gast.expr = gast.List([part], syntax.LOAD)
            if not is_number(t or type_of(getattr(part, "value", None))):
                row = syntax.call("np.atleast_1d", part)
            before.append(syntax.assign(item, gast.copy_location(row, stmt)))
            items.append(syntax.name(item))
        held = self.fresh("parts")
        before.append(syntax.assign(held, gast.Tuple(items, syntax.LOAD)))
        return [*before, syntax.call(JOINING[function], syntax.name(held))]

    def key_of(self, index: Any) -> tuple[list[gast.stmt], gast.expr]:
        """An index as an argument: `a:b` is `slice(a, b)`, made before it."""
        before: list[gast.stmt] = []
        if isinstance(index, gast.Slice):
            made = syntax.name(self.inliner.constant(slice, "slice"))
            bounds = [index.lower, index.upper, index.step]
            while bounds[-1] is None and len(bounds) > 2:
                bounds.pop()
            arguments = [b or syntax.const(None) for b in bounds]
            value: gast.expr = gast.Call(made, arguments, [])
        elif isinstance(index, gast.Tuple):
            parts = [self.key_of(e) for e in index.elts]
            before = [s for first, _ in parts for s in first]
            value = gast.Tuple([e for _, e in parts], syntax.LOAD)
        else:
            return [], index
        held = self.fresh("key")
        return [*before, syntax.assign(held, value)], syntax.name(held)

    def setter(self, stmt: gast.Assign) -> list[gast.stmt] | None:
        """`p.x = v` of a property with a setter, `p[i] = v` of a class, as its call."""
        target = stmt.targets[0]
        if not isinstance(target, (gast.Attribute, gast.Subscript)):
            return None
        owner = self.atom_type(stmt, target.value)
        if not isinstance(owner, Object):
            return None
        owned = syntax.clone(target.value)
        before: list[gast.stmt] = []
        if isinstance(target, gast.Subscript):
            method = own_method(owner.cls, "__setitem__")
            if method is None:
                return None
            function = self.inliner.constant(method, "set_item")
            before, key = self.key_of(target.slice)
            arguments = [owned, key, stmt.value]
        else:
            held = inspect.getattr_static(owner.cls, target.attr, None)
            if not isinstance(held, property) or held.fset is None:
                return None
            function = self.inliner.constant(held.fset, f"set_{target.attr}")
            arguments = [owned, stmt.value]
        call = gast.Call(syntax.name(function), arguments, [])
        new = gast.copy_location(gast.Expr(gast.copy_location(call, stmt)), stmt)
        return [*before, new]

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
        if isinstance(t, Tuple):
            fields = list(cls._fields)
        elif dataclasses.is_dataclass(cls):  # what `__init__` does may not be known yet
            fields = [f.name for f in dataclasses.fields(cls) if f.init]
        else:
            fields = [k for k, _ in t.items]
        changes = {k.arg: k.value for k in value.keywords}
        before: list[gast.stmt] = []
        keywords: dict[str, gast.expr] = {}
        for field in fields:
            if field in changes:
                keywords[field] = changes[field]
                continue
            id = self.fresh(field)
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
        last = syntax.assign(name, syntax.name(made))
        init: Any = for_class(cls.__init__, cls)  # type: ignore[misc]
        if init is object.__init__:
            return [new, last]
        function = syntax.name(self.inliner.constant(init, "init"))
        call = gast.Call(function, [syntax.name(made), *value.args], value.keywords)
        gast.copy_location(call, value)
        call.user_line = getattr(stmt, "user_line", None)
        before = self.expand_stars(stmt, call)
        body = self.inliner.expand(call, init, None)
        if body is None:
            return None
        return [*before, new, *body, last]

    def gives_none(self, stmt: gast.Assign) -> bool:
        """Whether a call is made for what it does, and gives None.

        Before:                        After:

            r = np.copyto(y, x)            np.copyto(y, x)
                                           r = None
        """
        return is_none(self.type_after(stmt, stmt.targets[0].id))

    def attribute_name(self, stmt: gast.stmt, node: gast.expr) -> str | None:
        """The name of an attribute that is asked for, or set, if it is known."""
        value: Any = getattr(node, "value", None)
        if isinstance(node, gast.Name):
            value = getattr(self.atom_type(stmt, node), "value", None)
        return value if isinstance(value, str) and value.isidentifier() else None

    def copied_to(
        self, place: gast.expr, value: gast.expr, keywords: list[gast.keyword]
    ) -> list[gast.stmt] | None:
        """`np.copyto(y, x, where=m)` as `y[...] = np.where(m, x, y)`."""
        before: list[gast.stmt] = []
        if [k.arg for k in keywords] == ["where"]:
            name = self.fresh("chosen")
            chosen = syntax.expression(
                "np.where(m, x, y)", m=keywords[0].value, x=value, y=place
            )
            before = [syntax.assign(name, chosen)]
            value = syntax.name(name)
        elif keywords:
            return None
        whole = gast.Subscript(syntax.clone(place), syntax.const(...), None)
        stored = syntax.assign(whole, value)
        stored.same_kind = True
        return [*before, stored]

    def write_call(self, stmt: gast.Expr, call: gast.Call) -> list[gast.stmt] | None:
        """Calls that only write to their argument, as assignments."""
        callees = self.facts.callees.get(id(call), [])
        callee = callees[0] if len(callees) == 1 else None
        if callee is np.copyto and len(call.args) == 2:
            stored = self.copied_to(call.args[0], call.args[1], call.keywords)
            if stored is not None:
                return stored
        if callee is np.fill_diagonal and len(call.args) == 2 and not call.keywords:
            index = syntax.expression("np.diag_indices(min(a.shape))", a=call.args[0])
            where = self.fresh("diagonal", varying=False)
            item = gast.Subscript(call.args[0], syntax.name(where), None)
            return [syntax.assign(where, index), syntax.assign(item, call.args[1])]
        if self.is_builtin(call.func, "setattr") and len(call.args) == 3:
            name = self.attribute_name(stmt, call.args[1])
            owner, value = (self.atom_type(stmt, call.args[k]) for k in (0, 2))
            active = value is not None and is_active(value)
            if name is not None and (active or isinstance(owner, Object)):
                target = gast.Attribute(call.args[0], name, gast.Store())
                return [gast.Assign([target], call.args[2], None)]
        if isinstance(call.func, gast.Attribute):
            t = self.atom_type(stmt, call.func.value)
            method = call.func.attr
            if isinstance(t, Array) and method == "sort":
                held = self.fresh("sorted_values")
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
