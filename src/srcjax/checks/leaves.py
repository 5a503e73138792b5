"""The leaves of arguments and values, and how to put others in their place."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import optree


def walk(tree: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Each leaf of a pytree with its name: `args[0]['w'][1]`.

    A dataclass is a container of its fields, registered with optree or not.
    """
    paths, leaves, _ = optree.tree_flatten_with_path(tree)
    for path, leaf in zip(paths, leaves, strict=True):
        full = name + "".join(f"[{key!r}]" for key in path)
        if is_record(leaf):
            for field in dataclasses.fields(leaf):
                yield from walk(getattr(leaf, field.name), f"{full}.{field.name}")
        else:
            yield full, leaf


def put(tree: Any, values: Iterator[Any]) -> Any:
    """The pytree with its leaves replaced, in the order of `walk`."""

    def replace(leaf: Any) -> Any:
        if is_record(leaf):
            names = [field.name for field in dataclasses.fields(leaf)]
            changed = {name: put(getattr(leaf, name), values) for name in names}
            return dataclasses.replace(leaf, **changed)
        return next(values)

    return optree.tree_map(replace, tree)


def is_record(leaf: Any) -> bool:
    """Whether the leaf is an object of a dataclass."""
    return dataclasses.is_dataclass(leaf) and not isinstance(leaf, type)


def leaves(tree: Any) -> list[Any]:
    """The leaves, in the order of `walk`."""
    return [leaf for _, leaf in walk(tree, "")]


def long_dtype(x: Any) -> type:
    """The most precise dtype of that kind."""
    return np.clongdouble if np.iscomplexobj(x) else np.longdouble


def is_real_leaf(leaf: Any) -> bool:
    """Whether the leaf is a floating (or complex) number, or an array of them."""
    if isinstance(leaf, (np.ndarray, np.generic)):
        return leaf.dtype.kind in "fc"
    return isinstance(leaf, (float, complex))


def product(left: Any, right: Any) -> float:
    """The inner product of the floating leaves of two trees; the real part of it."""
    total = 0.0
    for a, b in zip(leaves(left), leaves(right), strict=True):
        if is_number_leaf(a) and is_number_leaf(b):
            total += float(np.real(np.sum(np.asarray(a) * np.asarray(b))))
    return total


def size_of_product(left: Any, right: Any) -> float:
    """The sum of the sizes of the terms of `product`."""
    total = 0.0
    for a, b in zip(leaves(left), leaves(right), strict=True):
        if is_number_leaf(a) and is_number_leaf(b):
            total += float(np.sum(np.abs(np.asarray(a) * np.asarray(b))))
    return total


def is_number_leaf(leaf: Any) -> bool:
    """Whether the leaf is a number, or an array of numbers, of any kind."""
    return np.asarray(leaf).dtype.kind in "fciub"
