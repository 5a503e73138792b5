"""What is known of shapes that no type tells, of a unit and its elementwise operations.

    t = 2 * x            x, t and y are of one shape, whatever it is: what is known of
    y = t * np.exp(x)    each is the names that it is computed of, here `x` alone

- The operands of what is a single number are such, since shapes only grow, and so is
  what is computed of them.
- A name stands for one shape where its only statement runs right before all that reads
  it, in its own block: another trip of a loop binds all of them anew.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.control import Way, control
from srcjax.analysis.foreign import is_sparse
from srcjax.analysis.known_values import OPERATORS, UNARY
from srcjax.analysis.types import is_number
from srcjax.ops.record import Op, lookup

Roots = frozenset[str]
_MATRIX_PRODUCTS = frozenset([np.matmul, np.dot])
#: The blocks around a statement, from the outside.
Around = tuple[int, ...]


class Shapes:
    """The elementwise operations of a unit, and which values are of one shape."""

    def __init__(self, rules: Any) -> None:
        self.rules = rules
        self.body: list[gast.stmt] = rules.unit.node.body[:-1]
        self.known: dict[int, tuple[Op, list[Any]] | None] = {}
        #: By name the statements that bind it, and the loops that it is used in.
        self.made: dict[str, list[Any]] = {}
        self.homes: dict[str, set[int]] = {}
        #: By name the blocks around the statement that binds it.
        self.around: dict[str, Around] = dict.fromkeys(rules.unit.parameters, ())
        #: Names that stand for several shapes, or for what may grow.
        self.several: set[str] = set()
        #: Names that stand for single numbers alone, and statements that give one.
        self.singles: set[str] = set()
        self.numbers: set[int] = set()
        #: The operations in these statements.
        self.number_values: set[int] = set()
        self.roots: dict[str, Roots] = {}
        self.note(self.body, 0, ())

    # -- operations --------------------------------------------------------------------

    def operation(self, stmt: Any) -> tuple[Op, list[Any]] | None:
        """The elementwise operation that a statement is, and its operands."""
        if id(stmt) not in self.known:
            self.known[id(stmt)] = self.found_operation(stmt)
        return self.known[id(stmt)]

    def found_operation(self, stmt: Any) -> tuple[Op, list[Any]] | None:
        op, operands = self.called(stmt)
        known = op is not None and op.elementwise and op.adjoint is not None
        plain = all(map(is_operand, operands))
        return (op, operands) if op is not None and known and plain else None

    def called(self, stmt: Any) -> tuple[Op | None, list[Any]]:
        """The operation of a statement of any kind, and what it is given."""
        rules, value = self.rules, getattr(stmt, "value", None)
        if not isinstance(stmt, gast.Assign) or id(stmt) in rules.steps:
            return None, []
        op: Any = None
        operands: list[Any] = []
        if isinstance(value, gast.BinOp):
            op = lookup(OPERATORS[type(value.op)])
            operands = [value.left, value.right]
        elif isinstance(value, gast.UnaryOp) and type(value.op) in UNARY:
            op, operands = lookup(UNARY[type(value.op)]), [value.operand]
        elif isinstance(value, gast.Call) and not value.keywords:
            callees = rules.facts.callees.get(id(value), [])
            op = callees[0] if len(callees) == 1 else None
            operands = value.args
            if isinstance(value.func, gast.Attribute) and rules.is_value(
                value.func.value
            ):
                operands = [value.func.value, *operands]
        return (op, operands) if isinstance(op, Op) else (None, [])

    def is_matrix_product(self, stmt: Any) -> bool:
        """Whether the statement is `y = a @ b`, of arrays that are not sparse.

        What its rule calls sums the adjoint of `y` to the shape of the product.
        """
        op, operands = self.called(stmt)
        if op is None or not _MATRIX_PRODUCTS & set(op.functions) or len(operands) != 2:
            return False
        types = map(self.rules.type_of, operands)
        return self.is_plain(stmt) and not any(map(is_sparse, types))

    def is_operation(self, stmt: Any) -> bool:
        """Whether the statement gives a name to what an elementwise operation gives."""
        return self.is_plain(stmt) and self.operation(stmt) is not None

    def is_plain(self, stmt: Any) -> bool:
        """Whether the statement gives a name to a value."""
        return isinstance(stmt, gast.Assign) and syntax.is_name(stmt.targets[0])

    def note(self, body: list[Any], loop: int, around: Around) -> None:
        """Fill `made`, `homes`, `around` and `several` from a block."""
        for stmt in body:
            run = control(stmt)
            inner = id(stmt) if run is not None and run.way is Way.LOOP else loop
            for part in syntax.head(stmt):
                for name in syntax.all_names(part):
                    self.homes.setdefault(name, set()).add(loop)
                    if not isinstance(stmt, gast.Assign) and run is None:
                        self.several.add(name)
                self.note_names(stmt, part, around)
            for position, block in enumerate(syntax.inner_blocks(stmt)):
                self.note(block, inner, (*around, id(stmt), position))

    def note_names(self, stmt: Any, part: Any, around: Around) -> None:
        """A statement, or the head of one, reads and binds names."""
        for name in syntax.names_read(part):
            place = self.around.get(name)
            if place is None or around[: len(place)] != place:
                self.several.add(name)
        for name in syntax.names_written(part):
            self.made.setdefault(name, []).append(stmt)
            if name in self.around:
                self.several.add(name)
            self.around[name] = around

    # -- single numbers ----------------------------------------------------------------

    def find(self, given: Roots, ones: set[tuple[int, str]]) -> None:
        """Fill `singles`, `numbers` and `roots`.

        `given` are single numbers at first, `ones` after the statements.
        """
        self.singles = self.single_numbers(given, ones)
        for stmt in syntax.all_statements(self.body):
            name = getattr(stmt.targets[0], "id", "") if self.is_plain(stmt) else ""
            if not name:
                continue
            if self.operation(stmt) and self.gives_number(
                stmt, name, self.singles, ones
            ):
                self.numbers.add(id(stmt))
                self.number_values.add(id(stmt.value))
            found = self.operation(stmt)
            parts = [self.roots_of(a) for a in (found[1] if found else [stmt.value])]
            if name not in self.several and None not in parts:
                self.roots[name] = frozenset().union(*parts)  # type: ignore[arg-type]

    def single_numbers(self, given: Roots, ones: set[tuple[int, str]]) -> set[str]:
        """The names that stand for what is computed of single numbers alone."""
        parameters = self.rules.unit.parameters
        known = dict.fromkeys([*parameters, *self.made])
        ordered = [n for n in known if n in given or n not in parameters]
        names = set(ordered)
        readers: dict[str, list[str]] = {}  # what has to be looked at again without
        for name in ordered:
            for stmt in self.made.get(name, ()):
                for read in syntax.names_read(getattr(stmt, "value", None)):
                    readers.setdefault(read, []).append(name)
        left = ordered[::-1]
        while left:
            name = left.pop()
            if name in names and not all(
                self.gives_number(stmt, name, names, ones)
                for stmt in self.made.get(name, ())
            ):
                names.remove(name)
                left += readers.get(name, ())
        return names

    def gives_number(
        self, stmt: Any, name: str, names: set[str], ones: set[tuple[int, str]]
    ) -> bool:
        """Whether what the statement binds the name to is a single number."""
        if (id(stmt), name) in ones:
            return True
        if not self.is_plain(stmt):
            return False
        found = self.operation(stmt)
        parts = [stmt.value] if found is None else found[1]
        return all(self.is_number(part, names) for part in parts)

    def is_number(self, node: Any, names: set[str]) -> bool:
        """Whether an operand is a single number, as those that have the names are."""
        if isinstance(node, gast.UnaryOp):
            return self.is_number(node.operand, names)
        if isinstance(node, gast.Constant):
            return isinstance(node.value, (int, float, complex))
        if not isinstance(node, gast.Name):
            return False
        return node.id in names or is_number(self.rules.type_of_name(node.id))

    # -- one shape ---------------------------------------------------------------------

    def roots_of(self, node: Any) -> Roots | None:
        """The names that the shape of an operand is that of; None: not known."""
        if self.is_number(node, self.singles):
            return frozenset()
        if not isinstance(node, gast.Name) or node.id in self.several:
            return None
        return self.roots.get(node.id, frozenset([node.id]))

    def has_shape_of_result(self, stmt: Any, name: str) -> bool:
        """Whether the operand of an operation has the shape of what it gives."""
        found = self.operation(stmt)
        if found is None:
            return False
        others = [a for a in found[1] if not syntax.is_name(a, name)]
        if len(others) == len(found[1]):
            return False
        own = self.roots_of(syntax.name(name)) or frozenset()
        roots = map(self.roots_of, others)
        return all(each is not None and each <= own for each in roots)


def is_operand(node: Any) -> bool:
    """A name, or a number with its sign."""
    if isinstance(node, gast.UnaryOp):
        return isinstance(node.operand, gast.Constant)
    return isinstance(node, (gast.Name, gast.Constant))
