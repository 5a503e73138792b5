"""What a runtime helper stands for once the types are known.

An expansion takes the helper's arguments as trees and as types, and returns the plain
expression a person would write, or None where the types do not tell enough (then the
call to the helper stays). An expansion may return an expression that only broadcasts
to the wanted shape: the caller compares types and spreads it where it matters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.analysis.types import (
    Array,
    Const,
    Dim,
    List,
    Scalar,
    Tuple,
    Type,
    broadcast_shapes,
    dtype_of,
    is_number,
    rank_of,
    reduced_axes,
    same_shape,
    shape_of,
)
from srcjax.runtime import contracted_axes, einsum_labels

Expansion = Callable[[list[gast.expr], list[Type]], gast.expr | None]
EXPANSIONS: dict[str, Expansion] = {}


def expands(helper: Callable) -> Callable[[Expansion], Expansion]:
    """Decorator: the function gives the plain expression of calls to the helper."""

    def decorate(expansion: Expansion) -> Expansion:
        EXPANSIONS[helper.__name__] = expansion
        return expansion

    return decorate


MISSING = object()


def known(t: Type | None, default: object = MISSING) -> object:
    """The value of a known constant (also None, tuples of constants), else `MISSING`.

    An absent argument (t None) has its `default`.
    """
    from srcjax.analysis.types import Tuple

    if t is None:
        return default
    if isinstance(t, Const):
        return t.value
    if isinstance(t, Tuple):
        values = [known(item) for item in t.items]
        return MISSING if any(v is MISSING for v in values) else tuple(values)
    return MISSING


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


def has_shape_of(d: gast.expr, x: gast.expr) -> bool:
    """Whether `d` is arithmetic on `x` and literals alone, such as `2 * x`."""
    if isinstance(d, gast.UnaryOp):
        return has_shape_of(d.operand, x)
    if isinstance(d, gast.BinOp) and not isinstance(d.op, gast.MatMult):
        sides = [s for s in (d.left, d.right) if not isinstance(s, gast.Constant)]
        return bool(sides) and all(has_shape_of(s, x) for s in sides)
    return syntax.equal(d, x)


@expands(runtime.unreduce)
def _unreduce(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
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
    if rank == 2 and axes == {1}:
        return syntax.expression("d[:, None]", d=d)
    return syntax.expression("np.expand_dims(d, axis)", d=d, axis=axis)


# -- elementwise and reductions ---


def _array(t: Type) -> bool:
    """Certainly a NumPy array: it has `.size`, `.shape`, `.mean()` ..."""
    return isinstance(t, Array)


def _empty(t: Type) -> bool:
    """Perhaps without elements: known to have a size of 0."""
    return 0 in (shape_of(t) or ())


def _is_float64(t: Type) -> bool:
    dtype = dtype_of(t)  # careful: None == np.dtype(float) is True
    return dtype is not None and dtype == np.dtype(float)


def _axes(axis: Type, rank: int | None) -> tuple[int, ...] | None:
    """The known axes, sorted and not negative; None when not known."""
    along = known(axis)
    if along is MISSING or rank is None:
        return None
    if along is None:
        return tuple(range(rank))
    axes = along if isinstance(along, tuple) else (along,)
    return tuple(sorted(int(a) % rank for a in axes)) if rank else ()


def _over(axis: gast.expr, t: Type, rank: int | None) -> str | None:
    """The arguments of a reduction along `axis` that keeps what must be kept."""
    if known(t) is None:
        return ""
    axes = _axes(t, rank)
    if axes is None:
        return None
    if axes == tuple(range(len(axes))):  # leading axes come back by broadcasting
        return "axis=axis"
    return "axis=axis, keepdims=True"


@expands(runtime.exponent_below)
def _exponent_below(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    value = known(types[0])
    if isinstance(value, (int, float)):
        return syntax.expression("b - 1", b=args[0]) if value else syntax.const(1)
    if isinstance(types[0], Scalar):
        return syntax.expression("b - 1 if b else 1", b=args[0])
    if _array(types[0]):
        return syntax.expression("np.where(b == 0, 1, b - 1)", b=args[0])
    return None


@expands(runtime.log_of_base)
def _log_of_base(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    value = known(types[0])
    if isinstance(value, (int, float)) and value > 0:
        return syntax.expression("math.log(a)", a=args[0])
    if not is_real(types[1]) and not is_complex(types[0]):
        if not is_real(types[0]) or not is_complex(types[1]):
            return None
        return syntax.expression("np.log(np.where(a == 0, 1, a) + 0j)", a=args[0])
    if _array(types[0]) or _is_float64(types[0]) and _is_float64(types[1]):
        return syntax.expression("np.log(np.where(a == 0, 1, a))", a=args[0])
    return None


@expands(runtime.clip_adjoint)
def _clip_adjoint(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, x, lo, hi = args
    below, above = (
        None if known(t) is None else shape_of(t) is not None for t in types[2:]
    )
    if below is None and above is None:
        return d
    if below and above:
        return syntax.expression(
            "d * (x > lo) * (x < hi) + d * ((x == lo) | (x == hi)) / 2",
            d=d, x=x, lo=lo, hi=hi,
        )  # fmt: skip
    if below and above is None:
        return syntax.expression("d * (x > lo) + d * (x == lo) / 2", d=d, x=x, lo=lo)
    if above and below is None:
        return syntax.expression("d * (x < hi) + d * (x == hi) / 2", d=d, x=x, hi=hi)
    return None


@expands(runtime.in_dtype_of)
def _in_dtype_of(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    have, want = dtype_of(types[0]), dtype_of(types[1])
    if want is None:
        return None
    python = getattr(types[1], "python", isinstance(types[1], Const))
    if want.kind == "c" and (have is None or have.kind != "c"):
        return syntax.expression("d + 0j", d=args[0]) if python else None
    if python or (have is not None and have == want):
        return args[0]
    if have is None or (have.kind == "c") != (want.kind == "c"):
        return None  # perhaps complex beside a real one
    if is_number(types[0]) and is_number(types[1]):
        return syntax.expression(f"np.{want.name}(d)", d=args[0])
    if _array(types[0]):
        return syntax.expression(f"d.astype(np.{want.name})", d=args[0])
    return None


@expands(runtime.undo_dtype)
def _undo_dtype(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, _, x = args
    if known(types[1]) is None:
        return d
    return _in_dtype_of([d, x], [types[0], types[2]])


@expands(runtime.size_along)
def _size_along(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    x, t = args[0], types[0]
    if is_number(t):
        return syntax.const(1)
    if not _array(t) or _empty(t):
        return None
    along, axes = known(types[1]), _axes(types[1], rank_of(t))
    if along is None or (axes is not None and len(axes) == rank_of(t)):
        return syntax.expression("x.size", x=x)
    if axes is None or along == ():
        return None
    return syntax.expression(" * ".join(f"x.shape[{i}]" for i in axes), x=x)


@expands(runtime.centred)
def _centred(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    if not _array(types[0]) or _empty(types[0]):
        return None
    over = _over(args[1], types[1], rank_of(types[0]))
    if over is None:
        return None
    return syntax.expression(f"x - x.mean({over})", x=args[0], axis=args[1])


@expands(runtime.centred_slope)
def _centred_slope(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    deviation = _centred(args[1:], types[1:])
    if deviation is None or dtype_of(types[1]) is None:
        return None
    form = "d * c" if is_real(types[1]) else "d * np.conj(c)"
    if form != "d * c" and not is_real(types[0]):
        form = "np.real(d) * np.conj(c)"
    return syntax.expression(form, d=args[0], c=deviation)


@expands(runtime.unreduce_extreme)
def _unreduce_extreme(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, y, axis, keepdims, x = args
    if rank_of(types[4]) == 0:
        return d
    rest = ([axis, keepdims, x], [types[2], types[3], types[4]])
    spread_d = _unreduce([d, *rest[0]], [types[0], *rest[1]])
    spread_y = _unreduce([y, *rest[0]], [types[1], *rest[1]])
    over = _over(axis, types[2], rank_of(types[4]))
    if spread_d is None or spread_y is None or over is None:
        return None
    if not _array(types[4]) or dtype_of(types[4]) is None or _empty(types[4]):
        return None
    over = over and f", {over}"
    if not _is_float64(types[4]):
        over += ", dtype=x.dtype"
    return syntax.expression(
        f"d * (x == y) / np.sum(x == y{over})", d=spread_d, y=spread_y, x=x, axis=axis
    )


@expands(runtime.prod_of_others)
def _prod_of_others(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return syntax.const(1) if rank_of(types[0]) == 0 else None


@expands(runtime.cumsum_adjoint)
def _cumsum_adjoint(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, axis, x = args
    along, rank = known(types[1]), rank_of(types[2])
    if not isinstance(types[2], Array) or rank is None or rank == 0:
        return None
    if along is None or rank == 1:
        flat = "" if rank == 1 else ".reshape(x.shape)"
        return syntax.expression("np.cumsum(d[::-1])[::-1]" + flat, d=d, x=x)
    return syntax.expression("np.flip(np.cumsum(np.flip(d, i), i), i)", d=d, i=axis)


@expands(runtime.average_adjoint)
def _average_adjoint(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, weights, axis, x = args
    if known(types[1]) is None:
        size = _size_along([x, axis], [types[3], types[2]])
        return None if size is None else syntax.expression("d / n", d=d, n=size)
    over = _over(axis, types[2], rank_of(types[3]))
    if over is None or not same_shape(shape_of(types[1]), shape_of(types[3])):
        return None
    if not _array(types[1]):
        return None
    return syntax.expression(f"d * w / w.sum({over})", d=d, w=weights, axis=axis)


@expands(runtime.average_weights_adjoint)
def _average_weights(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, y, weights, axis, x = args
    over = _over(axis, types[3], rank_of(types[4]))
    if over is None or not same_shape(shape_of(types[2]), shape_of(types[4])):
        return None
    if not _array(types[2]):
        return None
    return syntax.expression(
        f"d * (x - y) / w.sum({over})", d=d, y=y, x=x, w=weights, axis=axis
    )


@expands(runtime.norm_adjoint)
def _norm_adjoint(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, y, _, axis, keepdims, x = args
    rest = ([axis, keepdims, x], types[3:])
    spread_d = _unreduce([d, *rest[0]], [types[0], *rest[1]])
    spread_y = _unreduce([y, *rest[0]], [types[1], *rest[1]])
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


@expands(runtime.fractions)
def _fractions(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    if known(types[1]) is True:
        return syntax.expression("np.linspace(0, 1, n)", n=args[0])
    if known(types[1]) is False:
        return syntax.expression("np.linspace(0, 1, n, endpoint=False)", n=args[0])
    return None


@expands(runtime.linspace_adjoint)
def _linspace_adjoint(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, weights, _, _ = args
    if rank_of(types[3]) == 0 and rank_of(types[0]) == 1 and _is_float64(types[0]):
        return syntax.expression("np.dot(w, d)", w=weights, d=d)
    return None


@expands(runtime.sum_keeping)
def _sum_keeping(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    v, axis = args
    over = _over(axis, types[1], rank_of(types[0]))
    if over is None:
        if known(types[1]) is MISSING:
            return None
        over = "axis=axis, keepdims=True"
    over = over and f", {over}"
    return syntax.expression(f"np.sum(v{over})", v=v, axis=axis)


@expands(runtime.logsumexp_adjoint)
def _logsumexp_adjoint(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, y, a, axis, b, keepdims = args
    if known(types[4]) is not None:
        return None
    rest = ([axis, keepdims, a], [types[3], types[5], types[2]])
    spread_d = _unreduce([d, *rest[0]], [types[0], *rest[1]])
    spread_y = _unreduce([y, *rest[0]], [types[1], *rest[1]])
    if spread_d is None or spread_y is None or shape_of(types[2]) is None:
        return None
    return syntax.expression("d * np.exp(a - y)", d=spread_d, y=spread_y, a=a)


# -- what products, shaping, selection and linalg ask of types ----------------------


def known_value(t: Type | None, default: object = MISSING) -> Any:
    """Like `known`, lists of constants included."""
    if isinstance(t, (Tuple, List)) and t.items is not None:
        values = [known_value(item) for item in t.items]
        if any(v is MISSING for v in values):
            return MISSING
        return values if isinstance(t, List) and t.cls is list else tuple(values)
    return known(t, default)


def types_in(arrays: Any) -> list[Type] | None:
    """The types of the items of a list or tuple of known length, else None."""
    if isinstance(arrays, (Tuple, List)):
        return None if arrays.items is None else list(arrays.items)
    return list(arrays) if isinstance(arrays, (tuple, list)) else None


def items_of(arrays: gast.expr, count: int) -> list[gast.expr]:
    """An expression for each item of a list: of its display, or by number."""
    if isinstance(arrays, (gast.Tuple, gast.List)):
        return list(arrays.elts)
    return [syntax.expression(f"a[{i}]", a=arrays) for i in range(count)]


def size_text(x: gast.expr, axis: int, dim: object = None) -> gast.expr:
    """The text of a size: `len(x)`, `x.shape[1]`, or the number where it is known."""
    if isinstance(dim, int) and not syntax.is_atom(x):
        return syntax.const(dim)
    return syntax.expression("len(x)" if axis == 0 else f"x.shape[{axis}]", x=x)


def indexed(d: gast.expr, index: list[str], **holes: gast.expr) -> gast.expr:
    """`d[...]`, less the full slices at the end; `d` itself if nothing is left."""
    while index and index[-1] == ":":
        index = index[:-1]
    if not index:
        return d
    return syntax.expression(f"d[{', '.join(index)}]", d=d, **holes)


def permuted(d: gast.expr, order: list[int]) -> gast.expr:
    """`d` with its axes in another order."""
    if order == sorted(order):
        return d
    if len(order) == 2:
        return syntax.expression("d.T", d=d)
    return syntax.expression(f"d.transpose({', '.join(map(str, order))})", d=d)


def is_complex(t: Type) -> bool:
    """Whether the type tells that the value is complex."""
    dtype = dtype_of(t)
    return dtype is not None and dtype.kind == "c"


def is_real(t: Type) -> bool:
    """Whether the type tells that the value is not complex."""
    dtype = dtype_of(t)
    return dtype is not None and dtype.kind in "biuf"


def summed(d: gast.expr, have: Any, want: Any, x: gast.expr) -> gast.expr | None:
    """`d` of shape `have` summed to the shape `want` of `x`."""
    return _unbroadcast([d, x], [Array(shape=have), Array(shape=want)])


# -- products -----------------------------------------------------------------------


@expands(runtime.transposed)
def _transposed(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    rank = rank_of(types[0])
    if rank is None:
        return None
    form = "x.T" if rank == 2 else "x.swapaxes(-1, -2)"
    return syntax.expression(form, x=args[0])


def contraction(
    d: gast.expr, a: gast.expr, b: gast.expr, ranks: Any, axes: Any, side: int
) -> gast.expr:
    """The adjoint of `a` (side 0) or `b` (side 1) when `axes` of both are summed."""
    (m, n), (left, right) = ranks, axes
    if m <= 2 and n <= 2 and len(left) == 1:
        found = _MATRIX_FORMS[m, n, left[0], right[0]][side]
        return syntax.expression(found, d=d, a=a, b=b)
    kept = [i for i in range(m) if i not in left]
    free = [i for i in range(n) if i not in right]
    rank = len(kept) + len(free)
    if side == 0:
        pair = tuple(range(len(kept), rank)), tuple(free)
        order = kept + [i for _, i in sorted(zip(right, left, strict=True))]
        operands = "d, b"
    else:
        pair = tuple(kept), tuple(range(len(kept)))
        order = [i for _, i in sorted(zip(left, right, strict=True))] + free
        operands = "a, d"
    if not pair[0] and rank == 0:
        form = "d * b" if side == 0 else "a * d"
        value = syntax.expression(form, d=d, a=a, b=b)
    elif not pair[0]:
        value = syntax.expression(f"np.multiply.outer({operands})", d=d, a=a, b=b)
    else:
        shown = (pair[0][0], pair[1][0]) if len(pair[0]) == 1 else pair
        form = f"np.tensordot({operands}, axes={shown})"
        value = syntax.expression(form, d=d, a=a, b=b)
    return permuted(value, sorted(range(len(order)), key=order.__getitem__))


#: By the ranks and the summed axes of `a` and `b`: the adjoints of `a` and of `b`.
_MATRIX_FORMS = {
    (1, 1, 0, 0): ("d * b", "d * a"),
    (1, 2, 0, 0): ("b @ d", "np.outer(a, d)"),
    (1, 2, 0, 1): ("d @ b", "np.outer(d, a)"),
    (2, 1, 1, 0): ("np.outer(d, b)", "a.T @ d"),
    (2, 1, 0, 0): ("np.outer(b, d)", "a @ d"),
    (2, 2, 1, 0): ("d @ b.T", "a.T @ d"),
    (2, 2, 1, 1): ("d @ b", "d.T @ a"),
    (2, 2, 0, 0): ("b @ d.T", "a @ d"),
    (2, 2, 0, 1): ("b.T @ d.T", "d.T @ a.T"),
}


def _dot_like(
    args: list[gast.expr], types: list[Type], side: int, inner: bool
) -> gast.expr | None:
    d, a, b = args
    m, n = rank_of(types[1]), rank_of(types[2])
    if m is None or n is None:
        return None
    if m == 0 or n == 0:
        other, own = (b, 1) if side == 0 else (a, 2)
        value = syntax.expression("d * x", d=d, x=other)
        have = shape_of(types[1]) or shape_of(types[2])
        return summed(value, have, shape_of(types[own]), args[own])
    axes = ((m - 1,), (n - 1 if inner else max(n - 2, 0),))
    return contraction(d, a, b, (m, n), axes, side)


@expands(runtime.undot_left)
def _undot_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _dot_like(args, types, 0, inner=False)


@expands(runtime.undot_right)
def _undot_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _dot_like(args, types, 1, inner=False)


@expands(runtime.uninner_left)
def _uninner_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _dot_like(args, types, 0, inner=True)


@expands(runtime.uninner_right)
def _uninner_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _dot_like(args, types, 1, inner=True)


def _matmul(args: list[gast.expr], types: list[Type], side: int) -> gast.expr | None:
    d, a, b = args
    m, n = shape_of(types[1]), shape_of(types[2])
    pair: Any
    if not m or not n:
        return None
    if len(m) <= 2 and len(n) <= 2:
        axes = ((len(m) - 1,), (max(len(n) - 2, 0),))
        return contraction(d, a, b, (len(m), len(n)), axes, side)
    if len(n) == 1:
        if side == 0:
            return syntax.expression("d[..., None] * b", d=d, b=b)
        return syntax.expression(f"np.tensordot(d, a, axes={len(m) - 1})", d=d, a=a)
    if len(m) == 1:
        if side == 1:
            return syntax.expression("a[:, None] * d[..., None, :]", d=d, a=a)
        batch = tuple(range(len(n) - 2))
        pair = (*batch, len(n) - 1), (*batch, len(n) - 2)
        return syntax.expression(f"np.tensordot(b, d, axes={pair})", d=d, b=b)
    if side == 0 and len(m) == 2:
        pair = tuple(i for i in range(len(n)) if i != len(n) - 2)
        form = f"np.tensordot(d, b, axes=({pair}, {pair}))"
        return syntax.expression(form, d=d, b=b)
    if side == 1 and len(n) == 2:
        pair = tuple(range(len(m) - 1))
        return syntax.expression(f"np.tensordot(a, d, axes=({pair}, {pair}))", d=d, a=a)
    both = broadcast_shapes(m[:-2], n[:-2])
    if both is None:
        return None
    if side == 0:
        form = "d @ b.T" if len(n) == 2 else "d @ b.swapaxes(-1, -2)"
        value, have = syntax.expression(form, d=d, b=b), (*both, *m[-2:])
        return summed(value, have, m, a)
    form = "a.T @ d" if len(m) == 2 else "a.swapaxes(-1, -2) @ d"
    value, have = syntax.expression(form, d=d, a=a), (*both, *n[-2:])
    return summed(value, have, n, b)


@expands(runtime.unmatmul_left)
def _unmatmul_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _matmul(args, types, 0)


@expands(runtime.unmatmul_right)
def _unmatmul_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _matmul(args, types, 1)


@expands(runtime.unouter_left)
def _unouter_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    if rank_of(types[1]) != 1 or rank_of(types[2]) != 1:
        return None
    return syntax.expression("d @ b", d=args[0], b=args[2])


@expands(runtime.unouter_right)
def _unouter_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    if rank_of(types[1]) != 1 or rank_of(types[2]) != 1:
        return None
    return syntax.expression("a @ d", d=args[0], a=args[1])


def _vdot(args: list[gast.expr], types: list[Type], side: int) -> gast.expr | None:
    shapes = shape_of(types[1]), shape_of(types[2])
    first = dtype_of(types[1])
    if None in shapes or first is None or dtype_of(types[2]) is None:
        return None
    form = "d * x"
    if first.kind == "c":
        form = "d * np.conj(x)" if side else "np.conj(d * x)"
    value = syntax.expression(form, d=args[0], x=args[2 - side])
    if same_shape(*shapes):
        return value
    return syntax.expression("v.reshape(x.shape)", v=value, x=args[1 + side])


@expands(runtime.unvdot_left)
def _unvdot_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _vdot(args, types, 0)


@expands(runtime.unvdot_right)
def _unvdot_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _vdot(args, types, 1)


def _vecdot(args: list[gast.expr], types: list[Type], side: int) -> gast.expr | None:
    d, axis = args[0], known_value(types[3])
    m, n = shape_of(types[1]), shape_of(types[2])
    if axis != -1 or not m or not n or not (is_real(types[1]) and is_real(types[2])):
        return None
    value = syntax.expression("d[..., None] * x", d=d, x=args[2 - side])
    if len(m) == len(n) == 1:
        value = syntax.expression("d * x", d=d, x=args[2 - side])
    own = (m, n)[side]
    return summed(value, broadcast_shapes(m, n), own, args[1 + side])


@expands(runtime.unvecdot_left)
def _unvecdot_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _vecdot(args, types, 0)


@expands(runtime.unvecdot_right)
def _unvecdot_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _vecdot(args, types, 1)


def _tensordot(args: list[gast.expr], types: list[Type], side: int) -> Any:
    d, a, b = args[:3]
    m, n, along = rank_of(types[1]), rank_of(types[2]), known_value(types[3])
    if m is None or n is None or along is MISSING:
        return None
    axes = contracted_axes(along, m, n)
    return contraction(d, a, b, (m, n), axes, side)


@expands(runtime.untensordot_left)
def _untensordot_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _tensordot(args, types, 0)


@expands(runtime.untensordot_right)
def _untensordot_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _tensordot(args, types, 1)


@expands(runtime.einsum_adjoints)
def _einsum_adjoints(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    """A display with one einsum for each operand, if no operand needs more."""
    d, subscripts, items = args[0], known_value(types[1]), types_in(types[2])
    if not isinstance(subscripts, str) or items is None:
        return None
    shapes = [shape_of(t) for t in items]
    if any(shape is None for shape in shapes):
        return None
    inputs, output = einsum_labels(subscripts, [len(s or ()) for s in shapes])
    sizes: dict[str, Dim] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        for label, dim in zip(labels, shape or (), strict=True):
            if len(set(labels)) != len(labels):
                return None  # a diagonal
            if label not in sizes:
                sizes[label] = dim
            elif not same_shape((sizes[label],), (dim,)):
                return None  # perhaps a size of 1 that was broadcast
    operands = items_of(args[2], len(items))
    found = []
    for i, labels in enumerate(inputs):
        others = operands[:i] + operands[i + 1 :]
        terms = [output, *inputs[:i], *inputs[i + 1 :]]
        have = "".join(label for label in labels if label in "".join(terms))
        if not others and have == output:
            value = d
        elif not others and have == output[::-1] and len(have) == 2:
            value = syntax.expression("d.T", d=d)
        else:
            formula = syntax.const(f"{','.join(terms)}->{have}")
            value = syntax.call("np.einsum", formula, d, *others)
        index = [":" if label in have else "None" for label in labels]
        while index and index[0] == "None":  # comes back by broadcasting
            index = index[1:]
        value = indexed(value, index) if "None" in index else value
        found.append(value)
    return gast.List(found, syntax.LOAD)


def _kron(args: list[gast.expr], types: list[Type], side: int) -> gast.expr | None:
    d, a, b = args
    if rank_of(types[1]) != 2 or rank_of(types[2]) != 2:
        return None
    form = (
        "np.einsum('ikjl,kl->ij', d.reshape(len(a), len(b), a.shape[1], b.shape[1]), b)"
        if side == 0
        else "np.einsum('ikjl,ij->kl', d.reshape(len(a), len(b), a.shape[1], "
        "b.shape[1]), a)"
    )
    return syntax.expression(form, d=d, a=a, b=b)


@expands(runtime.unkron_left)
def _unkron_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _kron(args, types, 0)


@expands(runtime.unkron_right)
def _unkron_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _kron(args, types, 1)


@expands(runtime.untrace)
def _untrace(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, x = args[:2]
    shape, dtype = shape_of(types[1]), dtype_of(types[1])
    if shape is None or len(shape) != 2 or dtype is None or dtype.kind != "f":
        return None
    if [known_value(t) for t in types[2:5]] not in ([0, 0, 1], [0, 1, 0]):
        return None
    sizes = "len(x)" if same_shape(shape[:1], shape[1:]) else "*x.shape"
    kind = "" if dtype == np.dtype(float) else ", dtype=x.dtype"
    return syntax.expression(f"d * np.eye({sizes}{kind})", d=d, x=x)


def _cross(args: list[gast.expr], types: list[Type], side: int) -> gast.expr | None:
    d, a, b = args[:3]
    m, n = shape_of(types[1]), shape_of(types[2])
    axes = [known_value(t) for t in types[3:7]]
    if axes not in ([-1, -1, -1, None], [-1, -1, -1, -1]):
        return None
    if not m or not n or m[-1] != 3 or n[-1] != 3:
        return None
    form = "np.cross(b, d)" if side == 0 else "np.cross(d, a)"
    value = syntax.expression(form, d=d, a=a, b=b)
    return summed(value, broadcast_shapes(m, n), (m, n)[side], args[1 + side])


@expands(runtime.uncross_left)
def _uncross_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _cross(args, types, 0)


@expands(runtime.uncross_right)
def _uncross_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    return _cross(args, types, 1)


@expands(runtime.unconvolve_left)
def _unconvolve_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    if known_value(types[3]) != "full":
        return None
    return syntax.expression("np.convolve(d, v[::-1], 'valid')", d=args[0], v=args[2])


@expands(runtime.unconvolve_right)
def _unconvolve_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    if known_value(types[3]) != "full":
        return None
    return syntax.expression("np.convolve(d, a[::-1], 'valid')", d=args[0], a=args[1])


# -- shaping ------------------------------------------------------------------------


@expands(runtime.unreshape)
def _unreshape(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, x = args[:2]
    order = known_value(types[2]) if len(types) > 2 else "C"
    have, want = shape_of(types[0]), shape_of(types[1])
    if want is None or order not in ("C", "F") or not isinstance(types[1], Array):
        return None
    if have is not None and same_shape(have, want):
        return d
    if have == ():  # the seed of a gradient may be a plain number
        return syntax.expression("np.reshape(d, x.shape)", d=d, x=x)
    if order == "F":
        return syntax.expression("d.reshape(x.shape, order='F')", d=d, x=x)
    if len(want) == 1:
        flat = have is not None and len(have) == 1
        return d if flat else syntax.expression("d.ravel()", d=d)
    return syntax.expression("d.reshape(x.shape)", d=d, x=x)


@expands(runtime.untranspose)
def _untranspose(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, axes = args[0], known_value(types[1])
    if axes is MISSING:
        return None
    if axes and len(axes) == 1 and (axes[0] is None or np.ndim(axes[0])):
        axes = axes[0]
    if not axes:
        return syntax.expression("d.T", d=d)
    order = [axis % len(axes) for axis in axes]
    return permuted(d, sorted(range(len(order)), key=order.__getitem__))


@expands(runtime.unrollaxis)
def _unrollaxis(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, rank = args[0], rank_of(types[0])
    axis, start = known_value(types[1]), known_value(types[2])
    if rank is None or axis is MISSING or start is MISSING:
        return None
    order = list(np.rollaxis(np.empty(range(rank)), axis, start).shape)
    return permuted(d, sorted(range(rank), key=order.__getitem__))


@expands(runtime.unroll)
def _unroll(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, shift, axis = args
    value = known_value(types[1])
    if value is not MISSING:
        minus = tuple(-v for v in value) if np.ndim(value) else -value
        back = syntax.expression(repr(minus))
    elif is_number(types[1]):
        back = syntax.expression("-shift", shift=shift)
    else:
        return None
    if known_value(types[2]) is None:
        return syntax.expression("np.roll(d, s)", d=d, s=back)
    return syntax.expression("np.roll(d, s, axis=axis)", d=d, s=back, axis=axis)


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
    elif not all(map(syntax.is_atom, parts)) or len(parts) > 4:
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
    if axis is MISSING or axis is None:
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


# -- selection ----------------------------------------------------------------------


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


@expands(runtime.undiag)
def _undiag(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    shape = shape_of(types[1])
    if shape is not None and len(shape) == 1:
        form = "np.diag(d)" if known_value(types[2]) == 0 else "np.diag(d, k)"
        return syntax.expression(form, d=args[0], k=args[2])
    if shape is None or len(shape) != 2:
        return None
    return _diagonal_matrix(args[0], shape, args[2], types[2])


@expands(runtime.undiff)
def _undiff(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, n, axis = args[0], known_value(types[2]), known_value(types[3])
    shape = shape_of(types[1])
    if shape is None or n != 1 or axis is MISSING:
        return None
    if any(known_value(t) is not None for t in types[4:]):
        return None
    if len(shape) == 1 and (not isinstance(shape[0], int) or shape[0] > 0):
        return syntax.expression("-np.diff(np.pad(d, 1))", d=d)
    rank, axis = len(shape), axis % len(shape)
    widths = tuple((1, 1) if i == axis else (0, 0) for i in range(rank))
    last = "" if axis == rank - 1 else f", axis={axis}"
    return syntax.expression(f"-np.diff(np.pad(d, {widths}){last})", d=d)


# -- linear algebra -----------------------------------------------------------------


@expands(runtime.per_matrix)
def _per_matrix(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    rank = rank_of(types[1])
    if rank is None:
        return None
    form = "d" if rank == 2 else "d[..., None, None]"
    return syntax.expression(form, d=args[0])


@expands(runtime.unsolve_right)
def _unsolve_right(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, a, _ = args
    m, n = shape_of(types[1]), shape_of(types[2])
    if m is None or n is None or len(m) != 2 or len(n) not in (1, 2):
        return None
    return syntax.expression("np.linalg.solve(a.T, d)", d=d, a=a)


@expands(runtime.unsolve_left)
def _unsolve_left(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    d, y, a, b = args
    db = _unsolve_right([d, a, b], [types[0], types[2], types[3]])
    if db is None:
        return None
    form = "-np.outer(db, y)" if rank_of(types[3]) == 1 else "-db @ y.T"
    return syntax.expression(form, db=db, y=y)


@expands(runtime.symmetrised)
def _symmetrised(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    if rank_of(types[0]) != 2 or not syntax.is_atom(args[0]):
        return None
    if not is_real(types[0]):
        return None
    return syntax.expression("(x + x.T) / 2", x=args[0])


# -- containers ----------------------------------------------------------------------


@expands(runtime.unarray)
def _unarray(args: list[gast.expr], types: list[Type]) -> gast.expr | None:
    from srcjax.analysis.types import Array, List, Tuple, is_number, parts

    inner = parts(types[1])
    if (
        isinstance(types[1], (List, Tuple))
        and inner
        and all(is_number(t) or isinstance(t, Array) for t in inner)
    ):
        return syntax.call("list", args[0])
    return None
