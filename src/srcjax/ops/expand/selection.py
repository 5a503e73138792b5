"""What helpers of selection stand for."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import runtime, syntax
from srcjax.analysis.types import (
    Type,
    dtype_of,
    is_number,
    rank_of,
    same_shape,
    shape_of,
    supposed_order,
)
from srcjax.ops.expand.table import expands
from srcjax.ops.known import MISSING, known_value


@expands(runtime.unsort)
def _unsort(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    axis = known_value(types[2]) if len(types) > 2 else -1
    if rank_of(types[1]) != 1 or axis is MISSING:
        return None
    form = "d[np.argsort(np.argsort(x, kind='stable'))]"
    return syntax.expression(form, d=args[0], x=args[1])


@expands(runtime.undiagonal)
def _undiagonal(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    shape = shape_of(types[1])
    axes = [known_value(t) for t in types[3:5]]
    if shape is None or len(shape) != 2 or axes not in ([], [0, 1]):
        return None
    return _diagonal_matrix(args[0], shape, args[2], types[2])


def _diagonal_matrix(d: gast.expr, shape: Any, k: gast.expr, t: Type) -> Any:
    if not same_shape(shape[:1], shape[1:]):
        return None
    if known_value(t) == 0:
        return syntax.expression("np.diag(d)", d=d)
    return syntax.expression("np.diag(d, k)", d=d, k=k)


@expands(runtime.undiff)
def _undiff(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, n, axis = args[0], known_value(types[2]), known_value(types[3])
    shape = shape_of(types[1])
    if not shape or type(n) is not int or n < 1 or axis is MISSING:
        return None
    if any(known_value(t) is not None for t in types[4:]):
        return None
    rank, axis = len(shape), axis % len(shape)
    if shape[axis] == 0 or (n > 1 and supposed_order(shape[axis], n) is not True):
        return None  # with fewer items than that, nothing is left of them
    ends = tuple((n, n) if i == axis else (0, 0) for i in range(rank))
    sign, order = "-" if n % 2 else "", f", {n}" if n > 1 else ""
    last = "" if axis == rank - 1 else f", axis={axis}"
    widths = n if rank == 1 else ends
    return syntax.expression(f"{sign}np.diff(np.pad(d, {widths}){order}{last})", d=d)


@expands(runtime.undelete)
def _undelete(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    """Of one item of a vector."""
    place = _place_in_vector(types[1], types[2], types[3:])
    if place is None or place < -1:
        return None
    if place == -1:
        return syntax.expression("np.pad(d, (0, 1))", d=args[0])
    return syntax.expression(f"np.insert(d, {place}, 0.0)", d=args[0])


@expands(runtime.uninsert)
def _uninsert(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    """Of a number that was put into a vector."""
    place = _place_in_vector(types[1], types[2], types[4:5])
    if place is None or not is_number(types[3]) or dtype_of(types[1]) is None:
        return None
    place = place - 1 if place < 0 else place
    number = known_value(types[5]) == 1
    return syntax.expression(
        f"d[{place}]" if number else f"np.delete(d, {place})", d=args[0]
    )


def _place_in_vector(x: Type, place: Type, axis: list[Type]) -> int | None:
    """The place that an operation on one item of a vector is told."""
    told = known_value(place)
    along = [known_value(t) for t in axis]
    plain = rank_of(x) == 1 and along in ([], [None], [0], [-1])
    return told if plain and type(told) is int else None
