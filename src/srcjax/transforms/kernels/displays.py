"""Tuples, lists and shapes of which each part has a name, where they are taken apart.

parts = [left, x * 2.0]               parts_0 = left
y = np.concatenate(parts)     ->      parts_1 = x * 2.0
                                      y = np.empty(len(parts_0) + len(parts_1))
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    Array,
    Const,
    List,
    Tuple,
    Type,
    dtype_of,
    is_number,
    shape_of,
)
from srcjax.frontend.unit import Unit
from srcjax.transforms.kernels.accepted import (
    array_of,
    is_kernel_array,
    is_kernel_number,
    kind,
)
from srcjax.transforms.kernels.numbers import literal
from srcjax.transforms.kernels.operations import constant
from srcjax.transforms.kernels.writing import Writing

#: What gives the shape of an array.
_SHAPE = "numpy.shape"


class Displays(Writing):
    """Knows the parts of what is displayed."""

    def __init__(self, program: Program, unit: Unit) -> None:
        super().__init__(program, unit)
        self.numbers.displayed = self.displayed

    def displayed(self, node: gast.expr) -> list[gast.expr] | None:
        """The parts of an expression: atoms and displays; None where it is none."""
        t = self.type_of(node)
        if not isinstance(t, (Tuple, List)):
            return None
        if isinstance(node, gast.Name):
            return self.parts_of.get(node.id)
        if isinstance(node, (gast.Tuple, gast.List)):
            starred = any(isinstance(e, gast.Starred) for e in node.elts)
            return None if starred else list(node.elts)
        items = t.items or ()
        if items and all(isinstance(i, Const) and is_number(i) for i in items):
            return [literal(constant(i), node) for i in items]
        array = self.array_of_shape(node)
        if array is not None:
            places = range(self.rank_of(array) or 0)
            return [syntax.expression(f"x.shape[{k}]", x=array) for k in places]
        return self.combined(node)

    def array_of_shape(self, node: gast.expr) -> gast.expr | None:
        """The array of which an expression is the shape."""
        array: Any = None
        if isinstance(node, gast.Attribute) and node.attr == "shape":
            array = node.value
        operation = self.operations.of(node) if isinstance(node, gast.Call) else None
        if operation is not None and operation.op.name == _SHAPE:
            (array,) = operation.operands.values()
        known = isinstance(array, gast.Name) and is_kernel_array(self.type_of(array))
        return array if known else None

    def combined(self, node: gast.expr) -> list[gast.expr] | None:
        """The parts of `a + b` and of `a * 3`."""
        if not isinstance(node, gast.BinOp):
            return None
        left, right = self.displayed(node.left), self.displayed(node.right)
        if isinstance(node.op, gast.Add) and left is not None and right is not None:
            return [*left, *right]
        if isinstance(node.op, gast.Mult):
            times = self.option(node.right if right is None else node.left, ...)
            items = left if right is None else right
            if items is not None and type(times) is int and len(items) * times < 100:
                return items * times
        return None

    def display(self, name: str, value: gast.expr, t: Type) -> list[gast.stmt] | None:
        """What names the parts of a display; None where it is none."""
        found = self.displayed(value)
        if not found or not all(map(self.has_part, found)):
            return None
        old = self.parts_of.get(name)
        if old is not None and len(old) != len(found):
            return None
        once = self.unit_binds(name) == 1
        if not once and any(map(self.is_kept_apart, found)):
            return None
        out: list[gast.stmt] = []
        kept: list[gast.expr] = []
        for k, part in enumerate(found):
            if isinstance(part, gast.Constant) and once:
                kept.append(part)
                continue
            if self.is_kept_apart(part):
                kept.append(part)
                continue
            own = getattr(old[k], "id", None) if old is not None else None
            own = own or self.made_of(f"{name}_{k}", self.type_of(part))
            whole = is_kernel_array(self.type_of(part))
            out.append(syntax.assign(own, part if whole else self.numbers.number(part)))
            kept.append(syntax.name(own))
        self.parts_of[name] = kept
        return [*out, *self.items_as_array(name, kept, t)]

    def items_as_array(
        self, name: str, kept: list[gast.expr], t: Type
    ) -> list[gast.stmt]:
        """An array of the items of a list of numbers, where the index is computed."""
        types = [self.type_of(part) for part in kept]
        if not self.has_items(name, kept, t):
            return []
        dtype = dtype_of(types[0])
        array = self.items_of.get(name)
        if array is None:
            array = self.made_of(
                f"{name}_items", Array(dtype=dtype, shape=(len(kept),))
            )
            self.items_of[name] = array
        out: list[gast.stmt] = [
            syntax.assign(array, array_of("empty", syntax.const(len(kept)), dtype))
        ]
        for k, part in enumerate(kept):
            place = gast.Subscript(syntax.name(array), syntax.const(k), syntax.STORE)
            out.append(gast.Assign([place], self.numbers.number(part), None))
        return out

    def has_items(self, name: str, parts: list[gast.expr], t: Type) -> bool:
        """Whether a list has numbers of one kind, and is looked up."""
        types = [self.type_of(part) for part in parts]
        alike = len(set(map(kind, types))) == 1 and all(map(is_kernel_number, types))
        return isinstance(t, List) and alike and self.is_looked_up(name)

    def declare_items(self, stmt: Any) -> None:
        """Name the array of the items of a list, for statements that come later."""
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        if not isinstance(target, gast.Name) or not isinstance(stmt.value, gast.List):
            return
        name, parts, t = target.id, stmt.value.elts, self.type_of(target)
        if name not in self.items_of and self.has_items(name, parts, t):
            of = Array(dtype=dtype_of(self.type_of(parts[0])), shape=(len(parts),))
            self.items_of[name] = self.made_of(f"{name}_items", of)

    def is_looked_up(self, name: str) -> bool:
        """Whether a list is looked at by an index that is computed, or is an index."""
        return any(
            isinstance(n, gast.Subscript)
            and (
                (syntax.is_name(n.value, name) and not syntax.is_literal(n.slice))
                or name in syntax.names_read(n.slice)
            )
            for n in syntax.walk(self.unit.node.body)
        )

    def is_kept_apart(self, node: gast.expr) -> bool:
        """Whether it is a display, a list of the kernel, or known by value."""
        if not isinstance(node, gast.Name):
            return False
        lists = self.lists | self.descriptions | set(self.tapes_of)
        return node.id in lists | set(self.parts_of) or self.is_description(
            self.type_of(node)
        )

    def handed_on(self, name: str, value: gast.expr, t: Type) -> list[Any] | None:
        """`a = b` of displays and lists; what is popped from tapes of displays."""
        taken = self.taken_from_tapes(name, value, t)
        if taken is not None or not isinstance(value, gast.Name):
            return taken
        if value.id not in self.lists | self.descriptions and (
            value.id not in self.parts_of and value.id not in self.tapes_of
        ):
            return None
        if self.unit_binds(name) != 1:
            return None
        return self.hand_on(name, value.id)

    def hand_on(self, name: str, other: str) -> list[Any]:
        """Another name for a display or a list."""
        holders: tuple[dict[str, Any], ...] = (
            self.parts_of,
            self.tapes_of,
            self.items_of,
        )
        for held in holders:
            if other in held:
                held[name] = held[other]
        for names in (self.lists, self.descriptions):
            if other in names:
                names.add(name)
        if other in self.lists:
            return [syntax.assign(name, syntax.name(other))]
        return []

    # -- tapes of displays -----------------------------------------------------------

    def new_tapes(self, name: str, elem: Type, stmt: Any) -> list[Any]:
        """A list for each part of what is put on a tape."""
        out: list[Any] = []
        self.tapes_of[name] = self.tape_tree(name, elem, stmt, out)
        return out

    def tape_tree(self, name: str, t: Type, stmt: Any, out: list[Any]) -> Any:
        """The name of a list, or those of the parts; None where nothing is kept."""
        if self.is_description(t):
            return None
        if is_kernel_number(t) or is_kernel_array(t):
            tape = self.made_of(name, List(elem=t))
            self.lists.add(tape)
            out.append(syntax.assign(tape, gast.List([], syntax.LOAD)))
            return tape
        items = getattr(t, "items", None)
        if not isinstance(t, (Tuple, List)) or items is None:
            raise self.refuse(stmt, "a list of what kernels have no numbers for")
        return [
            self.tape_tree(f"{name}_{k}", item, stmt, out)
            for k, item in enumerate(items)
        ]

    def put_on(self, tree: Any, value: gast.expr, stmt: Any) -> list[Any]:
        """`tape.append((a, b))`."""
        if tree is None:
            return []
        if isinstance(tree, str):
            array = is_kernel_array(self.type_of(value))
            kept = value if array else self.numbers.number(value)
            append = gast.Attribute(syntax.name(tree), "append", syntax.LOAD)
            return [gast.Expr(gast.Call(append, [kept], []))]
        parts = self.displayed(value)
        if parts is None or len(parts) != len(tree):
            raise self.refuse(stmt, "what is put on a tape is not spelled out")
        pairs = zip(tree, parts, strict=True)
        return [each for one, part in pairs for each in self.put_on(one, part, stmt)]

    def taken_from_tapes(
        self, name: str, value: gast.expr, t: Type
    ) -> list[Any] | None:
        """`a = tape.pop()` of what is a display."""
        function = value.func if isinstance(value, gast.Call) else None
        tape = getattr(getattr(function, "value", None), "id", "")
        tree = self.tapes_of.get(tape)
        pops = getattr(function, "attr", "") == "pop" and not value.args
        if tree is None or not pops or self.unit_binds(name) != 1:
            return None
        out: list[Any] = []
        self.parts_of[name] = self.popped(name, tree, t, out)
        return out

    def popped(self, name: str, tree: Any, t: Type, out: list[Any]) -> list[gast.expr]:
        """The parts of what is popped."""
        found: list[gast.expr] = []
        for k, (one, item) in enumerate(zip(tree, t.items, strict=True)):  # type: ignore[attr-defined]
            if one is None:
                found.append(syntax.const(None))
                continue
            own = self.made_of(f"{name}_{k}", item)
            found.append(syntax.name(own))
            if isinstance(one, str):
                out.append(syntax.assign(own, syntax.expression(f"{one}.pop()")))
            else:
                self.parts_of[own] = self.popped(own, one, item, out)
        return found

    def has_part(self, part: gast.expr) -> bool:
        """Whether a part is a number, an array or a display that has a name."""
        t = self.type_of(part)
        if self.is_description(t):
            return True
        if isinstance(part, gast.Name) and self.is_kept_apart(part):
            return self.unit_binds(part.id) <= 1
        array = is_kernel_array(t) and isinstance(part, gast.Name)
        return array or is_kernel_number(t)

    def unit_binds(self, name: str) -> int:
        """How often the unit binds a name."""
        return syntax.count_bindings(self.unit.node.body, name)

    def taken_apart(self, target: gast.Tuple, value: gast.expr) -> list[Any] | None:
        """The parts of `a, b = shape`, `x, y, z = point`."""
        parts = self.displayed(value)
        t = self.type_of(value)
        if parts is None and is_kernel_array(t) and isinstance(value, gast.Name):
            shape = shape_of(t) or ()
            if len(shape) == 1 and isinstance(shape[0], int):
                parts = [
                    gast.Subscript(syntax.clone(value), syntax.const(k), syntax.LOAD)
                    for k in range(shape[0])
                ]
        fits = parts is not None and len(parts) == len(target.elts)
        return parts if fits else None
