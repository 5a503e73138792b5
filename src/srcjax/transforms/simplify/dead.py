"""Remove assignments that nothing reads.

Before:                          After:

    loss = np.sum(r * r)             dr = 2 * r
    dr = 2 * r                       return dr
    return dr

Only what has no effect is removed; an array that is written in place is dead when
neither it nor anything that shares its memory is read later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import stored_names
from srcjax.analysis.flow.control import Control, Way, control
from srcjax.analysis.flow.mentions import own_mentions
from srcjax.frontend.joined_tapes import emptied, popped, pushed
from srcjax.transforms.call_effects import called, effect_of, is_pure, written_operands
from srcjax.transforms.simplify.kin import may_be_one_of

Shares = Callable[[str], set[str]]


class DeadCode:
    """Backward liveness over one function."""

    def __init__(
        self,
        shares: Shares,
        local: set[str],
        given: frozenset[str],
        filled: Collection[str] = (),
    ) -> None:
        self.shares = shares
        self.local = local
        #: Names of lists that are only appended to.
        self.filled = filled
        #: Names of what was given to code that may have kept it, or is from outside.
        self.given = given
        #: Tapes of which a popped value is not read, and those that may lose them all.
        self.idle_tapes: set[str] = set()
        self.without_tapes: set[str] = set()
        #: Only looking at what is live: statements stay as they are.
        self.looking = False
        #: What is live around a loop, by the loop and what is live after it.
        self.around: dict[tuple[int, frozenset[str]], set[str]] = {}
        #: What statements read.
        self.reads: syntax.ByNode[frozenset[str]] = syntax.ByNode()
        #: What is live after each loop around, and in its next iteration.
        self.exits: list[tuple[set[str], set[str]]] = []

    def block(self, stmts: list[gast.stmt], live: set[str]) -> list[gast.stmt]:
        """The statements that matter; `live` is updated to the block's start."""
        kept: list[gast.stmt] = []
        raised = [i for i, s in enumerate(stmts) if isinstance(s, gast.Raise)]
        for stmt in reversed(stmts[: raised[0] + 1] if raised else stmts):
            new = self.statement(stmt, live)
            if isinstance(new, list):
                kept += reversed(new)
            elif new is not None:
                kept.append(new)
        kept.reverse()
        return kept

    def statement(self, stmt: Any, live: set[str]) -> Any:
        """What is left of a statement: it, the statements of its body, or None."""
        run = control(stmt)
        if isinstance(stmt, (gast.Break, gast.Continue)) and self.exits:
            live |= self.exits[-1][isinstance(stmt, gast.Continue)]
            return stmt
        if run is not None and run.way is Way.LOOP:
            return self.loop(stmt, live)
        if run is not None:
            return self.compound(stmt, run, live)
        if self.is_dead(stmt, live):
            return None
        if isinstance(stmt, gast.Assign):
            for target in stmt.targets:
                live -= stored_names(target)
        reads = self.reads.get(stmt)
        if reads is None:
            reads = self.reads[stmt] = frozenset(own_mentions(stmt).reads)
        live |= reads
        return stmt

    def compound(self, stmt: Any, run: Control, live: set[str]) -> Any:
        """A statement whose blocks are no loop's."""
        if run.way is Way.ATTEMPT:
            live |= syntax.all_names(stmt)  # what may raise has an effect
            return stmt
        if run.way is Way.CHOICE:
            sides = [(block, set(live)) for block in run.blocks]
            kept = [self.block(block, side) for block, side in sides]
            live.update(*(side for _, side in sides))
            if not any(map(_real, kept)) and is_pure(run.head):
                return None
            kept = [block if _real(block) else [] for block in kept]
        else:
            kept = [self.block(block, live) for block in reversed(run.blocks)][::-1]
            entered = [item.context_expr for item in getattr(stmt, "items", ())]
            if not any(map(_real, kept[1:] or kept)) and is_pure(entered):
                return kept[0] or [gast.Pass()] if kept[1:] else None
            kept = [block or [gast.Pass()] for block in kept]
            # The first block may be left before it binds what the others read.
            live |= syntax.names_read(kept[1:])
        live |= syntax.names_read(run.head)
        if not self.looking:
            left = iter(kept)
            syntax.rewrite_blocks(stmt, lambda block: next(left))
        return stmt

    def loop(self, stmt: Any, live: set[str]) -> Any:
        run = control(stmt)
        assert run is not None
        after = set(live)
        last = self.block(run.last, live)
        after |= live
        header, target = syntax.names_read(run.head), syntax.names_written(run.target)
        around = self.live_around(stmt, run, live, after)
        self.exits.append((after, around))
        body = self.block(run.blocks[0], set(around))
        self.exits.pop()
        if not _real(body) and not target & live and is_pure(run.head):
            return last or None
        if not self.looking:
            stmt.body, stmt.orelse = body or [gast.Pass()], last
        live |= around | header
        return stmt

    def live_around(
        self, stmt: Any, run: Control, live: set[str], after: set[str]
    ) -> set[str]:
        """What is live at the end of the body of a loop, in any iteration."""
        body = run.blocks[0]
        key = id(stmt), frozenset(live | after)
        if key in self.around:
            return self.around[key]
        around = set(live)
        if run.repeated:
            around |= syntax.names_read(run.head)
        outer, self.looking = self.looking, True
        while True:
            inner = set(around)
            self.exits.append((after, around))
            self.block(body, inner)
            self.exits.pop()
            inner -= syntax.names_written(run.target)
            if inner <= around:
                break
            around |= inner
        self.looking = outer
        self.around[key] = around
        return around

    def is_dead(self, stmt: Any, live: set[str]) -> bool:
        if isinstance(stmt, gast.FunctionDef):
            return stmt.name not in live
        if isinstance(stmt, gast.Pass):
            return True
        if isinstance(stmt, gast.Expr):
            return isinstance(stmt.value, gast.Call) and self.is_idle(stmt.value, live)
        if isinstance(stmt, gast.AugAssign):
            base = stmt.target
            if isinstance(base, gast.Subscript):
                base = base.value
            return (
                isinstance(base, gast.Name)
                and self.unread(base.id, live)
                and effect_of(stmt).pure
                and is_pure(stmt.value)
            )
        if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
            return False
        target = stmt.targets[0]
        if isinstance(target, gast.Subscript):
            base = target.value
            return (
                isinstance(base, gast.Name)
                and self.unread(base.id, live)
                and is_pure(stmt.value)
            )
        if isinstance(target, gast.Name):
            if target.id in live:
                return False
        elif _stores(target) or stored_names(target) & live:
            return False
        tape = _popped(stmt)
        if tape is not None and tape in self.local:
            self.idle_tapes.add(tape)
            return tape in self.without_tapes
        return is_pure(stmt.value)

    def is_idle(self, call: gast.Call, live: set[str]) -> bool:
        """Whether all that a call does is to change what is not read later."""
        effect = effect_of(call)
        written = written_operands(call)
        if not effect.contained or effect.to_all or effect.names or not written:
            return False
        return is_pure([*call.args, *call.keywords, call.func]) and all(
            isinstance(w, (gast.Dict, gast.List))  # made here, and in no name
            or (isinstance(w, gast.Name) and self.unread(w.id, live))
            for w in written
        )

    def unread(self, name: str, live: set[str]) -> bool:
        """Whether neither the object nor anything sharing its memory is read later."""
        if name in self.filled:
            return True
        if name not in self.local or name in live:
            return False
        seen = (live, self.given)
        return not any(may_be_one_of(self.shares, (name,), names) for names in seen)


def _stores(target: gast.expr) -> bool:
    """Whether an assignment to the target writes to an object."""
    return any(
        isinstance(n, (gast.Subscript, gast.Attribute))
        and isinstance(n.ctx, gast.Store)
        for n in syntax.walk(target)
    )


def _real(stmts: list[gast.stmt]) -> bool:
    return any(not isinstance(s, gast.Pass) for s in stmts)


def _popped(stmt: gast.Assign) -> str | None:
    """The name of the tape in `x = tape.pop()`."""
    value = stmt.value
    if not isinstance(value, gast.Call) or value.args or value.keywords:
        return None
    chain = called(value)
    tape, dot, method = chain.rpartition(".")
    return tape if dot and method == "pop" and "." not in tape else None


def _tapes(node: gast.FunctionDef) -> set[str]:
    """Names of lists that are only appended to and popped from."""
    made = Counter(map(emptied, syntax.all_statements(node.body)))
    del made[""]
    once = [name for name, count in made.items() if count == 1]
    if not once:
        return set()
    uses: Counter[str] = Counter()
    mentions: Counter[str] = Counter()
    for sub in syntax.walk(node):
        if isinstance(sub, gast.Name):
            mentions[sub.id] += 1
        elif isinstance(sub, gast.Expr):
            uses[pushed(sub)] += 1
        elif isinstance(sub, gast.Call):
            uses[popped(sub)] += 1
    return {name for name in once if mentions[name] == uses[name] + 1}


def given_away(
    body: list[gast.stmt], own: set[str], tapes: Collection[str] = ()
) -> frozenset[str]:
    """Names of what is seen from outside, where only the `own` names are not.

    What the user's calls may keep: what they write to may hold it, but for `tapes`. And
    what is there before: `cache = shared` of a global.
    """
    found: set[str] = set()
    for node in syntax.walk(body):
        if isinstance(node, gast.Call):
            effect = getattr(node, "effect", None)
            taped = not syntax.names_read(node.func).isdisjoint(tapes)
            if effect and (effect.to_all or (effect.writes and not taped)):
                found |= syntax.names_read(node)
        elif isinstance(node, gast.Assign):
            root = getattr(node.value, "id", None)
            if root is not None and root not in own:
                found |= syntax.names_written(node)
    return frozenset(found)


def drop_returned(body: list[gast.stmt]) -> None:
    """Drop what gives a name the value that it has, in place.

    Before:                              After:

        dtotal = dx                          dtotal = dx
        da += dx * dt                        da += dx * dt
        dx = dtotal                          dv += dtotal * dt
        dv += dtotal * dt
    """
    for block in list(syntax.blocks(body)):
        idle = {k for k in range(1, len(block)) if _has_it(block, k)}
        if idle:
            block[:] = [s for k, s in enumerate(block) if k not in idle]


def _has_it(block: list[Any], k: int) -> bool:
    """Whether statement `k` is `v = t` after `t = v`, with both names as they were."""
    names = _copied(block[k])
    if names is None:
        return False
    for stmt in reversed(block[:k]):
        if _copied(stmt) == names[::-1]:
            return True
        if not syntax.names_written(stmt).isdisjoint(names):
            return False
    return False


def _copied(stmt: Any) -> tuple[str, str] | None:
    """The two names of `t = v`."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.Name):
        return None
    target = stmt.targets[0]
    alone = len(stmt.targets) == 1 and isinstance(target, gast.Name)
    return (target.id, stmt.value.id) if alone else None


def remove_dead(
    node: gast.FunctionDef,
    shares: Shares = lambda name: set(),
) -> None:
    """Remove dead code from the function, in place."""
    drop_returned(node.body)
    parameters = {a.id for a in syntax.walk(node.args) if isinstance(a, gast.Name)}
    local = syntax.names_written(node.body) - parameters
    all_tapes = _tapes(node) & local
    given = given_away(node.body, local | parameters, all_tapes)
    filled = all_tapes and all_tapes.difference(map(popped, syntax.walk(node)))
    first = DeadCode(shares, local, given, filled)
    node.body = first.block(node.body, set()) or [gast.Pass()]
    tapes = first.idle_tapes & _tapes(node)
    if not tapes:
        return
    again = DeadCode(shares, local, given)
    again.without_tapes = tapes
    body = again.block(syntax.clone(node.body), set()) or [gast.Pass()]
    left = {_popped(s) for s in syntax.walk(body) if isinstance(s, gast.Assign)}
    if not left & tapes:
        node.body = body
