"""Arrays that are made anew in each iteration, told from those of earlier ones.

    for t in range(n):
        new = u.copy()
        new[1:-1] = f(u)
        u = new

Inference has one name for all the arrays that one line makes, so `u` and `new` seem to
share memory. But what an iteration writes is the array that it has made, and `u` was
bound before that.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.swaps import swap_pairs
from srcjax.analysis.types import Array, List, Unknown, site_of
from srcjax.transforms.reverse.plan import Planning, Where
from srcjax.transforms.reverse.reads_writes import written_name


class Recency(Planning):
    """Orders bindings by the making of what is written; a part of `Planner`."""

    def holds_older(self, name: str, read: Where, at: Where, write: Any) -> bool:
        """Whether `name` at `read` cannot be the array that `write` at `at` writes.

        True if that array was made after `name` was bound, in each iteration.
        """
        if any(swap_pairs(stmt) for _, stmt in self.writes):
            return False  # names keep their buffers there, and contents move
        made = self.made_at(written_name(write), at)
        return made is not None and self.bound_before(name, read, made)

    def made_at(self, name: str, at: Where) -> Where | None:
        """Where the array was made that `name` is at `at`, if that is one place."""
        if len(self.defs.get(name, ())) != 1:
            return None
        where, stmt = self.defs[name][0]
        if where.order >= at.order or not _dominates(where, at):
            return None
        t = self.rules.type_of_name(name)
        if not (isinstance(stmt, gast.Assign) and t.buffers):
            return None
        if not isinstance(t, (Array, Unknown)):
            return None
        nodes = {id(node) for node in syntax.walk(stmt)}
        if all(site_of(buffer) in nodes for buffer in t.buffers):
            return where
        if name in self.rules.views:
            return self.made_at(self.rules.views[name][0], where)
        return None

    def bound_before(
        self, name: str, read: Where, made: Where, after: bool = True
    ) -> bool:
        """Whether what `name` holds at `read` was there when `made` was reached.

        `after`: once the statement at `read` has run.
        """
        if read.loops[: len(made.loops)] != made.loops:
            return False
        inner = read.loops[len(made.loops) :]
        if self.may_get_newer(name, read, made, inner):
            return False
        for where, stmt in self.defs.get(name, ()):
            if where.order > read.order or (where.order == read.order and not after):
                if any(loop in inner for loop in where.loops):
                    return False  # carried round a loop that is inside the iteration
            elif where.order >= made.order and not self.copies_older(stmt, where, made):
                return False
        return True

    def may_get_newer(
        self, name: str, read: Where, made: Where, inner: tuple[int, ...]
    ) -> bool:
        """Whether something may be put into what `name` is, from `made` to `read`."""
        t = self.rules.type_of_name(name)
        if isinstance(t, Array):
            return False  # numbers alone
        if isinstance(t, List):
            parts = [t.elem, *(t.items or ())]
            if not all(part is None or isinstance(part, Array) for part in parts):
                return True
        elif not isinstance(t, Unknown):
            return True
        return any(
            self.written_buffers(stmt) & t.buffers
            and (
                made.order <= at.order <= read.order
                or any(loop in inner for loop in at.loops)
            )
            and self.made_at(written_name(stmt), at) != made
            for at, stmt in self.writes
        )

    def copies_older(self, stmt: Any, where: Where, made: Where) -> bool:
        """Whether the statement binds (a view of) what was there before `made`."""
        if not isinstance(stmt, gast.Assign) or where.order == made.order:
            return False
        base = stmt.value
        while isinstance(base, (gast.Subscript, gast.Attribute)):
            base = base.value
        return isinstance(base, gast.Name) and (
            self.bound_before(base.id, where, made, after=False)
        )


def _dominates(first: Where, second: Where) -> bool:
    """Whether the first place is passed on each way to the second, in its iteration."""
    return (
        second.blocks[: len(first.blocks)] == first.blocks
        and second.loops[: len(first.loops)] == first.loops
    )
