"""Which statements share a loop.

    negative = -x                     for i in range(x.shape[0]):
    e = np.exp(negative)        ->        e_i = exp(-x[i])
    total = np.sum(e)                     total = added(total, e_i)
    ratio = e / total                 for i in range(x.shape[0]):
                                          ratio[i] = ...

A statement joins the last group of its shape that nothing which it needs comes after.
What it needs of that group itself must be there element by element: `ratio` needs all
of `total`. Statements that write in place, and those of which it is not known, are in
the way of all others.
"""

from __future__ import annotations

import bisect
import functools
from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.sizes import Count
from srcjax.analysis.types import NONE, Buffers, Dim, Shape, same_size


@dataclass
class Member:
    """A statement of which the elements are computed in a loop."""

    stmt: Any
    #: The name that is assigned; of a store, the name of the array that is written to.
    name: str
    #: "map", "fold" or "store".
    kind: str
    #: The shape that is looped over.
    shape: Shape
    #: What is computed of each element: an `Operation`, or the array that is copied.
    value: Any
    reads: set[str]
    #: Of an array that is filled with a number, the one that it is like.
    like: Any = None
    #: Whether it is a copy in the dtype of `name`.
    converts: bool = False
    #: Of a fold, the axes that it goes along (all of them: None) and `keepdims`.
    axes: tuple[int, ...] | None = None
    keepdims: bool = False
    #: Of a store, the operation that is applied in place, if there is one.
    update: Any = None
    #: Of a store, the array of which a part is written to, and what takes the part.
    base: str = ""
    before: list[gast.stmt] = field(default_factory=list)
    #: The names of arrays of which it is not known how many elements they have.
    open: set[str] = field(default_factory=set)
    #: The names of arrays that it does not read element by element.
    whole: set[str] = field(default_factory=set)
    #: The memory that it reads, and of a store that it writes to.
    seen: Buffers = NONE
    changed: Buffers = NONE

    @property
    def folds_rows(self) -> bool:
        """Whether it is a fold along outer axes, of which inner ones are kept."""
        if self.kind != "fold" or not self.axes:
            return False
        kept = [k for k in range(len(self.shape)) if k not in self.axes]
        return kept != list(range(len(kept)))


@dataclass
class Group:
    """Members that share a loop."""

    shape: Shape
    members: list[Member] = field(default_factory=list)

    @property
    def maps(self) -> set[str]:
        """The names whose elements are at hand in the loop."""
        return {m.name for m in self.members if m.kind == "map"}

    def until(self, name: str) -> list[Member]:
        """The members up to the one which binds the name, with that one."""
        names = [m.name for m in self.members]
        return self.members[: names.index(name) + 1]

    @functools.cached_property
    def uses(self) -> dict[str, list[int]]:
        """The places among the members of all uses of each name, once all are here."""
        found: dict[str, list[int]] = {}
        for place, member in enumerate(self.members):
            for name, count in syntax.use_counts(member.stmt).items():
                found.setdefault(name, []).extend([place] * count)
        return found

    def uses_after(self, name: str) -> int:
        """How often members use a name that come after the one which binds it."""
        uses = self.uses.get(name, [])
        return len(uses) - bisect.bisect_left(uses, len(self.until(name)))


@dataclass
class Plain:
    """A statement that stands for itself."""

    stmt: Any
    reads: set[str]
    writes: set[str]
    #: Whether it may write to memory, or read what is written, or leave.
    barrier: bool


def grouped(items: list[Member | Plain], in_order: bool) -> list[Group | Plain]:
    """The statements in an order in which those that can share a loop do.

    Args:
        in_order: whether a loop is run in order; else folds along outer axes share none
            with other folds.
    """
    found: list[Group | Plain] = []
    for item in items:
        if isinstance(item, Plain):
            found.insert(_earliest(found, item), item)
            continue
        place = _place(found, item, in_order)
        if place is None:
            found.append(Group(item.shape, [item]))
        else:
            place.members.append(item)
    return found


def _earliest(found: list[Group | Plain], item: Plain) -> int:
    """Where a statement may stand that only binds names, so that loops stay near."""
    at = len(found)
    while not item.barrier and at and not _in_the_way(found[at - 1], item):
        at -= 1
    return at if any(isinstance(e, Group) for e in found[at:]) else len(found)


def _in_the_way(each: Group | Plain, item: Plain) -> bool:
    """Whether a statement cannot stand before this."""
    if isinstance(each, Plain):
        names = each.writes | each.reads
        return each.barrier or bool(each.writes & item.reads or names & item.writes)
    writes = {m.name for m in each.members}
    reads = set().union(*(m.reads for m in each.members))
    return bool(writes & item.reads or (writes | reads) & item.writes)


def _place(found: list[Group | Plain], item: Member, in_order: bool) -> Group | None:
    """The group that a member joins."""
    for each in reversed(found):
        alike = (
            isinstance(each, Group)
            and _goes_along(each, item)
            and (in_order or _folds_alike(each, item))
        )
        if isinstance(each, Group) and alike and not _needs_all(each, item):
            return each
        if _before(each, item):
            return None
    return None


def _folds_alike(group: Group, item: Member) -> bool:
    """Whether all folds, or none, are along outer axes."""
    return item.kind != "fold" or all(
        m.folds_rows == item.folds_rows for m in group.members if m.kind == "fold"
    )


def _needs_all(group: Group, item: Member) -> bool:
    """Whether a member reads what a group has only at its end, or writes in its way."""
    for m in group.members:
        if m.kind == "fold" and (m.name in item.reads or m.name == item.name):
            return True
        if m.kind == "store" or item.changed & m.seen or m.name in item.whole:
            return True
        if m.name in (item.name, item.base):
            return True
        if item.name in m.reads and (item.kind != "map" or item.name in m.whole):
            return True  # else what it was before is there until the loop is done
    return False


def _before(each: Group | Plain, item: Member) -> bool:
    """Whether a member has to come after it."""
    if isinstance(each, Plain):
        return (
            each.barrier
            or item.kind == "store"
            or bool(each.writes & item.reads)
            or item.name in each.reads | each.writes
        )
    return any(
        m.kind == "store"
        or item.kind == "store"
        or m.name in item.reads
        or m.name == item.name
        or item.name in m.reads
        for m in each.members
    )


def is_open(dim: Dim) -> bool:
    """Whether nothing is known of a size, but that an array has it."""
    return dim is None or isinstance(dim, Count)


def _goes_along(group: Group, item: Member) -> bool:
    """Whether a member has as many elements as the loop of a group goes through."""
    a, b = group.shape, item.shape
    if len(a) != len(b):
        return False
    # What is computed of these elements alone has as many of them.
    follows = item.kind != "store" and bool(item.open) and item.open <= group.maps
    return all(
        same_size(m, n) or (follows and is_open(m) and is_open(n))
        for m, n in zip(a, b, strict=True)
    )
