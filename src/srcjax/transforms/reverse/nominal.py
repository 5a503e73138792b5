"""How large a part of an array is meant to be: `x[i : i + k]` has `k` items.

It has less where the array ends before, so that no type knows its size. But what fits
`w` in `x[i : i + len(w)] * w` is as long as `w`, or the function runs by chance only:
where one item is left, and is broadcast. An adjoint of the size that is meant is added
to the part in place, which raises then: nothing is lost without a word.
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
    as_dim,
    is_number,
    is_one,
    same_size,
    shape_of,
    supposed_same,
)


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

    def shape(self, node: Any) -> Shape | None:
        """The shape that is meant; None if that is not clear."""
        shapes = self.rules.broadcast.shapes
        if not isinstance(node, gast.Name):
            return () if shapes.is_number(node, shapes.singles) else None
        if is_number(self.rules.type_of_name(node.id)):
            return ()
        stmt = self.made(node)
        value = getattr(stmt, "value", None)
        if isinstance(value, gast.Subscript):
            return self.part(value)
        found = None if stmt is None else shapes.operation(stmt)
        operands = list(map(self.shape, found[1])) if found else [None]
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
        """The number of items between the bounds of a slice."""
        lower, upper = chosen.lower, chosen.upper
        if chosen.step is not None or upper is None:
            return size if lower is None and chosen.step is None else None
        if lower is None or syntax.equal(lower, syntax.const(0)):
            return as_dim(self.rules.type_of(upper))
        value: Any = upper
        if isinstance(upper, gast.Name):
            value = getattr(self.made(upper), "value", None)
        if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Add):
            return None
        for first, second in ((value.left, value.right), (value.right, value.left)):
            if syntax.equal(first, lower):
                return as_dim(self.rules.type_of(second))
        return None
