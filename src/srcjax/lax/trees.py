"""Containers of containers of arrays, in what `scan` is given and gives."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from srcjax import tree
from srcjax.analysis.structural import structural


def length_of(xs: Any) -> int:
    """How long the first axis of all arrays is. Raises ValueError where they differ."""
    lengths = [len(x) for x in tree.leaves(xs)]
    if len(set(lengths)) != 1:
        raise ValueError(f"arrays of lengths {lengths} are gone along together")
    return lengths[0]


@structural(calls=True)
def map_numbered(f: Callable, xs: Any) -> Any:
    """The tree of `f(k, leaf)`, where leaf `k` is."""
    number = itertools.count()
    return tree.map(lambda x: f(next(number), x), xs)


@structural()
def leaf(xs: Any, k: int) -> Any:
    """Leaf `k` of the tree."""
    return tree.leaves(xs)[k]


def stacked(ys: list[Any], y: Any) -> Any:
    """Containers like `y`, one of `ys`, each array along a new first axis."""
    return map_numbered(lambda k, part: np.stack([leaf(each, k) for each in ys]), y)


def joined(ys: list[Any], y: Any) -> Any:
    """Containers like `y`, one of `ys`, each array behind that of the one before."""
    return map_numbered(
        lambda k, part: np.concatenate([leaf(each, k) for each in ys]), y
    )
