"""Adjoints that start from an array whose contents are put back later: copy it.

Before:                          After:

    dw = y                           dw = y.copy()
    y[0] = y_before                  y[0] = y_before
    return dw                        return dw
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import swap_pairs
from srcjax.analysis.flow.positions import Positions, between
from srcjax.analysis.types import NONE
from srcjax.transforms.call_effects import called
from srcjax.transforms.fresh import shared_roots
from srcjax.transforms.simplify.owned import Held

_KEEPING = frozenset(["append", "insert", "extend"])


def own_restored(
    node: gast.FunctionDef,
    primal: Container[str],
    held: Callable[[], Held],
    is_immutable: Callable[[gast.expr], bool],
    copied: Callable[[gast.expr], gast.expr],
    only_ask: bool = False,
) -> bool:
    """Copy what the backward sweep holds of primal arrays that it writes to, in place.

    `copied` gives the expression of a copy. Returns whether anything was copied; with
    `only_ask`, whether anything may have to be, and nothing is.
    """
    order = Order(node.body)
    restoring = [s for s in order.stmts if _restored(s) in primal]
    if not restoring:
        return False
    names = held().names
    restored = [names.get(_restored(s) or "", NONE) for s in restoring]
    changed = False

    def later(value: Any, stmt: gast.stmt) -> list[gast.stmt]:
        """What may put contents back into the memory of the value afterwards."""
        if is_immutable(value):
            return []
        buffers = held().of(stmt, value)
        found = [w for w, b in zip(restoring, restored, strict=True) if b & buffers]
        return [w for w in found if order[w].may_follow(order[stmt])]

    for stmt in order.stmts:
        mine = names.get(_restored(stmt) or "", NONE)
        if not getattr(stmt, "backward", False):
            continue
        if not only_ask and any(mine & b for b in restored):
            continue
        for holder, key in _kept_values(stmt):
            if later(holder[key], stmt):
                if only_ask:
                    return True
                holder[key] = copied(holder[key])
                changed = True
        if not isinstance(stmt, gast.Assign) or isinstance(stmt.value, _DISPLAYS):
            continue
        target = stmt.targets[0]
        if not isinstance(target, gast.Name) or target.id in primal:
            continue
        writes = later(stmt.value, stmt)
        reads = order.reads(target.id) if writes else []
        if any(between(order[stmt], order[w], order[r]) for w in writes for r in reads):
            if only_ask:
                return True
            stmt.value = copied(stmt.value)
            changed = True
    return changed


_DISPLAYS = (gast.Tuple, gast.List, gast.Dict)


def _restored(stmt: Any) -> str | None:
    """The array whose contents a backward statement overwrites.

    Or what holds the contents of several things (`restore_contents`).
    """
    if not getattr(stmt, "backward", False):
        return None
    call = getattr(stmt, "value", None)
    if isinstance(stmt, gast.Expr) and isinstance(call, gast.Call):
        if called(call) == "restore_contents":
            return min(syntax.names_read(call.args))
        return None
    if not isinstance(stmt, gast.Assign):
        return None
    target = stmt.targets[0]
    if not isinstance(target, gast.Subscript):
        return None
    return syntax.root_of(target) or None


def _kept_values(stmt: Any) -> list[tuple[Any, int]]:
    """Where a statement puts values into containers: (list of expressions, index)."""
    if swap_pairs(stmt):
        return []
    if isinstance(stmt, gast.Assign) and isinstance(
        stmt.value, (gast.Tuple, gast.List)
    ):
        return [(stmt.value.elts, k) for k in range(len(stmt.value.elts))]
    if isinstance(stmt, gast.Assign) and isinstance(stmt.value, gast.Dict):
        return [(stmt.value.values, k) for k in range(len(stmt.value.values))]
    if isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Call):
        call = stmt.value
        if getattr(call.func, "attr", "") in _KEEPING:
            return [(call.args, k) for k in range(len(call.args))]
    return []


class Order(Positions):
    """In which order statements run."""

    def reads(self, name: str) -> list[Any]:
        """The statements that read the name, or a name bound to it or a part."""
        family = self.family(name)
        return [s for s in self.stmts if syntax.names_read(syntax.head(s)) & family]

    def family(self, name: str) -> set[str]:
        """The name, and names that are bound to it or a part."""
        family = {name}
        size = 0
        while size != len(family):
            size = len(family)
            for stmt in self.stmts:
                if isinstance(stmt, gast.Assign) and shared_roots(stmt.value) & family:
                    family |= {t.id for t in stmt.targets if isinstance(t, gast.Name)}
        return family
