"""Arguments as pytrees: what a call's signature is, which leaves are differentiated.

Containers are optree's; a dataclass is a container of its fields.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import optree

from srcjax.analysis.types import (
    Array,
    Dict,
    List,
    Object,
    Scalar,
    Sym,
    Tuple,
    Type,
    map_parts,
    type_of,
    with_active,
)
from srcjax.errors import ArgumentError

Key = Any


def signature_key(value: Any) -> Key:
    """What specialisation depends on: hashable, equal where calls share a version."""
    cls = type(value)
    if cls is float:
        return float
    if cls is np.ndarray:
        return value.dtype.num, value.shape
    if cls is int:
        return int
    if cls is list or cls is tuple:
        return cls, tuple([signature_key(v) for v in value])
    if cls is dict:
        pairs = [(k, signature_key(v)) for k, v in value.items()]
        return cls, tuple(pairs)
    if cls is bool or cls is str or value is None:
        return cls, value
    if isinstance(value, np.generic):
        return cls
    if isinstance(value, tuple):
        return cls, tuple([signature_key(v) for v in value])
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return cls, value.dtype.num, value.shape
    if is_dataclass(value) and not isinstance(value, type):
        parts = tuple(signature_key(getattr(value, f.name)) for f in fields(value))
        return cls, parts
    if isinstance(value, complex):
        return cls
    return cls, id(value)


def generalise(types: list[Type]) -> tuple[list[Type], Any]:
    """The types with sizes other than 1 replaced by symbols, equal ones by the same.

    Also what they have in common: hashable, equal for calls that differ in sizes only.
    """
    names: dict[int, str] = {}

    def visit(t: Type) -> Type:
        t = map_parts(t, visit)
        if isinstance(t, Array) and t.shape:
            dims: list[Any] = []
            for n in t.shape:
                if isinstance(n, int) and n > 1:
                    dims.append(Sym(names.setdefault(n, f"n{len(names)}")))
                else:
                    dims.append(n)
            return Array(t.active, t.buffers, t.dtype, tuple(dims))
        return t

    general = [visit(t) for t in types]
    return general, tuple(general)


def argument_type(value: Any, name: str, active: bool) -> Type:
    """The type of an argument. Raises ArgumentError if it cannot be differentiated."""
    t = type_of(value, ("param", name))
    if active:
        check_differentiable(value, name)
        t = as_real(t)
        t = with_active(t, True)
    return t


def as_real(t: Type) -> Type:
    """Python ints where a real number is meant are floats."""
    if (
        isinstance(t, Scalar)
        and t.python
        and t.dtype is not None
        and t.dtype.kind == "i"
    ):
        return Scalar(t.active, t.buffers, np.dtype(float), True)
    if isinstance(t, (Tuple, List, Dict, Object)):
        return map_parts(t, as_real)
    return t


def has_ints(value: Any) -> bool:
    """Whether a Python int stands where a real number is meant."""
    if type(value) is int:
        return True
    if isinstance(value, (list, tuple)):
        return any(map(has_ints, value))
    if isinstance(value, dict):
        return any(map(has_ints, value.values()))
    return False


def with_reals(value: Any) -> Any:
    """The value with Python ints as floats."""

    def convert(leaf: Any) -> Any:
        return float(leaf) if type(leaf) is int else leaf

    return optree.tree_map(convert, value, none_is_leaf=True)


def check_differentiable(value: Any, name: str) -> None:
    """Raise ArgumentError unless every leaf is a real (or complex) number or array."""
    if is_dataclass(value) and not isinstance(value, type):
        for f in fields(value):
            check_part(getattr(value, f.name), f"{name}.{f.name}")
        return
    check_containers(value, name)
    paths, leaves, _ = optree.tree_flatten_with_path(value, none_is_leaf=True)
    for path, leaf in zip(paths, leaves, strict=True):
        where = name + "".join(f"[{key!r}]" for key in path)
        check_leaf(leaf, where)
    if isinstance(value, (np.ndarray, np.generic)):
        check_leaf(value, name)


def check_containers(value: Any, where: str) -> None:
    """Lists, tuples, namedtuples and dicts; what is derived from them is refused."""
    exact = type(value) in (list, tuple, dict) or (
        isinstance(value, tuple) and hasattr(value, "_fields")
    )
    if exact:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            check_containers(item, f"{where}[{key!r}]")
        return
    if isinstance(value, (np.ndarray, np.generic, str, bytes)):
        return
    if hasattr(value, "__len__") and not hasattr(value, "dtype"):
        raise ArgumentError(
            f"argument `{where}` is of the container class {type(value).__name__}",
            instead="a list, tuple, dict, namedtuple or dataclass",
        )


def check_part(value: Any, where: str) -> None:
    """A field of a dataclass: what carries no derivative is allowed there."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "iub":
        return


def seed_like(seed: Any, value: Any, where: str = "dy") -> Any:
    """The seed of a pullback in the dtypes of `value`. Raises ArgumentError if it has
    another structure or shape."""
    if isinstance(value, dict):
        if not isinstance(seed, dict) or seed.keys() != value.keys():
            raise ArgumentError(
                f"`{where}` has not the keys of the value: {list(value)}",
                instead="an adjoint of the same structure as the value",
            )
        return {k: seed_like(seed[k], v, f"{where}[{k!r}]") for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        if not isinstance(seed, (list, tuple)) or len(seed) != len(value):
            raise ArgumentError(
                f"`{where}` is no {type(value).__name__} of {len(value)} items",
                instead="an adjoint of the same structure as the value",
            )
        items = [
            seed_like(s, v, f"{where}[{i}]")
            for i, (s, v) in enumerate(zip(seed, value, strict=True))
        ]
        if hasattr(value, "_fields"):
            return type(value)(*items)
        return type(value)(items)
    if isinstance(value, (np.ndarray, np.generic, float)):
        if np.shape(seed) != np.shape(value):
            raise ArgumentError(
                f"`{where}` has shape {np.shape(seed)}; the value has "
                f"{np.shape(value)}",
                instead="an adjoint of the same shape as the value",
            )
        if isinstance(value, float) and not isinstance(value, np.generic):
            return float(seed)
        dtype = value.dtype
        if dtype.kind == "f" and getattr(seed, "dtype", None) != dtype:
            cast = np.asarray(seed, dtype)
            return cast if isinstance(value, np.ndarray) else cast[()]
    return seed


def check_leaf(leaf: Any, where: str) -> None:
    if leaf is None:
        return
    if isinstance(leaf, (np.ndarray, np.generic)) or hasattr(leaf, "dtype"):
        if leaf.dtype.kind == "f":
            return
        if leaf.dtype.kind == "c":
            raise ArgumentError(
                f"argument `{where}` is complex; complex derivatives are not supported",
                instead="the real and the imaginary part as two arguments",
            )
        if leaf.dtype.kind in "iub":
            raise ArgumentError(
                f"argument `{where}` is an array of {leaf.dtype.name}; only real "
                "numbers have a derivative",
                instead=f"`{where}.astype(float)`, or leave it out of argnums",
            )
    if isinstance(leaf, bool) or not isinstance(leaf, (int, float)):
        shown = type(leaf).__name__
        raise ArgumentError(
            f"argument `{where}` is a {shown}; it cannot be differentiated",
            instead="a float or an array of floats, or leave it out of argnums",
        )
