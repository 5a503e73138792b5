"""Keep what one iteration saves as one tuple on one tape.

Before:                          After:

    h_tape = []                      tape = []
    z_tape = []                      for x in xs:
    for x in xs:                         z = np.tanh(h + x)
        z = np.tanh(h + x)               tape.append((h, z))
        h_tape.append(h)                 h = z * h
        h = z * h                    for x in reversed(xs):
        z_tape.append(z)                 h, z = tape.pop()
    for x in reversed(xs):               ...
        z = z_tape.pop()
        h = h_tape.pop()
        ...

Tapes are one where the same block puts a value on each, and the same block takes one of
each: then nothing between may jump, bind what is saved, or read the name that it is
taken to. A transform of the text reads it with its separate tapes
(`frontend.joined_tapes`), so that each value has facts of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.mentions import has_jump
from srcjax.backends.marks import Part
from srcjax.frontend.joined_tapes import emptied, pushed, taken
from srcjax.transforms.call_effects import written_bases


@dataclass
class _Place:
    """A statement in a block, and between which gaps of the block it may stand."""

    block: list[Any]
    at: int
    first: int
    last: int

    @property
    def stmt(self) -> Any:
        return self.block[self.at]


@dataclass
class _Tape:
    """A list that is made, put on, and taken from in one statement each."""

    name: str
    init: _Place
    push: _Place
    pop: _Place

    @property
    def target(self) -> str:
        """The name that its values are taken to."""
        name: str = self.pop.stmt.targets[0].id
        return name


#: What goes on elsewhere than with the next statement.
_LEAVING = (gast.Break, gast.Continue, gast.Return, gast.Raise)


def push_once(node: gast.FunctionDef, own: set[str]) -> None:
    """Put on a tape before a branch what both sides put there, in place.

    Before:                              After:

        if n % 2 == 0:                       x_tape.append(x)
            n = n // 2                       if n % 2 == 0:
            x_tape.append(x)                     n = n // 2
            x = x * 0.9                          x = x * 0.9
        else:                                else:
            x_tape.append(x)                     x = np.sin(x)
            x = np.sin(x)
    """
    for block in list(syntax.blocks(node.body)):
        for branch in [s for s in block if isinstance(s, gast.If) and s.orelse]:
            for push in _on_both_sides(branch, own):
                at = next(k for k, s in enumerate(block) if s is branch)
                block.insert(at, push)
        for branch in [s for s in block if _leaves_loop(s)]:
            _push_before_leaving(block, branch, own)


def _leaves_loop(stmt: Any) -> bool:
    """`if c: ...; break`."""
    plain = isinstance(stmt, gast.If) and not stmt.orelse
    return plain and isinstance(stmt.body[-1], (gast.Break, gast.Continue))


def _push_before_leaving(block: list[Any], branch: gast.If, own: set[str]) -> None:
    """Put on a tape before such a branch what is put on it there, and behind it.

    Before:                              After:

        if abs(step) < tolerance:            step_tape.append(step)
            step_tape.append(step)           if abs(step) < tolerance:
            break                                break
        x = x - step                         x = x - step
        step_tape.append(step)
    """
    at = next(k for k, s in enumerate(block) if s is branch)
    for push in list(branch.body[:-1]):
        rest = block[at + 1 :]
        others = [s for s in rest if syntax.equal(s, push)]
        if pushed(push) not in own or len(others) != 1:
            continue
        if _is_of_before(branch.body, push) and _is_of_before(rest, others[0]):
            branch.body = [s for s in branch.body if s is not push]
            block[at:] = [push, branch, *(s for s in rest if s is not others[0])]
            at += 1


def _on_both_sides(branch: gast.If, own: set[str]) -> list[gast.stmt]:
    """Pushes of what names hold before the branch, taken out of its sides."""
    found = []
    for push in list(branch.body):
        others = [s for s in branch.orelse if syntax.equal(s, push)]
        if pushed(push) not in own or len(others) != 1 or len(branch.body) < 2:
            continue
        sides = ((branch.body, push), (branch.orelse, others[0]))
        if all(_is_of_before(side, stmt) for side, stmt in sides):
            for side, stmt in sides:
                side[:] = [s for s in side if s is not stmt]
            found.append(push)
    return found


def _is_of_before(side: list[Any], push: Any) -> bool:
    """Whether what a side puts on a tape is what the name held before the branch."""
    value = push.value.args[0]
    before = side[: next(k for k, s in enumerate(side) if s is push)]
    return isinstance(value, gast.Name) and not any(
        value.id in syntax.names_written(s)
        or pushed(push) in syntax.all_names(s)
        or any(isinstance(inner, _LEAVING) for inner in syntax.all_statements([s]))
        for s in before
    )


def join_tapes(node: gast.FunctionDef, own: set[str], names: syntax.Names) -> None:
    """Join tapes of the function, in place; `own` are the lists that are tapes."""
    if len(own) < 2 or any(isinstance(s, _ELSEWHERE) for s in syntax.walk(node.body)):
        return
    free = syntax.Names(syntax.all_names(node) | names.reserved | {node.name})
    while groups := _groups(_tapes_of(node, own)):
        # Where the others may stand depends on where these are by then.
        changes = _Changes()
        changes.join(groups[0], free.fresh("tape"))
        changes.make()


def _tapes_of(node: gast.FunctionDef, own: set[str]) -> list[_Tape]:
    """The tapes that may be joined, in the order in which they are made."""
    uses: dict[str, int] = {}
    for name in syntax.names_in(node):
        if name.id in own:
            uses[name.id] = uses.get(name.id, 0) + 1
    found: dict[str, dict[str, _Place]] = {n: {} for n, k in uses.items() if k == 3}
    for block in syntax.blocks(node.body):
        for at, stmt in enumerate(block):
            for kind, reader in (("init", emptied), ("push", pushed), ("pop", taken)):
                name = reader(stmt)
                if name in found:
                    found[name][kind] = _Place(block, at, at, at)
    tapes = [_Tape(n, **places) for n, places in found.items() if len(places) == 3]
    pushes = {id(s) for s in syntax.all_statements(node.body) if pushed(s) in own}
    pushes |= {id(s) for s in syntax.all_statements(node.body) if hasattr(s, "joined")}
    seen = _Seen()
    for tape in tapes:
        _widen(tape.pop, seen, partial(seen.mentions, tape.target))
        _widen(tape.push, seen, partial(seen.changes, tape.push.stmt, pushes))
    called = {
        getattr(sub.func, "id", "")
        for sub in syntax.walk(node.body)
        if isinstance(sub, gast.Call)
    }
    return [t for t in tapes if t.target not in called and _may_join(t)]


#: Where values are read at other times than where it stands, or left in the middle.
_ELSEWHERE = (gast.Try, gast.FunctionDef, gast.Lambda)


def _may_join(tape: _Tape) -> bool:
    """Not what forward functions save, which is known by the name of its tape."""
    return getattr(tape.push.stmt, "keeps", None) in (None, "tape")


@dataclass(frozen=True)
class _Does:
    """What a statement mentions, binds and writes to, and whether it may leave."""

    names: set[str]
    binds: set[str]
    writes: bool
    leaves: bool


class _Seen:
    """What statements do: looked at once for all tapes that may pass them."""

    def __init__(self) -> None:
        self.known: syntax.ByNode[_Does] = syntax.ByNode()

    def of(self, stmt: Any) -> _Does:
        """What the statement does."""
        found = self.known.get(stmt)
        if found is None:
            returns = any(isinstance(s, gast.Return) for s in syntax.walk(stmt))
            found = self.known[stmt] = _Does(
                syntax.all_names(stmt),
                syntax.names_written(stmt),
                bool(written_bases(stmt)),
                returns or has_jump(stmt),
            )
        return found

    def mentions(self, name: str, stmt: Any) -> bool:
        """Whether the statement mentions the name."""
        return name in self.of(stmt).names

    def changes(self, push: Any, pushes: set[int], stmt: Any) -> bool:
        """Whether what is put on the tape may be another value after the statement."""
        if id(stmt) in pushes:
            return False
        value = push.value.args[0]
        if syntax.names_read(value) & self.of(stmt).binds:
            return True
        return not isinstance(value, gast.Name) and self.of(stmt).writes


def _widen(place: _Place, seen: _Seen, stops: Callable[[Any], bool]) -> None:
    """Find how far up and down the statement may go in its block."""

    def passes(stmt: Any) -> bool:
        return not (seen.of(stmt).leaves or stops(stmt))

    while place.first > 0 and passes(place.block[place.first - 1]):
        place.first -= 1
    place.last = place.at + 1
    while place.last < len(place.block) and passes(place.block[place.last]):
        place.last += 1


def _groups(tapes: Iterable[_Tape]) -> list[list[_Tape]]:
    """Tapes that can be one, two or more together."""
    groups: list[list[_Tape]] = []
    for tape in sorted(tapes, key=lambda t: (t.push.last, t.push.at)):
        for group in groups:
            if _fits(tape, group):
                group.append(tape)
                break
        else:
            groups.append([tape])
    return [sorted(g, key=lambda t: t.push.at) for g in groups if len(g) > 1]


def _fits(tape: _Tape, group: list[_Tape]) -> bool:
    if tape.init.block is not group[0].init.block:
        return False
    if tape.target in {t.target for t in group}:
        return False
    members = [tape, *group]
    if any(t.push.block is t.pop.block for t in members):
        return False
    return all(
        len({id(p.block) for p in places}) == 1 and _gap(places)
        for places in ([t.push for t in members], [t.pop for t in members])
    )


def _gap(places: list[_Place]) -> bool:
    """Whether all of them may stand at one place."""
    return max(p.first for p in places) <= min(p.last for p in places)


class _Changes:
    """What is to stand in which gap of which block, and what is to go."""

    def __init__(self) -> None:
        self.blocks: dict[int, list[Any]] = {}
        self.gaps: dict[int, dict[int, list[Any]]] = {}
        self.gone: set[int] = set()

    def join(self, group: list[_Tape], name: str) -> None:
        """Let the tapes be one of this name."""
        values = [t.push.stmt.value.args[0] for t in group]
        targets: list[gast.expr] = [syntax.name(t.target, store=True) for t in group]
        tape = syntax.name(name)
        item = gast.Tuple(values, syntax.LOAD)
        push: Any = gast.Expr(syntax.expression("t.append(v)", t=tape, v=item))
        push.joined = [
            Part(t.name, bool(getattr(t.push.stmt, "keeps", None))) for t in group
        ]
        pop = gast.Assign(
            [gast.Tuple(targets, syntax.STORE)],
            syntax.expression("t.pop()", t=tape),
            None,
        )
        init = syntax.assign(name, gast.List([], syntax.LOAD))
        inits, pushes, pops = zip(
            *((t.init, t.push, t.pop) for t in group), strict=True
        )
        self.place(init, inits, min(p.at for p in inits))
        low = min(p.last for p in pushes)
        self.place(push, pushes, min(max(p.at for p in pushes) + 1, low))
        high = max(p.first for p in pops)
        self.place(pop, pops, max(min(p.at for p in pops), high))

    def place(self, new: Any, old: Sequence[_Place], gap: int) -> None:
        """Let a statement take the place of others, in a gap of their block."""
        block = old[0].block
        self.blocks[id(block)] = block
        self.gaps.setdefault(id(block), {}).setdefault(gap, []).append(new)
        self.gone |= {id(p.stmt) for p in old}
        new.backward = getattr(old[0].stmt, "backward", False)
        lines = {getattr(p.stmt, "user_line", None) for p in old}
        new.user_line = lines.pop() if len(lines) == 1 else None

    def make(self) -> None:
        """Change the blocks, in place."""
        for key, block in self.blocks.items():
            out: list[Any] = []
            for at, stmt in enumerate([*block, None]):
                out += self.gaps[key].get(at, [])
                if stmt is not None and id(stmt) not in self.gone:
                    out.append(stmt)
            block[:] = out
