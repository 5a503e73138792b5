"""What every part of the pass asks of the unit that it settles."""

from __future__ import annotations

import builtins
import functools
from collections import Counter
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.binding import BoundTo
from srcjax.analysis.flow.control import is_compound
from srcjax.analysis.program import Facts, Program
from srcjax.analysis.types import Closure, Const, Type, join_all
from srcjax.frontend.unit import Unit
from srcjax.transforms.call_effects import Computes
from srcjax.transforms.inline import Inliner
from srcjax.transforms.specialise import Typer


def is_function(t: Type | None) -> bool:
    """Whether the value is a function, which code should call by what it is."""
    if isinstance(t, Const):
        bound = isinstance(t.value, BoundTo)
        return bound or callable(t.value) and not isinstance(t.value, type)
    return isinstance(t, Closure)


class SettlingBase:
    """The unit, its types, and what is written in front of a statement."""

    def __init__(self, program: Program, unit: Unit, recursive: set[int]) -> None:
        self.program = program
        self.facts: Facts = program.facts
        self.unit = unit
        self.recursive = recursive
        self.inliner = Inliner(program, unit)
        self.changed = False
        #: Whether `x op= v` of an unknown `x` is left for later, and whether one was.
        self.patient = False
        self.waiting = False
        #: What must stand before the loop that is rewritten.
        self.before: list[gast.stmt] = []
        #: Iterators that the loop takes items from, and the targets of the items.
        self.as_they_come: list[tuple[gast.expr, gast.expr]] = []
        self.typer = Typer(program, unit)

    def block(self, stmts: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        taken = False
        for at, stmt in enumerate(stmts):
            if taken:
                taken = False
                continue
            handed = self.handed(stmts, at)
            taken = handed is not None
            new = self.statement(stmt) if handed is None else handed
            for s in new:
                if getattr(s, "user_line", None) is None:
                    s.user_line = getattr(stmt, "user_line", None)
                if getattr(s, "lineno", None) is None:
                    gast.copy_location(s, stmt)
            unfolded: frozenset = getattr(stmt, "unfolded", frozenset())
            for s in syntax.all_statements(new) if unfolded else ():
                s.unfolded = unfolded | getattr(s, "unfolded", unfolded)
            out.extend(new)
        return out

    def statement(self, stmt: gast.stmt) -> list[gast.stmt]:
        if not isinstance(stmt, gast.Return) and self.facts.lists:
            made = self.arrays_of_lists(stmt)
            if made:
                self.changed = True
                return [*made, stmt]
        plain = self.on_blocks if is_compound(stmt) else None
        handler = getattr(self, f"on_{type(stmt).__name__}", plain)
        found: list[gast.stmt] = handler(stmt) if handler is not None else [stmt]
        return found

    def handed(self, stmts: list[gast.stmt], at: int) -> list[gast.stmt] | None:
        """What stands for a statement and the one behind it."""
        raise NotImplementedError

    def on_blocks(self, stmt: gast.stmt) -> list[gast.stmt]:
        """A statement with blocks, of which nothing but they change."""
        raise NotImplementedError

    def arrays_of_lists(self, stmt: gast.stmt) -> list[gast.stmt]:
        """Arrays of the lists among the operands of a statement."""
        raise NotImplementedError

    # What is asked often of the whole unit, as it was before the pass: what a pass puts
    # in place has names of its own, and is settled by the next one.

    @functools.cached_property
    def bindings(self) -> Counter[str]:
        """How often each name is bound."""
        return syntax.binding_counts(self.unit.node)

    @functools.cached_property
    def written(self) -> set[str]:
        """The names that are bound, by updates too."""
        return syntax.names_written(self.unit.node)

    @functools.cached_property
    def given_values(self) -> dict[str, list[gast.expr]]:
        """What is assigned to each name."""
        found: dict[str, list[gast.expr]] = {}
        for stmt in syntax.all_statements(self.unit.node.body):
            if isinstance(stmt, gast.Assign) and syntax.is_name(stmt.targets[0]):
                found.setdefault(stmt.targets[0].id, []).append(stmt.value)
        return found

    @functools.cached_property
    def only_computes(self) -> Computes:
        """Whether an expression does nothing but give its value."""
        return Computes(self.program, self.unit)

    def type_before(self, stmt: gast.stmt, name: str) -> Type | None:
        """The join of what the name was when the statement was reached."""
        return join_all(v.before[name] for v in self.facts.of(stmt) if name in v.before)

    def type_after(self, stmt: gast.stmt, name: str) -> Type | None:
        """The join of what the name was when the statement had been executed."""
        return self.facts.type_after(stmt, name)

    def is_range(self, node: gast.expr) -> bool:
        return isinstance(node, gast.Call) and self.is_builtin(node.func, "range")

    def is_builtin(self, node: gast.expr, *names: str) -> bool:
        """Whether the expression is one of Python's own functions of these names."""
        if not isinstance(node, gast.Name) or node.id not in names:
            return False
        try:
            value = self.program.look(self.unit, node.id)
        except KeyError:
            return False
        return value is getattr(builtins, node.id)

    def atom_type(self, stmt: gast.stmt, node: gast.expr) -> Type | None:
        return self.type_before(stmt, node.id) if isinstance(node, gast.Name) else None

    def value_around(self, name: str) -> Any:
        """What a name means that is none of the function's own; else None."""
        if name in self.written or name in self.unit.parameters:
            return None
        try:
            return self.program.look(self.unit, name)
        except KeyError:
            return None

    def fresh(self, base: str, varying: bool = True) -> str:
        """A temporary."""
        id: str = self.unit.names.fresh(base)
        self.unit.temps.add(id)
        if varying:
            self.unit.varying.add(id)
        return id
