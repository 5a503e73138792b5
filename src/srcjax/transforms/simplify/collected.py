"""Lists of adjoints that a loop fills item by item, as comprehensions.

Before:                                    After:

    dsteps = [0.0] * len(steps)            dsteps = [2 * a * b for a, b in steps]
    for i in reversed(range(len(steps))):
        a, b = steps[i]
        da = 2 * a
        dsteps[i] += da * b

Each item has to be all that the loop computes. Where items are arrays, each has to be
new and of the shape of the zeros that it is added to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    Array,
    List,
    Tuple,
    Type,
    is_number,
    parts,
    same_shape,
    shape_of,
)
from srcjax.transforms.call_effects import called, is_pure
from srcjax.transforms.fresh import is_new_array
from srcjax.transforms.reasons import take_over
from srcjax.transforms.simplify.sugar import read_elsewhere, runs_after

#: Parts of an item beyond which a comprehension is hard to read.
LIMIT = 40


def collect(
    node: gast.FunctionDef,
    type_of: Callable[[gast.expr], Type],
) -> bool:
    """Write the loops of the function as comprehensions, in place; whether one was."""
    changed = False
    for block in syntax.blocks(node.body):
        for k in range(len(block) - 2, -1, -1):
            made = _collected(node, block[k], block[k + 1], type_of)
            if made is not None:
                block[k : k + 2] = [made]
                changed = True
    return changed


def _collected(
    node: gast.FunctionDef,
    start: Any,
    loop: Any,
    type_of: Callable[[gast.expr], Type],
) -> gast.stmt | None:
    """The assignment that zeros and the loop after them are; None for others."""
    names = _zeros(start)
    if names is None or not isinstance(loop, gast.For) or loop.orelse:
        return None
    adjoints, values = names
    if not _goes_over(loop, values) or not isinstance(loop.target, gast.Name):
        return None
    index = loop.target.id
    *before, last = loop.body
    item = _item(last, adjoints, index)
    if item is None:
        return None
    target: Any = None
    bound: set[str] = {index}
    for stmt in reversed(before):
        if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
            return None
        place = stmt.targets[0]
        own = syntax.names_written(stmt)
        if bound & own or not is_pure(stmt.value):
            return None
        bound |= own
        if _is_item(stmt.value, values, index):
            if stmt is not before[0]:
                return None
            target = place
        elif isinstance(place, gast.Name):
            if syntax.count_reads(item, place.id) > 1 and not syntax.is_atom(
                stmt.value
            ):
                return None  # it would be computed twice
            item = syntax.substitute(item, {place.id: stmt.value})
        else:
            return None
    if target is None or not is_pure(item) or _is_long(item):
        return None
    read = syntax.names_read(item)
    if adjoints in read or values in read or adjoints in bound or values in bound:
        return None
    later = runs_after(node, loop)
    if read_elsewhere(later, loop, bound):
        return None
    if not _may_stand(item, type_of(syntax.name(values)), type_of):
        return None
    over: gast.expr = syntax.name(values)
    if index in read:
        target = gast.Tuple([syntax.name(index, store=True), target], syntax.STORE)
        over = syntax.call("enumerate", over)
    each = gast.comprehension(target, over, [], 0)
    made = syntax.assign(adjoints, gast.ListComp(item, [each]))
    lines = (getattr(s, "user_line", None) for s in (*before[1:], last))
    made.user_line = next(filter(None, lines), None)
    made.backward = getattr(last, "backward", False)
    take_over(made, *before[1:], last)
    return made


def _zeros(stmt: Any) -> tuple[str, str] | None:
    """The names in `dx = [0.0] * len(x)`, and in other zeros for each item of `x`."""
    if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.targets[0]):
        return None
    value: Any = stmt.value
    whole: Any = None
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
        zero = isinstance(value.left, gast.List) and len(value.left.elts) == 1
        if zero and getattr(value.left.elts[0], "value", None) == 0.0:
            whole = value.right.args[0] if called(value.right) == "len" else None
    elif isinstance(value, gast.ListComp) and called(value.elt) == "np.zeros_like":
        (each, *more), (like, *rest) = value.generators, value.elt.args
        alone = not more and not rest and not each.ifs and not value.elt.keywords
        if alone and syntax.equal(syntax.as_load(each.target), like):
            whole = each.iter
    elif called(value) == "zeros_like":
        (whole,) = value.args
    return (stmt.targets[0].id, whole.id) if syntax.is_name(whole) else None


def _goes_over(loop: gast.For, values: str) -> bool:
    """Whether the loop has each index of the list once."""
    over: Any = loop.iter
    if called(over) == "reversed":
        (over,) = over.args
    if called(over) != "range" or len(over.args) != 1:
        return False
    count = over.args[0]
    return called(count) == "len" and syntax.is_name(count.args[0], values)


def _item(stmt: Any, adjoints: str, index: str) -> gast.expr | None:
    """What `dx[i] += d`, or `dx[i] = add(dx[i], d)`, adds to zero."""
    if isinstance(stmt, gast.AugAssign) and isinstance(stmt.op, (gast.Add, gast.Sub)):
        if not _is_item(stmt.target, adjoints, index):
            return None
        added = isinstance(stmt.op, gast.Add)
        return stmt.value if added else gast.UnaryOp(gast.USub(), stmt.value)
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
        return None
    value: Any = stmt.value
    if not _is_item(stmt.targets[0], adjoints, index):
        return None
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add):
        first, second = value.left, value.right
    elif called(value) == "add":
        first, second = value.args
    else:
        return None
    return second if _is_item(first, adjoints, index) else None


def _is_item(node: Any, whole: str, index: str) -> bool:
    return (
        isinstance(node, gast.Subscript)
        and syntax.is_name(node.value, whole)
        and syntax.is_name(node.slice, index)
    )


def _is_long(item: gast.expr) -> bool:
    return sum(isinstance(n, gast.expr) for n in syntax.walk(item)) > LIMIT


def _may_stand(
    item: gast.expr, values: Type, type_of: Callable[[gast.expr], Type]
) -> bool:
    """Whether the item is what zero of an item of the list becomes with it added."""
    if not isinstance(values, List):
        return False
    elems = list(parts(values))
    return bool(elems) and all(_fits(item, elem, type_of) for elem in elems)


def _fits(item: gast.expr, elem: Type, type_of: Callable[[gast.expr], Type]) -> bool:
    if isinstance(elem, Tuple) and elem.items is not None:
        return (
            isinstance(item, gast.Tuple)
            and elem.cls is None
            and len(item.elts) == len(elem.items)
            and all(map(lambda i, e: _fits(i, e, type_of), item.elts, elem.items))
        )
    if is_number(elem):
        return is_number(type_of(item))
    if not isinstance(elem, Array) or not is_new_array(item):
        return False
    return same_shape(shape_of(type_of(item)), shape_of(elem))


__all__ = ["collect"]
