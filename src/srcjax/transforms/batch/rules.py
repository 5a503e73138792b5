"""One statement of the core form on batches."""

from __future__ import annotations

import types as pytypes
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Closure,
    Const,
    Dict,
    List,
    Object,
    Scalar,
    Tuple,
    Type,
    Unknown,
    is_active,
    parts,
    shape_of,
)
from srcjax.ops.batching import lift
from srcjax.ops.record import Op
from srcjax.transforms.batch.operations import Operations
from srcjax.transforms.call_effects import called
from srcjax.transforms.places import keyed_parts
from srcjax.transforms.reasons import Reason, because

#: What explained text says of statements on batches.
ALIKE = Reason(slot="batch", said="all examples at once, by the same code")
MOVED = Reason(slot="batch", said="for all examples: axis 0 counts them")

_CONTAINERS = (Tuple, List, Dict, Object)

#: Functions that inference knows to write to their first argument.
_WRITERS = ("at", "copyto", "fill_diagonal")


class Rules(Operations):
    """Writes statements on batches."""

    def statement(self, stmt: gast.stmt) -> list[gast.stmt]:
        """The statements that do the same for every example."""
        self.stmt = stmt
        handler = getattr(self, f"on_{type(stmt).__name__}", None)
        if handler is None:
            return [self.kept(stmt)]
        out: list[gast.stmt] = handler(stmt)
        for made in out:
            if made is not stmt:
                made.user_line = getattr(stmt, "user_line", None)
            because(made, ALIKE if syntax.equal(made, stmt) else MOVED)
        return out

    def kept(self, stmt: gast.stmt) -> gast.stmt:
        new: gast.stmt = self.shapes(stmt)
        return new

    # -- assignments -------------------------------------------------------------------

    def on_Assign(self, stmt: gast.Assign) -> list[gast.stmt]:
        target = stmt.targets[0]
        if len(stmt.targets) > 1:
            # Only what is the same for all examples is written like that.
            return [self.kept(stmt)]
        if isinstance(target, gast.Name):
            return self.define(stmt, target.id)
        if isinstance(target, (gast.Tuple, gast.List)):
            return self.unpack(stmt, target)
        if isinstance(target, (gast.Subscript, gast.Attribute)):
            return self.store(stmt, target)
        return [self.kept(stmt)]

    def define(self, stmt: gast.Assign, name: str) -> list[gast.stmt]:
        have = self.value_type(stmt, name)
        value = self.batched(stmt.value, have)
        whole = self.as_batch(value, stmt.value, have, name)
        if (
            isinstance(value, gast.Call)
            and sum(n is value for n in syntax.walk(whole)) > 1
        ):
            # Its parts are looked at one by one: it is called once.
            parts = self.as_batch(syntax.name(name), stmt.value, have, name)
            return [syntax.assign(name, value), syntax.assign(name, parts)]
        return [syntax.assign(name, whole)]

    def value_type(self, stmt: gast.stmt, name: str) -> Type:
        """What the statement gives the name, for one example."""
        found = self.facts.type_after(stmt, name)
        return self.examples.get(name, UNKNOWN) if found is None else found

    def as_batch(
        self, value: gast.expr, original: gast.expr, have: Type, name: str
    ) -> gast.expr:
        """The value of a mapped name as a batch, in the dtype the name has later."""
        want = self.examples.get(name, UNKNOWN)
        if not is_active(want):
            return value
        dtype = self.dtypes.get(name)
        if isinstance(original, gast.Constant):
            have = Const(value=original.value)
        shown = isinstance(original, (gast.Tuple, gast.List, gast.Dict))
        if shown or isinstance(original, gast.Name):
            have = self.example(original)
        elif not isinstance(have, _CONTAINERS):
            mapped = self.differs(original)
            from srcjax.analysis.types import with_active

            have = with_active(have, mapped) if have != UNKNOWN else have
            if not mapped and isinstance(have, Unknown):
                have = Unknown()
        elif not self.differs(original):
            from srcjax.analysis.types import with_active

            have = with_active(have, False)
        elif self.makes_container(original):
            raw = self.typer.type_of(original, self.examples)
            have = raw if type(raw) is type(have) else have
        spread: gast.expr = self.spread(value, have, want, dtype)
        return spread

    def makes_container(self, value: gast.expr) -> bool:
        """Whether the parts of a new container are those of its operands."""
        if isinstance(value, gast.Call):
            found = self.facts.callees.get(id(value), [])
            made = len(found) == 1 and isinstance(found[0], type)
            return made or called(value) in ("list", "tuple", "dict")
        return isinstance(value, (gast.BinOp, gast.Subscript))

    def unpack(self, stmt: gast.Assign, target: Any) -> list[gast.stmt]:
        """`a, b = value`."""
        if not self.reads_mapped(stmt.value) and not any(
            self.mapped(syntax.name(n)) for n in syntax.all_names(target)
        ):
            return [self.kept(stmt)]
        value = self.batched(stmt.value, UNKNOWN)
        if isinstance(stmt.value, gast.Name) and self.is_batch(stmt.value):
            first = "x.T" if self.rank(stmt.value) == 1 else "np.moveaxis(x, 1, 0)"
            if isinstance(self.example(stmt.value), Unknown):  # it may be a tuple
                first = "items_of_each(x)"
            value = syntax.expression(first, x=value)
        out: list[gast.stmt] = [
            gast.Assign([syntax.clone(target)], value, None),
        ]
        have = self.example(stmt.value)
        items = parts(have) if isinstance(have, (Tuple, List)) else ()
        for position, element in enumerate(target.elts):
            rest = isinstance(element, gast.Starred)
            name = element.value if rest else element
            want = self.examples.get(name.id, UNKNOWN)
            if not is_active(want) or (rest and self.mapped(stmt.value)):
                continue
            if rest:
                raise self.refuse(
                    f"`*{name.id}` of a value that is the same for all examples",
                    "a slice: `rest = values[1:]`",
                )
            if len(items) == len(target.elts):
                t = items[position]
            else:
                t = want if self.mapped(stmt.value) else UNKNOWN
            spread = self.spread(
                syntax.name(element.id), t, want, self.dtypes.get(element.id)
            )
            if not syntax.is_name(spread, element.id):
                out.append(syntax.assign(element.id, spread))
        return out

    # -- in place ----------------------------------------------------------------------

    def store(self, stmt: gast.Assign, target: Any) -> list[gast.stmt]:
        """`base[index] = value`, `base.attribute = value`."""
        base = target.value
        t = self.example(base)
        if isinstance(target, gast.Attribute) or isinstance(t, _CONTAINERS):
            return self.store_part(stmt, target, t)
        if not self.mapped(base):
            return [self.kept(stmt)]
        place = self.item(base, target.slice, place=True)
        value = self.fitted(stmt.value, place, target)
        return [syntax.assign(syntax.as_store(place), value)]

    def store_part(self, stmt: gast.Assign, target: Any, t: Type) -> list[gast.stmt]:
        """A part of a container or object."""
        index = getattr(target, "slice", None)
        if index is not None and self.index_mapped(index):
            raise self.refuse("a store in a container at a mapped index", "an array")
        new: Any = syntax.clone(target)
        if index is not None:
            new.slice = self.shapes(index)
        value = self.shapes(stmt.value)
        elem = self.part_at(t, index)
        if isinstance(index, gast.Slice) and elem is not None:
            elem = List(elem=elem)
        if isinstance(target, gast.Attribute):
            elem = dict(getattr(t, "items", ()) or ()).get(target.attr)
        if elem is not None:
            value = self.spread(value, self.example(stmt.value), elem, None)
        return [syntax.assign(new, value)]

    def part_at(self, t: Type, index: Any) -> Type | None:
        """What a container holds at an index for one example.

        That of its parts at a key that is known. A part that differs between examples,
        where it may be any of them; None if there is none.
        """
        known = self.typer.type_of(index, self.examples) if index is not None else None
        if isinstance(known, Const):
            for key, part in keyed_parts(t):
                backwards = isinstance(t, List) and known.value == key - len(parts(t))
                if key == known.value or backwards:
                    return part
        return next((p for p in parts(t) if is_active(p)), None)

    def fitted(self, value: gast.expr, place: gast.expr, target: Any) -> gast.expr:
        """The value of a store with its examples aligned to the place."""
        if not syntax.is_atom(value) and self.reads_mapped(value):
            raise self.refuse(
                f"a store of `{syntax.text(value)}`, which has no name", "a name for it"
            )
        if not self.mapped(value):
            kept: gast.expr = self.shapes(value)
            return kept
        rank = self.place_rank(target)
        if getattr(place, "per_example_mask", False):
            if self.rank(value) == 0:
                lifted = lift(value, self.example(value), rank_of_mask(self, target))
                spread = syntax.expression(
                    "np.broadcast_to(v, np.shape(m))[m]", v=lifted, m=place.slice
                )
                return spread
            raise self.refuse("a store of mapped items through a mask", "`np.where`")
        if rank is None:
            raise self.refuse("a store in a place of unknown rank", "known types")
        lifted = lift(value, self.example(value), rank)
        if lifted is None:
            raise self.refuse("a store of a value of unknown rank", "known types")
        return lifted

    def place_rank(self, target: Any) -> int | None:
        """The rank of `x[index]` for one example."""
        if isinstance(target, gast.Name):
            return self.rank(target)
        part = self.typer.type_of(syntax.as_load(syntax.clone(target)), self.examples)
        shape = shape_of(part)
        return None if shape is None else len(shape)

    def on_AugAssign(self, stmt: gast.AugAssign) -> list[gast.stmt]:
        """`x += v`, `x[i] *= v`."""
        target = stmt.target
        base = target if isinstance(target, gast.Name) else target.value
        t = self.example(base)
        if isinstance(t, _CONTAINERS):
            new = self.shapes(stmt.value)
            want: Type | None = t
            if isinstance(target, gast.Subscript):
                want = self.part_at(t, target.slice)
            added = self.spread(new, self.example(stmt.value), want or t, None)
            return [gast.AugAssign(self.shapes(target), stmt.op, added)]
        if not self.mapped(base):
            return [self.kept(stmt)]
        if isinstance(stmt.op, gast.MatMult):
            raise self.refuse("`@=` on a mapped array", "`x[...] = x @ y`")
        place: Any = syntax.clone(target)
        if isinstance(target, gast.Subscript):
            place = self.item(base, target.slice, place=True)
            if getattr(place, "per_example_mask", False):
                value: gast.expr = self.shapes(stmt.value)
                if self.mapped(stmt.value):
                    raise self.refuse(
                        "an update of mapped items through a mask", "`np.where`"
                    )
                return [gast.AugAssign(syntax.as_store(place), stmt.op, value)]
        value = self.fitted(stmt.value, place, target)
        return [gast.AugAssign(syntax.as_store(place), stmt.op, value)]

    # -- effects -----------------------------------------------------------------------

    def on_Expr(self, stmt: gast.Expr) -> list[gast.stmt]:
        value = stmt.value
        if not isinstance(value, gast.Call):
            return [self.kept(stmt)]
        if isinstance(value.func, gast.Attribute) and value.func.attr == "fill":
            whole = gast.Subscript(value.func.value, syntax.const(...), syntax.STORE)
            return self.store(syntax.assign(whole, value.args[0]), whole)
        found = self.facts.callees.get(id(value), [])
        callee = found[0] if len(found) == 1 else None
        if getattr(callee, "__name__", "") == "at" and self.mapped(value.args[0]):
            return self.update_at(value)
        if not self.reads_mapped(value):
            return [self.kept(stmt)]
        if callee is print:
            raise self.refuse("`print` of a mapped value", "`print` outside of vmap")
        followed = (Op, str, pytypes.FunctionType, pytypes.MethodType, Closure)
        if (
            not isinstance(callee, followed)
            and getattr(callee, "__name__", "") not in _WRITERS
        ):
            shown = syntax.text(value.func)
            raise self.refuse(f"what `{shown}` changes is not known", "`x[...] = v`")
        return [gast.Expr(self.batched(value, UNKNOWN))]

    def update_at(self, value: gast.Call) -> list[gast.stmt]:
        """`np.add.at(x, i, v)`."""
        base, index, *rest = value.args
        place: Any = self.item(base, index, place=True)
        target = gast.Subscript(base, index, syntax.LOAD)
        args = [self.fitted(v, place, target) for v in rest]
        key = place.slice
        if any(isinstance(n, gast.Slice) for n in syntax.walk(key)):
            key = gast.Subscript(syntax.expression("np.s_"), key, syntax.LOAD)
        return [gast.Expr(gast.Call(value.func, [place.value, key, *args], []))]

    def on_Assert(self, stmt: gast.Assert) -> list[gast.stmt]:
        test = self.condition(stmt.test)
        if test is None:
            return [self.kept(stmt)]
        return [gast.Assert(syntax.call("np.all", test), stmt.msg)]

    def condition(self, test: gast.expr) -> gast.expr | None:
        """A test on the batch; None if it is the same for all examples."""
        t = self.example(test)
        if not self.reads_mapped(test) or isinstance(t, (List, Tuple, Dict)):
            return None
        value = self.batched(test, UNKNOWN)
        value = self.of_one_item(value, shape_of(t))
        if isinstance(t, (Array, Scalar)) and (t.dtype is None or t.dtype.kind != "b"):
            return syntax.expression("c != 0", c=value)  # a mask, and no index
        if isinstance(t, Unknown) and not isinstance(test, gast.Compare):
            of_one = isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not)
            return value if of_one else syntax.call("true_for", value, self.count())
        return value

    def of_one_item(self, value: gast.expr, shape: Any) -> gast.expr:
        """A mask for all examples of tests that are arrays of one item."""
        if not shape:
            return value
        if all(d == 1 for d in shape):
            return syntax.expression(f"v[:{', 0' * len(shape)}]", v=value)
        return syntax.expression("v.reshape(n)", v=value, n=self.count())

    def on_Delete(self, stmt: gast.Delete) -> list[gast.stmt]:
        for target in stmt.targets:
            if isinstance(target, gast.Subscript) and self.index_mapped(target.slice):
                raise self.refuse("`del` at a mapped index", "an array")
        return [self.kept(stmt)]


def rank_of_mask(rules: Rules, target: Any) -> int:
    """The rank of the mask in `x[mask]`."""
    return rules.rank(target.slice) or 0


__all__ = ["Rules"]
