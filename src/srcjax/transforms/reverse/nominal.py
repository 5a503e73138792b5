"""How large a part of an array is meant to be: `x[i : i + k]` has `k` items.

It has less where the array ends before, so that its type has no size. Where the loop
around it says that it does not (`for i in range(len(x) - k + 1)`), the part is as large
as it is meant to be.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    Array,
    Count,
    Dim,
    Shape,
    Sym,
    as_dim,
    combined_dims,
    is_number,
    is_one,
    same_size,
    shape_of,
    shift,
    supposed_order,
    supposed_same,
)
from srcjax.transforms.call_effects import called


def is_open(shape: Shape | None) -> bool:
    """Whether nothing tells some of the sizes."""
    return shape is None or any(isinstance(n, Count | None) for n in shape)


class Nominal:
    """The sizes that parts of arrays of a unit are meant to have."""

    def __init__(self, rules: Any) -> None:
        self.rules = rules

    def is_meant(self, node: gast.Name, shape: Shape | None) -> bool:
        """Whether a value whose size is open is meant to be of the shape."""
        have = shape_of(self.rules.type_of_name(node.id))
        if have is None or shape is None or len(have) != len(shape):
            return False
        meant = self.shape(node) if is_open(have) else None
        return meant is not None and all(
            same_size(m, n)
            or (
                isinstance(m, Count | None)
                and not isinstance(n, Count | None)
                and not is_one(n)
                and supposed_same(wide, n) is not None
            )
            for m, wide, n in zip(have, meant, shape, strict=True)
        )

    def shape(self, node: Any, around: frozenset[str] = frozenset()) -> Shape | None:
        """The shape that is meant; None if that is not clear.

        It is asked for names `around`: one that is made of itself in a loop has none.
        """
        shapes = self.rules.broadcast.shapes
        if not isinstance(node, gast.Name):
            return () if shapes.is_number(node, shapes.singles) else None
        if is_number(self.rules.type_of_name(node.id)):
            return ()
        if node.id in around:
            return None
        stmt = self.made(node)
        value = getattr(stmt, "value", None)
        if isinstance(value, gast.Subscript):
            return self.part(value)
        found = None if stmt is None else shapes.operation(stmt)
        around |= {node.id}
        operands = [self.shape(x, around) for x in found[1]] if found else [None]
        if None in operands:
            return None
        larger = [s for s in operands if s != ()]
        return larger[0] if larger and all(s == larger[0] for s in larger) else None

    def made(self, node: Any) -> Any:
        """The only statement that binds a name."""
        name = getattr(node, "id", "")
        found = self.rules.broadcast.shapes.made.get(name, ())
        return found[0] if len(found) == 1 else None

    def part(self, part: gast.Subscript) -> Shape | None:
        """The shape of a part that slices and numbers choose."""
        whole = self.rules.type_of(part.value)
        if not isinstance(whole, Array) or whole.shape is None:
            return None
        index = part.slice.elts if isinstance(part.slice, gast.Tuple) else [part.slice]
        left, found = list(whole.shape), []
        for each in index:
            if not left:
                return None
            size = left.pop(0)
            if isinstance(each, gast.Slice):
                found.append(self.width(each, size))
            elif not is_number(self.rules.type_of(each)):
                return None
        return (*found, *left)

    def width(self, chosen: gast.Slice, size: Dim) -> Dim:
        """The number of items between the bounds of a slice that stays inside."""
        lower, upper = chosen.lower, chosen.upper
        if chosen.step is not None or upper is None:
            return size if lower is None and chosen.step is None else None
        if lower is None or syntax.equal(lower, syntax.const(0)):
            wide = as_dim(self.rules.type_of(upper))
            return wide if _is_inside(wide, size) else None
        value: Any = upper
        if isinstance(upper, gast.Name):
            value = getattr(self.made(upper), "value", None)
        if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Add):
            return None
        for first, second in ((value.left, value.right), (value.right, value.left)):
            if syntax.equal(first, lower):
                wide = as_dim(self.rules.type_of(second))
                reach = combined_dims("add", self.largest(lower), wide)
                return wide if _is_inside(reach, size) else None
        return None

    def largest(self, index: Any) -> Dim:
        """The largest value of an index: `n - 1` of `for i in range(n)`."""
        loop = self.made(index)
        over = loop.iter if isinstance(loop, gast.For) else None
        if over is None:
            return as_dim(self.rules.type_of(index))
        if isinstance(over, gast.Call) and called(over) == "range":
            stop = over.args[-1] if len(over.args) < 3 else None
            count = None if stop is None else as_dim(self.rules.type_of(stop))
            return None if count is None else shift(count, -1)
        return None


def _is_inside(reach: Dim, size: Dim) -> bool:
    """Whether a slice that ends there is not cut off, in every call."""
    known = isinstance(reach, int | Sym) and isinstance(size, int | Sym)
    return known and supposed_order(size, reach) is True
