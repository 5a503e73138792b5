"""Entries that a result leaves out because they are NaN: their adjoint stays zero.

    y = np.sqrt(x)                  left_out = np.isnan(y)
    return np.nansum(y)             dy = np.where(left_out, 0, d)
                                    dx = np.where(left_out, 0, dy / (2 * y))

The adjoint of what `nansum` leaves out is zero; times a slope that is NaN it would be
NaN, although the result does not depend on it. So it is with `np.where(np.isnan(y), 0,
y)` and with `y[np.isnan(y)] = 0`. Elementwise operations hand on what is left out to
their operands, as long as nothing else reads these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import Array, Shape, dtype_of, shape_of
from srcjax.ops.record import Op, composite_of
from srcjax.transforms.call_effects import called

#: Operations that leave out NaN.
_WITHOUT_NAN = frozenset([np.nansum, np.nanmean, np.nanmax, np.nanmin, np.nan_to_num])
_COMPOSITES = (
    *(np.nanstd, np.nanvar, np.nanprod, np.nanmedian, np.nanquantile),
    *(np.nancumsum, np.nancumprod),
)
_BOOL = np.dtype(bool)
_TESTS = frozenset([np.isnan, np.isfinite, np.isinf])


@dataclass
class _Mask:
    """A name of backward code that is true where entries are left out."""

    name: str
    shape: Shape


class LeftOut:
    """Knows which adjoints are zero where, in the block at hand."""

    def __init__(self, rules: Any) -> None:
        self.rules = rules
        self.masks: dict[str, _Mask] = {}

    def forget(self, name: str) -> None:
        """The name gets an adjoint from elsewhere too."""
        self.masks.pop(name, None)

    def clear(self) -> None:
        """Other code follows, where the masks are not bound."""
        self.masks.clear()

    def alike(self, name: str, others: set[str]) -> set[str]:
        """Those of the names that are left out where this one is."""
        mask = self.masks.get(name)
        return {n for n in others if mask is not None and self.masks.get(n) is mask}

    def around(
        self, name: str, op: Op, value: gast.expr, seed: gast.expr, operand: Any
    ) -> gast.expr:
        """The contribution to the operand, zero where the result is left out."""
        mask = self.masks.get(name)
        if mask is None or not op.elementwise or not isinstance(operand, gast.Name):
            return value
        spread = shape_of(self.rules.type_of_name(operand.id)) != mask.shape
        if spread and called(value) != "unbroadcast":
            return value
        every = value.args[0] if spread else value  # before it is summed
        slopes = {
            n
            for n in syntax.names_read(every)
            if syntax.count_reads([every], n) > syntax.count_reads([seed], n)
        }
        types = (self.rules.type_of(syntax.name(n)) for n in slopes)
        if not any(isinstance(t, Array) for t in types):
            return value  # linear
        for env in self.rules.envs:
            env[mask.name] = Array(dtype=_BOOL, shape=mask.shape)
        m = syntax.name(mask.name)
        kept = syntax.expression("np.where(m, 0, v)", m=m, v=every)
        return syntax.call("unbroadcast", kept, value.args[1]) if spread else kept

    def after(
        self, name: str, op: Op, operands: dict[str, gast.expr], first: set[str]
    ) -> None:
        """Note what of the operands is left out; `first` had no adjoint before."""
        if _WITHOUT_NAN & set(op.functions):
            argument = operands.get("a", operands.get("x"))
            self.mark(argument, "np.isnan(c)", argument, first)
            return
        if op.elementwise and name in self.masks:
            mask = self.masks[name]
            for operand in first:
                if shape_of(self.rules.type_of_name(operand)) == mask.shape:
                    self.masks[operand] = mask
            return
        if np.where in op.functions and self.tests_nan(operands.get("a")):
            condition = operands["a"]
            self.mark(operands.get("b"), "~c", condition, first)
            self.mark(operands.get("c"), "c", condition, first)

    def after_callee(self, function: Any, args: list[Any], first: set[str]) -> None:
        """The same of a function that is written in terms of others: `np.nanstd`."""
        if args and any(composite_of(f) is function for f in _COMPOSITES):
            self.mark(args[0], "np.isnan(c)", args[0], first)

    def stored(self, base: gast.Name, index: Any) -> None:
        """`base[index] = v`: what stood there is left out."""
        if self.tests_nan(index):
            self.mark(base, "c", index, {base.id})

    def mark(self, operand: Any, text: str, source: Any, first: set[str]) -> None:
        """Entries of the operand are left out where the expression is true."""
        if not isinstance(operand, gast.Name) or operand.id not in first:
            return
        shape = shape_of(self.rules.type_of_name(operand.id))
        asked = getattr(source, "id", "")
        if shape is None or shape_of(self.rules.type_of_name(asked)) != shape:
            return  # the entries of a number that is spread are no entries of its own
        where = syntax.expression(text, c=source)
        held = self.rules.held("left_out", where)
        self.masks[operand.id] = _Mask(held.id, shape)

    def tests_nan(self, condition: Any, depth: int = 3) -> bool:
        """Whether a condition is made by asking which entries are NaN."""
        if not isinstance(condition, gast.expr):
            return False
        if any(map(self.is_test, syntax.walk(condition))):
            return True
        made = [
            stmt.value
            for name in syntax.names_read(condition)
            for stmt in self.bindings(name)
        ]
        return depth > 0 and any(self.tests_nan(value, depth - 1) for value in made)

    def bindings(self, name: str) -> list[Any]:
        """The statement that makes a truth value, if it is one alone."""
        if dtype_of(self.rules.type_of_name(name)) != _BOOL:
            return []
        found = [
            stmt
            for stmt in syntax.walk(self.rules.unit.node.body)
            if isinstance(stmt, gast.Assign) and syntax.is_name(stmt.targets[0], name)
        ]
        return found if len(found) == 1 else []

    def is_test(self, node: Any) -> bool:
        """Whether the node is a call of `np.isnan` or one of its kind."""
        if not isinstance(node, gast.Call):
            return False
        callees = self.rules.facts.callees.get(id(node), [])
        return any(isinstance(c, Op) and _TESTS & set(c.functions) for c in callees)


__all__ = ["LeftOut"]
