"""Where the adjoint of each value lives, and how contributions are added to it.

A value's adjoint is a variable (`dx`), or, for a tuple or dict whose parts are known, a
variable for each part (`dparams` has `dw`, `db`), or, for a view of an array that is
written in place, the same view of that array's adjoint (`dA[i]`).

While the backward sweep is being written, an adjoint is either absent (zero, nothing
was contributed yet) or present, and then either of the full shape of its value or
"lazy": of a smaller shape that broadcasts to it.
"""

from __future__ import annotations

import keyword
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from types import SimpleNamespace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    Array,
    Const,
    Dict,
    List,
    Object,
    OrNone,
    Other,
    Range,
    Scalar,
    Tuple,
    Type,
    Unknown,
    dtype_of,
    has_complex,
    is_active,
    is_number,
    is_slice,
    parts,
    present,
    shape_of,
)

Path = tuple[Any, ...]
Place = tuple[str, Path]


@dataclass(frozen=True)
class Adjoint:
    """A present adjoint: its variable, and its type where it is lazy."""

    variable: str
    lazy: Type | None = None
    #: Nothing else refers to the array, so that it can be added to in place.
    owned: bool = False


class Places:
    """The adjoints that are present at the current point of the backward sweep."""

    def __init__(self, names: syntax.Names) -> None:
        self.names = names
        self.present: dict[Place, Adjoint] = {}
        self.variables: dict[Place, str] = {}
        self.place_of: dict[str, Place] = {}
        #: Variables that are a plain `0.0` somewhere, where their value is an array.
        self.partial: set[str] = set()
        #: Variables that were read where they only broadcast to the shape of the value.
        self.read_small: set[str] = set()

    def name(self, place: Place, variable: str) -> None:
        """The variable of the place from here on."""
        self.variables[place] = variable
        self.place_of[variable] = place

    def variable(self, name: str, path: Path, base: str | None = None) -> str:
        """The adjoint variable of a place: `dx` for `x`."""
        place = (name, path)
        if place not in self.variables:
            shown = base or name
            for key in path:
                text = str(key)
                shown = text if text.isidentifier() else f"{shown}_{text}"
            self.name(place, self.names.fresh(syntax.adjoint_name(shown)))
        return self.variables[place]

    def snapshot(self) -> dict[Place, Adjoint]:
        """The state, to compare and to restore."""
        return dict(self.present)

    def restore(self, state: dict[Place, Adjoint]) -> None:
        """Go back to a snapshot."""
        self.present = dict(state)

    def of(self, name: str) -> list[Place]:
        """The present places of a value."""
        return [place for place in self.present if place[0] == name]

    def kill(self, name: str) -> None:
        """The value was defined here: before, its adjoint is zero."""
        for place in self.of(name):
            del self.present[place]

    def drop_ownership(self, name: str) -> None:
        """The adjoint array got a second reference."""
        for place in self.of(name):
            self.present[place] = replace(self.present[place], owned=False)


def is_static(t: Type) -> bool:
    """A container whose parts are known one by one.

    None or a tuple of numbers is one: each has its zero, whether the tuple is there or
    not. An array has to be there for one.
    """
    if isinstance(t, OrNone):
        entries = all(is_number(p) or not is_active(p) for _, p in keyed_parts(t))
        return isinstance(t.value, Tuple) and entries
    if isinstance(t, (Tuple, Object)):
        return True
    return isinstance(t, (List, Dict)) and t.items is not None


def keyed_parts(t: Type) -> list[tuple[Any, Type]]:
    """The parts of a static container, with their keys."""
    t = present(t)
    if is_slice(t):
        return []
    if isinstance(t, (Tuple, List)):
        return list(enumerate(t.items or ()))
    if isinstance(t, (Dict, Object)):
        return list(t.items or ())
    return []


def part_of(t: Type, path: Path) -> Type:
    """The type at a path inside a static container."""
    for key in path:
        t = dict(keyed_parts(t))[key]
    return t


def rebuild(t: Type, parts: list[gast.expr]) -> gast.expr:
    """The display of a container of that type from the displays of its parts."""
    t = present(t)
    if isinstance(t, Tuple) and t.cls is not None:
        return syntax.call(syntax.name(t.cls.__name__), *parts)
    if isinstance(t, Tuple):
        return gast.Tuple(parts, syntax.LOAD)
    if isinstance(t, List):
        if t.cls is tuple:
            return gast.Tuple(parts, syntax.LOAD)
        return gast.List(parts, syntax.LOAD)
    if isinstance(t, Dict):
        shown = dict(zip((key for key, _ in t.items or ()), parts, strict=True))
        return (
            ordered(t.cls.__name__, shown) if t.cls is OrderedDict else dict_of(shown)
        )
    assert isinstance(t, Object) and t.cls is not None
    keywords = {key: part for (key, _), part in zip(t.items, parts, strict=True)}
    return syntax.call(syntax.name(record_class(t.cls).__name__), **keywords)


def dict_of(shown: Mapping[Any, gast.expr]) -> gast.Dict:
    """The display of a dict."""
    keys: list[gast.expr | None] = [syntax.const(key) for key in shown]
    return gast.Dict(keys, list(shown.values()))


def ordered(name: str, shown: Mapping[Any, gast.expr]) -> gast.Call:
    """The call that makes an `OrderedDict`, which has that name there."""
    if all(map(is_keyword_name, shown)):
        return syntax.call(syntax.name(name), **shown)
    return syntax.call(syntax.name(name), dict_of(shown))


def is_keyword_name(key: Any) -> bool:
    """Whether a key can be the name of an argument."""
    named = isinstance(key, str) and key.isidentifier()
    return named and not keyword.iskeyword(key)


def record_class(cls: type) -> type:
    """The class of an object's adjoint: a dataclass is called with its fields.

    The `__init__` of another class takes, and does, what it was written for.
    """
    return cls if is_dataclass(cls) else SimpleNamespace


def read_part(t: Type, whole: gast.expr, key: Any) -> gast.expr:
    """The expression for one part of a container."""
    if isinstance(t, Object):
        return gast.Attribute(whole, key, syntax.LOAD)
    return gast.Subscript(whole, syntax.const(key), syntax.LOAD)


def is_lazy(have: Type, want: Type) -> bool:
    """Whether an adjoint of type `have` is smaller than its value, or may be.

    A number may be smaller than a value of unknown shape. All else that is added to
    the adjoint of such a value was made in the value's shape by a run-time helper.
    """
    small, full = shape_of(have), shape_of(want)
    if full is None:
        return small == () and isinstance(want, (Array, Unknown))
    if small is None:
        return False
    if len(small) < len(full):
        return True
    return any(m == 1 != n for m, n in zip(small, full, strict=False))


def inactive_zero(t: Type, like: gast.expr, beside: Sequence[Type] = ()) -> gast.expr:
    """What stands for the adjoint of a part that carries none.

    Nobody reads it but who does not know that it carries none: a callee that was
    written for other calls too, or a loop over a list, which adds to each item what it
    adds to the others. `beside` are the types that they go by. What carries one there
    has to have a zero here; numbers have one anyway.
    """
    dtype = dtype_of(t)
    number = is_number(t) or shape_of(t) == ()
    if number and dtype is not None and dtype.kind in "fiub":
        return syntax.const(0.0)
    if isinstance(t, (Const, Other, Range)) or not any(map(is_active, beside)):
        return syntax.const(None)
    if isinstance(t, Array) and dtype is not None and dtype.kind in "iub":
        return syntax.expression("np.zeros(np.shape(a))", a=like)
    return zero_of(t, like, beside)


def parts_beside(t: Type, key: Any, beside: Sequence[Type]) -> list[Type]:
    """What stands where the part does, in `beside` and in the other items of a list."""
    found: list[Type] = []
    for other in beside:
        whole = other if isinstance(other, Unknown) else getattr(other, "elem", None)
        part = dict(keyed_parts(other)).get(key, whole)
        found += [] if part is None else [part]
    if isinstance(t, List):
        found += [part for other, part in keyed_parts(t) if other != key]
    return found


def lacks_zero(t: Type, beside: Sequence[Type]) -> bool:
    """Whether the adjoint of a `t` has None where one of those `beside` carries one."""
    if is_number(t) or isinstance(t, (Const, Other, Range)):
        return False
    if not is_active(t):
        return any(map(is_active, beside))
    inner = keyed_parts(t) or [(None, part) for part in parts(t)]
    return any(lacks_zero(part, parts_beside(t, key, beside)) for key, part in inner)


def zero_of(t: Type | None, like: gast.expr, beside: Sequence[Type] = ()) -> gast.expr:
    """The zero of the type; `like` is an expression of a value of that type."""
    if t is None:
        return syntax.call("zeros_like", like)
    if is_slice(t):
        return syntax.const(None)
    if isinstance(t, (Scalar, Const)):
        return syntax.const(0j if has_complex(t) else 0.0)
    if isinstance(t, Array):
        return syntax.call("np.zeros_like", like)
    if is_static(t) and not isinstance(t, (List, Dict)):
        parts = []
        for key, part in keyed_parts(t):
            start = zero_of if is_active(part) else inactive_zero
            others = parts_beside(t, key, beside)
            parts.append(start(part, read_part(t, like, key), others))
        return rebuild(t, parts)
    if isinstance(t, List):
        elems: list[Type | None] = [p for _, p in keyed_parts(t)] or [t.elem]
        if all(isinstance(e, Scalar) for e in elems):
            zero = "0j" if any(e and has_complex(e) for e in elems) else "0.0"
            return syntax.expression(f"[{zero}] * len(v)", v=like)
        if all(isinstance(e, Array) for e in elems):
            return syntax.expression("[np.zeros_like(a) for a in v]", v=like)
    return syntax.call("zeros_like", like)


def all_keys(d: gast.expr, t: Dict, like: gast.expr, read: bool) -> gast.expr:
    """The adjoint of a dict with zeros for the keys that it has not got.

    `read`: the keys are read from the dict, even where its type tells them.
    """
    if is_static(t) and not read:
        parts: dict[Any, gast.expr] = {}
        for key, part in keyed_parts(t):
            start = zero_of if is_active(part) else inactive_zero
            zero, k = start(part, read_part(t, like, key), ()), syntax.const(key)
            parts[key] = syntax.expression("d.get(k, z)", d=d, k=k, z=zero)
        return rebuild(t, list(parts.values()))
    elems: list[Type | None] = [p for _, p in keyed_parts(t)] or [t.elem]
    item = syntax.expression("v[key]", v=like)
    zero = syntax.call("zeros_like", item)
    if all(is_number(e) for e in elems if e is not None):
        zero = syntax.const(0.0)
    elif all(isinstance(e, Array) for e in elems):
        zero = syntax.call("np.zeros_like", item)
    return syntax.expression("{key: d.get(key, z) for key in v}", d=d, z=zero, v=like)


def spread_over(d: gast.expr, x: gast.expr, have: Type, t: Type) -> gast.expr:
    """An adjoint of type `have` spread over the shape of `x`, of type `t`."""
    text = "np.broadcast_to(d, np.shape(x))"
    if shape_of(have) == ():
        known = shape_of(t) is not None
        text = "np.full_like(x, d)" if known else "unreduce(d, None, False, x)"
    return syntax.expression(text, d=d, x=x)
