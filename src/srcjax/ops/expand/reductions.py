"""What helpers of broadcasting, elementwise operations and reductions stand for."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.analysis.types import (
    Array,
    Const,
    Scalar,
    Type,
    dtype_of,
    is_number,
    rank_of,
    reduced_axes,
    same_shape,
    shape_of,
)
from srcjax.ops.expand.asking import (
    axes_in,
    has_shape_of,
    is_array,
    is_complex,
    is_empty,
    is_float64,
    is_real,
    over_axes,
)
from srcjax.ops.expand.table import expands
from srcjax.ops.known import MISSING, known


@expands(runtime.unbroadcast)
def _unbroadcast(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, _ = args
    have, want = shape_of(types[0]), shape_of(types[1])
    if have is None or want is None:
        return None
    if len(have) < len(want) or same_shape(have, want):
        return d  # the caller sees to it that a smaller `d` only ever broadcasts
    if has_shape_of(d, args[1]):
        return d
    found = reduced_axes(want, have)
    if found is None:
        return None
    leading, kept = found
    if leading == len(have) and not kept:
        return syntax.expression("d.sum()", d=d)
    if leading:
        axes = 0 if leading == 1 else tuple(range(leading))
        d = syntax.expression(f"d.sum(axis={axes})", d=d)
    if kept:
        axes = kept[0] if len(kept) == 1 else kept
        d = syntax.expression(f"d.sum(axis={axes}, keepdims=True)", d=d)
    return d


@expands(runtime.unreduce)
def expand_unreduce(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, axis, _, _ = args
    if rank_of(types[3]) == 0 or known(types[1]) is None or rank_of(types[0]) == 0:
        return d
    if known(types[2]) is True:
        return d
    rank, along = rank_of(types[3]), known(types[1])
    if rank is None or along is MISSING or known(types[2]) is not False:
        return None
    axes = {a % rank for a in (along if isinstance(along, tuple) else (along,))}
    if axes == set(range(len(axes))):  # leading axes come back by broadcasting
        return d
    index = ["None" if a in axes else ":" for a in range(max(axes) + 1)]
    if len(index) <= 4:
        return syntax.expression(f"d[{', '.join(index)}]", d=d)
    return syntax.expression("np.expand_dims(d, axis)", d=d, axis=axis)


@expands(runtime.undo_dtype)
def _undo_dtype(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, dtype, x = args
    if known(types[1]) is None:
        return d
    return expand_in_dtype_of([d, x], [types[0], types[2]])


@expands(runtime.log_of_base)
def _log_of_base(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    value = known(types[0])
    if isinstance(value, (int, float)) and value > 0:
        return syntax.expression("math.log(a)", a=args[0])
    if not is_real(types[1]) and not is_complex(types[0]):
        if not is_real(types[0]) or not is_complex(types[1]):
            return None
        return syntax.expression("np.log(np.where(a == 0, 1, a) + 0j)", a=args[0])
    if is_array(types[0]) or is_float64(types[0]) and is_float64(types[1]):
        return syntax.expression("np.log(np.where(a == 0, 1, a))", a=args[0])
    return None


@expands(runtime.root_below_one)
def _root_below_one(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    if is_complex(types[0]):
        return syntax.expression("np.cos(np.arcsin(x))", x=args[0])
    return (
        syntax.expression("np.sqrt(1 - x**2)", x=args[0]) if is_real(types[0]) else None
    )


@expands(runtime.in_dtype_of)
def expand_in_dtype_of(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    have, want = dtype_of(types[0]), dtype_of(types[1])
    if want is None:
        return None
    python = getattr(types[1], "python", isinstance(types[1], Const))
    if want.kind == "c" and (have is None or have.kind != "c"):
        return syntax.expression("d + 0j", d=args[0]) if python else None
    if have is not None and have.kind == "c" and want.kind != "c":
        part = np.dtype(f"f{have.itemsize // 2}")
        shape = shape_of(types[0])
        real: Type = Scalar(dtype=part)
        if is_array(types[0]):
            real = Array(dtype=part, shape=shape)
        d = syntax.expression("np.real(d)", d=args[0])
        return expand_in_dtype_of([d, args[1]], [real, types[1]])
    if python or (have is not None and have == want):
        return args[0]
    if have is None:
        return None  # perhaps complex beside a real one
    if is_number(types[0]):  # where x is an array: a number that all entries share
        weak = getattr(types[0], "python", isinstance(types[0], Const))
        spread = weak and not is_number(types[1])
        form = "d" if spread else f"np.{want.name}(d)"
        return syntax.expression(form, d=args[0])
    if is_array(types[0]):
        return syntax.expression(f"d.astype(np.{want.name})", d=args[0])
    return None


@expands(runtime.size_along)
def expand_size_along(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    x, t = args[0], types[0]
    if is_number(t):
        return syntax.const(1)
    along, axes = known(types[1]), axes_in(types[1], rank_of(t))
    if not is_array(t) or is_empty(t):
        return syntax.expression("np.size(x)", x=x) if along is None else None
    if along is None or (axes is not None and len(axes) == rank_of(t)):
        return syntax.expression("x.size", x=x)
    if axes is None or along == ():
        return None
    return syntax.expression(" * ".join(f"x.shape[{i}]" for i in axes), x=x)


@expands(runtime.centred)
def expand_centred(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    if not is_array(types[0]) or is_empty(types[0]):
        return None
    over = over_axes(args[1], types[1], rank_of(types[0]))
    if over is None:
        return None
    return syntax.expression(f"x - x.mean({over})", x=args[0], axis=args[1])


@expands(runtime.unreduce_extreme)
def _unreduce_extreme(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, y, axis, keepdims, x = args
    if rank_of(types[4]) == 0:
        return d
    rest = ([axis, keepdims, x], [types[2], types[3], types[4]])
    spread_d = expand_unreduce([d, *rest[0]], [types[0], *rest[1]])
    spread_y = expand_unreduce([y, *rest[0]], [types[1], *rest[1]])
    over = over_axes(axis, types[2], rank_of(types[4]))
    if spread_d is None or spread_y is None or over is None:
        return None
    if not is_array(types[4]) or dtype_of(types[4]) is None or is_empty(types[4]):
        return None
    over = over and f", {over}"
    if not is_float64(types[4]):
        over += ", dtype=x.dtype"
    return syntax.expression(
        f"d * (x == y) / np.sum(x == y{over})", d=spread_d, y=spread_y, x=x, axis=axis
    )


@expands(runtime.share_of_ties)
def _share_of_ties(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, chosen, axis, keepdims, x = args
    rest = ([axis, keepdims, x], [types[2], types[3], types[4]])
    spread_d = expand_unreduce([d, *rest[0]], [types[0], *rest[1]])
    over = over_axes(axis, types[2], rank_of(types[4]))
    if spread_d is None or over is None or not isinstance(chosen, gast.Name):
        return None
    if not is_array(types[4]) or dtype_of(types[4]) is None or is_empty(types[4]):
        return None
    over = over and f", {over}"
    if not is_float64(types[4]):
        over += ", dtype=x.dtype"
    form = f"d * c / np.sum(c{over})"
    return syntax.expression(form, d=spread_d, c=chosen, x=x, axis=axis)


@expands(runtime.norm_adjoint)
def _norm_adjoint(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, y, _, axis, keepdims, x = args
    rest = ([axis, keepdims, x], types[3:])
    spread_d = expand_unreduce([d, *rest[0]], [types[0], *rest[1]])
    spread_y = expand_unreduce([y, *rest[0]], [types[1], *rest[1]])
    ord, along, rank = known(types[2]), known(types[3]), rank_of(types[5])
    if spread_d is None or spread_y is None or shape_of(types[5]) is None:
        return None
    if dtype_of(types[5]) is None or not (is_real(types[0]) or is_real(types[5])):
        return None
    vector = isinstance(along, int) or (along is None and rank in (0, 1))
    if ord is None or ord == "fro" or (vector and ord == 2):
        part = "x" if is_real(types[5]) else "np.conj(x)"
        form = f"d * {part} / np.where(y == 0, 1, y)"
        return syntax.expression(form, d=spread_d, y=spread_y, x=x)
    if vector and ord == 1 and is_real(types[5]):
        return syntax.expression("d * np.sign(x)", d=spread_d, x=x)
    return None


@expands(runtime.sum_keeping)
def _sum_keeping(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    v, axis = args
    over = over_axes(axis, types[1], rank_of(types[0]))
    if over is None:
        if known(types[1]) is MISSING:
            return None
        over = "axis=axis, keepdims=True"
    if is_array(types[0]) and syntax.is_atom(v):
        return syntax.expression(f"v.sum({over})", v=v, axis=axis)
    over = over and f", {over}"
    return syntax.expression(f"np.sum(v{over})", v=v, axis=axis)


def summed(d: gast.expr, have: Any, want: Any, x: gast.expr) -> gast.expr | None:
    """`d` of shape `have` summed to the shape `want` of `x`."""
    return _unbroadcast([d, x], [Array(shape=have), Array(shape=want)])


@expands(runtime.power_below)
def _power_below(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    base, exponent = types
    value: Any = known(exponent)
    told = value is not MISSING and is_number(exponent)
    if not told or 0 < np.real(value) < 1:
        if not (isinstance(base, (Array, Scalar, Const)) or is_array(base)):
            return None
        if not told and not is_whole(exponent):
            if dtype_of(exponent) is None or not all(map(syntax.is_atom, args)):
                return None
            text = "np.where((a == 0) & (b == 0), 1, a) ** (b - 1)"
            return syntax.expression(text, a=args[0], b=args[1])
        number = isinstance(base, Const) or (isinstance(base, Scalar) and base.python)
        if number and not is_whole(exponent):
            power = syntax.call("exponent_below", args[1])
            return syntax.call("np.power", args[0], power)
    return syntax.expression("a ** exponent_below(b)", a=args[0], b=args[1])


def is_whole(t: Type) -> bool:
    """Whether it is surely an integer."""
    dtype = dtype_of(t)
    return dtype is not None and dtype.kind in "iu"
