"""The functions that generated code calls, and their names."""

from __future__ import annotations

from typing import Any

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.references import resolved
from srcjax.frontend.unit import Unit


class Callees:
    """What one transform has to write besides the function that it is given.

    `forms` are the suffixes of the functions that stand for a callee: `g_forward` and
    `g_backward`, or `g_jvp`, or `g_batch`. A callee is wanted once it is asked for by
    `names_of`.
    """

    def __init__(
        self, program: Program, names: syntax.Names, forms: tuple[str, ...]
    ) -> None:
        self.program = program
        self.names = names
        self.forms = forms
        #: Units with the names of their functions, by the identity of what they are of.
        self.wanted: dict[int, tuple[Unit, tuple[str, ...]]] = {}
        #: Whether an operation without a batch rule may become a loop.
        self.may_loop = True
        #: The function whose new form is the entry itself, if it calls itself.
        self.entry = 0
        #: Values that the generated code refers to, by name, and references to values.
        self.values: dict[str, Any] = {}

    def names_of(self, unit: Unit) -> tuple[str, ...]:
        """The names of a callee's functions, one for each of `forms`."""
        key = id(unit.source.func)
        if key not in self.wanted:
            made = [self.names.fresh(f"{unit.name}_{form}") for form in self.forms]
            self.wanted[key] = (unit, tuple(made))
        return self.wanted[key][1]

    def active(self, unit: Unit) -> list[str]:
        """The parameters that are differentiated, or mapped, in some call."""
        active = self.program.entry_active.get(id(unit.source.func), set())
        return [n for n in unit.parameters if n in active]

    def constant(self, base: str, value: Any) -> str:
        """A module-level name for a live value, or for what a reference refers to."""
        for name, known in self.values.items():
            if known is value:
                return name
        name = self.names.fresh(base)
        self.values[name] = value
        return name

    def live_values(self) -> dict[str, Any]:
        """The values that the generated code refers to."""
        return {name: resolved(value) for name, value in self.values.items()}


def recursive_functions(program: Program) -> set[int]:
    """Functions that call themselves, directly or by way of others."""
    called: dict[int, set[int]] = {}
    for node, callees in program.facts.callees.items():
        for callee in callees:
            function = getattr(callee, "function", callee)
            function = getattr(function, "__func__", function)
            if id(function) in program.units:
                called.setdefault(node, set()).add(id(function))
    if not called:
        return set()
    calls: dict[int, set[int]] = {}
    reached = program.facts.reached
    for key, unit in program.units.items():
        if id(unit) not in reached:
            continue
        found = (called.get(id(node), ()) for node in syntax.walk(unit.node))
        calls[key] = set().union(*found)
    recursive = set()
    for key in calls:
        seen: set[int] = set()
        todo = list(calls[key])
        while todo:
            other = todo.pop()
            if other not in seen:
                seen.add(other)
                todo.extend(calls.get(other, ()))
        if key in seen:
            recursive.add(key)
    return recursive


__all__ = ["Callees", "recursive_functions"]
