"""Which parts of one array have no element in common.

    for i in range(n - 1):
        A[i, i + 1 : n] = A[i + 1 : n, i]

Row `i` is none of the rows from `i + 1` on. A part that has a name is one that was
taken in the same run of the block, with the same numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gast

from srcjax import syntax
from srcjax.transforms.kernels.accepted import kind

if TYPE_CHECKING:
    from srcjax.transforms.kernels.writing import Writing


def are_apart(writer: Writing, stmt: Any, target: gast.expr, value: gast.expr) -> bool:
    """Whether what a statement stores is no part of what it stores to, for sure."""
    of = taken_before(writer, stmt, value)
    if not (isinstance(target, gast.Subscript) and isinstance(of, gast.Subscript)):
        return False
    if not isinstance(target.value, gast.Name) or not syntax.equal(
        syntax.as_load(syntax.clone(target.value)), of.value
    ):
        return False
    for a, b in zip(items_of(target), items_of(of), strict=False):
        if not (is_plain(writer, a) and is_plain(writer, b)):
            return False  # which axes they are of is not known
        if is_before(writer, a, b) or is_before(writer, b, a):
            return True
    return False


def taken_before(writer: Writing, stmt: Any, value: gast.expr) -> gast.expr | None:
    """The part that a name stands for, if nothing that it is made of changed since."""
    if not isinstance(value, gast.Name):
        return value
    own = getattr(stmt, "origin", id(stmt))
    for block in syntax.blocks(writer.unit.node.body):
        at = next((k for k, s in enumerate(block) if id(s) == own), None)
        for k in reversed(range(at or 0)):
            if value.id not in syntax.names_written(block[k]):
                continue
            made = getattr(block[k], "value", None)
            same = isinstance(block[k], gast.Assign) and isinstance(
                block[k].targets[0], gast.Name
            )
            changed = syntax.names_written(block[k + 1 : at])
            if not same or made is None or changed & syntax.names_read(made):
                return None
            found: gast.expr = made
            return found
    return None


def items_of(part: gast.Subscript) -> list[gast.expr]:
    """The index of each axis."""
    items = part.slice.elts if isinstance(part.slice, gast.Tuple) else [part.slice]
    return list(items)


def is_plain(writer: Writing, item: gast.expr) -> bool:
    """Whether it is a place of an axis, or several without a step."""
    if isinstance(item, gast.Slice):
        return item.step is None
    return kind(writer.type_of(item)) == "i" and not writer.rank_of(item)


def is_before(writer: Writing, a: gast.expr, b: gast.expr) -> bool:
    """Whether all places of `a` are before those of `b`, for sure.

    Numbers below zero count from the end, so that ends must not be.
    """
    if isinstance(b, gast.Slice):
        first, after = b.lower, a.upper if isinstance(a, gast.Slice) else None
        if not isinstance(a, gast.Slice):  # `a`, and `a + 1 :`
            is_next = isinstance(first, gast.BinOp) and isinstance(first.op, gast.Add)
            if not is_next or not syntax.equal(first.left, a):
                return False
            by = writer.option(first.right, ...)
            return type(by) is int and by > 0 and counts_up(writer, a)
    else:
        first, after = b, a.upper if isinstance(a, gast.Slice) else None
    if first is None or after is None or not syntax.equal(first, after):
        return False
    return counts_up(writer, first)  # `: b`, and `b` or `b :`


def counts_up(writer: Writing, node: gast.expr) -> bool:
    """Whether an int is never below zero: a number, or what loops count with."""
    known = writer.option(node, ...)
    if type(known) is int:
        return known >= 0
    if not isinstance(node, gast.Name) or node.id in writer.unit.parameters:
        return False
    body = writer.unit.node.body
    stores = [n for n in syntax.walk(body) if syntax.is_name(n, node.id)]
    stores = [n for n in stores if isinstance(n.ctx, gast.Store)]
    loops = [
        s
        for s in syntax.walk(body)
        if isinstance(s, gast.For) and syntax.is_name(s.target, node.id)
    ]
    return len(stores) == len(loops) > 0 and all(
        from_zero(writer, s.iter) for s in loops
    )


def from_zero(writer: Writing, over: gast.expr) -> bool:
    """Whether it is a range of numbers that are not below zero."""
    if writer.is_call(over, reversed):
        over = over.args[0]
    if not writer.is_call(over, range):
        return False
    bounds = [writer.option(a, ...) for a in over.args]
    if len(bounds) == 1:
        return True
    step = bounds[2] if len(bounds) == 3 else 1
    if type(step) is not int or step == 0:
        return False
    first, least = (bounds[0], 0) if step > 0 else (bounds[1], -1)
    return type(first) is int and first >= least
