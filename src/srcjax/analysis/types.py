"""Abstract values: what is known, before the program runs, of a value.

A type says what the value is (dtype, shape, structure), whether a derivative flows
through it (`active`), and which buffers it may share memory with (`buffers`). Types
are immutable and hashable, so a tuple of them is a cache key.

A dimension is an `int` (known), a `Sym` (known only to be "the n of this argument plus
an offset"), a `Count` (the size that a value got where it was made) or None (unknown).
A plain `Sym` stands for a size that is not 1: an argument's axes of size 1 keep their
1, because they are the ones that broadcast. What numbers among the arguments give
(`x.reshape(n, heads, n // heads)`) may be 1.
"""

from __future__ import annotations

import operator
import types as pytypes
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

import numpy as np

from srcjax.analysis.arrays import inside
from srcjax.analysis.plain import (
    DICTS,
    is_array_of_others,
    is_plain_array,
    is_plain_number,
    is_size,
)
from srcjax.analysis.registered import record_fields, structure_fields
from srcjax.analysis.sizes import Count, Sizes, Sym, made_of, plus

Buffers = frozenset
NONE: Buffers = frozenset()


class Varies(Enum):
    """What it means that a type is `active`, and that a name varies."""

    #: A derivative flows through the value: floats and complex numbers.
    DERIVATIVES = "a derivative flows through the value"
    #: It depends on a mapped argument of `vmap`, which values of every dtype may do.
    EXAMPLES = "the value is another one for each example of a batch"
    #: No type is active: nothing is done with the values but to compute them. Every
    #: name varies, so that all of a function is brought to core form.
    RUN_TIME = "the value is computed when the function runs"


_VARIES: ContextVar[Varies] = ContextVar("varies", default=Varies.DERIVATIVES)


@contextmanager
def varying(what: Varies) -> Iterator[None]:
    """Inside, that is what it means to be active."""
    token = _VARIES.set(what)
    try:
        yield
    finally:
        _VARIES.reset(token)


def varies() -> Varies:
    """What it means to be active."""
    return _VARIES.get()


def mapping(on: bool = True) -> AbstractContextManager[None]:
    """Inside, `active` means "different for each example of a batch" (or, off, not)."""
    return varying(Varies.EXAMPLES if on else Varies.DERIVATIVES)


def is_mapping() -> bool:
    """Whether `active` means "different for each example of a batch"."""
    return varies() is Varies.EXAMPLES


Dim = int | Sym | Count | None
Shape = tuple[Dim, ...]
#: The least whole number of some, and the first one above all of them.
Span = tuple[int | Sym, int | Sym]


def _hash_of(t: Any, facts: Callable[[], tuple]) -> int:
    """The hash of what a type says, kept with it: inference asks again and again."""
    known: int | None = t.__dict__.get(_HASH)
    if known is None:
        known = t.__dict__[_HASH] = hash(facts())
    return known


#: Where a type keeps its hash: as `_KEPT`, no field.
_HASH = "_hash"


@dataclass(frozen=True)
class Type:
    """Nothing is known but whether a derivative flows (`active`) and the buffers."""

    active: bool = False
    buffers: Buffers = NONE


@dataclass(frozen=True)
class Unknown(Type):
    """Any value at all."""


@dataclass(frozen=True)
class Leaf(Unknown):
    """What a function gives of a leaf of a tree, before its calls are written out.

    It is supposed to be no container. That is looked at once they are.
    """


@dataclass(frozen=True)
class NumberOrArray(Unknown):
    """A number, or an array of the shape: what `s = 0.0` is while `s + x` goes on.

    With arrays of that dtype it gives one of that dtype: the number is of it too, or a
    Python number that is no stronger.
    """

    dtype: np.dtype | None = None
    shape: Shape = ()

    def array(self) -> Array:
        """What it is as an array."""
        return Array(self.active, self.buffers, self.dtype, self.shape)


@dataclass(frozen=True)
class Other(Type):
    """A value that no derivative can flow through (string, file, set, class ...)."""

    cls: type | None = None


@dataclass(frozen=True)
class Told(Other):
    """What says a differentiated value in a form that is not differentiated.

    Text, bytes, an exception that carries it. It may be printed, compared or raised;
    where a number could be read back from it, it is refused (`analysis.told`).
    """


@dataclass(frozen=True)
class Const(Type):
    """A Python object known by value: number, None, string, function, module ..."""

    value: Any = None

    def _key(self) -> tuple[type, Any]:
        value = self.value
        plain = isinstance(value, (int, float, complex, str, bytes, type(None), slice))
        return type(value), (repr(value) if plain else id(value))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Const)
            and self.active == other.active
            and self._key() == other._key()
        )

    def __hash__(self) -> int:
        return _hash_of(self, self._key)


def _spelled(dtype: np.dtype | None) -> str | None:
    """A dtype as text: NumPy says that None equals float64."""
    return None if dtype is None else dtype.str


def same_dtype(a: np.dtype | None, b: np.dtype | None) -> bool:
    """Whether both are known and equal, or both unknown."""
    return a is b or _spelled(a) == _spelled(b)


def _alike(a: Any, b: Any) -> bool:
    """Whether numbers or arrays agree in dtype, activity and buffers."""
    same = a.active == b.active and a.buffers == b.buffers
    return same and same_dtype(a.dtype, b.dtype)


@dataclass(frozen=True)
class Scalar(Type):
    """A Python number (`python=True`) or NumPy scalar of the given dtype.

    `python` is None of what may be either.
    `size`: the dimension of an axis that has this (whole) number of places. `span`: the
    least whole number that it may be, and the one that it stays below.
    """

    dtype: np.dtype | None = None
    python: bool | None = False
    size: Dim = None
    span: Span | None = None

    def _facts(self) -> tuple:
        known = self.active, self.buffers, _spelled(self.dtype), self.python
        return *known, self.size, self.span

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Scalar)
            and self.python == other.python
            and self.size == other.size
            and self.span == other.span
            and _alike(self, other)
        )

    def __hash__(self) -> int:
        return _hash_of(self, self._facts)


@dataclass(frozen=True)
class Array(Type):
    """An ndarray; `shape` None when even the rank is unknown."""

    dtype: np.dtype | None = None
    shape: Shape | None = None

    def _facts(self) -> tuple:
        return self.active, self.buffers, _spelled(self.dtype), self.shape

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Array)
            and self.shape == other.shape
            and _alike(self, other)
        )

    def __hash__(self) -> int:
        return _hash_of(self, self._facts)


@dataclass(frozen=True)
class View:
    """Says that a type is what `d.keys()` (or `values`, `items`) shows at a place.

    Or what an iterator gives: `zip`, `enumerate`, `reversed`.
    """

    kind: str
    #: The dict's; None of an iterator.
    memory: Buffers | None = None


@dataclass(frozen=True)
class Stale(Other):
    """A view of a dict that has changed since its items were looked at."""


@dataclass(frozen=True)
class Tuple(Type):
    """A tuple of known length; `cls` is the class of a namedtuple."""

    items: tuple[Type, ...] = ()
    cls: type | None = None
    view: View | None = None

    def __hash__(self) -> int:
        facts = self.active, self.buffers, self.items, self.cls
        return _hash_of(self, lambda: facts)


@dataclass(frozen=True)
class OrNone(Unknown):
    """None, or the tuple, array or number that one branch alone binds a name to.

    What is computed with, unpacked or indexed is not None. Its activity and memory are
    those of the value.
    """

    value: Type = Tuple()


def or_none(value: Type) -> OrNone:
    """The type of None and of this tuple."""
    return OrNone(is_active(value), all_buffers(value), value)


def present(t: Type) -> Type:
    """The type of a value that is used as None cannot be."""
    return t.value if isinstance(t, OrNone) else t


@dataclass(frozen=True)
class List(Type):
    """A list: `items` when the length is known, else the join `elem` of its items.

    Also a tuple of unknown length (`cls` tuple).
    """

    items: tuple[Type, ...] | None = None
    elem: Type | None = None
    cls: type = list
    view: View | None = None

    def __hash__(self) -> int:
        return _hash_of(
            self, lambda: (self.active, self.buffers, self.items, self.elem)
        )


def is_iterator(t: Type) -> bool:
    """Whether values of the type are iterators, which give each of their items once."""
    view = t.view if isinstance(t, (Tuple, List)) else None
    return view is not None and view.memory is None


@dataclass(frozen=True)
class Dict(Type):
    """A dict: `items` when the keys are known, else the join `elem` of its values.

    `cls` is `dict`, or one of `DICTS`.
    """

    items: tuple[tuple[Any, Type], ...] | None = None
    elem: Type | None = None
    cls: type = dict


@dataclass(frozen=True)
class Object(Type):
    """An instance of a Python class with the types of its attributes."""

    cls: type | None = None
    items: tuple[tuple[str, Type], ...] = ()


@dataclass(frozen=True)
class Range(Type):
    """`range(...)`; `length` and the range itself when known, and what is in it."""

    length: int | None = None
    values: range | None = None
    span: Span | None = None


@dataclass(frozen=True)
class Closure(Type):
    """A function defined inside the program: the name of its definition statement."""

    definition: Any = None
    scope: Any = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Closure) and self.definition is other.definition

    def __hash__(self) -> int:
        return id(self.definition)


@dataclass(frozen=True)
class Transformed(Type):
    """What a transform made of a function defined inside the program: `grad(h)`.

    The pullback of `vjp` too, before it is written out: `maker` is None then, and
    `function` the type of what a call of it gives.
    """

    maker: Any = None
    function: Type = Type()
    #: The other arguments of the transform.
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()


FLOAT = Scalar(dtype=np.dtype(float), python=True)
COMPLEX = Scalar(dtype=np.dtype(complex), python=True)
INT = Scalar(dtype=np.dtype(int), python=True)
BOOL = Scalar(dtype=np.dtype(bool), python=True)
UNKNOWN = Unknown()
ACTIVE = Unknown(active=True)


# -- what a type says ---------------------------------------------------------------


def dtype_of(t: Type) -> np.dtype | None:
    """The dtype of a number or array, None when unknown or not a number."""
    if isinstance(t, (Scalar, Array)):
        return t.dtype
    if isinstance(t, Const) and isinstance(t.value, (bool, int, float, complex)):
        return number_dtype(t.value)
    return None


def number_dtype(value: bool | int | float | complex) -> np.dtype:
    """The dtype of a Python number.

    One of a class derived from `float`, or of an `IntEnum`, is what its class extends.
    """
    classes = (bool, int, float, complex)
    return np.dtype(next(c for c in classes if isinstance(value, c)))


def tells_dtypes(t: Type) -> bool:
    """Whether the dtype of every number and array in it is known."""
    if isinstance(t, (Scalar, Array)):
        return t.dtype is not None
    return not isinstance(t, Unknown) and all(map(tells_dtypes, parts(t)))


def shape_of(t: Type) -> Shape | None:
    """The shape of a number (`()`) or array, None when the rank is unknown."""
    if isinstance(t, Array):
        return t.shape
    return () if is_number(t) else None


def rank_of(t: Type) -> int | None:
    """The number of axes, None when unknown."""
    shape = shape_of(t)
    return None if shape is None else len(shape)


def is_number(t: Type) -> bool:
    """A Python number or NumPy scalar: immutable, without axes."""
    return isinstance(t, Scalar) or (
        isinstance(t, Const)
        and isinstance(t.value, (bool, int, float, complex, np.generic))
    )


def is_text(t: Type) -> bool:
    """A string."""
    return isinstance(getattr(t, "value", None), str) or getattr(t, "cls", None) is str


def is_slice(t: Type | None) -> bool:
    """A slice, of which the bounds are told."""
    return isinstance(t, Tuple) and t.cls is slice


def kind_of_count(t: Type) -> str | None:
    """What a value is that counts or names: see `marks.COUNTS_MADE`; None of others.

    Whole numbers, truth values, text, ranges, or tuples of them.
    """
    if isinstance(t, Range):
        return "range"
    if isinstance(t, Tuple):
        kinds = [kind_of_count(part) for part in t.items]
        return None if t.active or None in kinds else ""
    if isinstance(t, Const):
        if type(t.value) is int:
            return "int"
        known = is_text(t) or isinstance(t.value, (bool, np.integer, np.bool_))
        return "" if known else None
    if not isinstance(t, Scalar) or t.dtype is None or t.active:
        return None
    if t.dtype.kind in "iu":
        return "int" if t.python else t.dtype.name
    return "" if t.dtype.kind == "b" else None


def count_type(kind: str) -> Type:
    """The type of what `kind_of_count` told."""
    if not kind:
        return Unknown()
    if kind == "range":
        return Range()
    return Scalar(dtype=np.dtype(kind), python=kind == "int")


def is_differentiable(t: Type) -> bool:
    """Whether values of this type can carry a derivative (real or complex dtype)."""
    if is_mapping():
        return not isinstance(t, Const)
    if isinstance(t, (Other, Range)):
        return False
    dtype = dtype_of(t)
    if dtype is not None:
        return dtype.kind not in "biumM"
    return not isinstance(t, Const)


def is_active(t: Type) -> bool:
    """Whether a derivative flows through the value or any part of it."""
    if t.active or type(t) in LEAVES:
        return t.active
    return any(map(is_active, parts(t)))


def is_lowered(t: Type) -> bool:
    """Whether what is done with the value is to be in core form, as far as types go."""
    return varies() is Varies.RUN_TIME or is_active(t)


def tells(t: Type) -> bool:
    """Whether the value or a part of it says a differentiated value as text."""
    return isinstance(t, Told) or any(map(tells, parts(t)))


def has_complex(t: Type) -> bool:
    """Whether the value or a part of it certainly is complex."""
    dtype = dtype_of(t)
    if dtype is not None and dtype.kind == "c":
        return True
    return any(has_complex(part) for part in parts(t))


def parts(t: Type) -> tuple[Type, ...]:
    """The types directly inside a container type."""
    if type(t) in LEAVES:
        return ()
    if isinstance(t, Tuple):
        return t.items
    if isinstance(t, List):
        return t.items if t.items is not None else ((t.elem,) if t.elem else ())
    if isinstance(t, Dict):
        if t.items is not None:
            return tuple(value for _, value in t.items)
        return (t.elem,) if t.elem else ()
    if isinstance(t, Object):
        return tuple(value for _, value in t.items)
    if isinstance(t, OrNone):
        return (t.value,)
    return ()


#: Types without parts, which most types are.
LEAVES = frozenset([Array, Scalar, Const, Unknown, Leaf, Other, Told, Range, Closure])


def is_leaf(t: Type) -> bool:
    """Whether the type has no parts, and none that are not known."""
    return type(t) in LEAVES


def name_around(buffer: Any) -> str:
    """The name under which a function reads an object from around it."""
    while buffer[0] != "global":
        buffer = buffer[0]
    return str(buffer[1])


def is_around(buffer: Any) -> bool:
    """Whether the memory is that of an object from around the function."""
    while isinstance(buffer, tuple):
        if buffer[0] == "global":
            return True
        buffer = buffer[0]
    return False


def all_buffers(t: Type) -> Buffers:
    """Every buffer that the value or a part of it may share."""
    if type(t) in LEAVES:
        return t.buffers
    known: Buffers | None = t.__dict__.get(MEMORY)
    if known is None:
        known = t.__dict__[MEMORY] = _all_buffers(t)
    return known


def _all_buffers(t: Type) -> Buffers:
    return t.buffers.union(*map(all_buffers, parts(t)))


def all_sites(t: Type) -> frozenset[int]:
    """Where the memory was made that the value or a part of it may share."""
    return _kept(t, "sites", _all_sites) if t.buffers or parts(t) else NONE


def _all_sites(t: Type) -> frozenset[int]:
    return _sites_of(all_buffers(t))


def _kept(t: Type, what: str, find: Any) -> Any:
    """What `find` says of the type, kept with it: a type never changes."""
    known = t.__dict__.get(_KEPT)
    if known is None:
        known = t.__dict__[_KEPT] = {}
    if what not in known:
        known[what] = find(t)
    return known[what]


#: Where a type keeps what was found out about it: no field, `replace` leaves it out.
_KEPT = "_kept"
#: The same for the memory, which is asked for most.
MEMORY = "_memory"


def replace(t: Any, **changes: Any) -> Any:
    """The type with some of its fields changed.

    As `dataclasses.replace`, which goes through `__init__` and takes several times as
    long: inference does little else. Raises TypeError for what is no field of it.
    """
    if not changes.keys() <= t.__dict__.keys():
        raise TypeError(f"{type(t).__name__} has no {sorted(changes)}")
    new = object.__new__(type(t))
    new.__dict__.update(t.__dict__)
    new.__dict__.pop(_KEPT, None)
    new.__dict__.pop(MEMORY, None)
    new.__dict__.pop(_HASH, None)
    new.__dict__.update(changes)
    return new


def map_parts(t: Type, f: Any) -> Type:
    """The same container with `f` applied to the types directly inside it.

    The type itself where `f` changes none of them.
    """
    if type(t) in LEAVES:
        return t
    if isinstance(t, (Tuple, List)) and t.items is not None:
        items = tuple(map(f, t.items))
        same = all(map(operator.is_, items, t.items))
        return t if same else replace(t, items=items)
    if isinstance(t, (Dict, Object)) and t.items is not None:
        pairs = tuple((k, f(v)) for k, v in t.items)
        same = all(new[1] is old[1] for new, old in zip(pairs, t.items, strict=True))
        return t if same else replace(t, items=pairs)
    if isinstance(t, (List, Dict)) and t.elem:
        elem = f(t.elem)
        return t if elem is t.elem else replace(t, elem=elem)
    if isinstance(t, OrNone):
        value = f(t.value)
        return t if value is t.value else or_none(value)
    return t


def with_active(t: Type, active: bool) -> Type:
    """The type with every leaf that can carry a derivative set active or not."""
    if isinstance(t, Object):
        fixed = structure_fields(t.cls, tuple(k for k, _ in t.items)) if active else ()
        items = ((k, with_active(p, active and k not in fixed)) for k, p in t.items)
        return replace(t, items=tuple(items))
    if parts(t):
        return map_parts(t, lambda part: with_active(part, active))
    if isinstance(t, Const):
        kinds = (int, float, complex) if is_mapping() else (float, complex)
        if active and isinstance(t.value, kinds):
            return Scalar(True, NONE, number_dtype(t.value), True)
        return t
    active = active and is_differentiable(t)
    if active and isinstance(t, Scalar) and t.size is not None:
        t = replace(t, size=None)  # another number for each example
    return t if active is t.active else replace(t, active=active)


@dataclass(frozen=True, slots=True)
class Earlier:
    """All memory that a place in a loop made in iterations before the latest one.

    The buffer itself is what was made in the latest iteration. Only one of the two is
    written to for sure, and what is older once is never the latest again.
    """

    buffer: Any


@lru_cache(maxsize=16384)
def earlier(buffer: Any) -> Earlier:
    """The memory, as one object: sets compare what they hold by identity first."""
    return Earlier(buffer)


def aged(t: Type, sites: frozenset[int]) -> Type:
    """The type of a value once these places are about to make memory again."""
    t = map_parts(t, lambda part: aged(part, sites))
    buffers = _aged_buffers(t.buffers, sites) if t.buffers else NONE
    return t if buffers is t.buffers else replace(t, buffers=buffers)


@lru_cache(maxsize=4096)
def _aged_buffers(buffers: Buffers, sites: frozenset[int]) -> Buffers:
    def is_older(buffer: Any) -> bool:
        return not isinstance(buffer, Earlier) and site_of(buffer) in sites

    older = set(filter(is_older, buffers))
    return frozenset(map(earlier, older)) | (buffers - older) if older else buffers


def ageless(t: Type) -> Type:
    """The type with memory named by the place that made it alone."""
    if not t.buffers and type(t) in LEAVES:
        return t
    found: Type = _kept(t, "ageless", _ageless)
    return found


def _ageless(t: Type) -> Type:
    t = map_parts(t, ageless)
    if not any(isinstance(b, Earlier) for b in t.buffers):
        return t
    return replace(t, buffers=ageless_buffers(t.buffers))


@lru_cache(maxsize=4096)
def ageless_buffers(buffers: Buffers) -> Buffers:
    """Memory named by the place that made it alone."""
    if not any(isinstance(b, Earlier) for b in buffers):
        return buffers
    return frozenset(b.buffer if isinstance(b, Earlier) else b for b in buffers)


def site_of(buffer: Any) -> int | None:
    """Where memory was made: the identity of a node; None if it was given."""
    if isinstance(buffer, Earlier):
        return site_of(buffer.buffer)
    if isinstance(buffer, tuple):
        buffer = buffer[0]
    return buffer if isinstance(buffer, int) else None


def sites_of(buffers: Buffers) -> set[int]:
    """Where memory was made, as far as it was not given."""
    found = map(site_of, buffers)
    return {site for site in found if site is not None}


@lru_cache(maxsize=4096)
def _sites_of(buffers: Buffers) -> frozenset[int]:
    return frozenset(sites_of(buffers))


def returned_by(t: Type, site: int, given: Buffers) -> Type:
    """The type of what a call gives: memory made in it is another for each call."""

    def visit(part: Type) -> Type:
        part = map_parts(part, visit)
        if not part.buffers:
            return part
        return replace(part, buffers=NONE.union(*map(renamed, part.buffers)))

    def renamed(buffer: Any) -> Buffers:
        if isinstance(buffer, Earlier):  # a recursive call has aged what it was given
            same = given & {buffer, buffer.buffer}
            return same or frozenset(map(earlier, renamed(buffer.buffer)))
        if buffer in given or site_of(buffer) is None:
            return frozenset([buffer])
        return frozenset([(site, buffer[1] if isinstance(buffer, tuple) else buffer)])

    return visit(t)


def has_leaves(t: Type) -> bool:
    """Whether a part of it is supposed to be a leaf of a tree."""
    return isinstance(t, Leaf) or any(map(has_leaves, parts(t)))


def with_leaves(t: Type) -> Type:
    """The container with what is not known in it supposed to be leaves of a tree."""

    def supposed(part: Type) -> Type:
        if type(part) is Unknown:
            return Leaf(part.active, part.buffers)
        return with_leaves(part)

    return map_parts(t, supposed)


def without_buffers(t: Type) -> Type:
    """The type of a fresh copy: the same value that shares no memory."""
    t = map_parts(t, without_buffers)
    return replace(t, buffers=NONE) if t.buffers else t


def forget_facts(t: Type) -> Type:
    """Compare-equal form: types that differ in activity or buffers only."""
    t = map_parts(t, forget_facts)
    if isinstance(t, Const) or not (t.active or t.buffers):
        return t
    return replace(t, active=False, buffers=NONE)


# -- the type of a live value ------------------------------------------------------


def type_of(value: Any, buffer: Any = None) -> Type:
    """The exact type of a live value; arrays and lists belong to `buffer`."""
    buffers = NONE if buffer is None else frozenset([buffer])
    inner = (lambda key: None) if buffer is None else (lambda key: (buffer, key))
    if isinstance(value, (bool, type(None), str, bytes)):
        return Const(value=value)
    if type(value) in (int, float, complex):
        return _number_type(value, buffer)
    if isinstance(value, np.generic):
        return Scalar(dtype=value.dtype)
    if is_plain_number(value):  # of a subclass
        return Scalar(dtype=number_dtype(value), python=True)
    if isinstance(value, np.ndarray) or is_array_of_others(value):
        if value.dtype.kind not in "biufc":
            return Other(cls=type(value))
        if isinstance(value, np.ndarray) and not is_plain_array(value):
            return Other(cls=type(value))
        return Array(False, buffers, np.dtype(value.dtype), tuple(value.shape))
    if isinstance(value, tuple):
        cls = type(value) if type(value) is not tuple else None
        items = (type_of(v, inner(i)) for i, v in enumerate(value))
        return Tuple(items=tuple(items), cls=cls)
    if type(value) is list:
        items = (type_of(v, inner(i)) for i, v in enumerate(value))
        return List(False, buffers, tuple(items))
    if type(value) in DICTS:
        now = list(value.items())  # a cache may grow while it is looked at
        pairs = ((k, type_of(v, inner(k))) for k, v in now)
        return Dict(False, buffers, tuple(pairs), None, type(value))
    if isinstance(value, range):
        return Range(length=len(value), values=value)
    names = record_fields(value)
    if names is not None:
        pairs = ((n, type_of(getattr(value, n, None), inner(n))) for n in names)
        return Object(False, buffers, type(value), tuple(pairs))
    callables = (type, np.dtype, np.ufunc, pytypes.ModuleType, pytypes.FunctionType)
    if isinstance(value, callables) or callable(value):
        return Const(value=inside(value))
    if value is Ellipsis or isinstance(value, slice):
        return Const(value=value)
    return Other(cls=type(value))


def _number_type(value: int | float | complex, buffer: Any) -> Scalar:
    """The type of a Python number; positive whole ones of an argument are sizes."""
    root = buffer
    while isinstance(root, tuple) and len(root) == 2 and isinstance(root[0], tuple):
        root = root[0]
    given = isinstance(root, tuple) and root[:1] == ("param",)
    sized = given and type(value) is int and is_size(value)
    size = Sym(repr(buffer), any_size=True) if sized else None
    return Scalar(dtype=np.dtype(type(value)), python=True, size=size)


# -- join ----------------------------------------------------------------------------


def join(a: Type, b: Type) -> Type:
    """The least type that covers both: what is known where two paths meet.

    The first one itself, where it covers the other.
    """
    if a is b or a == b:
        return a
    both = _joined(a, b)
    return a if both == a else both


def _slices(a: Type, b: Type) -> tuple[Type, Type]:
    """Two slices with the types of their bounds, others as they are."""
    bounds = _bounds(a), _bounds(b)
    return bounds if None not in bounds else (a, b)  # type: ignore[return-value]


def _bounds(t: Any) -> Tuple | None:
    """A slice with the types of its bounds; None of what is none."""
    given = getattr(t, "value", None)
    if not isinstance(given, slice):
        return t if is_slice(t) else None
    items = (given.start, given.stop, given.step)
    return Tuple(items=tuple(map(type_of, items)), cls=slice)


def _joined(a: Type, b: Type) -> Type:
    a, b = _slices(a, b)
    active = a.active or b.active
    buffers = a.buffers | b.buffers
    if all(map(is_entry, (a, b))) and Leaf in (type(a), type(b)):
        return Leaf(active, buffers)
    if isinstance(a, OrNone) or isinstance(b, OrNone) or is_none(a) or is_none(b):
        found = _value_or_none(a, b)
        if found is not None:
            return found
    if isinstance(a, _SPREAD) or isinstance(b, _SPREAD):
        spread = _number_or_array(a, b, active, buffers)
        if spread is not None:
            return spread
    if type(a) is Unknown and type(b) in LEAVES and type(b) is not Told:
        return Unknown(active, buffers)
    if isinstance(a, Stale) or isinstance(b, Stale):
        return Stale()
    if isinstance(a, Told) or isinstance(b, Told):
        same = isinstance(a, Other) and isinstance(b, Other) and a.cls is b.cls
        return Told(False, all_buffers(a) | all_buffers(b), a.cls if same else None)  # type: ignore[attr-defined]
    if (
        isinstance(a, Tuple)
        and isinstance(b, Tuple)
        and len(a.items) == len(b.items)
        and a.cls is b.cls
    ):
        items = tuple(map(join, a.items, b.items))
        return Tuple(active, buffers, items, a.cls, a.view or b.view)
    if isinstance(a, (Tuple, List)) and isinstance(b, (Tuple, List)):
        return _join_lists(a, b, active, buffers)
    if isinstance(a, Dict) and isinstance(b, Dict) and a.cls is b.cls:
        return _join_dicts(a, b, active, buffers)
    if isinstance(a, Object) and isinstance(b, Object) and a.cls is b.cls:
        left, right = dict(a.items), dict(b.items)
        keys = [*left, *(k for k in right if k not in left)]
        fields = tuple(
            (
                k,
                join(
                    left[k] if k in left else right[k],
                    right[k] if k in right else left[k],
                ),
            )
            for k in keys
        )
        return Object(active, buffers, a.cls, fields)
    if is_number(a) and is_number(b):
        dtype = dtype_of(a) if same_dtype(dtype_of(a), dtype_of(b)) else None
        python = _python(a) if _python(a) is _python(b) else None
        return Scalar(active, buffers, dtype, python)
    if isinstance(a, Array) and isinstance(b, Array):
        dtype = a.dtype if same_dtype(a.dtype, b.dtype) else None
        return Array(active, buffers, dtype, join_shapes(a.shape, b.shape))
    if isinstance(a, Range) and isinstance(b, Range):
        return Range(active, buffers)
    if isinstance(a, Other) and isinstance(b, Other):
        return Other(active, buffers, a.cls if a.cls is b.cls else None)
    pullbacks = isinstance(a, Transformed) and isinstance(b, Transformed)
    if pullbacks and a.maker is b.maker is None:  # type: ignore[attr-defined]
        left, right = a.function, b.function  # type: ignore[attr-defined]
        return Transformed(active, buffers, function=join(left, right))
    return Unknown(is_active(a) or is_active(b), all_buffers(a) | all_buffers(b))


def is_none(t: Type | None) -> bool:
    """Whether the value is known to be None."""
    return isinstance(t, Const) and t.value is None


def _value_or_none(a: Type, b: Type) -> OrNone | None:
    """The join of None and tuples of one length, or reals, if it is one.

    What else may be None chooses what is done: an axis, a size.
    """
    both = join_all(t for t in map(present, (a, b)) if not is_none(t)) or UNKNOWN
    if isinstance(both, Tuple):
        whole = both.view is None and not is_slice(both)
        return or_none(both) if whole else None
    dtype = dtype_of(both) if isinstance(both, Array) or is_number(both) else None
    return or_none(both) if dtype is not None and dtype.kind in "fc" else None


def is_local(t: Type | None) -> bool:
    """Whether it is a function that is made in the function at hand."""
    return isinstance(t, (Closure, Transformed))


def is_entry(t: Type) -> bool:
    """Whether it is a number or an array, or supposed to be one."""
    return isinstance(t, (Array, Leaf, NumberOrArray)) or is_number(t)


_SPREAD = (Array, NumberOrArray)


def _number_or_array(
    a: Type, b: Type, active: bool, buffers: Buffers
) -> NumberOrArray | None:
    """The join of a number and an array of known dtype and shape, if it is one."""
    arrays = [t for t in (a, b) if isinstance(t, _SPREAD)]
    numbers = [t for t in (a, b) if is_number(t)]
    if len(arrays) + len(numbers) < 2 or type(a) is type(b) is Array:
        return None
    dtype, shape = arrays[0].dtype, arrays[0].shape
    if dtype is None or not shape or dtype.kind not in "iufc":
        return None
    if len(arrays) == 2:
        shape = join_shapes(shape, arrays[1].shape)
        if not same_dtype(dtype, arrays[1].dtype):
            return None
    if shape is None or None in shape:
        return None
    for number in numbers:
        own = dtype_of(number)
        weak = _python(number) and own is not None
        if not same_dtype(own, dtype) and not (
            weak and "biufc".index(own.kind) <= "biufc".index(dtype.kind)  # type: ignore[union-attr]
        ):
            return None
    return NumberOrArray(active, buffers, dtype, shape)


def _python(t: Type) -> bool | None:
    return (
        t.python
        if isinstance(t, Scalar)
        else not isinstance(getattr(t, "value", None), np.generic)
    )


def join_shapes(a: Shape | None, b: Shape | None) -> Shape | None:
    """Dimensions that agree stay; the others become unknown."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(map(supposed_same, a, b))


def join_all(ts: Any) -> Type | None:
    """The join of several types, None for none."""
    result: Type | None = None
    for t in ts:
        result = t if result is None else join(result, t)
    return result


def _join_lists(a: Any, b: Any, active: bool, buffers: Buffers) -> Type:
    cls = _sequence(a)
    if cls is not _sequence(b):
        return Unknown(is_active(a) or is_active(b), all_buffers(a) | all_buffers(b))
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        items = tuple(map(join, a.items, b.items))
        return List(active, buffers, items, None, cls, a.view or b.view)
    elem = join_all(parts(a) + parts(b))
    return List(active, buffers, None, elem, cls, a.view or b.view)


def _sequence(t: Tuple | List) -> type:
    """The class of a list or a tuple: the one of a namedtuple is its own."""
    return t.cls or tuple if isinstance(t, Tuple) else t.cls


def _join_dicts(a: Dict, b: Dict, active: bool, buffers: Buffers) -> Type:
    if a.items is not None and b.items is not None:
        left, right = dict(a.items), dict(b.items)
        if list(left) == list(right):
            pairs = tuple((k, join(left[k], right[k])) for k in left)
            return Dict(active, buffers, pairs, None, a.cls)
    return Dict(active, buffers, None, join_all(parts(a) + parts(b)), a.cls)


# -- shapes --------------------------------------------------------------------------


def is_one(dim: Dim) -> bool | None:
    """Whether the size is 1; None when that is not known."""
    if isinstance(dim, int):
        return dim == 1
    if isinstance(dim, Sym) and dim.sizes is not None:
        return dim.sizes.suppose_one(dim)
    if isinstance(dim, Sym) and dim.offset == 0 and not dim.any_size:
        return False
    return None


def supposed_same(m: Dim, n: Dim) -> Dim:
    """One size for two that are the same in every call; None if they may differ."""
    if m == n:
        return m
    sizes = common_sizes(m, n)
    if sizes is None or isinstance(m, Count | None) or isinstance(n, Count | None):
        return None
    return sizes.suppose_same(m, n)


def supposed_order(m: Dim, n: Dim) -> bool | None:
    """Whether `m >= n` in every call; None if that may differ."""
    if isinstance(m, int) and isinstance(n, int):
        return m >= n
    if m == n is not None:
        return True
    sizes = common_sizes(m, n)
    if sizes is None or isinstance(m, Count | None) or isinstance(n, Count | None):
        return None
    return sizes.suppose_order(m, n)


def known_order(m: Dim, n: Dim) -> bool | None:
    """Whether `m >= n` is supposed already (True), or `m < n` (False)."""
    sizes = common_sizes(m, n)
    if sizes is None or isinstance(m, Count | None) or isinstance(n, Count | None):
        return None
    return sizes.is_ordered(m, n)


def common_sizes(m: Dim, n: Dim) -> Sizes | None:
    """Where it is noted down what is supposed of the two sizes."""
    found = {id(d.sizes): d.sizes for d in (m, n) if isinstance(d, Sym)}
    return found.popitem()[1] if len(found) == 1 else None


def dims_of(types: Iterable[Type]) -> Iterator[Dim]:
    """Every dimension of arrays in the types."""
    for t in types:
        if isinstance(t, _SPREAD):
            yield from t.shape or ()
        yield from dims_of(parts(t))


def resolved(t: Type, sizes: Sizes) -> Type:
    """The type with sizes as few as are left, which belong to `sizes`."""
    if isinstance(t, _SPREAD) and any(isinstance(n, Sym) for n in t.shape or ()):
        shape = tuple(
            sizes.resolved(n) if isinstance(n, Sym) else n for n in t.shape or ()
        )
        return replace(t, shape=shape)
    return map_parts(t, lambda part: resolved(part, sizes))


def suppose_contracted(m: Shape, n: Shape) -> None:
    """A product of these shapes is one that NumPy makes: the axes that it sums fit."""
    if m and n:
        suppose_fit(m[-1], n[-2] if len(n) > 1 else n[0])


def suppose_fit(m: Dim, n: Dim) -> None:
    """The function runs with these sizes only if they are the same."""
    sizes = common_sizes(m, n)
    if sizes is not None and isinstance(m, Sym | int) and isinstance(n, Sym | int):
        sizes.suppose_fit(m, n)


def shift(dim: Dim, offset: int) -> Dim:
    """`dim + offset`."""
    if isinstance(dim, Sym):
        if offset > 0:
            suppose_there(dim)
        return plus(dim, offset)
    if isinstance(dim, int):
        return dim + offset
    if isinstance(dim, Count):
        return Count(dim.places, dim.name, dim.axis, dim.offset + offset)
    return None


def suppose_there(dim: Dim) -> None:
    """A difference is a size: `x[2:]` has not `n - 2` items where `x` has one."""
    if isinstance(dim, Sym) and dim.offset < 0 and dim.sizes is not None:
        dim.sizes.suppose_order(dim, 0)


def as_dim(t: Type | None) -> Dim:
    """The dimension that a number stands for, None where it is not known."""
    if isinstance(t, Const):
        return int(t.value) if isinstance(t.value, (int, np.integer)) else None
    return t.size if isinstance(t, Scalar) else None


def as_number(dim: Dim) -> Type:
    """The type of the number of places of an axis."""
    if isinstance(dim, int):
        return Const(value=dim)
    return replace(INT, size=dim) if isinstance(dim, Sym) else INT


#: How long the name of a size may get.
_LONGEST = 200


def combined_dims(operator_name: str, m: Dim, n: Dim) -> Dim:
    """The sum, product, quotient or difference of sizes, None where not known."""
    if n == 1 and operator_name in ("mul", "floordiv", "truediv"):
        return m
    if m == 1 and operator_name == "mul":
        return n
    if not isinstance(m, (int, Sym)) or not isinstance(n, (int, Sym)):
        return None
    if isinstance(m, int) and isinstance(n, int):
        if operator_name == "floordiv":
            return m // n if n > 0 else None
        if operator_name == "truediv":
            return m // n if n > 0 and m % n == 0 else None
        return {"add": m + n, "sub": m - n, "mul": m * n}[operator_name]
    if any(isinstance(d, int) and d <= 0 for d in (m, n)):
        return None
    if operator_name == "sub" and isinstance(n, int):  # never below 0
        least = 0
        if isinstance(m, Sym) and m.made is None:
            least = m.offset + (1 if m.any_size else 2)
        return shift(m, -n) if n <= least else None
    if operator_name == "add":
        return added_dims(m, n)
    made = {"mul": "*", "floordiv": "//", "truediv": "/", "sub": "-"}[operator_name]
    found: Dim = made_of(made, m, n)
    return None if isinstance(found, Sym) and len(found.name) > _LONGEST else found


def added_dims(m: Dim, n: Dim) -> Dim:
    """The sum of two sizes, None where one is not known."""
    if isinstance(m, int) and not isinstance(n, int):
        return shift(n, m)
    if isinstance(n, int):
        return shift(m, n)
    if not isinstance(m, Sym) or not isinstance(n, Sym):
        return None
    suppose_there(m)
    suppose_there(n)
    found: Dim = made_of("+", m, n)
    return None if isinstance(found, Sym) and len(found.name) > _LONGEST else found


def broadcast_dims(m: Dim, n: Dim) -> Dim:
    """The size that two aligned sizes broadcast to."""
    if m == n or n == 1:
        return m
    if m == 1:
        return n
    if (same := supposed_same(m, n)) is not None:
        return same
    if is_one(m) is False:
        return m
    if is_one(n) is False:
        return n
    return None


def broadcast_shapes(*shapes: Shape | None) -> Shape | None:
    """NumPy's broadcasting over dimensions that may be unknown."""
    if any(shape is None for shape in shapes):
        return None
    known: list[Shape] = [shape for shape in shapes if shape is not None]
    rank = max((len(shape) for shape in known), default=0)
    result: list[Dim] = []
    for axis in range(rank):
        dim: Dim = 1
        for shape in known:
            position = axis - (rank - len(shape))
            if position >= 0:
                dim = broadcast_dims(dim, shape[position])
        result.append(dim)
    return tuple(result)


def same_shape(a: Shape | None, b: Shape | None) -> bool:
    """Whether the shapes are certainly equal."""
    if a is None or b is None or len(a) != len(b):
        return False
    return all(map(same_size, a, b))


def are_alike(a: Type, b: Type) -> bool:
    """Whether arrays are certainly of one dtype and one shape."""
    known = dtype_of(a) is not None and dtype_of(a) == dtype_of(b)
    return known and same_shape(shape_of(a), shape_of(b))


def same_size(m: Dim, n: Dim) -> bool:
    """Whether the sizes are certainly equal."""
    if m is None or n is None:
        return False
    sizes = None if m == n else common_sizes(m, n)
    if sizes is None or isinstance(m, Count) or isinstance(n, Count):
        return m == n
    return sizes.resolved(m) == sizes.resolved(n)


def reduced_axes(operand: Shape | None, result: Shape | None) -> tuple | None:
    """The axes over which an adjoint of shape `result` is summed to fit `operand`.

    Returns `(leading, kept)`: how many leading axes to sum away, and the axes (counted
    in `operand`) to sum with `keepdims`; None when the shapes do not tell.
    """
    if operand is None or result is None or len(operand) > len(result):
        return None
    leading = len(result) - len(operand)
    kept = []
    for axis, (m, n) in enumerate(zip(operand, result[leading:], strict=True)):
        if same_size(m, n) or n == 1:
            continue
        if m == 1:  # the sum along an axis of one is what is there
            kept.append(axis)
        elif is_one(m) is False:
            continue
        else:
            return None
    return leading, tuple(kept)
