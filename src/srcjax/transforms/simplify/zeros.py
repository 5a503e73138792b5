"""Make zeros for all examples, not one example's that are then repeated.

Before:                                             After:

    zeros = np.zeros_like(x)                            z = np.zeros((n, *x.shape))
    z = np.broadcast_to(zeros, (n, *zeros.shape))
    z[:, 0] = 0.0

What was just made of zeros is not set to zero. What only its shape is read of is not
computed: of `dx = np.zeros_like(x)`, which is added to, zeros have the shape of `x`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import Array, Type
from srcjax.transforms.call_effects import called, copied, is_pure


def zeros_of_batches(
    node: gast.FunctionDef,
    may_nest: Callable[[str], bool],
    type_of_name: Callable[[str], Type],
) -> bool:
    """Do so in the function, in place; whether there were any.

    Args:
        may_nest: tells the names of temporaries.
        type_of_name: the type of what a name stands for.
    """
    bound = Counter(
        n.id for n in syntax.names_in(node) if not isinstance(n.ctx, gast.Load)
    )
    made = {
        s.targets[0].id: s.value.args[0].id
        for s in syntax.all_statements(node.body)
        if _makes_zeros(s)
    }
    found: dict[int, gast.expr] = {}
    gone: set[str] = set()
    repeated: dict[str, list[Any]] = {}
    for call in syntax.walk(node.body) if made else ():
        name = _repeated(call)
        if name:
            repeated.setdefault(name, []).append(call)
    reads = syntax.read_counts(node.body) if repeated else Counter()
    for name in made.keys() & repeated.keys():
        root = made[name]
        while bound[root] == 1 and root in made:
            root = made[root]
        t = type_of_name(root)
        if bound[name] != 1 or bound[root] > 1 or not may_nest(name):
            continue
        if not isinstance(t, Array) or t.dtype is None or t.shape is None:
            continue
        calls = repeated[name]
        if reads[name] != 2 * len(calls):
            continue
        for call in calls:
            new = syntax.expression(
                "np.zeros((n, *x.shape))",
                n=call.args[1].elts[0],
                x=syntax.name(root),
            )
            if t.dtype != np.dtype(float):
                kept = gast.Attribute(syntax.name(root), "dtype", syntax.LOAD)
                new.keywords = [gast.keyword("dtype", kept)]
            found[id(call)] = new
        gone.add(name)
    if not found:
        return False
    for stmt in syntax.all_statements(node.body):
        for key, value in list(stmt.__dict__.items()):
            if isinstance(value, gast.expr):
                stmt.__dict__[key] = _without_copies(value, found)
    for block in list(syntax.blocks(node.body)):
        block[:] = [
            s for s in block if not (_makes_zeros(s) and s.targets[0].id in gone)
        ] or [gast.Pass()]
    return True


def _makes_zeros(stmt: Any) -> bool:
    """`z = np.zeros_like(x)`"""
    if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.targets[0]):
        return False
    value = stmt.value
    plain = called(value) == "np.zeros_like" and not value.keywords
    return plain and len(value.args) == 1 and syntax.is_name(value.args[0])


def _repeated(node: Any) -> str:
    """`z` of `np.broadcast_to(z, (n, *z.shape))`, or with `np.shape(z)`."""
    if not isinstance(node, gast.Call) or called(node) != "np.broadcast_to":
        return ""
    if len(node.args) != 2 or node.keywords or not syntax.is_name(node.args[0]):
        return ""
    name: str = node.args[0].id
    sizes: Any = node.args[1]
    if not isinstance(sizes, gast.Tuple) or len(sizes.elts) != 2:
        return ""
    shape = sizes.elts[1]
    if not isinstance(shape, gast.Starred) or syntax.count_reads(sizes.elts[0], name):
        return ""
    whole = shape.value
    of: Any = None
    if isinstance(whole, gast.Attribute) and whole.attr == "shape":
        of = whole.value
    elif called(whole) == "np.shape" and len(whole.args) == 1:
        of = whole.args[0]
    return name if syntax.is_name(of, name) else ""


def _without_copies(value: gast.expr, found: dict[int, gast.expr]) -> gast.expr:
    """The expression with what is found in place of calls, and of copies of them."""
    copies = {
        id(n): found[id(inner)]
        for n in syntax.walk(value)
        if (inner := copied(n)) is not None and id(inner) in found
    }
    here = {id(n) for n in syntax.walk(value)}
    if here.isdisjoint(found):
        return value
    new: gast.expr = syntax.replaced(value, {**found, **copies})
    return new


def without_stores_of_zero(block: list[Any], own: Callable[[str], bool]) -> bool:
    """Drop `z[i] = 0.0` where all of `z` is zero; whether there was one.

    `own` tells the names that srcjax made.
    """
    changed = False
    zeros: set[str] = set()
    for stmt in list(block):
        for inner in syntax.inner_blocks(stmt):
            changed |= without_stores_of_zero(inner, own)
        place = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        if isinstance(place, gast.Subscript) and len(stmt.targets) == 1:
            whole = getattr(place.value, "id", "")
            known = ({whole} & zeros) - syntax.names_read(place.slice)
            if known and _is_zero(stmt.value) and is_pure(place.slice):
                block[:] = [s for s in block if s is not stmt] or [gast.Pass()]
                changed = True
                continue
        zeros -= syntax.all_names(stmt)
        name = getattr(place, "id", "")
        made = bool(name) and own(name)
        if made and called(stmt.value) in ("np.zeros_like", "np.zeros"):
            zeros.add(name)
    return changed


def _is_zero(value: Any) -> bool:
    number = isinstance(value, gast.Constant) and type(value.value) in (int, float)
    return number and value.value == 0
