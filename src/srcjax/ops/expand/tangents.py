"""What the helpers of tangent rules stand for once the types are known.

As in `srcjax.ops.expand`: the plain expression, or None where the types do not tell.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import runtime, syntax
from srcjax.analysis.types import Type, dtype_of, rank_of, shape_of
from srcjax.ops.expand.asking import is_array, is_empty, is_float64, is_real
from srcjax.ops.expand.reductions import (
    expand_unreduce,
)
from srcjax.ops.expand.table import expands
from srcjax.ops.known import MISSING, known, known_value

Args = list[gast.expr]
Types = list[Type]


def _over(axis: Type, keepdims: Type) -> str | None:
    """`, axis=axis, keepdims=True` of a sum, without what is the default."""
    keep, along = known(keepdims), known(axis)
    if keep is MISSING or along is MISSING:
        return None
    return (", axis=axis" if along is not None else "") + (
        ", keepdims=True" if keep else ""
    )


# -- reductions ---------------------------------------------------------------------


@expands(runtime.reduce_extreme)
def _reduce_extreme(args: Args, types: Types) -> gast.expr | None:
    d, y, axis, keepdims, x = args
    if rank_of(types[4]) == 0:
        return d
    rest = ([axis, keepdims, x], [types[2], types[3], types[4]])
    spread_y = expand_unreduce([y, *rest[0]], [types[1], *rest[1]])
    over = _over(types[2], types[3])
    if spread_y is None or over is None:
        return None
    if not is_array(types[4]) or dtype_of(types[4]) is None or is_empty(types[4]):
        return None
    dtype = "" if is_float64(types[4]) else ", dtype=x.dtype"
    return syntax.expression(
        f"np.sum(d * (x == y){over}) / np.sum(x == y{over}{dtype})",
        d=d, y=spread_y, x=x, axis=axis,
    )  # fmt: skip


@expands(runtime.mean_of_ties)
def _mean_of_ties(args: Args, types: Types) -> gast.expr | None:
    d, chosen, axis, _, x = args
    over = _over(types[2], types[3])
    if over is None or not isinstance(chosen, gast.Name):
        return None
    if not is_array(types[4]) or dtype_of(types[4]) is None or is_empty(types[4]):
        return None
    dtype = "" if is_float64(types[4]) else ", dtype=x.dtype"
    return syntax.expression(
        f"np.sum(d * c{over}) / np.sum(c{over}{dtype})", d=d, c=chosen, x=x, axis=axis
    )


@expands(runtime.norm_tangent)
def _norm(args: Args, types: Types) -> gast.expr | None:
    d, y, _, axis, _, x = args
    ord, along, rank = known(types[2]), known(types[3]), rank_of(types[5])
    over = _over(types[3], types[4])
    if over is None or shape_of(types[5]) is None or not is_real(types[5]):
        return None
    vector = isinstance(along, int) or (along is None and rank in (0, 1))
    if ord is None or ord == "fro" or (vector and ord == 2):
        form = f"np.sum(d * x{over}) / np.where(y == 0, 1, y)"
        return syntax.expression(form, d=d, y=y, x=x, axis=axis)
    if vector and ord == 1:
        return syntax.expression(f"np.sum(d * np.sign(x){over})", d=d, x=x, axis=axis)
    return None


# -- borders ------------------------------------------------------------------------


# -- linear algebra -----------------------------------------------------------------


@expands(runtime.gradient_tangent)
def _gradient(args: Args, types: Types) -> gast.expr | None:
    d, _, _, spacings, axis, edge_order = args
    directions, spread = known_value(types[1]), isinstance(spacings, gast.Tuple)
    if directions is MISSING or any(directions) or not spread:
        return None
    if any(known(t) is MISSING for t in types[4:]):
        return None
    named = ["axis=axis"] if known(types[4]) is not None else []
    named += ["edge_order=n"] if known(types[5]) != 1 else []
    text = ", ".join(["np.gradient(d", *named]) + ")"
    call: Any = syntax.expression(text, d=d, axis=axis, n=edge_order)
    call.args += spacings.elts
    return call
