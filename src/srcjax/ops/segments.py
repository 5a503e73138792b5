"""The extremes of items with a common place: the rules of their helpers."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import runtime, syntax
from srcjax.analysis.types import Array, Tuple, Type, dtype_of
from srcjax.ops.batch_helpers import helper
from srcjax.ops.batch_kinds import batch
from srcjax.ops.batch_operands import spread, tuple_of
from srcjax.ops.batching import MappedCall, Rule
from srcjax.ops.helper_tangents import linear_in
from srcjax.ops.record import adjoint, tangent
from srcjax.ops.shaping_types import dims_in

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules


def infer_extremes(data: Type, index: Type, shape: Type) -> Type:
    return Array(dtype=dtype_of(data), shape=dims_in(shape))


@adjoint(runtime.largest_at, infer=infer_extremes, constant=("index", "shape"))
def _(y, data, index, shape):
    """The adjoint goes to the items that are the extremes; ties share it."""
    d[data] = unextreme_at(d[y], y, data, index)


@adjoint(runtime.smallest_at, infer=infer_extremes, constant=("index", "shape"))
def _(y, data, index, shape):
    """The adjoint goes to the items that are the extremes; ties share it."""
    d[data] = unextreme_at(d[y], y, data, index)


@tangent(runtime.largest_at, runtime.smallest_at)
def _(y, data, index, shape):
    """The tangent is that of the items that are the extremes, the mean of ties."""
    d[y] = extreme_at_tangent(d[data], y, data, index)


# -- batches --------------------------------------------------------------------------


def by_example(*arrays: str) -> Rule:
    """The rule of a helper of these arrays, with the places of each example."""

    def rule(call: MappedCall) -> gast.expr | None:
        changes: dict[str, Any] = {"index": index_of_batch(call)}
        for p in arrays:
            rank = call.rank(p)
            if rank is not None and not call.is_mapped(p):
                changes[p] = spread(call, call.arg(p), call.type(p), rank)
            elif rank is None:
                return None
        if call.has("shape"):
            changes["shape"] = tuple_of(call.size, items(call.arg("shape")))
        return None if None in changes.values() else call.rebuild(**changes)

    return rule


def items(node: gast.expr) -> list[gast.expr]:
    """What stands in a display of the tuple: its items, or `*node`."""
    if isinstance(node, gast.Tuple):
        return list(node.elts)
    return [gast.Starred(node, syntax.LOAD)]


def index_of_batch(call: MappedCall) -> gast.expr | None:
    """The index behind the axis of the examples; None where none can be written."""
    index, t = call.arg("index"), call.type("index")
    parts = items(index) if isinstance(t, Tuple) else [index]
    if not call.is_mapped("index"):
        return gast.Tuple([syntax.expression("slice(None)"), *parts], syntax.LOAD)
    rank = call.rank("index")
    if isinstance(t, Tuple) or not rank:
        return None
    rows = syntax.call("np.arange", call.size)
    nones = ", ".join(["None"] * rank)
    rows = syntax.expression(f"r[:, {nones}]", r=rows)
    return gast.Tuple([rows, *parts], syntax.LOAD)


batch(runtime.largest_at, runtime.smallest_at)(by_example("data"))
helper(runtime.unextreme_at, like="data")(by_example("d", "y", "data"))
helper(runtime.extreme_at_tangent, like="y")(by_example("data_dot", "y", "data"))
linear_in("d")(runtime.unextreme_at)
linear_in("data_dot")(runtime.extreme_at_tangent)
