"""Sums that start as a number, where each example of a batch has an array.

Before:                                 After:

    total = 0.0                             total = np.zeros_like(x)
    if x[0] > 0:                            if x[0] > 0:
        total = total + x                       total = total + x
    return np.sum(total * x)                return np.sum(total * x)

One example may have the number still where another has an array: they have no common
shape. An array of that number is as good where it is only computed with, together with
arrays of that shape, or where zeros are summed.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.sizes import Sym
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    NumberOrArray,
    Type,
    is_number,
    same_dtype,
    same_shape,
    shape_of,
    type_of,
)
from srcjax.frontend.unit import Unit
from srcjax.ops.elementwise_facts import elementwise_operation, function_named
from srcjax.ops.expand.asking import size_text
from srcjax.transforms.call_effects import called
from srcjax.transforms.simplify.factors import number_of

_OPERATORS = (gast.Add, gast.Sub, gast.Mult, gast.Div)
#: What gives zero of zeros, be they one or many, and no other number of none at all.
_OF_ZEROS = ("np.sum", "np.max", "np.min")


def fill_starts(program: Program) -> bool:
    """Rewrite the units in place; True if something changed."""
    return any([_Starts(program, unit).fill() for unit in program.reached()])


class _Starts:
    def __init__(self, program: Program, unit: Unit) -> None:
        self.facts = program.facts
        self.types = program.types_of(unit)
        self.statements = list(syntax.all_statements(unit.node.body))
        self.bound = [(s, *_bound(s)) for s in self.statements]
        bound = set(syntax.names_written(unit.node.body))
        #: Arguments that nothing else is bound to: they tell sizes.
        self.given = {n: self.types.get(n, UNKNOWN) for n in unit.parameters}
        self.given = {n: t for n, t in self.given.items() if n not in bound}
        spread = {n for n, t in self.types.items() if isinstance(t, NumberOrArray)}
        #: The names that may as well start as an array.
        self.names = spread & bound - set(unit.parameters)

    def fill(self) -> bool:
        """Let such names start as arrays; whether there were any."""
        before = -1
        while before != (before := len(self.names)):
            for stmt in self.statements:
                used = self.names & syntax.all_names(syntax.head(stmt))
                if used and not self.serves(stmt):
                    self.names -= used
        changed = False
        for stmt, target, value in self.bound:
            if target in self.names and _number(value) is not None:
                array = self.array(self.types[target], value)
                if array is not None:
                    stmt.value = array
                    changed = True
        return changed

    def serves(self, stmt: Any) -> bool:
        """Whether it does to an array what it does to the number."""
        target, value = _bound(stmt)
        if value is None:
            return False
        if not self.names & syntax.names_read(value):
            return _number(value) is not None or self.is_array(stmt, target)
        if isinstance(value, gast.Call) and called(value) in _OF_ZEROS:
            plain = len(value.args) == 1 and not value.keywords
            return plain and self.is_zero(value.args[0])
        operands = _operands(value)
        shapes = [self.shape(n.id) for n in operands if self.is_spread(n)]
        others = [self.operand(n) for n in operands if not self.is_spread(n)]
        if not all(same_shape(shapes[0], other) for other in shapes[1:]) or not shapes:
            return False
        fits = target in self.names and same_shape(shapes[0], self.shape(target))
        if any(isinstance(t, Array) and same_shape(t.shape, shapes[0]) for t in others):
            return fits or target not in self.names
        return fits and all(map(is_number, others))

    def is_array(self, stmt: Any, name: str) -> bool:
        """Whether the statement binds the name to an array of its shape."""
        t = self.facts.type_after(stmt, name)
        return isinstance(t, Array) and same_shape(t.shape, self.shape(name))

    def is_zero(self, node: Any, seen: frozenset = frozenset()) -> bool:
        """Whether a value is zero wherever it is a number."""
        if isinstance(node, gast.Name):
            within = seen | {node.id}
            return node.id in self.names and all(
                self.is_array(stmt, node.id) or self.is_zero(value, within)
                for stmt, target, value in self.bound
                if target == node.id and target not in seen
            )
        operands = _operands(node)
        if isinstance(node, gast.Call):
            known = len(operands) == 1 and self.is_zero(operands[0], seen)
            return known and _of_zero(called(node)) == 0
        zeros = [self.is_zero(n, seen) for n in operands]
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
            return any(zeros)
        if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Div, gast.Pow)):
            return zeros[:1] == [True]
        return all(zeros) if zeros else _number(node) == 0

    def is_spread(self, node: Any) -> bool:
        return isinstance(node, gast.Name) and node.id in self.names

    def operand(self, node: Any) -> Type:
        number = _number(node)
        if number is not None:
            return type_of(number)
        return self.types.get(getattr(node, "id", ""), UNKNOWN)

    def shape(self, name: str) -> Any:
        """The shape of the arrays that the name may hold."""
        return getattr(self.types[name], "shape", None)

    # -- the array -------------------------------------------------------------------

    def array(self, t: Any, value: gast.expr) -> gast.expr | None:
        """An array of that number; None if no argument tells a size of it."""
        zero = _number(value) == 0
        for name, given in self.given.items():
            alike = isinstance(given, Array) and same_dtype(given.dtype, t.dtype)
            if alike and same_shape(shape_of(given), t.shape):
                text = "np.full_like(x, v)" if not zero else "np.zeros_like(x)"
                return syntax.expression(text, x=syntax.name(name), v=value)
        sizes = [self.size(dim) for dim in t.shape]
        if None in sizes:
            return None
        shape = gast.Tuple(sizes, syntax.LOAD) if len(sizes) > 1 else sizes[0]
        text = "np.full(s, v)" if not zero else "np.zeros(s)"
        made: Any = syntax.expression(text, s=shape, v=value)
        if t.dtype != np.dtype(float):
            named = syntax.expression(f"np.{t.dtype.name}")
            made.keywords = [gast.keyword("dtype", named)]
        return made

    def size(self, dim: Any) -> gast.expr | None:
        """The size as an expression of an argument."""
        if isinstance(dim, int):
            return syntax.const(dim)
        for name, given in self.given.items():
            for axis, other in enumerate(shape_of(given) or ()):
                if isinstance(dim, Sym) and other == dim:
                    return size_text(syntax.name(name), axis)
        return None


def _bound(stmt: Any) -> tuple[str, Any]:
    """The one name that the statement binds, and the value."""
    if isinstance(stmt, gast.Assign) and len(stmt.targets) == 1:
        target = getattr(stmt.targets[0], "id", "")
        return target, stmt.value if target else None
    return "", None


def _operands(value: Any) -> list[Any]:
    """What an elementwise operation is of; none where it is another."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, _OPERATORS):
        return [value.left, value.right]
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Pow):
        known = (_number(value.right) or 0) > 0
        return [value.left, value.right] if known else []
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        return [value.operand]
    if isinstance(value, gast.Call) and _is_ufunc(called(value)):
        return [] if value.keywords else value.args
    return [value] if isinstance(value, gast.Name) else []


def _is_ufunc(chain: str) -> bool:
    elementwise = elementwise_operation(chain) is not None
    return elementwise and isinstance(function_named(chain), np.ufunc)


def _of_zero(chain: str) -> Any:
    with np.errstate(all="ignore"):
        return function_named(chain)(0.0)


def _number(node: Any) -> float | None:
    """The number that is written out: `0.0`, `-1`, `np.inf`."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    chain = syntax.dotted(node) if isinstance(node, gast.Attribute) else None
    value = function_named(chain) if chain else number_of(node)
    return value if type(value) in (int, float) else None


__all__ = ["fill_starts"]
