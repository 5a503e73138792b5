"""Containers of containers of arrays, in what `scan` is given and gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcjax import tree


def length_of(xs: Any) -> int:
    """How long the first axis of all arrays is. Raises ValueError where they differ."""
    lengths = [len(x) for x in tree.leaves(xs)]
    if len(set(lengths)) != 1:
        raise ValueError(f"arrays of lengths {lengths} are gone along together")
    return lengths[0]


def stacked(ys: list[Any], y: Any, join: Callable = np.stack) -> Any:
    """Containers like `y`, one of `ys`, each array along a new first axis.

    Or, with `np.concatenate` as `join`, one behind the other.
    """
    leaves, structure = tree.flatten(y)
    arrays = []
    for k in range(len(leaves)):
        arrays.append(join([tree.leaves(each)[k] for each in ys]))  # noqa: PERF401
    return tree.unflatten(structure, arrays)
