"""What may be read later: statements are looked at from the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import Control, Way, control, is_compound
from srcjax.analysis.flow.mentions import Known

Live = frozenset[str]


class Liveness:
    """The names whose values may be read after each statement of a body.

    Subclasses say what a statement without blocks does (`simple`), and may look at
    what it binds (`define`).
    """

    def __init__(self) -> None:
        #: What is live after, and at the head of, each loop around.
        self.after: list[Live] = []
        self.around: list[Live] = []

    def block(self, stmts: list[Any], live: Live) -> Live:
        """What is live before statements after which `live` is."""
        for stmt in reversed(stmts):
            live = self.statement(stmt, live)
        return live

    def statement(self, stmt: Any, live: Live) -> Live:
        """What is live before a statement."""
        if isinstance(stmt, gast.Break):
            return self.after[-1] if self.after else live
        if isinstance(stmt, gast.Continue):
            return self.around[-1] if self.around else live
        run = control(stmt)
        return self.simple(stmt, live) if run is None else self.compound(run, live)

    def compound(self, run: Control, live: Live) -> Live:
        """What is live before a statement with blocks."""
        if run.way is Way.LOOP:
            return self.loop(run, live)
        live = self.block(run.last, live)
        if run.way is Way.CHOICE:
            sides = [self.block(block, live) for block in run.blocks]
            return self.reads(run.head).union(*sides)
        first, *others = run.blocks
        if run.way is Way.ATTEMPT:
            caught = live.union(*(self.block(block, live) for block in others))
            for stmt in reversed(first):
                live = self.statement(stmt, live | caught)
            return live | caught | self.reads(run.head)
        for block in reversed(run.blocks):
            live = self.block(block, live)
        bound = syntax.names_written(run.head)  # by `with ... as y`
        return self.define(bound, live, None) | self.reads(run.head)

    def loop(self, run: Control, live: Live) -> Live:
        """What is live before a loop: what any number of trips leaves to be read."""
        head = self.reads(run.head)
        live = self.block(run.last, live)
        around = live | head if run.repeated else live
        self.after.append(live)
        while True:
            self.around.append(around)
            inside = self.block(run.blocks[0], around)
            self.around.pop()
            if run.target is not None:
                inside = self.define(syntax.names_written(run.target), inside, None)
            if inside <= around:
                break
            around |= inside
        self.after.pop()
        return around | head

    def reads(self, node: Any) -> Live:
        """The names that matter of those that are read."""
        return frozenset(syntax.names_read(node))

    def define(self, names: set[str], live: Live, value: Any) -> Live:
        """The names are bound to a value."""
        return live - names

    def simple(self, stmt: Any, live: Live) -> Live:
        """What is live before a statement without blocks."""
        names, value = syntax.names_written(stmt), getattr(stmt, "value", None)
        if isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name):
            name = stmt.target.id
            return self.define(names, live, value) | self.reads(stmt) | {name}
        return self.define(names, live, value) | self.reads(stmt)


class After(Liveness):
    """The names that may be read after each statement of a body."""

    def __init__(self, body: list[Any]) -> None:
        super().__init__()
        self.of: dict[int, Live] = {}
        self.block(body, frozenset())

    def statement(self, stmt: Any, live: Live) -> Live:
        self.of[id(stmt)] = self.of.get(id(stmt), frozenset()) | live
        return super().statement(stmt, live)

    def live(self, stmt: Any) -> Live:
        """The names that may be read after the statement."""
        return self.of.get(id(stmt), frozenset())


class LastReads(Liveness):
    """Where nothing reads any more what names hold, for who executes a body.

    What a function inside of the body reads lasts: a call of it does not say so. All
    that is live is noted before blocks alone: there is more of it in longer bodies.
    """

    def __init__(self, body: list[Any], at_end: Live) -> None:
        super().__init__()
        late = (gast.FunctionDef, gast.Lambda)
        inner = [sub for sub in syntax.walk(body) if isinstance(sub, late)]
        self.lasting = frozenset(syntax.names_read(inner))
        #: What is live before statements with blocks and the first ones of blocks, and
        #: what is live after the former.
        self.before: dict[int, Live] = {}
        self.after_each: dict[int, Live] = {}
        #: What no trip of the loops around reads after statements without blocks.
        self.known: dict[int, Live] = {}
        self.block(body, at_end | self.lasting)

    def block(self, stmts: list[Any], live: Live) -> Live:
        """What is live before statements, of which no table is made for each."""
        now = set(live)
        for stmt in reversed(stmts):
            if self.is_plain(stmt):
                self.pass_by(stmt, now)
            else:
                now = set(self.statement(stmt, frozenset(now)))
        before = frozenset(now)
        if stmts:
            self.note(self.before, stmts[0], before)
        return before

    def note(self, table: dict[int, Live], stmt: Any, live: Live) -> None:
        """What is live in one of the trips of the loops around."""
        known = table.get(id(stmt))
        table[id(stmt)] = live if known is None else known | live

    def is_plain(self, stmt: Any) -> bool:
        """Whether control comes to the statement, and goes on behind it."""
        return not (is_compound(stmt) or isinstance(stmt, (gast.Break, gast.Continue)))

    def pass_by(self, stmt: Any, live: set[str]) -> None:
        """What is live after a statement becomes what is live before it, in place."""
        read, bound = syntax.names_of_both_kinds(stmt)
        if isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name):
            read.add(stmt.target.id)
        ended = (read | bound) - live
        known = self.known.get(id(stmt))
        self.known[id(stmt)] = frozenset(ended if known is None else known & ended)
        live -= bound - self.lasting
        live |= read

    def statement(self, stmt: Any, live: Live) -> Live:
        if self.is_plain(stmt):
            return self.block([stmt], live)
        self.note(self.after_each, stmt, live)
        before = super().statement(stmt, live)
        self.note(self.before, stmt, before)
        return before

    def loop(self, run: Control, live: Live) -> Live:
        """What a loop runs over is looked at with each trip."""
        return super().loop(replace(run, repeated=True), live)

    def define(self, names: set[str], live: Live, value: Any) -> Live:
        return live - (names - self.lasting)

    def ended(self, stmt: Any) -> Live:
        """The names that the statement reads or binds last of all."""
        found = self.known.get(id(stmt))
        if found is None:
            # What only one of its blocks reads is live before.
            names = syntax.all_names(stmt) | self.before[id(stmt)]
            found = self.known[id(stmt)] = frozenset(names - self.after_each[id(stmt)])
        return found


class Meeting(Liveness):
    """Notes a definition of one of two names while the other one is live."""

    def __init__(self, known: Known, a: str, b: str) -> None:
        super().__init__()
        self.known = known
        self.pair = (a, b)
        #: Which of them is defined while the other is live.
        self.found: set[str] = set()

    def statement(self, stmt: Any, live: Live) -> Live:
        mentioned = self.known.of(stmt)
        if not mentioned.jumps and not any(n in mentioned for n in self.pair):
            return live
        return super().statement(stmt, live)

    def reads(self, node: Any) -> Live:
        return frozenset(self.pair) & syntax.names_read(node)

    def define(self, names: set[str], live: Live, value: Any) -> Live:
        for mine, other in (self.pair, self.pair[::-1]):
            if mine in names:
                copy = isinstance(value, gast.Name) and value.id == other
                if other in live and not copy or other in names:
                    self.found.add(mine)
                live = live - {mine}
        return live

    def simple(self, stmt: Any, live: Live) -> Live:
        mentioned = self.known.of(stmt)
        plain = isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name)
        live = self.define(mentioned.binds, live, stmt.value if plain else None)
        if isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name):
            live |= {stmt.target.id} & set(self.pair)
        return live | {n for n in self.pair if n in mentioned.reads}


def is_defined_of(node: gast.FunctionDef, name: str, other: str) -> bool:
    """Whether a statement defines `name` from `other`: `name = f(other)`."""
    return any(
        isinstance(stmt, gast.Assign)
        and name in syntax.names_written(stmt)
        and other in syntax.names_read(stmt.value)
        for stmt in syntax.walk(node.body)
    )


def is_defined_while(node: gast.FunctionDef, name: str, other: str) -> bool:
    """Whether `name` may be defined while the value of `other` is still needed."""
    for sub in syntax.walk(node.body):
        late = isinstance(sub, (gast.FunctionDef, gast.Lambda))
        if late and {name, other} & syntax.all_names(sub):
            return True
    live = Meeting(Known(), name, other)
    live.block(node.body, frozenset())
    return name in live.found
