"""Containers of containers of arrays, in what `scan` is given and gives."""

from __future__ import annotations

from typing import Any

import numpy as np


def items_of(xs: Any, reverse: bool) -> list[Any]:
    """`xs` of each place along the first axes, containers kept."""
    places = range(length_of(xs))
    return [item_at(xs, i) for i in (reversed(places) if reverse else places)]


def length_of(xs: Any) -> int:
    """How long the first axis of all arrays is. Raises ValueError where they differ."""
    if isinstance(xs, dict):
        xs = list(xs.values())
    if not isinstance(xs, (tuple, list)):
        return len(xs)
    lengths = [length_of(part) for part in xs]
    if len(set(lengths)) != 1:
        raise ValueError(f"arrays of lengths {lengths} are gone along together")
    return lengths[0]


def item_at(xs: Any, i: int) -> Any:
    """`xs` with `x[i]` for each array `x`."""
    if isinstance(xs, tuple):
        return tuple([item_at(part, i) for part in xs])
    if isinstance(xs, list):
        return [item_at(part, i) for part in xs]
    if isinstance(xs, dict):
        return {key: item_at(xs[key], i) for key in xs}
    return xs[i]


def stacked(ys: list[Any]) -> Any:
    """Containers like those in `ys`, each array along a new first axis."""
    first = ys[0]
    if first is None:
        return None
    if isinstance(first, tuple):
        return tuple([stacked(list(part)) for part in zip(*ys, strict=True)])
    if isinstance(first, list):
        return [stacked(list(part)) for part in zip(*ys, strict=True)]
    if isinstance(first, dict):
        return {key: stacked([y[key] for y in ys]) for key in first}
    return np.stack(ys)
