"""Arrays that are seen with other axes: where an element of them is in memory.

d[:, None] * x.T      at (i, j)      d[i] * x[j, i]
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax


def seen(node: Any, rank_of: Any) -> tuple[gast.Name, list[int]] | None:
    """The array behind a view with the same elements, and where its axes went.

    For each axis of the array, which axis of the view it is. None for other nodes: also
    where a part is taken, or an axis has an index.

    Args:
        rank_of: gives the rank of an expression, or None.
    """
    if isinstance(node, gast.Name):
        rank = rank_of(node)
        return None if rank is None else (node, list(range(rank)))
    if isinstance(node, gast.Attribute) and node.attr == "T":
        inner = seen(node.value, rank_of)
        rank = rank_of(node.value)
        if inner is None or rank is None:
            return None
        return inner[0], [rank - 1 - axis for axis in inner[1]]
    if isinstance(node, gast.Subscript):
        inner = seen(node.value, rank_of)
        rank = rank_of(node.value)
        if inner is None or rank is None:
            return None
        went = axes_after(node.slice, rank)
        return None if went is None else (inner[0], [went[axis] for axis in inner[1]])
    if isinstance(node, gast.Call) and syntax.dotted(node.func) == "np.transpose":
        array, *orders = node.args
        inner = seen(array, rank_of)
        if inner is None or len(orders) != 1 or node.keywords:
            return None
        (order,) = orders
        if not isinstance(order, gast.Tuple):
            return None
        places = [axis.value for axis in order.elts]
        return inner[0], [places.index(axis) for axis in inner[1]]
    return None


def axes_after(index: Any, rank: int) -> list[int] | None:
    """Where each axis goes by an index of whole slices and new axes only."""
    items = list(index.elts) if isinstance(index, gast.Tuple) else [index]
    if not all(is_new_axis(i) or is_whole(i) for i in items):
        return None
    dots = [k for k, i in enumerate(items) if is_dots(i)]
    taken = sum(not is_new_axis(i) and not is_dots(i) for i in items)
    if taken > rank or len(dots) > 1:
        return None
    if not dots:
        dots, items = [len(items)], [*items, gast.Constant(..., None)]
    items[dots[0] : dots[0] + 1] = [gast.Slice(None, None, None)] * (rank - taken)
    return [k for k, item in enumerate(items) if not is_new_axis(item)]


def is_new_axis(item: Any) -> bool:
    """Whether an item of an index makes an axis."""
    none = isinstance(item, gast.Constant) and item.value is None
    return none or syntax.dotted(item) in ("np.newaxis", "numpy.newaxis")


def is_dots(item: Any) -> bool:
    """Whether it is `...`."""
    return isinstance(item, gast.Constant) and item.value is ...


def is_whole(item: Any) -> bool:
    """Whether an item of an index takes all of an axis, or of several."""
    if isinstance(item, gast.Slice):
        return item.lower is None and item.upper is None and item.step is None
    return is_dots(item)


def keeps_last(items: list[Any], rank: int | None) -> bool:
    """Whether elements that are side by side in memory are so by this index too."""
    taken = [i for i in items if not is_new_axis(i)]
    if len(taken) < (rank or 0) and not any(map(is_dots, taken)):
        return True
    *_, last = taken or [None]
    return is_dots(last) or (isinstance(last, gast.Slice) and last.step is None)


def with_axis(array: gast.expr, axis: int, rank: int) -> gast.Subscript:
    """`x[:, None]`: the array with a new axis there."""
    items: list[gast.expr] = [gast.Slice(None, None, None) for _ in range(rank)]
    items.insert(axis, syntax.const(None))
    while len(items) > 1 and isinstance(items[-1], gast.Slice):
        items.pop()
    index = items[0] if len(items) == 1 else gast.Tuple(items, syntax.LOAD)
    return gast.Subscript(array, index, syntax.LOAD)


def contraction(
    text: str, arrays: list[gast.expr]
) -> tuple[gast.expr, tuple[int, ...]] | None:
    """The product that `np.einsum` sums, and along which axes.

    None for what is no product of elements (`ii->i`, `...`), and for products of two
    matrices, which are made at once.
    """
    given, arrow, out = text.replace(" ", "").partition("->")
    parts = given.split(",")
    letters = sorted(set(given) - {","})
    if not arrow or "." in text or len(parts) != len(arrays):
        return None
    if any(len(set(p)) != len(p) for p in (*parts, out)) or not set(out) <= set(
        letters
    ):
        return None
    summed = [c for c in letters if c not in out]
    if [len(p) for p in parts] == [2, 2] and len(summed) == 1 and len(out) == 2:
        return None
    order = [*out, *summed]
    views = []
    for array, part in zip(arrays, parts, strict=True):
        here = [c for c in order if c in part]
        if here != list(part):
            axes = [syntax.const(part.index(c)) for c in here]
            transpose = syntax.expression("np.transpose")
            array = syntax.call(transpose, array, gast.Tuple(axes, syntax.LOAD))
        for place, letter in enumerate(order):
            if letter not in part:
                array = with_axis(array, place, len(here))
                here.insert(place, letter)
        views.append(array)
    product = views[0]
    for view in views[1:]:
        product = gast.BinOp(product, gast.Mult(), view)
    return product, tuple(range(len(out), len(order)))
