"""Names and types of a unit while its batched form is written.

A mapped name holds a batch: all its examples along the first axis. A container of
mapped values is the same container of batches.
"""

from __future__ import annotations

import functools
from dataclasses import is_dataclass, replace
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.repeats import made_in_loops, repeats
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
    dtype_of,
    is_active,
    is_number,
    join_all,
    map_parts,
    parts,
    shape_of,
)
from srcjax.frontend.unit import Unit
from srcjax.ops.batch_operands import displays_of
from srcjax.transforms.batch.dtypes import (
    Held,
    in_dtypes,
    promoted_dtypes,
    what_names_are_given,
)
from srcjax.transforms.batch.effects import Felt
from srcjax.transforms.call_effects import called
from srcjax.transforms.places import keyed_parts, read_part
from srcjax.transforms.writer import Writer


def is_starred(value: Any) -> bool:
    """Whether the value is a display such as `[a, *xs]`."""
    return isinstance(value, (gast.Tuple, gast.List)) and any(
        isinstance(e, gast.Starred) for e in value.elts
    )


def is_literal(key: Any) -> bool:
    return isinstance(key, gast.Constant)


class Lanes(Writer):
    """What the names of one unit hold; `size` is the number of examples."""

    def __init__(self, program: Program, unit: Unit, callees: Any) -> None:
        super().__init__(program, unit)
        self.callees = callees
        #: What is written anywhere: what a function gives may be what it is given, and
        #: be changed by its callers.
        self.written = program.facts.written()
        #: Types of the names for one example.
        self.examples = self.types
        #: What each statement gives the names of numbers and arrays, for one example.
        self.values_given = what_names_are_given(program, unit)
        found = promoted_dtypes(self.values_given, unit, self.typer)
        #: Those of numbers and arrays in a batch, where they are known.
        self.dtypes: dict[str, Any] = {
            n: held.dtype for n, held in found.items() if isinstance(held, Held)
        }
        for n, t in self.examples.items():
            if is_active(t):
                self.examples[n] = in_dtypes(t, found.get(n))
        self.size = unit.names.fresh("batch_size")
        unit.temps.add(self.size)
        shown = displays_of(unit.node, unit.temps)
        #: Lists and tuples behind names, by name.
        self.displays = {
            n: value
            for n, value in shown.items()
            if not self.examples.get(n, UNKNOWN).buffers & self.written
        }
        self.felt = Felt(program, unit, self.example)
        #: Types of the batches, for the passes that simplify.
        self.types = {n: batch_type(t) for n, t in self.examples.items()}
        self.types[self.size] = Scalar(dtype=np.dtype(int), python=True)

    @functools.cached_property
    def example_displays(self) -> dict[str, gast.expr]:
        """Lists and tuples behind names, with the shapes of examples in them."""
        raise NotImplementedError  # `Operations` reads shapes

    # -- examples ----------------------------------------------------------------------

    def example(self, node: Any) -> Type:
        """The type of an atom or display for one example."""
        if isinstance(node, gast.Starred):
            return self.example(node.value)
        if isinstance(node, gast.Name):
            found = self.examples.get(node.id)
            if found is not None:
                return found
        if isinstance(node, (gast.Tuple, gast.List)) and not is_starred(node):
            items = tuple(map(self.example, node.elts))
            return (
                Tuple(items=items)
                if isinstance(node, gast.Tuple)
                else List(items=items)
            )
        if isinstance(node, gast.Dict) and all(map(is_literal, node.keys)):
            values = map(self.example, node.values)
            keys = [k.value for k in node.keys]
            return Dict(items=tuple(zip(keys, values, strict=True)))
        return self.typer.type_of(node, self.examples)

    def mapped(self, node: Any) -> bool:
        """Whether the value of an atom or display differs between examples."""
        return is_active(self.example(node))

    def rank(self, node: Any) -> int | None:
        """The number of axes of one example."""
        shape = shape_of(self.example(node))
        return None if shape is None else len(shape)

    def count(self) -> gast.expr:
        """The number of examples, as an expression."""
        return syntax.name(self.size)

    def held(self, base: str, t: Type) -> gast.Name:
        """A fresh name for a batch of examples of the type."""
        name = self.unit.names.fresh(base)
        self.unit.temps.add(name)
        self.examples[name] = t
        self.types[name] = batch_type(t)
        return syntax.name(name)

    # -- from one to many --------------------------------------------------------------

    def spread(self, value: gast.expr, have: Type, want: Type, dtype: Any) -> Any:
        """The value as a batch, in the parts that are mapped in `want` only."""
        if not is_active(want) or is_no_number(have):
            return value
        containers = (Tuple, List, Dict, Object)
        if isinstance(have, containers) and parts(have):
            return self.spread_container(value, have, want)
        if is_active(have) or isinstance(have, (Tuple, List, Dict, Object)):
            known = dtype_of(have)
            other = dtype is not None and known is not None and known != dtype
            return self.cast(value, dtype) if other else value
        return self.repeated(value, have, dtype)

    def spread_container(self, value: Any, have: Type, want: Type) -> Any:
        """A container with each part a batch where it is one in `want`."""
        whole = value
        if isinstance(value, gast.Name):
            value = self.example_displays.get(value.id, value)
        value = self.written_out(value)
        inside = self.spread_inside(value, want)
        if inside is not None:
            return inside
        if isinstance(have, (List, Dict)) and have.items is None:
            if all_active(have):
                return whole
            if is_active(have):
                raise self.refuse(
                    "a container of unknown length of which only some parts differ "
                    "between examples",
                    "two containers",
                )
            return syntax.call("spread_items", value, self.count())
        haves, wants = dict(keyed_parts(have)), dict(keyed_parts(want))
        if haves.keys() != wants.keys() or not haves:
            elem = join_all(parts(want)) or want
            wants = dict.fromkeys(haves, elem)
        if all(
            not is_active(wants[key]) or all_active(part) for key, part in haves.items()
        ):
            return whole
        if isinstance(value, gast.Dict):
            keys = [getattr(k, "value", k) for k in value.keys]
            items = [
                self.spread_part(v, haves.get(k) or self.example(v), wants.get(k, want))
                for k, v in zip(keys, value.values, strict=True)
            ]
            return gast.Dict(value.keys, items)
        if isinstance(value, (gast.Tuple, gast.List)) and not is_starred(value):
            made = [
                self.spread_part(e, haves.get(k) or self.example(e), w)
                for k, (e, w) in enumerate(zip(value.elts, wants.values(), strict=True))
            ]
            return type(value)(made, syntax.LOAD)
        if isinstance(have, Object) and not is_dataclass(have.cls):
            raise self.refuse(
                "a container of which only some parts differ between examples",
                "a tuple, or arrays",
            )
        if repeats(have) and isinstance(have, (List, Dict)):
            if not is_active(have) and all(is_active(wants[key]) for key in haves):
                return syntax.call("spread_items", value, self.count())
            if repeats(have) - made_in_loops(self.unit):
                raise self.refuse(
                    "a container that holds something twice, of which only some parts "
                    "differ between examples",
                    "a copy of its own for each item",
                )
        made = [
            self.spread_part(read_part(have, value, key), part, wants[key])
            for key, part in haves.items()
        ]
        return self.rebuild(have, made)

    def spread_inside(self, value: Any, want: Type) -> gast.expr | None:
        """A list of new values as a list of batches, made in the same way.

        `[[0.0] * 2 for _ in range(3)]` is `[[np.zeros(n) for _ in range(2)] for _ in
        range(3)]`: None for anything else.
        """
        elem = join_all(parts(want))
        if elem is None or not isinstance(want, List) or not all_active(want):
            return None
        if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
            shown, count = value.left, value.right
            if not isinstance(shown, gast.List) or len(shown.elts) != 1:
                return None
            item, t = shown.elts[0], self.example(shown.elts[0])
            if is_starred(shown) or not is_number(t) or is_active(t):
                return None
            made = self.spread(item, t, elem, dtype_of(elem))
            return syntax.expression("[v for _ in range(n)]", v=made, n=count)
        if not isinstance(value, gast.ListComp):
            return None
        if any(self.mapped(syntax.name(n)) for n in syntax.names_read(value)):
            return None
        item = self.spread_inside(value.elt, elem)
        if item is None:
            t = self.typer.type_of(value.elt, self.examples)
            new = isinstance(value.elt, (gast.Constant, gast.Call))
            if not new or not isinstance(t, (Array, Const, Scalar)):
                return None
            item = self.spread(value.elt, t, elem, dtype_of(elem))
        return gast.ListComp(item, value.generators)

    def spread_part(self, value: gast.expr, have: Type, want: Type) -> Any:
        """A part of a container as a batch, in the dtype that it has later."""
        return self.spread(value, have, want, dtype_of(want))

    def written_out(self, value: Any) -> Any:
        """`[a, *xs]` with the items of `xs` one by one, where it is known which."""
        copies = isinstance(value, gast.Call) and len(value.args) == 1
        if copies and called(value) in ("list", "tuple"):
            shown = self.displays.get(getattr(value.args[0], "id", ""), value.args[0])
            if isinstance(shown, (gast.Tuple, gast.List)) and not is_starred(shown):
                cls = gast.List if called(value) == "list" else gast.Tuple
                return cls(shown.elts, syntax.LOAD)
        if not is_starred(value):
            return value
        elements: list[gast.expr] = []
        for element in value.elts:
            inner = getattr(element, "value", None)
            found = keyed_parts(self.example(inner)) if inner is not None else []
            if isinstance(element, gast.Starred) and found:
                t = self.example(inner)
                elements += [read_part(t, syntax.clone(inner), k) for k, _ in found]
            else:
                elements.append(element)
        return type(value)(elements, syntax.LOAD)

    def by_parts(self, t: Type, value: gast.expr, f: Any) -> gast.expr | None:
        """The container with `f` applied to its mapped arrays and numbers.

        None where the types do not tell what is in it, or whether it is there.
        """
        if not is_active(t):
            return value
        if isinstance(t, OrNone):
            return None
        if isinstance(t, (Array, Scalar, Const)):
            made: gast.expr = f(value)
            return made
        found = keyed_parts(t)
        if not found or (isinstance(t, Object) and not is_dataclass(t.cls)):
            return None
        items = [
            self.by_parts(part, read_part(t, syntax.clone(value), key), f)
            for key, part in found
        ]
        if any(item is None for item in items):
            return None
        return self.rebuild(t, [item for item in items if item is not None])

    def repeated(self, value: gast.expr, have: Type, dtype: Any) -> gast.expr:
        """A batch of examples that are all the same, free to be written to."""
        n = self.count()
        shape = shape_of(have)
        known = have.value if isinstance(have, Const) else None
        as_is = dtype is None or dtype_of(have) == dtype
        if shape == () and isinstance(known, (bool, int, float)):
            if not as_is and dtype is not None:
                known = dtype.type(known).item()
            made = self.full(known, n)
            narrow = not as_is and dtype.kind in "fc" and dtype != np.result_type(known)
            if narrow:
                made.keywords = [gast.keyword("dtype", self.shown(dtype))]
            return made
        if shape == ():
            full = syntax.expression("np.full(n, v)", n=n, v=value)
            return full if as_is else self.cast(full, dtype)
        zeros = self.zeros(value, have, n)
        if zeros is not None and as_is:
            return zeros
        if shape is not None:
            all_ = "np.broadcast_to(v, (n, *np.shape(v))).copy()"
            if shape and all(isinstance(d, int) for d in shape):
                dims = ", ".join(str(d) for d in shape)
                all_ = f"np.broadcast_to(v, (n, {dims})).copy()"
            full = syntax.expression(all_, v=value, n=n)
            return full if as_is else self.cast(full, dtype)
        return syntax.call("spread_items", value, n)

    def full(self, known: Any, n: gast.expr) -> gast.Call:
        """An array of one of Python's numbers for each example, in its own dtype."""
        short = {
            "0": "np.zeros(n, dtype=int)",
            "0.0": "np.zeros(n)",
            "1.0": "np.ones(n)",
        }
        text = short.get(repr(known), "np.full(n, v)")
        made: gast.Call = syntax.expression(text, n=n, v=syntax.const(known))
        return made

    def zeros(self, value: gast.expr, have: Type, n: gast.expr) -> gast.expr | None:
        """`np.zeros((3, 4))` as `np.zeros((n, 3, 4))`, and so is `np.zeros_like(x)`."""
        if not isinstance(value, gast.Call) or not value.args:
            return None
        chain = called(value)
        if chain in ("np.zeros_like", "np.ones_like") and len(value.args) == 1:
            return self.zeros_like(value, chain.removesuffix("_like"), have, n)
        if chain not in ("np.zeros", "np.ones", "np.empty", "np.full"):
            return None
        new: gast.Call = syntax.clone(value)
        shape = new.args[0]
        dims = list(shape.elts) if isinstance(shape, gast.Tuple) else [shape]
        named = not isinstance(shape, (gast.Tuple, gast.Constant))
        if named and isinstance(self.example(shape), Tuple):
            dims = [gast.Starred(shape, syntax.LOAD)]
        elif named and self.rank(shape) != 0:
            return None
        new.args[0] = gast.Tuple([n, *dims], syntax.LOAD)
        return new

    def zeros_like(
        self, value: gast.Call, maker: str, have: Type, n: gast.expr
    ) -> gast.expr | None:
        """`np.zeros_like(x)` as `np.zeros((n, 3))`, where the dtype is known."""
        dtype, dims = dtype_of(have), shape_of(have)
        like = value.args[0]
        if dtype is None or dims is None or value.keywords:
            return None
        shape: list[gast.expr] = [syntax.const(d) for d in dims if type(d) is int]
        if len(shape) < len(dims):
            shape = [gast.Starred(syntax.expression("x.shape", x=like), syntax.LOAD)]
        made = syntax.call(maker, gast.Tuple([n, *shape], syntax.LOAD))
        if dtype != np.dtype(float):
            made.args.append(syntax.expression("x.dtype", x=like))
        return made

    def cast(self, value: gast.expr, dtype: Any) -> gast.expr:
        """The value in the dtype that it has to hold later."""
        return syntax.expression("v.astype(t)", v=value, t=self.shown(dtype))

    def shown(self, dtype: Any) -> gast.expr:
        """The dtype as a reader writes it."""
        shown = {"f8": "float", "i8": "int", "b1": "bool", "c16": "complex"}.get(
            dtype.str[1:]
        )
        if shown:
            return syntax.name(shown)
        named: gast.expr = syntax.expression(f"np.{dtype.name}")
        return named


def is_no_number(t: Type) -> bool:
    """Whether the value is None or text, of which there is no batch."""
    return isinstance(t, Const) and (t.value is None or isinstance(t.value, str))


def all_active(t: Type) -> bool:
    """Whether every part of the value is mapped, of which there can be a batch."""
    inside = parts(t)
    return all(map(all_active, inside)) if inside else is_active(t) or is_no_number(t)


def axes_of_type(t: Type) -> Any:
    """The axes of a batch: 0 for parts that examples have of their own, else None."""
    found = keyed_parts(t)
    if not found or isinstance(t, Object):
        return 0 if is_active(t) else None
    axes = [axes_of_type(part) for _, part in found]
    if all(a == axes[0] and not isinstance(a, (dict, tuple)) for a in axes):
        return axes[0]
    if isinstance(t, Dict):
        return dict(zip([key for key, _ in found], axes, strict=True))
    return tuple(axes)


def batch_type(t: Type) -> Type:
    """The type of a batch of examples of the type."""
    if parts(t):
        return map_parts(t, batch_type)
    if not is_active(t):
        return t
    if isinstance(t, Scalar):
        return Array(False, t.buffers, t.dtype, (None,))
    if isinstance(t, Array):
        shape = None if t.shape is None else (None, *t.shape)
        return Array(False, t.buffers, t.dtype, shape)
    if isinstance(t, Const):
        return Array(False, t.buffers, None, (None,))
    if isinstance(t, (List, Dict, Tuple, Object)):
        return replace(t, active=False)
    return Unknown(False, t.buffers)


__all__ = ["Lanes", "axes_of_type", "batch_type"]
