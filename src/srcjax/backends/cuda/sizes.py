"""Which axes of which arrays are equally long, as the text of a kernel tells."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.looking import MAKERS
from srcjax.backends.cuda.expressions import Range
from srcjax.backends.cuda.kinds import Elements, Kinds


class Sizes:
    """The sizes of arrays, each under the name of the first array that has it."""

    def __init__(self, function: gast.FunctionDef, kinds: Kinds) -> None:
        self.kinds = kinds
        #: How often each name is bound.
        self.bindings = syntax.binding_counts(function.body)
        for name in kinds.given:
            self.bindings[name] += 1
        self.made: dict[str, list[Any]] = {}
        self.parts: dict[str, str] = {}
        self.unknown = 0
        for stmt in syntax.walk(function.body):
            if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
                self.note(stmt.targets[0].id, stmt.value)

    def note(self, name: str, value: Any) -> None:
        path = syntax.dotted(getattr(value, "func", None))
        if path not in MAKERS or self.bindings[name] != 1:
            return
        shape = value.args[0]
        if isinstance(shape, gast.Tuple):
            self.made[name] = list(shape.elts)
        elif isinstance(shape, gast.Attribute) and shape.attr == "shape":
            kind = self.kinds.of.get(getattr(shape.value, "id", ""))
            if isinstance(kind, Elements):
                self.made[name] = [
                    syntax.expression(f"x.shape[{k}]", x=shape.value)
                    for k in range(kind.rank)
                ]
        else:
            self.made[name] = [shape]

    def part(self, name: str, whole: str) -> None:
        """`name` is a part of `whole` at an index of the first axis."""
        if self.bindings[name] == 1:
            self.parts[name] = whole

    def of(self, array: str, axis: int) -> str:
        """The size of an axis: equal texts are equal sizes."""
        if array in self.made and axis < len(self.made[array]):
            return self.text(self.made[array][axis])
        if array in self.parts:
            return self.of(self.parts[array], axis + 1)
        if self.bindings[array] != 1:
            self.unknown += 1
            return f"?{self.unknown}"
        return f"{array}.shape[{axis}]"

    def text(self, node: Any) -> str:
        """The text of an expression of sizes, with those that are known put in."""
        if isinstance(node, gast.Call) and syntax.is_name(node.func, "len"):
            return self.of(getattr(node.args[0], "id", ""), 0)
        if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Attribute):
            return self.of(getattr(node.value.value, "id", ""), node.slice.value)
        if isinstance(node, gast.Name) and self.bindings[node.id] != 1:
            self.unknown += 1
            return f"?{self.unknown}"
        if isinstance(node, gast.BinOp):
            a, b = self.text(node.left), self.text(node.right)
            return f"({a} {type(node.op).__name__} {b})"
        return syntax.text(node)

    def range(self, start: Any, stop: Any, step: int) -> Range | None:
        """What is known of the variable of a loop; None where it may be large."""
        low_node, high_node = (start, stop) if step > 0 else (stop, start)
        base, room = self.apart(high_node)
        if step < 0:
            room -= 1
        if not (is_size(base) or isinstance(base, gast.Constant)):
            return None
        size = self.text(base)
        low = getattr(low_node, "value", None)
        if isinstance(low_node, gast.UnaryOp):
            low = -getattr(low_node.operand, "value", 0)
        if type(low) is not int:
            low = None
        elif step < 0:
            low += 1
        if isinstance(base, gast.Constant):
            if type(base.value) is not int or abs(base.value) > 2**30:
                return None
            size, room = str(base.value - room), 0
        return Range(low if low is None or low >= 0 else None, size, room)

    def apart(self, node: Any) -> tuple[Any, int]:
        """`len(x) - 1` as `len(x)` and 1."""
        if isinstance(node, gast.BinOp) and isinstance(node.right, gast.Constant):
            value = node.right.value
            if type(value) is int and isinstance(node.op, (gast.Add, gast.Sub)):
                base, room = self.apart(node.left)
                return base, room + (value if isinstance(node.op, gast.Sub) else -value)
        return node, 0


def is_size(node: Any) -> bool:
    """Whether it is `len(x)` or `x.shape[1]`."""
    if isinstance(node, gast.Call):
        return syntax.is_name(node.func, "len")
    return (
        isinstance(node, gast.Subscript)
        and isinstance(node.value, gast.Attribute)
        and node.value.attr == "shape"
    )
