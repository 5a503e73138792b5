"""Which containers hold batches in every part, because some part does at some time.

A list that holds one number for all examples now and a batch later holds batches from
the start: code that reads it must not have to know which it is. The same is true of a
name, a parameter and the result of a function that hold one or the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from srcjax import syntax
from srcjax.analysis.binding import Env
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Dict,
    List,
    Object,
    Tuple,
    Type,
    all_buffers,
    is_active,
    is_leaf,
    join_all,
    map_parts,
    parts,
    with_active,
)
from srcjax.frontend.unit import Unit

_CHANGEABLE = (List, Dict, Object)


@dataclass
class Uniform:
    """Names, memory and functions all of whose values are batches."""

    names: set[tuple[int, str]] = field(default_factory=set)
    buffers: set = field(default_factory=set)
    results: dict[int, Type] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How much is known to hold batches."""
        return len(self.names) + len(self.buffers)

    def one_for_all(self, t: Type, name: tuple[int, str]) -> None:
        """Any item of the container is read by the same code: all are batches."""
        if not is_active(t) or not lacks(t, with_active(t, True)):
            return
        if t.buffers:
            self.buffers |= changeable_buffers(t)
        elif name[1]:
            self.names.add(name)

    def applied(self, t: Type) -> Type:
        """The type with the containers that hold batches holding nothing else."""
        if not self.buffers or not parts(t) or self.buffers.isdisjoint(all_buffers(t)):
            return t
        if isinstance(t, _CHANGEABLE) and t.buffers & self.buffers:
            return with_active(t, True)
        return map_parts(t, self.applied)

    def all_applied(self, env: Env) -> Env:
        """The names of which the types are others then, with these."""
        if not self.buffers:
            return {}
        held = ((n, t, self.applied(t)) for n, t in env.items() if not is_leaf(t))
        return {n: new for n, t, new in held if new is not t}

    def learn(self, program: Program) -> bool:
        """Find what the last run left mixed; whether there was anything."""
        before = len(self.names), len(self.buffers), dict(self.results)
        for unit in list(program.units.values()):
            joined = program.types_of(unit)
            for stmt in syntax.walk(unit.node):
                for variant in program.facts.of(stmt):
                    for env in (variant.before, variant.after):
                        for name, t in env.items():
                            self.compare(unit, name, t, joined[name])
        for key, t in program.facts.results.items():
            if parts(t) and is_active(t):
                self.results[key] = t
        return before != (len(self.names), len(self.buffers), self.results)

    def compare(self, unit: Unit, name: str, have: Type, want: Type) -> None:
        """Note the parts that hold no batch where they do at another time."""
        if not parts(have) or not is_active(want) or not lacks(have, want):
            return
        found = self.mixed(have, want)
        self.buffers |= found
        if not found:
            self.names.add((id(unit.source.func), name))

    def mixed(self, have: Type, want: Type) -> frozenset:
        """The memory of the containers in which a part lacks the batch."""
        if isinstance(have, _CHANGEABLE) and have.buffers:
            return have.buffers if lacks(have, want) else frozenset()
        found: frozenset = frozenset()
        for part, wanted in pairs(have, want):
            found |= self.mixed(part, wanted)
        return found


def changeable_buffers(t: Type) -> frozenset:
    """The memory of the container and of those in it, which have other names too."""
    own = t.buffers if isinstance(t, _CHANGEABLE) else frozenset()
    return own.union(*map(changeable_buffers, parts(t)))


def pairs(have: Type, want: Type) -> list[tuple[Type, Type]]:
    """The parts of one type beside those of the other."""
    mine, others = parts(have), parts(want)
    if isinstance(have, Dict) and isinstance(want, Dict) and want.items is not None:
        known = dict(want.items)
        if have.items is not None and all(k in known for k, _ in have.items):
            return [(t, known[k]) for k, t in have.items]
    if isinstance(have, Object) and isinstance(want, Object):
        known = dict(want.items)
        return [(t, known.get(k, UNKNOWN)) for k, t in have.items]
    whole = isinstance(want, (List, Dict)) and want.items is None
    if not whole and len(mine) == len(others):
        return list(zip(mine, others, strict=True))
    elem = join_all(others) or want
    return [(t, elem) for t in mine]


def lacks(have: Type, want: Type) -> bool:
    """Whether a part is no batch that is one in `want`."""
    if parts(have):
        return any(lacks(part, wanted) for part, wanted in pairs(have, want))
    if isinstance(have, (List, Dict, Object, Tuple)):  # empty
        return False
    return is_active(want) and not is_active(have) and with_active(have, True) != have


def lifted(have: Type, want: Type) -> Type:
    """The type with the parts mapped that are mapped in `want`."""
    if not lacks(have, want):
        return have
    if isinstance(have, Tuple) and isinstance(want, Tuple):
        items = tuple(lifted(a, b) for a, b in pairs(have, want))
        return Tuple(have.active, have.buffers, items, have.cls)
    return with_active(have, True)


__all__ = ["Uniform", "lacks", "lifted"]
