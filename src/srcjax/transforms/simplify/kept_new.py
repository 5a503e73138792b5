"""Values that have to be new although nothing is left to compute: `v * 1.0` is a copy.

Before:                          After:

    p = v[0] * 1.0                   p = v[0].copy()
    v *= s                           v *= s

Where nothing is written to the memory while both are in use, `p` is `v[0]` itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.positions import between
from srcjax.analysis.types import NONE, Buffers
from srcjax.transforms.call_effects import written_bases
from srcjax.transforms.fresh import is_fresh, is_new_array, shared_roots
from srcjax.transforms.simplify.kin import may_be_one_of
from srcjax.transforms.simplify.restored import Order


def dropped(before: Any, after: Any) -> list[gast.expr]:
    """The parts that were new values, and are (views of) what is there already."""
    if isinstance(before, gast.Call) and isinstance(after, gast.Call):
        if is_new_array(after):
            return []  # it only looks at its operands
        pairs = list(zip(before.args, after.args, strict=False))
    elif isinstance(before, (gast.Tuple, gast.List)) and type(before) is type(after):
        pairs = list(zip(before.elts, after.elts, strict=False))
    elif isinstance(before, gast.Dict) and isinstance(after, gast.Dict):
        pairs = list(zip(before.values, after.values, strict=False))
    else:
        return [after] if is_fresh(before) and not is_fresh(after) else []
    return [part for pair in pairs for part in dropped(*pair)]


class KeptNew:
    """Whether writes in place tell an operand from a new array with its value."""

    def __init__(
        self,
        node: gast.FunctionDef,
        shares: Callable[[str], set[str]],
        memory: Callable[[], Mapping[str, Buffers]],
        is_container: Callable[[str], bool],
        owns_later: bool,
    ) -> None:
        self.order = Order(node.body)
        self.shares = shares
        self.is_container = is_container
        #: Whether passes that follow copy what adjoints and gradients start from.
        self.owns_later = owns_later
        self.node, self.memory = node, memory
        heads = [(stmt, written_bases(syntax.head(stmt))) for stmt in self.order.stmts]
        self.writes = [(stmt, bases) for stmt, bases in heads if bases]

    @functools.cached_property
    def outside(self) -> set[str]:
        """Names of what is there before the function is called."""
        memory = self.memory()
        parameters = syntax.names_written(self.node.args)
        given = NONE.union(*(memory.get(n, NONE) for n in parameters))
        read, bound = syntax.names_of_both_kinds(self.node.body)
        held = {n for n, buffers in memory.items() if buffers & given}
        return (read - bound) | held | parameters

    def must_be_new(self, stmt: Any, parts: list[gast.expr]) -> bool:
        """Whether it shows that the parts of the value are no new arrays."""
        roots: set[str] = set().union(*map(shared_roots, parts))
        later = self.owns_later and getattr(stmt, "backward", False)
        if isinstance(stmt, gast.Return):
            return not later and (bool(roots & self.outside) or self.meet(stmt, roots))
        if not self.writes:
            return False
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        if isinstance(target, gast.Name) and not isinstance(stmt.value, _DISPLAYS):
            written = set().union(*(bases for _, bases in self.writes))
            if later and not may_be_one_of(self.shares, roots, written):
                return False
            family = roots.union(*map(self.shares, roots))
            mine = self.order.family(target.id)
            if self.changed(stmt, family - mine, mine):
                return True
            return not later and self.changed(stmt, mine - family, family - mine)
        return any(
            not all(map(self.is_container, bases))
            for write, bases in self.writes
            if self.order[write].may_follow(self.order[stmt])
        )

    def meet(self, stmt: gast.Return, roots: set[str]) -> bool:
        """Whether two parts of the result would be (parts of) one array."""
        displays = [stmt.value]
        found: list[str] = []
        while displays:
            part: Any = displays.pop()
            if isinstance(part, (gast.Tuple, gast.List)):
                displays += part.elts
            elif isinstance(part, gast.Dict):
                displays += part.values
            else:
                found += shared_roots(part) & roots
        return len(set(found)) < len(found)

    def changed(self, stmt: Any, written: set[str], read: set[str]) -> bool:
        """Whether a write through some names may come before a read of others."""
        order = self.order
        writes = [w for w, bases in self.writes if bases & written]
        if not writes:
            return False
        if read & self.outside and any(
            order[w].may_follow(order[stmt]) for w in writes
        ):
            return True
        reads = [s for s in order.stmts if syntax.names_read(syntax.head(s)) & read]
        return any(
            between(order[stmt], order[w], order[r]) for w in writes for r in reads
        )


_DISPLAYS = (gast.Tuple, gast.List, gast.Dict)
