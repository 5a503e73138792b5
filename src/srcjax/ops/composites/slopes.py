"""Slopes between places that move, and interpolation around a circle.

The rules of `np.gradient` and `np.interp` serve places that stay, and a line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcjax.analysis.types import Type, is_active, rank_of
from srcjax.ops.infer_rules import NONE
from srcjax.ops.known import known_value, types_in
from srcjax.ops.record import completes


def moving(varargs: Any = (), **_: Type) -> bool:
    """Whether spacings are differentiated that may be the places of the values."""
    given = types_in(varargs)
    if given is None:
        return is_active(varargs)
    return any(map(is_active, given)) and any(rank_of(t) != 0 for t in given)


@completes(np.gradient, when=moving)
def gradient(f, *varargs, axis=None, edge_order=1):
    """The slopes along each of the axes."""
    y = np.asarray(f)
    axes = tuple(range(y.ndim)) if axis is None else axis
    axes = (axes,) if isinstance(axes, int) else axes
    spacings = varargs if varargs else (1.0,)
    spacings = spacings * len(axes) if len(spacings) == 1 else spacings
    if len(axes) == 1:
        return slopes(y, spacings[0], axes[0], edge_order)
    return tuple(
        slopes(y, spacing, along, edge_order)
        for spacing, along in zip(spacings, axes, strict=True)
    )


def slopes(y, places, axis, edge_order):
    """Of the parabola through three neighbours, at the places of the values."""
    if np.ndim(places) == 0:
        return np.gradient(y, places, axis=axis, edge_order=edge_order)
    rows = np.moveaxis(y, axis, 0)
    steps = np.reshape(np.diff(places), (-1,) + (1,) * (y.ndim - 1))
    rates = np.diff(rows, axis=0) / steps
    left, right = steps[:-1], steps[1:]
    inner = (right * rates[:-1] + left * rates[1:]) / (left + right)
    first, last = rates[:1], rates[-1:]
    if edge_order == 2:
        bend = np.diff(rates, axis=0) / (left + right)
        first = first - bend[:1] * left[:1]
        last = last + bend[-1:] * right[-1:]
    found = np.concatenate([first, inner, last])
    if y.dtype.kind in "fc":
        found = found.astype(y.dtype)
    return np.moveaxis(found, 0, axis)


def has_period(period: Type = NONE, **_: Type) -> bool:
    """Whether there may be a period."""
    return known_value(period, 0) is not None


@completes(np.interp, when=has_period)
def interp(x, xp, fp, left=None, right=None, period=None):
    """The places within one period, in order, and a neighbour of it at each end."""
    if period is None:
        return np.interp(x, xp, fp, left, right)
    length = abs(period)
    places, values = np.asarray(xp) % length, np.asarray(fp)
    order = np.argsort(places)
    places, values = places[order], values[order]
    places = np.concatenate([places[-1:] - length, places, places[:1] + length])
    values = np.concatenate([values[-1:], values, values[:1]])
    return np.interp(x % length, places, values)
