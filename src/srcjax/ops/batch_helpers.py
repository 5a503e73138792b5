"""Batch rules of the runtime helpers that generated gradients call.

For `vmap` a helper is an operation with a rule and a type, like any other; a derivative
reads its source. A helper without a rule here is batched like a function of the user's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

import gast

from srcjax import runtime, syntax
from srcjax.analysis.types import (
    UNKNOWN,
    List,
    Tuple,
    Type,
    Unknown,
    dtype_of,
    is_active,
    is_number,
    parts,
    shape_of,
)
from srcjax.ops.batch_operands import (
    Item,
    axis_of,
    display,
    expr,
    flat,
    has_ints,
    items_in,
    listed,
    only,
    spread,
)
from srcjax.ops.batch_shaping import nested_blocks, padding, rank_and_depth
from srcjax.ops.batching import MappedCall, Rule, lift, shifted
from srcjax.ops.infer_rules import value_of_shape
from srcjax.ops.known import MISSING, known_value, types_in
from srcjax.ops.record import MAPPED, Op, key_of
from srcjax.ops.sums import infer_add

Found: TypeAlias = "gast.expr | None"


def helper(
    function: Callable, like: str = "", infer: Callable[..., Type] | None = None
) -> Callable[[Rule], Rule]:
    """Decorator: the batch rule of a helper whose result is as the argument `like`.

    Or as `infer` says.
    """

    def infer_like(**types: Type) -> Type:
        second = like == "x" and known_value(types.get("which"), 0) == 1
        x = types["values"] if second else types[like]
        return adjoint_type(types.get("d", UNKNOWN), x)

    def decorate(rule: Rule) -> Rule:
        op = Op(f"srcjax.runtime.{function.__name__}", inspect.signature(function))
        op.infer = infer or infer_like
        op.batch = rule
        op.functions.append(function)
        op.passes = tuple(op.signature.parameters)
        MAPPED[key_of(function)] = op
        return rule

    return decorate


def depth_of(t: Type) -> int | None:
    """How many lists are around each item of a list; None where some have more."""
    if not isinstance(t, (List, Tuple)):
        return 0
    items = types_in(t)
    if items is None:
        return None
    depths = {depth_of(item) for item in items}
    (depth,) = depths if len(depths) == 1 else (None,)
    return None if depth is None else depth + 1


def adjoint_type(d: Type, x: Type) -> Type:
    """The type of the adjoint of `x`: its structure and shapes."""
    if isinstance(x, (List, Tuple)):
        items = types_in(x)
        if items is None:
            return UNKNOWN
        return List(items=tuple(adjoint_type(UNKNOWN, item) for item in items))
    shape = shape_of(x)
    dtype = dtype_of(x) if dtype_of(d) is None else dtype_of(d)
    return UNKNOWN if shape is None else value_of_shape(dtype, shape)


# -- kinds of rules --------------------------------------------------------------------


def whole(call: MappedCall, *parameters: str) -> dict[str, Any] | None:
    """Changes that make batches of these arguments; None if others are mapped."""
    if not only(call, *parameters):
        return None
    changes = {}
    for p in parameters:
        rank = call.rank(p)
        if rank is None:
            return None
        if not call.is_mapped(p):
            changes[p] = spread(call, call.arg(p), call.type(p), rank)
            if changes[p] is None:
                return None
    return changes


def at_axis(*parameters: str, axis: str = "axis") -> Rule:
    """The rule of a helper that takes batches of these arguments and a shifted axis.

    With no axis it is about flattened arrays: that of `x` too, and back to its shape.
    """

    def rule(call: MappedCall) -> Found:
        changes, default = whole(call, *parameters), default_of(call, axis)
        where, rank = axis_of(call, axis, default), call.rank("x")
        if changes is None or where is MISSING or rank is None:
            return None
        if where is not None:
            new = shifted(where, rank)
            if call.has(axis) or new != default:
                changes[axis] = expr(new)
            return call.rebuild(**changes)
        if rank == 1:
            return call.rebuild(**changes, **{axis: expr(1)})
        shape = shape_of(call.type("x"))
        x = flat(call, call.arg("x"), call.type("x"))
        if x is None or shape is None or not has_ints(shape):
            return None
        changes["x"] = x
        made = call.rebuild(**changes, **{axis: expr(1)})
        return in_shape_of(call, made, shape)

    return rule


def default_of(call: MappedCall, parameter: str) -> Any:
    found = call.op.signature.parameters[parameter].default
    return MISSING if found is inspect.Parameter.empty else found


def in_shape_of(call: MappedCall, value: gast.expr, shape: Any) -> gast.expr:
    """`value.reshape(n, ...)`."""
    reshape = gast.Attribute(value, "reshape", syntax.LOAD)
    return syntax.call(reshape, syntax.clone(call.size), *map(expr, shape))


# -- sums and structure ----------------------------------------------------------------


@helper(runtime.unbroadcast, like="x")
def _(call: MappedCall) -> Found:
    have, want = call.rank("d"), call.rank("x")
    if have is None or want is None:
        d, x = batch_of(call, "d"), batch_of(call, "x")
        return d and x and syntax.call("unbroadcast_examples", d, x)
    if not only(call, "d", "x"):
        return None
    x = spread(call, call.arg("x"), call.type("x"), want)
    d = spread(call, call.arg("d"), call.type("d"), max(have, want))
    if x is None or d is None:
        return None
    if have > want:
        axes = tuple(range(1, have - want + 1))
        where = expr(axes[0] if len(axes) == 1 else axes)
        d = syntax.expression("d.sum(axis=a)", d=d, a=where)
    if want == 0 and have > 0:
        return d
    return call.rebuild(d=d, x=x)


def batch_of(call: MappedCall, parameter: str) -> Found:
    """The argument as a batch, whatever its rank; None for a container."""
    if parts(call.type(parameter)):
        return None
    value = call.arg(parameter)
    if call.is_mapped(parameter):
        return value
    return syntax.call("spread_items", value, syntax.clone(call.size))


@helper(runtime.unreduce, like="x")
def _(call: MappedCall) -> Found:
    if call.rank("x") is None:
        if call.const("axis") is not None or call.const("keepdims") not in (0, None):
            return None
        d, x = batch_of(call, "d"), batch_of(call, "x")
        return d and x and syntax.call("unreduce_examples", d, x)
    changes, axis = whole(call, "d", "x"), axis_of(call)
    keepdims, rank = call.const("keepdims"), call.rank("x")
    if changes is None or axis is MISSING or keepdims is MISSING or rank is None:
        return None
    if axis is None and not keepdims:
        d = spread(call, call.arg("d"), call.type("d"), rank)
        if d is None:
            return None
        changes["d"], axis = d, tuple(range(rank))
        changes["keepdims"] = expr(True)
    return call.rebuild(**changes, axis=expr(shifted(axis, rank)))


@helper(runtime.in_dtype_of, like="x")
def _(call: MappedCall) -> Found:
    if not only(call, "d", "x") or call.rank("d") is None:
        return None
    d = spread(call, call.arg("d"), call.type("d"), call.rank("d") or 0)
    t = call.type("x")
    if d is None or is_number(t) and getattr(t, "python", True):
        return d  # numbers of Python have no dtype
    if isinstance(t, (List, Tuple)):  # the examples are the first axis of each item
        depth = depth_of(t)
        moved = f"np.moveaxis(d, 0, {depth})"
        return depth and call.rebuild(d=syntax.expression(moved, d=d))
    if call.is_mapped("x"):
        return call.rebuild(d=d)
    rank = call.rank("x")
    d = None if rank is None else call.lifted("d", rank)
    return d and syntax.call("each_in_dtype_of", d, call.arg("x"))


@helper(runtime.add, infer=infer_add)
def _(call: MappedCall) -> Found:
    a, b = call.type("a"), call.type("b")
    if parts(a) or parts(b):
        same = everywhere(a) and everywhere(b)
        return call.rebuild() if same else None
    ranks = [call.rank("a"), call.rank("b")]
    if None in ranks:
        return None
    rank = max(r for r in ranks if r is not None)
    left, right = call.lifted("a", rank), call.lifted("b", rank)
    if isinstance(call.result, Unknown):  # one of them may be None
        return left and right and syntax.call("add", left, right)
    return left and right and gast.BinOp(left, gast.Add(), right)


def everywhere(t: Type) -> bool:
    """Whether each number or array in the value is mapped."""
    return all(map(everywhere, parts(t))) if parts(t) else is_active(t)


# -- shaping ---------------------------------------------------------------------------


@helper(runtime.untile, like="x")
def _(call: MappedCall) -> Found:
    changes, rank = whole(call, "d", "x"), call.rank("x")
    reps = call.const("reps", MISSING)
    if changes is None or rank is None or reps is MISSING:
        return None
    count = 1 if isinstance(reps, int) else len(reps)
    if count <= rank:
        return call.rebuild(**changes)
    shape = shape_of(call.type("x"))
    x = spread(call, call.arg("x"), call.type("x"), count)
    if x is None or not has_ints(shape):
        return None
    changes["x"] = x
    return in_shape_of(call, call.rebuild(**changes), shape)


@helper(runtime.unpad, like="x")
def _(call: MappedCall) -> Found:
    changes, rank = whole(call, "d", "x"), call.rank("x")
    widths = padding(call, "pad_width", rank) if rank else None
    if changes is None or widths is None:
        return None
    return call.rebuild(**changes, pad_width=widths)


helper(runtime.unrepeat, like="x")(at_axis("d", "x"))
helper(runtime.unappend_left, like="x")(at_axis("d", "x"))


@helper(runtime.unroll, like="d")
def _(call: MappedCall) -> Found:
    axis, rank = axis_of(call), call.rank("d")
    if not only(call, "d") or axis is MISSING or rank is None:
        return None
    if axis is None and rank != 1:
        return None
    return call.rebuild(axis=expr(1 if axis is None else shifted(axis, rank)))


def parts_of(call: MappedCall, rank: int, axis: int, ends: Any) -> Found:
    """The part of `d` of each array, joined along `axis` of examples of that rank.

    `ends(own)` are the places of an array of lower rank behind the axes in front.
    """
    items = items_in(call, "arrays")
    if not items or not call.is_mapped("d"):
        return None
    shapes = [shape_of(t) for _, t in items]
    if not all(map(has_ints, shapes)):
        return None
    found: list[Found] = []
    start = 0
    for shape in shapes:
        index: list[str] = ends(len(shape or ()))
        own = [i for i, e in enumerate(index) if e == ":"]
        size: Any = 1
        if axis in own:
            size = (shape or (1,))[own.index(axis)]
            index[axis] = f"{start or ''}:{start + size}"
        else:
            index[axis] = str(start)
        start += size
        while index and index[-1] == ":":
            index.pop()
        found.append(
            syntax.expression(f"d[{', '.join([':', *index])}]", d=call.arg("d"))
        )
    return listed(found)


@helper(runtime.unvstack, like="arrays")
def _(call: MappedCall) -> Found:
    return parts_of(call, 2, 0, lambda own: ["0"] * (2 - own) + [":"] * own)


@helper(runtime.unhstack, like="arrays")
def _(call: MappedCall) -> Found:
    first = items_in(call, "arrays")
    low = not first or len(shape_of(first[0][1]) or ()) < 2
    return parts_of(call, 1, 0 if low else 1, lambda own: [":"] * own or ["0"])


@helper(runtime.undstack, like="arrays")
def _(call: MappedCall) -> Found:
    places = {0: ["0", "0", "0"], 1: ["0", ":", "0"], 2: [":", ":", "0"]}
    return parts_of(call, 3, 2, lambda own: list(places.get(own, [":"] * own)))


@helper(runtime.uncolumn_stack, like="arrays")
def _(call: MappedCall) -> Found:
    places = {0: ["0", "0"], 1: [":", "0"]}
    return parts_of(call, 2, 1, lambda own: list(places.get(own, [":"] * own)))


@helper(runtime.unblock, like="arrays")
def _(call: MappedCall) -> Found:
    t = call.type("arrays")
    found = rank_and_depth(t)
    if found is None or not call.is_mapped("d") or not same_rank(t, max(found)):
        return None
    blocks = nested_blocks(call, call.bound["arrays"], t, max(found))
    return blocks and call.rebuild(arrays=blocks)


def same_rank(t: Type, rank: int) -> bool:
    if isinstance(t, (List, Tuple)):
        return all(same_rank(item, rank) for item in types_in(t) or ())
    return len(shape_of(t) or ()) == rank


@helper(runtime.unmeshgrid, like="arrays")
def _(call: MappedCall) -> Found:
    items, indexing = items_in(call, "arrays"), call.const("indexing", "xy")
    parts_given = display(call, call.bound["d"], call.type("d"))
    if not items or not parts_given or indexing is MISSING:
        return None
    count = len(items)
    found: list[Found] = []
    for i, ((d, part), (_, t)) in enumerate(zip(parts_given, items, strict=True)):
        own = 1 - i if indexing == "xy" and i < 2 and count > 1 else i
        others = tuple(axis + 1 for axis in range(count) if axis != own)
        batch = spread(call, d, part, count) if shape_of(part) is not None else None
        if batch is None or len(shape_of(t) or ()) != 1:
            return None
        where = expr(others[0] if len(others) == 1 else others)
        total = syntax.expression("d.sum(axis=a)", d=batch, a=where)
        found.append(total if others else batch)
    return listed(found)


# -- selection -------------------------------------------------------------------------


@helper(runtime.untake, like="x")
def _(call: MappedCall) -> Found:
    if not call.is_mapped("indices"):
        return at_axis("d", "x")(call)
    axis, rank, count = axis_of(call, "axis"), call.rank("x"), call.rank("indices")
    shape = shape_of(call.type("x"))
    if call.const("mode", "raise") != "raise" or axis is MISSING or count is None:
        return None
    if rank is None or not has_ints(shape) or axis is None and rank != 1:
        return None
    changes = whole(call, "d", "x", "indices")
    if changes is None:
        return None
    axis = 0 if axis is None else axis % rank
    x, d = changes.get("x", call.arg("x")), changes.get("d", call.arg("d"))
    sizes = [call.size, *(expr(n) for n in (shape or ())[:axis])]
    index: list[gast.expr] = []
    for k, size in enumerate(sizes):  # every place before the axis, then the indices
        nones = ["None"] * (len(sizes) - 1 - k + count)
        steps = syntax.call("np.arange", syntax.clone(size))
        places = ", ".join([":", *nones])
        steps = syntax.expression(f"r[{places}]", r=steps) if nones else steps
        index.append(steps)
    taken = call.arg("indices")
    if axis and count:
        where = ", ".join([":", *["None"] * axis])
        taken = syntax.expression(f"i[{where}]", i=taken)
    elif axis:
        taken = lift(taken, call.type("indices"), axis) or taken
    key = gast.Tuple([*index, taken], syntax.LOAD)
    zeros = syntax.call("np.zeros_like", x)
    return syntax.call("add_at", zeros, key, d)


helper(runtime.untake_along_axis, like="x")(at_axis("d", "x", "indices"))
helper(runtime.uncompress, like="x")(at_axis("d", "x"))
helper(runtime.undelete, like="x")(at_axis("d", "x"))


@helper(runtime.undiagonal, like="x")
def _(call: MappedCall) -> Found:
    changes, rank = whole(call, "d", "x"), call.rank("x")
    axes = {p: axis_of(call, p, k) for k, p in enumerate(("axis1", "axis2"))}
    if changes is None or rank is None or MISSING in axes.values():
        return None
    shifts = {p: expr(shifted(a, rank)) for p, a in axes.items()}
    return call.rebuild(**changes, **shifts)


@helper(runtime.undiag, like="x")
def _(call: MappedCall) -> Found:
    changes, k = whole(call, "d", "x"), call.const("k", 0)
    if changes is None or not isinstance(k, int):
        return None
    d, x = changes.get("d", call.arg("d")), changes.get("x", call.arg("x"))
    if call.rank("x") == 1:
        return syntax.call("np.diagonal", d, expr(k), expr(1), expr(2))
    return syntax.call("undiagonal", d, x, expr(k), expr(1), expr(2))


@helper(runtime.undiff, like="x")
def _(call: MappedCall) -> Found:
    ends = [p for p in ("prepend", "append") if call.const(p) is not None]
    if any(call.rank(p) is None for p in ends):
        return None
    arrays = [p for p in ends if call.rank(p)]
    for p in ends:
        if p not in arrays and call.is_mapped(p):  # a number: only that it is there
            return None
    return at_axis("d", "x", *arrays)(call)


@helper(runtime.ungradient, like="f")
def _(call: MappedCall) -> Found:
    axis, rank = axis_of(call), call.rank("f")
    changes = whole(call, "f") if not call.is_mapped("d") else {}
    if not rank or axis is MISSING or changes is None or call.is_mapped("spacings"):
        return None
    if parts(call.type("d")) and not everywhere(call.type("d")):
        return None
    if not parts(call.type("d")):
        both = whole(call, "d", "f")
        if both is None:
            return None
        changes = both
    elif not call.is_mapped("f"):
        return None
    if axis is None:
        axis = 0 if rank == 1 else tuple(range(rank))
    return call.rebuild(**changes, axis=expr(shifted(axis, rank)))


@helper(runtime.untrapezoid_y, like="y")
def _(call: MappedCall) -> Found:
    given = call.has("x") and call.const("x") is not None
    rank, axis = call.rank("y"), axis_of(call, "axis", -1)
    changes = whole(call, "d", "y", *(["x"] if given and call.is_mapped("x") else []))
    if changes is None or not rank or axis is MISSING:
        return None
    axis = axis if axis < 0 else axis - rank
    if given and call.is_mapped("x") and call.rank("x") != rank:
        if call.rank("x") != 1 or axis != -1:
            return None
        changes["x"] = call.lifted("x", rank)
    if call.has("axis"):
        changes["axis"] = expr(axis)
    return call.rebuild(**changes)


@helper(runtime.untrapezoid_x, like="x")
def _(call: MappedCall) -> Found:
    rank, axis = call.rank("y"), axis_of(call, "axis", -1)
    changes = whole(call, "d", "y", "x")
    if changes is None or not rank or axis is MISSING:
        return None
    axis = axis if axis < 0 else axis - rank
    if call.has("axis"):
        changes["axis"] = expr(axis)
    if call.rank("x") == rank:
        return call.rebuild(**changes)
    if call.rank("x") != 1 or axis != -1:
        return None
    changes["x"] = spread(call, call.arg("x"), call.type("x"), rank)
    zeros = ", ".join(["0"] * (rank - 1))
    return syntax.expression(f"t[:, {zeros}]", t=call.rebuild(**changes))


@helper(runtime.uninterp_x, like="x")
def _(call: MappedCall) -> Found:
    changes = whole(call, "d", "x")
    return None if changes is None else call.rebuild(**changes)


@helper(runtime.unpolyval_x, like="x")
def _(call: MappedCall) -> Found:
    changes = whole(call, "d", "x")
    return None if changes is None else call.rebuild(**changes)


@helper(runtime.polyval_slope, like="x")
def _(call: MappedCall) -> Found:
    changes = whole(call, "x")
    return None if changes is None else call.rebuild(**changes)


@helper(runtime.unselect, like="choices")
def _(call: MappedCall) -> Found:
    conditions, choices = items_in(call, "conditions"), items_in(call, "choices")
    rank = common_rank([*(conditions or ()), *(choices or ())], call, "d")
    if not conditions or not choices or rank is None:
        return None
    if any(len(shape_of(t) or ()) != rank for _, t in choices):
        return None  # summed to fewer axes
    d = spread(call, call.arg("d"), call.type("d"), rank)
    tests = listed([lift(n, t, rank) for n, t in conditions])
    values = listed([spread(call, n, t, rank) for n, t in choices])
    if d is None or tests is None or values is None:
        return None
    return call.rebuild(d=d, conditions=tests, choices=values)


@helper(runtime.unselect_default, like="default")
def _(call: MappedCall) -> Found:
    conditions = items_in(call, "conditions")
    rank = common_rank(list(conditions or ()), call, "d", "default")
    own = shape_of(call.type("default"))
    if not conditions or rank is None or not has_ints(own):
        return None
    tests = listed([lift(n, t, rank) for n, t in conditions])
    d = spread(call, call.arg("d"), call.type("d"), rank)
    default = spread(call, call.arg("default"), call.type("default"), rank)
    if tests is None or d is None or default is None:
        return None
    made = call.rebuild(d=d, conditions=tests, default=default)
    return made if len(own or ()) == rank else in_shape_of(call, made, own)


def common_rank(items: list[Item], call: MappedCall, *more: str) -> int | None:
    """The highest rank; None if one is not known."""
    shapes = [shape_of(t) for _, t in items]
    ranks = [None if s is None else len(s) for s in shapes] + [
        call.rank(p) for p in more
    ]
    return None if None in ranks else max(r for r in ranks if r is not None)


@helper(runtime.uninsert, like="x")
def _(call: MappedCall) -> Found:
    rank, where = call.rank("x"), call.rank("obj")
    axis, count = axis_of(call), call.rank("values")
    changes = whole(call, "d", "x", "values")
    if changes is None or axis is MISSING or rank != 1 or count not in (0, where):
        return None
    if call.const("which") != 0 and count != where:
        return None
    return call.rebuild(**changes, axis=expr(1))


__all__ = ["adjoint_type", "helper"]
