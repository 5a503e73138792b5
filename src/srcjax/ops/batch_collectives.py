"""Batch rules of collectives: reductions along the batch axis itself.

A collective that names the axis of this `vmap` is computed here; what it gives is no
batch. Of several names the others are left for the `vmap` further out, and a collective
that does not name the axis works on each example of it.
"""

from __future__ import annotations

import gast

from srcjax import syntax
from srcjax.analysis.types import Array, Scalar, Type, dtype_of, is_number
from srcjax.errors import ArgumentError
from srcjax.ops.batch_operands import expr, tuple_of
from srcjax.ops.batching import MISSING, MappedCall, shifted
from srcjax.ops.collectives import (
    all_gather,
    axis_index,
    pmax,
    pmean,
    pmin,
    psum,
    psum_scatter,
)
from srcjax.ops.record import lookup


def other_names(call: MappedCall) -> tuple[str, ...] | None:
    """The axes that are left once this one is done; None if it is not among them."""
    given = call.const("axis_name")
    names = (given,) if isinstance(given, str) else tuple(given)
    if call.axis_name not in names:
        return None
    return tuple(n for n in names if n != call.axis_name)


def over_the_rest(
    call: MappedCall, value: gast.expr, names: tuple[str, ...]
) -> gast.expr:
    """The same collective of the value over the axes that are left."""
    if not names:
        return value
    left = expr(names[0] if len(names) == 1 else names)
    return call.rebuild(x=value, axis_name=left)


def is_array(t: Type) -> bool:
    """Whether the value certainly is an array or a number, not a container."""
    return isinstance(t, (Array, Scalar)) or is_number(t)


def sum_of_all(call: MappedCall) -> gast.expr | None:
    if not is_array(call.type("x")):
        return None
    names = other_names(call)
    if names is None:
        return call.rebuild()
    text = "np.sum(x, axis=0)" if call.is_mapped("x") else "x * n"
    total = syntax.expression(text, x=call.arg("x"), n=call.size)
    if call.const("x", MISSING) == 1 and type(call.const("x")) is int:
        total = syntax.clone(call.size)
    return over_the_rest(call, total, names)


def mean_of_all(call: MappedCall) -> gast.expr | None:
    if not is_array(call.type("x")):
        return None
    names = other_names(call)
    if names is None:
        return call.rebuild()
    dtype = dtype_of(call.type("x"))
    same = "x" if dtype is not None and dtype.kind in "fc" else "x / 1"
    text = "np.mean(x, axis=0)" if call.is_mapped("x") else same
    return over_the_rest(call, syntax.expression(text, x=call.arg("x")), names)


def extreme_of_all(function: str) -> object:
    def rule(call: MappedCall) -> gast.expr | None:
        if not is_array(call.type("x")):
            return None
        names = other_names(call)
        if names is None:
            return call.rebuild()
        text = f"{function}(x, axis=0)" if call.is_mapped("x") else "x"
        return over_the_rest(call, syntax.expression(text, x=call.arg("x")), names)

    return rule


def one_name(call: MappedCall) -> bool:
    """Whether the one axis named is this one. Several have no rule."""
    names = other_names(call)
    if names:
        raise ArgumentError(
            f"{call.op.name} takes one axis, not {call.const('axis_name')!r}",
            instead="one call after the other",
        )
    return names is not None


def gathered(call: MappedCall) -> gast.expr | None:
    """All examples: the batch itself, with its axis where it is asked for."""
    axis, tiled = call.const("axis", 0), call.const("tiled", False)
    rank = call.rank("x")
    if not isinstance(axis, int) or tiled is MISSING or rank is None:
        return None
    if not one_name(call):
        place = shifted(axis, rank) if call.is_mapped("x") else axis
        return call.rebuild(axis=expr(place))
    x = call.arg("x")
    if not call.is_mapped("x"):
        own = gast.Starred(syntax.expression("np.shape(x)", x=x), syntax.LOAD)
        shape = [] if rank == 0 else [own]
        x = syntax.call("np.broadcast_to", x, tuple_of(call.size, shape))
    if tiled:
        return syntax.expression("np.concatenate(x, axis=a)", x=x, a=expr(axis))
    if axis not in (0, -1 - rank):
        x = syntax.expression("np.moveaxis(x, 0, a)", x=x, a=expr(axis))
    return syntax.expression("x.copy()", x=x) if call.changing else x


def scattered(call: MappedCall) -> gast.expr | None:
    """Of the sum, the part of each example."""
    axis, tiled = call.const("scatter_dimension", 0), call.const("tiled", False)
    rank = call.rank("x")
    if not isinstance(axis, int) or tiled is MISSING or rank is None:
        return None
    if not one_name(call):
        place = shifted(axis, rank) if call.is_mapped("x") else axis
        return call.rebuild(scatter_dimension=expr(place))
    text = "np.sum(x, axis=0)" if call.is_mapped("x") else "x * n"
    total = syntax.expression(text, x=call.arg("x"), n=call.size)
    if tiled:
        parts = "np.stack(np.split(x, n, axis=a))"
        return syntax.expression(parts, x=total, n=call.size, a=expr(axis))
    if axis not in (0, -rank):
        total = syntax.expression("np.moveaxis(x, a, 0)", x=total, a=expr(axis))
    return total


def index_of_each(call: MappedCall) -> gast.expr | None:
    if not one_name(call):
        return call.rebuild()
    return syntax.expression("np.arange(n)", n=call.size)


for _function, _rule in (
    (psum, sum_of_all),
    (pmean, mean_of_all),
    (pmax, extreme_of_all("np.max")),
    (pmin, extreme_of_all("np.min")),
    (all_gather, gathered),
    (psum_scatter, scattered),
    (axis_index, index_of_each),
):
    _op = lookup(_function)
    assert _op is not None
    _op.batch = _rule  # lists are containers here, never arrays
