"""Batch rules of products: dot, matmul, inner, outer, einsum, tensordot, kron ...

Where one factor is the same for all examples, a product of the batch is one product of
matrices: `W @ x` of vectors is `x @ W.T` of the batch. Where both differ, vectors are
summed by `np.einsum` (as fast as `np.vecdot` and faster than `@` of small matrices; it
is in CuPy too, and conjugates nothing), matrices are multiplied by `@`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.foreign import is_sparse
from srcjax.analysis.types import (
    Array,
    dtype_of,
    is_active,
    shape_of,
    with_active,
)
from srcjax.ops.batch_kinds import batch
from srcjax.ops.batch_operands import (
    Item,
    as_it_is,
    axis_of,
    expr,
    flat,
    has_ints,
    items_in,
    only,
    ranks_of,
    tuple_of,
)
from srcjax.ops.batching import MappedCall, lift, shifted, within
from srcjax.ops.expand import is_real
from srcjax.ops.known import MISSING
from srcjax.ops.products import infer_matmul
from srcjax.runtime import contracted_axes, einsum_labels

#: Labels for the axes of examples, and for the batch.
LETTERS = "ijklmnopqrstuvwxyz"
BATCH = "bnmacdefghijklopqrstuvwxyzBNMACDEFGHIJKLOPQRSTUVWXYZ"

# -- sums of products ----------------------------------------------------------------


def rank_of(item: Item) -> int:
    """The rank of one example (it has to be known)."""
    shape = shape_of(item[1])
    assert shape is not None
    return len(shape)


def mapped(item: Item) -> bool:
    return is_active(item[1])


def batched_labels(terms: list[str], items: list[Item], output: str) -> str | None:
    """The subscripts with a free letter for the batch where an operand is mapped."""
    used = {*output, *"".join(terms)}
    letter = next((c for c in BATCH if c not in used), None)
    if letter is None:
        return None
    inputs = [
        letter + labels if mapped(item) else labels
        for labels, item in zip(terms, items, strict=True)
    ]
    return f"{','.join(inputs)}->{letter}{output}"


def einsum(terms: list[str], items: list[Item], output: str) -> gast.expr | None:
    """`np.einsum` of operands whose examples have these labels."""
    subscripts = batched_labels(terms, items, output)
    if subscripts is None:
        return None
    return syntax.call("np.einsum", expr(subscripts), *(node for node, _ in items))


def contraction(
    a: Item, b: Item, left: list[int], right: list[int]
) -> gast.expr | None:
    """The sum of products along axes of `a` and `b`; their free axes in order."""
    letters = iter(LETTERS)
    la = [next(letters) for _ in range(rank_of(a))]
    shared = dict(zip(right, (la[i] for i in left), strict=True))
    lb = [shared.get(j) or next(letters) for j in range(rank_of(b))]
    free = [c for i, c in enumerate(la) if i not in left]
    free += [c for j, c in enumerate(lb) if j not in right]
    return einsum(["".join(la), "".join(lb)], [a, b], "".join(free))


def at(a: Any, b: Any) -> gast.expr:
    """`a @ b`"""
    return gast.BinOp(syntax.clone(a), gast.MatMult(), syntax.clone(b))


def product(a: Item, b: Item) -> gast.expr | None:
    """`a @ b` for each example; at least one of the two is mapped."""
    m, n = rank_of(a), rank_of(b)
    (x, ta), (y, tb) = a, b
    if m == 0 or n == 0:
        return None
    if m == 1 and n == 1:
        if mapped(a) and mapped(b):
            return contraction(a, b, [0], [0])
        return at(x, y) if mapped(a) else at(y, x)
    if m > 1 and n > 1:
        highest = max(m, n)
        left, right = lift(x, ta, highest), lift(y, tb, highest)
        return None if left is None or right is None else at(left, right)
    if not mapped(b if n == 1 else a):
        return at(x, y)  # the matrices are mapped, the vector is not
    if m == 1 and n == 2 and not mapped(b):
        return at(x, y)
    if m == 2 and not mapped(a):
        return syntax.expression("y @ x.T", x=x, y=y)
    return contraction(a, b, [m - 1], [max(n - 2, 0)])


def operands(call: MappedCall, *parameters: str) -> list[Item] | None:
    """The factors; None if a rank is not known, or if something else is mapped."""
    items = [(call.arg(p), call.type(p)) for p in parameters]
    if any(call.is_mapped(p) for p in call.bound if p not in parameters):
        return None
    return None if ranks_of(items) is None else items


def times(a: Item, b: Item) -> gast.expr | None:
    """`a * b`, one of them a number for each example."""
    highest = max(rank_of(a), rank_of(b))
    x, y = lift(*a, highest), lift(*b, highest)
    return None if x is None or y is None else syntax.expression("x * y", x=x, y=y)


@batch(np.matmul, operator.matmul, np.linalg.matmul)
def _(call: MappedCall) -> gast.expr | None:
    if is_sparse(call.type("a")) and len(shape_of(call.type("b")) or ()) == 1:
        return syntax.expression("b @ a.T", a=call.arg("a"), b=call.arg("b"))
    if is_sparse(call.type("b")) and len(shape_of(call.type("a")) or ()) == 1:
        return call.rebuild()
    found = operands(call, "a", "b")
    return product(*found) if found else None


@batch(np.dot)
def _(call: MappedCall) -> gast.expr | None:
    return of_arrays(call, dot)


@batch(np.inner)
def _(call: MappedCall) -> gast.expr | None:
    return of_arrays(call, inner)


def of_arrays(
    call: MappedCall, rule: Callable[[Item, Item], gast.expr | None]
) -> gast.expr | None:
    """A product that is the plain one of a number with anything."""
    found = operands(call, "a", "b")
    if found is None:
        return None
    a, b = found
    if rank_of(a) == 0 or rank_of(b) == 0:
        return times(a, b)
    return rule(a, b) if mapped(b) else call.rebuild()


def dot(a: Item, b: Item) -> gast.expr | None:
    """Over the last axis of `a` and the last but one of `b`."""
    m, n = rank_of(a), rank_of(b)
    if max(m, n) <= 2:
        return product(a, b)
    return contraction(a, b, [m - 1], [max(n - 2, 0)])


def inner(a: Item, b: Item) -> gast.expr | None:
    """Over the last axes of both."""
    m, n = rank_of(a), rank_of(b)
    if n == 2 and m <= 2:
        return product(a, (syntax.expression("y.swapaxes(1, 2)", y=b[0]), b[1]))
    return product(a, b) if n == 1 and m <= 2 else contraction(a, b, [m - 1], [n - 1])


@batch(np.vdot)
def _(call: MappedCall) -> gast.expr | None:
    found = operands(call, "a", "b")
    if found is None:
        return None
    a, b = found
    if not is_real(a[1]):
        a = (syntax.expression("np.conj(x)", x=a[0]), a[1])
    if rank_of(a) == rank_of(b) == 0:
        return times(a, b)
    if rank_of(a) == rank_of(b) == 1:
        return product(a, b)
    same = rank_of(a) == rank_of(b) and shape_of(a[1]) == shape_of(b[1])
    if not same or not has_ints(shape_of(a[1])):
        return None  # flattened, the elements would be paired otherwise
    axes = list(range(rank_of(a)))
    return contraction(a, b, axes, axes)


@batch(np.vecdot, np.linalg.vecdot)
def _(call: MappedCall) -> gast.expr | None:
    found, axis = operands(call, "a", "b"), axis_of(call, "axis", -1)
    if found is None or not isinstance(axis, int):
        return None
    m, n = map(rank_of, found)
    if not (within(axis, m) and within(axis, n)) or (axis >= 0 and m != n):
        return None
    highest = max(m, n)
    a, b = call.lifted("a", highest), call.lifted("b", highest)
    if a is None or b is None:
        return None
    if axis < 0:
        return call.rebuild(a=a, b=b)
    return call.rebuild(a=a, b=b, axis=expr(axis - highest))


@batch(np.outer, np.linalg.outer)
def _(call: MappedCall) -> gast.expr | None:
    found = operands(call, "a", "b")
    if found is None:
        return None
    sides = []
    for (node, t), column in zip(found, (True, False), strict=True):
        if is_active(t):
            side = flat(call, node, t)
            index = "[:, :, None]" if column else "[:, None]"
        else:
            vector = rank_of((node, t)) == 1
            side = node if vector else syntax.call("np.ravel", node)
            index = "[:, None]" if column else ""
        if side is None:
            return None
        sides.append(syntax.expression(f"x{index}", x=side))
    return gast.BinOp(sides[0], gast.Mult(), sides[1])


# -- contractions --------------------------------------------------------------------


@batch(np.tensordot, np.linalg.tensordot)
def _(call: MappedCall) -> gast.expr | None:
    found, axes = operands(call, "a", "b"), call.const("axes", 2)
    if found is None or axes is MISSING:
        return None
    a, b = found
    m, n = rank_of(a), rank_of(b)
    count = np.ndim(axes) == 0
    pairs = (range(m - axes, m), range(axes)) if count else axes
    along = [tuple(map(int, np.ravel(pair))) for pair in pairs]
    if not (within(along[0], m) and within(along[1], n)):
        return None
    left, right = map(list, contracted_axes(axes, m, n))
    if mapped(a) and mapped(b):
        if m == n == 2 and (left, right) == ([1], [0]):
            return product(a, b)
        return contraction(a, b, left, right)
    if mapped(a):
        return call.rebuild(
            axes=expr(axes if count else ([i + 1 for i in left], right))
        )
    behind = [j + 1 for j in right]
    if len(left) == m or len(right) == n:  # nothing has to come before the batch
        return call.rebuild(a=b[0], b=a[0], axes=expr((behind, left)))
    whole = call.rebuild(axes=expr((left, behind)))
    return syntax.expression(f"np.moveaxis(y, {m - len(left)}, 0)", y=whole)


@batch(np.einsum)
def _(call: MappedCall) -> gast.expr | None:
    text, items = call.const("subscripts"), items_in(call, "operands")
    if not isinstance(text, str) or not items or ranks_of(items) is None:
        return None
    if any(call.is_mapped(p) for p in call.bound if p != "operands"):
        return None
    inputs, arrow, output = text.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(items):
        return None
    if not arrow:
        dots = "..." if "..." in inputs else ""
        plain = [term.replace("...", "") for term in terms]
        output = dots + einsum_labels(",".join(plain), list(map(len, plain)))[1]
    subscripts = batched_labels(terms, items, output)
    return subscripts and call.rebuild(subscripts=expr(subscripts))


@batch(np.kron)
def _(call: MappedCall) -> gast.expr | None:
    found = operands(call, "a", "b")
    if found is None:
        return None
    a, b = found
    m, n = rank_of(a), rank_of(b)
    if m == 0 or n == 0:
        return times(a, b)
    highest = max(m, n)
    if not (mapped(a) and mapped(b)):
        left, right = lift(*a, highest), lift(*b, highest)
        return None if left is None or right is None else call.rebuild(a=left, b=right)
    shape = shape_of(call.result)
    if m != n or shape is None or not has_ints(shape):
        return None
    la, lb = LETTERS[:m], LETTERS[m : m + n]
    output = "".join(p + q for p, q in zip(la, lb, strict=True))
    blocks = einsum([la, lb], [a, b], output)
    sizes = tuple_of(call.size, shape).elts
    return blocks and syntax.call(
        gast.Attribute(blocks, "reshape", syntax.LOAD), *sizes
    )


@batch(np.trace)
def _(call: MappedCall) -> gast.expr | None:
    rank = call.rank("a")
    axes = [axis_of(call, "axis1", 0), axis_of(call, "axis2", 1)]
    if not only(call, "a") or rank is None or MISSING in axes:
        return None
    if not within(tuple(axes), rank):
        return None
    first, second = (expr(shifted(axis, rank)) for axis in axes)
    return call.rebuild(axis1=first, axis2=second)


@batch(np.cross, np.linalg.cross)
def _(call: MappedCall) -> gast.expr | None:
    found = operands(call, "a", "b")
    if found is None:
        return None
    ranks = list(map(rank_of, found))
    highest = max(ranks)
    names = [n for n in ("axisa", "axisb", "axisc", "axis") if call.has(n)]
    axes = {name: axis_of(call, name) for name in names}
    axes = {name: axis for name, axis in axes.items() if axis is not None}
    left, right = (lift(*item, highest) for item in found)
    if left is None or right is None or min(ranks) < 1:
        return None
    changes: dict[str, Any] = {"a": left, "b": right}
    for name, axis in axes.items():
        if not isinstance(axis, int) or not within(axis, min(ranks)):
            return None
        if axis >= 0:  # from the end it is the same place with and without the batch
            if ranks[0] != ranks[1] and name != "axisc":
                return None
            changes[name] = expr(axis - highest)
    return call.rebuild(**changes)


# -- chains of products --------------------------------------------------------------

batch(np.linalg.matrix_power)(as_it_is("a"))


@batch(np.linalg.multi_dot, lists=("arrays",))
def _(call: MappedCall) -> gast.expr | None:
    """From the left, or from the right where the last one is a vector."""
    items = items_in(call, "arrays")
    if not items or ranks_of(items) is None:
        return None
    ranks = [rank_of(item) for item in items]
    if any(r != 2 for r in ranks[1:-1]) or not {ranks[0], ranks[-1]} <= {1, 2}:
        return None
    if ranks[-1] == 1:
        total = items.pop()
        while items:
            total = joined(items.pop(), total)
    else:
        total = items.pop(0)
        while items:
            total = joined(total, items.pop(0))
    return total[0]


def joined(a: Item, b: Item) -> Item:
    """`a @ b` for each example; also where neither is mapped."""
    either = mapped(a) or mapped(b)
    made = product(a, b) if either else at(a[0], b[0])
    assert made is not None
    return made, with_active(infer_matmul(a[1], b[1]), either)


# -- convolutions --------------------------------------------------------------------


@batch(np.convolve)
def _(call: MappedCall) -> gast.expr | None:
    found, mode = operands(call, "a", "v"), call.const("mode", "full")
    if found is None:
        return None
    a, v = found
    long, short = length(a), length(v)
    if long is None or short is None:
        return None
    return windows_times(*((a, v) if long >= short else (v, a)), mode, turned=True)


@batch(np.correlate)
def _(call: MappedCall) -> gast.expr | None:
    found, mode = operands(call, "a", "v"), call.const("mode", "valid")
    if found is None:
        return None
    a, v = found
    long, short = length(a), length(v)
    if long is None or short is None or short > long:
        return None
    if not is_real(v[1]):
        v = (syntax.expression("np.conj(x)", x=v[0]), v[1])
    return windows_times(a, v, mode, turned=False)


def length(item: Item) -> int | None:
    """The length of a vector; None for anything else."""
    shape = shape_of(item[1])
    return shape[0] if shape and len(shape) == 1 and has_ints(shape) else None  # type: ignore[return-value]


def windows_times(a: Item, v: Item, mode: Any, turned: bool) -> gast.expr | None:
    """The windows of the longer signal `a`, overlapping `v` as far as the mode says."""
    if mode not in ("full", "same", "valid"):
        return None
    x, size = a[0], length(v)
    assert size is not None
    before = {"full": size - 1, "same": size // 2, "valid": 0}[mode]
    after = {"full": size - 1, "same": size - 1 - size // 2, "valid": 0}[mode]
    if before or after:
        text = "((0, 0), w)" if mapped(a) else "w"
        width = expr((before, after)) if before != after else expr(before)
        if mapped(a):
            width = syntax.expression(text, w=expr((before, after)))
        x = syntax.call("np.pad", x, width)
    axis = expr(1) if mapped(a) else expr(0)
    view = "np.lib.stride_tricks.sliding_window_view"
    windows = syntax.call(view, x, expr(size), axis=axis)
    rows = Array(mapped(a), dtype=dtype_of(a[1]), shape=(None, size))
    if turned:
        v = (syntax.expression("x[:, ::-1]" if mapped(v) else "x[::-1]", x=v[0]), v[1])
    return product((windows, rows), v)
