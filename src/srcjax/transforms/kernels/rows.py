"""Loops over the same rows become one loop: what a row needs stays near.

    for i in range(n):                      for i in range(n):
        largest[i] = ...                        largest_i = ...
    for i in range(n):                ->        for j in range(m):
        for j in range(m):                          y[i, j] = x[i, j] - largest_i
            y[i, j] = x[i, j] - largest[i]

A loop joins the one before where all that it reads of it belongs to the row at hand.
What is stored for the row and read again is taken from the name that was stored; arrays
that nobody reads then are not made.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.looking import MAKERS
from srcjax.analysis.types import same_size
from srcjax.transforms.kernels.loops import Loops, is_one


def joined(run: list[Loops], in_order: bool) -> list[gast.stmt]:
    """The statements of loops that stand after each other.

    Args:
        in_order: whether rows are computed one after the other; else those that are
            folded into one are in a loop of their own.
    """
    out: list[gast.stmt] = []
    rows: list[Loops] = []
    for loops in run:
        alone = not in_order and any(each.folds_rows for each in (*rows, loops))
        if rows and (alone or not all(_joins(each, loops) for each in rows)):
            out += _written(rows)
            rows = []
        rows.append(loops)
    return out + _written(rows)


def _joins(first: Loops, then: Loops) -> bool:
    """Whether a loop may go through the rows together with an earlier one."""
    a, b = first.nest, then.nest
    if not (a.indices and b.indices) or len(a.indices) + len(b.indices) < 3:
        return False
    if is_one(a.sizes[0]) or not same_size(first.group.shape[0], then.group.shape[0]):
        return False
    if first.stores or then.stores:
        return False
    if then.produced & (first.reads | first.produced):  # what it had before is read
        return False
    if any(first.produced & read_beyond_sizes(s) for s in then.nest.before[0]):
        return False
    read = {
        name: axes for (name, axes) in then.elements if axes and name in first.produced
    }
    rowwise = all(axes[0] == 0 for axes in read.values())
    finished = not first.nest.after[0] and not (first.late & then.reads)
    return rowwise and finished and first.produced & then.reads <= set(read)


def read_beyond_sizes(stmt: Any) -> set[str]:
    """The names of which more is read than how long an axis is."""
    counts = syntax.read_counts(stmt)
    for node in syntax.walk(stmt):
        sizes = isinstance(node, gast.Attribute) and node.attr == "shape"
        if sizes and isinstance(node.value, gast.Name):
            counts[node.value.id] -= 1
        if isinstance(node, gast.Call) and syntax.is_name(node.func, "len"):
            counts[getattr(node.args[0], "id", "")] -= 1
    return {name for name, count in counts.items() if count > 0}


def _written(rows: list[Loops]) -> list[gast.stmt]:
    if not rows:
        return []
    first = rows[0].nest
    if len(rows) == 1:
        return first.statements()
    before: list[gast.stmt] = []
    body: list[gast.stmt] = []
    after: list[gast.stmt] = []
    for loops in rows:
        nest = loops.nest
        before += nest.before[0]
        after += nest.after[0]
        inner = nest.inside(0)
        if loops is not rows[0]:
            syntax.rename(inner, {nest.indices[0]: first.indices[0]})
        body += inner
    over = syntax.call("range", first.sizes[0])
    target = syntax.name(first.indices[0], store=True)
    return [*before, gast.For(target, over, forwarded(body), [], None), *after]


def forwarded(body: list[Any]) -> list[Any]:
    """The statements of a row, which take what was stored from its name."""
    held: dict[str, gast.expr] = {}

    def visit(node: Any) -> Any:
        if isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Load):
            return syntax.clone(held.get(syntax.text(node), node))
        return node

    out = []
    for stmt in body:
        new = syntax.map_expressions(stmt, visit) if held else stmt
        out.append(new)
        if isinstance(new, gast.Assign):
            (target,) = new.targets
            if isinstance(target, gast.Subscript) and syntax.is_atom(new.value):
                held[syntax.text(syntax.as_load(syntax.clone(target)))] = new.value
    return out


def without_unread(stmts: list[Any]) -> list[Any]:
    """The statements without arrays that are made and filled, and never read."""
    made = {
        s.targets[0].id
        for s in syntax.walk(stmts)
        if isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and syntax.dotted(getattr(s.value, "func", None)) in MAKERS
    }
    filled = {
        id(n.value): n.value.id
        for n in syntax.walk(stmts)
        if isinstance(n, gast.Subscript)
        and isinstance(n.ctx, gast.Store)
        and isinstance(n.value, gast.Name)
    }
    read = {
        n.id
        for n in syntax.walk(stmts)
        if isinstance(n, gast.Name)
        and isinstance(n.ctx, gast.Load)
        and id(n) not in filled
    }
    idle = made - read

    def block(body: list[Any]) -> list[Any]:
        out = []
        for stmt in body:
            if isinstance(stmt, gast.Assign) and root(stmt.targets[0]) in idle:
                continue
            syntax.rewrite_blocks(stmt, block)
            out.append(stmt)
        return out

    # The size of one that goes may be all that another was read for.
    return without_unread(block(stmts)) if idle else stmts


def root(target: Any) -> str:
    """The name that is bound, or whose element is stored."""
    if isinstance(target, gast.Subscript):
        return root(target.value)
    return getattr(target, "id", "")
