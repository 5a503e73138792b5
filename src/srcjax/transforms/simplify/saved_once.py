"""Save a value once that two tapes of a loop are given.

Before:                              After:

    x_i = x[i]                           x_i = x[i]
    x_tape.append(x[i])
    x[i] = x_i**2                        x[i] = x_i**2
    x_i_tape.append(x_i)                 x_i_tape.append(x_i)
    ...                                  ...
    x_i = x_i_tape.pop()                 x_i = x_i_tape.pop()
    x[i] = x_tape.pop()                  x[i] = x_i
    dx[i] *= 2 * x_i                     dx[i] *= 2 * x_i
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.mentions import has_jump
from srcjax.frontend.joined_tapes import emptied, popped, pushed, taken
from srcjax.transforms.call_effects import written_bases
from srcjax.transforms.simplify.kin import may_be_one_of


@dataclass
class _Tape:
    """Where a list is made, put on and taken from: one statement each, in a block."""

    name: str
    init: tuple[list[Any], Any]
    push: tuple[list[Any], Any]
    pop: tuple[list[Any], Any]

    @property
    def value(self) -> gast.expr:
        """What is put on it."""
        value: gast.expr = self.push[1].value.args[0]
        return value


def save_once(
    node: gast.FunctionDef,
    own: set[str],
    is_number: Callable[[gast.expr], bool],
    shares: Callable[[str], set[str]],
) -> bool:
    """Leave out tapes of what another one holds, in place; whether there were any.

    `own` are the lists that are tapes. Items of arrays are one value with their names
    where they are numbers (`is_number`).
    """
    tapes = list(_tapes_of(node, own)) if len(own) > 1 else []
    gone: set[str] = set()
    for kept, other in itertools.permutations(tapes, 2):
        if gone & {kept.name, other.name} or not taken(kept.pop[1]):
            continue
        if _same(kept, other, is_number, shares):
            _leave_out(node, other, kept.pop[1].targets[0].id)
            gone.add(other.name)
    return bool(gone)


def _tapes_of(node: gast.FunctionDef, own: set[str]) -> list[_Tape]:
    """The tapes that three statements mention."""
    uses = Counter(n.id for n in syntax.names_in(node) if n.id in own)
    found: dict[str, dict[str, tuple[list[Any], Any]]] = {}
    for block in syntax.blocks(node.body):
        for stmt in block:
            value = stmt.value if isinstance(stmt, gast.Assign) else None
            kinds = (emptied(stmt), pushed(stmt), popped(value))
            for kind, name in zip(("init", "push", "pop"), kinds, strict=True):
                if uses[name] == 3:
                    found.setdefault(name, {})[kind] = block, stmt
    return [_Tape(n, **places) for n, places in found.items() if len(places) == 3]


def _same(kept: _Tape, other: _Tape, is_number: Any, shares: Any) -> bool:
    """Whether what is taken from one tape is what the other gives, just after it."""
    pairs = zip(_places(kept), _places(other), strict=True)
    if any(one[0] is not two[0] for one, two in pairs):
        return False
    keeps = [getattr(t.push[1], "keeps", None) for t in (kept, other)]
    if keeps[0] not in (None, "tape") or keeps[1] not in (None, keeps[0]):
        return False
    block, first = kept.pop
    between = _between(block, first, other.pop[1])
    name = first.targets[0].id
    if between is None or any(name in syntax.names_written(s) for s in between):
        return False
    item = not isinstance(other.value, gast.Name)
    value = _named(other, is_number, shares) if item else other.value.id
    if not value or not syntax.is_name(kept.value, value):
        return False
    pushes = [s for block, s in (kept.push, other.push)]
    pushes.sort(key=lambda s: _at(kept.push[0], s))
    around = _between(kept.push[0], *pushes)
    return around is not None and all(
        value not in syntax.names_written(s) for s in around
    )


def _places(tape: _Tape) -> tuple[tuple[list[Any], Any], ...]:
    return tape.init, tape.push, tape.pop


def _named(tape: _Tape, is_number: Any, shares: Any) -> str:
    """The name of the item that is put on the tape, bound before in the block."""
    block, push = tape.push
    item = tape.value
    if not isinstance(item, gast.Subscript) or not is_number(item):
        return ""
    reads = syntax.names_read(item)
    for stmt in reversed(block[: _at(block, push)]):
        bound = isinstance(stmt, gast.Assign) and syntax.equal(stmt.value, item)
        if bound and len(stmt.targets) == 1 and syntax.is_name(stmt.targets[0]):
            name: str = stmt.targets[0].id
            between = _between(block, stmt, push)
            again = between is None or name in syntax.names_written(between)
            return "" if again or name in reads else name
        gone = syntax.names_written(stmt) | written_bases(stmt)
        if may_be_one_of(shares, reads, gone):
            return ""
    return ""


def _between(block: list[Any], first: Any, last: Any) -> list[Any] | None:
    """The statements between two of a block, in this order, where none may jump."""
    start, end = _at(block, first), _at(block, last)
    between = block[start + 1 : end]
    leaves = has_jump(between) or any(
        isinstance(s, gast.Return) for s in syntax.all_statements(between)
    )
    return between if start < end and not leaves else None


def _at(block: list[Any], stmt: Any) -> int:
    return next(k for k, s in enumerate(block) if s is stmt)


def _leave_out(node: gast.FunctionDef, tape: _Tape, name: str) -> None:
    """Read the name in place of the tape, and drop what makes and fills it."""
    for block, stmt in (tape.init, tape.push):
        del block[_at(block, stmt)]
    block, stmt = tape.pop
    stmt.value = syntax.name(name)
    other = getattr(stmt.targets[0], "id", "")
    rest = block[_at(block, stmt) + 1 :]
    mine = syntax.names_in(rest), syntax.names_in(node)
    counts = [sum(n.id == other for n in names) for names in mine]
    again = name in syntax.names_written(rest) or other in syntax.names_written(rest)
    if other and not again and counts[0] + 1 == counts[1]:
        syntax.rename(rest, {other: name})
        del block[_at(block, stmt)]


__all__ = ["save_once"]
