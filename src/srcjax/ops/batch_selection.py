"""Batch rules of choosing elements and of what is computed from neighbours."""

from __future__ import annotations

from typing import Any, TypeAlias

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import dtype_of, shape_of
from srcjax.ops import inert, selection  # noqa: F401  (the records come first)
from srcjax.ops.batch_kinds import batch, elementwise
from srcjax.ops.batch_operands import (
    as_it_is,
    axis_of,
    expr,
    flat,
    items_in,
    listed,
    only,
    ranks_of,
    shifted_axes,
    spread,
)
from srcjax.ops.batching import MappedCall, array_type, lift, shifted
from srcjax.ops.known import MISSING

Found: TypeAlias = "gast.expr | None"

# -- taking ---------------------------------------------------------------------


def along(call: MappedCall) -> tuple[gast.expr, int, int] | None:
    """`x`, the axis behind the batch and the rank; `x` is flattened for no axis."""
    axis, rank = axis_of(call, default=None), call.rank("x")
    if axis is MISSING or rank is None:
        return None
    if axis is not None:
        return call.arg("x"), axis % rank, rank
    x = call.arg("x")
    if call.is_mapped("x"):
        found = flat(call, x, call.type("x"))
    else:
        found = x if rank == 1 else syntax.call("np.ravel", x)
    return None if found is None else (found, 0, 1)


@batch(np.take)
def _(call: MappedCall) -> Found:
    found, count = along(call), call.rank("indices")
    if found is None or count is None or not only(call, "x", "indices"):
        return None
    x, axis, rank = found
    if not call.is_mapped("indices"):
        own = axis_of(call) is not None
        new = shifted(axis_of(call), rank) if own else 1
        return call.rebuild(x=x, axis=expr(new))
    if not call.is_mapped("x"):
        if axis == 0:
            return call.rebuild()
        return syntax.expression(f"np.moveaxis(t, {axis}, 0)", t=call.rebuild())
    if call.const("mode", "raise") != "raise":
        return None
    indices = call.arg("indices")
    if axis:
        x = syntax.expression(f"np.moveaxis(x, {axis + 1}, 1)", x=x)
    lanes: gast.expr = syntax.expression("np.arange(n)", n=call.size)
    if count:
        lanes = syntax.expression(f"r[:, {', '.join(['None'] * count)}]", r=lanes)
    taken = syntax.expression("x[r, i]", x=x, r=lanes, i=indices)
    if not axis:
        return taken
    if count == 0:
        return taken
    source: Any = tuple(range(1, count + 1))
    target: Any = tuple(range(axis + 1, axis + count + 1))
    if count == 1:
        source, target = 1, axis + 1
    return syntax.call("np.moveaxis", taken, expr(source), expr(target))


@batch(np.take_along_axis)
def _(call: MappedCall) -> Found:
    axis, rank = axis_of(call, default=-1), call.rank("x")
    if rank is None or axis is MISSING or not only(call, "x", "indices"):
        return None
    changes = {}
    if axis is None:
        axis = 0
        for p in ("x", "indices"):
            one = flat(call, call.arg(p), call.type(p))
            if one is None:
                return None
            changes[p] = one
    else:
        for p in ("x", "indices"):
            if not call.is_mapped(p):
                changes[p] = syntax.expression("x[None]", x=call.arg(p))
    if call.has("axis") or shifted(axis, rank) != -1:
        changes["axis"] = expr(shifted(axis, rank))
    return call.rebuild(**changes)


@batch(np.where)
def _(call: MappedCall) -> Found:
    return elementwise(call) if call.has("b") else None  # no choice, but `np.nonzero`


@batch(np.compress)
def _(call: MappedCall) -> Found:
    found = along(call) if only(call, "x") else None
    if found is None:
        return None
    return call.rebuild(x=found[0], axis=expr(found[1] + 1))


@batch(np.extract)
def _(call: MappedCall) -> Found:
    x = flat(call, call.arg("x"), call.type("x")) if only(call, "x") else None
    rank = call.rank("condition")
    if x is None or rank is None:
        return None
    condition = call.arg("condition")
    if rank != 1:
        condition = syntax.call("np.ravel", condition)
    return syntax.call("np.compress", condition, x, axis=expr(1))


@batch(np.select, lists=("condlist", "choicelist"))
def _(call: MappedCall) -> Found:
    conditions, choices = items_in(call, "condlist"), items_in(call, "choicelist")
    if not conditions or not choices:
        return None
    default = (
        [] if not call.has("default") else [(call.arg("default"), call.type("default"))]
    )
    ranks = ranks_of([*conditions, *choices, *default])
    if ranks is None:
        return None
    changes: dict[str, Any] = {
        "condlist": listed([lift(n, t, max(ranks)) for n, t in conditions]),
        "choicelist": listed([lift(n, t, max(ranks)) for n, t in choices]),
    }
    if default:
        changes["default"] = lift(*default[0], max(ranks))
    return call.rebuild(**changes)


@batch(np.delete)
def _(call: MappedCall) -> Found:
    found = along(call) if only(call, "x") else None
    if found is None:
        return None
    return call.rebuild(x=found[0], axis=expr(found[1] + 1))


@batch(np.insert)
def _(call: MappedCall) -> Found:
    found, where = along(call), call.rank("obj")
    if found is None or where is None or not only(call, "x", "values"):
        return None
    x, axis, rank = found
    if not call.is_mapped("x"):
        own = flat(call, call.arg("x"), call.type("x")) if rank == 1 else None
        if own is None:
            return None
        x = own
    count = call.rank("values")
    if count != 0 and (rank != 1 or count != where or where > 1):
        return None  # but a number to each place, or as many numbers as places
    return call.rebuild(x=x, axis=expr(axis + 1))


# -- diagonals and triangles ----------------------------------------------------

batch(np.diagonal)(shifted_axes(axis1=0, axis2=1))


@batch(np.diag)
def _(call: MappedCall) -> Found:
    rank, k = call.rank("x"), call.const("k", 0)
    if not only(call, "x") or rank not in (1, 2) or not isinstance(k, int):
        return None
    if rank == 1:
        return on_diagonal(call, call.arg("x"), k, shape_of(call.type("x")))
    offset = syntax.const(k)
    if call.has("k"):
        offset = call.arg("k")
    return syntax.call("np.diagonal", call.arg("x"), offset, expr(1), expr(2))


@batch(np.diagflat)
def _(call: MappedCall) -> Found:
    k = call.const("k", 0)
    x = flat(call, call.arg("x"), call.type("x")) if only(call, "x") else None
    rank = call.rank("x")
    if x is None or not isinstance(k, int) or rank is None:
        return None
    if rank > 1:
        result = shape_of(call.result)
        if result is None or not isinstance(result[0], int):
            return None
        return on_diagonal(call, x, k, (result[0] - abs(k),))
    return on_diagonal(call, x, k, shape_of(call.type("x")) or (1,))


def on_diagonal(call: MappedCall, x: gast.expr, k: int, shape: Any) -> Found:
    """Matrices with the vectors `x` on diagonal k: no products, an inf stays alone."""
    size: Any = shape[0] if isinstance(shape[0], int) else None
    if size is None and not syntax.is_name(x):
        return None
    dim = expr(size) if size is not None else syntax.expression("x.shape[1]", x=x)
    if k:
        more = expr((0, abs(k)))
        x = syntax.expression("np.pad(x, ((0, 0), w))", x=x, w=more)
        dim = (
            expr(size + abs(k))
            if size is not None
            else gast.BinOp(dim, gast.Add(), expr(abs(k)))
        )
    mask = syntax.call("np.eye", dim)
    if k:
        mask.keywords.append(gast.keyword("k", expr(k)))
    mask.keywords.append(gast.keyword("dtype", syntax.name("bool")))
    index = "[:, None]" if k < 0 else "[:, :, None]"
    return syntax.expression(f"np.where(m, x{index}, 0)", m=mask, x=x)


def triangle(call: MappedCall) -> Found:
    rank = call.rank("x")
    if not only(call, "x") or rank is None or rank < 2:
        return None
    return call.rebuild()


batch(np.tril, np.triu)(triangle)

# -- differences and integrals --------------------------------------------------


@batch(np.diff)
def _(call: MappedCall) -> Found:
    axis, rank = axis_of(call, default=-1), call.rank("x")
    ends = [p for p in ("prepend", "append") if call.const(p) is not None]
    if axis is MISSING or rank is None or not only(call, "x", *ends):
        return None
    changes: dict[str, Any] = {}
    for p in ends:
        own = call.rank(p)
        if own is None or own == 0 and call.is_mapped(p) and rank > 1:
            return None
        if not call.is_mapped(p) and own == 0:
            continue  # `diff` itself repeats a number
        changes[p] = spread(call, call.arg(p), call.type(p), rank)
    if not call.is_mapped("x"):
        changes["x"] = spread(call, call.arg("x"), call.type("x"), rank)
    if call.has("axis") and shifted(axis, rank) != axis:
        changes["axis"] = expr(shifted(axis, rank))
    return call.rebuild(**changes)


@batch(np.ediff1d)
def _(call: MappedCall) -> Found:
    given = [p for p in ("to_begin", "x", "to_end") if call.const(p) is not None]
    parts = [flat(call, call.arg(p), call.type(p)) for p in given]
    if any(part is None for part in parts) or not only(call, *given):
        return None
    dtypes = {dtype_of(array_type(call.type(p))) for p in given}
    if len(dtypes) > 1:  # the ends would have to be cast
        return None
    where = given.index("x")
    parts[where] = syntax.call("np.diff", parts[where])
    if len(parts) == 1:
        return parts[0]
    return syntax.call("np.concatenate", listed(parts), axis=expr(1))


@batch(np.gradient)
def _(call: MappedCall) -> Found:
    axis, rank = axis_of(call), call.rank("f")
    if not only(call, "f") or axis is MISSING or not rank:
        return None
    if axis is None:
        axis = 0 if rank == 1 else tuple(range(rank))
    return call.rebuild(axis=expr(shifted(axis, rank)))


@batch(np.trapezoid)
def _(call: MappedCall) -> Found:
    axis, rank = axis_of(call, default=-1), call.rank("y")
    if axis is MISSING or axis is None or not rank or not only(call, "y", "x", "dx"):
        return None
    axis = axis if axis < 0 else axis - rank  # counts from the end, batch or not
    changes: dict[str, Any] = {}
    if call.has("x") and call.const("x") is not None:
        own = call.rank("x")
        if own is None:
            return None
        if call.is_mapped("x") and own < rank:
            if own != 1 or axis != -1:
                return None
            changes["x"] = call.lifted("x", rank)
    elif call.is_mapped("dx"):
        if call.rank("dx") != 0:
            return None
        changes["dx"] = call.lifted("dx", rank)
    if not call.is_mapped("y"):
        changes["y"] = spread(call, call.arg("y"), call.type("y"), rank)
    if call.has("axis"):
        changes["axis"] = expr(axis)
    return call.rebuild(**changes)


# -- tables and polynomials -----------------------------------------------------

batch(np.interp)(as_it_is("x"))
batch(np.searchsorted)(as_it_is("v"))
batch(np.isin)(as_it_is("element"))


@batch(np.digitize)
def _(call: MappedCall) -> Found:
    return call.rebuild() if only(call, "x") else None


@batch(np.polyval)
def _(call: MappedCall) -> Found:
    if not only(call, "p", "x"):
        return None
    if not call.is_mapped("p"):
        return call.rebuild()
    rank = call.rank("x")
    if call.rank("p") != 1 or rank is None:
        return None
    p = syntax.expression("p.T", p=call.arg("p"))
    if rank:
        p = syntax.expression(
            f"p.T[:, :, {', '.join(['None'] * rank)}]", p=call.arg("p")
        )
    return call.rebuild(p=p)


@batch(np.vander)
def _(call: MappedCall) -> Found:
    shape = shape_of(call.type("x"))
    up = call.const("increasing", False)
    if not only(call, "x") or shape is None or up is MISSING:
        return None
    count: Any = shape[0]
    if call.has("N") and call.const("N") is not None:
        count = call.const("N")
    if not isinstance(count, int):
        return None
    powers = f"np.arange({count})" if up else f"np.arange({count})[::-1]"
    return syntax.expression(f"x[:, :, None] ** {powers}", x=call.arg("x"))
