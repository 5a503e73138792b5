"""What one example does that the others feel: it takes from what is one for all.

    if s > 0:
        y = next(it)      the examples that go another way find that item gone

So do a generator of random numbers, a file and a clock, and what stands around the
function: what is done to them for some examples cannot be done for all at once.
"""

from __future__ import annotations

import types as pytypes
from collections.abc import Callable, Iterable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
    Object,
    Tuple,
    Type,
    all_buffers,
    is_around,
    is_iterator,
)
from srcjax.frontend.unit import Unit, parameter_names
from srcjax.ops.record import Op
from srcjax.transforms.call_effects import (
    effect_of,
    gives_once,
    methods_asked,
    methods_of_place,
    objects_around,
    taken_from,
    written_operands,
)


class Felt:
    """Finds what the statements of a unit do that other examples feel."""

    def __init__(
        self, program: Program, unit: Unit, type_of: Callable[[Any], Type]
    ) -> None:
        self.program = program
        self.unit = unit
        self.type_of = type_of
        own = syntax.names_written(unit.node) | set(parameter_names(unit.node.args))
        #: Names from around the unit.
        self.around = syntax.names_read(unit.node) - own
        self.objects = objects_around(program, unit, own)
        #: Functions that are called, by what was found in them.
        self.inside: dict[int, bool] = {}

    def first(self, values: Iterable[Any]) -> Any:
        """The first part of the values that may do more than to write to arrays.

        Or None. Of a statement with blocks, the value is its head.
        """
        nodes = (node for value in values for node in syntax.walk(value))
        return next(filter(self.is_felt, nodes), None)

    def is_felt(self, node: Any) -> bool:
        if any(map(self.may_run_out, taken_from(node))):
            return True
        stored = isinstance(node, (gast.Subscript, gast.Attribute))
        if stored and not isinstance(node.ctx, gast.Load):
            return not self.is_of_each(node)
        if isinstance(node, gast.Call):
            return self.call(node)
        return isinstance(node, gast.expr) and self.asked(node)

    def asked(self, node: gast.expr) -> bool:
        """Whether what an attribute or operator calls of the user's is felt."""
        if effect_of(node).pure:
            return False
        callees = self.program.facts.callees.get(id(node), [])
        if callees:
            units = [self.unit_of(c) for c in callees]
            return any(u is None or self.felt_inside(u) for u in units)
        names = syntax.names_read(node) - self.around
        known = {name: self.type_of(syntax.name(name)) for name in names}
        known |= self.objects
        asked = methods_of_place(node, known)
        if not isinstance(node, gast.Name):
            asked += methods_asked(node, known)
        only = self.program.computing.only
        return not asked or not all(only(method, cls) for method, cls in asked)

    def call(self, node: gast.Call) -> bool:
        """Whether a call is felt: by what it is given, or by what it does beside it."""
        effect = effect_of(node)
        callees = self.program.facts.callees.get(id(node), [])
        if any(isinstance(c, Op) and c.collective for c in callees):
            return False  # it says itself that it needs all the examples
        units = [self.unit_of(c) for c in callees]
        followed = bool(units) and None not in units
        if followed:
            if any(self.felt_inside(u) for u in units if u is not None):
                return True
        elif not effect.contained and not (
            callees and all(map(self.only_computes, callees))
        ):
            return True
        written = [*written_operands(node), *map(syntax.name, effect.names)]
        if not all(map(self.is_of_each, written)):
            return True
        given = [*node.args, *(k.value for k in node.keywords)]
        return not all(map(takes_arrays, callees or [None])) and any(
            map(self.may_run_out, given)
        )

    def only_computes(self, callee: Any) -> bool:
        """Whether a function of the user's that is not followed does nothing else."""
        ours = callee is None or isinstance(callee, Op)
        return not ours and self.program.computing.only(callee)

    def left_over(self, loop: gast.For) -> bool:
        """Whether what a loop leaves of an iterator may be read by something else."""
        for name in syntax.names_read(loop.iter):
            if not gives_once(self.type_of(syntax.name(name))):
                continue
            made = [
                s.value
                for s in syntax.walk(self.unit.node.body)
                if isinstance(s, gast.Assign) and name in syntax.names_written(s)
            ]
            others = [n for value in made for n in sorted(syntax.names_read(value))]
            passed_on = any(gives_once(self.type_of(syntax.name(n))) for n in others)
            again = any(
                loop is not other and any(loop is s for s in syntax.walk(other))
                for other in syntax.walk(self.unit.node.body)
                if isinstance(other, (gast.For, gast.While))
            )
            if syntax.count_reads(self.unit.node, name) > 1 or passed_on or again:
                return True
        return False

    def unit_of(self, callee: Any) -> Unit | None:
        """The function that is called, if it is followed."""
        function = getattr(callee, "function", callee)
        function = getattr(function, "__func__", function)
        return self.program.units.get(id(function))

    def felt_inside(self, unit: Unit) -> bool:
        """Whether a function that is called does something that is felt."""
        if id(unit) not in self.inside:
            self.inside[id(unit)] = False  # of a function that calls itself
            types = self.program.types_of(unit)
            inner = Felt(self.program, unit, lambda node: _type_in(node, types))
            inner.inside = self.inside
            self.inside[id(unit)] = inner.first(unit.node.body) is not None
        return self.inside[id(unit)]

    def may_run_out(self, node: Any) -> bool:
        """Whether it may be an iterator, which whoever reads it takes something from.

        What stands there is none: `zip(xs, ys)` is made anew for each example.
        """
        if isinstance(node, gast.Call):
            return any(map(self.may_run_out, node.args))
        return isinstance(node, gast.Name) and gives_once(self.type_of(node))

    def is_of_each(self, node: Any) -> bool:
        """Whether what is written to is an array or a container of each example's.

        What stands around the function is one for all.
        """
        root = syntax.root_of(node)
        if not root or root in self.around:
            return False
        t = self.type_of(syntax.name(root))
        if any(map(is_around, all_buffers(t))):
            return False
        return isinstance(t, (Array, Dict, List, Object, Tuple)) and not is_iterator(t)


def takes_arrays(callee: Any) -> bool:
    """Whether it is known and takes nothing out of an iterator, as `sum` does."""
    if not isinstance(callee, Op):
        return False
    return not any(isinstance(f, pytypes.BuiltinFunctionType) for f in callee.functions)


def _type_in(node: Any, types: dict[str, Type]) -> Type:
    """The type of a name of a function that is called; of anything else, some value."""
    if isinstance(node, gast.Name):
        return types.get(node.id, UNKNOWN)
    return Const(value=None)
