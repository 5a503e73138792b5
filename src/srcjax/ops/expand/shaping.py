"""What helpers of shaping stand for."""

from __future__ import annotations

import functools
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
from srcjax.ops.shaping_types import joined_types


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
    items = joined_types(types[1])
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
    return parts_along(args[0], args[1], types[1], axis % rank)


def parts_along(d: gast.expr, arrays: gast.expr, joined: Type, axis: int) -> gast.expr:
    """`d` cut along the axis: `[d[: len(a)], d[len(a) :]]`, or `np.split` for many.

    A number among arrays of one axis (`np.hstack([0.0, x])`) has one item; a list of
    numbers gets a list.
    """
    items, given = joined_types(joined) or [], types_in(joined) or []
    parts = items_of(arrays, len(items))
    shapes = [shape_of(t) for t in items]
    dims = [1 if s == () else s[axis] if s else None for s in shapes]
    sizes = [
        _size_of(x, t, axis, dim) for x, t, dim in zip(parts, given, dims, strict=True)
    ]
    if len(parts) == 1 and shapes[0] != ():
        return gast.List([d], syntax.LOAD)
    if len(parts) > 4 and all(isinstance(t, Array) for t in given):
        return _split(d, arrays, sizes, axis)
    lead = [":"] * axis
    pieces: list[gast.expr] = []
    for at, shape in enumerate(shapes):
        first, last = _cut(sizes, at), _cut(sizes, at + 1)
        if shape == ():
            pieces.append(indexed(d, ["a"], a=_later(first, 0)))
            continue
        count = _numbers_in(given[at]) if axis == 0 else 0
        if count == 1 or (count and (first is None or _told([first]) is not None)):
            each = [indexed(d, ["a"], a=_later(first, k)) for k in range(count)]
            pieces.append(gast.List(each, syntax.LOAD))
            continue
        index = f"{'a' if first else ''}:{'b' if last else ''}"
        holes = {key: cut for key, cut in (("a", first), ("b", last)) if cut}
        pieces.append(indexed(d, [*lead, index], **holes))
    return gast.List(pieces, syntax.LOAD)


def _size_of(x: gast.expr, t: Type, axis: int, dim: object) -> gast.expr:
    """The size of what is joined along the axis; that of a list is at hand in items."""
    items = types_in(t)
    if not axis or not items:
        return size_text(x, axis, dim)
    return _size_of(items_of(x, 1)[0], items[0], axis - 1, dim)


def _numbers_in(t: Type) -> int:
    """How many numbers a list of a few has; 0 for all else."""
    items = types_in(t) or []
    return len(items) if len(items) <= 4 and all(map(is_number, items)) else 0


def _cut(sizes: list[gast.expr], at: int) -> gast.expr | None:
    """Where the part of this number begins: from the end, if all that is told."""
    if at in (0, len(sizes)):
        return None
    before, after = (_told(part) for part in (sizes[:at], sizes[at:]))
    if before is None and after:
        return syntax.const(-after)
    if before is not None:
        return syntax.const(before)
    told = sum(_told([size]) or 0 for size in sizes[:at])
    terms = [syntax.const(told)] if told else []
    terms += [size for size in sizes[:at] if _told([size]) is None]
    return functools.reduce(lambda m, n: syntax.expression("m + n", m=m, n=n), terms)


def _later(first: gast.expr | None, k: int) -> gast.expr:
    """The place of the number `k` of a part that begins at `first`."""
    start = 0 if first is None else _told([first])
    if start is not None:
        return syntax.const(start + k)
    return syntax.expression("a + k", a=first, k=k) if k else first


def _told(sizes: list[gast.expr]) -> int | None:
    """The sum of sizes that are numbers; None where one is not."""
    numbers = [s.value for s in sizes if isinstance(s, gast.Constant)]
    return sum(numbers) if len(numbers) == len(sizes) else None


def _split(
    d: gast.expr, arrays: gast.expr, sizes: list[gast.expr], axis: int
) -> gast.expr:
    """`d` cut along the axis into many parts by `np.split`."""
    tail = "" if axis == 0 else f", axis={axis}"
    if _told(sizes[:-1]) is not None:
        cuts = [_cut(sizes, at) for at in range(1, len(sizes))]
        where = gast.List(cuts, syntax.LOAD)
        return syntax.expression(f"np.split(d, where{tail})", d=d, where=where)
    size = "len(x)" if axis == 0 else f"x.shape[{axis}]"
    return syntax.expression(
        f"np.split(d, np.cumsum([{size} for x in arrays[:-1]]){tail})",
        d=d,
        arrays=arrays,
    )


@expands(runtime.unstack)
def _unstack(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, arrays = args[:2]
    axis = known_value(types[2]) if len(types) > 2 else 0
    if axis is MISSING or axis is None or isinstance(types[1], Array):
        return None
    shown = isinstance(arrays, (gast.List, gast.Tuple))
    count = len(arrays.elts if shown else joined_types(types[1]) or ())
    if (shown or 0 < count <= 4) and -1 <= axis <= 2:
        lead = ["..."] if axis == -1 else [":"] * axis
        parts = [indexed(d, [*lead, str(i)]) for i in range(count)]
        return gast.List(parts, syntax.LOAD)
    if axis == 0:
        return syntax.expression("list(d)", d=d)
    return syntax.expression(f"list(np.moveaxis(d, {axis}, 0))", d=d)


def _ranks(arrays: Type) -> set[int | None]:
    return {rank_of(t) for t in joined_types(arrays) or [Type()]}


@expands(runtime.unvstack)
def _unvstack(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    ranks = _ranks(types[1])
    if ranks == {1}:
        return _unstack(args, [*types, Const(value=0)])
    if None in ranks or min(ranks) < 2:  # type: ignore[type-var, operator]
        return None
    return parts_along(args[0], args[1], types[1], 0)


@expands(runtime.unhstack)
def _unhstack(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    ranks = _ranks(types[1])
    if None in ranks or (0 in ranks and not ranks <= {0, 1}):
        return None
    axis = 0 if ranks <= {0, 1} else 1
    return parts_along(args[0], args[1], types[1], axis)


@expands(runtime.undstack)
def _undstack(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    ranks = _ranks(types[1])
    if ranks == {2}:
        return _unstack(args, [*types, Const(value=2)])
    if None in ranks or min(ranks) < 3:  # type: ignore[type-var, operator]
        return None
    return parts_along(args[0], args[1], types[1], 2)


@expands(runtime.uncolumn_stack)
def _uncolumn_stack(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    ranks = _ranks(types[1])
    if ranks == {1}:
        return _unstack(args, [*types, Const(value=1)])
    if ranks != {2}:
        return None
    return parts_along(args[0], args[1], types[1], 1)


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


@expands(runtime.unmeshgrid)
def _unmeshgrid(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    """Each vector's adjoint is summed along the axes of the others."""
    vectors, grids = types_in(types[1]) or [], types_in(types[0]) or []
    order = known_value(types[2]) if len(types) > 2 else "xy"
    count = len(vectors)
    if {rank_of(t) for t in vectors} != {1} or order not in ("xy", "ij"):
        return None
    if any(rank_of(t) != count or not isinstance(t, Array) for t in grids):
        return None
    parts = items_of(args[0], count)
    found: list[gast.expr] = []
    for i, part in enumerate(parts):
        own = 1 - i if order == "xy" and i < 2 and count > 1 else i
        others = tuple(axis for axis in range(count) if axis != own)
        axis = others[0] if len(others) == 1 else others
        summed = syntax.expression(f"d.sum(axis={axis})", d=part)
        found.append(summed if others else part)
    return gast.List(found, syntax.LOAD)


@expands(runtime.untile)
def _untile(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, x, reps = args
    told = known_value(types[2])
    if rank_of(types[1]) == 1 and isinstance(told, tuple) and told[1:] == (1,):
        return syntax.expression("d.sum(axis=0)", d=d)
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
