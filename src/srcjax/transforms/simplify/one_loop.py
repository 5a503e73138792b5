"""One loop for a forward and a backward loop whose iterations are independent.

Before:                                    After:

    tape = []                                  dc = np.zeros_like(c)
    for p in points:                           for p in points:
        d = c - p                                  d = c - p
        total += d @ d                             total += d @ d
        tape.append(d)                             dc += 2 * dtotal * d
    dc = np.zeros_like(c)
    for p in reversed(points):
        d = tape.pop()
        dc += 2 * dtotal * d

The way back of an iteration may follow it at once where it reads nothing but what that
iteration put on a tape, and what is the same in all of them, and where all that it
leaves behind are sums. What stands between the loops comes before the one loop, or
after it where it needs the forward loop's result; a sum that starts from that starts
from zero, and is added to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed
from srcjax.frontend.joined_tapes import emptied, popped, pushed, taken
from srcjax.transforms.call_effects import called, is_pure, written_bases
from srcjax.transforms.simplify.delay import commute
from srcjax.transforms.simplify.kin import may_be_one_of
from srcjax.transforms.simplify.sugar import read_elsewhere, runs_after

Shares = Callable[[str], set[str]]
#: What leaves a loop, or has names of its own.
_LEAVES = (
    gast.Return,
    gast.Break,
    gast.Continue,
    gast.Raise,
    gast.Yield,
    gast.YieldFrom,
    gast.FunctionDef,
    gast.Lambda,
    gast.Try,
    gast.With,
    gast.While,
    gast.Global,
    gast.Nonlocal,
)


def one_loop(
    node: gast.FunctionDef,
    own_tapes: set[str],
    shares: Shares,
    is_number: Callable[[str], bool],
) -> bool:
    """Join such loops of the function, in place; whether there were any.

    Args:
        own_tapes: lists that the forward sweep made, which nothing else knows.
        is_number: whether a name stands for a number.
    """
    return _Joining(node, own_tapes, shares, is_number).run()


class _Joining:
    """Joins the loops of one function."""

    def __init__(
        self,
        node: gast.FunctionDef,
        own_tapes: set[str],
        shares: Shares,
        is_number: Callable[[str], bool],
    ) -> None:
        self.node = node
        self.own_tapes = own_tapes
        self.shares = shares
        self.is_number = is_number
        #: What the loops at hand may go through once only.
        self.used_up: set[str] = set()

    def run(self) -> bool:
        changed = False
        while any(self.joined(block) for block in syntax.blocks(self.node.body)):
            changed = True
        for stmt in syntax.all_statements(self.node.body):
            if _is_backward(stmt) and self.may_turn(stmt):
                stmt.iter = stmt.iter.args[0]
                changed = True
        return changed

    def may_turn(self, back: Any) -> bool:
        """Whether the trips of a way back may be in the order of the user's loop."""
        over = back.iter.args[0] if len(back.iter.args) == 1 else None
        plain = syntax.is_name(over) or called(over) == "range"
        nodes = list(syntax.walk(back.body))
        if not plain or any(isinstance(n, _LEAVES) or popped(n) for n in nodes):
            return False
        own = _own(back.body)
        sums = _sums(back.body, own)
        if sums is None or not all(map(_is_simple, syntax.all_statements(back.body))):
            return False
        target = syntax.names_written(back.target)
        reads = exposed(_without_sums(back.body, own)) - target
        changed = written_bases(back.body) | sums
        if reads & (sums | own) or may_be_one_of(self.shares, reads, changed):
            return False
        later = runs_after(self.node, back)
        return not read_elsewhere(later, back, own | target)

    def joined(self, block: list[Any]) -> bool:
        """Join the first two loops of the block that may be one, in place."""
        for end, back in enumerate(block):
            if not _is_backward(back):
                continue
            for start in reversed(range(end)):
                if self.join(block, start, end):
                    return True
        return False

    def join(self, block: list[Any], start: int, end: int) -> bool:
        """Make one of two loops, in place, if they may be one."""
        ahead, back = block[start], block[end]
        visit = self.visit(ahead, back)
        if visit is None:
            pure = is_pure(getattr(ahead, "iter", []))
            return pure and self.join_opposite(block, start, end)
        used_up = written_bases(ahead) - written_bases(ahead.body)
        if may_be_one_of(self.shares, syntax.names_read(back.body), used_up):
            return False
        self.used_up = used_up
        body, over = ahead.body, back.iter
        ahead.body = [s for s in body if s is not visit]
        back.iter = syntax.call("reversed", syntax.clone(ahead.iter))
        joined = self.join_opposite(block, start, end)
        self.used_up = set()
        if not joined:
            ahead.body, back.iter = body, over
            return False
        self.drop({pushed(visit)})
        return True

    def visit(self, ahead: Any, back: Any) -> Any:
        """The statement that keeps what a loop goes over, for the way back alone.

        What it goes over may be gone through once only: it is where both are one loop.
        """
        visits = [s for s in getattr(ahead, "body", []) if getattr(s, "visits", False)]
        if len(visits) != 1 or not isinstance(ahead, gast.For):
            return None
        kept, item = pushed(visits[0]), visits[0].value.args[0]
        uses = sum(name.id == kept for name in syntax.names_in(self.node))
        over = back.iter.args[0] if len(back.iter.args) == 1 else None
        same = syntax.equal(item, syntax.as_load(syntax.clone(ahead.target)))
        return visits[0] if same and uses == 3 and syntax.is_name(over, kept) else None

    def drop(self, lists: Collection[str]) -> None:
        """Make these lists nowhere, in place."""
        for inner in syntax.blocks(self.node.body):
            inner[:] = [s for s in inner if emptied(s) not in lists] or [gast.Pass()]

    def join_opposite(self, block: list[Any], start: int, end: int) -> bool:
        """The same, of loops over what is written down twice."""
        ahead, back = block[start], block[end]
        if not _are_opposite(ahead, back):
            return False
        tapes = self.tapes(ahead, back)
        between = block[start + 1 : end]
        changed = written_bases([*ahead.body, *back.body])
        if may_be_one_of(self.shares, syntax.names_read(ahead.iter), changed):
            return False
        if tapes is None or not self.are_independent(ahead, back, between, tapes):
            return False
        parted = self.parted(ahead, back, between)
        if parted is None:
            return False
        before, after = parted
        body = self.kept(ahead.body, tapes)
        changes: dict[int, set[str]] = {}
        for stmt in self.put(back.body, tapes):
            if not self.is_repeated(stmt, body, changes):
                body.append(stmt)
        ahead.body = body
        block[start : end + 1] = [*before, ahead, *after]
        self.drop(tapes)
        return True

    # -- tapes -------------------------------------------------------------------------

    def tapes(self, ahead: Any, back: Any) -> dict[str, gast.expr] | None:
        """What is put on each tape in the one loop, and taken from it in the other.

        Tapes of loops in these loops stay tapes. None: some other list is changed.
        """
        put = {pushed(s): s.value.args[0] for s in ahead.body if pushed(s)}
        simple = [s for s in back.body if not syntax.has_blocks(s)]
        pops = {popped(n) for n in syntax.walk(simple)} - {""}
        inside = {pushed(s) for s in syntax.all_statements(ahead.body)} - {""}
        if not inside or set(put) != pops or not inside <= self.own_tapes:
            return None
        uses: dict[str, int] = {}
        for name in syntax.names_in(self.node):
            uses[name.id] = uses.get(name.id, 0) + 1
        if any(uses[tape] != 3 for tape in inside):  # made, put on, taken from
            return None
        return put if self.stay_as_they_are(ahead.body, put) else None

    def stay_as_they_are(self, body: list[Any], put: dict[str, gast.expr]) -> bool:
        """Whether what is put on a tape is the same at the end of the iteration."""
        for at, stmt in enumerate(body):
            if not pushed(stmt):
                continue
            value = put[pushed(stmt)]
            later = [s for s in body[at + 1 :] if not pushed(s)]
            changed = _changed(later)
            reads = syntax.names_read(value)
            if not is_pure(value) or may_be_one_of(self.shares, reads, changed):
                return False
        return True

    def kept(self, body: list[Any], tapes: dict[str, gast.expr]) -> list[Any]:
        """The way ahead, without its tapes."""
        return [s for s in body if pushed(s) not in tapes]

    def put(self, body: list[Any], tapes: dict[str, gast.expr]) -> list[Any]:
        """The way back, with what was on the tapes where it was taken from them."""
        out = []
        for stmt in body:
            tape = taken(stmt)
            if tape in tapes:
                if syntax.is_name(tapes[tape], stmt.targets[0].id):
                    continue
                stmt.value = syntax.clone(tapes[tape])
            elif isinstance(stmt, (gast.Assign, gast.AugAssign)):
                stmt.value = syntax.rewritten(stmt.value, self.value_on(tapes))
            out.append(stmt)
        return out

    def is_repeated(
        self, stmt: Any, body: list[Any], changes: dict[int, set[str]]
    ) -> bool:
        """Whether the statement binds a name to what it has by one of the others.

        `changes` has what those change, by their places, as far as it was asked for.
        """
        if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.targets[0]):
            return False
        names = syntax.all_names(stmt)
        for k in range(len(body) - 1, -1, -1):
            if syntax.equal(body[k], stmt):
                return is_pure(stmt.value)
            if k not in changes:
                changes[k] = _changed(body[k])
            if may_be_one_of(self.shares, names, changes[k]):
                return False
        return False

    def bound_again(self, ahead: list[Any], back: list[Any]) -> set[str]:
        """Names that the way back binds to what they have by the way ahead."""
        found: set[str] = set()
        changes: dict[int, set[str]] = {}
        for stmt in back:
            if self.is_repeated(stmt, ahead, changes):
                changed = _changed([s for s in back if s is not stmt])
                if not may_be_one_of(self.shares, syntax.all_names(stmt), changed):
                    found.add(stmt.targets[0].id)
        return found

    def value_on(self, tapes: dict[str, gast.expr]) -> Callable[[gast.expr], gast.expr]:
        """What was put on a tape in place of what takes it."""

        def value(node: gast.expr) -> gast.expr:
            tape = popped(node)
            return syntax.clone(tapes[tape]) if tape in tapes else node

        return value

    # -- what may change places --------------------------------------------------------

    def are_independent(
        self, ahead: Any, back: Any, between: list[Any], tapes: dict[str, gast.expr]
    ) -> bool:
        """Whether an iteration's way back may follow it at once."""
        own = _own(back.body)
        sums = _sums(back.body, own)
        new = self.put(syntax.clone(back.body), tapes)
        if sums is None or not all(map(_is_simple, syntax.all_statements(new))):
            return False
        target = syntax.names_written(back.target)
        reads = exposed(_without_sums(back.body, own)) - target - self.own_tapes
        changed = (written_bases(back.body) | sums) - self.own_tapes
        if reads & (sums | own) or may_be_one_of(self.shares, reads, changed):
            return False  # what one iteration leaves, another one reads
        made = _changed(ahead.body)
        made -= self.own_tapes | self.steady(ahead, back)
        if may_be_one_of(self.shares, reads, made):
            return False
        used = syntax.names_read(ahead) | made
        if may_be_one_of(self.shares, used - own, changed):
            return False
        again = self.bound_again(self.kept(ahead.body, tapes), back.body)
        clashes = self.clashes(ahead.body, back.body, own - again)
        if own & exposed([ahead]) or clashes:
            return False
        later = [*between, *runs_after(self.node, back)]
        ahead_and_back = gast.If(syntax.const(True), [ahead, back], [])
        return not read_elsewhere(later, ahead_and_back, own | target)

    def steady(self, ahead: Any, back: Any) -> set[str]:
        """Names that hold the same in each iteration: `s = np.exp(log_s)`."""
        changed = written_bases([ahead, back])
        varying = syntax.names_written([ahead, back]) | changed
        bound = syntax.binding_counts([ahead, back])
        found: set[str] = set()
        for stmt in ahead.body:
            name = getattr(getattr(stmt, "targets", [None])[0], "id", "")
            if not isinstance(stmt, gast.Assign) or bound[name] != 1:
                continue
            reads = syntax.names_read(stmt.value)
            same = not may_be_one_of(self.shares, reads, varying - found)
            kept = not may_be_one_of(self.shares, {name}, changed)
            if same and kept and is_pure(stmt.value):
                found.add(name)
        return found

    def clashes(self, ahead: list[Any], back: list[Any], own: set[str]) -> bool:
        """Whether what is taken would be another value without the tape.

        `d = tape.pop()` goes where `d` was put on it, and else becomes `e = d`: the way
        back may bind none of these names to anything else.
        """
        put = {pushed(s): s.value.args[0] for s in ahead if pushed(s)}
        pops = {taken(s): s.targets[0].id for s in back if taken(s)}
        same = {n for tape, n in pops.items() if syntax.is_name(put[tape], n)}
        bound: list[str] = []
        for stmt in syntax.all_statements(back):
            bound += syntax.names_written(syntax.head(stmt))
        reads = syntax.names_read(list(put.values()))
        return bool(reads & (own - same)) or any(bound.count(n) != 1 for n in same)

    def parted(
        self, ahead: Any, back: Any, between: list[Any]
    ) -> tuple[list[Any], list[Any]] | None:
        """What stands between the loops: before the one loop, and after it."""
        before: list[Any] = []
        after: list[Any] = []
        sums = _sums(back.body, _own(back.body)) or set()

        def passed(stmt: Any) -> list[Any]:
            """What has to commute with a statement for it to come before the loop.

            What has a length keeps it when it is gone through.
            """
            asked = _counted_alone(stmt) & self.used_up
            writes = _changed(stmt)
            over = syntax.names_read(ahead.iter)
            if not asked or may_be_one_of(self.shares, over, writes):
                return [ahead]
            return [gast.Expr(ahead.target), *ahead.body]

        for stmt in between:
            if any(isinstance(s, _LEAVES) for s in syntax.walk(stmt)):
                return None
            first = all(commute(stmt, s, self.shares) for s in (*passed(stmt), *after))
            if first:
                before.append(stmt)
                continue
            if not commute(stmt, back, self.shares):
                name = getattr(getattr(stmt, "targets", [None])[0], "id", "")
                again = syntax.names_written([*before, *after])
                again |= syntax.names_read(after)
                if not (
                    isinstance(stmt, gast.Assign)
                    and len(stmt.targets) == 1
                    and name in sums - again
                    and self.is_number(name)
                    and name not in syntax.names_read(stmt.value)
                    and is_pure(stmt.value)
                    and self.is_same_after(stmt.value, back, name)
                ):
                    return None
                before.append(syntax.assign(name, syntax.const(0.0)))
                before[-1].backward = True
                added = gast.AugAssign(
                    syntax.name(name, store=True), gast.Add(), stmt.value
                )
                for mark in ("user_line", "backward"):
                    setattr(added, mark, getattr(stmt, mark, None))
                stmt = added
            after.append(stmt)
        return before, after

    def is_same_after(self, value: gast.expr, back: Any, number: str) -> bool:
        """Whether the value is the same after a loop, which adds to a number."""
        changed = (written_bases(back) | syntax.names_written(back)) - {number}
        return not may_be_one_of(self.shares, syntax.names_read(value), changed)


def _counted_alone(stmt: Any) -> set[str]:
    """Names of which the statement asks nothing but how long they are."""
    reads = syntax.read_counts(stmt)
    counted = Counter(
        call.args[0].id
        for call in syntax.walk(stmt)
        if called(call) == "len"
        and len(call.args) == 1
        and syntax.is_name(call.args[0])
    )
    return {name for name, times in counted.items() if reads[name] == times}


def _is_backward(stmt: Any) -> bool:
    return isinstance(stmt, gast.For) and called(stmt.iter) == "reversed"


def _are_opposite(ahead: Any, back: Any) -> bool:
    """Whether the second loop goes over what the first one does, from the end."""
    if not isinstance(ahead, gast.For) or ahead.orelse or back.orelse:
        return False
    if len(back.iter.args) != 1 or not syntax.equal(ahead.iter, back.iter.args[0]):
        return False
    if not syntax.equal(ahead.target, back.target):
        return False
    bound = syntax.names_written([*ahead.body, *back.body])
    over = syntax.names_read(ahead.iter) | syntax.names_written(ahead.target)
    bodies = [*ahead.body, *back.body]
    if bound & over:
        return False
    return not any(isinstance(s, _LEAVES) for s in syntax.walk(bodies))


def _is_simple(stmt: Any) -> bool:
    """Whether the statement of the way back computes, and changes sums alone."""
    added = _added(stmt)
    if added is not None:
        return is_pure(added)
    if isinstance(stmt, (gast.Assign, gast.AugAssign)):
        return is_pure(stmt.value) or bool(taken(stmt))
    return isinstance(stmt, (gast.If, gast.For, gast.Pass))


def _changed(node: Any) -> set[str]:
    """The names that statements bind, or to whose memory they write."""
    return syntax.names_written(node) | written_bases(node)


def _own(body: list[Any]) -> set[str]:
    """Names that the way back binds in each iteration."""
    bound = [s for s in syntax.all_statements(body) if not _is_update(s)]
    heads = [s.targets if isinstance(s, gast.Assign) else [] for s in bound]
    loops = [[s.target] for s in bound if isinstance(s, gast.For)]
    targets = [target for found in (*heads, *loops) for target in found]
    return syntax.names_written(targets)


def _sums(body: list[Any], own: set[str]) -> set[str] | None:
    """Names of what the way back adds to; None if it changes anything in other ways."""
    sums: set[str] = set()
    for stmt in syntax.all_statements(body):
        if isinstance(stmt, gast.AugAssign):
            name = syntax.root_of(stmt.target)
            if not name or not (name in own or _is_update(stmt)):
                return None
            sums |= {name} - own
        elif _is_update(stmt):
            sums |= {stmt.targets[0].id} - own
        elif isinstance(stmt, gast.Assign):
            places = [t for t in stmt.targets if not syntax.is_name(t)]
            if not all(syntax.root_of(place) in own for place in places):
                return None
    return sums


def _is_update(stmt: Any) -> bool:
    """`d += e`, `d -= e`, and such sums as `d = d + e` and `d = add_at(d, i, e)`."""
    if isinstance(stmt, gast.AugAssign):
        return isinstance(stmt.op, (gast.Add, gast.Sub))
    return _added(stmt) is not None


def _added(stmt: Any) -> list[gast.expr] | None:
    """What is read of other values by `d = d + e` and `d = add_at(d, i, e)`."""
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
        return None
    total, value = stmt.targets[0], stmt.value
    parts: list[gast.expr] = []
    if isinstance(value, gast.BinOp) and isinstance(value.op, (gast.Add, gast.Sub)):
        parts = [value.left, value.right]
    elif called(value) in ("add", "add_at") and not value.keywords:
        parts = value.args
    name = getattr(total, "id", "")
    if not parts or not syntax.is_name(parts[0], name):
        return None
    rest = parts[1:]
    return None if name in syntax.names_read(rest) else rest


def _without_sums(body: list[Any], own: set[str]) -> list[Any]:
    """The statements, each update as what it reads but for its sum."""
    out: list[Any] = []
    for stmt in syntax.clone(body):
        syntax.rewrite_blocks(stmt, lambda block: _without_sums(block, own))
        added = _added(stmt)
        if added is not None and stmt.targets[0].id not in own:
            out += map(gast.Expr, added)
            continue
        if isinstance(stmt, gast.AugAssign) and syntax.root_of(stmt.target) not in own:
            place = stmt.target
            out.append(gast.Expr(stmt.value))
            while isinstance(place, gast.Subscript):
                out.append(gast.Expr(place.slice))
                place = place.value
            continue
        out.append(stmt)
    return out
