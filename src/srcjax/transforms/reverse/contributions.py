"""Adjoints of names while backward code is written, and what is added to them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Dict,
    List,
    Object,
    OrNone,
    Scalar,
    Tuple,
    Type,
    Unknown,
    are_alike,
    dtype_of,
    has_complex,
    is_active,
    is_none,
    is_number,
    parts,
    present,
    same_dtype,
    shape_of,
    with_active,
)
from srcjax.frontend.unit import Unit
from srcjax.transforms.fresh import is_new_array
from srcjax.transforms.one_step import OneStep
from srcjax.transforms.places import (
    Adjoint,
    Path,
    Place,
    all_keys,
    inactive_zero,
    is_lazy,
    is_static,
    keyed_parts,
    lacks_zero,
    part_of,
    parts_beside,
    read_part,
    spread_over,
    zero_of,
)
from srcjax.transforms.reasons import AGAIN, FILLED, OWN, SPREAD, ZERO, because
from srcjax.transforms.reverse.broadcast import Broadcast
from srcjax.transforms.reverse.kinds import in_kind_of
from srcjax.transforms.reverse.known_values import KnownValues
from srcjax.transforms.reverse.left_out import LeftOut
from srcjax.transforms.reverse.nominal import Nominal
from srcjax.transforms.reverse.shadows import Unfollowed
from srcjax.transforms.reverse.views import (
    find_views,
    index_reads,
    operand_names,
    single_pass_lists,
)
from srcjax.transforms.specialise import Env, TypesAround, environments
from srcjax.transforms.writer import OLD


class Contributions(OneStep):
    """Reads, makes and adds to adjoints; `code` is the group being written."""

    def __init__(
        self, program: Program, unit: Unit, pairs: Any, fault: Unfollowed | None = None
    ) -> None:
        super().__init__(program, unit)
        self.pairs = pairs
        #: Names with contributions of another (or unknown) dtype.
        self.mixed: set[str] = set()
        #: Places whose adjoint was passed on since their value's definition.
        self.consumed: set[tuple[str, Path]] = set()
        #: Adjoint variables of overwritten values, by those of their successors.
        self.earlier_names: dict[str, str] = {}
        #: Whether the backward sweep may run several times after one forward sweep.
        self.runs_again = False
        #: How many branches and loops are around the statement.
        self.depth = 0
        self.left_out = LeftOut(self)
        #: What the adjoint of the result is: 1, as that is one number; or what a user
        #: gives, in any shape that broadcasts.
        self.of_number = self.of_user = False
        #: Names whose adjoint may have a larger shape than the value has.
        self.large: set[str] = set()
        #: Whether the contribution at hand goes to what is a single number, and whether
        #: it has the shape of what it goes to.
        self.to_number = self.in_shape = False
        self.indexed, self.dynamic = index_reads(unit, self.types)
        #: `nested`: containers that hold arrays or lists that are written in place.
        #: `shadows`: arrays whose adjoints are made in the forward sweep.
        self.views, self.nested, self.shadows = find_views(self, fault)
        #: Names asked for a zero of their structure where they may have no value yet.
        self.asked_early: set[str] = set()
        self.dynamic |= self.nested
        #: Forward statements that replace a statement (calls of forward functions).
        self.forward: dict[int, list[gast.stmt]] = {}
        #: Names that a replaced statement binds besides its target, by statement.
        self.extra_defs: dict[int, list[str]] = {}
        #: What forward functions save for their backward functions, by name.
        self.saved: set[str] = set()
        #: Names that are operands of arithmetic, once they are asked for.
        self.operands: set[str] | None = None
        #: Lists of which every item is read once, by one loop over all of them.
        self.single_pass = single_pass_lists(unit, self)

    # -- what a name is ---------------------------------------------------------------

    def kind(self, name: str) -> str:
        """How the adjoint is kept: value, buffer, split, list, dict or view."""
        if name in self.views:
            return "view"
        t = self.type_of_name(name)
        if isinstance(t, OrNone) and isinstance(t.value, Tuple):
            return "split" if is_static(t) and name not in self.dynamic else "value"
        if isinstance(t, (Tuple, List, Dict, Object)):
            # An earlier value is held as the later ones are that its name stands for.
            memory = t.buffers | self.type_of_name(name.removesuffix(OLD)).buffers
            whole = name in self.dynamic or bool(memory & self.written)
            if isinstance(t, Object):
                return "split"
            if is_static(t) and not whole:
                return "split"
            if isinstance(t, Dict):
                return "dict"
            return "list" if isinstance(t, List) or whole else "split"
        if isinstance(t, Array) and t.shape == () and not t.buffers & self.written:
            return "value"
        if isinstance(t, (Array, Unknown)) and (
            t.buffers & self.written or name in self.indexed
        ):
            return "buffer"
        return "value"

    @functools.cached_property
    def broadcast(self) -> Broadcast:
        """Which adjoints have to be summed where, in values of unknown shape."""
        return Broadcast(self)

    @functools.cached_property
    def known_values(self) -> KnownValues:
        """What the function has names for."""
        return KnownValues(self)

    def with_names(self, value: gast.expr) -> gast.expr:
        return self.known_values.named(self.stmt, value)

    @functools.cached_property
    def nominal(self) -> Nominal:
        """The sizes that parts of arrays are meant to have."""
        return Nominal(self)

    def is_open(self, name: str) -> bool:
        """Whether the value may be an array, and nothing is known of its shape."""
        t = self.type_of_name(name)
        return isinstance(t, (Array, Unknown)) and shape_of(t) is None

    def is_large(self, name: str) -> bool:
        """Whether the adjoint may have a larger shape than the value."""
        return name.removesuffix(OLD) in self.large

    def is_given(self, name: str) -> bool:
        """Whether the adjoint is what a user gives: it may be of a smaller shape."""
        result = self.unit.node.body[-1].value
        return self.of_user and syntax.is_name(result, name.removesuffix(OLD))

    # -- adjoints ---------------------------------------------------------------------

    def has_adjoint(self, name: str) -> bool:
        """Whether anything was contributed to the value's adjoint so far."""
        if name in self.shadows.names:
            return True
        if name in self.views:
            return self.has_adjoint(self.views[name][0])
        return bool(self.places.of(name))

    def derivative_name(self, base: str) -> str:
        """The adjoint of `x` is `dx`."""
        return syntax.adjoint_name(base)

    def base(self, name: str) -> str:
        """What the user calls the variable, before an assignment too."""
        name = name.removesuffix(OLD)
        return self.unit.base_names.get(name, name)

    def adjoint(self, name: str, full: bool = True) -> gast.expr:
        """An expression of the value's adjoint, of the value's shape if `full`."""
        if name in self.shadows.names:
            return syntax.name(self.shadows.names[name])
        if name in self.views:
            root, view = self.views[name]
            self.ensure_buffer(root)
            return syntax.substitute(view, {"__root": self.adjoint(root)})
        d = self.adjoint_at(name, (), self.type_of_name(name), full)
        if self.is_large(name):
            return syntax.call("unbroadcast", d, syntax.name(name))
        return d

    def whole_adjoint(
        self, name: str, full: bool = True, reader: Type = UNKNOWN
    ) -> gast.expr:
        """The adjoint as others take it: that of a dict has all keys of the dict.

        While it is a variable of its own, a key that nothing read is not in it, and
        that of a tuple is a list, to which is added. `reader`: the type that it is
        taken for, where the name has tuples and lists in turn.
        """
        d, t = self.adjoint(name, full), self.type_of_name(name)
        if not self.has_adjoint(name):
            return d
        taken_for = reader if isinstance(reader, (Tuple, List)) else t
        if self.kind(name) == "list" and is_tuple(taken_for):
            return syntax.call("tuple", d)
        if not isinstance(t, Dict) or self.kind(name) != "dict":
            return d
        return all_keys(d, t, syntax.name(name), read=False)

    def adjoint_for(self, name: str, reader: Type | None = None) -> gast.expr:
        """The adjoint, for code that takes the value for one of type `reader`.

        What carries none here has a zero where `reader` carries one: anywhere, where
        nobody knows who reads it.
        """
        if name in self.shadows.names or name in self.views or self.is_large(name):
            return self.adjoint(name)
        t = self.type_of_name(name)
        if isinstance(t, Dict) and self.kind(name) == "dict":
            return self.whole_adjoint(name)
        reader = with_active(t, True) if reader is None else reader
        return self.adjoint_at(name, (), t, True, [reader])

    def adjoint_at(
        self, name: str, path: Path, t: Type, full: bool, beside: Sequence[Type] = ()
    ) -> gast.expr:
        self.consumed.add((name, path))
        place = self.places.present.get((name, path))
        if place is not None:
            if place.lazy is not None and full:
                place = self.materialise(name, path, t, place)
            elif place.lazy is not None:
                self.places.read_small.add(place.variable)
            return self.with_zeros(syntax.name(place.variable), name, path, beside)
        prefixes = [path[:k] for k in range(len(path))]
        above = next((p for p in prefixes if (name, p) in self.places.present), None)
        if above is not None:
            whole = self.places.present[(name, above)]
            value: gast.expr = syntax.name(whole.variable)
            inner = part_of(self.type_of_name(name), above)
            for key in path[len(above) :]:
                value = read_part(inner, value, key)
                inner = part_of(inner, (key,))
            return self.with_zeros(value, name, path, beside)
        below = [p for p in self.places.of(name) if p[1][: len(path)] == path]
        if not below:
            return self.zero(t, self.primal(name, path), beside)
        parts = []
        for key, part in keyed_parts(t):
            at, others = (*path, key), parts_beside(t, key, beside)
            parts.append(
                self.adjoint_at(name, at, part, full, others)
                if is_active(part)
                else inactive_zero(part, self.primal(name, at), others)
            )
        return self.rebuild(t, parts)

    def with_zeros(
        self, d: gast.expr, name: str, path: Path, beside: Sequence[Type]
    ) -> gast.expr:
        """An adjoint that is held as a whole, with zeros where `beside` read them."""
        whole = self.type_of_name(name)
        t = part_of(whole, path) if path else whole
        if not beside or not lacks_zero(t, beside):
            return d  # nobody but us, who may write to it
        return syntax.call("add", syntax.call("zeros_like", self.primal(name, path)), d)

    def primal(self, name: str, path: Path) -> gast.expr:
        """An expression of a part of a primal value."""
        value: gast.expr = syntax.name(name)
        t = self.type_of_name(name)
        for key in path:
            value = read_part(t, value, key)
            t = dict(keyed_parts(t))[key]
        return value

    def zero(self, t: Type, like: gast.expr, beside: Sequence[Type] = ()) -> gast.expr:
        """The zero that the adjoint of a value of this type starts from."""
        return zero_of(*self.prototype(t, like), beside)

    def prototype(self, t: Type, value: gast.expr) -> tuple[Type, gast.expr]:
        """What has the shape of a value and is there: an argument if that may be None.

        The value itself where there is no such argument. A None that was given has None
        for an adjoint.
        """
        if not isinstance(t, OrNone) or self.given_none:
            return t, value
        if is_number(t.value):
            return t.value, value
        for name in self.unit.parameters:
            other = self.type_of_name(name)
            if isinstance(t.value, Array) and are_alike(other, t.value):
                return other, syntax.name(name)
        return t, value

    def lacks_prototype(self, t: Type) -> bool:
        """Whether the adjoint of an array that may be None may be None as well."""
        none = syntax.const(None)
        return isinstance(t, OrNone) and self.prototype(t, none) == (t, none)

    @functools.cached_property
    def given_none(self) -> bool:
        """Whether an argument may have None in it."""
        return any(has_none(self.type_of_name(n)) for n in self.unit.parameters)

    def materialise(self, name: str, path: Path, t: Type, place: Adjoint) -> Adjoint:
        """Spread a lazy adjoint over the shape of its value."""
        assert place.lazy is not None
        scalar = shape_of(place.lazy) == ()
        t, like = self.prototype(t, self.primal(name, path))
        value = spread_over(syntax.name(place.variable), like, place.lazy, t)
        spread = syntax.assign(place.variable, value)
        because(spread, SPREAD)
        self.code.append(spread)
        owned = scalar and shape_of(t) is not None
        full = Adjoint(place.variable, None, owned)
        for env in self.envs:  # it has the shape of its value from here on
            whole = env.get(name, UNKNOWN)
            try:
                spread_to = part_of(whole, path) if path else whole
            except KeyError:
                spread_to = UNKNOWN
            alike = are_alike(present(spread_to), t)
            env[place.variable] = present(spread_to) if alike else spread_to
        self.places.present[(name, path)] = full
        return full

    def ensure_buffer(self, name: str) -> None:
        """Make the adjoint of an array or list an object that can be written to."""
        if name in self.shadows.names:
            return
        if name in self.views:
            self.ensure_buffer(self.views[name][0])
            return
        place = self.places.present.get((name, ()))
        t = self.type_of_name(name)
        variable = self.places.variable(name, (), self.base(name))
        own, _ = self.prototype(t, syntax.name(name))
        if place is None:
            if self.places.of(name):
                raise self.refuse(
                    f"`{self.base(name)}` is changed under several names, in one of "
                    "which it is taken apart",
                    "one name for the object",
                )
            zero = syntax.assign(variable, self.initial(name, t))
            zero.initial = OLD not in name  # what `w = w[0]` found is another `w`
            because(zero, FILLED if name in self.single_pass else ZERO)
            self.code.append(zero)
        elif place.lazy is not None:
            self.materialise(name, (), t, place)
            if not self.places.present[(name, ())].owned:
                self.own(variable, own)
        elif not place.owned:
            self.own(variable, own)
        self.places.present[(name, ())] = Adjoint(variable, None, True)

    def adjoint_in_place(self, name: str) -> gast.expr:
        """The adjoint of an array or container, for a function that adds to it."""
        self.ensure_buffer(name)
        return self.adjoint(name)

    def own(self, variable: str, t: Type) -> None:
        d = syntax.name(variable)
        copy = "copied(d)" if isinstance(t, Unknown) else "d.copy()"
        if is_tuple(t):  # as where it starts: what is added to is a list
            copy = "list(d)"
        if isinstance(t, Array) and not t.shape:
            copy = "np.array(d)"  # it may be a number
        copied = syntax.assign(variable, syntax.expression(copy, d=d))
        because(copied, OWN)
        self.code.append(copied)

    def initial(self, name: str, t: Type) -> gast.expr:
        """The zero with which a buffer or list adjoint starts."""
        kind = self.kind(name)
        value = syntax.name(name)
        if kind == "list" and name in self.unit.parted:
            return gast.List([], syntax.LOAD)  # a sweep has taken all that was on it
        if name in self.nested:
            zero = syntax.call("zeros_like", value)
            return syntax.call("list", zero) if is_tuple(t) else zero
        if kind == "list" and isinstance(t, Tuple) and name not in self.single_pass:
            if all(isinstance(p, Scalar) for p in t.items) and not has_complex(t):
                return syntax.expression("[0.0] * len(v)", v=value)
            return syntax.expression("list(zeros_like(v))", v=value)
        if kind == "list" and name in self.single_pass:
            return syntax.expression("[None] * len(v)", v=value)
        if kind == "dict":
            return gast.Dict([], [])
        if kind == "list" and is_tuple(t):
            return syntax.call("list", self.zero(t, value))
        return self.zero(t, value)

    def contribute(self, name: str, value: gast.expr, path: Path = ()) -> None:
        """Add `value` to the adjoint of (a part of) a value."""
        self.left_out.forget(name)
        if name in self.views:
            self.contribute_view(name, value)
            return
        whole = self.type_of_name(name)
        t = part_of(whole, path) if path else whole
        if not is_active(t):
            return
        if self.kind(name) == "split" and is_static(t):
            self.contribute_parts(name, value, path, t)
            return
        if path and self.kind(name) != "split":
            raise self.refuse(
                f"`{self.base(name)}` is taken apart in a way that is not followed",
                "its items one by one, by their number",
            )
        if path:
            self.explode(name)
        value = self.typer.agree(value, self.envs)
        value, have = self.real_of_complex(value, self.type_of(value), t)
        place = self.places.present.get((name, path))
        variable = self.places.variable(name, path, self.base(name))
        value, have = in_kind_of(value, have, t)
        a_complex_number = isinstance(t, Scalar) and has_complex(t)
        if a_complex_number and not same_dtype(dtype_of(have), dtype_of(t)):
            self.mixed.add(name)
        if self.is_wider_number(have, t):
            value = syntax.expression(f"np.{dtype_of(t).name}(v)", v=value)  # type: ignore[union-attr]
            have = t
        if isinstance(t, Array) and t.dtype is not None:
            exact = dtype_of(have)
            unsure = exact is None and t.dtype.char != "d"
            other = exact is not None and exact != t.dtype
            weak = isinstance(have, Scalar) and (have.python or not other)
            if not weak and (unsure or other):
                self.mixed.add(name)
            reads = syntax.names_read(value) if self.mixed else set()
            for place_, held in self.places.variables.items() if reads else ():
                if held in reads and place_[0] in self.mixed:
                    self.mixed.add(name)
        lazy = have if self.may_be_lazy(have, t) else None
        if isinstance(have, Unknown) and self.reads_partial_zero(value):
            lazy = UNKNOWN
            self.places.partial.add(variable)
        if self.to_number:
            lazy = None
        elif lazy is None and is_lazy(have, t):
            value = spread_over(value, self.primal(name, path), have, t)
        elif lazy is None and self.is_lazy_somewhere(value, name, path, t):
            like = self.primal(name, path)
            value = syntax.expression(
                "np.broadcast_to(d, np.shape(x))", d=value, x=like
            )
        if place is None:
            self.emit(syntax.assign(variable, value))
            owned = is_new_array(value) and lazy is None
            if shape_of(t) == () and self.kind(name) == "buffer":
                owned = False  # NumPy gives a number, which is not written in place
            self.places.present[(name, path)] = Adjoint(variable, lazy, owned)
            return
        if place.lazy is not None and lazy is not None and place.lazy != lazy:
            place = self.materialise(name, path, t, place)
        outer, self.reasons = self.reasons, (*self.reasons, AGAIN)
        if self.joins_last(variable, value):
            because(self.code[-1], *self.reasons)
            self.reasons = outer
            return
        old = syntax.name(variable)
        if isinstance(t, (List, Dict, Tuple, Object)) or (
            isinstance(t, Unknown)
            and (
                self.kind(name) in ("list", "dict")
                or self.is_container_here(name)
                or not (path or self.is_calculated_with(name))
                or self.lacks_prototype(t)
            )
        ):
            self.emit(syntax.assign(variable, syntax.call("add", old, value)))
            self.reasons = outer
            self.places.present[(name, path)] = Adjoint(variable, None, True)
            return
        both_lazy = place.lazy if lazy is not None else None
        if self.kind(name) == "buffer" and not path:
            self.ensure_buffer(name)
        place = self.places.present[(name, path)]
        scalar = is_number(t)
        if scalar or (place.owned and place.lazy is None and isinstance(t, Array)):
            target = syntax.name(variable, store=True)
            self.emit(gast.AugAssign(target, gast.Add(), value))
            self.reasons = outer
            return
        total = gast.BinOp(old, gast.Add(), value)
        self.emit(syntax.assign(variable, total))
        self.reasons = outer
        self.places.present[(name, path)] = Adjoint(variable, both_lazy, True)

    def is_wider_number(self, have: Type, t: Type) -> bool:
        """Whether a NumPy scalar may make the adjoint of a float32 number float64."""
        if not isinstance(t, Scalar) or t.python or t.dtype is None:
            return False
        if isinstance(have, Unknown):
            return t.dtype.char in "ef"
        if not isinstance(have, Scalar) or have.python or have.dtype is None:
            return False
        return t.dtype.kind == have.dtype.kind == "f" and t.dtype != have.dtype

    def is_calculated_with(self, name: str) -> bool:
        """Whether a name of unknown type is an operand somewhere: it is no list then.

        Sums of adjoints that are lists would join them.
        """
        if self.operands is None:
            self.operands = operand_names(self.unit)
        return self.unit.base_names.get(name, name) in self.operands or (
            name in self.operands
        )

    def is_container_here(self, name: str) -> bool:
        """Whether a name of several types holds a container at the statement."""
        kinds = (List, Dict, Tuple, Object)
        return any(isinstance(env.get(name), kinds) for env in self.envs)

    def real_of_complex(
        self, value: gast.expr, have: Type, t: Type
    ) -> tuple[gast.expr, Type]:
        """A real factor of a complex product has a real adjoint, as in JAX.

        The value, which has the type `have`, as it goes to one of type `t`.
        """
        wanted, dtype = dtype_of(t), dtype_of(have)
        if wanted is None or wanted.kind == "c":
            return value, have
        may_be = self.program.hides_complex() if dtype is None else dtype.kind == "c"
        if not may_be:
            return value, have
        value = syntax.expression("np.real(v)", v=value)
        return value, self.type_of(value)

    def joins_last(self, variable: str, value: gast.expr) -> bool:
        """`dx = a` just before: make it `dx = a + value`."""
        last = self.code[-1] if self.code else None
        if not isinstance(last, gast.Assign) or not syntax.is_name(
            last.targets[0], variable
        ):
            return False
        if self.in_shape:
            last.value = gast.BinOp(last.value, gast.Add(), value)
            return True
        known = self.type_of(last.value)
        numeric = isinstance(known, (Array, Scalar)) and isinstance(
            self.type_of(value), (Array, Scalar)
        )
        if not numeric or shape_of(known) != shape_of(self.type_of(value)):
            return False
        last.value = gast.BinOp(last.value, gast.Add(), value)
        return True

    def reads_partial_zero(self, value: gast.expr) -> bool:
        """Whether an adjoint that may be a plain zero goes into the value."""
        partial = {
            p.variable for p in self.places.present.values() if p.lazy == UNKNOWN
        }
        return bool(partial & syntax.names_read(value))

    def may_be_lazy(self, have: Type, want: Type) -> bool:
        return len(self.envs) <= 1 and is_lazy(have, want)

    def is_lazy_somewhere(
        self, value: gast.expr, name: str, path: Path, joined: Type
    ) -> bool:
        """Whether the value is smaller than what it goes to in one of the variants.

        Their join may know no shapes, and so does not tell. Nor does that of all that
        the name holds, where this statement is executed with one shape of several.
        """
        if len(self.envs) < 2 and shape_of(joined) is not None:
            return False
        for env in self.envs:
            t = env.get(name, UNKNOWN)
            try:
                want = part_of(t, path) if path else t
            except KeyError:
                continue
            if is_lazy(self.typer.type_of(value, env), want):
                return True
        return False

    def contribute_view(self, name: str, value: gast.expr) -> None:
        target = self.adjoint(name)
        value = self.typer.agree(value, self.envs)
        t = self.type_of_name(name)
        value, _ = self.real_of_complex(value, self.type_of(value), t)
        # `+=` would make a list longer.
        if isinstance(t, (List, Dict, Tuple, Object)):
            total = syntax.call("add", syntax.clone(target), value)
            self.emit(syntax.assign(syntax.as_store(target), total))
            return
        if isinstance(target, gast.Name) and name not in self.shadows.names:
            stmt: gast.stmt = gast.AugAssign(syntax.as_store(target), gast.Add(), value)
        elif isinstance(target, gast.Subscript):
            stmt = gast.AugAssign(syntax.as_store(target), gast.Add(), value)
        else:
            whole = gast.Subscript(target, syntax.const(...), syntax.STORE)
            stmt = gast.AugAssign(whole, gast.Add(), value)
        self.emit(stmt)

    def contribute_parts(
        self, name: str, value: gast.expr, path: Path, t: Type
    ) -> None:
        """A contribution to a whole container, part by part."""
        parts = keyed_parts(t)
        have = self.type_of(value)
        as_array = isinstance(have, Array)  # of a list taken for one
        if isinstance(t, OrNone) and not isinstance(have, Tuple):
            zero = zero_of(t, self.primal(name, path))  # `value` is None where `x` is
            value = gast.BoolOp(gast.Or(), [value, zero])
        if isinstance(value, gast.Call):
            spelled = self.typer.agree(value, self.envs)
            if _is_of_parts(spelled) and len(spelled.elts) == len(parts):
                value = spelled
        if isinstance(value, (gast.Name, gast.Call, gast.Subscript)) and not as_array:
            taken = any(
                p[1][: len(path)] == path or path[: len(p[1])] == p[1]
                for p in self.places.of(name)
            )
            if not self.depth and not taken:
                value = self.typer.agree(value, self.envs)
                variable = self.places.variable(name, path, self.base(name))
                self.emit(syntax.assign(variable, value))
                self.places.present[(name, path)] = Adjoint(variable)
                return
        self.explode(name)
        displayed = getattr(value, "elts", None)
        if displayed is None and isinstance(value, gast.Dict):
            displayed = value.values
        in_list = isinstance(value, gast.Subscript)
        if displayed is None and not isinstance(value, gast.Name):
            active = sum(is_active(part) for _, part in parts)
            if active > 1:
                value = self.held(syntax.adjoint_name(self.base(name)), value)
        for position, (key, part) in enumerate(parts):
            if not is_active(part):
                continue
            if displayed is not None and len(displayed) == len(parts):
                item = displayed[position]
            else:
                like = self.primal(name, (*path, key))
                item = _read_adjoint(t, value, key, in_list, zero_of(part, like))
            self.contribute(name, item, (*path, key))

    def explode(self, name: str) -> None:
        """Take the adjoint of a container that is held as a whole into its parts."""
        if self.kind(name) != "split" or not is_static(self.type_of_name(name)):
            return
        for place in self.places.of(name):
            if is_static(part_of(self.type_of_name(name), place[1])):
                self.explode_place(name, place[1])

    def explode_place(self, name: str, start: Path) -> None:
        """Take one whole adjoint into its parts."""
        whole = self.places.present.pop((name, start))
        t = part_of(self.type_of_name(name), start)

        def visit(value: gast.expr, path: Path, t: Type, in_list: bool) -> None:
            for key, part in keyed_parts(t):
                if not is_active(part):
                    continue
                zero = zero_of(part, self.primal(name, (*path, key)))
                inner = _read_adjoint(t, value, key, in_list, zero)
                if is_static(part):
                    visit(inner, (*path, key), part, in_list or isinstance(t, List))
                    continue
                variable = self.places.variable(name, (*path, key), self.base(name))
                self.emit(syntax.assign(variable, inner))
                self.places.present[(name, (*path, key))] = Adjoint(variable)

        visit(syntax.name(whole.variable), start, t, False)

    def environments(
        self, stmt: gast.stmt, earlier: dict[str, str] | None = None
    ) -> list[Env]:
        """Types of primal and adjoint names around the statement, per variant.

        `earlier` gives names to what targets of the statement held before it: variants
        that differ in that alone (a number that becomes an array) then stay apart.
        """
        variants = self.facts.of(stmt)
        found = environments(stmt, variants)
        for env, variant in zip(found, variants, strict=True):
            for name, old in (earlier or {}).items():
                env[old] = variant.before.get(name, self.type_of_name(name))
        adjoints = {a.variable: (p, a.lazy) for p, a in self.places.present.items()}
        clean: list[Env] = []
        for k, env in enumerate(found or [{}]):
            # Adjoints are those of what the statement leaves: items of another kind.
            after = {**env, **variants[k].after} if variants else env
            around = self.types_around(env, adjoints, after)
            if around not in clean:
                clean.append(around)
        return clean

    def types_around(
        self,
        env: Env,
        adjoints: dict[str, tuple[Place, Type | None]],
        after: Env,
    ) -> Env:
        """The types of `env` and of the adjoints, without what tells of derivatives.

        The adjoints are those of the values in `after`.
        """

        def others(name: str) -> Type | None:
            if name in adjoints:
                place, lazy = adjoints[name]
                if lazy is not None:
                    return lazy
                held = after if place[0] in after else around
                return self.plain_type(self.type_of_adjoint(place, held))
            t = self.types.get(name)
            return None if t is None else self.plain_type(t)

        own = {n: self.plain_type(t) for n, t in env.items() if n not in adjoints}
        around = TypesAround(own, others)
        return around

    def type_of_adjoint(self, place: Place, env: Env) -> Type:
        """The type that the adjoint of a place has where `env` holds."""
        name, path = place
        t = env.get(name, UNKNOWN)
        joined = self.types.get(name, t)
        if dtype_of(joined) is None and self.program.may_be_complex():
            t = self.plain_type(joined)  # complex elsewhere
        try:
            return part_of(t, path) if path else t
        except KeyError:
            return UNKNOWN


def has_none(t: Type) -> bool:
    """Whether a part of the value is None, or may be."""
    inner = parts(t)
    return any(is_none(p) or type(p) in (OrNone, Unknown) for p in inner) or any(
        map(has_none, inner)
    )


def _is_of_parts(value: gast.expr) -> bool:
    """Whether it is a display of parts of an array with a name: `[d[:n], d[n:]]`."""
    return isinstance(value, gast.List) and all(
        (isinstance(e, gast.Subscript) and syntax.is_name(e.value)) or _is_of_parts(e)
        for e in value.elts
    )


def is_tuple(t: Type) -> bool:
    """Whether the value certainly is a tuple, of a length that is known or not."""
    return isinstance(t, Tuple) or (isinstance(t, List) and t.cls is tuple)


def _read_adjoint(
    t: Type, whole: gast.expr, key: Any, in_list: bool, zero: gast.expr
) -> gast.expr:
    """A part of the adjoint of a container.

    What was written to a dict in a list took its item out of the adjoint, for good.
    """
    if in_list and isinstance(t, Dict):
        at = syntax.const(key)
        return syntax.expression("d.get(k, z)", d=whole, k=at, z=zero)
    return read_part(t, whole, key)
