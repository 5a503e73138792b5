"""Join updates of one adjoint that follow each other, or could.

Before:                          After:

    dx = 1.0                         dy = 2 * z
    dy = 2 * z                       dx = 1.0 + dy
    dx += dy
    dx += a                          dx += a + b
    dx += b
    du = a                           du = a + b
    du = du + b
    dy[i] = 0.0                      dy[i] = c
    dy[i - 1] += b                   dy[i - 1] += b
    dy[i] += c
    c = dy[i].copy()                 c = dy[i].copy()
    dy[i] = c
    dx = np.zeros_like(x)            dx = np.zeros_like(x)
    dx[i] += dv                      dx[i] = dv
    dz = dz                          (nothing)
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import called, copied, is_pure, written_bases
from srcjax.transforms.reasons import because, take_over, why
from srcjax.transforms.simplify.delay import commute
from srcjax.transforms.simplify.kin import may_be_one_of

#: The names that may share memory with a name.
Shares = Callable[[str], set[str]]
#: Whether nothing else holds what an assignment binds a name to.
StartsAnew = Callable[[gast.Assign], bool]
#: The longest `return` of a call with a value in it, in characters.
_RETURN = 66
#: The longest sum, in characters, for which two statements become one.
_WIDTH = 66


def join_updates(
    stmts: list[gast.stmt],
    shares: Shares = lambda name: set(),
    starts_anew: StartsAnew = lambda stmt: True,
) -> list[gast.stmt]:
    """The statements of a block (and of the blocks inside) with updates joined.

    `starts_anew` tells whether nothing but the name holds what an assignment gives it:
    else `x += v` changes what others hold too. `shares` tells the names that may share
    memory with a name.
    """
    out: list[gast.stmt] = []
    starts = _once_told(starts_anew)
    for stmt in stmts:
        syntax.rewrite_blocks(stmt, lambda b: join_updates(b, shares, starts_anew))
        if getattr(stmt, "backward", False):
            if _is_identity(stmt):
                continue
            at = _joined(out, stmt, shares, starts)
            if at is not None:
                if _puts_back(out[at], out[:at], shares):
                    out.pop(at)
                continue
        out.append(stmt)
    return out


def _once_told(starts_anew: StartsAnew) -> StartsAnew:
    """The same, without a second look at what does: what is added leaves it new.

    A sum may have hundreds of terms, each joined to what was before.
    """
    told: syntax.ByNode[bool] = syntax.ByNode()

    def starts(stmt: gast.Assign) -> bool:
        if told.get(stmt):
            return True
        told[stmt] = starts_anew(stmt)
        return bool(told.get(stmt))

    return starts


def _joined(
    out: list[Any], stmt: Any, shares: Shares, starts_anew: StartsAnew
) -> int | None:
    """Take the statement into one before it, at a place; None if there is none.

    Between them stands only what it may pass, of the same line of the user's.
    """
    for at in reversed(range(len(out))):
        last = out[at]
        if _join_anew(last, stmt):
            because(last, *why(stmt))
            return at
        starts = not isinstance(last, gast.Assign) or starts_anew(last)
        if getattr(last, "backward", False) and starts and _join(last, stmt, shares):
            because(last, *why(stmt))
            return at
        if not (_same_line(last, stmt) and _passes(stmt, last, shares)):
            return None
    return None


def _join_anew(last: Any, stmt: Any) -> bool:
    """Take `d = d + e` into `d = a` before it, of the same line of the user's.

    Neither changes what other names hold.
    """
    if not (
        isinstance(last, gast.Assign)
        and isinstance(stmt, gast.Assign)
        and isinstance(last.targets[0], gast.Name)
        and getattr(last, "backward", False)
        and _same_line(last, stmt)
    ):
        return False
    name = last.targets[0].id
    added = _added_to(stmt, name)
    if added is None or name in syntax.names_read(added[1]):
        return False
    if not _adds_up(last.value):
        return False
    last.value = gast.BinOp(last.value, *added)
    return True


def _is_sum(stmt: Any) -> bool:
    """`d += e` or `d -= e`."""
    added = isinstance(stmt, gast.AugAssign)
    return added and isinstance(stmt.op, (gast.Add, gast.Sub))


def _passes(stmt: Any, last: Any, shares: Shares) -> bool:
    """Whether a sum, `d += e` or `d = d + e`, may be added before what is before it.

    Sums to the same array may change places, wherever they are: what is there in the
    end is the same.
    """
    if not isinstance(last, (gast.Assign, gast.AugAssign)):
        return False
    sums = _is_sum(stmt)
    if not sums and _added_to(stmt, _bound_name(stmt)) is None:
        return False
    if commute(stmt, last, shares):
        return True
    array = _array_of(stmt) if sums else ""
    if not array or not _is_sum(last) or _array_of(last) != array:
        return False
    told = [
        syntax.names_read(part)
        for s in (stmt, last)
        for part in (s.value, s.target.slice)
    ]
    return not may_be_one_of(shares, set().union(*told), {array})


def _array_of(stmt: Any) -> str:
    """`d` of `d[i] += e`."""
    place = stmt.target
    return getattr(place.value, "id", "") if isinstance(place, gast.Subscript) else ""


def _puts_back(stmt: Any, before: list[Any], shares: Shares) -> bool:
    """`a[i] = d` after `d = a[i].copy()`, where nothing between changes either."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.Name):
        return False
    place, name = stmt.targets[0], stmt.value.id
    if not isinstance(place, gast.Subscript):
        return False
    changed: set[str] = set()
    for earlier in reversed(before):
        if name in syntax.names_written(earlier):
            break
        changed |= syntax.names_written(earlier) | written_bases(earlier)
    else:
        return False
    told = syntax.names_read(place) | {name}
    if may_be_one_of(shares, told, changed) or not isinstance(earlier, gast.Assign):
        return False
    value = copied(earlier.value) or earlier.value
    return syntax.is_name(earlier.targets[0], name) and syntax.equal(
        syntax.as_load(place), value
    )


def fold_starts(
    stmts: list[gast.stmt],
    shares: Shares = lambda name: set(),
    starts_anew: StartsAnew = lambda stmt: True,
    across: bool = True,
) -> list[gast.stmt]:
    """`d = 1.0`, and later `d += e`: one statement, where the second one stands.

    `shares` and `starts_anew` as in `join_updates`. Unless `across`, only atoms are
    taken into what differentiates another line of the user's.
    """
    out: list[gast.stmt] = []
    later: _Later | None = None
    for place, stmt in enumerate(stmts):
        syntax.rewrite_blocks(
            stmt, lambda block: fold_starts(block, shares, starts_anew, across)
        )
        plain = isinstance(stmt, gast.Assign) and getattr(stmt, "backward", False)
        if plain:
            later = later or _Later(stmts)
            if _fold_start(later, place, shares, starts_anew, across):
                continue
        out.append(stmt)
    return out


class _Later:
    """The statements of a block, and the next ones that mention or change names."""

    def __init__(self, stmts: list[gast.stmt]) -> None:
        self.stmts = stmts
        #: The places of those that sums took in.
        self.taken: set[int] = set()
        #: The places of statements by what they mention.
        self.mentions: dict[str, list[int]] = {}
        #: What each one changes, as far as it was asked for: names that it binds, and
        #: those whose memory it may write to.
        self.changes: dict[int, set[str]] = {}
        for place, stmt in enumerate(stmts):
            for name in syntax.all_names(stmt):
                self.mentions.setdefault(name, []).append(place)

    def mention(self, name: str, after: int) -> int:
        """The first place after one where the name is mentioned, or the end."""
        found = self.mentions.get(name, [])
        at = bisect.bisect_right(found, after)
        return found[at] if at < len(found) else len(self.stmts)

    def mention_before(self, name: str, place: int) -> int:
        """The last place before one where the name is mentioned, or -1."""
        found = self.mentions.get(name, [])
        at = bisect.bisect_left(found, place)
        return found[at - 1] if at else -1

    def changed(self, after: int, end: int) -> set[str]:
        """The names that statements between two places change."""
        for place in range(after + 1, end):
            if place not in self.changes:
                stmt = self.stmts[place]
                written = syntax.names_written(stmt) | written_bases(stmt)
                self.changes[place] = written
        return set().union(*(self.changes[k] for k in range(after + 1, end)))

    def stand_apart(self, at: int, end: int) -> bool:
        """Whether two statements have to, lest two lines be quoted above one.

        They need not where another statement, up to the second one, is of the line of
        either of them: that line is quoted there. Starts of other sums of the same two
        lines stand apart as well, or none of them does.
        """
        lines = self.line(at), self.line(end)
        if lines[0] == lines[1] or not all(line and line[2] for line in lines):
            return False
        return not any(
            self.line(place) in lines
            and getattr(self.stmts[place], "backward", False)
            and place not in self.taken
            and not self.is_part_of(place, at)
            and self.lines_of_sum(place) != lines
            for place in range(end)
            if place != at
        )

    def line(self, place: int) -> Any:
        """The line of the user's that the statement there differentiates."""
        return getattr(self.stmts[place], "user_line", None)

    def lines_of_sum(self, place: int) -> tuple[Any, Any] | None:
        """The lines of the start of a sum and of what it adds, if it is either."""
        name = _bound_name(self.stmts[place])
        if _added_to(self.stmts[place], name):
            first, second = self.mention_before(name, place), place
        else:
            first, second = place, self.mention(name, place)
        if first < 0 or second == len(self.stmts):
            return None
        starts = isinstance(self.stmts[first], gast.Assign)
        if not (starts and _added_to(self.stmts[second], name)):
            return None
        return self.line(first), self.line(second)

    def is_part_of(self, place: int, at: int) -> bool:
        """Whether it will be: an atom, or what the statement there alone reads."""
        stmt: Any = self.stmts[place]
        if _is_slight(getattr(stmt, "value", None)):
            return True
        mentioned = self.mentions.get(_bound_name(stmt), [])
        return at in mentioned and set(mentioned) <= {place, at}

    def reads(self, names: set[str], place: int) -> None:
        """The statement there has come to read these names."""
        for name in names:
            bisect.insort(self.mentions.setdefault(name, []), place)


def _fold_start(
    later: _Later, at: int, shares: Shares, starts_anew: StartsAnew, across: bool
) -> bool:
    """Take the start of a sum into the first statement that adds to it."""
    start: Any = later.stmts[at]
    if not (
        isinstance(start, gast.Assign)
        and isinstance(start.targets[0], gast.Name)
        and _is_short(start.value)
    ):
        return False
    name, reads = start.targets[0].id, syntax.names_read(start.value)
    if name in reads:
        return False
    place = later.mention(name, at)
    if place == len(later.stmts):
        return False
    stmt: Any = later.stmts[place]
    added = _added_to(stmt, name)
    if added is None or name in syntax.names_read(added[1]):
        return False
    if isinstance(stmt, gast.AugAssign) and not starts_anew(start):
        return False
    if may_be_one_of(shares, reads, later.changed(at, place)):
        return False
    value = gast.BinOp(start.value, *added)
    if not (across or syntax.is_atom(start.value) or _same_line(start, stmt)):
        return False
    if not _is_slight(start.value) and (
        later.stand_apart(at, place) or len(syntax.text(value)) > _WIDTH
    ):
        return False
    if isinstance(stmt, gast.AugAssign):
        stmt.__class__ = gast.Assign
        stmt.targets, stmt.type_comment = [syntax.name(name, store=True)], None
        del stmt.target, stmt.op
    stmt.value = value
    if not _is_slight(start.value):
        stmt.earlier_line = getattr(start, "user_line", None)
    take_over(stmt, start)
    later.reads(reads, place)
    later.taken.add(at)
    return True


def _is_slight(value: Any) -> bool:
    """An atom or the negative of one, which takes no statement of its own."""
    negative = isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub)
    return syntax.is_atom(value.operand if negative else value)


def _added_to(stmt: Any, name: str) -> tuple[gast.operator, gast.expr] | None:
    """What `d += e`, `d -= e` and `d = d + e` add to `d`, and how."""
    if isinstance(stmt, gast.AugAssign):
        added = stmt.target, stmt.op, stmt.value
    elif isinstance(stmt, gast.Assign) and isinstance(stmt.value, gast.BinOp):
        if not syntax.is_name(stmt.targets[0], name):
            return None
        added = stmt.value.left, stmt.value.op, stmt.value.right
    else:
        return None
    whole, op, value = added
    plain = isinstance(op, (gast.Add, gast.Sub)) and syntax.is_name(whole, name)
    return (op, value) if plain else None


def _is_short(value: Any) -> bool:
    """An atom, or what computes without a loop or condition, as in `2 * x + y.T @ z`.

    Such a one is written once, a line further down.
    """
    return is_pure(value) and not any(
        isinstance(n, _SEVERAL) or called(n) in _ZEROS for n in syntax.walk(value)
    )


#: Expressions in expressions.
_SEVERAL = (
    gast.IfExp,
    gast.Lambda,
    gast.ListComp,
    gast.SetComp,
    gast.DictComp,
    gast.GeneratorExp,
)
#: What an adjoint starts from that is added to item by item.
_ZEROS = ("np.zeros", "np.zeros_like", "zeros_like", "np.full_like", "list")


def _is_identity(stmt: Any) -> bool:
    return (
        isinstance(stmt, gast.Assign)
        and len(stmt.targets) == 1
        and isinstance(stmt.targets[0], gast.Name)
        and syntax.is_name(stmt.value, stmt.targets[0].id)
    )


def _join(last: Any, stmt: Any, shares: Shares) -> bool:
    """Take `stmt` into the statement before it; True if that was possible."""
    if _copies_itself(last, stmt):
        if not isinstance(last.value, (gast.BinOp, gast.UnaryOp)):
            last.value = syntax.expression("v.copy()", v=last.value)
        return True
    if not isinstance(stmt, gast.AugAssign) or not isinstance(
        stmt.op, (gast.Add, gast.Sub)
    ):
        return False
    target = stmt.target
    name = target.id if isinstance(target, gast.Name) else None
    if isinstance(last, gast.AugAssign) and isinstance(last.op, (gast.Add, gast.Sub)):
        if not syntax.equal(last.target, target) or name is None:
            return False
        if _same_line(last, stmt) is False:
            return False
        if may_be_one_of(shares, (name,), syntax.names_read(stmt.value)):
            return False
        first = last.value
        if isinstance(last.op, gast.Sub):
            first = gast.UnaryOp(gast.USub(), first)
        last.op, last.value = gast.Add(), gast.BinOp(first, stmt.op, stmt.value)
        return True
    if isinstance(last, gast.Assign) and name is not None:
        if not syntax.is_name(last.targets[0], name) or not _same_line(last, stmt):
            return False
        # Nothing else holds what was just assigned (`starts_anew`).
        if name in syntax.names_read(stmt.value) or not _adds_up(last.value):
            return False
        last.value = gast.BinOp(last.value, stmt.op, stmt.value)
        return True
    if not isinstance(last, gast.Assign) or not isinstance(target, gast.Subscript):
        return False
    written = last.targets[0]
    zero = isinstance(last.value, gast.Constant) and last.value.value == 0
    if zero and syntax.equal(written, target) and not _base_read(target, stmt.value):
        last.value, last.why = _signed(stmt), ()
        last.user_line = getattr(stmt, "user_line", None)
        return True
    fresh = called(last.value) == "np.zeros_like"
    if (
        fresh
        and syntax.is_name(target.value, getattr(written, "id", ""))
        and not _base_read(target, stmt.value)
        and isinstance(stmt.op, gast.Add)
    ):
        stmt.__class__ = gast.Assign
        stmt.targets, value = [target], stmt.value
        stmt.value, stmt.type_comment = value, None
        del stmt.target, stmt.op
    return False


def _copies_itself(last: Any, stmt: Any) -> bool:
    """`d = e; d = d.copy()`."""
    if not (isinstance(last, gast.Assign) and isinstance(stmt, gast.Assign)):
        return False
    name = getattr(stmt.targets[0], "id", None)
    return (
        name is not None
        and syntax.is_name(last.targets[0], name)
        and syntax.is_name(copied(stmt.value), name)
    )


def _adds_up(value: gast.expr) -> bool:
    """Whether the start of an adjoint is an expression that can be added to."""
    chain = called(value)
    return chain not in (
        "np.zeros_like",
        "zeros_like",
        "np.full_like",
        "np.ones_like",
        "list",
    )


def _same_line(a: Any, b: Any) -> bool:
    """Whether both differentiate the same line of the user's."""
    return bool(getattr(a, "user_line", None) == getattr(b, "user_line", None))


def _base_read(target: gast.Subscript, value: gast.expr) -> bool:
    return bool(syntax.names_read(target.value) & syntax.names_read(value))


def _signed(stmt: gast.AugAssign) -> gast.expr:
    if isinstance(stmt.op, gast.Sub):
        return gast.UnaryOp(gast.USub(), stmt.value)
    return stmt.value


def merge_branches(stmts: list[gast.stmt]) -> list[gast.stmt]:
    """One `if` for two that follow each other and ask the same.

    Before:                          After:

        if x > 0:                        if x > 0:
            y = np.exp(x)                    y = np.exp(x)
        if x > 0:                            dx = y
            dx = y                       else:
        else:                                dx = 0.0
            dx = 0.0
    """
    out: list[gast.stmt] = []
    for stmt in stmts:
        last = out[-1] if out else None
        if isinstance(stmt, gast.If) and isinstance(last, gast.If):
            same = syntax.equal(stmt.test, last.test)
            bodies = [*last.body, *last.orelse]
            changed = syntax.names_written(bodies) | written_bases(bodies)
            pure = is_pure(stmt.test) and is_pure(last.test)
            pure &= not any(isinstance(n, gast.Call) for n in syntax.walk(stmt.test))
            if same and pure and not changed & syntax.names_read(stmt.test):
                last.body = _without_pass([*last.body, *stmt.body])
                last.orelse = _without_pass([*last.orelse, *stmt.orelse])
                if not last.body:
                    last.body = [gast.Pass()]
                if last.orelse and all(isinstance(s, gast.Pass) for s in last.orelse):
                    last.orelse = []
                continue
        out.append(stmt)
    for stmt in out:
        syntax.rewrite_blocks(stmt, merge_branches)
        if isinstance(stmt, gast.If):
            _plain_else(stmt)
    return out


def sink_updates(node: gast.FunctionDef, own: Callable[[str], bool]) -> None:
    """An update with what only one branch gives, in that branch, in place.

    Before:                          After:

        if v > 0:                        if v > 0:
            dv = dy * v                      dv = dy * v
        else:                                dx[i] += dv
            dv = 0.0
        dx[i] += dv

    `own` tells the names that srcjax made.
    """
    reads = syntax.read_counts(node)
    for block in list(syntax.blocks(node.body)):
        at = 1
        while at < len(block):
            branch, stmt = block[at - 1], block[at]
            name = _added_name(stmt)
            once = name and own(name) and reads[name] == 1
            if once and isinstance(branch, gast.If):
                gives = _given_by(branch, name)
                if gives is not None:
                    side, other = gives
                    other[:] = [s for s in other if not _binds(s, name)]
                    side.append(block.pop(at))
                    if other is branch.body and not other:
                        other.append(gast.Pass())
                        _plain_else(branch)
                    continue
            at += 1


def _added_name(stmt: Any) -> str:
    """`dv` of `dx[i] += dv`."""
    if not isinstance(stmt, gast.AugAssign) or not isinstance(stmt.value, gast.Name):
        return ""
    adds = isinstance(stmt.op, (gast.Add, gast.Sub)) and is_pure(stmt.target)
    return stmt.value.id if adds and getattr(stmt, "backward", False) else ""


def _given_by(branch: gast.If, name: str) -> tuple[list[Any], list[Any]] | None:
    """The side of a branch that binds the name, and the one that binds it to zero."""
    sides = []
    for side in (branch.body, branch.orelse):
        found = [s for s in side if name in syntax.names_written(s)]
        if len(found) != 1 or not _binds(found[0], name):
            return None
        value = found[0].value
        sides.append(isinstance(value, gast.Constant) and repr(value.value) == "0.0")
    if sides[0] == sides[1]:
        return None
    both = (branch.body, branch.orelse)
    return both if sides[1] else both[::-1]


def _binds(stmt: Any, name: str) -> bool:
    """`name = ...`"""
    return isinstance(stmt, gast.Assign) and syntax.is_name(stmt.targets[0], name)


def _without_pass(stmts: list[gast.stmt]) -> list[gast.stmt]:
    return [s for s in stmts if not isinstance(s, gast.Pass)]


def _plain_else(stmt: gast.If) -> None:
    """`if c: pass; else: ...` is `if not c: ...`."""
    empty = all(isinstance(s, gast.Pass) for s in stmt.body)
    if empty and stmt.orelse:
        test = stmt.test
        if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            stmt.test = test.operand
        else:
            stmt.test = gast.UnaryOp(gast.Not(), test)
        stmt.body, stmt.orelse = stmt.orelse, []


def restore_augmented(stmts: list[gast.stmt]) -> list[gast.stmt]:
    """`x = x + v` is `x += v` again, where the user wrote that of a number.

    So is `x = x + v - w`, which was `x += v - w`.
    """
    out: list[gast.stmt] = []
    for stmt in stmts:
        syntax.rewrite_blocks(stmt, restore_augmented)
        if getattr(stmt, "augments", False) and isinstance(stmt, gast.Assign):
            name = getattr(stmt.targets[0], "id", "")
            added = _behind(stmt.value, name) if name else None
            if added is not None:
                new = gast.AugAssign(stmt.targets[0], *added)
                for mark in ("user_line", "backward", "why", "lineno", "col_offset"):
                    if hasattr(stmt, mark):
                        setattr(new, mark, getattr(stmt, mark))
                stmt = new
        out.append(stmt)
    return out


def _behind(value: Any, name: str) -> tuple[gast.operator, gast.expr] | None:
    """What stands behind the name in `x + v - w`, and how it is added or the like."""
    if not isinstance(value, gast.BinOp):
        return None
    if syntax.is_name(value.left, name):
        return value.op, value.right
    sums = (gast.Add, gast.Sub)
    inner = _behind(value.left, name) if isinstance(value.op, sums) else None
    if inner is None or not isinstance(inner[0], gast.Add):
        return None
    return inner[0], gast.BinOp(inner[1], value.op, value.right)


def return_directly(
    node: gast.FunctionDef,
    own: Callable[[str], bool] = lambda name: False,
    shares: Shares = lambda name: set(),
) -> None:
    """`dx = e; return dx` is `return e`, and `dx += e; return dx` `return dx + e`.

    So it is on the way back, and of names that srcjax made, which `own` tells; there of
    the one result in a call as well: `return in_dtype_of(dx, x)`. Several results have
    names, which say what each of them is; the last terms of their sums, and what is a
    part of a name, stand in the `return`: `return dx + a, dz[0]`.
    """
    if len(node.body) < 2:
        return
    last, result = node.body[-2], node.body[-1]
    name = _bound_name(last)
    backward = getattr(last, "backward", False)
    if not isinstance(result, gast.Return) or not name or not (backward or own(name)):
        return
    taken: list[Any] = [last]
    if syntax.is_name(result.value, name):
        new = gast.Return(_value_of(last))
    elif backward and _takes_one(result.value, name) and is_pure(last.value):
        new = _with_values(result, taken)
    elif isinstance(result.value, gast.Tuple):
        taken = _last_terms(node.body[:-1], result.value, shares)
        new = _with_values(result, taken)
    else:
        return
    if not taken or (len(syntax.text(new)) > _RETURN and not _is_name(result.value)):
        return
    last = taken[-1]
    gast.copy_location(new, last)
    if backward:
        for mark in ("user_line", "earlier_line"):
            found = (getattr(s, mark, None) for s in taken)
            setattr(new, mark, next((line for line in found if line), None))
        take_over(new, *taken)
        new.backward = new.quotes = True
    node.body[-1 - len(taken) :] = [new]


def _is_name(value: Any) -> bool:
    return isinstance(value, gast.Name)


def _with_values(result: gast.Return, taken: list[Any]) -> gast.Return:
    """The `return` with what statements give in place of the names that they bind."""
    values = {_bound_name(s): _value_of(s) for s in taken}
    return gast.Return(
        syntax.map_expressions(
            result.value, lambda n: syntax.clone(values.get(getattr(n, "id", ""), n))
        )
    )


def _last_terms(body: list[Any], results: gast.Tuple, shares: Shares) -> list[Any]:
    """The last statements, of one line of the user's, that several results take in.

    Each is a sum `dx += a` or a part of a name, `dy = dz[0]`, and returned once. What
    is added in place to memory that other results may have is seen there, too.
    """
    taken: list[Any] = []
    for stmt in reversed(body):
        name = _bound_name(stmt)
        line = getattr(stmt, "user_line", None)
        if not (
            name
            and getattr(stmt, "backward", False)
            and (_is_sum(stmt) or isinstance(stmt.value, gast.Subscript))
            and is_pure(stmt.value)
            and not any(isinstance(n, gast.BinOp) for n in _in_terms(stmt.value))
            and sum(syntax.is_name(r, name) for r in results.elts) == 1
            and syntax.count_reads(results, name) == 1
        ):
            break
        values = [_value_of(s) for s in taken]
        others = syntax.names_read([results, *values]) - {name}
        if (
            any(name in syntax.names_read(v) for v in values)
            or (taken and line != getattr(taken[0], "user_line", None))
            or (_is_sum(stmt) and may_be_one_of(shares, others, {name}))
        ):
            break
        taken.insert(0, stmt)
    return taken


def _in_terms(value: gast.expr) -> list[gast.AST]:
    """What stands in the operands of a product, a quotient, or a sum of names."""
    if not isinstance(value, gast.BinOp):
        return []
    return [n for side in (value.left, value.right) for n in syntax.walk(side)]


def _bound_name(stmt: Any) -> str:
    """`d` of `d = e`, `d += e` and `d -= e`."""
    target = getattr(stmt, "target", None)
    if isinstance(stmt, gast.Assign) and len(stmt.targets) == 1:
        target = stmt.targets[0]
    elif not isinstance(stmt, gast.AugAssign):
        return ""
    return getattr(target, "id", "")


def _value_of(stmt: Any) -> gast.expr:
    """`e` of `d = e`, and `d + e` of `d += e`."""
    if isinstance(stmt, gast.Assign):
        return stmt.value
    return gast.BinOp(syntax.as_load(stmt.target), stmt.op, stmt.value)


def _takes_one(value: Any, name: str) -> bool:
    """Whether it is a call without effects of which the name is an argument, once."""
    if not isinstance(value, gast.Call) or not is_pure(value):
        return False
    given = sum(syntax.is_name(a, name) for a in value.args)
    return given == 1 == syntax.count_reads(value, name)


def update_places(
    stmts: list[gast.stmt], updates: Callable[[gast.Subscript, gast.BinOp], bool]
) -> list[gast.stmt]:
    """`x[lanes] = x[lanes] + v` as `x[lanes] += v`, where `updates` says that it is."""
    out: list[gast.stmt] = []
    for stmt in stmts:
        syntax.rewrite_blocks(stmt, lambda block: update_places(block, updates))
        place = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        value = getattr(stmt, "value", None)
        if (
            isinstance(place, gast.Subscript)
            and isinstance(value, gast.BinOp)
            and isinstance(place.slice, gast.Name)
            and syntax.equal(syntax.as_load(place), value.left)
            and updates(place, value)
        ):
            new = gast.AugAssign(place, value.op, value.right)
            gast.copy_location(new, stmt)
            new.user_line = getattr(stmt, "user_line", None)
            take_over(new, stmt)
            stmt = new
        out.append(stmt)
    return out
