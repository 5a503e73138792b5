"""Put temporaries back into the expressions that use them.

Before:                          After:

    product = X @ w                  residual = X @ w - y
    residual = product - y

A name that srcjax made is replaced by its value where it is used once, or wherever its
value is a name or literal; never past a statement that would change the value, never
into a loop that would compute it again, and never so that a line gets hard to read.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable, Collection
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import control
from srcjax.analysis.flow.evaluation import evaluated
from srcjax.analysis.flow.mentions import Known, mentions
from srcjax.frontend.joined_tapes import taken
from srcjax.transforms.call_effects import called, effect_of, is_pure, written_bases
from srcjax.transforms.fresh import shared_argument
from srcjax.transforms.reasons import take_over
from srcjax.transforms.simplify.kin import may_be_one_of
from srcjax.transforms.simplify.plain import decided

LIMIT = 24
#: By name, the statements that mention it by their places in a block.
_Mentioning = dict[str, dict[int, gast.stmt]]


class Nesting:
    """Nests the temporaries of one function."""

    def __init__(
        self,
        node: gast.FunctionDef,
        may_nest: Callable[[str], bool],
        shares: Callable[[str], set[str]],
        named: Callable[[str], bool] = lambda name: False,
    ) -> None:
        self.node = node
        self.may_nest = may_nest
        self.shares = shares
        #: Names that had lines of their own in the text that is transformed.
        self.named = named
        #: Statements whose value was moved: none other may be known by their ids.
        self.gone: list[gast.stmt] = []
        #: How many values were moved.
        self.moved = 0
        self.known = Known()
        #: The memory that simple statements write to.
        self.bases: syntax.ByNode[set[str]] = syntax.ByNode()
        #: The statements of a block that read a name, or did, with their places in it.
        self.readers: _Mentioning | None = None
        #: How many statements of the block take something from a tape.
        self.pops = 0
        #: Those that bind a name.
        self.binders: _Mentioning = {}
        #: What they write to, or did, by the places of those that do.
        self.writers: dict[int, set[str]] | None = None
        #: The places of those that write to anything, in their order.
        self.writing: list[int] = []
        self.places: dict[int, int] = {}
        self.indexed: list[gast.stmt] = []
        #: The statements of the function's body by what they mention, or did.
        self.tops: _Mentioning | None = None
        self.top_places: dict[int, int] = {}
        #: Whether the block at hand stands in a `try` with handlers.
        self.caught = False
        #: The statements around the block at hand.
        self.around: list[gast.stmt] = []

    def run(self) -> bool:
        self.definitions: dict[str, int] = {}
        for sub in syntax.names_in(self.node):
            if not isinstance(sub.ctx, gast.Load):
                self.definitions[sub.id] = self.definitions.get(sub.id, 0) + 1
        self.reads = mentions(self.node.body).reads
        self.node.body = self.block(self.node.body)
        return self.moved > 0

    def block(self, stmts: list[gast.stmt]) -> list[gast.stmt]:
        for stmt in stmts:
            outer = self.caught
            self.caught = outer or bool(getattr(stmt, "handlers", None))
            moved = self.moved
            self.around.append(stmt)
            syntax.rewrite_blocks(stmt, self.block)
            if self.moved != moved:  # what was known since was of the old blocks
                self.changed_around()
            self.around.pop()
            self.caught = outer
        position = 0
        out = list(stmts)
        self.readers = None
        self.pops = sum(bool(taken(stmt)) for stmt in out)
        while position < len(out):
            if self.try_nest(out, position):
                self.moved += 1
                self.changed_around()
                self.pops -= bool(taken(out[position]))
                self.gone.append(out.pop(position))
                position = max(position - 1, 0)
            else:
                position += 1
        return out

    def try_nest(self, stmts: list[gast.stmt], position: int) -> bool:
        """Move the value of one assignment to its use; True if it can go."""
        stmt = stmts[position]
        if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
            return False
        target = stmt.targets[0]
        if not isinstance(target, gast.Name) or not self.may_nest(target.id):
            return False
        name, value = target.id, stmt.value
        several = self.definitions.get(name, 0) != 1
        if not several and not syntax.is_atom(value) and self.reads.get(name) != 1:
            return False
        if name in syntax.names_read(value):
            return False
        if taken(stmt) and self.pops > 1:
            return False  # `a, b = tape.pop()` in the end
        if several:
            uses, count, closed = self.until_redefined(stmts, position, name)
            if not closed and not (count == 1 and self.stays_in_blocks(name)):
                return False
        else:
            total = self.reads.get(name, 0)
            uses, count = self.all_uses(stmts, position, name, total)
            if count != total:
                return False
        if count == 0:
            return False
        if syntax.is_atom(value):
            moved = self.spread(name, value, stmts, position, uses)
        elif count != 1 or len(uses) != 1 or not stays_new(stmt, uses[0]):
            return False
        else:
            moved = self.move(name, value, stmts, position, uses[0])
        if moved:
            self.now_read(syntax.names_read(value), stmt, uses)
        if moved and getattr(stmt, "fresh", False):
            for use in uses:
                use.fresh = True  # the value has to be a new array there as well
        return moved

    def written(self, stmt: gast.stmt) -> set[str]:
        """The names whose memory the statement writes to."""
        if syntax.has_blocks(stmt):
            return written_bases(stmt)
        found = self.bases.get(stmt)
        if found is None:
            found = self.bases[stmt] = written_bases(stmt)
        return found

    def changed_in(self, node: Any) -> None:
        """The statement, or something in it, is not what it was."""
        self.known.changed(node)
        self.bases.forget(node)

    def changed_around(self) -> None:
        """The block at hand is not what it was."""
        for stmt in self.around:
            self.known.changed(stmt)

    def count(self, stmt: gast.stmt, name: str) -> int:
        """How often the statement reads the name."""
        return self.known.of(stmt).reads.get(name, 0)

    @functools.cached_property
    def updated(self) -> set[str]:
        """Names that augmented assignments bind again."""
        return {
            s.target.id
            for s in syntax.all_statements(self.node.body)
            if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name)
        }

    def all_uses(
        self, stmts: list[gast.stmt], position: int, name: str, total: int
    ) -> tuple[list[gast.stmt], int]:
        """The statements after this place that read a name, up to its `total` reads."""
        uses: list[gast.stmt] = []
        count = 0
        for stmt in self.later(stmts, position, name):
            if count >= total:
                break
            reads = self.count(stmt, name)
            if reads:
                uses.append(stmt)
                count += reads
        return uses, count

    def index(self, stmts: list[gast.stmt]) -> None:
        """Note who reads what in this block, from which statements may go now."""
        self.indexed, self.writers = stmts, None
        self.places = {id(stmt): place for place, stmt in enumerate(stmts)}
        self.readers, self.binders = {}, {}
        for place, stmt in enumerate(stmts):
            found = self.known.of(stmt)
            for name in found.reads:
                self.readers.setdefault(name, {})[place] = stmt
            for name in found.binds:
                self.binders.setdefault(name, {})[place] = stmt

    def later(
        self, stmts: list[gast.stmt], position: int, name: str, binders: bool = False
    ) -> list[gast.stmt]:
        """The statements after this place that read the name, or did, or bind it."""
        if self.readers is None or self.indexed is not stmts:
            self.index(stmts)
        assert self.readers is not None
        here = self.places[id(stmts[position])]
        found = self.readers.get(name, {})
        if binders:
            found = {**found, **self.binders.get(name, {})}
        return [found[place] for place in sorted(found) if place > here]

    def touched(
        self,
        stmts: list[gast.stmt],
        position: int,
        last: int,
        bound: Collection[str],
    ) -> bool:
        """Whether statements behind this place, up to the `last`, bind the names."""
        if self.readers is None or self.indexed is not stmts:
            self.index(stmts)
        start, end = self.places[id(stmts[position])], self.places[id(stmts[last])]
        return _are_between(start, end, self.binders, bound)

    def changed_between(
        self,
        stmts: list[gast.stmt],
        position: int,
        last: int,
        names: Collection[str],
        name: str = "",
    ) -> bool:
        """Whether those statements write to the memory of the names.

        Or through the other name, which is to go.
        """
        if self.readers is None or self.indexed is not stmts:
            self.index(stmts)
        if self.writers is None:
            self.writers, self.writing = {}, []
            for stmt in stmts:
                self.note_written(stmt)
        start, end = self.places[id(stmts[position])], self.places[id(stmts[last])]
        first = bisect.bisect_right(self.writing, start)
        behind = bisect.bisect_right(self.writing, end)
        places = self.writing[first:behind]
        written = set().union(*(self.writers[place] for place in places))
        return name in written or may_be_one_of(self.shares, names, written)

    def note_written(self, stmt: gast.stmt) -> None:
        """Note what a statement of this block writes to."""
        assert self.writers is not None
        names, place = self.written(stmt), self.places[id(stmt)]
        if names and place not in self.writers:
            bisect.insort(self.writing, place)
        if names:
            self.writers[place] = self.writers.get(place, set()) | names

    def now_read(self, names: set[str], gone: gast.stmt, uses: list[gast.stmt]) -> None:
        """Other statements of the block read these names in place of one."""
        if self.readers is None:
            return
        for name in self.known.of(gone).binds:
            self.binders.get(name, {}).pop(self.places[id(gone)], None)
        if self.writers is not None:
            if self.writers.pop(self.places[id(gone)], None):
                self.writing.remove(self.places[id(gone)])
            for use in uses:
                self.note_written(use)
        for name in names:
            readers = self.readers.setdefault(name, {})
            readers.pop(self.places[id(gone)], None)
            for use in uses:
                readers[self.places[id(use)]] = use
                if self.tops is not None and id(use) in self.top_places:
                    mentioning = self.tops.setdefault(name, {})
                    mentioning[self.top_places[id(use)]] = use

    def mentioning(self, name: str) -> list[gast.stmt]:
        """The statements of the function's body that mention the name, or did."""
        if self.tops is None:
            self.tops = {}
            for place, stmt in enumerate(self.node.body):
                self.top_places[id(stmt)] = place
                found = self.known.of(stmt)
                for other in (*found.reads, *found.binds):
                    self.tops.setdefault(other, {})[place] = stmt
        found_at = self.tops.get(name, {})
        return [found_at[place] for place in sorted(found_at)]

    def rebinds(self, stmt: gast.stmt, name: str) -> bool:
        return isinstance(stmt, gast.AugAssign) and syntax.is_name(stmt.target, name)

    def until_redefined(
        self, stmts: list[gast.stmt], position: int, name: str
    ) -> tuple[list[gast.stmt], int, bool]:
        """Uses after this place, before the next plain definition in the same block."""
        uses: list[gast.stmt] = []
        count = 0
        for stmt in self.later(stmts, position, name, binders=True):
            found = self.known.of(stmt)
            reads, writes = found.reads.get(name, 0), name in found.binds
            if syntax.has_blocks(stmt):
                if reads or writes:
                    return uses, count, False
                continue
            if self.rebinds(stmt, name):
                return uses, count, False
            if reads:
                uses.append(stmt)
                count += reads
            if writes:
                return uses, count, True
        return uses, count, False

    def stays_in_blocks(self, name: str) -> bool:
        """Whether every read follows a definition in its own block."""
        covered = 0
        if name in self.updated:
            return False

        def visit(stmts: list[gast.stmt]) -> None:
            nonlocal covered
            defined = False
            for stmt in stmts:
                found = self.known.of(stmt)
                if name not in found:
                    continue
                if syntax.has_blocks(stmt):
                    for inner in syntax.inner_blocks(stmt, definitions=True):
                        visit(inner)
                    if name in found.binds:
                        defined = False
                    continue
                if defined:
                    covered += found.reads.get(name, 0)
                if name in found.binds:
                    defined = True

        body = self.mentioning(name)
        visit(body)
        return covered == sum(self.count(stmt, name) for stmt in body)

    def spread(
        self,
        name: str,
        value: gast.expr,
        stmts: list[gast.stmt],
        position: int,
        uses: list[gast.stmt],
    ) -> bool:
        """Replace a name by the name or literal that it stands for, everywhere."""
        if any(self.rebinds(s, name) for s in syntax.all_statements(uses)):
            return False
        if isinstance(value, gast.Name):
            last = stmts.index(uses[-1], position + 1)
            bound = last if syntax.has_blocks(uses[-1]) else last - 1
            if self.touched(stmts, position, bound, (value.id,)):
                return False
            if self.changed_between(stmts, position, last, (value.id,), name):
                return False
        count = sum(self.count(stmt, name) for stmt in uses)
        for stmt in uses:
            self.replace(stmt, name, value)
            if not syntax.has_blocks(stmt):
                take_over(stmt, stmts[position])
                syntax.take_line(stmt, stmts[position])
        self.reads[name] = 0
        if isinstance(value, gast.Name):  # but for the read that goes with the name
            self.reads[value.id] = self.reads.get(value.id, 0) + count - 1
        return True

    def move(
        self,
        name: str,
        value: gast.expr,
        stmts: list[gast.stmt],
        position: int,
        use: gast.stmt,
    ) -> bool:
        """Replace the one use of a name by its value."""
        if self.rebinds(use, name):
            return False
        run = control(use)
        if isinstance(use, gast.FunctionDef):
            return False
        if run and (run.repeated or not syntax.count_reads(run.head, name)):
            return False
        if self.inside_scope(use, name):
            return False
        last = stmts.index(use, position + 1) - 1
        pure = is_pure(value)
        if self.caught and last > position:
            return False  # which of two exceptions comes first is seen
        if not pure and (last > position or not self.evaluated_first(use, name, value)):
            return False
        reads = syntax.names_read(value)
        if self.touched(stmts, position, last, reads):
            return False
        if (
            isinstance(use, gast.Assign)
            and isinstance(use.targets[0], gast.Tuple)
            and not isinstance(value, (gast.Subscript, gast.Call, gast.Name))
            and not _is_unpacked(use.targets[0], value)
        ):
            return False
        if not self.reads_well(use, value, name):
            return False
        if _reads_contents(value) and self.changed_between(
            stmts, position, last, reads
        ):
            return False
        self.replace(use, name, value)
        unpacked = isinstance(use, gast.Assign) and isinstance(
            use.targets[0], gast.Tuple
        )
        if unpacked and isinstance(use.value, gast.List):
            use.value = gast.Tuple(use.value.elts, syntax.LOAD)
        take_over(use, stmts[position])
        syntax.take_line(use, stmts[position])
        self.reads[name] = 0
        return True

    def reads_well(self, use: gast.stmt, value: gast.expr, name: str) -> bool:
        """Whether the line stays short enough to be read."""
        size = sum(1 for n in syntax.walk(value) if isinstance(n, gast.expr))
        if syntax.has_blocks(use):
            return True
        if getattr(use, "backward", False) or self.named(name):
            room = sum(1 for n in syntax.walk(use) if isinstance(n, gast.expr))
            return size + room <= 2 * LIMIT
        return True

    def inside_scope(self, use: gast.stmt, name: str) -> bool:
        """Whether the use stands in a lambda or comprehension."""
        for sub in syntax.walk(use):
            if isinstance(
                sub,
                (
                    gast.Lambda,
                    gast.ListComp,
                    gast.SetComp,
                    gast.DictComp,
                    gast.GeneratorExp,
                ),
            ) and syntax.count_reads(sub, name):
                return True
        return False

    def evaluated_first(self, use: gast.stmt, name: str, value: gast.expr) -> bool:
        """Whether nothing with an effect, or that an effect changes, comes before."""
        changes = written_bases(gast.Expr(value))
        run = control(use)
        for sub in evaluated(run.head if run else use):
            if isinstance(sub, gast.Name) and sub.id == name:
                return True
            if isinstance(sub, gast.Name) and may_be_one_of(
                self.shares, (sub.id,), changes
            ):
                return False
            if sub is None or not effect_of(sub).pure:
                return False
        return False

    def replace(self, stmt: gast.stmt, name: str, value: gast.expr) -> None:
        """Put the value in place of the name, in place."""
        for sub in list(syntax.walk(stmt)):  # not what is put in as well
            if isinstance(sub, gast.stmt):
                self.changed_in(sub)
            for key, child in list(sub.__dict__.items()):
                if isinstance(child, gast.Name) and child.id == name:
                    if isinstance(child.ctx, gast.Load):
                        setattr(sub, key, syntax.clone(value))
                elif isinstance(child, list):
                    for i, item in enumerate(child):
                        if (
                            isinstance(item, gast.Name)
                            and item.id == name
                            and isinstance(item.ctx, gast.Load)
                        ):
                            child[i] = syntax.clone(value)
        if isinstance(value, gast.Constant):
            for each in syntax.all_statements([stmt]):
                decide(each)


def decide(stmt: gast.stmt) -> None:
    """Leave out of the expressions of a statement what constants have decided."""
    for key, part in stmt.__dict__.items():
        if isinstance(part, gast.expr):
            setattr(stmt, key, syntax.rewritten(part, decided))


def _are_between(
    start: int, end: int, table: _Mentioning, names: Collection[str]
) -> bool:
    """Whether the table has statements between these places for one of the names."""
    return any(start < place <= end for name in names for place in table.get(name, ()))


def _is_unpacked(target: gast.Tuple, value: gast.expr) -> bool:
    """Whether `a, b = value` is `a, b = f(x), g(y)`, and no exchange of names."""
    if not isinstance(value, (gast.List, gast.Tuple)):
        return False
    names = syntax.names_written(target)
    return len(target.elts) == len(value.elts) and not names & syntax.names_read(value)


def stays_new(stmt: Any, use: Any) -> bool:
    """Whether what must be a new value is seen to be one where it is nested.

    It is a result of its own or an item of one (`Finisher.tidied`), or it is read and
    not kept: in `[x_dot * 1.0] * 2` it could become the `x_dot` of the caller.
    """
    if not getattr(stmt, "fresh", False):
        return True
    name, value = stmt.targets[0].id, stmt.value
    display = isinstance(value, (gast.Tuple, gast.List, gast.Dict))
    tops: list[Any] = [getattr(use, "value", None)]
    if isinstance(use, gast.Expr) and isinstance(use.value, gast.Call):
        tops = list(use.value.args)
    while tops:
        top = tops.pop()
        if isinstance(top, (gast.Tuple, gast.List)):
            tops += top.elts
        elif isinstance(top, gast.Dict):
            tops += top.values
        elif not syntax.is_name(top, name) and (
            syntax.count_reads(top, name) if display else not _only_read(top, name)
        ):
            return False
    return True


def _only_read(node: Any, name: str) -> bool:
    """Whether the expression does not hold on to the memory of the name."""
    if not syntax.count_reads(node, name):
        return True
    if isinstance(node, (gast.BinOp, gast.UnaryOp, gast.Compare)):
        inner = [n for n in syntax.walk(node) if isinstance(n, gast.expr)]
        held = (gast.List, gast.Tuple, gast.Dict, gast.IfExp, gast.Call)
        return not any(isinstance(n, held) and not _only_read(n, name) for n in inner)
    if isinstance(node, gast.Call) and shared_argument(node) is None:
        numpy = called(node).startswith("np.")
        return numpy and all(
            syntax.is_name(a, name) or _only_read(a, name) for a in node.args
        )
    return False


def _reads_contents(value: Any) -> bool:
    """Whether the value depends on what arrays hold, not only on which they are."""
    return not isinstance(value, (gast.Name, gast.Constant))


def nest(
    node: gast.FunctionDef,
    may_nest: Callable[[str], bool],
    shares: Callable[[str], set[str]] = lambda name: set(),
    named: Callable[[str], bool] = lambda name: False,
) -> bool:
    """Nest single-use temporaries of the function, in place; whether there were any."""
    nesting = Nesting(node, may_nest, shares, named)
    changed = False
    while nesting.run():
        changed, before = True, nesting
        nesting = Nesting(
            node, may_nest, shares, named
        )  # it knows what those before did
        nesting.known, nesting.bases = before.known, before.bases
        nesting.gone = before.gone
    return changed
