"""Arrays that names walk over: their adjoints are made in the forward sweep.

    m = A.copy()                     m = A.copy()
                                     dm = np.zeros_like(m)
    row = m[0]                       row = m[0]
                                     drow = dm[0]
    for i in range(3):               for i in range(3):
        row *= s                         row *= s
        row = m[i]                       row_tape.append(row)
                                         drow_tape.append(drow)
                                         row = m[i]
                                         drow = dm[i]

Where a name is bound to one view after the other, no single expression of the adjoint
of `m` is its adjoint. So the adjoint is a value of the forward sweep like the array: it
is bound where the array is, to the same view, and kept for the backward sweep as all
that is overwritten. Whatever shares memory shares its adjoint then, as it should.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import swap_pairs
from srcjax.analysis.types import (
    NONE,
    UNKNOWN,
    Array,
    Buffers,
    List,
    Tuple,
    ageless_buffers,
    all_buffers,
    is_active,
    site_of,
)
from srcjax.errors import SrcjaxError
from srcjax.ops.record import Op
from srcjax.transforms.writer import DerivativeWriter

#: Stands for the name that a definition takes a view of, where it makes an array.
MADE = ""


class Unfollowed(Exception):
    """No single expression is the adjoint of what a name stands for.

    `error` is raised where its adjoint cannot be made in the forward sweep either.
    """

    def __init__(self, error: Exception, memory: Buffers) -> None:
        super().__init__(str(error))
        self.error = error
        self.memory = memory


class Shadows:
    """The names of such arrays, their adjoints, and what binds these."""

    def __init__(self, rules: DerivativeWriter) -> None:
        self.rules = rules
        self.memory: Buffers = NONE
        self.error: Exception | None = None
        #: The memory of the adjoints.
        self.own_memory: Buffers = NONE
        #: Adjoint variables by name.
        self.names: dict[str, str] = {}
        #: What a definition binds the adjoint to, by its statement.
        self.made: dict[int, gast.Assign] = {}
        #: Definitions that make the memory, and do not take it from another name.
        self.fresh: set[int] = set()

    def add(self, fault: Unfollowed, view_base: Any) -> None:
        """Make the adjoints of all that shares the memory; the error if that fails."""
        self.error = fault.error
        if not self.can_add(fault.memory, view_base):
            raise fault.error from None

    def can_add(self, memory: Buffers, view_base: Any) -> bool:
        """Make the adjoints of all that shares the memory; False if that cannot be."""
        self.memory |= memory
        found = self.closure(self.memory)
        if found is None or not found - set(self.names):
            return False
        links: list[tuple[gast.Assign, str, gast.expr] | None] = []
        for stmt in syntax.walk(self.rules.unit.node.body):
            if isinstance(stmt, gast.stmt):
                for part in syntax.head(stmt):
                    if isinstance(part, gast.AugAssign):
                        continue  # of an array, in place
                    if syntax.names_written(part) & found:
                        links.append(self.link(part, found, view_base))
        if None in links:
            return False
        for name in sorted(found - set(self.names)):
            base = self.rules.unit.base_names.get(name, name)
            shadow = self.rules.unit.names.fresh(syntax.adjoint_name(base))
            self.names[name] = shadow
            t = self.rules.types[name]
            memory = frozenset(("adjoint of", b) for b in ageless_buffers(t.buffers))
            plain = self.rules.plain_type(t)
            self.own_memory |= memory
            self.rules.types[shadow] = replace(plain, buffers=memory)
        self.made.clear()
        self.fresh.clear()
        for stmt, root, view in filter(None, links):
            target = stmt.targets[0].id
            if root == MADE:
                self.fresh.add(id(stmt))
            adjoint = syntax.name(target if root == MADE else self.names[root])
            value = syntax.substitute(view, {"__root": adjoint})
            self.made[id(stmt)] = syntax.assign(self.names[target], value)
        return True

    @property
    def given(self) -> list[str]:
        """Parameters among the names: their adjoints start with the function."""
        return [n for n in self.rules.unit.parameters if n in self.names]

    def start(self) -> list[gast.stmt]:
        """What makes the adjoints of parameters."""
        return [
            syntax.assign(self.names[n], syntax.call("np.zeros_like", syntax.name(n)))
            for n in self.given
        ]

    def refuse_given(self) -> None:
        """What a caller gives has an adjoint of the caller's."""
        if self.given and self.error is not None:
            raise self.error from None

    def update_whole(self, code: list[gast.stmt]) -> None:
        """`dx[...] += v` as `dx += v`: an array, so that it is the same.

        What is to be kept is planned by then: it has to know that `dx` is read.
        """
        for stmt in syntax.walk(code):
            target = getattr(stmt, "target", None)
            if isinstance(stmt, gast.AugAssign) and isinstance(target, gast.Subscript):
                whole = isinstance(target.slice, gast.Constant)
                whole = whole and target.slice.value is ...
                if whole and getattr(target.value, "id", "") in self.names.values():
                    stmt.target = syntax.name(target.value.id, store=True)

    def closure(self, memory: Buffers) -> set[str] | None:
        """The arrays that may share the memory; None if something else does."""
        rules = self.rules
        found: set[str] = set()
        size = -1
        while size != len(found):
            size = len(found)
            for name, t in rules.types.items():
                if not all_buffers(t) & memory or name in self.names.values():
                    continue
                if isinstance(t, (List, Tuple)) and self.is_operand(name):
                    continue
                if not isinstance(t, Array) or t.shape == () or not is_active(t):
                    return None
                found.add(name)
                memory = ageless_buffers(memory | t.buffers)
        for node in syntax.walk(rules.unit.node.body):
            inner = isinstance(node, (gast.FunctionDef, gast.Lambda, gast.ClassDef))
            if inner and syntax.all_names(node) & found:
                return None
        return found

    def is_operand(self, name: str) -> bool:
        """Whether a container of arrays only goes to operations: `concatenate([v, w])`.

        Its adjoint is that of its items then, as long as nothing is written in between.
        """
        rules = self.rules
        reads = 0
        for stmt in syntax.walk(rules.unit.node.body):
            if isinstance(stmt, gast.Assign) and isinstance(stmt.value, gast.Call):
                callees = rules.facts.callees.get(id(stmt.value), [])
                if callees and all(isinstance(c, Op) for c in callees):
                    reads += syntax.count_reads(stmt.value, name)
        return reads == syntax.count_reads(rules.unit.node, name)

    def link(
        self, stmt: Any, found: set[str], view_base: Any
    ) -> tuple[gast.Assign, str, gast.expr] | None:
        """The definition of a name, the name that it is a view of (or MADE), the view.

        The view is of `__root`: of the adjoint of that name, or like the array itself.
        """
        rules = self.rules
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        if not isinstance(target, gast.Name) or len(stmt.targets) > 1:
            return None
        if swap_pairs(stmt):
            return None
        before, after = NONE, NONE
        for variant in rules.facts.of(stmt):
            after |= ageless_buffers(all_buffers(variant.after.get(target.id, UNKNOWN)))
            for name in syntax.names_read(stmt.value) & found:
                t = variant.before.get(name, UNKNOWN)
                before |= ageless_buffers(all_buffers(t))
        here = {id(n) for n in syntax.walk(stmt)}
        own = {b for b in after if site_of(b) in here}
        if own == after:
            return stmt, MADE, syntax.call("np.zeros_like", syntax.name("__root"))
        if own or not after <= before:
            return None
        rules.stmt = stmt
        try:
            base = view_base(rules, stmt.value, {})
        except SrcjaxError:
            return None
        if base is None or base[0] not in found:
            return None
        return stmt, base[0], base[1]


__all__ = ["Shadows", "Unfollowed"]
