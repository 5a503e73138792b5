"""Batch rules of shaping: reshape, transpose, join, split, tile, pad."""

from __future__ import annotations

from typing import Any, TypeAlias

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import (
    Dict,
    List,
    Tuple,
    Type,
    is_active,
    is_number,
    shape_of,
)
from srcjax.ops import shaping  # noqa: F401  (the records come first)
from srcjax.ops.batch_kinds import along_axis, batch
from srcjax.ops.batch_operands import (
    Item,
    as_it_is,
    axis_of,
    batches,
    display,
    expr,
    flat,
    has_ints,
    items_in,
    listed,
    only,
    ranks_of,
    shifted_axes,
    spread,
    tuple_of,
)
from srcjax.ops.batching import MappedCall, array_type, lift, shifted
from srcjax.ops.known import MISSING, known_value, types_in

Found: TypeAlias = "gast.expr | None"

# -- reshape --------------------------------------------------------------------


def sizes_given(call: MappedCall, parameter: str) -> list[Any] | None:
    """Nodes of the sizes that a shape argument names; None if they are not known."""
    node = call.bound[parameter]
    if isinstance(node, tuple) and len(node) != 1:
        return list(node)
    node = node[0] if isinstance(node, tuple) else node
    t = call.type_of(node)
    if isinstance(node, (gast.Tuple, gast.List)):
        return list(node.elts)
    if is_number(t):
        return [node]
    if isinstance(t, (Tuple, List)):
        return [gast.Starred(syntax.clone(node), syntax.LOAD)]
    return None


def in_shape(call: MappedCall, parameter: str) -> list[Any] | None:
    """The sizes of one example of the result, with -1 worked out where it can be."""
    sizes = sizes_given(call, parameter)
    shape = shape_of(call.result)
    if sizes is None or shape is None:
        return sizes
    if len(sizes) == 1 and isinstance(sizes[0], gast.Starred) and has_ints(shape):
        return list(map(expr, shape))
    if len(sizes) != len(shape):
        return sizes
    return [
        size if isinstance(size, gast.Name) or not isinstance(dim, int) else expr(dim)
        for size, dim in zip(sizes, shape, strict=True)
    ]


@batch(np.reshape)
def _(call: MappedCall) -> Found:
    sizes = in_shape(call, "shape") if only(call, "x") else None
    if sizes is None or call.const("order", "C") != "C":
        return None
    return call.rebuild(shape=tuple_of(call.size, sizes))


@batch(np.ndarray.reshape)
def _(call: MappedCall) -> Found:
    sizes = in_shape(call, "shape") if only(call, "x") else None
    if sizes is None or call.const("order", "C") != "C":
        return None
    reshape = gast.Attribute(call.arg("x"), "reshape", syntax.LOAD)
    made = syntax.call(reshape, syntax.clone(call.size), *sizes)
    if call.has("copy"):  # NumPy raises where it would not be a view
        made.keywords = [gast.keyword("copy", call.arg("copy"))]
    return made


@batch(np.ravel)
def _(call: MappedCall) -> Found:
    if not only(call, "x") or call.const("order", "C") not in ("C", "K", "A"):
        return None
    if call.const("order", "C") != "C" and call.rank("x") != 1:
        return None  # about the order in memory
    return flat(call, call.arg("x"), call.type("x"))


@batch(np.ndarray.flatten)
def _(call: MappedCall) -> Found:
    if not only(call, "x") or call.const("order", "C") != "C":
        return None
    new = flat(call, call.arg("x"), call.type("x"))
    return new and syntax.expression("x.copy()", x=new)


@batch(np.expand_dims)
def _(call: MappedCall) -> Found:
    axis = axis_of(call)
    if not only(call, "x") or axis is None or axis is MISSING:
        return None
    if axis == 0 or axis == -1 and call.rank("x") == 0:
        return lift(call.arg("x"), call.type("x"), (call.rank("x") or 0) + 1)
    return call.rebuild(axis=expr(shifted(axis, 0)))


@batch(np.squeeze)
def _(call: MappedCall) -> Found:
    shape, axis = shape_of(call.type("x")), axis_of(call)
    if not only(call, "x") or shape is None or axis is MISSING:
        return None
    if axis is None:
        if not has_ints(shape):
            return None
        axis = tuple(i for i, n in enumerate(shape) if n == 1)
        axis = axis[0] if len(axis) == 1 else axis
    if not shape or axis == ():
        return call.arg("x")
    return call.rebuild(axis=expr(shifted(axis, len(shape))))


@batch(np.atleast_1d)
def _(call: MappedCall) -> Found:
    return call.lifted("x", 1) if only(call, "x") else None


@batch(np.atleast_2d)
def _(call: MappedCall) -> Found:
    return call.lifted("x", 2) if only(call, "x") else None


@batch(np.atleast_3d)
def _(call: MappedCall) -> Found:
    if not only(call, "x"):
        return None
    if call.rank("x") == 1:
        return syntax.expression("x[:, None, :, None]", x=call.arg("x"))
    if call.rank("x") == 2:
        return syntax.expression("x[:, :, :, None]", x=call.arg("x"))
    return call.lifted("x", 3)


@batch(np.broadcast_to)
def _(call: MappedCall) -> Found:
    sizes, rank = in_shape(call, "shape"), call.result_rank
    if not only(call, "x") or sizes is None or rank is None:
        return None
    x = call.lifted("x", rank)
    return x and call.rebuild(x=x, shape=tuple_of(call.size, sizes))


# -- order of axes --------------------------------------------------------------


def permuted(call: MappedCall, axes: Any) -> Found:
    """`x` with the axes of its examples in that order."""
    rank = call.rank("x")
    assert rank is not None
    order = list(range(rank))[::-1] if axes is None else [a % rank for a in axes]
    x = call.arg("x")
    if order == list(range(rank)):
        return x
    if rank == 2:
        return syntax.expression("x.swapaxes(1, 2)", x=x)
    transpose = gast.Attribute(x, "transpose", syntax.LOAD)
    return syntax.call(transpose, expr(0), *(expr(a + 1) for a in order))


@batch(np.transpose, np.ndarray.T)
def _(call: MappedCall) -> Found:
    axes = axis_of(call, "axes")
    return None if axes is MISSING or not only(call, "x") else permuted(call, axes)


@batch(np.ndarray.transpose)
def _(call: MappedCall) -> Found:
    nodes = call.bound.get("axes", ())
    values = [call.const_of(n) for n in nodes]
    if MISSING in values or not only(call, "x"):
        return None
    if len(values) == 1 and not isinstance(values[0], int):
        values = values[0]
    return permuted(call, values or None)


batch(np.matrix_transpose)(as_it_is("x"))
batch(np.swapaxes)(shifted_axes(axis1=MISSING, axis2=MISSING))
batch(np.moveaxis)(shifted_axes(source=MISSING, destination=MISSING))


@batch(np.rollaxis)
def _(call: MappedCall) -> Found:
    axis, start, rank = axis_of(call), axis_of(call, "start", 0), call.rank("x")
    if not only(call, "x") or MISSING in (axis, start) or rank is None:
        return None
    return permuted(call, np.rollaxis(np.empty(range(rank)), axis, start).shape)


# -- order of elements ----------------------------------------------------------

batch(np.flip)(along_axis("x"))


@batch(np.flipud)
def _(call: MappedCall) -> Found:
    return syntax.expression("x[:, ::-1]", x=call.arg("x")) if only(call, "x") else None


@batch(np.fliplr)
def _(call: MappedCall) -> Found:
    if not only(call, "x"):
        return None
    return syntax.expression("x[:, :, ::-1]", x=call.arg("x"))


@batch(np.roll)
def _(call: MappedCall) -> Found:
    axis, rank = axis_of(call), call.rank("x")
    if not only(call, "x") or axis is MISSING or rank is None:
        return None
    if axis is None and rank != 1:
        x = flat(call, call.arg("x"), call.type("x"))
        whole = call.arg("x")
        if x is None or not isinstance(whole, gast.Name):
            return None
        rolled = call.rebuild(x=x, axis=expr(1))
        return syntax.expression("r.reshape(x.shape)", r=rolled, x=whole)
    return call.rebuild(axis=expr(1 if axis is None else shifted(axis, rank)))


batch(np.rot90)(shifted_axes(axes=(0, 1)))

# -- joining --------------------------------------------------------------------


def joined(items: Found, axis: int) -> Found:
    return items and syntax.call("np.concatenate", items, axis=expr(axis))


def typed(call: MappedCall, value: Found) -> Found:
    """With the `dtype` and `casting` that the user's own call names."""
    if value is not None:
        assert isinstance(value, gast.Call)
        for name in ("dtype", "casting"):
            if call.has(name):
                value.keywords.append(gast.keyword(name, call.arg(name)))
    return value


@batch(np.concatenate, lists=("arrays",))
def _(call: MappedCall) -> Found:
    axis = axis_of(call, default=0)
    if not only_lists(call, "arrays") or axis is MISSING:
        return None
    items = items_in(call, "arrays")
    if axis is None:
        flattened = [flat(call, n, t) for n, t in items or ()]
        return typed(call, joined(listed(flattened) if flattened else None, 1))
    rank = rank_of_items(call, "arrays")
    arrays = None if rank is None else batches(call, "arrays", rank)
    return arrays and call.rebuild(arrays=arrays, axis=expr(shifted(axis, 0)))


@batch(np.stack, lists=("arrays",))
def _(call: MappedCall) -> Found:
    axis = axis_of(call, default=0)
    if not only_lists(call, "arrays") or axis is None or axis is MISSING:
        return None
    rank = rank_of_items(call, "arrays")
    arrays = None if rank is None else batches(call, "arrays", rank)
    return arrays and call.rebuild(arrays=arrays, axis=expr(shifted(axis, 0)))


def only_lists(call: MappedCall, parameter: str) -> bool:
    """Whether the list is the one mapped argument, and a list of batches."""
    others = [p for p in call.bound if p != parameter]
    return not any(map(call.is_mapped, others)) and isinstance(
        call.type(parameter), (List, Tuple)
    )


def rank_of_items(call: MappedCall, parameter: str) -> int | None:
    """The rank that all examples of a list argument have."""
    t = call.type(parameter)
    types = types_in(t) or ([t.elem] if isinstance(t, List) and t.elem else [])
    shapes = [shape_of(array_type(item)) for item in types]
    ranks = {None if s is None else len(s) for s in shapes}
    return ranks.pop() if len(ranks) == 1 else None


def lifted_to(call: MappedCall, rank: int, after: int = 0) -> Found:
    """The arrays as batches of that rank at least; `after`: how many axes go behind."""
    items = items_in(call, "arrays")
    ranks = ranks_of(items) if items else None
    if not items or ranks is None:
        return None
    if all(r == max(rank, r) for r in ranks) and len(set(ranks)) == 1:
        return batches(call, "arrays", ranks[0])
    return listed([lifted_item(call, item, rank, after) for item in items])


def lifted_item(call: MappedCall, item: Item, rank: int, after: int) -> Found:
    node, t = item
    shape = shape_of(t)
    own = len(shape or ())
    behind = min(after, rank - own)
    if rank <= own or behind <= 0 or not own:
        return spread(call, node, t, max(rank, own))
    front = ["None"] * (rank - own - behind)
    index = [":", *front, *[":"] * own, *["None"] * behind]
    return syntax.expression(f"x[{', '.join(index)}]", x=spread(call, node, t, own))


def one_rank(call: MappedCall) -> int | None:
    return rank_of_items(call, "arrays") if only_lists(call, "arrays") else None


def stack_along(call: MappedCall, axis: int) -> Found:
    rank = rank_of_items(call, "arrays")
    arrays = None if rank is None else batches(call, "arrays", rank)
    return arrays and typed(call, syntax.call("np.stack", arrays, axis=expr(axis)))


@batch(np.vstack, lists=("arrays",))
def _(call: MappedCall) -> Found:
    if not only_lists(call, "arrays"):
        return None
    if one_rank(call) == 1:
        return stack_along(call, 1)
    return typed(call, joined(lifted_to(call, 2), 1))


@batch(np.hstack, lists=("arrays",))
def _(call: MappedCall) -> Found:
    if not only_lists(call, "arrays"):
        return None
    if one_rank(call) == 0:
        return stack_along(call, 1)
    items = items_in(call, "arrays")
    ranks = ranks_of(items) if items else None
    if ranks is None:
        return None
    return typed(call, joined(lifted_to(call, 1), 1 if ranks[0] < 2 else 2))


@batch(np.dstack, lists=("arrays",))
def _(call: MappedCall) -> Found:
    if not only_lists(call, "arrays"):
        return None
    if one_rank(call) == 2:
        return stack_along(call, 3)
    return joined(lifted_to(call, 3, after=1), 3)


@batch(np.column_stack, lists=("arrays",))
def _(call: MappedCall) -> Found:
    if not only_lists(call, "arrays"):
        return None
    if one_rank(call) == 1:
        return stack_along(call, 2)
    return joined(lifted_to(call, 2, after=1), 2)


@batch(np.block, lists=("arrays",))
def _(call: MappedCall) -> Found:
    node, t = call.bound["arrays"], call.type("arrays")
    found = rank_and_depth(t)
    if found is None:
        return None
    blocks = nested_blocks(call, node, t, max(found))
    return blocks and call.rebuild(arrays=blocks)


def rank_and_depth(t: Type) -> tuple[int, int] | None:
    """The highest rank in nested lists and how deep they are."""
    if not isinstance(t, (List, Tuple)):
        shape = shape_of(t)
        return None if shape is None else (len(shape), 0)
    inner = [rank_and_depth(item) for item in types_in(t) or ()]
    known = [found for found in inner if found is not None]
    if not inner or len(known) < len(inner):
        return None
    return max(r for r, _ in known), max(d for _, d in known) + 1


def nested_blocks(call: MappedCall, node: gast.expr, t: Type, rank: int) -> Found:
    """Nested lists with every array a batch of that rank."""
    if not isinstance(t, (List, Tuple)):
        return spread(call, node, t, rank)
    items = display(call, node, t)
    return items and listed([nested_blocks(call, n, i, rank) for n, i in items])


@batch(np.append)
def _(call: MappedCall) -> Found:
    axis = axis_of(call)
    if axis is MISSING or call.rank("x") is None or call.rank("values") is None:
        return None
    items = [(call.arg(p), call.type(p)) for p in ("x", "values")]
    if axis is None:
        return joined(listed([flat(call, n, t) for n, t in items]), 1)
    rank = call.rank("x") or 0
    return joined(
        listed([spread(call, n, t, rank) for n, t in items]), shifted(axis, 0)
    )


# -- splitting ------------------------------------------------------------------

batch(np.split, np.array_split)(shifted_axes(axis=0))
if hasattr(np, "unstack"):  # since NumPy 2.1
    batch(np.unstack)(shifted_axes(axis=0))


def split_along(call: MappedCall, axis: int) -> Found:
    if not only(call, "x"):
        return None
    return syntax.call(
        "np.split", call.arg("x"), call.arg("indices_or_sections"), axis=expr(axis)
    )


@batch(np.vsplit)
def _(call: MappedCall) -> Found:
    return split_along(call, 1)


@batch(np.hsplit)
def _(call: MappedCall) -> Found:
    return split_along(call, 1 if call.rank("x") == 1 else 2)


@batch(np.dsplit)
def _(call: MappedCall) -> Found:
    return split_along(call, 3)


# -- copies of elements ---------------------------------------------------------


@batch(np.tile)
def _(call: MappedCall) -> Found:
    sizes, rank = sizes_given(call, "reps"), call.rank("x")
    if not only(call, "x") or sizes is None or rank is None:
        return None
    if any(isinstance(size, gast.Starred) for size in sizes):
        items = types_in(call.type("reps"))
        if items is None:
            return None
        sizes = items
    x = call.lifted("x", max(rank, len(sizes)))  # tile puts 1 before too few
    return x and call.rebuild(x=x)


@batch(np.repeat)
def _(call: MappedCall) -> Found:
    axis = axis_of(call)
    if not only(call, "x") or axis is MISSING:
        return None
    if axis is None:
        x = flat(call, call.arg("x"), call.type("x"))
        return x and call.rebuild(x=x, axis=expr(1))
    return call.rebuild(axis=expr(shifted(axis, 0)))


@batch(np.pad)
def _(call: MappedCall) -> Found:
    rank = call.rank("x")
    if not only(call, "x") or not rank or not isinstance(call.const("mode", ""), str):
        return None
    widths = padding(call, "pad_width", rank)
    changes = {"pad_width": widths}
    if call.has("constant_values") and not is_number(call.type("constant_values")):
        changes["constant_values"] = padding(call, "constant_values", rank)
    if any(new is None for new in changes.values()):
        return None
    return call.rebuild(**{k: v for k, v in changes.items() if v is not None})


def padding(call: MappedCall, parameter: str, rank: int) -> Found:
    """`((0, 0), (before, after), ...)`: no padding along the batch axis."""
    node, value = call.bound[parameter], call.const(parameter, MISSING)
    t = call.type(parameter)
    if isinstance(t, Dict):
        by_axis = {axis: known_value(width) for axis, width in t.items or ()}
        if not by_axis or MISSING in by_axis.values():
            return None
        return expr({shifted(axis, rank): w for axis, w in by_axis.items()})
    if value is not MISSING and value is not None:
        pairs = np.broadcast_to(value, (rank, 2)).tolist()
        return expr(tuple(map(tuple, [(0, 0), *pairs])))
    items = display(call, node, t)
    pair: Any = None
    if is_number(t):
        pair = gast.Tuple([node, node], syntax.LOAD)
    elif items and len(items) == 1 and is_number(items[0][1]):
        pair = gast.Tuple([items[0][0]] * 2, syntax.LOAD)
    elif items and len(items) == 2 and all(is_number(i) for _, i in items):
        pair = gast.Tuple([n for n, _ in items], syntax.LOAD)
    elif (
        items
        and len(items) == rank
        and all(len(types_in(i) or ()) == 2 for _, i in items)
    ):
        return tuple_of(expr((0, 0)), [n for n, _ in items])
    return pair and tuple_of(expr((0, 0)), [pair] * rank)


# -- grids ----------------------------------------------------------------------


@batch(np.broadcast_arrays, lists=("arrays",))
def _(call: MappedCall) -> Found:
    items = items_in(call, "arrays")
    ranks = ranks_of(items) if items else None
    if not items or not ranks:
        return None
    arrays = [lift(n, t, max(ranks)) for n, t in items]
    found = listed(arrays)
    return found and gast.Call(syntax.expression("np.broadcast_arrays"), found.elts, [])


@batch(np.meshgrid, lists=("arrays",))
def _(call: MappedCall) -> Found:
    items, indexing = items_in(call, "arrays"), call.const("indexing", "xy")
    sparse = call.const("sparse", False)
    if not items or indexing is MISSING or sparse is MISSING:
        return None
    if any(len(shape_of(t) or (1, 1)) != 1 for _, t in items) or call.is_mapped("copy"):
        return None
    count = len(items)
    own = list(range(count))
    if indexing == "xy" and count > 1:
        own[:2] = [1, 0]
    sizes: list[Any] = [call.size] * (count + 1)
    for (node, t), axis in zip(items, own, strict=True):
        dim = (shape_of(t) or (None,))[0]
        if not isinstance(dim, int):
            end = 1 if is_active(t) else 0
            dim = syntax.expression(f"x.shape[{end}]", x=node)
        sizes[axis + 1] = dim
    grids: list[Found] = []
    for (node, t), axis in zip(items, own, strict=True):
        index = [":" if i == axis else "None" for i in range(count)]
        if is_active(t):
            index.insert(0, ":")
        elif sparse:
            grids.append(None)  # would have to be a batch
            continue
        while index[-1] == ":" and len(index) > 1:
            index.pop()  # `x[:, None, :]` is `x[:, None]`
        grid: gast.expr = syntax.clone(node)
        if "None" in index:
            grid = syntax.expression(f"x[{', '.join(index)}]", x=node)
        if not sparse:
            whole = tuple_of(sizes[0], sizes[1:])
            grid = syntax.expression("np.broadcast_to(g, s).copy()", g=grid, s=whole)
        grids.append(grid)
    found = listed(grids)
    return found and gast.Tuple(found.elts, syntax.LOAD)
