"""Which names code reads, binds and changes, and whether it surely does."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.swaps import swap_pairs
from srcjax.frontend.unit import Unit
from srcjax.transforms.call_effects import called

#: Calls that look at the shape of an argument, not at what it holds.
_SHAPE_ONLY = {"np.zeros_like", "np.full_like", "np.shape", "len", "np.ones_like"}


_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)

SHAPE_ATTRIBUTES = {"shape", "size", "ndim", "dtype"}


# -- helpers ------------------------------------------------------------------------


def bound_names(stmt: Any) -> list[str]:
    """Names that a simple statement binds (not those it writes through)."""
    if swap_pairs(stmt):
        return []  # what the names hold is exchanged, not the names
    if isinstance(stmt, gast.Assign):
        return sorted(
            {
                n.id
                for t in stmt.targets
                for n in syntax.walk(t)
                if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
            }
        )
    if isinstance(stmt, gast.AugAssign):
        return []
    return sorted(syntax.names_written(stmt))


def written_name(stmt: Any) -> str:
    """The name through which a statement writes in place."""
    target: Any = getattr(stmt, "target", None)
    if isinstance(stmt, gast.Assign):
        target = stmt.targets[0]
        if isinstance(target, (gast.Name, gast.Tuple)):
            target = None
    if isinstance(stmt, gast.Delete):
        target = stmt.targets[0]
    if target is None:
        call = getattr(stmt, "value", None)
        if isinstance(call, gast.Call):
            if isinstance(call.func, gast.Attribute) and call.func.attr == "at":
                target = call.args[0]
            else:
                target = getattr(call.func, "value", None)
    return syntax.root_of(target)


def changed_container(stmt: Any) -> set[str]:
    """The container that the statement puts something into."""
    target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
    if isinstance(target, (gast.Subscript, gast.Attribute)):
        root = syntax.root_of(target)
        return {root} if root else set()
    call = getattr(stmt, "value", None)
    if (
        isinstance(call, gast.Call)
        and isinstance(call.func, gast.Attribute)
        and call.func.attr in ("append", "extend", "insert", "setdefault", "update")
    ):
        base = call.func.value
        return {base.id} if isinstance(base, gast.Name) else set()
    return set()


def shape_only_names(code: Any) -> dict[str, int]:
    """How often each name is read for its shape alone."""
    counts: dict[str, int] = {}
    for node in syntax.walk(code):
        inner = None
        if isinstance(node, gast.Call) and called(node) in _SHAPE_ONLY:
            inner = node.args[0] if node.args else None
        elif isinstance(node, gast.Attribute) and node.attr in SHAPE_ATTRIBUTES:
            inner = node.value
        if isinstance(inner, gast.Name):
            counts[inner.id] = counts.get(inner.id, 0) + 1
    return counts


def exposed(stmts: list[gast.stmt]) -> set[str]:
    """Names that the statements may read before they bind them."""
    found: set[str] = set()
    bound: set[str] = set()
    for stmt in stmts:
        found |= reads_first(stmt) - bound
        bound |= surely(stmt)
    return found


def reads_first(stmt: Any) -> set[str]:
    if isinstance(stmt, gast.If):
        inner = exposed(stmt.body) | exposed(stmt.orelse)
        return syntax.names_read(stmt.test) | inner
    if isinstance(stmt, gast.For):
        inner = exposed(stmt.body) - syntax.names_written(stmt.target)
        return syntax.names_read(stmt.iter) | inner
    if isinstance(stmt, gast.While):
        return syntax.names_read(stmt.test) | exposed(stmt.body)
    if isinstance(stmt, (gast.With, gast.Try)):
        handled = [exposed(h.body) for h in getattr(stmt, "handlers", [])]
        inner = exposed(stmt.body + getattr(stmt, "finalbody", []))
        return inner.union(*handled)
    reads = syntax.names_read(stmt)
    if syntax.names_written(stmt) & reads:
        reads = free_reads(stmt)  # the variable of a comprehension is its own
    if isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name):
        reads.add(stmt.target.id)
    return reads


def free_reads(node: Any) -> set[str]:
    """Names that are read, but for the variables of the comprehensions inside."""
    found: set[str] = set()
    for child in gast.iter_child_nodes(node):
        found |= free_reads(child)
    if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
        found.add(node.id)
    elif isinstance(node, _COMPREHENSIONS):
        found -= syntax.names_written([g.target for g in node.generators])
        found |= free_reads(node.generators[0].iter)
    return found


def surely(stmt: Any) -> set[str]:
    """Names that the statement binds on every path."""
    if isinstance(stmt, gast.If):
        sides: list[set[str]] = [set(), set()]
        for side, part in enumerate((stmt.body, stmt.orelse)):
            for s in part:
                sides[side] |= surely(s)
        ends = [
            part and isinstance(part[-1], gast.Break)
            for part in (stmt.body, stmt.orelse)
        ]
        if ends[0]:
            return sides[1]
        if ends[1]:
            return sides[0]
        return sides[0] & sides[1]
    if isinstance(stmt, (gast.For, gast.While)):
        return set()
    if isinstance(stmt, (gast.With, gast.Try)):
        parts = [stmt.body, *(h.body for h in getattr(stmt, "handlers", []))]
        found = [set().union(*map(surely, part)) for part in parts]
        return set.intersection(*found)
    return set(bound_names(stmt))


def own_breaks(stmts: list[gast.stmt]) -> list[gast.stmt]:
    found: list[gast.stmt] = []
    for stmt in stmts:
        if isinstance(stmt, gast.Break):
            found.append(stmt)
        elif isinstance(stmt, gast.If):
            found += own_breaks(stmt.body) + own_breaks(stmt.orelse)
        elif isinstance(stmt, (gast.With, gast.Try)):
            found += own_breaks(stmt.body)
    return found


def has_break(stmt: Any) -> bool:
    return bool(own_breaks(stmt.body))


def is_range(value: Any) -> bool:
    return isinstance(value, gast.Call) and called(value) == "range"


def backward_range(value: Any) -> gast.expr | None:
    """`range(...)` of `reversed(range(...))`."""
    if called(value) != "reversed" or not value.args:
        return None
    inner: gast.expr = value.args[0]
    return inner if is_range(inner) else None


def is_handed_over(unit: Unit, stmt: Any) -> bool:
    """Whether `name = temporary` is all that becomes of the temporary.

    It is made above in the same block, and not read again: no second name is left, and
    the adjoint passes from one to the other.
    """
    value = getattr(stmt, "value", None)
    if not isinstance(value, gast.Name) or value.id not in unit.temps:
        return False
    total = syntax.count_bindings(unit.node, value.id)
    for block in syntax.blocks(unit.node.body):
        at = next((k for k, s in enumerate(block) if s is stmt), None)
        if at is None:
            continue
        if any(_keeps(s, value.id) for s in syntax.walk(block[:at])):
            return False
        made = sum(syntax.count_bindings(s, value.id) for s in block[:at])
        here = sum(syntax.count_reads(s, value.id) for s in block[: at + 1])
        return made == total and here == syntax.count_reads(unit.node, value.id)
    return False


def _keeps(node: Any, name: str) -> bool:
    """Whether an assignment makes another name, or a part, of the same object."""
    if not isinstance(node, gast.Assign):
        return False
    held = node.value
    parts = held.elts if isinstance(held, (gast.Tuple, gast.List)) else [held]
    return any(syntax.is_name(part, name) for part in parts)
