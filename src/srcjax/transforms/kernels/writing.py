"""What all writers of a kernel's statements know: types, names, operations."""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    NONE,
    UNKNOWN,
    Array,
    Buffers,
    Const,
    Scalar,
    Tuple,
    Type,
    ageless_buffers,
    all_buffers,
    is_number,
    rank_of,
    replace,
)
from srcjax.frontend.unit import Unit
from srcjax.transforms.kernels.accepted import NotCompiled
from srcjax.transforms.kernels.numbers import Numbers
from srcjax.transforms.kernels.operations import Operations, constant
from srcjax.transforms.specialise import Typer


def is_array_type(t: Type) -> bool:
    """Whether a value may be looked at by another array."""
    return not is_number(t) and not isinstance(t, (Const, Tuple))


def with_sizes(types: dict[str, Type], used: dict[str, Type]) -> dict[str, Type]:
    """The types, with sizes that are only known where names are used."""
    found = dict(types)
    for name, t in types.items():
        there = used.get(name)
        if isinstance(t, Array) and isinstance(there, Array) and t.shape is not None:
            found[name] = replace(t, shape=there.shape or t.shape)
    return found


class Writing:
    """Types, names and operations of a unit in core form."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program = program
        self.unit = unit
        self.typer = Typer(program, unit)
        self.types = with_sizes(program.types_of(unit), program.types_where_used(unit))
        self.bound = syntax.names_written(unit.node.body) | set(unit.parameters)
        #: Whether arrays without axes are taken for numbers.
        self.no_axes = False
        self.known: syntax.ByNode[Type] = syntax.ByNode()
        self.operations = Operations(program.facts.callees, self.type_of)
        self.numbers = Numbers(
            self.type_of, self.operations, self.bound.__contains__, self.fresh
        )
        #: How often the value of each name is read or updated, in all of the unit.
        self.uses: Counter[str] = syntax.use_counts(unit.node)
        #: Views of which the last axis goes through memory in steps.
        self.strided: set[str] = set()
        #: Whether kernels are for a CPU. It reads what is together, and computes some
        #: at once: strided views are copied that are gone through often. On a GPU the
        #: iterations of a loop have to be independent of each other.
        self.on_cpu = False
        #: Lists that were made in the kernel.
        self.lists: set[str] = set()
        #: Lists of what is known by value, of which nothing has to be kept.
        self.descriptions: set[str] = set()
        #: What statements stand for (`spelled`), with them, by their identity.
        self.spelled: dict[int, tuple[Any, list[Any] | None]] = {}
        #: For a tape of displays, the lists that its parts are kept in.
        self.tapes_of: dict[str, Any] = {}
        #: Arrays of the items of lists of numbers, by the name of the list.
        self.items_of: dict[str, str] = {}
        self.numbers.items_of = self.items_of
        #: The parts of displays that have names, each an atom.
        self.parts_of: dict[str, list[gast.expr]] = {}

    def type_of(self, node: gast.expr) -> Type:
        """The type of an expression, over all executions."""
        if isinstance(node, gast.Name) and node.id in self.bound:
            return self.types.get(node.id, UNKNOWN)
        found = self.known.get(node)
        if found is None:
            found = self.typer.type_of(node, self.types)
            if self.no_axes and isinstance(found, Array) and found.shape == ():
                found = Scalar(dtype=found.dtype)
            self.known[node] = found
        return found

    def fresh(self, base: str) -> str:
        """A new name, which may be nested away again."""
        name = self.unit.names.fresh(base)
        self.bound.add(name)
        self.unit.temps.add(name)
        return name

    def made_of(self, base: str, t: Type, reads: int = 1) -> str:
        """A new name for a value of this type, which is read."""
        name = self.fresh(base)
        self.types[name] = t
        self.uses[name] += reads
        return name

    def refuse(self, stmt: Any, reason: str) -> NotCompiled:
        return NotCompiled(stmt, reason)

    def rank_of(self, node: gast.expr) -> int | None:
        """How many axes an array has."""
        return rank_of(self.type_of(node))

    def option(self, node: gast.expr | None, default: Any) -> Any:
        """The value of an argument, ... if it is not known."""
        if node is None:
            return default
        return constant(self.type_of(node))

    def take_as_numbers(self, but: set[str]) -> None:
        """Take arrays without axes, as `np.where` gives of numbers, for the numbers.

        Args:
            but: names that are given to others, who ask what they are.
        """
        self.no_axes = True
        for name in self.bound - but - set(self.unit.parameters):
            t = self.types.get(name)
            if isinstance(t, Array) and t.shape == () and not t.active:
                written = ageless_buffers(self.program.facts.written())
                if not ageless_buffers(all_buffers(t)) & written:
                    self.types[name] = Scalar(dtype=t.dtype)

    def is_description(self, t: Type) -> bool:
        """Whether it is known by value, and no number: `x.dtype`, `np.newaxis`."""
        return isinstance(t, Const) and not is_number(t)

    def is_call(self, node: Any, function: Any) -> bool:
        """Whether the expression is a call of a builtin."""
        if not isinstance(node, gast.Call) or node.keywords:
            return False
        owner = self.type_of(node.func)
        return isinstance(owner, Const) and owner.value is function

    def changes_later(self, stmt: Any, t: Type) -> bool:
        """Whether a view that a statement makes may show what is written later.

        A copy is as good as a view where nobody writes to the memory afterwards.
        """
        arrays = [n for n in syntax.walk(stmt.value) if isinstance(n, gast.Name)]
        if all(map(self.is_handed_over, arrays)):
            return False
        shown = ageless_buffers(all_buffers(t))
        if not shown & NONE.union(*map(self.buffers_of, arrays)):
            return False
        own = getattr(stmt, "origin", id(stmt))

        def writes(stmts: list[Any]) -> bool:
            written = self.program.facts.written_by(syntax.walk(stmts))
            return bool(shown & written)

        def later(block: list[Any]) -> bool | None:
            """Of a block that has the statement; None of others."""
            for k, each in enumerate(block):
                if id(each) == own:
                    return writes(block[k + 1 :])
                for inner in syntax.inner_blocks(each):
                    found = later(inner)
                    if found is None:
                        continue
                    if isinstance(each, (gast.For, gast.While)):
                        found = found or writes([each])
                    return found or writes(block[k + 1 :])
            return None

        return later(self.unit.node.body) is not False

    def is_handed_over(self, node: gast.Name) -> bool:
        """Whether nobody else reads an array, which was computed, so that it is new."""
        if not is_array_type(self.type_of(node)):
            return True
        bindings = [
            s
            for s in syntax.walk(self.unit.node.body)
            if isinstance(s, gast.Assign) and node.id in syntax.names_written(s)
        ]
        computed = len(bindings) == 1 and isinstance(bindings[0].value, gast.BinOp)
        return computed and syntax.count_reads(self.unit.node, node.id) == 1

    def buffers_of(self, node: gast.expr) -> Buffers:
        """The memory that a value may be in."""
        return ageless_buffers(all_buffers(self.type_of(node)))
