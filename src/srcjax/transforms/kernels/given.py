"""Which arrays that a function is given it writes to, as its callers can name them."""

from __future__ import annotations

from typing import Any

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    Array,
    Const,
    Dict,
    List,
    Object,
    Range,
    Scalar,
    Tuple,
    Type,
    ageless_buffers,
    all_buffers,
    site_of,
)


class Given:
    """What is written to, and what is not, of what comes from outside."""

    def __init__(self, program: Program) -> None:
        made = {id(n) for u in program.units.values() for n in syntax.walk(u.node)}
        buffers = ageless_buffers(program.facts.written())
        self.written = {b for b in buffers if site_of(b) not in made}
        #: Whether some of it was found around the function.
        self.around = any(_root(b) != "param" for b in self.written)

    def listed(self, given: dict[str, Type], around: list[str]) -> list[str]:
        """Lists of what is written to, and of all other arrays, as Python.

        None of them where nothing that is written to can have two names.

        Args:
            given: the types of parameters.
            around: names of arrays from around the function.
        """
        written: list[str] = list(around) if self.around else []
        others = [] if self.around else list(around)
        for name, t in given.items():
            self.sort(name, t, written, others)
        found = [*written, *others]
        one = len(found) == 1 and (
            found == around or isinstance(given[found[0]], Array)
        )
        if not written or one:
            return []
        return [f"[{', '.join(each)}]" for each in (written, others) if each]

    def sort(self, text: str, t: Type, written: list[str], others: list[str]) -> None:
        """Put a value, or what is in it, where it belongs."""
        parts = _parts(text, t)
        if not _has_arrays(t):
            return
        if not self.written & ageless_buffers(all_buffers(t)):
            others.append(text)
        elif self.is_written(t):
            written.append(text)
        else:
            for inner, part in parts:
                self.sort(inner, part, written, others)

    def is_written(self, t: Type) -> bool:
        """Whether all arrays in it may be written to."""
        parts = _parts("", t)
        if parts:
            return all(self.is_written(p) for _, p in parts if _has_arrays(p))
        return bool(self.written & ageless_buffers(all_buffers(t)))


def _is_one(t: Type | None) -> bool:
    """Whether a value, maybe from around the function, is no more than one array."""
    return t is None or isinstance(t, Array)


def _has_arrays(t: Type) -> bool:
    parts = _parts("", t)
    if parts:
        return any(_has_arrays(part) for _, part in parts)
    return not isinstance(t, (Scalar, Const, Range))


def _root(buffer: Any) -> Any:
    while isinstance(buffer, tuple) and isinstance(buffer[0], tuple):
        buffer = buffer[0]
    return buffer[0] if isinstance(buffer, tuple) else None


def _parts(text: str, t: Type) -> list[tuple[str, Type]]:
    """The parts of a container, and how they are called; none if they are not known."""
    match t:
        case Tuple(items=tuple() as items) | List(items=tuple() as items):
            return [(f"{text}[{i}]", part) for i, part in enumerate(items)]
        case Dict(items=tuple() as pairs):
            return [(f"{text}[{key!r}]", part) for key, part in pairs]
        case Object(items=tuple() as pairs):
            return [(f"{text}.{key}", part) for key, part in pairs]
    return []
