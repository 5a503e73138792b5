"""What helpers of shaping stand for."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.analysis.types import (
    Array,
    Const,
    List,
    Tuple,
    Type,
    dtype_of,
    is_number,
    parts,
    rank_of,
    same_shape,
    shape_of,
)
from srcjax.ops.expand.asking import indexed, items_of, size_text
from srcjax.ops.expand.reductions import expand_in_dtype_of
from srcjax.ops.expand.table import expands
from srcjax.ops.known import MISSING, known_value, types_in


@expands(runtime.unreshape)
def _unreshape(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, x = args[:2]
    order = known_value(types[2]) if len(types) > 2 else "C"
    have, want = shape_of(types[0]), shape_of(types[1])
    if have is not None and len(have) == 1 and is_number(types[1]):
        return syntax.expression("d.sum()", d=d)
    if want is None or order not in ("C", "F") or not isinstance(types[1], Array):
        return None
    if have is not None and same_shape(have, want):
        return d
    if not have and (order == "C" or have == ()):  # it may be a plain number
        return syntax.expression("np.reshape(d, x.shape)", d=d, x=x)
    if order == "F":
        return syntax.expression("d.reshape(x.shape, order='F')", d=d, x=x)
    if len(want) == 1:
        flat = have is not None and len(have) == 1
        return d if flat else syntax.expression("d.ravel()", d=d)
    return syntax.expression("d.reshape(x.shape)", d=d, x=x)


@expands(runtime.unconcatenate)
def _unconcatenate(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    items = types_in(types[1])
    axis = known_value(types[2]) if len(types) > 2 else 0
    if not items or axis is MISSING:
        return None
    if axis is None:
        if any(rank_of(t) != 1 for t in items):
            return None
        axis = 0
    rank = next((r for r in map(rank_of, items) if r is not None), None)
    if rank is None:
        return None
    return parts_along(args[0], args[1], items, axis % rank)


def parts_along(
    d: gast.expr, arrays: gast.expr, items: list[Type], axis: int
) -> gast.expr:
    """`d` cut along the axis: `[d[: len(a)], d[len(a) :]]`, or `np.split` for more."""
    parts = items_of(arrays, len(items))
    shapes = [shape_of(t) for t in items]
    dims = [shape[axis] if shape else None for shape in shapes]
    sizes = [size_text(x, axis, dim) for x, dim in zip(parts, dims, strict=True)]
    if len(parts) == 1:
        return gast.List([d], syntax.LOAD)
    lead = [":"] * axis
    if len(parts) == 2:
        first = indexed(d, [*lead, ":n"], n=sizes[0])
        return gast.List([first, indexed(d, [*lead, "n:"], n=sizes[0])], syntax.LOAD)
    cuts: list[gast.expr] = []
    numbers: list[Any] = []
    for dim, size in zip(dims[:-1], sizes[:-1], strict=True):
        cuts.append(syntax.expression("m + n", m=cuts[-1], n=size) if cuts else size)
        numbers.append(dim)
    if all(isinstance(size, gast.Constant) for size in sizes[:-1]):
        totals = np.cumsum(numbers).tolist()
        cuts = [syntax.const(total) for total in totals]
    elif len(parts) > 4:
        return syntax.expression(
            f"np.split(d, np.cumsum([{_SIZE[axis == 0]} for x in arrays[:-1]])"
            + (")" if axis == 0 else f", axis={axis})"),
            d=d,
            arrays=arrays,
            axis=syntax.const(axis),
        )
    where = gast.List(cuts, syntax.LOAD)
    form = "np.split(d, where)" if axis == 0 else f"np.split(d, where, axis={axis})"
    return syntax.expression(form, d=d, where=where)


_SIZE = {True: "len(x)", False: "x.shape[axis]"}


@expands(runtime.unstack)
def _unstack(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, arrays = args[:2]
    axis = known_value(types[2]) if len(types) > 2 else 0
    if axis is MISSING or axis is None or isinstance(types[1], Array):
        return None
    if isinstance(arrays, (gast.List, gast.Tuple)) and -1 <= axis <= 2:
        lead = ["..."] if axis == -1 else [":"] * axis
        parts = [indexed(d, [*lead, str(i)]) for i in range(len(arrays.elts))]
        return gast.List(parts, syntax.LOAD)
    if axis == 0:
        return syntax.expression("list(d)", d=d)
    return syntax.expression(f"list(np.moveaxis(d, {axis}, 0))", d=d)


def _ranks(arrays: Type) -> set[int | None]:
    return {rank_of(t) for t in types_in(arrays) or [Type()]}


@expands(runtime.unvstack)
def _unvstack(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    ranks = _ranks(types[1])
    if ranks == {1}:
        return _unstack(args, [*types, Const(value=0)])
    if None in ranks or min(ranks) < 2:  # type: ignore[type-var, operator]
        return None
    return parts_along(args[0], args[1], types_in(types[1]) or [], 0)


@expands(runtime.unhstack)
def _unhstack(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    ranks = _ranks(types[1])
    if None in ranks or 0 in ranks:
        return None
    axis = 0 if ranks == {1} else 1
    return parts_along(args[0], args[1], types_in(types[1]) or [], axis)


@expands(runtime.undstack)
def _undstack(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    ranks = _ranks(types[1])
    if ranks == {2}:
        return _unstack(args, [*types, Const(value=2)])
    if None in ranks or min(ranks) < 3:  # type: ignore[type-var, operator]
        return None
    return parts_along(args[0], args[1], types_in(types[1]) or [], 2)


@expands(runtime.uncolumn_stack)
def _uncolumn_stack(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    ranks = _ranks(types[1])
    if ranks == {1}:
        return _unstack(args, [*types, Const(value=1)])
    if ranks != {2}:
        return None
    return parts_along(args[0], args[1], types_in(types[1]) or [], 1)


def _append(d: gast.expr, x: gast.expr, ranks: Any, axis: Any, part: str) -> Any:
    if axis is None and ranks == (1, 1):
        axis = 0
    if axis is MISSING or axis is None or None in ranks:
        return None
    axis %= ranks[0]
    return indexed(d, [":"] * axis + [part], n=size_text(x, axis))


@expands(runtime.unappend_left)
def _unappend_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    rank = rank_of(types[1])
    axis = known_value(types[2])
    if axis is None and rank == 1:
        axis = 0  # the part before is the same whatever is appended
    return _append(args[0], args[1], (rank, rank), axis, ":n")


@expands(runtime.unappend_right)
def _unappend_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    ranks = rank_of(types[1]), rank_of(types[2])
    return _append(args[0], args[1], ranks, known_value(types[3]), "n:")


@expands(runtime.untile)
def _untile(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, x, reps = args
    if rank_of(types[1]) != 1 or not is_number(types[2]):
        return None
    return syntax.expression("d.reshape(r, len(x)).sum(axis=0)", d=d, x=x, r=reps)


@expands(runtime.unrepeat)
def _unrepeat(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, x, repeats, _ = args
    if rank_of(types[1]) != 1 or not is_number(types[2]):
        return None
    return syntax.expression("d.reshape(len(x), r).sum(axis=1)", d=d, x=x, r=repeats)


@expands(runtime.unpad)
def _unpad(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, rank = args[0], rank_of(types[1])
    widths = known_value(types[2])
    mode = known_value(types[3]) if len(types) > 3 else "constant"
    if rank is None or widths is MISSING or isinstance(widths, dict):
        return None
    if mode not in ("constant", "empty"):
        return None
    pairs = np.broadcast_to(widths, (rank, 2)).tolist()
    index = [f"{m or ''}:{-n or ''}" for m, n in pairs]
    return indexed(d, index)


@expands(runtime.unarray)
def _unarray(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    inner = parts(types[1])
    if (
        isinstance(types[1], (List, Tuple))
        and inner
        and all(is_number(t) or isinstance(t, Array) for t in inner)
        and len(set(map(dtype_of, inner))) == 1
        and dtype_of(types[0]) is not None  # else perhaps complex, for real items
    ):
        d = expand_in_dtype_of([args[0], args[1]], [types[0], inner[0]])
        return d and syntax.call("list", d)
    return None
