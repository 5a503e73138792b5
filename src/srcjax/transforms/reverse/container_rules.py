"""Backward code of containers and objects: displays, items, methods, unpacking."""

from __future__ import annotations

import functools
import operator
from collections import OrderedDict
from dataclasses import is_dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.distinct import all_differ, distinct_names
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
    Object,
    OrNone,
    Scalar,
    Tuple,
    Type,
    Unknown,
    is_active,
    is_number,
    join_all,
    parts,
    same_shape,
    shape_of,
)
from srcjax.ops.expand.asking import indexed
from srcjax.transforms.places import (
    Adjoint,
    Path,
    is_static,
    keyed_parts,
    part_of,
    read_part,
    rebuild,
)
from srcjax.transforms.reasons import ITEM, PARTS, Reason
from srcjax.transforms.reverse.contributions import is_tuple
from srcjax.transforms.reverse.rule_templates import RuleTemplates
from srcjax.transforms.reverse.views import new_axes

#: What explained text says of containers and their parts.
APPENDED = "what was appended takes its adjoint off the end"
TAKEN = "what was taken out gives its adjoint back to where it was"
CHANGED = "the container was changed: its adjoint is changed back"


class ContainerRules(RuleTemplates):
    """Passes adjoints between containers and their parts."""

    def repeated(self, name: str, items: Any, count: gast.expr) -> None:
        """`[x] * n`: each item gets the sum of its copies."""
        d = self.adjoint(name)
        if not isinstance(d, gast.Name):
            d = self.held(syntax.adjoint_name(self.base(name)), d)
        length = syntax.call("len", items)
        text = "[sum(d[k::n]) for k in range(n)]"
        if any(
            not isinstance(p, (Array, Scalar)) for p in parts(self.type_of_name(name))
        ):
            text = "[functools.reduce(add, d[k::n], None) for k in range(n)]"
            self.needs["functools"] = functools
        total = syntax.expression(text, d=d, n=length)
        self.contribute(items.id, total)

    def concatenated(self, name: str, left: gast.expr, right: gast.expr) -> None:
        """`a + b` of sequences."""
        d = self.adjoint(name)
        n = syntax.call("len", left)
        if self.active(left):
            part = syntax.expression("d[:n]", d=d, n=n)
            self.contribute(left.id, part)
        if self.active(right):
            part = syntax.expression("d[n:]", d=d, n=n)
            self.contribute(right.id, part)

    def of_Tuple(self, name: str, value: Any) -> None:
        elements = value.elts
        self.reasons = (PARTS,)
        if any(isinstance(e, gast.Starred) for e in elements):
            self.starred_display(name, elements)
            return
        kind = self.kind(name)
        t = self.type_of_name(name)
        for position, element in enumerate(elements):
            if not self.active(element):
                continue
            if kind == "split":
                if any(p[1][:1] == (position,) for p in self.places.of(name)):
                    part = dict(keyed_parts(t))[position]
                    self.pass_part(element.id, name, (position,), part)
                continue
            d = gast.Subscript(self.adjoint(name), syntax.const(position), syntax.LOAD)
            self.contribute(element.id, d)

    of_List = of_Tuple

    def pass_part(self, to: str, name: str, path: Path, t: Type) -> None:
        """Contribute a part of a split adjoint to the value it was made from."""
        if is_static(t) and self.kind(to) == "split":
            for place in self.places.of(name):
                if place[1][: len(path)] == path:
                    state = self.places.present[place]
                    self.consumed.add(place)
                    rest = place[1][len(path) :]
                    self.contribute(to, syntax.name(state.variable), rest)
            return
        self.contribute(to, self.adjoint_at(name, path, t, full=False))
        self.places.drop_ownership(to)

    def starred_display(self, name: str, elements: list) -> None:
        start: gast.expr = syntax.const(0)
        d = self.adjoint(name)
        for element in elements:
            inner = getattr(element, "value", element)
            one = not isinstance(element, gast.Starred)
            if self.active(inner):
                if one:
                    part: gast.expr = gast.Subscript(d, start, syntax.LOAD)
                else:
                    stop = gast.BinOp(start, gast.Add(), syntax.call("len", inner))
                    part = gast.Subscript(d, gast.Slice(start, stop, None), syntax.LOAD)
                    t = self.type_of_name(inner.id)
                    if isinstance(t, Array):
                        part = syntax.call("np.array", part)
                    elif isinstance(t, Unknown):
                        part = syntax.call("items_like", part, inner)
                self.contribute(inner.id, part)
            step = syntax.const(1) if one else syntax.call("len", inner)
            start = gast.BinOp(start, gast.Add(), step)

    def of_Dict(self, name: str, value: gast.Dict) -> None:
        t = self.type_of_name(name)
        self.reasons = (PARTS,)
        for key, element in zip(value.keys, value.values, strict=True):
            if not self.active(element):
                continue
            if key is None:
                raise self.refuse(
                    "`**` in a dict display of differentiated values",
                    "assign the items one by one",
                )
            if self.kind(name) == "split" and isinstance(key, gast.Constant):
                if any(p[1][:1] == (key.value,) for p in self.places.of(name)):
                    part = dict(keyed_parts(t))[key.value]
                    self.pass_part(element.id, name, (key.value,), part)
                continue
            zero = self.zero(self.type_of_name(element.id), element)
            d = syntax.expression("d.pop(k, z)", d=self.adjoint(name), k=key, z=zero)
            self.contribute(element.id, d)

    def of_Attribute(self, name: str, value: gast.Attribute) -> None:
        base = value.value
        if not self.active(base):
            return
        t = self.type_of_name(base.id)
        self.reasons = (ITEM,)
        if isinstance(t, Object) or (isinstance(t, Tuple) and t.cls is not None):
            key: Any = value.attr
            if isinstance(t, Tuple):
                key = t.cls._fields.index(value.attr)  # type: ignore[union-attr]
                if self.kind(base.id) == "list":
                    self.list_item(name, base.id, syntax.const(key))
                    return
            self.pass_to_part(name, base.id, (key,))
            return
        op = self.attribute_op(value)
        self.apply(name, op, [base], {}, "np")

    def pass_to_item(self, name: str, base: str, path: Path, t: Type) -> None:
        """`name = p.x` for an object in a list: its adjoint is an object in a list."""
        if not isinstance(t, (Array, Scalar)):
            raise self.refuse(
                "a container in an object in a container", "simpler containers"
            )
        item = read_part(self.type_of_name(base), self.adjoint(base), path[0])
        d = self.adjoint(name)
        self.emit(syntax.assign(item, gast.BinOp(syntax.clone(item), gast.Add(), d)))
        self.consumed.add((name, ()))

    def pass_to_part(self, name: str, base: str, path: Path) -> None:
        """`name = base[key]` with a known key of a split container."""
        t = part_of(self.type_of_name(base), path)
        if not is_active(t):
            self.consumed.add((name, ()))  # a constant; `name` holds others elsewhere
            return
        if base in self.views:
            self.pass_to_item(name, base, path, t)
            return
        if is_static(t) and self.kind(name) == "split":
            for place in self.places.of(name):
                state = self.places.present[place]
                self.consumed.add(place)
                self.contribute(base, syntax.name(state.variable), (*path, *place[1]))
            return
        self.prefer_name(base, path, name)
        self.contribute(base, self.whole_adjoint(name, full=False, reader=t), path)
        for place in self.places.of(base):
            if place[1] == path:
                state = self.places.present[place]
                self.places.present[place] = replace(state, owned=False)

    def prefer_name(self, base: str, path: Path, name: str) -> None:
        """The adjoint of `params["w"]` is `dw`, not `dparams_w`."""
        if (base, path) not in self.places.variables:
            key = str(path[-1])
            if not key.isidentifier() and name in self.unit.temps:
                return
            shown = key if key.isidentifier() else self.base(name)
            adjoint = self.unit.names.fresh(syntax.adjoint_name(shown))
            self.places.name((base, path), adjoint)

    def of_Subscript(self, name: str, value: gast.Subscript) -> None:
        base, index = value.value, value.slice
        if not self.active(base):
            return
        t = self.type_of_name(base.id)
        kind = self.kind(base.id)
        self.reasons = (ITEM,)
        if kind == "split":
            key = self.static_key(t, index)
            if key is not None:
                self.pass_to_part(name, base.id, (key,))
                return
            if isinstance(index, gast.Slice):
                self.split_slice(name, base.id, t, index)
                return
            raise self.refuse("an index that is not known", "a constant index")
        if kind == "list" or isinstance(t, (List, Tuple)):
            self.list_item(name, base.id, index)
        elif kind == "dict" or isinstance(t, Dict):
            self.dict_item(name, base.id, index)
        else:
            self.array_item(name, base.id, index)

    def static_key(self, t: Type, index: gast.expr) -> Any:
        """The known key of a static container."""
        found = [self.typer.type_of(index, env) for env in self.envs]
        known = join_all(found)
        if not isinstance(known, Const):
            return None
        keys = [key for key, _ in keyed_parts(t)]
        value = known.value
        if isinstance(t, (Tuple, List)) and isinstance(value, int) and value < 0:
            value += len(keys)
        return value if value in keys else None

    def split_slice(self, name: str, base: str, t: Type, index: gast.Slice) -> None:
        keys = [key for key, _ in keyed_parts(t)]
        bounds = [
            None
            if b is None
            else getattr(self.typer.type_of(b, self.envs[0]), "value", None)
            for b in (index.lower, index.upper, index.step)
        ]
        for position, key in enumerate(keys[slice(*bounds)]):
            if self.kind(name) != "split":
                d = gast.Subscript(
                    self.adjoint(name), syntax.const(position), syntax.LOAD
                )
                self.contribute(base, d, (key,))
            elif any(p[1][:1] == (position,) for p in self.places.of(name)):
                part = part_of(t, (key,))
                d = self.adjoint_at(name, (position,), part, full=False)
                self.contribute(base, d, (key,))

    def list_item(self, name: str, base: str, index: gast.expr) -> None:
        """`name = xs[i]`, `name = xs[a:b]`."""
        once = base in self.single_pass
        d = self.whole_adjoint(name) if once else self.adjoint(name)
        self.ensure_buffer(base)
        variable = self.adjoint(base)
        known = join_all([self.typer.type_of(index, env) for env in self.envs])
        if isinstance(known, Unknown):  # the item has the type of one, not of a slice
            self.needs["operator"] = operator
            index = syntax.call("operator.index", index)
        target = gast.Subscript(variable, index, syntax.LOAD)
        if isinstance(index, gast.Slice):
            total = syntax.call("add", target, d)
        elif base in self.single_pass:
            total = d
        elif is_number(self.type_of_name(name)):
            stmt = gast.AugAssign(syntax.as_store(target), gast.Add(), d)
            self.emit(stmt)
            return
        elif isinstance(self.type_of_name(name), Array):
            total = gast.BinOp(target, gast.Add(), d)
            t = self.type_of_name(name)
            if shape_of(t) == () and t.buffers & self.written:  # it would be a number
                total = syntax.expression("np.array(v)", v=total)
        else:
            total = syntax.call("add", target, d)
        self.emit(syntax.assign(syntax.as_store(target), total))

    def dict_item(self, name: str, base: str, index: gast.expr) -> None:
        """`name = d[key]`."""
        d = self.whole_adjoint(name)
        self.ensure_buffer(base)
        variable = self.adjoint(base)
        old = syntax.expression("d.get(k, 0.0)", d=variable, k=index)
        if is_number(self.type_of_name(name)) or isinstance(
            self.type_of_name(name), Array
        ):
            total: gast.expr = gast.BinOp(old, gast.Add(), d)
        else:
            total = syntax.call("add", old, d)
        target = gast.Subscript(variable, index, syntax.STORE)
        self.emit(syntax.assign(target, total))

    def array_item(self, name: str, base: str, index: gast.expr) -> None:
        """`name = x[i]`."""
        d = self.adjoint(name, full=False)
        if shape_of(self.type_of_name(base)) == () and self.kind(base) == "value":
            if not is_number(self.type_of_name(name)):  # `x[..., None]`
                d = syntax.expression("np.sum(d)", d=self.adjoint(name))
            self.contribute(base, d)
            return
        new = new_axes(index)
        if new is not None and isinstance(self.type_of_name(base), Array):
            self.contribute(base, indexed(self.adjoint(name), new))
            return
        self.ensure_buffer(base)
        target = gast.Subscript(self.adjoint(base), index, syntax.LOAD)
        if isinstance(self.type_of_name(base), Unknown):
            add = syntax.call("add_at", target.value, as_value(index), d)
            if isinstance(target.value, gast.Name):
                self.emit(syntax.assign(target.value.id, add))
            else:
                self.emit(gast.Expr(add))
            return
        if self.index_kind(index) == "repeats":
            add = syntax.expression(
                "np.add.at(d, i, v)", d=target.value, i=as_value(index), v=d
            )
            self.emit(gast.Expr(add))
            return
        stmt = gast.AugAssign(syntax.as_store(target), gast.Add(), d)
        self.emit(stmt)

    def index_kind(self, index: gast.expr) -> str:
        """`basic` (a view), `once` (a mask, or places that differ) or `repeats`."""
        entries = index.elts if isinstance(index, gast.Tuple) else [index]
        kind = "basic"
        if self.names_each_once(entries):
            return "once"
        for entry in entries:
            if isinstance(entry, gast.Slice):
                continue
            for env in self.envs:
                t = self.typer.type_of(entry, env)
                if isinstance(t, Array) and t.dtype is not None and t.dtype.kind == "b":
                    kind = "once"
                elif (
                    is_number(t)
                    or isinstance(t, Const)
                    or isinstance(t, Tuple)
                    and t.cls is slice
                ):
                    continue
                else:
                    return "repeats"
        return kind

    def names_each_once(self, entries: list[gast.expr]) -> bool:
        """Whether one of the index arrays has no entry twice, and fits the others."""
        placed = [e for e in entries if not isinstance(e, (gast.Slice, gast.Constant))]
        known = any(syntax.is_name(e) and e.id in self.distinct for e in placed)
        for env in self.envs:
            types = [self.typer.type_of(e, env) for e in placed]
            arrays = [t for t in types if not is_number(t)]
            if len(arrays) == 1 and all_differ(arrays[0]):
                continue  # a list that says its places
            if not known or not all(isinstance(t, Array) for t in arrays):
                return False
            first = shape_of(arrays[0])
            if not all(same_shape(first, shape_of(t)) for t in arrays[1:]):
                return False
        return bool(self.envs)

    @cached_property
    def distinct(self) -> frozenset[str]:
        """Names of index arrays that name no place twice."""
        return distinct_names(
            self.unit.node, lambda node: self.typer.type_of(node, self.types)
        )

    def constructor(self, name: str, value: gast.Call, cls: type) -> None:
        """A namedtuple or dataclass made from differentiated parts."""
        self.reasons = (PARTS,)
        t = self.type_of_name(name)
        fields = getattr(cls, "_fields", None)
        keyed = is_dataclass(cls) or cls in (SimpleNamespace, OrderedDict)
        if fields is None and keyed and not (cls is OrderedDict and value.args):
            fields = [key for key, _ in keyed_parts(t)]
        if fields is None or not is_static(t):
            raise self.refuse(
                f"`{cls.__name__}(...)` made from a differentiated value",
                "a dataclass, a namedtuple, a tuple or a dict",
            )
        given = dict(zip(fields, value.args, strict=False))
        given.update({k.arg: k.value for k in value.keywords})
        for position, field in enumerate(fields):
            key = position if isinstance(t, Tuple) else field
            element: Any = given.get(field)
            if self.active(element) and self.kind(name) != "split":
                d = gast.Subscript(self.adjoint(name), syntax.const(key), syntax.LOAD)
                self.contribute(element.id, d)
            elif self.active(element) and any(
                p[1][:1] == (key,) for p in self.places.of(name)
            ):
                part = dict(keyed_parts(t))[key]
                self.pass_part(element.id, name, (key,), part)

    def sequence_copy(self, name: str, value: gast.Call) -> None:
        """`list(xs)`, `tuple(xs)`."""
        self.reasons = (PARTS,)
        source = value.args[0]
        if not self.active(source):
            return
        if self.kind(name) == "split" and self.kind(source.id) == "split":
            for place in self.places.of(name):
                state = self.places.present[place]
                self.consumed.add(place)
                self.contribute(source.id, syntax.name(state.variable), place[1])
            return
        t = self.type_of_name(source.id)
        # Loops may go over the adjoint of a list, and know of no item without one.
        d = self.adjoint_for(name) if isinstance(t, List) else self.adjoint(name)
        if isinstance(t, Unknown):
            d = syntax.call("items_like", d, source)
        elif isinstance(t, Array):
            d = syntax.call("np.array", d)
        elif is_tuple(t) and self.kind(source.id) != "list":
            d = syntax.call("tuple", d)
        elif isinstance(d, gast.Name):
            d = syntax.call("list", d)
        elif isinstance(d, gast.Tuple):
            d = gast.List(d.elts, syntax.LOAD)
        self.contribute(source.id, d)

    def container_call(self, name: str | None, value: gast.Call, callee: str) -> None:
        """Methods of lists and dicts; `name` is the result, if it is used."""
        if not isinstance(value.func.value, gast.Name):
            self.check_core(value.func)
            return  # as it was written: nothing differentiated is in it
        base = value.func.value.id
        method = callee.split(".")[1]
        handler = getattr(self, f"list_{method}", None)
        if callee.startswith("dict."):
            handler = getattr(self, f"dict_{method}", None)
        if handler is None:
            if not self.has_adjoint(base) and (
                name is None or not self.has_adjoint(name)
            ):
                return
            raise self.refuse(
                f"`{callee}` on differentiated values",
                "build a new list or dict instead",
            )
        self.reasons = (Reason(said=CHANGED),)
        handler(name, base, value.args)

    def list_append(self, name: str | None, base: str, args: list) -> None:
        self.reasons = (Reason(said=APPENDED),)
        if not self.has_adjoint(base):
            return
        self.ensure_buffer(base)
        d = syntax.expression("d.pop()", d=self.adjoint(base))
        if self.active(args[0]):
            self.contribute(args[0].id, d)
        else:
            self.emit(gast.Expr(d))

    def list_extend(self, name: str | None, base: str, args: list) -> None:
        self.reasons = (Reason(said=APPENDED),)
        if not self.has_adjoint(base):
            return
        self.ensure_buffer(base)
        d = self.adjoint(base)
        start = syntax.expression("len(d) - len(v)", d=d, v=args[0])
        tail = syntax.expression("d[s:]", d=d, s=start)
        if self.active(args[0]):
            self.contribute(args[0].id, tail)
        self.emit(gast.Delete([gast.Subscript(d, tail.slice, gast.Del())]))

    def list_insert(self, name: str | None, base: str, args: list) -> None:
        if not self.has_adjoint(base):
            return
        self.ensure_buffer(base)
        target = self.adjoint(base)
        place = self.place_of_inserted(base, target, args[0])
        d = syntax.expression("d.pop(i)", d=target, i=place)
        if self.active(args[1]):
            self.contribute(args[1].id, d)
        else:
            self.emit(gast.Expr(d))

    def list_pop(self, name: str | None, base: str, args: list) -> None:
        self.reasons = (Reason(said=TAKEN),)
        present = name is not None and self.has_adjoint(name)
        if not present and not self.has_adjoint(base):
            return
        d: gast.expr
        if present:
            assert name is not None
            d = self.whole_adjoint(name)
        else:
            elem = join_all(
                p for _, p in keyed_parts(self.type_of_name(base))
            ) or getattr(self.type_of_name(base), "elem", None)
            elem = elem or UNKNOWN
            removed = name or self.unit.names.fresh("removed")
            item = self.type_of_name(name) if name and not is_number(elem) else elem
            d = self.zero(item, syntax.name(removed))
            if removed != name and removed in syntax.names_read(d):
                self.unit.temps.add(removed)
                taken = syntax.assign(removed, self.stmt.value)
                self.forward[id(self.stmt)] = [taken]
                self.extra_defs.setdefault(id(self.stmt), []).append(removed)
        self.ensure_buffer(base)
        target = self.adjoint(base)
        if args:
            place = self.place_of_popped(target, args[0])
            call = syntax.expression("t.insert(i, d)", t=target, i=place, d=d)
        else:
            call = syntax.expression("t.append(d)", t=target, d=d)
        self.emit(gast.Expr(call))

    def place_of_inserted(
        self, base: str, target: gast.expr, index: gast.expr
    ) -> gast.expr:
        """Where an item is that was inserted at an index: before one from the end."""
        known = join_all(self.typer.type_of(index, env) for env in self.envs)
        value = getattr(known, "value", None) if isinstance(known, Const) else None
        items = getattr(self.type_of_name(base), "items", None) or ()
        if value == 0 or isinstance(value, int) and 0 < value < len(items):
            return index
        return syntax.expression("len(t[:-1][:i])", t=target, i=index)

    def place_of_popped(self, target: gast.expr, index: gast.expr) -> gast.expr:
        """Where an item goes back to that was popped at an index (from the end)."""
        known = join_all(self.typer.type_of(index, env) for env in self.envs)
        value = getattr(known, "value", None) if isinstance(known, Const) else None
        if isinstance(value, int) and value >= 0:
            return index
        end = syntax.expression("len(t) + 1 + i", t=target, i=index)
        if isinstance(value, int):
            return end
        test = syntax.expression("i >= 0", i=index)
        return gast.IfExp(test, index, end)

    def on_Delete(self, stmt: gast.Delete) -> None:
        """`del xs[a:b]`: zeros for the items that are gone."""
        target = stmt.targets[0]
        if not isinstance(target, gast.Subscript) or not isinstance(
            target.value, gast.Name
        ):
            return
        base = target.value.id
        if not self.active(target.value) or not self.has_adjoint(base):
            return
        removed = self.unit.names.fresh("removed")
        start = self.unit.names.fresh("start")
        self.unit.temps |= {removed, start}
        index = target.slice
        if index.step is not None:
            raise self.refuse("`del` of items in steps", "a list of what is kept")
        first = start_of(target.value, index)
        item = syntax.as_load(target)
        self.forward[id(stmt)] = [
            syntax.assign(start, first),
            syntax.assign(removed, item),
            stmt,
        ]
        self.extra_defs.setdefault(id(stmt), []).extend([removed, start])
        self.ensure_buffer(base)
        elem = getattr(self.type_of_name(base), "elem", None) or UNKNOWN
        zero = self.zero(elem, syntax.name("v"))
        zeros = syntax.expression("[z for v in r]", z=zero, r=syntax.name(removed))
        code = syntax.expression("d[s:s]", d=self.adjoint(base), s=syntax.name(start))
        self.emit(syntax.assign(syntax.as_store(code), zeros))

    def list_reverse(self, name: str | None, base: str, args: list) -> None:
        if self.has_adjoint(base):
            self.ensure_buffer(base)
            call = syntax.expression("d.reverse()", d=self.adjoint(base))
            self.emit(gast.Expr(call))

    def list_copy(self, name: str | None, base: str, args: list) -> None:
        if (
            name is not None
            and self.has_adjoint(name)
            and self.active(syntax.name(base))
        ):
            kind = "dict" if isinstance(self.type_of_name(base), Dict) else "list"
            self.contribute(base, syntax.call(kind, self.adjoint(name)))

    def dict_get(self, name: str | None, base: str, args: list) -> None:
        self.reasons = (ITEM,)
        if name is None or not self.has_adjoint(name):
            return
        key = self.static_key(self.type_of_name(base), args[0])
        if self.kind(base) == "split":
            if key is not None:
                self.pass_to_part(name, base, (key,))
            elif len(args) > 1 and self.active(args[1]):
                self.contribute(args[1].id, self.adjoint(name, full=False))
            return
        if len(args) > 1 and self.active(args[1]):
            raise self.refuse(
                "`get` with a differentiated default", "`d[k] if k in d else default`"
            )
        # Without the key nothing is read: what then stands in the adjoint is not used,
        # as a key comes by a store and goes by `pop`, which both take its adjoint out.
        self.dict_item(name, base, args[0])

    def dict_copy(self, name: str | None, base: str, args: list) -> None:
        """`e = d.copy()`: keys that were stored since have no adjoint in `e`."""
        if name is None or not self.has_adjoint(name):
            return
        if not self.active(syntax.name(base)):
            return
        if self.kind(base) != "split":
            self.contribute(base, syntax.call("dict", self.adjoint(name)))
            return
        whole = self.kind(name) != "split"
        for key, part in keyed_parts(self.type_of_name(base)):
            if whole and is_active(part):
                zero = self.zero(part, self.primal(base, (key,)))
                found = syntax.expression(
                    "d.get(k, z)", d=self.adjoint(name), k=syntax.const(key), z=zero
                )
                self.contribute(base, found, (key,))
        for place in [] if whole else self.places.of(name):
            state = self.places.present[place]
            self.consumed.add(place)
            self.contribute(base, syntax.name(state.variable), place[1])

    def dict_pop(self, name: str | None, base: str, args: list) -> None:
        """`v = d.pop(key)`: the item's adjoint is that of `v`."""
        self.reasons = (Reason(said=TAKEN),)
        if not self.has_adjoint(base) and (name is None or not self.has_adjoint(name)):
            return
        self.ensure_buffer(base)
        if name is None or not self.has_adjoint(name):
            nothing = syntax.expression(
                "d.pop(k, 0.0)", d=self.adjoint(base), k=args[0]
            )
            self.emit(gast.Expr(nothing))
            return
        if len(args) > 1 and self.active(args[1]):
            raise self.refuse(
                "`pop` with a differentiated default", "`d[k] if k in d else default`"
            )
        d = self.whole_adjoint(name)
        target = gast.Subscript(self.adjoint(base), args[0], syntax.STORE)
        self.emit(syntax.assign(target, d))

    def list_index(self, name: str | None, base: str, args: list) -> None:
        """Positions and keys carry no derivative."""
        self.reasons = (ITEM,)

    list_count = dict_keys = list_index

    # -- unpacking --------------------------------------------------------------------

    def unpack(self, target: Any, value: gast.expr) -> None:
        """`a, b = value`."""
        if not isinstance(value, gast.Name) or not self.active(value):
            for element in target.elts:
                for bound in syntax.names_written(element):
                    self.places.kill(bound)
            return
        t = self.type_of_name(value.id)
        active = self.active(value)
        kind = self.kind(value.id)
        self.reasons = (ITEM,)
        if isinstance(t, Unknown) and kind not in ("view", "split"):
            self.unpack_unknown(target, value)
            return
        for position, element in enumerate(target.elts):
            name = element.id
            if active and self.has_adjoint(name) and name not in self.views:
                self.explode(name)
                if (
                    kind == "split"
                    and is_static(t)
                    and len(keyed_parts(t)) == len(target.elts)
                ):
                    key = keyed_parts(t)[position][0]
                    if (value.id, (key,)) not in self.places.variables and not (
                        is_static(self.type_of_name(name))
                    ):
                        self.share_variable(value.id, key, name)
                    self.pass_to_part(name, value.id, (key,))
                else:
                    index = syntax.const(position)
                    item = gast.Subscript(value, index, syntax.LOAD)
                    self.of_Subscript(name, item)
            self.places.kill(name)

    def unpack_unknown(self, target: Any, value: gast.Name) -> None:
        """`a, b = value` of what may be a tuple, a list or an array."""
        names = [e.id for e in target.elts]
        if any(self.has_adjoint(n) for n in names):
            parts = [
                self.adjoint(n) if self.has_adjoint(n) else syntax.const(None)
                for n in names
            ]
            t = self.type_of_name(value.id)
            whole = all(map(self.has_adjoint, names))
            if whole and isinstance(t, OrNone) and len(keyed_parts(t)) == len(parts):
                packed = rebuild(t, parts)
            else:
                packed = syntax.call("packed", value, gast.List(parts, syntax.LOAD))
            place = self.places.present.get((value.id, ()))
            variable = self.places.variable(value.id, (), self.base(value.id))
            if place is not None:
                packed = syntax.call("add", syntax.name(variable), packed)
            self.emit(syntax.assign(variable, packed))
            self.places.present[(value.id, ())] = Adjoint(variable)
        for n in names:
            self.places.kill(n)

    def share_variable(self, base: str, key: Any, name: str) -> None:
        """`W, b = params`: the adjoint of params[0] is the variable dW itself."""
        state = self.places.present.get((name, ()))
        if state is not None:
            self.places.name(
                (base, (key,)),
                self.unit.names.fresh(syntax.adjoint_name(self.base(name))),
            )


def as_value(index: gast.expr) -> gast.expr:
    """An index as an argument: slices need `np.s_`."""
    if any(isinstance(n, gast.Slice) for n in syntax.walk(index)):
        return gast.Subscript(syntax.expression("np.s_"), index, syntax.LOAD)
    return index


def start_of(items: gast.expr, index: gast.Slice) -> gast.expr:
    """How many items come before those of a slice: `len(xs[:a])`."""
    if _is_none(index.lower):
        return syntax.const(0)
    known = _is_number(index.lower)  # a variable may be None
    text = "len(v[:a])" if known else "len(v) - len(v[a:])"
    return syntax.expression(text, v=items, a=index.lower)


def rest_of(items: gast.expr, index: gast.Slice) -> gast.expr:
    """How many come after them: after an empty slice, those from its start on."""
    if _is_none(index.upper):
        return syntax.const(0)
    text = "len(v[b:])" if _is_number(index.upper) else "len(v) - len(v[:b])"
    after = syntax.expression(text, v=items, b=index.upper)
    if _is_none(index.lower):
        return after
    return syntax.expression("min(len(v[a:]), n)", v=items, a=index.lower, n=after)


def _is_none(bound: gast.expr | None) -> bool:
    return bound is None or isinstance(bound, gast.Constant) and bound.value is None


def _is_number(bound: gast.expr | None) -> bool:
    plain = bound.operand if isinstance(bound, gast.UnaryOp) else bound
    return isinstance(plain, gast.Constant)
