"""What a call leaves in the lists, dicts and objects that it was given.

    memo[n] = x * fib(n - 1, memo)

A call that is executed in its own unit tells what they hold at its end: numbers, here.
What is written to where nobody looks may hold anything afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from srcjax.analysis.types import (
    NONE,
    Buffers,
    Dict,
    List,
    Object,
    Type,
    Unknown,
    all_buffers,
    is_active,
    join_all,
    map_parts,
    parts,
    replace,
    returned_by,
    with_active,
)


@dataclass(frozen=True)
class Left:
    """What was left, by the memory of the list or dict.

    It is asked of a container as a whole: what is under one of its keys is not told
    from what is under another.
    """

    #: What a list or dict in this memory holds besides what it held; None: nothing.
    items: dict[Any, Type | None] = field(default_factory=dict)
    #: All memory that anything may hold which was written to.
    memory: Buffers = NONE
    #: Memory of lists and dicts that may hold anything in `memory`.
    unseen: Buffers = NONE

    def __or__(self, other: Left) -> Left:
        items = dict(self.items)
        for buffer, t in other.items.items():
            items[buffer] = _both(items.get(buffer), t)
        return Left(items, self.memory | other.memory, self.unseen | other.unseen)

    def seen_from(self, site: int, given: Buffers) -> Left:
        """The same where the call stands, which was given this memory."""

        def here(t: Type) -> Type:
            return returned_by(t, site, given)

        items: dict[Any, Type | None] = {}
        for buffer, t in self.items.items():
            for own in here(Unknown(buffers=frozenset([buffer]))).buffers:
                items[own] = _both(items.get(own), None if t is None else here(t))
        memory, unseen = (
            here(Unknown(buffers=held)).buffers for held in (self.memory, self.unseen)
        )
        return Left(items, memory, unseen)

    def blurred(self) -> Left:
        """The same with nothing told of the items but their memory."""
        held = {b: t and _anything(t) for b, t in self.items.items()}
        return Left(held, self.memory, self.unseen)

    def in_place_of(self, t: Type, written: Buffers, active: bool) -> Type:
        """The container after something was written to this memory.

        With `active`, anything in it may carry a derivative from now on.
        """
        if isinstance(t, Object):
            attributes = ((k, self.replaced(held, active)) for k, held in t.items)
            return replace(t, items=tuple(attributes))
        if not _changes(t):
            return t
        changed = t.buffers & written
        if changed <= set(self.items) and changed.isdisjoint(self.unseen):
            found = [self.items[buffer] for buffer in changed]
            held = join_all([*parts(t), *(f for f in found if f is not None)])
            held = held and with_active(held, active)
        else:
            memory = self.memory.union(*map(all_buffers, parts(t)))
            held = Unknown(active or any(map(is_active, parts(t))), memory)
        return replace(t, items=None, elem=held)

    def replaced(self, t: Type, active: bool) -> Type:
        """Another value in the place of one; containers and objects are to stay."""
        if isinstance(t, Object) or parts(t):
            return t
        return Unknown(active or is_active(t), all_buffers(t) | self.memory)


def left_in(given: Iterable[Type]) -> Left:
    """What is in containers at the end of a function that was given them."""
    items: dict[Any, Type | None] = {}
    memory: set[Any] = set()

    def visit(t: Type) -> Type:
        map_parts(t, visit)
        inner = parts(t)
        memory.update(*map(all_buffers, inner))
        if _changes(t):
            held = join_all(map(_shallow, inner))
            for buffer in t.buffers:
                items[buffer] = _both(items.get(buffer), held)
        return t

    for t in given:
        visit(t)
    return Left(items, frozenset(memory))


def _changes(t: Type) -> bool:
    """Whether it is a container whose items may become others."""
    return isinstance(t, Dict) or (isinstance(t, List) and t.cls is list)


def _shallow(t: Type) -> Type:
    """The type with a bound on what is in what: a call may put a table into itself."""
    return map_parts(t, lambda part: _anything(part) if parts(part) else part)


def _anything(t: Type) -> Type:
    return Unknown(is_active(t), all_buffers(t))


def _both(a: Type | None, b: Type | None) -> Type | None:
    """What covers both, where None is nothing at all."""
    return join_all(t for t in (a, b) if t is not None)


@dataclass(frozen=True)
class Outcome:
    """What is known of a call that is executed in its own unit."""

    #: What it gives; None as long as it is not known to end.
    result: Type | None = None
    #: The memory that it filled with values that vary, of what it was given.
    filled: Buffers = NONE
    left: Left = field(default_factory=Left)

    def __or__(self, other: Outcome) -> Outcome:
        result = _both(self.result, other.result)
        return Outcome(result, self.filled | other.filled, self.left | other.left)

    def blurred(self) -> Outcome:
        """The same with nothing told of values but their memory: it grows no more."""
        result = self.result and _anything(self.result)
        return Outcome(result, self.filled, self.left.blurred())


__all__ = ["Left", "Outcome", "left_in"]
