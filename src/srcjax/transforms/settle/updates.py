"""`x op= v` and swaps, in place where arrays are written and else by values."""

from __future__ import annotations

import ast
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.containers import load_item
from srcjax.analysis.flow.bindings import swap_pairs
from srcjax.analysis.known_values import in_place_method
from srcjax.analysis.swaps import trade_contents
from srcjax.analysis.types import (
    NONE,
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
    Object,
    Tuple,
    Type,
    Unknown,
    Varies,
    ageless_buffers,
    dtype_of,
    is_active,
    is_number,
    parts,
    varies,
)
from srcjax.errors import UnsupportedError, error_at
from srcjax.transforms.rebinding import check_of, number_check_of, refusal
from srcjax.transforms.settle.base import SettlingBase


class UpdateSettling(SettlingBase):
    """Rewrites augmented assignments and swaps."""

    def on_AugAssign(self, stmt: gast.AugAssign) -> list[gast.stmt]:
        target = stmt.target
        if isinstance(target, gast.Name):
            old = self.type_before(stmt, target.id)
            if isinstance(old, Array):
                untold = old.dtype is None and old.shape is None  # `xs.copy()`, say
                if untold and self.waits_for(None):
                    return [stmt]
                return [*self.number_check(stmt, old), *self.in_place(stmt)]
            if id(target) in self.facts.lists:  # `a *= x` of a list is a new array
                self.changed = True
                value = gast.BinOp(syntax.name(target.id), stmt.op, stmt.value)
                return [syntax.assign(target, gast.copy_location(value, stmt))]
            if isinstance(old, List) and old.cls is list:
                if not isinstance(stmt.op, gast.Add):
                    return self.repeated(stmt)
                self.changed = True
                call = syntax.expression(
                    "xs.extend(v)", xs=syntax.name(target.id), v=stmt.value
                )
                return [gast.Expr(call)]
            if old is None and not self.facts.of(stmt):
                return [stmt]
            method = in_place_method(stmt.op, old)
            if isinstance(old, Dict) and isinstance(stmt.op, gast.BitOr):
                self.changed = True
                held = syntax.name(target.id)
                return [
                    gast.Expr(syntax.expression("d.update(v)", d=held, v=stmt.value))
                ]
            if method is not None:
                self.changed = True
                called = gast.Attribute(
                    syntax.name(target.id), method.__name__, syntax.LOAD
                )
                call = gast.Call(called, [stmt.value], [])
                return [syntax.assign(target, gast.copy_location(call, stmt))]
            if self.waits_for(old):
                return [stmt]
            if isinstance(old, Unknown) and varies() is Varies.RUN_TIME:
                return [stmt]  # it may be an array, or a number
            self.changed = True
            function = id(self.unit.source.func)
            alone = function == self.program.entry and function not in self.recursive
            check = check_of(self.program, self.unit, stmt, old, alone)
            value = gast.BinOp(syntax.name(target.id), stmt.op, stmt.value)
            new = syntax.assign(target, value)
            new.augments = old is not None and is_number(
                old
            )  # the text says `x op= v` again
            return [*check, new]
        base = target.value
        held = self.type_before(stmt, base.id) if isinstance(base, gast.Name) else None
        if isinstance(held, Array):
            return self.in_place(stmt)
        item = self.item_type(stmt, target) if self.patient else None
        if not self.facts.of(stmt) or self.waits_for(held) or self.waits_for(item):
            return [stmt]
        return self.by_parts(stmt)

    def repeated(self, stmt: Any) -> list[gast.stmt]:
        """`xs *= 3` as `xs.extend(xs * 2)`; other numbers are refused."""
        number = stmt.value
        if isinstance(number, gast.Name):
            number = self.type_before(stmt, number.id)
        times = getattr(number, "value", None)
        if type(stmt.op) is not gast.Mult or not isinstance(times, int) or times < 1:
            raise error_at(
                UnsupportedError,
                self.unit.source,
                stmt,
                "a list of differentiated values is repeated in place",
                f"a new list: `{stmt.target.id} = {stmt.target.id} * n`",
            )
        self.changed = True
        if times == 1:
            return [gast.Pass()]
        xs, more = syntax.name(stmt.target.id), self.fresh("more")
        value = syntax.expression(f"xs * {times - 1}", xs=xs)
        call = syntax.expression("xs.extend(v)", xs=xs, v=syntax.name(more))
        return [
            syntax.assign(more, gast.copy_location(value, stmt)),
            gast.Expr(gast.copy_location(call, stmt)),
        ]

    def waits_for(self, held: Type | None) -> bool:
        """Whether what is updated may be known once more calls are inlined."""
        waits = self.patient and (held is None or isinstance(held, Unknown))
        self.waiting |= waits
        return waits

    def puts_back(self, stmt: gast.Assign) -> bool:
        """Whether `obj.name = old` is the end of `obj.name op= v`, done in place."""
        target, value = stmt.targets[0], stmt.value
        if not isinstance(target, gast.Attribute) or not isinstance(value, gast.Name):
            return False
        if value.id not in self.unit.temps or not isinstance(target.value, gast.Name):
            return False
        own = syntax.assign(value.id, syntax.as_load(target))
        made = [
            s
            for s in syntax.walk(self.unit.node.body)
            if isinstance(s, gast.Assign) and value.id in syntax.names_written(s)
        ]
        if len(made) != 1 or not syntax.equal(made[0], own):
            return False
        old = self.type_before(stmt, value.id)
        owner = self.type_before(stmt, target.value.id)
        if not isinstance(old, (Array, List)) or not isinstance(owner, Object):
            return False
        held = dict(owner.items).get(target.attr)
        if held is None or getattr(old, "shape", None) == ():
            return False
        same = len(old.buffers) == 1 == len(held.buffers | old.buffers)
        return same or self.stays_put(made[0], stmt, owner)

    def stays_put(self, made: gast.stmt, stmt: gast.stmt, owner: Type) -> bool:
        """Whether nothing is put into the attributes of the owner in between."""
        for block in syntax.blocks(self.unit.node.body):
            places = [k for k, s in enumerate(block) if s is made or s is stmt]
            if len(places) == 2:
                between = block[places[0] + 1 : places[1]]
                written = self.facts.written_by(syntax.walk(between))
                return bool(owner.buffers) and not written & owner.buffers
        return False

    def number_check(self, stmt: gast.AugAssign, old: Array) -> list[gast.stmt]:
        """The check that it is an array, once."""
        if getattr(stmt, "checked", False) or varies() is not Varies.DERIVATIVES:
            return []
        function = id(self.unit.source.func)
        alone = function == self.program.entry and function not in self.recursive
        check = number_check_of(self.program, self.unit, stmt, old, alone)
        stmt.checked = bool(check)
        self.changed |= bool(check)
        return check

    def in_place(self, stmt: gast.AugAssign) -> list[gast.stmt]:
        """An update of an array: `+ - * /` have rules of their own."""
        if self.repeats(stmt) or self.cuts_off(stmt):
            return self.by_parts(stmt)
        if isinstance(stmt.op, (gast.Add, gast.Sub, gast.Mult, gast.Div)):
            value = stmt.value
            if isinstance(value, gast.Name) and not isinstance(
                stmt.op, (gast.Add, gast.Sub)
            ):
                base = syntax.root_of(stmt.target)
                types = [v.before for v in self.facts.of(stmt)]
                shared = any(
                    t[value.id].buffers & t[base].buffers
                    for t in types
                    if value.id in t and base in t
                )
                if shared:
                    return self.by_parts(stmt)
            return [stmt]
        return self.by_parts(stmt)

    def cuts_off(self, stmt: gast.AugAssign) -> bool:
        """Whether one item of an array is updated by what its dtype does not hold.

        NumPy stores `n[i] + 0.5` in ints, for that is no update of an array.
        """
        target = stmt.target
        if not isinstance(target, gast.Subscript):
            return False
        held, new = (self.atom_type(stmt, n) for n in (target.value, stmt.value))
        index = self.atom_type(stmt, target.slice) or UNKNOWN
        if isinstance(target.slice, gast.Constant):
            index = Const(value=target.slice.value)
        if not isinstance(held, Array) or new is None or len(held.shape or ()) != 1:
            return False
        return is_number(index) and is_number(new) and not castable(new, held)

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
        new = self.fresh("value")
        if isinstance(target, gast.Name):
            value = gast.BinOp(syntax.name(target.id), stmt.op, stmt.value)
            whole = gast.Subscript(syntax.name(target.id), syntax.const(...), None)
            stored = stored_in_place(whole, new)
            stored.product = isinstance(stmt.op, gast.MatMult)
            return [syntax.assign(new, value), stored]
        old = self.fresh("item")
        value = gast.BinOp(syntax.name(old), stmt.op, stmt.value)
        in_place = self.item_is_array(stmt, target)
        if in_place is not False:
            update = gast.AugAssign(syntax.name(old, store=True), stmt.op, stmt.value)
            first = syntax.assign(old, syntax.as_load(target))
            if in_place:
                return [first, update]
            back = syntax.assign(syntax.clone(target), syntax.name(old))
            return [first, update, back]
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
            stored_in_place(syntax.clone(target), new),
        ]

    def check_dtype(self, stmt: gast.Assign) -> None:
        """Refuse what NumPy refuses: floats that an update puts into an array of ints.

        Raises:
            UnsupportedError: an update in place that is an error of NumPy's.
        """
        (target,) = stmt.targets
        if not isinstance(target, gast.Subscript):
            return  # an item of a list that has a name of its own by now
        new = self.atom_type(stmt, stmt.value)
        held = self.atom_type(stmt, target.value)
        if getattr(stmt, "product", False) and new is not None and is_number(new):
            raise error_at(
                UnsupportedError,
                self.unit.source,
                stmt,
                "NumPy puts no number into an array as a product in place",
                "a new name, `y = x @ w`",
            )
        if not isinstance(new, Array) or not isinstance(held, Array):
            return
        if castable(new, held):
            return
        raise error_at(
            UnsupportedError,
            self.unit.source,
            stmt,
            f"NumPy puts no {new.dtype} into an array of {held.dtype} in place",
            "a new array, as `x = x / 2` makes one, or `x[...] = x / 2` to cut it off",
        )

    def item_is_array(self, stmt: gast.AugAssign, target: Any) -> bool | None:
        """Whether an item of a list or dict is an array, which is updated in place.

        None where it may be an array, or a number.
        """
        held = self.atom_type(stmt, target.value)
        kinds = (Array, Unknown) if varies() is Varies.RUN_TIME else Array
        if not any(isinstance(t, kinds) for t in parts(held or UNKNOWN)):
            return False
        item = self.item_type(stmt, target)
        if isinstance(item, Unknown):
            return None
        return isinstance(item, Array)

    def item_type(self, stmt: gast.AugAssign, target: Any) -> Type | None:
        """The type of the item of a list, dict or tuple that is updated."""
        held = self.atom_type(stmt, target.value)
        if not isinstance(held, (List, Dict, Tuple)):
            return held
        key = self.atom_type(stmt, target.slice) or UNKNOWN
        if isinstance(target.slice, (gast.Constant, gast.UnaryOp)):
            key = Const(value=ast.literal_eval(syntax.text(target.slice)))
        return load_item(held, key)

    def swap(self, stmt: gast.Assign, pairs: list[tuple[str, str]]) -> list[gast.stmt]:
        """`a, b = b, a` stays for arrays that are written in place; else by parts."""
        swaps = {id(s) for s in syntax.walk(self.unit.node.body) if swap_pairs(s)}
        written = ageless_buffers(
            NONE.union(*(b for key, b in self.facts.writes.items() if key not in swaps))
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
                held = self.fresh(f"old_{value}")
                before.append(syntax.assign(held, syntax.name(value)))
            if held != target:
                after.append(syntax.assign(target, syntax.name(held)))
        return [*before, *after]


def castable(new: Type, held: Type) -> bool:
    """Whether NumPy casts values in place to the dtype of an array, as far as known."""
    dtype, own = dtype_of(new), dtype_of(held)
    if dtype is None or own is None:
        return True
    return bool(np.can_cast(dtype, own, casting="same_kind"))


def stored_in_place(target: gast.expr, value: str) -> gast.stmt:
    """`x[i] = value` where that is an update of `x[i]`, which casts less."""
    found: gast.stmt = syntax.assign(target, syntax.name(value))
    found.same_kind = True
    return found
