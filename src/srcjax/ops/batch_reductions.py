"""Batch rules of reductions, scans, order statistics and Fourier transforms.

The axis of an example is one further in the batch: `np.sum(x)` of a vector is
`np.sum(x, axis=1)` of a batch of vectors. Negative axes stay as they are.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.ops import fft, reductions, selection  # noqa: F401  (the records)
from srcjax.ops.batch_kinds import along_axis, batch
from srcjax.ops.batch_operands import axis_of, expr, only
from srcjax.ops.batching import MappedCall, all_axes, shifted, within
from srcjax.ops.known import MISSING

# -- along an axis, or all of them ---------------------------------------------------

batch(
    np.sum,
    np.mean,
    np.var,
    np.std,
    np.prod,
    np.max,
    np.min,
    np.nanmax,
    np.nanmin,
    np.ptp,
    np.nansum,
    np.nanmean,
    np.count_nonzero,
    np.all,
    np.any,
)(along_axis("a"))
batch(np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.cumsum, np.cumprod)(
    along_axis("a", whole=False)
)
batch(np.sort, np.argsort, np.partition, np.argpartition)(
    along_axis("x", default=-1, whole=False)
)


@batch(np.average)
def _(call: MappedCall) -> gast.expr | None:
    """NumPy wants weights of the shape of `a`, or one for each place along one axis."""
    if call.const("weights", None) is None:
        return along_axis("a")(call)
    rank, axis, weights = call.rank("a"), axis_of(call), call.rank("weights")
    if not rank or axis is MISSING or not only(call, "a", "weights"):
        return None
    axis = all_axes(rank) if axis is None else axis
    if not within(axis, rank):
        return None
    a, w = call.arg("a"), call.arg("weights")
    axis, place = expr(shifted(axis, rank)), axis
    along = isinstance(place, int) and weights == 1
    if not (along or weights == rank):
        return None
    if along and not call.is_mapped("weights"):
        return call.rebuild(axis=axis)
    if along and rank > 1:
        here = place % rank
        index = [":", *(":" if k == here else "None" for k in range(rank))]
        w = syntax.expression(f"w[{', '.join(index)}]", w=w)
    if not call.is_mapped("a"):
        shape = syntax.expression("(n, *np.shape(a))", n=call.size, a=a)
        a = syntax.expression("np.broadcast_to(a, s)", a=a, s=shape)
    if not call.is_mapped("weights") or (along and rank > 1):
        shape = syntax.expression("np.shape(a)", a=call.arg("a"))
        if not call.is_mapped("a"):
            shape = syntax.expression("(n, *s)", n=call.size, s=shape)
        w = syntax.expression("np.broadcast_to(w, s)", w=w, s=shape)
    return call.rebuild(a=a, weights=w, axis=axis)


@batch(np.linalg.norm)
def _(call: MappedCall) -> gast.expr | None:
    rank, axis, ord = call.rank("x"), axis_of(call), call.const("ord", None)
    if rank is None or axis is MISSING or not only(call, "x"):
        return None
    if axis is not None:
        fits = rank > 0 and within(axis, rank)
        return call.rebuild(axis=expr(shifted(axis, rank))) if fits else None
    if rank == 0:
        return syntax.expression("np.abs(x)", x=call.arg("x")) if ord is None else None
    axes = expr(shifted(all_axes(rank), rank))
    if rank < 3:
        return call.rebuild(axis=axes)
    if ord is not None or call.const("keepdims", False) is not False:
        return None
    # The default of NumPy is the norm of all the elements.
    squares = syntax.expression("np.abs(x) ** 2", x=call.arg("x"))
    return syntax.expression("np.sqrt(np.sum(s, axis=a))", s=squares, a=axes)


# -- Fourier transforms --------------------------------------------------------------


def transform_along(name: str, default: Any) -> Any:
    """The rule of a Fourier transform: None stands for all axes, or for the last."""

    def rule(call: MappedCall) -> gast.expr | None:
        a = next(iter(call.op.signature.parameters))
        rank, axes = call.rank(a), axis_of(call, name, default)
        if not rank or axes is MISSING or not only(call, a):
            return None
        if axes is None and call.const("s", None) is not None:
            return call.rebuild()  # the last axes, as many as there are sizes
        axes = tuple(range(rank)) if axes is None else axes
        if not within(axes, rank):
            return None
        if axes == default and shifted(axes, rank) == default:
            return call.rebuild()
        return call.rebuild(**{name: expr(shifted(axes, rank))})

    return rule


batch(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft)(transform_along("axis", -1))
batch(np.fft.fft2, np.fft.ifft2, np.fft.rfft2, np.fft.irfft2)(
    transform_along("axes", (-2, -1))
)
batch(np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn)(
    transform_along("axes", None)
)
batch(np.fft.fftshift, np.fft.ifftshift)(transform_along("axes", None))
