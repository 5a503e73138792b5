"""Names, types and zeros of tangents, while the forward mode of a unit is written."""

from __future__ import annotations

from itertools import islice
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.repeats import repeats
from srcjax.analysis.types import (
    COMPLEX,
    FLOAT,
    UNKNOWN,
    Array,
    Closure,
    Const,
    Dict,
    List,
    NumberOrArray,
    Object,
    Scalar,
    Tuple,
    Type,
    Unknown,
    has_complex,
    is_active,
    is_number,
    is_slice,
    map_parts,
    parts,
)
from srcjax.frontend.unit import Unit
from srcjax.transforms.call_effects import called
from srcjax.transforms.one_step import OneStep
from srcjax.transforms.places import keyed_parts, read_part
from srcjax.transforms.specialise import Env, TypesAround, environments
from srcjax.transforms.writer import OLD


class Tangents(OneStep):
    """The tangents of one unit; `code` holds those of the statement at hand."""

    rule_name = "forward derivative rule"
    decorator = "tangent"

    def __init__(self, program: Program, unit: Unit, callees: Any) -> None:
        super().__init__(program, unit)
        self.tangent_types: dict[int, tuple[Type, Type]] = {}
        self.callees = callees
        #: So many of the names have been asked for the name of their tangent.
        self.named = 0
        self.shared_out = escaping(unit, self.types)

    # -- names ------------------------------------------------------------------------

    def derivative_name(self, base: str) -> str:
        """The tangent of `x` is `x_dot`."""
        return f"{base}_dot"

    def dot_name(self, name: str) -> str:
        """The variable that holds the tangent of a name."""
        name = name.removesuffix(OLD)
        place = (name, ())
        if place not in self.places.variables:
            base = self.unit.base_names.get(name, name)
            known = self.callees.dots(self.unit).get(name)
            if known is not None:
                self.places.name(place, known)
                return known
            self.places.name(place, self.unit.names.fresh(self.derivative_name(base)))
        return self.places.variables[place]

    def active(self, node: Any) -> bool:
        """Whether the atom is a name that has a tangent; it may be an earlier value."""
        return isinstance(node, gast.Name) and is_active(
            self.type_of_name(node.id.removesuffix(OLD))
        )

    # -- types ------------------------------------------------------------------------

    def environments(self, stmt: gast.stmt) -> list[Env]:
        """Types of names and of their tangents around the statement, per variant."""
        targets = syntax.names_written(stmt)
        for name in list(islice(self.types, self.named, None)):
            if is_active(self.types[name]):
                self.dot_name(name)
        self.named = len(self.types)
        clean: list[Env] = []
        variants = self.facts.of(stmt)
        found = environments(stmt, variants) or [{}]
        for k, env in enumerate(found):
            own = {n: self.plain_type(t) for n, t in env.items()}
            for name in targets:
                before = variants[k].before if k < len(variants) else {}
                if name in before:
                    own[name + OLD] = self.plain_type(before[name])
            for name in list(own):
                base = name.removesuffix(OLD)
                if is_active(self.types.get(base, UNKNOWN)):
                    # A tangent is read as it was before, and then bound.
                    t = own.get(base + OLD if base in targets else base)
                    t = t or own.get(base) or self.plain_type(self.types[base])
                    own[self.dot_name(base)] = self.type_of_tangent(t)
            around = TypesAround(own, self.type_elsewhere)
            if around not in clean:
                clean.append(around)
        return clean

    def type_elsewhere(self, name: str) -> Type | None:
        """The type of a name, or of a tangent, over the whole unit."""
        if name in self.types:
            return self.plain_type(self.types[name])
        place = self.places.place_of.get(name)
        if place is None or not is_active(self.types.get(place[0], UNKNOWN)):
            return None
        return self.type_of_tangent(self.plain_type(self.types[place[0]]))

    def type_of_tangent(self, t: Type) -> Type:
        """`tangent_type`, kept: the types of all names are asked for each statement."""
        known = self.tangent_types.get(id(t))
        if known is None:
            known = self.tangent_types[id(t)] = t, tangent_type(t)
        return known[1]

    # -- tangents of operands ----------------------------------------------------------

    def dot(self, node: Any) -> Any:
        """The tangent of an operand: an atom, or a display of atoms."""
        if isinstance(node, gast.Starred):
            return gast.Starred(self.dot(node.value), syntax.LOAD)
        if self.active(node):
            if isinstance(self.type_of_name(node.id), Closure):
                return syntax.const(None)  # a function has no tangent, its values have
            return syntax.name(self.dot_name(node.id))
        if isinstance(node, (gast.Tuple, gast.List)):
            return type(node)([self.dot(e) for e in node.elts], syntax.LOAD)
        if isinstance(node, gast.Dict):
            return gast.Dict(
                [syntax.clone(k) for k in node.keys], [self.dot(v) for v in node.values]
            )
        if isinstance(node, gast.Constant):
            if isinstance(node.value, complex):
                return syntax.const(0j)
            number = isinstance(node.value, (int, float))
            return syntax.const(0.0 if number else None)
        t = self.type_of(node)
        if isinstance(node, gast.Name) and isinstance(t, Unknown):
            t = self.type_of_name(node.id.removesuffix(OLD))
        return self.zero(t, node)

    def zero(self, t: Type | None, like: gast.expr) -> gast.expr:
        """The zero tangent of a value of the type."""
        if t is None or isinstance(t, Unknown):
            return syntax.call("zero_tangent", syntax.clone(like))
        if is_slice(t):
            return syntax.const(None)
        if is_number(t):
            return syntax.const(0j if has_complex(t) else 0.0)
        if isinstance(t, Array):
            truths = t.dtype is not None and t.dtype.kind == "b"  # they have no minus
            text = "np.zeros_like(x, dtype=float)" if truths else "np.zeros_like(x)"
            return syntax.expression(text, x=like)
        if isinstance(t, (List, Dict)) and not parts(t):
            return gast.List([], syntax.LOAD) if isinstance(t, List) else _empty_dict()
        few = len(keyed_parts(t)) <= 4 and not repeats(t)
        if isinstance(t, (Tuple, Object)) and few:
            made = [
                self.zero(part, read_part(t, like, key)) for key, part in keyed_parts(t)
            ]
            return self.rebuild(t, made)
        if isinstance(t, (Tuple, List, Dict, Object)):
            helper = "zero_tangent" if _may_share(t) else "zeros_like"
            return syntax.call(helper, syntax.clone(like))
        return syntax.const(None)


def _may_share(t: Type) -> bool:
    """Whether a container may hold one array in two places."""
    if is_number(t) or isinstance(t, Const):
        return False
    if isinstance(t, (List, Dict)) and t.items is None:
        return not (t.elem is not None and is_number(t.elem))
    inside = parts(t)
    if not inside:
        return not isinstance(t, Array)
    return bool(repeats(t)) or any(map(_may_share, inside))


def tangent_type(t: Type) -> Type:
    """The type of the tangent of a value."""
    if isinstance(t, Const):
        if not is_number(t):
            return UNKNOWN
        return COMPLEX if has_complex(t) else FLOAT
    if isinstance(t, (Array, Scalar, NumberOrArray)) and (
        t.dtype is not None and t.dtype.kind in "iub"
    ):
        return FLOAT if isinstance(t, Scalar) else Unknown()
    if is_slice(t):
        return UNKNOWN
    if parts(t):
        return map_parts(t, tangent_type)
    return t


def escaping(unit: Unit, types: dict[str, Type]) -> frozenset:
    """Buffers of values that are returned, kept in containers or given to functions."""
    found: set[str] = set()
    for node in syntax.walk(unit.node.body):
        if isinstance(node, gast.Return) and node.value is not None:
            found |= syntax.names_read(node.value)
        elif isinstance(node, (gast.Tuple, gast.List, gast.Set, gast.Dict)):
            found |= syntax.names_read(node)
        elif isinstance(node, gast.Call):
            chain = called(node)
            if not chain.startswith(("np.", "math.", "scipy.")):
                found |= syntax.names_read([*node.args, *node.keywords])
        elif isinstance(node, gast.Assign) and isinstance(
            node.targets[0], (gast.Subscript, gast.Attribute)
        ):
            found |= syntax.names_read(node.value)
    result: frozenset = frozenset()
    for name in found:
        t = types.get(name)
        if t is not None:
            result |= t.buffers
    return result


def _empty_dict() -> gast.Dict:
    return gast.Dict([], [])


__all__ = ["Tangents", "tangent_type"]
