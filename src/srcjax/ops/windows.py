"""Windows of an array: `sliding_window_view` and `as_strided`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from srcjax import runtime
from srcjax.analysis.types import (
    Array,
    Dim,
    Type,
    dtype_of,
    shape_of,
    shift,
)
from srcjax.ops.batch_helpers import helper, whole
from srcjax.ops.batch_kinds import batch
from srcjax.ops.batch_operands import axis_of, expr, only
from srcjax.ops.batching import MappedCall, shifted
from srcjax.ops.infer_rules import FALSE, NONE, normal_axes
from srcjax.ops.known import MISSING, known_value
from srcjax.ops.record import adjoint, tangent
from srcjax.ops.shaping_types import dims_in
from srcjax.runtime import as_strided_alike, unslide, unstride

# ruff: noqa: F821
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules


def infer_windows(
    x: Type, window_shape: Type, axis: Type = NONE, subok: Type = FALSE, **_: Type
) -> Type:
    shape, along = shape_of(x), known_value(axis)
    window = dims_in(window_shape)
    if shape is None or window is None or along is MISSING:
        return Array(dtype=dtype_of(x))
    trimmed: list[Dim] = list(shape)
    along = range(len(shape)) if along is None else along
    axes = [along] if isinstance(along, int) else list(along)
    for k, size in zip(axes, window, strict=True):
        k = normal_axes(k, len(shape))[0]
        trimmed[k] = shift(trimmed[k], 1 - size) if isinstance(size, int) else None
    return Array(dtype=dtype_of(x), shape=(*trimmed, *window))


def infer_strided(x: Type, shape: Type = NONE, strides: Type = NONE, **_: Type) -> Type:
    return Array(
        dtype=dtype_of(x), shape=shape_of(x) if shape == NONE else dims_in(shape)
    )


@adjoint(sliding_window_view, infer=infer_windows, alias="read-only", linear="x")
def _(y, x, window_shape, axis=None, *, subok=False, writeable=False):
    d[x] = unslide(d[y], x, window_shape, axis)


@adjoint(as_strided, infer=infer_strided, alias="read-only")
def _(y, x, shape=None, strides=None, subok=False, writeable=True):
    d[x] = unstride(d[y], x, shape, strides)


@tangent(as_strided)
def _(y, x, shape=None, strides=None, subok=False, writeable=True):
    d[y] = as_strided_alike(d[x], shape, strides)


# -- the helpers' own derivatives: each is the other's transpose -----------------------


def infer_item(d: Type, x: Type, *_: Type, **__: Type) -> Type:
    return Array(dtype=dtype_of(d), shape=shape_of(x))


@adjoint(unslide, infer=infer_item, linear="d", constant=("x",))
def _(y, d, x, window_shape, axis=None):
    d[d] = np.lib.stride_tricks.sliding_window_view(d[y], window_shape, axis)


@adjoint(unstride, infer=infer_item, linear="d", constant=("x", "shape", "strides"))
def _(y, d, x, shape=None, strides=None):
    d[d] = as_strided_alike(d[y], shape, strides)


@adjoint(as_strided_alike, infer=infer_strided, linear="x_dot")
def _(y, x_dot, shape, strides):
    d[x_dot] = unstride(d[y], np.ascontiguousarray(x_dot), shape, strides)


# -- batches --------------------------------------------------------------------------


def behind_the_batch(call: MappedCall) -> Any:
    """The axis argument counted from behind the batch, None where it is not known."""
    axis, rank = axis_of(call, "axis", None), call.rank("x")
    if axis is MISSING or rank is None:
        return None
    return expr(tuple(range(1, rank + 1)) if axis is None else shifted(axis, rank))


@batch(sliding_window_view)
def _(call: MappedCall) -> Any:
    axis = behind_the_batch(call)
    return call.rebuild(axis=axis) if axis is not None and only(call, "x") else None


@helper(runtime.unslide, like="x")
def _(call: MappedCall) -> Any:
    axis, changes = behind_the_batch(call), whole(call, "d", "x")
    if axis is None or changes is None:
        return None
    return call.rebuild(**changes, axis=axis)


__all__ = ["infer_strided", "infer_windows"]
