"""Backward code of statements that write into arrays and containers in place."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.containers import element
from srcjax.analysis.known_values import OPERATORS
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Dict,
    List,
    Object,
    Tuple,
    Type,
    Unknown,
    is_number,
    join_all,
    same_shape,
    shape_of,
)
from srcjax.ops.known import MISSING
from srcjax.ops.record import Op, lookup
from srcjax.transforms.places import (
    keyed_parts,
    part_of,
    zero_of,
)
from srcjax.transforms.reasons import Reason
from srcjax.transforms.reverse.container_rules import (
    ContainerRules,
    as_value,
    start_of,
)
from srcjax.transforms.writer import OLD

#: What explained text says of statements that write in place.
STORED = "what was written there gets the adjoint of that place"
CLEARED = "what stood there before was overwritten: it gets none of it"


class InplaceRules(ContainerRules):
    """Takes the adjoint of what was written, and clears it."""

    # -- in-place ---------------------------------------------------------------------

    def store(self, target: gast.Subscript, value: gast.expr) -> None:
        """`base[index] = value`."""
        base = target.value
        if not self.active(base):
            return
        assert isinstance(base, gast.Name)
        if not self.has_adjoint(base.id):
            return
        self.reasons = (Reason(said=STORED),)
        t = self.type_of_name(base.id)
        index = target.slice
        if isinstance(t, Dict):
            self.ensure_buffer(base.id)
            zero = (
                self.zero(self.type_of_name(value.id), value)
                if isinstance(value, gast.Name)
                else syntax.const(0.0)
            )
            d = syntax.expression(
                "d.pop(k, z)", d=self.adjoint(base.id), k=index, z=zero
            )
            if self.active(value):
                self.contribute(value.id, d)
            else:
                self.emit(gast.Expr(d))
            self.begin_again(base, index, d.func.value)
            return
        if base.id not in self.views:
            self.ensure_buffer(base.id)
            self.ensure_array(base.id, t)
        item = gast.Subscript(self.adjoint(base.id), index, syntax.LOAD)
        cut = self.cut_of(index) if isinstance(t, List) else None
        if cut is not None:
            self.store_slice(base, cut, value)
            return
        if isinstance(t, (List, Tuple)):
            if self.active(value):
                self.contribute(value.id, item)
                self.places.drop_ownership(value.id)
            elem = join_all(p for _, p in keyed_parts(t)) or getattr(t, "elem", None)
            old = gast.Subscript(base, index, syntax.LOAD)
            zero = self.zero(elem or UNKNOWN, self.held_old(base.id, old))
            self.reasons = (Reason(said=CLEARED),)
            self.emit(syntax.assign(syntax.as_store(item), zero))
            return
        kind = self.index_kind(index)
        if self.active(value):
            d = item
            if kind == "repeats":
                d = syntax.call("last_written", item.value, as_value(index))
            elif kind == "basic":
                d = self.copied(item)
            d = syntax.call("unbroadcast", d, value)
            if self.same_memory(value.id, base.id):
                d = self.held(
                    syntax.adjoint_name(self.base(value.id)), d, like=value.id
                )
                stored, self.reasons = self.reasons, (Reason(said=CLEARED),)
                self.emit(syntax.assign(syntax.as_store(item), syntax.const(0.0)))
                self.reasons = stored
                self.contribute(value.id, d)
                return
            self.contribute(value.id, d)
        self.reasons = (Reason(said=CLEARED),)
        self.emit(syntax.assign(syntax.as_store(item), syntax.const(0.0)))
        if base.id not in self.views:
            self.left_out.stored(base, index)

    def held_old(self, table: str, item: gast.Subscript) -> gast.expr:
        """What a store overwrites, kept by the forward sweep where it is in a table.

        A table that a recursion fills is not read by its backward function.
        """
        if table not in self.pairs.carried(self.unit):
            return item
        if is_number(self.type_of(item)):
            return item
        old = self.fresh_temp(f"old_{self.base(table)}")
        stmt = self.stmt
        self.types[old] = self.type_of(item)
        self.forward[id(stmt)] = [syntax.assign(old, item), stmt]
        self.extra_defs.setdefault(id(stmt), []).append(old)
        return syntax.name(old)

    def begin_again(self, base: gast.Name, index: gast.expr, d: gast.expr) -> None:
        """Zeros for the list or dict that the key held before something else.

        Other keys may be missing in the adjoint: what takes an item puts one there. But
        `d["k"].append(v)` takes an item of an item.
        """
        key = getattr(index, "value", ...)
        held = [getattr(env.get(base.id), "items", None) or () for env in self.envs]
        parts = [dict(items).get(key) for items in held]
        if not parts or not all(isinstance(p, (List, Dict)) for p in parts):
            return
        old = gast.Subscript(base, index, syntax.LOAD)
        place = gast.Subscript(d, index, syntax.STORE)
        zero = self.zero(join_all([p for p in parts if p]) or UNKNOWN, old)
        self.emit(syntax.assign(place, zero))

    def ensure_array(self, name: str, t: Type) -> None:
        """Where there may be no axes: what is computed of such arrays are numbers."""
        if isinstance(t, Unknown) or (isinstance(t, Array) and not t.shape):
            d = self.adjoint(name)
            self.emit(syntax.assign(d.id, syntax.call("buffer_of", d)))

    def cut_of(self, index: gast.expr) -> gast.Slice | None:
        """The slice that an index is, as one with bounds; None for another index."""
        if isinstance(index, gast.Slice):
            return index
        known = join_all([self.typer.type_of(index, env) for env in self.envs])
        if not isinstance(known, Tuple) or known.cls is not slice:
            return None
        step = getattr(known.items[2], "value", MISSING)
        if step is MISSING:
            raise self.refuse(
                "items of a list are assigned by a slice with a step that is not known",
                "the slice where it is used: `xs[a:b]`",
            )
        lower, upper = (
            gast.Attribute(syntax.clone(index), bound, syntax.LOAD)
            for bound in ("start", "stop")
        )
        return gast.Slice(lower, upper, None if step is None else syntax.const(step))

    def store_slice(self, base: gast.Name, index: gast.Slice, value: gast.expr) -> None:
        """`xs[a:b] = ys` of a list, which may give it another length."""
        stmt = self.stmt
        adjoint = self.adjoint(base.id)
        removed = self.fresh_temp("removed")
        kept = [syntax.assign(removed, gast.Subscript(base, index, syntax.LOAD))]
        names = [removed]
        item = gast.Subscript(adjoint, index, syntax.LOAD)
        if index.step is None:
            start = self.fresh_temp("start")
            names.append(start)
            kept.insert(0, syntax.assign(start, start_of(base, index)))
            item = syntax.expression(
                "d[s:s + len(v)]", d=adjoint, s=syntax.name(start), v=value
            )
        self.forward[id(stmt)] = [*kept, stmt]
        self.extra_defs.setdefault(id(stmt), []).extend(names)
        if self.active(value):
            self.contribute(value.id, self.typed_like(item, value))
            self.places.drop_ownership(value.id)
        elem = element(self.type_of_name(base.id))
        zero = self.zero(elem, syntax.name("v"))
        zeros = syntax.expression("[z for v in r]", z=zero, r=syntax.name(removed))
        self.emit(syntax.assign(syntax.as_store(item), zeros))

    def typed_like(self, d: gast.expr, value: gast.expr) -> gast.expr:
        """The adjoint of a list, for what a list was made from."""
        t = self.type_of_name(value.id) if isinstance(value, gast.Name) else UNKNOWN
        if isinstance(t, Array):
            return syntax.call("np.array", d)
        return syntax.call("items_like", d, value) if isinstance(t, Unknown) else d

    def fresh_temp(self, base: str) -> str:
        name = self.unit.names.fresh(base)
        self.unit.temps.add(name)
        return name

    def same_memory(self, first: str, second: str) -> bool:
        """Whether the two names have parts of one adjoint buffer."""
        roots = [self.views[n][0] if n in self.views else n for n in (first, second)]
        known = self.shadows.names
        if first in known and second in known:
            one, other = (self.type_of_name(n).buffers for n in (first, second))
            return bool(one & other)
        return roots[0] == roots[1]

    def copied(self, item: gast.expr) -> gast.expr:
        """The value of a part of an adjoint that is about to be overwritten."""
        if is_number(self.type_of(item)):
            return item
        return syntax.expression("v.copy()", v=item)

    def store_attribute(self, target: gast.Attribute, value: gast.expr) -> None:
        """`p.x = value` for an object the program made."""
        base = target.value
        assert isinstance(base, gast.Name)
        known = isinstance(self.type_of_name(base.id), Object)
        if not known and (self.active(base) or self.active(value)):
            raise self.refuse(
                f"`{syntax.text(target)} = ...` changes an object of unknown type",
                "an object that is made in the function",
            )
        if not self.active(base):
            return
        self.reasons = (Reason(said=STORED),)
        if base.id in self.views:
            self.store_attribute_of_item(target, value)
            return
        self.explode(base.id)
        path = (target.attr,)
        places = [p for p in self.places.of(base.id) if p[1][:1] == path]
        if places and self.active(value):
            part = part_of(self.type_of_name(base.id), path)
            self.pass_part(value.id, base.id, path, part)
        for place in places:
            self.places.present.pop(place, None)

    def store_attribute_of_item(self, target: gast.Attribute, value: gast.expr) -> None:
        """`p.x = value` for an object in a list: its adjoint is an object in a list."""
        base = target.value.id
        if not self.has_adjoint(base):
            return
        part = part_of(self.type_of_name(base), (target.attr,))
        known = [
            part_of(v.after[base], (target.attr,))
            for v in self.facts.of(self.stmt)
            if base in v.after
        ]
        if not is_number(part) and not (
            isinstance(part, Array)
            and all(same_shape(shape_of(t), shape_of(part)) for t in known)
        ):
            raise self.refuse(
                f"`{syntax.text(target)}` of an object in a container is assigned, and "
                "its shape is not known to stay",
                "a list of new objects",
            )
        item = gast.Attribute(self.adjoint(base), target.attr, syntax.LOAD)
        d = self.held(syntax.adjoint_name(target.attr), item)
        self.emit(syntax.assign(item, zero_of(part, d)))
        if self.active(value):
            self.contribute(value.id, d)

    def on_AugAssign(self, stmt: gast.AugAssign) -> None:
        """`x += v`, `x[i] *= v` on an array, in place."""
        target = stmt.target
        base = target.value if isinstance(target, gast.Subscript) else target
        if not isinstance(base, gast.Name) or not self.active(base):
            return
        self.check_stored(stmt.value)
        if not self.has_adjoint(base.id):
            return
        if base.id not in self.views:
            self.ensure_buffer(base.id)
        value = stmt.value
        item: gast.expr = self.adjoint(base.id)
        old: gast.expr = syntax.name(base.id + OLD)
        if isinstance(target, gast.Subscript):
            item = gast.Subscript(item, target.slice, syntax.LOAD)
            old = gast.Subscript(old, target.slice, syntax.LOAD)
        for env in self.envs:
            env[base.id + OLD] = env.get(base.id, UNKNOWN)
        active = self.active(value)
        op = stmt.op
        self.reasons = (Reason(lookup(OPERATORS[type(op)]), "adjoint", "b"),)
        if isinstance(op, (gast.Add, gast.Sub)):
            if active:
                d: gast.expr = self.copied(item)
                if isinstance(op, gast.Sub):
                    d = gast.UnaryOp(gast.USub(), item)
                d = syntax.call("unbroadcast", d, value)
                self.contribute(value.id, d)
            return
        if active:
            text = "d * x" if isinstance(op, gast.Mult) else "-d * x / v**2"
            d = syntax.expression(text, d=item, x=old, v=value)
            d = syntax.call("unbroadcast", d, value)
            self.contribute(value.id, d)
        store = item
        named = isinstance(item, gast.Name) and base.id not in self.shadows.names
        if not named and not isinstance(item, gast.Subscript):
            store = gast.Subscript(item, syntax.const(...), syntax.LOAD)
        self.reasons = (Reason(self.reasons[0].op, "adjoint", "a"),)
        self.emit(gast.AugAssign(syntax.as_store(store), op, value))

    def update_at(self, value: gast.Call, callee: Any) -> None:
        """`np.add.at(x, i, v)`: repeated indices count each time."""
        base, index, *rest = value.args
        if not self.active(base) or not self.has_adjoint(base.id):
            return
        name = callee.__self__.__name__
        if name not in ("add", "subtract"):
            raise self.refuse(
                f"`np.{name}.at` on a differentiated array",
                "a loop over the indices, or `np.add.at`",
            )
        self.ensure_buffer(base.id)
        if rest and self.active(rest[0]):
            d: gast.expr = gast.Subscript(self.adjoint(base.id), index, syntax.LOAD)
            d = self.copied(d)
            if name == "subtract":
                d = gast.UnaryOp(gast.USub(), d)
            self.contribute(rest[0].id, syntax.call("unbroadcast", d, rest[0]))

    def writing_call(self, op: Op) -> None:
        """`np.add.at(x, i, v)` and the like: an update of the first argument."""
        raise self.refuse(
            f"`{op.name}` on a differentiated array",
            "an assignment to the array",
        )
