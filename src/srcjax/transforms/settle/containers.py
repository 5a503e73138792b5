"""Containers and copies, once their types are known, by the operations that are left.

`xs.sort()` becomes stores of items, `d.setdefault(k, v)` a branch and a store,
`copy.deepcopy(a)` a copy of each array, `a.tolist()` a loop over the items.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import OrderedDict
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.constructing import is_plain_class
from srcjax.analysis.deep_copies import is_another
from srcjax.analysis.foreign import own_method
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
    Object,
    Tuple,
    Type,
    is_active,
    is_lowered,
    is_number,
)
from srcjax.ops.record import Op
from srcjax.transforms.places import (
    dict_of,
    is_keyword_name,
    keyed_parts,
    ordered,
    read_part,
    rebuild,
)
from srcjax.transforms.settle.base import SettlingBase

#: The type of None.
NOTHING = Const(value=None)


class ContainerSettling(SettlingBase):
    """Rewrites statements that change, copy or convert containers."""

    def arrays_of_lists(self, stmt: gast.stmt) -> list[gast.stmt]:
        """`np.mean(xs)` of a list is `np.mean(np.array(xs))`, and so is `x * xs`."""
        made: list[gast.stmt] = []
        value = getattr(stmt, "value", None)

        def array(node: gast.expr) -> gast.expr:
            if id(node) not in self.facts.lists:
                return node
            id_ = self.fresh("values")
            value = gast.copy_location(syntax.call("np.array", node), stmt)
            made.append(syntax.assign(id_, value))
            return syntax.name(id_)

        stored = isinstance(stmt, gast.Assign) and isinstance(
            stmt.targets[0], gast.Subscript
        )
        if stored or isinstance(stmt, gast.AugAssign):
            stmt.value = array(stmt.value)
        elif isinstance(value, gast.Call):
            value.args = [array(a) for a in value.args]
            for keyword in value.keywords:
                keyword.value = array(keyword.value)
        elif isinstance(value, gast.BinOp):
            value.left, value.right = array(value.left), array(value.right)
        return made

    def spread_dict(
        self, stmt: gast.Assign, value: gast.Dict
    ) -> list[gast.stmt] | None:
        """`{**a, "k": v}` with the items of `a` written out."""
        before: list[gast.stmt] = []
        pairs: dict[Any, gast.expr] = {}
        for key, item in zip(value.keys, value.values, strict=True):
            if key is None:
                t = self.atom_type(stmt, item)
                if not isinstance(t, Dict) or t.items is None:
                    return None
                for known, _ in t.items:
                    pairs[known] = self.held_item(before, item, known)
            elif isinstance(key, gast.Constant):
                pairs[key.value] = item
            else:
                return None
        keys = [syntax.const(k) for k in pairs]
        stmt.value = gast.Dict(keys, list(pairs.values()))
        return [*before, stmt]

    def ordered_items(
        self, stmt: gast.Assign, call: gast.Call
    ) -> list[gast.stmt] | None:
        """`OrderedDict(d, c=v)` with the items of `d`: `OrderedDict(a=x, b=y, c=v)`."""
        held = self.atom_type(stmt, call.args[0])
        if len(call.args) > 1 or not isinstance(held, Dict) or held.items is None:
            return None
        before: list[gast.stmt] = []
        shown = {k: self.held_item(before, call.args[0], k) for k, _ in held.items}
        shown |= {k.arg: k.value for k in call.keywords}
        if not all(map(is_keyword_name, shown)):
            return None
        stmt.value = gast.copy_location(syntax.call(call.func, **shown), call)
        return [*before, stmt]

    def item_or_default(
        self, stmt: gast.Assign, call: gast.Call
    ) -> list[gast.stmt] | None:
        """`v = d.get(k, e)` is `d[k]` or `e`.

        It stays as it is where types tell which, and where nothing is differentiated.
        """
        (key, default), base = call.args, call.func.value
        if not isinstance(stmt.targets[0], gast.Name):
            return None
        types = [self.atom_type(stmt, node) for node in (base, key, default)]
        held, at, other = types
        known = getattr(held, "items", None) is not None and isinstance(at, Const)
        if not is_active(other or UNKNOWN) and (
            known or call.func.attr == "pop" or not is_active(held or UNKNOWN)
        ):
            return None
        item = gast.Subscript(base, key, syntax.LOAD)
        found: gast.expr = item
        if call.func.attr == "pop":
            found = gast.Call(call.func, [key], [])
        name = stmt.targets[0].id
        yes, no = syntax.assign(name, found), syntax.assign(name, default)
        for each in (yes, no):
            gast.copy_location(each, stmt)
            each.user_line = getattr(stmt, "user_line", None)
        return [gast.If(syntax.expression("k in d", k=key, d=base), [yes], [no])]

    def view_as_items(
        self, stmt: gast.Assign, call: gast.Call
    ) -> list[gast.stmt] | None:
        """`v = d.values()` as what it shows, `(d["a"], d["b"])`, or a list of it.

        The dict does not change while the view is in use: inference has refused that.
        """
        target, base = stmt.targets[0], call.func.value
        if not isinstance(target, gast.Name) or call.args or call.keywords:
            return None
        shown, held = self.type_after(stmt, target.id), self.atom_type(stmt, base)
        if not is_lowered(shown or UNKNOWN) or not isinstance(held, Dict):
            return None
        pairs = call.func.attr == "items"
        if held.items is None:
            items, item = self.fresh("items"), self.fresh("item")
            add = syntax.expression("v.append(i)", v=syntax.name(items))
            add.args = [syntax.name(item)]
            loop = gast.For(
                syntax.name(item, store=True), call, [gast.Expr(add)], [], None
            )
            stmt.value = syntax.name(items)
            return [syntax.assign(items, gast.List([], syntax.LOAD)), loop, stmt]
        before: list[gast.stmt] = []
        found: list[gast.expr] = []
        for key, _ in held.items:
            found.append(self.held_item(before, base, key))
            if pairs:
                row = gast.Tuple([syntax.const(key), found.pop()], syntax.LOAD)
                found.append(syntax.name(self.fresh("row")))
                before.append(syntax.assign(found[-1].id, row))
        stmt.value = gast.Tuple(found, syntax.LOAD)
        return [*before, stmt]

    def set_default(self, call: gast.Call) -> gast.stmt:
        """`d.setdefault(k, v)` is `if k not in d: d[k] = v`."""
        base, key = call.func.value, call.args[0]
        value = call.args[1] if len(call.args) > 1 else syntax.const(None)
        test = syntax.expression("k not in d", k=key, d=base)
        item = gast.Subscript(base, key, None)
        store = gast.copy_location(syntax.assign(item, value), call)
        return gast.If(test, [store], [])

    def change_list(self, call: gast.Call) -> list[gast.stmt] | None:
        """`xs.sort()`, `xs.remove(v)`, `xs.clear()` by changes of items."""
        base, method = call.func.value, call.func.attr
        fresh = self.unit.names.fresh
        if method == "remove":
            where, gone = fresh("position"), fresh("removed")
            self.unit.temps |= {where, gone}
            self.unit.varying.add(gone)
            index = syntax.expression("b.index(v)", b=base, v=call.args[0])
            item = syntax.expression("b.pop(i)", b=base, i=syntax.name(where))
            return [syntax.assign(where, index), syntax.assign(gone, item)]
        if method == "clear":
            rest = syntax.expression("b[:]", b=base)
            rest.ctx = gast.Del()
            return [gast.Delete([rest])]
        if method != "sort":
            return None
        options = {k.arg: k.value for k in call.keywords}
        items, order, i, j = fresh("items"), fresh("order"), fresh("i"), fresh("j")
        item = fresh("item")
        self.unit.temps |= {items, order, i, j, item}
        self.unit.varying |= {items, item}
        key: gast.expr = syntax.expression(f"{items}[{i}]")
        if "key" in options:
            key = gast.Call(options["key"], [key], [])
        text = f"sorted(range(len({items})), key=lambda {i}: k)"
        ordered = syntax.expression(text, k=key)
        if "reverse" in options:
            ordered.keywords.append(gast.keyword("reverse", options["reverse"]))
        take = syntax.expression(f"{items}[{order}[{j}]]")
        store = gast.Subscript(base, syntax.name(j), None)
        loop = gast.For(
            syntax.name(j, store=True),
            syntax.expression(f"range(len({items}))"),
            [syntax.assign(item, take), syntax.assign(store, syntax.name(item))],
            [],
            None,
        )
        whole = syntax.expression("b[:]", b=base)
        return [syntax.assign(items, whole), syntax.assign(order, ordered), loop]

    def update_call(self, stmt: gast.Expr, call: gast.Call) -> list[gast.stmt] | None:
        """`d.update(other, k=v)` item by item."""
        base = call.func.value
        out: list[gast.stmt] = []
        for argument in call.args:
            t = self.atom_type(stmt, argument)
            if isinstance(t, List) and t.cls is list:
                out.append(self.update_by_pairs(base, argument))
                continue
            if not isinstance(t, Dict):
                return None
            if t.items is None:
                out.append(self.update_loop(base, argument))
                continue
            for key, _ in t.items:
                item = self.held_item(out, argument, key)
                target = gast.Subscript(base, syntax.const(key), None)
                out.append(syntax.assign(target, item))
        for keyword in call.keywords:
            if keyword.arg is None:
                return None
            target = gast.Subscript(base, syntax.const(keyword.arg), None)
            out.append(syntax.assign(target, keyword.value))
        return out

    def update_loop(self, base: gast.expr, other: gast.expr) -> gast.For:
        """`d.update(other)` of a dict whose keys are not known."""
        key, value = self.fresh("key"), self.fresh("value")
        item = gast.Subscript(syntax.clone(other), syntax.name(key), syntax.LOAD)
        place = gast.Subscript(syntax.clone(base), syntax.name(key), None)
        body = [syntax.assign(value, item), syntax.assign(place, syntax.name(value))]
        return gast.For(syntax.name(key, store=True), other, body, [], None)

    def update_by_pairs(self, base: gast.expr, pairs: gast.expr) -> gast.For:
        """`d.update(pairs)` of keys with their values."""
        pair, key, value = self.fresh("pair"), self.fresh("key"), self.fresh("value")
        first, second = (
            gast.Subscript(syntax.name(pair), syntax.const(i), syntax.LOAD)
            for i in range(2)
        )
        place = gast.Subscript(syntax.clone(base), syntax.name(key), None)
        body = [
            syntax.assign(key, first),
            syntax.assign(value, second),
            syntax.assign(place, syntax.name(value)),
        ]
        return gast.For(syntax.name(pair, store=True), pairs, body, [], None)

    def held_item(
        self, before: list[gast.stmt], base: gast.expr, key: Any
    ) -> gast.expr:
        """`base[key]` in a temporary."""
        id = self.fresh(key if str(key).isidentifier() else "item")
        item = gast.Subscript(base, syntax.const(key), syntax.LOAD)
        before.append(syntax.assign(id, item))
        return syntax.name(id)

    def copied(
        self, stmt: gast.Assign, call: gast.Call, function: Any
    ) -> list[gast.stmt] | None:
        """`copy.deepcopy(x)`, `copy.copy(x)` of what is known to be copied how."""
        source = call.args[0]
        t = self.atom_type(stmt, source)
        deep = function is copy.deepcopy
        made: Any
        before: list[gast.stmt] = []

        def item(key: Any, attribute: bool = False) -> gast.expr:
            held = self.held_item(before, source, key)
            if attribute:
                before[-1].value = gast.Attribute(source, key, syntax.LOAD)
            if not deep:
                return held
            again = self.fresh("copied")
            before.append(syntax.assign(again, gast.Call(call.func, [held], [])))
            return syntax.name(again)

        if t is None or is_number(t) or isinstance(t, Const):
            if t is None or is_another(t):
                return None
            stmt.value = source
        elif isinstance(t, Array):
            stmt.value = syntax.expression("a.copy()", a=source)
        elif isinstance(t, Tuple) and t.cls is None:
            elements = [item(i) for i in range(len(t.items))]
            stmt.value = gast.Tuple(elements, syntax.LOAD)
        elif isinstance(t, List) and t.cls is list:
            numbers = t.elem is not None and is_number(t.elem)
            if t.items is not None:
                elements = [item(i) for i in range(len(t.items))]
                stmt.value = gast.List(elements, syntax.LOAD)
            elif numbers or not deep:
                stmt.value = syntax.expression("v[:]", v=source)
            else:
                return None
        elif isinstance(t, Dict) and t.items is not None:
            if t.cls not in (dict, OrderedDict):
                return None
            made = t.cls
            shown = {k: item(k) for k, _ in t.items}
            named = all(map(is_keyword_name, shown))
            if made is OrderedDict and not named:
                return None
            cls = self.inliner.constant(made, made.__name__)
            stmt.value = dict_of(shown) if made is dict else ordered(cls, shown)
        elif isinstance(t, Object) and copied_by_field(t.cls, deep):
            made = t.cls
            cls = self.inliner.constant(made, made.__name__)
            fields = [item(k, True) for k, _ in t.items]
            stmt.value = gast.Call(syntax.name(cls), fields, [])
        elif isinstance(t, Object) and copied_by_attribute(t.cls, deep):
            if self.patient:  # what sets its attributes may not be in place yet
                self.waiting = True
                return None
            kept = [(k, item(k, True)) for k, _ in t.items]
            before += self.made_of(stmt, t.cls, kept)
        else:
            return None
        for each in before:
            gast.copy_location(each, stmt)
        return [*before, stmt]

    def made_of(
        self, stmt: gast.Assign, cls: Any, held: list[tuple[str, gast.expr]]
    ) -> list[gast.stmt]:
        """An object with these attributes, which is assigned then."""
        name = getattr(stmt.targets[0], "id", "copied")
        made = self.fresh(name)
        known = syntax.name(self.inliner.constant(cls, cls.__name__))
        out: list[gast.stmt] = [
            syntax.assign(made, syntax.call("object.__new__", known))
        ]
        for attribute, value in held:
            place = gast.Attribute(syntax.name(made), attribute, syntax.STORE)
            out.append(syntax.assign(place, value))
        stmt.value = syntax.name(made)
        return out

    def part_by_part(
        self, stmt: gast.Assign, call: gast.Call, op: Op
    ) -> list[gast.stmt] | None:
        """`psum((a, b), "i")` is `(psum(a, "i"), psum(b, "i"))`; what is in parts again
        comes in the next round.
        """
        try:
            given = op.bind(call.args, {k.arg: k.value for k in call.keywords}).get("x")
        except TypeError:
            return None
        before: list[gast.stmt] = []

        def hold(value: gast.expr) -> gast.Name:
            name = self.fresh("part")
            before.append(gast.copy_location(syntax.assign(name, value), stmt))
            return syntax.name(name)

        def each(node: gast.expr, t: Type | None = None) -> gast.expr:
            """The collective of an item, in a name."""
            if t == NOTHING or getattr(node, "value", node) is None:
                return syntax.const(None)
            new = syntax.replaced(call, {id(given): node})
            return hold(gast.copy_location(new, call))

        if isinstance(given, (gast.Tuple, gast.List)):
            stmt.value = type(given)(list(map(each, given.elts)), syntax.LOAD)
        elif isinstance(given, gast.Dict):
            stmt.value = gast.Dict(given.keys, list(map(each, given.values)))
        elif isinstance(given, gast.Name):
            t = self.atom_type(stmt, given)
            if t is None or not keyed_parts(t):
                return None
            made = [
                each(hold(read_part(t, given, key)), part)
                for key, part in keyed_parts(t)
            ]
            stmt.value = rebuild(t, made)
            cls: Any = getattr(t, "cls", None)
            if isinstance(stmt.value, gast.Call):
                name = self.inliner.constant(cls, cls.__name__)
                stmt.value.func = syntax.name(name)
        else:
            return None
        return [*before, stmt]

    def listed(self, stmt: gast.Assign, call: gast.Call) -> list[gast.stmt] | None:
        """`a.tolist()` as loops over the items."""
        t = self.atom_type(stmt, call.func.value)
        if not isinstance(t, Array) or not is_active(t) or t.shape is None:
            return None
        if t.dtype is None or not 0 < len(t.shape) < 4:
            return None
        number = "complex" if t.dtype.kind == "c" else "float"
        out: list[gast.stmt] = []
        stmt.value = self.list_of(call.func.value, len(t.shape), number, out)
        for each in syntax.walk(out):
            if isinstance(each, gast.stmt):
                gast.copy_location(each, stmt)
                each.user_line = getattr(stmt, "user_line", None)
        return [*out, stmt]

    def list_of(
        self, array: gast.expr, rank: int, number: str, out: list[gast.stmt]
    ) -> gast.expr:
        """Statements that make the nested list of an array; its name."""
        values, index = self.fresh("values"), self.fresh("i", varying=False)
        item = self.fresh("item")
        part = gast.Subscript(array, syntax.name(index), syntax.LOAD)
        body: list[gast.stmt] = [syntax.assign(item, part)]
        if rank > 1:
            value = self.list_of(syntax.name(item), rank - 1, number, body)
        else:
            held = self.fresh("number")
            body.append(syntax.assign(held, syntax.call(number, syntax.name(item))))
            value = syntax.name(held)
        append = syntax.expression("xs.append(v)", xs=syntax.name(values), v=value)
        body.append(gast.Expr(append))
        over = syntax.expression("range(len(a))", a=array)
        out.append(syntax.assign(values, gast.List([], syntax.LOAD)))
        out.append(gast.For(syntax.name(index, store=True), over, body, [], None))
        return syntax.name(values)


def copied_by_attribute(cls: Any, deep: bool) -> bool:
    """Whether a copy of an object is an empty one that gets the same attributes."""
    own = ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__setattr__")
    methods = (*own, "__deepcopy__" if deep else "__copy__")
    return is_plain_class(cls) and not any(own_method(cls, name) for name in methods)


def copied_by_field(cls: Any, deep: bool) -> bool:
    """Whether a copy of an object is what its class makes of its fields."""
    own = ("__post_init__", "__reduce__", "__reduce_ex__", "__getstate__")
    methods = (*own, "__deepcopy__" if deep else "__copy__")
    init = own_method(cls, "__init__")
    return (
        dataclasses.is_dataclass(cls)
        and all(f.init and not f.kw_only for f in dataclasses.fields(cls))
        and init is not None
        and init.__code__.co_filename == "<string>"
        and not any(own_method(cls, name) for name in methods)
    )
