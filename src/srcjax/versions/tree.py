"""Arguments as pytrees: what a call's signature is, which leaves are differentiated.

Containers are optree's; a dataclass is a container of its fields.
"""

from __future__ import annotations

import copy
import enum
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Set, ValuesView
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from srcjax.analysis.arrays import ARRAYS
from srcjax.analysis.plain import (
    DICTS,
    is_array_of_others,
    is_nearly_number,
    is_plain_array,
    is_plain_number,
)
from srcjax.analysis.registered import record_fields, structure_fields
from srcjax.errors import ArgumentError, UnsupportedError
from srcjax.late import late
from srcjax.runtime.basics import of_class
from srcjax.runtime.containers import copied_together

if TYPE_CHECKING:
    import optree

    from srcjax.analysis import sizes as sz
    from srcjax.analysis import types as ty
else:
    optree = late("optree")
    sz = late("srcjax.analysis.sizes")
    ty = late("srcjax.analysis.types")


#: What the user calls the size at a place such as `x.shape[0]`, while a text is written
#: for arguments that are told by name.
sizes_called: ContextVar[Mapping[str, str]] = ContextVar("sizes_called")


def generalise(
    types: list[ty.Type], names: list[str]
) -> tuple[list[ty.Type], Any, sz.Sizes]:
    """The types with sizes other than 0 and 1 replaced by symbols, each by its own.

    Also what they have in common: hashable, equal for calls that differ in sizes only;
    and the sizes that the symbols stand for.
    """
    sizes = sz.Sizes()
    names_of = sizes_called.get({})

    def visit(t: ty.Type, place: str) -> ty.Type:
        if isinstance(t, ty.Array) and t.shape:
            dims: list[Any] = []
            for axis, n in enumerate(t.shape):
                name = f"{place}.shape[{axis}]"
                by_value = names_of.get(name, "").isdecimal()
                if isinstance(n, int) and n > 1 and not by_value:
                    sizes.example[name] = n
                    n = sz.Sym(name, sizes=sizes)
                dims.append(n)
            return ty.replace(t, shape=tuple(dims))
        return map_items(t, place, visit)

    general = [visit(t, name) for t, name in zip(types, names, strict=True)]
    for place, called in names_of.items():
        if place in sizes.example:
            first = next(p for p, n in names_of.items() if n == called)
            sizes.suppose_same(sz.Sym(first, sizes=sizes), sz.Sym(place, sizes=sizes))
            sizes.called[place] = called
    return general, tuple(general), sizes


def of_any_length(types: list[ty.Type], names: list[str]) -> Any:
    """What is the same of the types for lists of other lengths, with items of a kind.

    Hashable; None where there is no such list.
    """
    found: list[Any] = []
    for t, name in zip(types, names, strict=True):
        items = t.items if isinstance(t, ty.List) else None
        kinds = {
            ty.without_buffers(renamed(item, f"{name}[{i}]", f"{name}[]"))
            for i, item in enumerate(items or ())
        }
        found.append(("list", *kinds) if len(kinds) == 1 else ty.without_buffers(t))
    return tuple(found) if any(isinstance(f, tuple) for f in found) else None


def renamed(t: ty.Type, old: str, new: str) -> ty.Type:
    """The type with sizes called after another place."""
    if isinstance(t, ty.Array) and t.shape:
        shape = tuple(
            sz.Sym(new + n.name.removeprefix(old)) if isinstance(n, sz.Sym) else n
            for n in t.shape
        )
        return ty.replace(t, shape=shape)
    return ty.map_parts(t, lambda part: renamed(part, old, new))


def map_items(t: ty.Type, place: str, f: Callable[[ty.Type, str], ty.Type]) -> ty.Type:
    """The same container of `f` of the types in it, and of the expressions for them."""
    if isinstance(t, (ty.Tuple, ty.List)) and t.items is not None:
        items = tuple(f(part, f"{place}[{i}]") for i, part in enumerate(t.items))
        return ty.replace(t, items=items)
    if isinstance(t, ty.Dict) and t.items is not None:
        pairs = tuple((k, f(part, f"{place}[{k!r}]")) for k, part in t.items)
        return ty.replace(t, items=pairs)
    if isinstance(t, ty.Object):
        pairs = tuple((k, f(part, f"{place}.{k}")) for k, part in t.items)
        return ty.replace(t, items=pairs)
    return t


def argument_type(
    value: Any, name: str, active: bool, ints_are_real: bool = True
) -> ty.Type:
    """The type of an argument. Raises ArgumentError if it cannot be differentiated.

    With `ints_are_real`, Python ints of a differentiated one are floats, and other
    whole numbers are refused; else nothing flows into any of them.
    """
    t = ty.type_of(value, ("param", name))
    if isinstance(value, np.matrix):
        check_leaf(value, name)
    if active:
        if value is None:
            raise ArgumentError(
                f"argument `{name}` is None; it cannot be differentiated",
                instead="a float or an array of floats, or leave it out of argnums",
            )
        check_differentiable(value, name, whole=not ints_are_real)
        t = as_real(t) if ints_are_real else t
        t = ty.with_active(t, True)
    return t


def as_real(t: ty.Type) -> ty.Type:
    """Python ints where a real number is meant are floats."""
    if (
        isinstance(t, ty.Scalar)
        and t.python
        and t.dtype is not None
        and t.dtype.kind == "i"
    ):
        return ty.Scalar(t.active, t.buffers, np.dtype(float), True)
    if isinstance(t, ty.Object):
        kept = integer_fields(t.cls, tuple(k for k, _ in t.items))
        pairs = ((k, part if k in kept else as_real(part)) for k, part in t.items)
        return ty.replace(t, items=tuple(pairs))
    if isinstance(t, (ty.Tuple, ty.List, ty.Dict)):
        return ty.map_parts(t, as_real)
    return t


def integer_fields(cls: Any, names: tuple[str, ...]) -> set[str]:
    """Fields of a dataclass that are declared as ints: sizes, say, no real numbers.

    And those that belong to the structure of a tree.
    """
    kept = set(structure_fields(cls, names))
    if not is_dataclass(cls):
        return kept
    return kept | {f.name for f in fields(cls) if f.type in (int, "int")}


def has_ints(value: Any) -> bool:
    """Whether a Python int stands where a real number is meant."""
    if type(value) is int:
        return True
    if isinstance(value, (list, tuple)):
        return any(map(has_ints, value))
    if isinstance(value, dict):
        return any(map(has_ints, value.values()))
    names = record_fields(value)
    if names is not None:
        kept = integer_fields(type(value), names)
        return any(has_ints(getattr(value, n, None)) for n in names if n not in kept)
    return False


def has_reals(value: Any) -> bool:
    """Whether floats (or complex numbers) are in it: what has a derivative."""
    if isinstance(value, (float, complex, np.inexact)):
        return True
    if isinstance(value, (list, tuple)):
        return any(map(has_reals, value))
    if isinstance(value, dict):
        return any(map(has_reals, value.values()))
    names = record_fields(value)
    if names is not None:
        return any(has_reals(getattr(value, name, None)) for name in names)
    dtype = getattr(value, "dtype", None)
    return dtype is not None and getattr(dtype, "kind", "") in ("f", "c")


def is_whole(leaf: Any) -> bool:
    """Whether it is an int, a flag, or an array of them."""
    if type(leaf) in (int, bool):
        return True
    plain = isinstance(leaf, (np.ndarray, np.generic))
    return plain and leaf.dtype.kind in "biu" and not isinstance(leaf, np.matrix)


def holds_whole(value: Any) -> bool:
    """Whether an array of whole numbers is in a list, tuple or dict."""
    if isinstance(value, (list, tuple)):
        return any(is_whole(part) or holds_whole(part) for part in value)
    return isinstance(value, dict) and holds_whole(list(value.values()))


def with_reals(value: Any) -> Any:
    """The value with Python ints as floats."""

    def convert(leaf: Any) -> Any:
        if type(leaf) is int:
            return float(leaf)
        if has_ints(leaf):  # a dataclass, which may be frozen
            whole, leaf = leaf, copy.copy(leaf)
            names = record_fields(whole) or ()
            kept = integer_fields(type(whole), names)
            for name in names:
                if name not in kept and hasattr(whole, name):
                    part = with_reals(getattr(whole, name))
                    object.__setattr__(leaf, name, part)
        return leaf

    return optree.tree_map(convert, value, none_is_leaf=True)


def check_differentiable(value: Any, name: str, whole: bool = False) -> None:
    """Raise ArgumentError unless every leaf is a real (or complex) number or array.

    Or one of whole numbers or flags, if these may be among them (`whole`).
    """
    names = record_fields(value)
    if names is not None:
        for field in names:
            check_part(getattr(value, field, None), f"{name}.{field}")
        return
    check_containers(value, name)
    paths, leaves, _ = optree.tree_flatten_with_path(value, none_is_leaf=True)
    for path, leaf in zip(paths, leaves, strict=True):
        where = name + "".join(f"[{key!r}]" for key in path)
        if whole and is_whole(leaf):
            continue
        if record_fields(leaf) is None:
            check_leaf(leaf, where)
        else:
            check_part(leaf, where)
    if isinstance(value, (np.ndarray, np.generic)):
        check_leaf(value, name)


def check_containers(value: Any, where: str) -> None:
    """Lists, tuples, namedtuples and dicts; what is derived from them is refused."""
    named = isinstance(value, tuple) and hasattr(value, "_fields")
    if type(value) in (list, tuple, *DICTS) or named:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            check_containers(item, f"{where}[{key!r}]")
        return
    if isinstance(value, (np.ndarray, np.generic, str, bytes)):
        return
    if hasattr(value, "__len__") and not hasattr(value, "dtype"):
        raise other_container(value, where)


def check_container(value: Any, where: str) -> None:
    """Raise ArgumentError if a list, tuple or dict is of a class derived from these."""
    named = isinstance(value, tuple) and hasattr(value, "_fields")
    if type(value) not in (list, tuple, *DICTS) and not named:
        raise other_container(value, where)


def other_container(value: Any, where: str) -> ArgumentError:
    return ArgumentError(
        f"argument `{where}` is of the container class {type(value).__name__}",
        instead="a list, tuple, dict, namedtuple or dataclass",
    )


def check_part(value: Any, where: str) -> None:
    """A field of a dataclass: what carries no derivative is allowed there."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "OV":
        check_dtype(value, where)
    names = record_fields(value)
    if names is not None:
        for name in names:
            check_part(getattr(value, name, None), f"{where}.{name}")
    elif isinstance(value, (list, tuple, dict)):
        if has_reals(value):
            check_containers(value, where)
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            check_part(item, f"{where}[{key!r}]")
    elif isinstance(value, (set, frozenset, deque, array, memoryview)):
        if any(map(has_reals, value)):
            check_containers(value, where)
    elif not isinstance(value, enum.Enum):
        check_nearly(value, where)


def seed_like(
    seed: Any, value: Any, where: str = "dy", kind: str = "an adjoint"
) -> Any:
    """The seed of a pullback, or a tangent, in the dtypes of `value`.

    Raises ArgumentError if it has another structure or shape.
    """
    if (
        type(seed) in ARRAYS
        and type(value) in ARRAYS
        and seed.dtype is value.dtype
        and seed.shape == value.shape
    ):
        return seed  # as most are: the rest takes as long as a small pullback
    if isinstance(value, dict):
        if not isinstance(seed, dict) or seed.keys() != value.keys():
            raise ArgumentError(
                f"`{where}` has not the keys of the value: {list(value)}",
                instead=f"{kind} of the same structure as the value",
            )
        parts = {
            k: seed_like(seed[k], v, f"{where}[{k!r}]", kind) for k, v in value.items()
        }
        return of_class(value, parts)
    if isinstance(value, (list, tuple)):
        if not isinstance(seed, (list, tuple)) or len(seed) != len(value):
            raise ArgumentError(
                f"`{where}` is no {type(value).__name__} of {len(value)} items",
                instead=f"{kind} of the same structure as the value",
            )
        items = [
            seed_like(s, v, f"{where}[{i}]", kind)
            for i, (s, v) in enumerate(zip(seed, value, strict=True))
        ]
        if hasattr(value, "_fields"):
            return type(value)(*items)
        return type(value)(items)
    if isinstance(value, (np.ndarray, np.generic, float, complex)):
        if np.shape(seed) != np.shape(value):
            raise ArgumentError(
                f"`{where}` has shape {np.shape(seed)}; the value has "
                f"{np.shape(value)}",
                instead=f"{kind} of the same shape as the value",
            )
        if not np.iscomplexobj(value) and np.iscomplexobj(seed):
            raise ArgumentError(
                f"`{where}` is complex; the value is real",
                instead=f"{kind} that is real too: `np.real({where})`",
            )
        if isinstance(value, (float, complex)) and not isinstance(value, np.generic):
            return type(value)(seed)
        dtype = value.dtype
        if dtype.kind in "fc" and getattr(seed, "dtype", None) != dtype:
            cast = np.asarray(seed, dtype)
            return cast if isinstance(value, np.ndarray) else cast[()]
    return seed


def check_leaf(leaf: Any, where: str) -> None:
    """Raise ArgumentError unless it is a real (or complex) number or array."""
    if leaf is None:
        return
    if isinstance(leaf, np.generic) or type(leaf) in ARRAYS:
        check_dtype(leaf, where)
        return
    if isinstance(leaf, np.matrix):
        raise ArgumentError(
            f"argument `{where}` is an np.matrix, whose `*` is the product of matrices",
            instead=f"`np.asarray({where})`, and `@` where that product is meant",
        )
    check_nearly(leaf, where)
    if isinstance(leaf, np.ndarray) or is_array_of_others(leaf):
        check_dtype(leaf, where)
        return
    if type(leaf) in (int, float, complex) or is_plain_number(leaf):
        return
    raise ArgumentError(
        f"argument `{where}` is a {type(leaf).__name__}; it cannot be differentiated",
        instead="a float or an array of floats, or leave it out of argnums",
    )


def check_dtype(leaf: Any, where: str) -> None:
    """Raise ArgumentError unless it is an array of real (or complex) numbers."""
    if leaf.dtype.kind in "fc":
        return
    if leaf.dtype.kind in "iub":
        raise ArgumentError(
            f"argument `{where}` is an array of {leaf.dtype.name}; only real and "
            "complex numbers have a derivative",
            instead=f"`{where}.astype(float)`, or leave it out of argnums",
        )
    raise ArgumentError(
        f"argument `{where}` is an array of {leaf.dtype.name}; it cannot be "
        "differentiated",
        instead="an array of floats, or leave it out of argnums",
    )


def check_examples(leaf: Any, where: str) -> None:
    """Raise ArgumentError unless a batch of examples is an array of numbers."""
    if type(leaf) in ARRAYS and leaf.dtype.kind in "biufcSUmM":
        return
    check_nearly(leaf, where)
    is_array = isinstance(leaf, np.ndarray) or is_array_of_others(leaf)
    if (is_array and leaf.dtype.kind in "OV") or (not is_array and np.shape(leaf)):
        raise ArgumentError(
            f"vmap: `{where}` is a {type(leaf).__name__}, which is no array of numbers",
            instead=f"`np.asarray({where}, dtype=float)`, or None for it in in_axes",
        )


def check_nearly(leaf: Any, where: str) -> None:
    """Raise ArgumentError for what is nearly an array or a number."""
    cls = type(leaf).__name__
    if isinstance(leaf, np.ndarray) and not is_plain_array(leaf):
        raise ArgumentError(
            f"argument `{where}` is a {cls}, a class of arrays with operations of its "
            "own",
            instead=f"`np.asarray({where})`",
        )
    if isinstance(leaf, (np.generic, bool)) or type(leaf) in (int, float, complex):
        return
    if isinstance(leaf, (int, float, complex)):
        if not is_plain_number(leaf):
            raise ArgumentError(
                f"argument `{where}` is a {cls}, a class of numbers with "
                "operations of its own",
                instead=f"`float({where})`",
            )
        return
    if is_nearly_number(leaf):
        raise ArgumentError(
            f"argument `{where}` is a {cls}, which is nearly a number or an array",
            instead=f"`np.asarray({where})`, or `float({where})` of one number",
        )


#: Leaves of results that need no look.
_PLAIN = (np.ndarray, np.generic, float, int, complex, str, bytes, type(None))


def check_result(value: Any, who: str) -> None:
    """Raise ArgumentError for a result whose parts have no derivative of their own.

    A set has no order, an iterator can be read once, and a view of a dict is none: what
    is in them is no part of a pytree. Those that hold text alone are let go.
    """
    if isinstance(value, _PLAIN):
        if isinstance(value, np.ndarray) and value.dtype == object:
            raise no_pytree("an array of objects", who)
        special = isinstance(value, np.ndarray) and type(value) is not np.ndarray
        if special and isinstance(value, np.ma.MaskedArray):  # `np.ma` is imported here
            raise no_pytree("a masked array", who)
    elif isinstance(value, (list, tuple)):
        for item in value:
            check_result(item, who)
    elif isinstance(value, dict):
        for item in value.values():
            check_result(item, who)
    elif isinstance(value, (Set, ValuesView)):
        if not all(isinstance(item, str) for item in value):
            raise no_pytree(f"a {type(value).__name__}", who)
    elif isinstance(value, Iterator):
        raise no_pytree(f"a {type(value).__name__}", who)


def no_pytree(what: str, who: str) -> ArgumentError:
    """The error that a function returns what is no pytree."""
    return ArgumentError(
        f"the function returns {what}; {who} needs numbers and arrays, in lists, "
        "tuples or dicts",
        instead="`list(...)` of it, or the items themselves",
    )


def copy_saved(value: Any) -> Any:
    """What a forward sweep saved, for a backward sweep that writes to it: a copy.

    Raises UnsupportedError for an object that cannot be copied, as a queue.
    """
    try:
        return copied_together(value)
    except TypeError as error:
        raise UnsupportedError(
            f"a pullback may be called again, but what it needs has no copy: {error}",
            instead="`srcjax.grad`, or an object that `copy.deepcopy` copies",
        ) from None
