"""Which kernels of a function with Python between them win back their compilation.

To compile a kernel takes as long as thousands of calls of it win. So a function that is
divided has a kernel only where that saves enough of the time of a call: as much as it
takes to compile, in the time for which such a function is supposed to run. What a call
takes, and what a kernel saves of it, is estimated by the sizes of arrays in the call
that the text is written for: a chain of three operations is worth a kernel for a
hundred thousand elements, or where it is half of a short function; among four hundred
other statements, for ten elements, it is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.sizes import known_size
from srcjax.analysis.types import UNKNOWN, Array, Range, Shape, Type, parts
from srcjax.transforms.kernels.groups import Group, Member, Plain
from srcjax.transforms.kernels.operations import Operation

#: Seconds for which a function is supposed to run, with all its calls.
RUNNING = 120.0
#: Seconds to compile a kernel, and for each statement in it.
COMPILING, EACH = 0.05, 0.012
#: Seconds of a statement in Python: of numbers, of elements of arrays, of a sum of
#: them, and of other functions of arrays.
NUMBERS, ARRAYS, SUMS, OTHERS = 5e-8, 3e-7, 1.5e-6, 3e-6
#: Seconds to call a kernel, and for each array that it is given or makes.
CALL, GIVEN = 1e-7, 5e-8
#: Seconds that NumPy takes for an element: of an operation, of a function, of arrays
#: that are broadcast along short rows, and to get one that is not in a cache.
OPERATION, FUNCTION, BROADCAST, FAR = 1.5e-10, 5e-10, 8e-10, 1e-9
#: Seconds that a loop of a kernel takes for an element, and a product of matrices.
LOOP, PRODUCT = 2.5e-10, 1e-10
#: Elements that caches hold, and of a row that is a short one.
NEAR, SHORT = 1 << 17, 64
#: Trips that are supposed of a loop of which nothing is known; and how many times as
#: large as the largest argument an array is: windows and outer products are.
TRIPS, MORE = 10, 4


def known_elements(shape: Shape | None) -> int | None:
    """How many elements there are in that call; None if it is not known."""
    total = 1
    for dim in (None,) if shape is None else shape:
        size = known_size(dim)
        if size is None:
            return None
        total *= max(size, 0)
    return total


def arrays_in(types: Iterable[Type]) -> Iterator[Array]:
    """The arrays of values, and of containers of them."""
    for t in types:
        if isinstance(t, Array):
            yield t
        else:
            yield from arrays_in(parts(t))


def far(count: int) -> float:
    """The seconds that it takes to get so many elements from memory."""
    return 0.0 if count < NEAR else count * FAR


class Times:
    """Estimates what statements take in Python, by the types of their values."""

    def __init__(
        self,
        type_of: Callable[[Any], Type],
        operation_of: Callable[[Any], Operation | None],
        given: Iterable[Type],
    ) -> None:
        self.type_of = type_of
        self.operation_of = operation_of
        sizes = [known_elements(t.shape) for t in arrays_in(given)]
        #: How many elements arrays are supposed to have of which that is not known.
        self.supposed = MORE * max((n for n in sizes if n is not None), default=1)

    def elements(self, shape: Shape | None) -> int:
        """How many elements an array has in the call that a text is written for."""
        known = known_elements(shape)
        return self.supposed if known is None else known

    def of(self, stmts: Iterable[Any]) -> float:
        """The seconds of statements of a block."""
        return sum(map(self.of_statement, stmts), 0.0)

    def of_statement(self, stmt: Any) -> float:
        """The seconds of a statement, with what is in it."""
        inner = [self.of(block) for block in syntax.inner_blocks(stmt)]
        if isinstance(stmt, (gast.For, gast.While)):
            return NUMBERS + self.trips(stmt) * sum(inner)
        if inner:
            return NUMBERS + max(inner)
        value = getattr(stmt, "value", None)
        return NUMBERS if value is None else self.of_value(value)

    def trips(self, loop: Any) -> float:
        """How often a loop goes round, about."""
        over = self.type_of(loop.iter) if isinstance(loop, gast.For) else UNKNOWN
        if isinstance(over, Range) and over.length is not None:
            return over.length
        items = getattr(over, "items", None)
        return TRIPS if items is None else len(items)

    def of_value(self, value: Any) -> float:
        """The seconds of an expression in core form."""
        t = self.type_of(value)
        made = list(arrays_in([t]))
        found = self.operation_of(value)
        if found is None and not isinstance(value, gast.Call):
            return NUMBERS
        names = [n for n in syntax.walk(value) if isinstance(n, gast.Name)]
        arrays = [a for a in map(self.type_of, names) if isinstance(a, Array)]
        given = [self.elements(a.shape) for a in arrays]
        if not made and not given:
            return NUMBERS
        most = max([sum(self.elements(p.shape) for p in made), *given])
        if found is None or not found.op.elementwise:
            call = OTHERS
            if len(given) > 1:
                sizes = [*given, *(self.elements(p.shape) for p in made)]
                call += PRODUCT * math.sqrt(math.prod(sorted(sizes)[-3:]))
            return call + FUNCTION * most + far(most)
        shape = made[0].shape if made else None
        return ARRAYS + self.of_elements(value, shape, found)

    def of_elements(
        self, value: Any, shape: Shape | None, found: Operation | None
    ) -> float:
        """The seconds of an elementwise operation, by its elements."""
        count = self.elements(shape)
        each = FUNCTION if isinstance(value, gast.Call) else OPERATION
        row = known_size(shape[-1]) if shape else None
        if row is not None and row < SHORT and self.is_broadcast(found, shape):
            each = BROADCAST
        return count * each + far(count)

    def is_broadcast(self, found: Operation | None, shape: Shape | None) -> bool:
        """Whether an array of the operands has other axes than the result."""
        operands = [] if found is None else list(found.operands.values())
        given = [self.type_of(n) for n in operands if isinstance(n, gast.expr)]
        return any(
            isinstance(t, Array) and t.shape and len(t.shape) < len(shape or ())
            for t in given
        )

    def saved(self, items: list[Group | Plain], given: int, made: int) -> float:
        """The seconds that a kernel of these saves of one run of them.

        Args:
            given, made: how many arrays it is given, and how many it makes.
        """
        total = -(CALL + GIVEN * (given + 2 * made))
        for item in items:
            if isinstance(item, Plain):
                total += NUMBERS
                continue
            total += sum(map(self.of_member, item.members))
            count = self.elements(item.shape)
            total -= count * LOOP + far(count)
        return total

    def of_member(self, member: Member) -> float:
        """The seconds of a statement that is looped over."""
        found = member.value if isinstance(member.value, Operation) else None
        value = getattr(member.stmt, "value", None)
        call = SUMS if member.kind == "fold" else ARRAYS
        return call + self.of_elements(value, member.shape, found)


def compiling(items: list[Group | Plain]) -> float:
    """The seconds that it takes to compile a kernel of these."""
    count = sum(len(i.members) if isinstance(i, Group) else 1 for i in items)
    return COMPILING + EACH * count


def is_won_back(saves: float, compiles: float, call: float) -> bool:
    """Whether what a kernel saves is worth the time that it takes to compile it.

    Args:
        saves: the seconds that it saves in a call of the function.
        compiles: those that it takes to compile it.
        call: those of a call of the function, without kernels.
    """
    return saves > 0 and saves * RUNNING > compiles * call
