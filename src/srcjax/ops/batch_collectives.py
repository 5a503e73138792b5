"""Batch rules of collectives: reductions along the batch axis itself.

A collective that names the axis of this `vmap` is computed here; what it gives is no
batch. Of several names the others are left for the `vmap` further out, and a collective
that does not name the axis works on each example of it.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.axes import size_of_axis
from srcjax.analysis.types import (
    Array,
    Const,
    Scalar,
    Type,
    dtype_of,
    is_number,
    shape_of,
)
from srcjax.errors import ArgumentError
from srcjax.ops.batch_operands import expr, tuple_of
from srcjax.ops.batching import MappedCall, shifted
from srcjax.ops.collectives import (
    all_gather,
    all_to_all,
    axis_index,
    axis_size,
    pmax,
    pmean,
    pmin,
    ppermute,
    psum,
    psum_scatter,
)
from srcjax.ops.known import MISSING
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


def split_names(call: MappedCall) -> tuple[tuple, tuple] | None:
    """The axes that are named before this one, and after it; None: it is not named."""
    given = call.const("axis_name")
    names = (given,) if isinstance(given, str) else tuple(given)
    if call.axis_name not in names:
        return None
    place = names.index(call.axis_name)
    return names[:place], names[place + 1 :]


def over(call: MappedCall, x: gast.expr, names: tuple, axis: int) -> gast.expr:
    """The same collective of `x` over axes further out, along an axis of `x`."""
    assert isinstance(call.value, gast.Call)
    left = expr(names[0] if len(names) == 1 else names)
    made = gast.Call(syntax.clone(call.value.func), [x, left], [])
    if axis:
        which = "axis" if call.op is lookup(all_gather) else "scatter_dimension"
        made.keywords.append(gast.keyword(which, expr(axis)))
    return made


def count_of(call: MappedCall, names: tuple) -> int:
    """How many examples the axes have together. Raises where it is not known."""
    if not names:
        return 1
    found = size_of_axis(Const(value=names))
    if found is None:
        raise ArgumentError(
            f"{call.op.name}: how many examples the axes {names!r} have is not known",
            instead="example arguments",
        )
    return found


def sizes_of(call: MappedCall) -> list[int]:
    """The sizes of the axes of an example. Raises where they are not known."""
    found = list(shape_of(call.type("x")) or ())
    if not all(isinstance(n, int) for n in found):
        raise ArgumentError(
            f"{call.op.name} over {call.const('axis_name')!r}: the shape of the value "
            "is not known",
            instead="example arguments, or one axis after the other",
        )
    return found  # type: ignore[return-value]


def reshaped(x: gast.expr, first: list[Any], rest: list[int]) -> gast.expr:
    """`x` in a shape of known sizes."""
    sizes = [n if isinstance(n, gast.AST) else expr(n) for n in [*first, *rest]]
    return gast.Call(syntax.expression("x.reshape", x=x), sizes, [])


def gathered(call: MappedCall) -> gast.expr | None:
    """All examples: the batch itself, with its axis where it is asked for."""
    axis, tiled = call.const("axis", 0), call.const("tiled", False)
    rank = call.rank("x")
    if not isinstance(axis, int) or tiled is MISSING or rank is None:
        return None
    names = split_names(call)
    if names is None:
        place = shifted(axis, rank) if call.is_mapped("x") else axis
        return call.rebuild(axis=expr(place))
    x = call.arg("x")
    if not call.is_mapped("x"):
        own = gast.Starred(syntax.expression("np.shape(x)", x=x), syntax.LOAD)
        shape = [] if rank == 0 else [own]
        x = syntax.call("np.broadcast_to", x, tuple_of(call.size, shape))
    before, after = names
    if after:
        x = over(call, x, after, 1)
    if before:
        x = over(call, x, before, 0)
    if before or after:
        x = reshaped(x, [expr(-1)], sizes_of(call))
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
    names = split_names(call)
    if names is None:
        place = shifted(axis, rank) if call.is_mapped("x") else axis
        return call.rebuild(scatter_dimension=expr(place))
    text = "np.sum(x, axis=0)" if call.is_mapped("x") else "x * n"
    total = syntax.expression(text, x=call.arg("x"), n=call.size)
    if any(names):
        return scattered_further(call, total, names, axis, bool(tiled))
    if tiled:
        parts = "np.stack(np.split(x, n, axis=a))"
        return syntax.expression(parts, x=total, n=call.size, a=expr(axis))
    if axis not in (0, -rank):
        total = syntax.expression("np.moveaxis(x, a, 0)", x=total, a=expr(axis))
    return syntax.call("one_for_each", total, call.size)


def scattered_further(
    call: MappedCall, total: gast.expr, names: tuple, axis: int, tiled: bool
) -> gast.expr:
    """`psum_scatter` over several axes: the parts stand in the order of the names."""
    before, after = names
    rank = call.rank("x") or 1
    x = (
        total
        if axis in (0, -rank)
        else syntax.call("np.moveaxis", total, expr(axis), expr(0))
    )
    first = [count_of(call, before), call.size, count_of(call, after)]
    rest = sizes_of(call)
    del rest[axis]
    used = [
        n for n, is_used in zip(first, (before, True, after), strict=True) if is_used
    ]
    x = reshaped(x, [*used, *[-1] * tiled], rest)
    if after:
        x = over(call, x, after, 1 + bool(before))
    if before:
        x = over(call, x, before, 0)
    if tiled and axis not in (0, -rank):
        x = syntax.call("np.moveaxis", x, expr(1), expr(axis % rank + 1))
    return x


def index_of_each(call: MappedCall) -> gast.expr | None:
    """The number of the example; of several axes the last one counts fastest."""
    names = split_names(call)
    if names is None:
        return call.rebuild()
    before, after = names
    assert isinstance(call.value, gast.Call)
    index = syntax.expression("np.arange(n)", n=call.size)

    def of(axes: tuple) -> gast.expr:
        left = expr(axes[0] if len(axes) == 1 else axes)
        return gast.Call(syntax.clone(call.value.func), [left], [])

    if before:
        index = syntax.expression("b * n + i", b=of(before), n=call.size, i=index)
    if after:
        count = expr(count_of(call, after))
        index = syntax.expression("i * m + a", i=index, m=count, a=of(after))
    return index


def size_of_all(call: MappedCall) -> gast.expr | None:
    """How many examples there are; of several axes all together."""
    names = other_names(call)
    if names is None:
        return call.rebuild()
    size = syntax.clone(call.size)
    if not names:
        return size
    assert isinstance(call.value, gast.Call)
    left = expr(names[0] if len(names) == 1 else names)
    more = gast.Call(syntax.clone(call.value.func), [left], [])
    return syntax.expression("n * m", n=size, m=more)


def one_name(call: MappedCall) -> bool:
    """Whether it is about this axis. Raises ArgumentError if about others too."""
    names = split_names(call)
    if names is not None and any(names):
        raise ArgumentError(
            f"{call.op.name}: {call.const('axis_name')!r} are several axes",
            instead="one axis after the other",
        )
    return names is not None


def spread_out(call: MappedCall) -> gast.expr:
    """The batch of the values of all examples."""
    x = call.arg("x")
    if call.is_mapped("x"):
        return x
    own = gast.Starred(syntax.expression("np.shape(x)", x=x), syntax.LOAD)
    shape = [] if call.rank("x") == 0 else [own]
    return syntax.call("np.broadcast_to", x, tuple_of(call.size, shape))


def permuted(call: MappedCall) -> gast.expr | None:
    """Each example gets another one's value, or zeros."""
    if not one_name(call):
        return call.rebuild()
    return syntax.call("permute_items", spread_out(call), call.arg("perm"))


def exchanged(call: MappedCall) -> gast.expr | None:
    """The parts that each example gets of all."""
    split, concat = call.const("split_axis"), call.const("concat_axis")
    tiled, rank = call.const("tiled", False), call.rank("x")
    both = isinstance(split, int) and isinstance(concat, int)
    if not both or tiled is MISSING or rank is None:
        return None
    split, concat = split % rank, concat % rank
    if not one_name(call):
        here = call.is_mapped("x")
        places = [expr(shifted(k, rank) if here else k) for k in (split, concat)]
        return call.rebuild(split_axis=places[0], concat_axis=places[1])
    return syntax.call(
        "exchange_items",
        spread_out(call),
        expr(split),
        expr(concat),
        *[expr(True)] * tiled,
    )


for _function, _rule in (
    (psum, sum_of_all),
    (pmean, mean_of_all),
    (pmax, extreme_of_all("np.max")),
    (pmin, extreme_of_all("np.min")),
    (all_gather, gathered),
    (psum_scatter, scattered),
    (ppermute, permuted),
    (all_to_all, exchanged),
    (axis_size, size_of_all),
    (axis_index, index_of_each),
):
    _op = lookup(_function)
    assert _op is not None
    _op.batch = _rule  # lists are containers here, never arrays
