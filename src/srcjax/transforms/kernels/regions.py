"""Which statements of a function become kernels, and the Python between them.

    for i in range(len(params)):          for i in range(len(params)):
        W, b = params[i]                      W, b = params[i]
        product = x @ W                       x = f_kernel(x, W, b)
        total = product + b         ->    ...
        x = np.tanh(total)

A kernel is a run of statements that stand after each other and are all accepted. One
that computes only one thing of each element is left to NumPy, and so is one that saves
less time than it takes to compile it (`worth`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import (
    bound_before,
    exposed,
    surely_in,
)
from srcjax.analysis.flow.control import has_break
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
    Range,
    Tuple,
    ageless_buffers,
    all_buffers,
)
from srcjax.frontend.unit import Unit
from srcjax.transforms.kernels.accepted import (
    NotCompiled,
    is_kernel_array,
    is_kernel_number,
)
from srcjax.transforms.kernels.groups import Group, Plain, grouped
from srcjax.transforms.kernels.rows import root
from srcjax.transforms.kernels.statements import KernelWriter
from srcjax.transforms.kernels.worth import Times, compiling, is_won_back
from srcjax.transforms.kernels.wrapping import (
    Kernel,
    bound_in,
    bound_results,
    kernel_of,
)


@dataclass
class Stays:
    """A statement that stays Python, and why."""

    stmt: Any
    reason: str


@dataclass
class Partition:
    """The body of the function that calls the kernels."""

    body: list[gast.stmt]
    kernels: list[gast.FunctionDef] = field(default_factory=list)
    outside: dict[str, Any] = field(default_factory=dict)
    stays: list[Stays] = field(default_factory=list)


class Regions:
    """Cuts a function into kernels and the Python between them."""

    def __init__(self, program: Program, unit: Unit, on_cpu: bool) -> None:
        self.program = program
        self.unit = unit
        self.writer = KernelWriter(program, unit)
        self.writer.numbers.may_leave = False
        self.writer.numbers.may_raise = self.writer.on_cpu = on_cpu
        self.on_cpu = on_cpu
        self.found = Partition([])
        self.types = self.writer.types
        given = [self.types.get(name, UNKNOWN) for name in unit.parameters]
        writer = self.writer
        self.times = Times(writer.type_of, writer.operations.of, given)
        #: How often the block that is looked at runs in a call.
        self.trips = 1.0

    def partition(self) -> Partition:
        """The kernels, and what calls them."""
        self.check_lengths()
        self.found.body = self.block(self.unit.node.body)
        return self.found

    def check_lengths(self) -> None:
        """Raise NotCompiled where a length is asked of what may have none.

        Loops over what is not known are loops over places in core form.
        """
        for node in syntax.walk(self.unit.node.body):
            if isinstance(node, gast.Assign) and isinstance(node.value, gast.Call):
                made_by = getattr(self.writer.type_of(node.value.func), "value", None)
                made = isinstance(made_by, type) and hasattr(made_by, "__next__")
                (target,) = node.targets
                if made and syntax.count_reads(self.unit.node.body, root(target)):
                    raise NotCompiled(node, "an iterator is not known in kernels")
            if isinstance(node, gast.Call) and syntax.is_name(node.func, "len"):
                t = self.writer.type_of(node.args[0]) if node.args else UNKNOWN
                known = isinstance(t, Const) and hasattr(t.value, "__len__")
                if not (known or isinstance(t, (Array, List, Tuple, Dict, Range))):
                    raise NotCompiled(node, "it is not known what is looped over")

    def block(self, stmts: list[Any]) -> list[Any]:
        """The statements of a block, with kernels in the place of runs."""
        out: list[Any] = []
        run: list[Any] = []
        for stmt in stmts:
            reason = self.refusal(stmt)
            if reason is None:
                run.append(stmt)
                continue
            out += self.kernels(run)
            run = []
            out.append(self.inside(stmt, reason))
        return out + self.kernels(run)

    def inside(self, stmt: Any, reason: str) -> Any:
        """A statement that stays, with kernels in its blocks."""
        if isinstance(stmt, (gast.For, gast.While)):
            before = self.trips
            self.trips *= self.times.trips(stmt)
            rebuilt = syntax.rebuilt(stmt, self.block)
            self.trips = before
            return rebuilt
        if isinstance(stmt, gast.If):
            return syntax.rebuilt(stmt, self.block)
        if not isinstance(stmt, (gast.Return, gast.Break, gast.Pass)):
            self.found.stays.append(Stays(stmt, reason))
        return stmt

    def refusal(self, stmt: Any) -> str | None:
        """Why a statement cannot be in a kernel; None if it can."""
        if isinstance(stmt, (gast.Return, gast.Break)):
            return "it leaves a block"
        if isinstance(stmt, gast.If) and has_break(gast.While(stmt.test, [stmt], [])):
            return "it leaves a loop"
        try:
            self.writer.block([_copied(stmt)])
        except NotCompiled as stays:
            return stays.reason
        return None

    def kernels(self, run: list[Any]) -> list[Any]:
        """A run of statements as a kernel, or as few as can be."""
        if not run or not self.is_worth_it(run):
            return run
        try:
            kernel, call = self.region(run)
        except NotCompiled as stays:
            where = getattr(stays.stmt, "origin", id(stays.stmt))
            at = next((k for k, s in enumerate(run) if _holds(s, where)), len(run))
            if at == len(run):
                self.found.stays += [Stays(s, stays.reason) for s in run]
                return run
            stay = self.inside(run[at], stays.reason)
            return [*self.kernels(run[:at]), stay, *self.kernels(run[at + 1 :])]
        self.found.kernels.append(kernel.node)
        self.found.outside |= kernel.outside
        return call

    def is_worth_it(self, run: list[Any]) -> bool:
        """Whether a call of a kernel is faster than the statements by enough."""
        if any(isinstance(s, (gast.For, gast.While)) for s in syntax.walk(run)):
            return True
        items = grouped(self.writer.items(list(map(_copied, run))), self.on_cpu)
        groups = [g for g in items if isinstance(g, Group)]
        if len(groups) < 3 and all(len(g.members) < 2 for g in groups):
            return False
        return not self.on_cpu or self.wins_back(run, items)

    def wins_back(self, run: list[Any], items: list[Group | Plain]) -> bool:
        """Whether a kernel of a run saves as much as it takes to compile it."""
        made = bound_in(run, self.types)
        given = exposed(run) & self.writer.bound - made
        arrays = [
            sum(is_kernel_array(self.types.get(n, UNKNOWN)) for n in names)
            for names in (given, {n for n in made if self.is_read_outside(n, run)})
        ]
        saves = self.trips * self.times.saved(items, *arrays)
        return is_won_back(saves, compiling(items), self.call)

    @functools.cached_property
    def call(self) -> float:
        """The seconds of a call without kernels, about."""
        return self.times.of(self.unit.node.body)

    def is_read_outside(self, name: str, run: list[Any]) -> bool:
        """Whether a name is read where the run is not."""
        return self.writer.uses[name] > syntax.count_uses(run, name)

    def region(self, run: list[Any]) -> tuple[Kernel, list[gast.stmt]]:
        """The kernel of a run, and what calls it. Raises NotCompiled."""
        writer = self.writer
        writer.lists = set()
        writer.numbers.indexed.clear()
        outputs = self.outputs(run)
        stmts = list(map(_copied, run))
        inputs = exposed(run) & writer.bound
        inputs |= {n for n in outputs if n not in surely_in(run)}
        self.check_inputs(run, inputs)
        body = writer.block(stmts)
        values = [syntax.name(n) for n in outputs]
        if values:
            value = values[0] if len(values) == 1 else gast.Tuple(values, syntax.LOAD)
            body.append(gast.Return(value))
        kernel = kernel_of(writer, body, self.ordered(inputs))
        return kernel, bound_results(kernel.call, outputs, self.types)

    def outputs(self, run: list[Any]) -> list[str]:
        """The names that a run binds and others read. Raises NotCompiled."""
        inside = syntax.use_counts(run)
        found = []
        made = {id(n) for n in syntax.walk(run)}
        for name in self.ordered(bound_in(run, self.types)):
            outside = self.writer.uses[name] > inside[name]
            if not outside and not self.is_carried(name, run):
                continue
            t = self.types.get(name, UNKNOWN)
            where = next(s for s in run if name in bound_in([s], self.types))
            if not (is_kernel_number(t) or is_kernel_array(t)):
                raise NotCompiled(where, f"`{name}` is no number or array")
            memory = ageless_buffers(all_buffers(t))
            if isinstance(t, Array) and not all(b in made for b in memory):
                raise NotCompiled(where, f"`{name}` is memory from around the kernel")
            found.append(name)
        return found

    def is_carried(self, name: str, run: list[Any]) -> bool:
        """Whether the run reads a name from an earlier iteration."""
        return name in exposed(run)

    def check_inputs(self, run: list[Any], inputs: set[str]) -> None:
        """Raise NotCompiled unless a kernel can be given all of these."""
        bound = bound_before(self.unit.node.body, run[0]) | set(self.unit.parameters)
        for name in inputs:
            t = self.types.get(name, UNKNOWN)
            where = next((s for s in run if name in syntax.all_names(s)), run[0])
            if not (is_kernel_number(t) or is_kernel_array(t)):
                raise NotCompiled(where, f"`{name}` is no number or array")
            if name not in bound:
                raise NotCompiled(where, f"`{name}` may have no value yet")

    def ordered(self, names: set[str]) -> list[str]:
        """Names in the order in which the function binds them."""
        order = [*self.unit.parameters]
        for node in syntax.walk(self.unit.node.body):
            if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store):
                order.append(node.id)
        place = {n: k for k, n in reversed(list(enumerate(order)))}
        return sorted(names, key=lambda n: (place.get(n, len(order)), n))


def _copied(stmt: Any) -> Any:
    """A copy that tells which statement it is one of."""
    copy = syntax.clone_shallow(stmt)
    copy.origin = id(stmt)
    return copy


def _holds(stmt: Any, node: int) -> bool:
    """Whether a statement has the node with this identity."""
    return any(id(n) == node for n in syntax.walk(stmt))
