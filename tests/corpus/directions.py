"""Directional derivatives of the corpus: tangents, and what they should give."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import optree

from .harness import _float64
from .registry import Program

NAMESPACE = "srcjax"


def direction(program: Program, args: tuple) -> list[Any]:
    """A fixed tangent for each argument in `argnums`, None for the others."""
    rng = np.random.default_rng(zlib.crc32(program.name.encode()) + 1)

    def leaf(value: Any) -> Any:
        if isinstance(value, bool):
            return None
        if isinstance(value, (np.ndarray, np.generic)):
            if value.dtype.kind != "f":
                return None
            drawn = np.asarray(rng.normal(size=np.shape(value)), value.dtype)
            return drawn if isinstance(value, np.ndarray) else drawn[()]
        return float(rng.normal()) if isinstance(value, (int, float)) else None

    tangents: list[Any] = [None] * len(args)
    for position in program.argnums:
        tangents[position] = tree_map(leaf, args[position])
    return tangents


def tree_map(function: Callable[..., Any], *trees: Any) -> Any:
    """`optree.tree_map` over dataclasses and None as well."""
    return optree.tree_map(function, *trees, none_is_leaf=True, namespace=NAMESPACE)


def leaves(tree: Any) -> list[Any]:
    """The leaves, None among them."""
    return optree.tree_leaves(tree, none_is_leaf=True, namespace=NAMESPACE)


def inner(left: Any, right: Any) -> float:
    """The sum of products of the leaves; None counts as zero."""
    pairs = zip(leaves(left), leaves(right), strict=True)
    return sum(
        float(np.sum(np.asarray(a, float) * np.asarray(b, float)))
        for a, b in pairs
        if a is not None and b is not None
    )


def size(left: Any, right: Any) -> float:
    """The sum of the sizes of the products: what a rounding error is relative to."""
    absolute = [
        None if leaf is None else np.abs(np.asarray(leaf, float))
        for tree in (left, right)
        for leaf in leaves(tree)
    ]
    half = len(absolute) // 2
    return inner(absolute[:half], absolute[half:])


def along(
    function: Callable[..., float],
    args: tuple,
    tangents: list[Any],
    step: float = 1e-4,
) -> float:
    """The derivative of a function of `args` along the tangents, by differences."""
    moved = [
        a if t is None else tree_map(_float64, a)
        for a, t in zip(args, tangents, strict=True)
    ]

    def at(distance: float) -> float:
        def shift(value: Any, tangent: Any) -> Any:
            return value if tangent is None else value + distance * tangent

        shifted = [
            a if t is None else tree_map(shift, a, t)
            for a, t in zip(moved, tangents, strict=True)
        ]
        return function(*shifted)

    near = (at(step) - at(-step)) * 8
    return (near - (at(2 * step) - at(-2 * step))) / (12 * step)
