"""Sizes of axes that stand for more than one number, and what is supposed of them.

The first call of a function has `x` of shape (3,) and `w` of shape (3,); what is
written for it should serve 5 and 5 too, and not 5 and 1. So each axis of an argument
that is longer than 1 is a `Sym` of its own, and where the function needs two of them
to be the same size (`w * x`), that is supposed of them and noted down in the `Sizes`
that they belong to. A call with other sizes is served where all of that holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Sym:
    """A symbolic dimension: a size known by name only, plus a constant offset.

    The name tells one number from another: those of equal names are equal.
    """

    name: str
    offset: int = 0
    #: Whether it may be 1 (or less).
    any_size: bool = False
    #: Where it is noted down what is supposed of it.
    sizes: Sizes | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Count:
    """A size of which only the place is known that made it, plus a constant offset.

    Two sizes of one `Count` are equal: `analysis.counts` sees to it that what a place
    made before it was executed again has it no more. It may be 1.
    """

    place: int
    name: str
    axis: int
    offset: int = 0

    def __repr__(self) -> str:
        return "?"


@dataclass
class Sizes:
    """The sizes of the arguments that one version is written for.

    A size is called after the expression that gives it: `x.shape[0]`.
    """

    #: What each was in the call for which the version was written.
    example: dict[str, int] = field(default_factory=dict)
    #: Sizes that are another one plus an offset, or a number (`np.zeros(2) + x`),
    #: wherever the version is right.
    same: dict[str, Sym | int] = field(default_factory=dict)
    #: Sizes that have to be the same for the function to run: the derivative may not
    #: need the value, and would give numbers where the function itself raises.
    fits: set[tuple[Sym | int, Sym | int]] = field(default_factory=set)
    #: Sizes of which the first is not less than the second, wherever it is right.
    order: set[tuple[Sym | int, Sym | int]] = field(default_factory=set)
    #: Sizes that are not 1 there.
    not_one: set[str] = field(default_factory=set)

    def resolved(self, dim: Sym | int) -> Sym | int:
        """The size in terms of those that are left."""
        while isinstance(dim, Sym) and dim.name in self.same:
            other = self.same[dim.name]
            if isinstance(other, int):
                return other + dim.offset
            dim = Sym(other.name, other.offset + dim.offset, dim.any_size)
        if isinstance(dim, int):
            return dim
        return Sym(dim.name, dim.offset, dim.any_size, self)

    def suppose_same(self, m: Sym | int, n: Sym | int) -> Sym | int | None:
        """One size for both, if they were equal; None if they were not."""
        m, n = self.resolved(m), self.resolved(n)
        if m == n:
            return m
        if isinstance(n, int):
            m, n = n, m
        if isinstance(n, int) or self.size(m) != self.size(n) or self.size(n) is None:
            return None
        if isinstance(m, int):
            self.same[n.name] = m - n.offset
            return m
        order = list(self.example)
        if order.index(n.name) < order.index(m.name):
            m, n = n, m
        if m.name == n.name:
            return None
        self.same[n.name] = Sym(m.name, m.offset - n.offset, False, self)
        return m

    def size(self, dim: Sym | int) -> int | None:
        """The size in the call for which the version was written, if it is given."""
        if isinstance(dim, int):
            return dim
        if dim.any_size or dim.name not in self.example:
            return None
        return self.example[dim.name] + dim.offset

    def suppose_fit(self, m: Sym | int, n: Sym | int) -> None:
        """The function runs with these sizes only if they are the same."""
        if m != n and self.size(m) == self.size(n) is not None:
            self.fits.add((m, n))

    def suppose_order(self, m: Sym | int, n: Sym | int) -> bool | None:
        """Whether `m >= n`, if both were given; None if one was not."""
        m, n = self.resolved(m), self.resolved(n)
        a, b = self.size(m), self.size(n)
        if a is None or b is None:
            return None
        larger, least = (m, n) if a >= b else (n, plus(m, 1))
        if isinstance(larger, int):
            always = isinstance(least, int)
        elif isinstance(least, int):
            always = least <= larger.offset + 2  # a size called by name is 2 at least
        else:
            always = larger.name == least.name
        if not always:
            self.order.add((larger, least))
        return a >= b

    def is_ordered(self, m: Sym | int, n: Sym | int) -> bool | None:
        """Whether `m >= n` is supposed, or `m < n` (False)."""
        m, n = self.resolved(m), self.resolved(n)
        if isinstance(m, Sym) and isinstance(n, Sym) and m.name == n.name:
            return m.offset >= n.offset
        for a, b in self.resolved_order():
            if (a, b) == (m, n):
                return True
            if (a, b) == (n, plus(m, 1)):
                return False
        return None

    def resolved_order(self) -> set[tuple[Sym | int, Sym | int]]:
        """Which sizes are not less than others, in terms of those that are left."""
        pairs = [(self.resolved(m), self.resolved(n)) for m, n in self.order]
        return {
            (m, n)
            for m, n in pairs
            if isinstance(m, int) != isinstance(n, int)
            or (isinstance(m, Sym) and isinstance(n, Sym) and m.name != n.name)
        }

    def with_fits(self, wanted: Callable[[str], bool]) -> Sizes:
        """The same, where sizes of wanted names that have to fit are supposed to."""
        other = Sizes(self.example, dict(self.same), set(), set(self.order))
        other.not_one = set(self.not_one)
        for pair in sorted(self.fits, key=repr):
            if all(isinstance(dim, int) or wanted(dim.name) for dim in pair):
                other.suppose_same(*pair)
        return other

    def suppose_more(self, dim: Sym) -> None:
        """The size is not 1."""
        self.not_one.add(dim.name)

    def copy(self) -> Sizes:
        """The same sizes, of which nothing is supposed yet."""
        return Sizes(dict(self.example))

    def take(self, other: Sizes) -> None:
        """Suppose what is supposed in code that is called."""
        for name, dim in other.same.items():
            known = isinstance(dim, int) or dim.name in self.example
            if known and name in self.example:
                self.suppose_same(Sym(name, 0, False, self), dim)
        for pair in other.fits:
            if all(isinstance(dim, int) or dim.name in self.example for dim in pair):
                self.suppose_fit(*pair)
        for m, n in other.order:
            if all(isinstance(d, int) or d.name in self.example for d in (m, n)):
                self.suppose_order(m, n)
        self.not_one |= other.not_one & self.example.keys()

    def holds(self, actual: Mapping[str, int]) -> bool:
        """Whether sizes of these names are as they are supposed to be."""

        def size(dim: Sym | int) -> int:
            return dim if isinstance(dim, int) else actual[dim.name] + dim.offset

        pairs = [(Sym(name), dim) for name, dim in self.same.items()]
        return (
            all(size(m) == size(n) for m, n in (*pairs, *self.fits))
            and all(size(m) >= size(n) for m, n in self.order)
            and all(actual[name] != 1 for name in self.not_one)
        )


def plus(dim: Sym | int, offset: int) -> Sym | int:
    """`dim + offset`."""
    if isinstance(dim, int):
        return dim + offset
    return Sym(dim.name, dim.offset + offset, dim.any_size, dim.sizes)


def known_size(dim: Any) -> int | None:
    """The size in the call that a version is written for, if that is known."""
    if isinstance(dim, Sym) and dim.sizes is not None and dim.name in dim.sizes.example:
        return dim.sizes.example[dim.name] + dim.offset
    return dim if isinstance(dim, int) else None


def shown(dim: Any) -> str:
    """A dimension for an error: `?` where it is not known."""
    size = known_size(dim)
    return "?" if size is None else str(size)


def sizes_of(dims: Any) -> Sizes | None:
    """Where it is noted down what is supposed of these sizes."""
    for dim in dims:
        if isinstance(dim, Sym) and dim.sizes is not None:
            return dim.sizes
    return None
