"""Borders of an array whose entries are computed: modes of `np.pad`.

The rules of `np.pad` serve borders that are constant or copies of entries.
"""

from __future__ import annotations

import numpy as np

from srcjax.analysis.types import Const, Type
from srcjax.ops.known import known_value
from srcjax.ops.record import completes

CONSTANT, EVEN = Const(value="constant"), Const(value="even")
STATISTICS = ("mean", "median", "maximum", "minimum")


def computed(mode: Type = CONSTANT, reflect_type: Type = EVEN, **_: Type) -> bool:
    """Whether the entries of the border are more than copies."""
    name = known_value(mode)
    return name in (*STATISTICS, "linear_ramp") or known_value(reflect_type) == "odd"


@completes(np.pad, when=computed)
def pad(
    array,
    pad_width,
    mode="constant",
    *,
    constant_values=0,
    end_values=0,
    stat_length=None,
    reflect_type="even",
):
    """Axis by axis; the corners have what the later axis makes of the earlier ones."""
    x = np.asarray(array)
    if x.size == 0:
        return np.pad(x, pad_width, "edge")  # no entries to compute any from
    widths = pairs(pad_width, x.ndim)
    ends = pairs(end_values, x.ndim)
    lengths = pairs(0 if stat_length is None else stat_length, x.ndim)
    for axis in range(x.ndim):
        before, after = int(widths[axis, 0]), int(widths[axis, 1])
        row = np.moveaxis(x, axis, 0)
        if mode == "linear_ramp":
            row = with_ramps(row, before, after, ends[axis])
        elif mode in STATISTICS:
            first = last = len(row)
            if stat_length is not None:
                first, last = min(lengths[axis, 0], first), min(lengths[axis, 1], last)
            start = statistic(row[:first], mode)
            end = statistic(row[len(row) - last :], mode)
            start, end = np.repeat(start, before, 0), np.repeat(end, after, 0)
            row = np.concatenate([start, row, end])
        else:
            skipped = 1 if mode == "reflect" else 0
            row = reflected_oddly(row, before, after, skipped)
        x = np.moveaxis(row, 0, axis)
    return x


def pairs(values, rank):
    """What is for the start and the end of each axis, as an array of pairs."""
    if isinstance(values, dict):
        given = {axis % rank: pair for axis, pair in values.items()}
        values = [np.broadcast_to(given.get(axis, 0), 2) for axis in range(rank)]
    return np.broadcast_to(values, (rank, 2))


def with_ramps(x, before, after, ends):
    """Even steps from the end values to the first and the last entry."""
    rise = np.linspace(ends[0], x[0], before, endpoint=False, dtype=x.dtype)
    fall = np.linspace(ends[1], x[-1], after, endpoint=False, dtype=x.dtype)
    return np.concatenate([rise, x, fall[::-1]])


def statistic(x, mode):
    """Along the first axis, which stays."""
    if mode == "mean":
        return np.mean(x, axis=0, keepdims=True)
    if mode == "median":
        return np.median(x, axis=0, keepdims=True)
    if mode == "maximum":
        return np.max(x, axis=0, keepdims=True)
    return np.min(x, axis=0, keepdims=True)


def reflected_oddly(x, before, after, skipped):
    """The entries turned around the first and the last one, as often as it takes."""
    if len(x) == 1:
        return np.repeat(x, before + 1 + after, axis=0)
    period = len(x) - skipped
    while before > 0 or after > 0:
        whole = (len(x) - skipped) // period * period
        first, last = min(whole, before), min(whole, after)
        start = 2 * x[:1] - x[skipped : skipped + first][::-1]
        end = 2 * x[-1:] - x[::-1][skipped : skipped + last]
        x = np.concatenate([start, x, end])
        before, after = before - first, after - last
    return x
