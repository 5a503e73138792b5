"""What the helpers of tangent rules stand for once the types are known.

As in `srcjax.ops.expand`: the plain expression, or None where the types do not tell.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import runtime, syntax
from srcjax.analysis.types import Array, Type, dtype_of, rank_of, shape_of
from srcjax.ops.expand.asking import (
    MISSING,
    is_array,
    is_empty,
    is_float64,
    is_real,
    known,
    known_value,
)
from srcjax.ops.expand.reductions import (
    expand_centred,
    expand_size_along,
    expand_unreduce,
)
from srcjax.ops.expand.table import expands

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


@expands(runtime.summed)
def _summed(args: Args, types: Types) -> gast.expr | None:
    v, axis, _ = args
    over = _over(types[1], types[2])
    return (
        None if over is None else syntax.expression(f"np.sum(v{over})", v=v, axis=axis)
    )


@expands(runtime.mean_with_centred)
def _mean_with_centred(args: Args, types: Types) -> gast.expr | None:
    d, axis, ddof, _, x = args
    centred = expand_centred([x, axis], [types[4], types[1]])
    over = _over(types[1], types[3])
    if centred is None or over is None or not is_real(types[4]):
        return None
    given = {"c": centred, "d": d, "axis": axis}
    if known(types[2]) == 0:
        return syntax.expression(f"np.mean(c * d{over})", **given)
    size = expand_size_along([x, axis], [types[4], types[1]])
    if size is None:
        return None
    form = f"np.sum(c * d{over}) / (n - ddof)"
    return syntax.expression(form, **given, n=size, ddof=ddof)


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


@expands(runtime.logsumexp_tangent)
def _logsumexp(args: Args, types: Types) -> gast.expr | None:
    d, y, a, axis, _, keepdims = args
    over = _over(types[3], types[5])
    if known(types[4]) is not None or over is None or shape_of(types[2]) is None:
        return None
    rest = ([axis, keepdims, a], [types[3], types[5], types[2]])
    spread_y = expand_unreduce([y, *rest[0]], [types[1], *rest[1]])
    if spread_y is None:
        return None
    form = f"np.sum(d * np.exp(a - y){over})"
    return syntax.expression(form, d=d, y=spread_y, a=a, axis=axis)


# -- borders ------------------------------------------------------------------------


@expands(runtime.pad_tangent)
def _pad(args: Args, types: Types) -> gast.expr | None:
    d, width, mode, border, reflect_type = args
    how = known(types[2])
    if how == "constant":
        if known(types[3]) == 0:
            return syntax.expression("np.pad(d, w)", d=d, w=width)
        form = "np.pad(d, w, constant_values=c)"
        return syntax.expression(form, d=d, w=width, c=border)
    even = known(types[4]) == "even"
    if how in ("edge", "wrap") or how in ("reflect", "symmetric") and even:
        return syntax.expression("np.pad(d, w, mode)", d=d, w=width, mode=mode)
    return None


# -- linear algebra -----------------------------------------------------------------


def _one_system(matrix: Type, b: Type) -> bool:
    """Whether the right-hand side holds columns, or one vector for one matrix."""
    columns, rank = rank_of(b), rank_of(matrix)
    if columns is None:
        return False
    return columns > 1 or (columns == 1 and rank == 2)


@expands(runtime.matrix_times)
def _matrix_times(args: Args, types: Types) -> gast.expr | None:
    if not _one_system(types[0], types[2]):
        return None
    return syntax.expression("d @ y", d=args[0], y=args[1])


@expands(runtime.solve_like)
def _solve_like(args: Args, types: Types) -> gast.expr | None:
    if not _one_system(types[0], types[2]):
        return None
    return syntax.expression("np.linalg.solve(a, v)", a=args[0], v=args[1])


@expands(runtime.trace_of_solution)
def _trace_of_solution(args: Args, types: Types) -> gast.expr | None:
    if rank_of(types[0]) != 2:
        return None
    return syntax.expression("np.trace(np.linalg.solve(a, d))", a=args[0], d=args[1])


@expands(runtime.triangle_times)
def _triangle_times(args: Args, types: Types) -> gast.expr | None:
    d, y, *_ = args
    trans, lower, unit = (known(t) for t in types[2:])
    if MISSING in (trans, lower, unit) or rank_of(types[0]) != 2:
        return None
    half = f"np.{'tril' if lower else 'triu'}(d"
    half += ")" if not unit else ", -1)" if lower else ", 1)"
    form = f"{half} @ y" if trans in (0, "N") else f"{half}.T @ y"
    return syntax.expression(form, d=d, y=y)


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


@expands(runtime.full_matrix)
def _full_matrix(args: Args, types: Types) -> gast.expr | None:
    return _general_matrix(args, types[0], types[1], types[3])


@expands(runtime.matrix_tangent)
def _matrix_tangent(args: Args, types: Types) -> gast.expr | None:
    return _general_matrix(args, *types)


def _general_matrix(
    args: Args, matrix: Type, assume_a: Type, turned: Type
) -> gast.expr | None:
    kind, transposed = known(assume_a), known_value(turned)
    if kind not in (None, "gen", "general") or transposed is MISSING:
        return None
    if not transposed:
        return args[0]
    is_matrix = isinstance(matrix, Array) and rank_of(matrix) == 2
    return syntax.expression("a.T", a=args[0]) if is_matrix else None
