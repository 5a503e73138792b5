"""Values that rules ask for, where the function has names for them.

    c = np.cos(yaw)                          c = np.cos(yaw)
    s = np.sin(yaw)                          s = np.sin(yaw)
    dyaw += ds * np.cos(yaw)      is         dyaw += ds * c

In a loop `c` is saved then, in place of `yaw`. A name stands for a value if it is bound
once, in the block of the statement that is differentiated, and what it is made of is
the same there. Nothing is written to either.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import all_buffers, is_number
from srcjax.ops.record import Op
from srcjax.transforms.call_effects import called, is_pure
from srcjax.transforms.writer import Writer


class KnownValues:
    """The values of elementwise functions of names, in one function."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        #: By statement: the names of values of the same operand, by their text.
        self.beside: dict[int, dict[str, str]] = {}
        body = writer.unit.node.body
        if any(isinstance(s, gast.Try) for s in syntax.all_statements(body)):
            return  # a name may be left unbound
        calls = [s for s in syntax.all_statements(body) if self.operand(s)]
        operands = Counter(self.operand(s) for s in calls)
        if not any(times > 1 for times in operands.values()):
            return
        self.bound = Counter(
            n.id
            for n in syntax.names_in(writer.unit.node)
            if not isinstance(n.ctx, gast.Load)
        )
        self.written = writer.program.facts.written()
        for block in list(syntax.blocks(body)):
            self.block(block)

    def block(self, stmts: list[Any]) -> None:
        """Find the values of one operand that a block computes, until it changes."""
        groups: dict[str, list[Any]] = {}
        for stmt in stmts:
            operand = self.operand(stmt)
            if operand and self.stays(operand):
                groups.setdefault(operand, []).append(stmt)
            for name in syntax.names_written(stmt):
                self.close(groups.pop(name, []))
        for group in groups.values():
            self.close(group)

    def close(self, group: list[Any]) -> None:
        """Note the names of values that were computed of the same."""
        if len(group) < 2:
            return
        named = {
            syntax.text(s.value): s.targets[0].id
            for s in reversed(group)
            if self.bound[s.targets[0].id] == 1 and self.stays(s.targets[0].id)
        }
        for stmt in group:
            self.beside[id(stmt)] = named

    def stays(self, name: str) -> bool:
        """Whether nothing is written to what the name holds."""
        t = self.writer.type_of_name(name)
        buffers = all_buffers(t)
        return is_number(t) or bool(buffers) and not buffers & self.written

    def operand(self, stmt: Any) -> str:
        """`x` of `y = np.sin(x)`; empty for other statements."""
        if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
            return ""
        target, value = stmt.targets[0], stmt.value
        if not isinstance(target, gast.Name) or not isinstance(value, gast.Call):
            return ""
        if len(value.args) != 1 or value.keywords or not is_pure(value):
            return ""
        callees = self.writer.program.facts.callees.get(id(value), [])
        plain = len(callees) == 1 and isinstance(callees[0], Op)
        if not plain or not callees[0].elementwise or not called(value):
            return ""
        operand: str = getattr(value.args[0], "id", "")
        return "" if operand == target.id else operand

    def named(self, stmt: gast.stmt, value: gast.expr) -> gast.expr:
        """The expression with names where the function has them."""
        known = self.beside.get(id(stmt))
        if not known:
            return value

        def name(node: Any) -> Any:
            found = (
                known.get(syntax.text(node)) if isinstance(node, gast.Call) else None
            )
            return node if found is None else syntax.name(found)

        return syntax.map_expressions(value, name)


__all__ = ["KnownValues"]
