"""Sizes of axes that stand for more than one number, and what is supposed of them.

The first call of a function has `x` of shape (3,) and `w` of shape (3,); what is
written for it should serve 5 and 5 too, and not 5 and 1. So each axis of an argument
that is longer than 1 is a `Sym` of its own, and where the function needs two of them
to be the same size (`w * x`), that is supposed of them and noted down in the `Sizes`
that they belong to. A call with other sizes is served where all of that holds.

What is made of them has a name that says how (`Made`): `x[:3]` has as many items as
`x` if these are less than 3. It is only when such a size is compared with another one
that it is supposed which of the cases it is, and that the three items are there.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Made:
    """How a size comes from others: `m + n`, `m * n`, `m // n`, a slice of an axis."""

    #: `+`, `-`, `*`, `//` (rounded), `/` (without a rest) or `[:]`.
    how: str
    of: tuple[Sym | int | None, ...]

    def value(self, actual: Mapping[str, int]) -> int | None:
        """The size, where those that it is made of have these."""
        found = [None if d is None else size_of(d, actual) for d in self.of]
        if self.how == "[:]":
            size, *bounds = found
            if size is None:
                return None
            return len(range(*slice(*bounds).indices(max(size, 0))))
        if None in found:
            return None
        return functools.reduce(_MAKING[self.how], found)  # type: ignore[arg-type]


def _divided(m: int, n: int) -> int | None:
    return m // n if n > 0 else None


_MAKING: dict[str, Callable[[int, int], int | None]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": _divided,
    "/": _divided,
}


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
    #: How it comes from other sizes; None: it is one of an argument.
    made: Made | None = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        return _named(self)


@dataclass(frozen=True, slots=True)
class Count:
    """A size of which only the places are known that made it, plus a constant offset.

    Two sizes of one `Count` are equal: `analysis.counts` sees to it that what was made
    before one of the places was executed again has it no more. It may be 1.
    """

    places: frozenset[int]
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
    #: How sizes in `same` are made that are none of an argument.
    made: dict[str, Sym] = field(default_factory=dict)
    #: How many items slices have, as far as that is supposed in `order`.
    cut: dict[str, Sym | int] = field(default_factory=dict)
    #: What the user calls them.
    called: dict[str, str] = field(default_factory=dict)

    def resolved(self, dim: Sym | int) -> Sym | int:
        """The size in terms of those that are left."""
        while isinstance(dim, Sym):
            known = self.same.get(dim.name, self.cut.get(dim.name))
            if known is not None:
                dim = plus(known, dim.offset)
                continue
            if dim.made is None:
                return Sym(dim.name, dim.offset, dim.any_size, self)
            of = (None if d is None else self.resolved(d) for d in dim.made.of)
            again = plus(made_of(dim.made.how, *of), dim.offset)
            if isinstance(again, Sym) and again.name == dim.name:
                return Sym(again.name, again.offset, True, self, again.made)
            dim = again
        return dim

    def settled(self, dim: Sym | int) -> Sym | int:
        """The same, where it is supposed which items a slice has."""
        dim = self.resolved(dim)
        if not isinstance(dim, Sym) or dim.made is None or self.size(dim) is None:
            return dim
        if dim.made.how == "[:]":
            found = self._sliced(*dim.made.of)
            if found is not None:
                self.cut[dim.name] = found
            return self.resolved(dim)
        for part in dim.made.of:
            if part is not None:
                self.settled(part)
        dim = self.resolved(dim)
        if isinstance(dim, Sym) and dim.made is not None and dim.made.how == "-":
            self.suppose_order(*dim.made.of)  # type: ignore[arg-type]
        return dim

    def _sliced(
        self, dim: Any, lower: Any, upper: Any, step: Any = None
    ) -> Sym | int | None:
        """How many items `axis[lower:upper:step]` has."""
        if step is not None and step < 0:
            return None
        dim = self.settled(dim)
        start = 0 if lower is None else self._place(dim, lower)
        stop = dim if upper is None else self._place(dim, upper)
        if start is None or stop is None or not self.suppose_order(stop, start):
            return 0 if self.size(start) is not None else None
        if isinstance(start, int):
            count = plus(stop, -start)
        elif isinstance(stop, Sym) and stop.name == start.name:
            count = stop.offset - start.offset
        else:
            count = made_of("-", stop, start)
        return made_of("//", plus(count, step - 1), step) if step else count

    def _place(self, dim: Sym | int, bound: Sym | int) -> Sym | int | None:
        """Where in an axis a bound of a slice is; whether it is inside is supposed."""
        if isinstance(bound, Sym):
            bound = self.settled(bound)
            if not self.suppose_order(bound, 0):
                return None  # it counts from the end
            return bound if self.suppose_order(dim, bound) else dim
        if bound >= 0:
            return bound if self.suppose_order(dim, bound) else dim
        return plus(dim, bound) if self.suppose_order(dim, -bound) else 0

    def suppose_same(self, m: Sym | int, n: Sym | int) -> Sym | int | None:
        """One size for both, if they were equal; None if they were not."""
        m, n = self.resolved(m), self.resolved(n)
        if m == n:
            return m
        if self.size(m) is None or self.size(m) != self.size(n):
            return None
        m, n = self.settled(m), self.settled(n)
        if m == n:
            return m
        if self._suppose(m, n):
            return self.resolved(m)
        return None

    def _suppose(self, m: Sym | int, n: Sym | int) -> bool:
        """Suppose of one of two sizes that it is the other."""
        (k, base), (j, rest) = multiple(m), multiple(n)
        if k == j > 1:  # 2 * m == 2 * n
            return self.suppose_same(base, rest) is not None
        pairs = [(m, n), (n, m)]
        for dim, other in pairs:  # m / 4 == n
            if isinstance(dim, Sym) and dim.made and dim.made.how == "/":
                whole, parts = dim.made.of
                assert whole is not None and parts is not None
                product = made_of("*", plus(other, -dim.offset), parts)
                if self.suppose_same(whole, product) is not None:
                    return True
            if isinstance(dim, Sym) and dim.made and dim.made.how == "-":  # m - 3n == n
                whole, part = dim.made.of
                assert whole is not None and part is not None
                total = made_of("+", plus(other, -dim.offset), part)
                if self.suppose_same(whole, total) is not None:
                    return True
        own = list(self.example)
        plain = [
            (own.index(dim.name), dim, other)
            for dim, other in pairs
            if isinstance(dim, Sym) and not dim.made and dim.name in self.example
        ]
        plain.sort(key=lambda found: -found[0])  # the one that comes later is replaced
        other_way = [(0, dim, other) for dim, other in pairs if isinstance(dim, Sym)]
        for _, dim, other in [*plain, *other_way]:
            if dim.name not in names_in(other):
                self.same[dim.name] = plus(other, -dim.offset)
                if dim.made is not None:
                    self.made[dim.name] = plus(dim, -dim.offset)  # type: ignore[assignment]
                self._suppose_again(dim.name)
                return True
        return False

    def _suppose_again(self, name: str) -> None:
        """Put what is supposed of sizes made of this one in terms of those left.

        Else what is supposed of `2 * m` and `2 * n` would go in circles once `m` is
        supposed to be `n`.
        """
        for key, dim in list(self.made.items()):
            if key == name or key not in self.made:
                continue
            if name in names_in(dim) | names_in(self.same[key]):
                del self.made[key]
                self.suppose_same(dim, self.same.pop(key))

    def size(self, dim: Sym | int | None) -> int | None:
        """The size in the call for which the version was written, if it is given."""
        return None if dim is None else size_of(dim, self.example)

    def suppose_fit(self, m: Sym | int, n: Sym | int) -> None:
        """The function runs with these sizes only if they are the same."""
        if m != n and self.size(m) == self.size(n) is not None:
            self.fits.add((m, n))

    def suppose_order(self, m: Sym | int, n: Sym | int) -> bool | None:
        """Whether `m >= n`, if both were given; None if one was not."""
        m, n = self.settled(m), self.settled(n)
        a, b = self.size(m), self.size(n)
        if a is None or b is None:
            return None
        larger, least = (m, n) if a >= b else (n, plus(m, 1))
        while isinstance(larger, Sym) and larger.made and isinstance(least, int):
            first, number = larger.made.of[0], larger.made.of[-1]
            bare = plus(larger, -larger.offset)
            k, rest = multiple(bare)
            if larger.made.how in ("/", "//") and isinstance(number, int):
                least = (least - larger.offset) * number  # m // 2 >= n is m >= 2 * n
                larger = first  # type: ignore[assignment]
            elif k > 1:  # 2 * m >= n is m >= n / 2
                least, larger = -((larger.offset - least) // k), rest
            else:
                break
        if not self._is_always(larger, least):
            self.order.add((larger, least))
        return a >= b

    def _is_always(self, m: Sym | int, n: Sym | int) -> bool:
        """Whether `m >= n` for all sizes, or is supposed already."""
        if isinstance(m, int) or isinstance(n, Sym):
            named = isinstance(m, Sym) and isinstance(n, Sym) and m.name == n.name
            both = isinstance(m, int) and isinstance(n, int)
            return named or both or _is_never_less(m, n)
        if _is_count(m) and n <= m.offset:
            return True
        least = (
            (b, a.offset - m.offset)
            for a, b in self.order
            if isinstance(a, Sym) and a.name == m.name
        )
        return any(isinstance(b, int) and b - offset >= n for b, offset in least)

    def is_ordered(self, m: Sym | int, n: Sym | int) -> bool | None:
        """Whether `m >= n` always or is supposed, or `m < n` (False)."""
        m, n = self.resolved(m), self.resolved(n)
        if isinstance(m, Sym) and isinstance(n, Sym) and m.name == n.name:
            return m.offset >= n.offset
        if _is_never_less(m, n):
            return True
        for a, b in self.resolved_order():
            if (a, b) == (m, n):
                return True
            if (a, b) == (n, plus(m, 1)):
                return False
        return None

    def resolved_order(self) -> set[tuple[Sym | int, Sym | int]]:
        """Which sizes are not less than others, in terms of those that are left."""
        pairs = {(self.resolved(m), self.resolved(n)) for m, n in self.order}
        least: dict[Any, int] = {}  # of some, only the largest number tells something
        found = set()
        for m, n in pairs:
            key, more = _difference(m, n)
            least[key] = max(more, least.get(key, more))
            if isinstance(m, int) and isinstance(n, int) or _is_never_less(m, n):
                continue
            if not isinstance(m, Sym) or not isinstance(n, Sym) or m.name != n.name:
                found.add((m, n))
        strongest = {pair: _difference(*pair) for pair in found}
        return {pair for pair, (key, more) in strongest.items() if more == least[key]}

    def resolved_made(self) -> list[tuple[Sym, Sym | int]]:
        """Sizes that are none of an argument, and what they are supposed to be."""
        pairs = [(self.made[name], self.same[name]) for name in self.made]
        found = []
        for dim, other in pairs:
            assert dim.made is not None
            of = (None if d is None else self.resolved(d) for d in dim.made.of)
            m, n = made_of(dim.made.how, *of), self.resolved(other)
            if isinstance(m, Sym) and m != n:
                found.append((m, n))
        return found

    def resolved_not_one(self) -> list[Sym]:
        """Sizes that are not 1, as far as what is supposed in `order` allows it."""
        least = {
            m.name: n - m.offset
            for m, n in self.resolved_order()
            if isinstance(m, Sym) and isinstance(n, int)
        }
        left = {self.resolved(Sym(name)) for name in self.not_one}
        found = [
            dim
            for dim in left
            if isinstance(dim, Sym) and least.get(dim.name, 0) <= 1 - dim.offset
        ]
        return sorted(found, key=lambda dim: (dim.name, dim.offset))

    def with_fits(self, wanted: Callable[[str], bool]) -> Sizes:
        """The same, where sizes of wanted names that have to fit are supposed to."""
        other = Sizes(self.example, dict(self.same), set(), set(self.order))
        other.not_one = set(self.not_one)
        other.made, other.cut = dict(self.made), dict(self.cut)
        other.called = dict(self.called)
        for pair in sorted(self.fits, key=repr):
            if all(wanted(name) for dim in pair for name in names_in(dim)):
                other.suppose_same(*pair)
        return other

    def suppose_one(self, dim: Sym) -> bool | None:
        """Whether the size is 1, if it was given; None if it was not."""
        if dim.made is None and not dim.offset and not dim.any_size:
            self.not_one.add(dim.name)
            return False
        found = self.settled(dim)
        if isinstance(found, int):
            return found == 1
        if found.made is None and not found.offset and not found.any_size:
            return self.suppose_one(found)
        size = self.size(found)
        if size is None or size < 1:
            return None
        if size == 1:
            return True if self.suppose_same(found, 1) is not None else None
        self.suppose_order(found, 2)
        return False

    def copy(self) -> Sizes:
        """The same sizes, of which nothing is supposed yet."""
        return Sizes(dict(self.example))

    def take(self, other: Sizes) -> None:
        """Suppose what is supposed in code that is called."""

        def known(*dims: Sym | int) -> bool:
            return all(name in self.example for d in dims for name in arguments_in(d))

        for name, dim in other.same.items():
            own = other.made.get(name, Sym(name, 0, False, self))
            if known(own, dim):
                self.suppose_same(own, dim)
        for pair in other.fits:
            if known(*pair):
                self.suppose_fit(*pair)
        for m, n in other.order:
            if known(m, n):
                self.suppose_order(m, n)
        self.not_one |= other.not_one & self.example.keys()

    def holds(self, actual: Mapping[str, int]) -> bool:
        """Whether sizes of these names are as they are supposed to be."""
        pairs = [(self.made.get(n, Sym(n)), dim) for n, dim in self.same.items()]
        order = [(size_of(m, actual), size_of(n, actual)) for m, n in self.order]
        return (
            all(
                size_of(m, actual) == size_of(n, actual)
                for m, n in (*pairs, *self.fits)
            )
            and all(m is not None and n is not None and m >= n for m, n in order)
            and all(actual[name] != 1 for name in self.not_one)
        )


def size_of(dim: Sym | int, actual: Mapping[str, int]) -> int | None:
    """The size, where those of arguments are these; None if it cannot be told."""
    if isinstance(dim, int):
        return dim
    if dim.made is not None:
        found = dim.made.value(actual)
    else:
        found = None if dim.any_size else actual.get(dim.name)
    return None if found is None else found + dim.offset


def names_in(dim: Sym | int | None) -> set[str]:
    """The names of the size, and of those that it is made of."""
    if not isinstance(dim, Sym):
        return set()
    return {dim.name}.union(*map(names_in, dim.made.of if dim.made else ()))


def arguments_in(dim: Sym | int | None) -> set[str]:
    """The names of sizes of arguments that the size is made of."""
    if not isinstance(dim, Sym):
        return set()
    if dim.made is None:
        return {dim.name}
    return set().union(*map(arguments_in, dim.made.of))


def plus(dim: Sym | int, offset: int) -> Sym | int:
    """`dim + offset`."""
    if isinstance(dim, int):
        return dim + offset
    return Sym(dim.name, dim.offset + offset, dim.any_size, dim.sizes, dim.made)


def made_of(how: str, *of: Any) -> Any:
    """A size made of others (see `Made`), in its simplest form."""
    if how == "[:]":
        dim, lower, upper, *step = of
        bounds = slice(lower, upper, *step)
        if isinstance(dim, int):
            return len(range(*bounds.indices(dim)))
        text = f"({_named(dim)}[{lower}:{upper}:{step[0] if step else None}])"
        return Sym(text, 0, True, dim.sizes, Made(how, of))
    if how == "*":
        return _product(list(of))
    m, n = of
    if isinstance(m, int) and isinstance(n, int):
        return _MAKING[how](m, n)
    if how in ("//", "/") and n == 1:
        return m
    if how == "+" and isinstance(n, int):
        return plus(m, n)
    if how == "+" and isinstance(m, int):
        return plus(n, m)
    if how == "-" and isinstance(n, int):
        return plus(m, -n)
    if how == "-" and isinstance(m, Sym) and m.name == n.name:
        return m.offset - n.offset
    (k, base), (j, other) = multiple(m), multiple(n)
    if how in ("+", "-") and isinstance(base, Sym) and base == other:  # 3 * n - 2 * n
        return _product([k + j if how == "+" else k - j, base])
    for whole, part in ((m, n), (n, m)) if how == "+" else ():  # (m - n) + n
        made = getattr(whole, "made", None)
        if made is not None and made.how == "-" and made.of[1] == part:
            return plus(made.of[0], whole.offset)
    if how in ("/", "//") and n in factors(m):  # m * n // n
        rest = factors(m)
        rest.remove(n)
        return _product(rest)
    return _named_by(how, (m, n) if how != "+" else tuple(sorted((m, n), key=_named)))


def _difference(m: Sym | int, n: Sym | int) -> tuple[tuple[str, str], int]:
    """Which sizes are compared in `m >= n`, and how much less the second may be."""
    first, second = (d if isinstance(d, Sym) else Sym("", d) for d in (m, n))
    return (first.name, second.name), second.offset - first.offset


def multiple(dim: Sym | int) -> tuple[int, Sym | int]:
    """`(3, n)` for `3 * n`, and `(1, n)` for `n`."""
    parts = factors(dim)
    if len(parts) > 1 and isinstance(parts[0], int):
        return parts[0], _product(parts[1:])
    return 1, dim


def _is_count(dim: Sym) -> bool:
    """Whether it is no negative number, but for its offset."""
    if dim.made is None or dim.made.how == "[:]":
        return True
    parts = [d for d in dim.made.of if d is not None]
    return dim.made.how != "-" and all(
        d >= 0 if isinstance(d, int) else _is_count(d) and d.offset >= 0 for d in parts
    )


def _is_never_less(m: Sym | int, n: Sym | int) -> bool:
    """Whether the first is a larger multiple of a size, or the second a part of it."""
    (k, base), (j, other) = multiple(m), multiple(n)
    if isinstance(n, Sym) and n.made is not None and n.made.how == "//":
        number = n.made.of[1]
        part = n.made.of[0] == m and n.offset <= 0
        return part and isinstance(number, int) and number > 0
    return isinstance(base, Sym) and base == other and k >= j


def factors(dim: Sym | int) -> list[Sym | int]:
    """The sizes of which it is the product."""
    if isinstance(dim, Sym) and dim.made and dim.made.how == "*" and not dim.offset:
        return list(dim.made.of)  # type: ignore[arg-type]
    return [dim]


def _product(dims: list[Sym | int]) -> Sym | int:
    found = [f for dim in dims for f in factors(dim)]
    for dim in found:  # m / n * n
        made = dim.made if isinstance(dim, Sym) and not dim.offset else None
        if made is not None and made.how == "/" and made.of[1] in found:
            found.remove(dim)
            found.remove(made.of[1])
            return _product([*found, made.of[0]])  # type: ignore[list-item]
    number = math.prod(f for f in found if isinstance(f, int))
    named = sorted((f for f in found if isinstance(f, Sym)), key=_named)
    if not named or number == 0:
        return number
    of: tuple[Sym | int, ...] = (number, *named) if number != 1 else tuple(named)
    return of[0] if len(of) == 1 else _named_by("*", of)


def _named_by(how: str, of: tuple[Sym | int, ...]) -> Sym:
    """A size called after how it is made."""
    sizes = {id(d.sizes): d.sizes for d in of if isinstance(d, Sym)}
    found = sizes.popitem()[1] if len(sizes) == 1 else None
    return Sym(f"({how.join(map(_named, of))})", 0, True, found, Made(how, of))


def _named(dim: Sym | int) -> str:
    if isinstance(dim, int):
        return str(dim)
    return f"({dim.name}{dim.offset:+})" if dim.offset else dim.name


def text_of(dim: Sym | int, called: Callable[[str], str]) -> str:
    """The size as an expression of those of arguments, which are called so."""
    if isinstance(dim, int):
        return str(dim)
    if dim.made is None:
        text = called(dim.name)
    elif dim.made.how == "[:]":
        size, *bounds = dim.made.of
        shown = ":".join("" if b is None else str(b) for b in bounds)
        assert size is not None
        return f"len(range({text_of(size, called)})[{shown}])" + _added(dim.offset)
    else:
        how = "//" if dim.made.how == "/" else dim.made.how
        parts = [text_of(d, called) for d in dim.made.of if d is not None]
        text = f" {how} ".join(f"({p})" if " " in p else p for p in parts)
    return text + _added(dim.offset)


def _added(offset: int) -> str:
    return f" {'+' if offset > 0 else '-'} {abs(offset)}" if offset else ""


def known_size(dim: Any) -> int | None:
    """The size in the call that a version is written for, if that is known."""
    if isinstance(dim, Sym) and dim.sizes is not None:
        return dim.sizes.size(dim)
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
