"""Reductions of the items that a mask takes, without taking them.

Before:                                 After:

    positive = x[mask]                      positive = np.where(mask, x, 0)
    squares = positive**2                   squares = positive**2
    total = np.sum(squares)                 kept = np.where(mask, squares, 0)
                                            total = np.sum(kept)

How many items a mask takes differs between examples, and they would have no common
shape. What is done to them on the way is done to zeros too, so it has to be what no
number can upset (`elementwise_facts.is_harmless`).
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.indexing import is_mask
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    INT,
    UNKNOWN,
    Array,
    Type,
    dtype_of,
    is_active,
    is_number,
    shape_of,
)
from srcjax.frontend.unit import Unit
from srcjax.ops.elementwise_facts import is_harmless
from srcjax.transforms.call_effects import called


def reduce_masked(program: Program) -> bool:
    """Rewrite the units in place; True if something changed."""
    changed = False
    for unit in program.reached():
        types = program.types_of(unit)
        written = program.facts.written()
        for block in list(syntax.blocks(unit.node.body)):
            for k, stmt in enumerate(list(block)):
                if not _takes_items(stmt, types, written, unit):
                    continue
                mask = stmt.value.slice.id
                chain = Chain(unit, types, mask, stmt.targets[0].id)
                if chain.serves(block[k + 1 :]):
                    chain.rewrite(block)
                    x, m = stmt.value.value, stmt.value.slice
                    stmt.value = x
                    if len(chain.names) > 1:  # no other item is computed with
                        stmt.value = syntax.expression("np.where(m, x, 0)", m=m, x=x)
                    changed = True
    return changed


def _takes_items(
    stmt: Any, types: dict[str, Type], written: frozenset, unit: Unit
) -> bool:
    """Whether this is `y = x[mask]`, of a mask that differs between examples."""
    value = getattr(stmt, "value", None)
    if not isinstance(stmt, gast.Assign) or not isinstance(value, gast.Subscript):
        return False
    names = (stmt.targets[0], value.value, value.slice)
    if len(stmt.targets) > 1 or not all(isinstance(n, gast.Name) for n in names):
        return False
    x, mask = (types.get(n.id, UNKNOWN) for n in names[1:])
    shapes = shape_of(x), shape_of(mask)
    return (
        isinstance(x, Array)
        and is_mask(mask)
        and is_active(mask)
        and None not in shapes
        and len(shapes[0] or ()) == len(shapes[1] or ())
        and not (x.buffers | mask.buffers) & written
        and _is_number(dtype_of(x))
        and syntax.count_bindings(unit.node, names[0].id) == 1
        and syntax.count_bindings(unit.node, names[2].id) <= 1
    )


def _is_number(dtype: Any) -> bool:
    return dtype is not None and dtype.kind in "fiu"


class Chain:
    """The names that hold items which one mask takes, and what is done to them."""

    def __init__(
        self, unit: Unit, types: dict[str, Type], mask: str, first: str
    ) -> None:
        self.unit = unit
        self.types = types
        self.mask = mask
        self.first = first
        self.names = {first}
        self.reductions: list[gast.Assign] = []

    def serves(self, block: list[gast.stmt]) -> bool:
        """Whether every use, in the statements that follow, is one that is known."""
        for stmt in block:
            if not self.names & syntax.names_read(stmt):
                continue
            target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
            if not isinstance(stmt, gast.Assign) or not isinstance(target, gast.Name):
                return False
            if self.reduced(stmt.value) is not None:
                self.reductions.append(stmt)
            elif (
                self.is_harmless(stmt.value)
                and syntax.count_bindings(self.unit.node, target.id) == 1
            ):
                self.names.add(target.id)
            else:
                return False
        here = sum(syntax.count_reads(block, n) for n in self.names)
        everywhere = sum(syntax.count_reads(self.unit.node, n) for n in self.names)
        return bool(self.reductions) and here == everywhere

    def is_item(self, node: Any) -> bool:
        return isinstance(node, gast.Name) and node.id in self.names

    def is_harmless(self, value: gast.expr) -> bool:
        """An elementwise operation on items and numbers."""
        if isinstance(value, gast.BinOp):
            operands = [value.left, value.right]
            if isinstance(value.op, gast.Pow):
                power = value.right
                whole = isinstance(power, gast.Constant) and power.value in (1, 2, 3)
                return whole and self.is_item(value.left)
            known = isinstance(value.op, (gast.Add, gast.Sub, gast.Mult))
        elif isinstance(value, gast.UnaryOp):
            operands, known = [value.operand], isinstance(value.op, gast.USub)
        elif isinstance(value, gast.Call) and not value.keywords:
            operands, known = value.args, is_harmless(called(value))
        else:
            return False
        return known and all(
            self.is_item(o) or is_number(self.type_of(o)) for o in operands
        )

    def type_of(self, node: gast.expr) -> Type:
        if isinstance(node, gast.Constant) and isinstance(node.value, (int, float)):
            return INT  # a number
        return self.types.get(getattr(node, "id", ""), UNKNOWN)

    def reduced(self, value: gast.expr) -> tuple[str, gast.Name] | None:
        """`sum`, `mean` or `len`, and the items."""
        if isinstance(value, gast.Attribute) and value.attr == "size":
            return ("len", value.value) if self.is_item(value.value) else None
        if not isinstance(value, gast.Call) or value.keywords:
            return None
        function = called(value)
        if function in ("np.sum", "np.mean", "len") and len(value.args) == 1:
            items = value.args[0]
            if self.is_item(items):
                return function.removeprefix("np."), items
        method = isinstance(value.func, gast.Attribute) and not value.args
        if method and self.is_item(value.func.value):
            attr = value.func.attr
            return (attr, value.func.value) if attr in ("sum", "mean") else None
        return None

    def rewrite(self, block: list[gast.stmt]) -> None:
        """The reductions over the whole arrays, with the mask."""
        mask = syntax.name(self.mask)
        for stmt in self.reductions:
            found = self.reduced(stmt.value)
            assert found is not None
            what, items = found
            count = syntax.call("np.count_nonzero", mask)
            dtype = dtype_of(self.type_of(items))
            if what == "len":
                stmt.value = count
            elif what == "mean" and dtype != np.dtype(float):  # a count would widen it
                stmt.value = syntax.expression("np.mean(x, where=m)", x=items, m=mask)
            else:
                kept = items
                if len(self.names) == 1 or items.id != self.first:
                    chosen = syntax.expression("np.where(m, x, 0)", m=mask, x=items)
                    kept = self.held(block, stmt, "kept", chosen)
                stmt.value = syntax.expression("np.sum(x)", x=kept)
                if what == "mean":
                    total = self.held(block, stmt, "total", stmt.value)
                    number = self.held(block, stmt, "count", count)
                    stmt.value = gast.BinOp(total, gast.Div(), number)

    def held(
        self, block: list[gast.stmt], stmt: gast.stmt, base: str, value: gast.expr
    ) -> gast.Name:
        """The value in a temporary, which is set before the statement."""
        name = self.unit.names.fresh(base)
        self.unit.temps.add(name)
        self.unit.varying.add(name)
        new = syntax.assign(name, value)
        new.user_line = getattr(stmt, "user_line", None)
        gast.copy_location(new, stmt)
        block.insert(next(k for k, s in enumerate(block) if s is stmt), new)
        return syntax.name(name)


__all__ = ["reduce_masked"]
