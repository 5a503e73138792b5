"""What expansions ask of types, and the pieces of text that they share."""

from __future__ import annotations

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import Array, Type, dtype_of, shape_of
from srcjax.ops.known import MISSING, known


def has_shape_of(d: gast.expr, x: gast.expr) -> bool:
    """Whether `d` is arithmetic on `x` and literals alone, such as `2 * x`."""
    if isinstance(d, gast.UnaryOp):
        return has_shape_of(d.operand, x)
    if isinstance(d, gast.BinOp) and not isinstance(d.op, gast.MatMult):
        sides = [s for s in (d.left, d.right) if not isinstance(s, gast.Constant)]
        return bool(sides) and all(has_shape_of(s, x) for s in sides)
    return syntax.equal(d, x)


def is_array(t: Type) -> bool:
    """Certainly a NumPy array: it has `.size`, `.shape`, `.mean()` ..."""
    return isinstance(t, Array)


def is_empty(t: Type) -> bool:
    """Perhaps without elements: known to have a size of 0."""
    return 0 in (shape_of(t) or ())


def is_float64(t: Type) -> bool:
    dtype = dtype_of(t)  # careful: None == np.dtype(float) is True
    return dtype is not None and dtype == np.dtype(float)


def axes_in(axis: Type, rank: int | None) -> tuple[int, ...] | None:
    """The known axes, sorted and not negative; None when not known."""
    along = known(axis)
    if along is MISSING or rank is None:
        return None
    if along is None:
        return tuple(range(rank))
    axes = along if isinstance(along, tuple) else (along,)
    return tuple(sorted(int(a) % rank for a in axes)) if rank else ()


def over_axes(axis: gast.expr, t: Type, rank: int | None) -> str | None:
    """The arguments of a reduction along `axis` that keeps what must be kept."""
    if known(t) is None:
        return ""
    axes = axes_in(t, rank)
    if axes is None:
        return None
    if axes == tuple(range(len(axes))):  # leading axes come back by broadcasting
        return "axis=axis"
    return "axis=axis, keepdims=True"


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
    while index and index[-1] == ":" and "..." not in index:
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
