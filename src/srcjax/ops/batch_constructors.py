"""Batch rules of what makes arrays, copies them and converts them."""

from __future__ import annotations

import typing
from typing import Any, TypeAlias

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.analysis.types import Scalar, parts, shape_of
from srcjax.ops import constructors  # noqa: F401  (the records come first)
from srcjax.ops.batch_kinds import batch
from srcjax.ops.batch_operands import (
    as_it_is,
    axis_of,
    expr,
    only,
    stacked,
    tuple_of,
)
from srcjax.ops.batch_shaping import in_shape
from srcjax.ops.batching import MappedCall, shifted
from srcjax.ops.known import MISSING

Found: TypeAlias = "gast.expr | None"

# -- filled ---------------------------------------------------------------------


@batch(np.zeros_like, np.ones_like, np.empty_like)
def _(call: MappedCall) -> Found:
    if call.is_mapped("dtype") or call.is_mapped("shape"):
        return None
    if not call.has("shape") or call.const("shape") is None:
        return call.rebuild()
    sizes = in_shape(call, "shape")
    return None if sizes is None else call.rebuild(shape=tuple_of(call.size, sizes))


@batch(runtime.zero_tangent, lists=("x",))
@batch(runtime.zeros_like, lists=("x",))
def _(call: MappedCall) -> Found:
    t = call.type("x")
    if isinstance(t, Scalar) and t.python:  # floats for Python numbers, ints too
        return syntax.call("np.zeros", syntax.clone(call.size))
    if not parts(t) and shape_of(t) is not None:
        return syntax.call("np.zeros_like", call.arg("x"))
    return call.rebuild()


@batch(np.full)
def _(call: MappedCall) -> Found:
    sizes, rank = in_shape(call, "shape"), call.result_rank
    if not only(call, "fill_value") or sizes is None or rank is None:
        return None
    value = call.lifted("fill_value", rank)
    shape = tuple_of(call.size, sizes)
    if not sizes:
        shape = syntax.clone(call.size)
    return value and call.rebuild(shape=shape, fill_value=value)


@batch(np.full_like)
def _(call: MappedCall) -> Found:
    rank = call.result_rank
    if not only(call, "a", "fill_value") or rank is None:
        return None
    changes: dict[str, Any] = {}
    if call.is_mapped("fill_value"):
        changes["fill_value"] = call.lifted("fill_value", rank)
    if call.has("shape") and call.const("shape") is not None:
        sizes = in_shape(call, "shape")
        if sizes is None:
            return None
        changes["shape"] = tuple_of(call.size, sizes)
    elif not call.is_mapped("a"):
        own = shape_of(call.type("a"))
        if own is None:
            return None
        dims = gast.Attribute(call.arg("a"), "shape", syntax.LOAD)
        rest = [gast.Starred(dims, syntax.LOAD)] if own else []
        changes["shape"] = tuple_of(call.size, rest)
    return call.rebuild(**changes)


@batch(np.linspace)
def _(call: MappedCall) -> Found:
    axis = axis_of(call, default=0)
    if not only(call, "start", "stop") or axis is None or axis is MISSING:
        return None
    ranks = [call.rank("start"), call.rank("stop")]
    if None in ranks:
        return None
    highest = max(r for r in ranks if r is not None)
    ends = {p: call.lifted(p, highest) for p in ("start", "stop")}
    changes: dict[str, Any] = {**ends, "axis": expr(shifted(axis, 0))}
    return call.rebuild(**changes)


# -- copies and conversions -----------------------------------------------------

batch(np.copy, np.ndarray.copy)(as_it_is("a"))
batch(typing.cast)(as_it_is("val"))
batch(np.ndarray.astype)(as_it_is("x"))
if hasattr(np, "astype"):  # since NumPy 2.1
    batch(np.astype)(as_it_is("x"))
batch(
    np.float64, np.float32, np.float16, np.longdouble, np.bool_, np.int8, np.int16,
    np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.complex128,
    np.complex64,
)(as_it_is("x"))  # fmt: skip


@batch(runtime.apart)
def _(call: MappedCall) -> Found:
    # That of an example is a copy; that of the batch may be a view.
    return (
        syntax.expression("y.copy()", y=call.arg("y")) if only(call, "y", "x") else None
    )


@batch(np.array, np.asarray, lists=("object",))
def _(call: MappedCall) -> Found:
    t = call.type("object")
    if not only(call, "object") and not parts(t) or call.is_mapped("dtype"):
        return None
    if not parts(t):
        return call.rebuild()
    made = stacked(call, call.arg("object"), t)
    if made is None or not call.has("dtype") or call.const("dtype") is None:
        return made
    return syntax.expression("a.astype(t)", a=made, t=call.arg("dtype"))


@batch(np.require)
def _(call: MappedCall) -> Found:
    return call.rebuild() if only(call, "a") and not parts(call.type("a")) else None


@batch(np.ascontiguousarray)
def _(call: MappedCall) -> Found:
    if not only(call, "object"):
        return None
    x = call.lifted("object", 1)  # never without axes
    return x and call.rebuild(object=x)
