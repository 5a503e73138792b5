"""Lower `return`, `break` and `continue` so that each stands last where it stands.

Before:                               After:

    for i in range(n):                    returned = False
        if x > 1:                         for i in range(n):
            return x                          if x > 1:
        x = x * 2                                 result = x
    return -x                                     returned = True
                                                  break
                                              else:
                                                  x = x * 2
                                          if not returned:
                                              result = -x
                                          return result

What follows a branch that leaves moves into the other branch, so nothing is copied and
a `break` is always the last thing its iteration does. Only where a branch leaves on
some of its paths, a flag guards what follows.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import EXITS, Way, leaves, runs
from srcjax.analysis.types import Varies, varies
from srcjax.frontend.copies_first import with_copies_first
from srcjax.ops.record import are_tangents

FALLS, LEAVES, MAYBE = "falls", "leaves", "maybe"
_SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)


class _Returned(gast.stmt):
    """Marker: the result is set, the function is to be left."""

    _fields = ()


@dataclass
class _Loop:
    """The loop whose body is being lowered."""

    #: Flag that tells that the loop was left by `break` (for its `else`), if needed.
    broke: str | None = None
    #: Whether a `return` leaves the loop.
    returns: bool = False
    #: Flags that stop the rest of an iteration and then the loop.
    stops: list[str] = field(default_factory=list)


class ExitLowering:
    """One function's exits; `names` hands out the flags."""

    def __init__(
        self, names: syntax.Names, parameters: set[str], varying: Set[str]
    ) -> None:
        self.names = names
        self.parameters = parameters
        self.varying = varying
        self.result: str | None = None
        self.returned: str | None = None

    def function(self, body: list[gast.stmt]) -> list[gast.stmt]:
        """The body with a single `return`, its last statement."""
        body = _without_idle_else(body)
        if varies() is Varies.DERIVATIVES and not are_tangents():
            body = with_copies_first(body, self.names, self.parameters, self.varying)
        body = self.with_branches_behind(self.with_returns_behind(_with_breaks(body)))
        returns = [s for s in _own(body) if isinstance(s, gast.Return)]
        last = body[-1] if body else None
        if len(returns) == 1 and isinstance(last, gast.Return):
            lowered, _ = self.block(body[:-1], None)
            if last.value is None:
                last = gast.copy_location(gast.Return(syntax.const(None)), last)
            return [*lowered, last]
        if not returns:
            lowered, _ = self.block(body, None)
            return [*lowered, gast.Return(syntax.const(None))]
        self.result = self.names.fresh("result")
        lowered, status = self.block(body, None)
        if status is not LEAVES:
            lowered = [syntax.assign(self.result, syntax.const(None)), *lowered]
        if self.returned is not None:
            lowered = [syntax.assign(self.returned, syntax.const(False)), *lowered]
        return [*lowered, gast.Return(syntax.name(self.result))]

    def with_returns_behind(self, stmts: list[gast.stmt]) -> list[gast.stmt]:
        """What the one `return` of a loop gives is computed behind the loop.

        Before:                              After:

            for i in range(n):                   returned = False
                x = x * 2                        for i in range(n):
                if x > 1:                            x = x * 2
                    return x * i                     if x > 1:
            return x                                     returned = True
                                                         break
                                                 if returned:
                                                     return x * i
                                                 return x

        So it is where a derivative goes through what is computed, and each name that it
        reads has a value there whatever the loop did.
        """
        out: list[gast.stmt] = []
        bound = set(self.parameters)
        for stmt in stmts:
            found = _only_return(stmt)
            behind = found is not None and _is_known_behind(found.value, stmt, bound)
            if not behind or not self.varying & syntax.names_read(found):
                out.append(stmt)
                bound |= _bound_for_sure(stmt)
                continue
            flag = self.names.fresh("returned")
            left = [syntax.assign(flag, syntax.const(True)), gast.Break()]
            stmt.body = _replaced(stmt.body, found, [_at(s, found) for s in left])
            test = gast.If(syntax.name(flag), [found], [])
            start = syntax.assign(flag, syntax.const(False))
            out += [_at(start, stmt), stmt, _at(test, stmt)]
            bound |= _bound_for_sure(stmt)
        return out

    def with_branches_behind(self, stmts: list[gast.stmt]) -> list[gast.stmt]:
        """What stands before the one `break` of a loop with `else` is done behind it.

        Before:                              After:

            for i in range(n):                   broke = False
                x = x * 2                        for i in range(n):
                if x > 1:                            x = x * 2
                    y = x * i                        if x > 1:
                    break                                broke = True
            else:                                        break
                y = -x                           if broke:
                                                     y = x * i
                                                 else:
                                                     y = -x

        So it is where a derivative goes through it, as with the value of a `return`.
        """
        out: list[gast.stmt] = []
        bound = set(self.parameters)
        for stmt in stmts:
            left = _only_break(stmt)
            early = [] if left is None else _known_behind(left[:-1], stmt, bound)
            names = syntax.names_read(early) | syntax.names_written(early)
            if left is None or not self.varying & names:
                out.append(stmt)
                bound |= _bound_for_sure(stmt)
                continue
            flag = self.names.fresh("broke")
            left[-1 - len(early) : -1] = [
                _at(syntax.assign(flag, syntax.const(True)), stmt)
            ]
            test = gast.If(syntax.name(flag), early, stmt.orelse)
            stmt.orelse = []
            start = syntax.assign(flag, syntax.const(False))
            out += [_at(start, stmt), stmt, _at(test, stmt)]
        return out

    def block(
        self, stmts: list[gast.stmt], loop: _Loop | None
    ) -> tuple[list[gast.stmt], str]:
        """Lower a block; also whether control falls off its end."""
        out: list[gast.stmt] = []
        for position, stmt in enumerate(stmts):
            rest = stmts[position + 1 :]
            if isinstance(stmt, (gast.Return, gast.Break, gast.Continue, _Returned)):
                return out + self.leave(stmt, loop), LEAVES
            if not has_exit(stmt):
                if isinstance(stmt, (gast.For, gast.While)) and stmt.orelse:
                    orelse, stmt.orelse = stmt.orelse, []
                    more, status = self.block([stmt, *orelse, *rest], loop)
                    return out + more, status
                out.append(stmt)
                continue
            if isinstance(stmt, gast.If):
                if not exits_of(stmt):  # only loops inside are left
                    stmt.body, _ = self.block(stmt.body, loop)
                    stmt.orelse, _ = self.block(stmt.orelse, loop)
                    out.append(stmt)
                    continue
                more, status = self.branch(stmt, rest, loop)
                return out + more, status
            if isinstance(stmt, (gast.For, gast.While)):
                more, status = self.block([*self.loop(stmt), *rest], loop)
                return out + more, status
            if not runs(stmt, Way.ONCE, Way.ATTEMPT):
                out.append(stmt)
                continue
            leaves = always_leaves([stmt])
            if exits_of(stmt) and not leaves:
                more, status = self.guard(stmt, rest, loop)
                return out + more, status
            self.inside(stmt, loop)
            out.append(stmt)
            if leaves:
                return out, LEAVES
        return out, FALLS

    def inside(self, stmt: Any, loop: _Loop | None) -> None:
        """A `with` or `try ... finally` that always leaves, or never does."""
        if isinstance(stmt, gast.Try):
            _no_handlers(stmt)
            stmt.finalbody, _ = self.block(stmt.finalbody, loop)
        stmt.body, _ = self.block(stmt.body, loop)

    def leave(self, stmt: gast.stmt, loop: _Loop | None) -> list[gast.stmt]:
        """What stands where an exit stood."""
        if isinstance(stmt, gast.Continue):
            return []
        out: list[gast.stmt] = []
        if isinstance(stmt, gast.Return):
            assert self.result is not None
            value = stmt.value if stmt.value is not None else syntax.const(None)
            out.append(_at(syntax.assign(self.result, value), stmt))
        if loop is None:
            return out
        if isinstance(stmt, gast.Return):
            loop.returns = True
            self.returned = self.returned or self.names.fresh("returned")
            out.append(_at(syntax.assign(self.returned, syntax.const(True)), stmt))
        elif isinstance(stmt, _Returned):
            loop.returns = True
        elif loop.broke is not None:
            out.append(_at(syntax.assign(loop.broke, syntax.const(True)), stmt))
        return [*out, _at(gast.Break(), stmt)]

    def branch(
        self, stmt: gast.If, rest: list[gast.stmt], loop: _Loop | None
    ) -> tuple[list[gast.stmt], str]:
        """An `if` with an exit inside, and what follows it."""
        then_leaves = always_leaves(stmt.body)
        else_leaves = always_leaves(stmt.orelse)
        if rest and not (then_leaves or else_leaves):
            return self.guard(stmt, rest, loop)
        new = _at(gast.If(stmt.test, [], []), stmt)
        body = stmt.body if then_leaves else [*stmt.body, *rest]
        orelse = stmt.orelse if else_leaves else [*stmt.orelse, *rest]
        new.body, first = self.block(body, loop)
        new.orelse, second = self.block(orelse, loop)
        if not new.body:
            if not new.orelse:
                return [], FALLS if first is FALLS else first
            test = gast.UnaryOp(gast.Not(), stmt.test)
            if isinstance(stmt.test, gast.UnaryOp) and isinstance(
                stmt.test.op, gast.Not
            ):
                test = stmt.test.operand
            new.test, new.body, new.orelse = test, new.orelse, []
        status = first if first == second else MAYBE
        return [new], status

    def guard(
        self, stmt: gast.stmt, rest: list[gast.stmt], loop: _Loop | None
    ) -> tuple[list[gast.stmt], str]:
        """A statement that leaves on some paths: a flag guards what follows it."""
        flag = self.names.fresh("done")
        start = [_at(syntax.assign(flag, syntax.const(False)), stmt)]
        kinds = {type(s) for s in exits_of(stmt)}
        returning = bool(kinds & {gast.Return, _Returned})
        broke = None
        if loop is not None and returning:
            self.returned = self.returned or self.names.fresh("returned")
        if gast.Break in kinds and len(kinds) > 1:
            broke = self.names.fresh("broke")
            start.append(_at(syntax.assign(broke, syntax.const(False)), stmt))
        _replace_exits(stmt, flag, broke, self)
        leaving: list[gast.stmt] = [_at(gast.Continue(), stmt)]
        if kinds == {gast.Break}:
            leaving = [_at(gast.Break(), stmt)]
        elif broke is not None:
            test = syntax.name(broke)
            leaving = [_at(gast.If(test, [_at(gast.Break(), stmt)], leaving), stmt)]
        if returning and kinds <= {gast.Return, _Returned}:
            leaving = [_at(_Returned(), stmt)]
        elif returning:
            assert self.returned is not None
            test = syntax.name(self.returned)
            leaving = [_at(gast.If(test, [_at(_Returned(), stmt)], leaving), stmt)]
        guard = _at(gast.If(syntax.name(flag), leaving, []), stmt)
        more, status = self.block([guard, *rest], loop)
        return [*start, _Lowered(stmt), *more], MAYBE if status is FALLS else status

    def loop(self, stmt: Any) -> list[gast.stmt]:
        """A loop with an exit inside, and its `else` as what follows it."""
        inner = _Loop()
        orelse, stmt.orelse = stmt.orelse, []
        before: list[gast.stmt] = []
        if orelse and any(isinstance(s, gast.Break) for s in _own_loop(stmt.body)):
            inner.broke = self.names.fresh("broke")
            before.append(_at(syntax.assign(inner.broke, syntax.const(False)), stmt))
        stmt.body, _ = self.block(stmt.body, inner)
        stmt.body = stmt.body or [gast.Pass()]
        out = [*before, _Lowered(stmt)]
        if inner.returns:
            assert self.returned is not None
            flag = syntax.name(self.returned)
            out.append(_at(gast.If(flag, [_at(_Returned(), stmt)], []), stmt))
        if inner.broke is not None:
            test = gast.UnaryOp(gast.Not(), syntax.name(inner.broke))
            out.append(_at(gast.If(test, orelse, []), stmt))
        else:
            out.extend(orelse)
        return out


def _without_idle_else(stmts: list[gast.stmt]) -> list[gast.stmt]:
    """The `else` of a loop without `break` is what follows the loop."""
    out: list[gast.stmt] = []
    for stmt in stmts:
        out.append(stmt)
        syntax.rewrite_blocks(stmt, _without_idle_else)
        is_loop = isinstance(stmt, (gast.For, gast.While))
        if is_loop and not any(isinstance(s, gast.Break) for s in _own_loop(stmt.body)):
            out.extend(stmt.orelse)
            stmt.orelse = []
    return out


def _with_breaks(stmts: list[gast.stmt]) -> list[gast.stmt]:
    """`return x` in a loop that `return x` follows is a `break`."""
    for stmt, following in zip(stmts, [*stmts[1:], None], strict=True):
        if isinstance(stmt, _SCOPES):
            continue
        syntax.rewrite_blocks(stmt, _with_breaks)
        loops = isinstance(stmt, (gast.For, gast.While)) and not stmt.orelse
        if loops and isinstance(following, gast.Return):
            stmt.body = _broken(stmt.body, following)
    return stmts


def _broken(stmts: list[gast.stmt], last: gast.Return) -> list[gast.stmt]:
    """The statements with a `break` for each such `return` that branches lead to."""
    out: list[gast.stmt] = []
    for stmt in stmts:
        if isinstance(stmt, gast.If):
            syntax.rewrite_blocks(stmt, lambda block: _broken(block, last))
        same = isinstance(stmt, gast.Return) and syntax.equal(stmt.value, last.value)
        out.append(_at(gast.Break(), stmt) if same else stmt)
    return out


def _only_return(loop: Any) -> gast.Return | None:
    """The `return` that branches of a loop lead to, if it has no other one."""
    if not isinstance(loop, (gast.For, gast.While)) or loop.orelse:
        return None
    returns = [s for s in _own(loop.body) if isinstance(s, gast.Return)]
    if len(returns) != 1 or returns[0].value is None:
        return None
    return returns[0] if _is_reached(loop.body, returns[0]) else None


def _is_reached(stmts: list[gast.stmt], wanted: gast.stmt) -> bool:
    """Whether a statement stands in the block, or in branches of it."""
    return any(
        stmt is wanted
        or isinstance(stmt, gast.If)
        and (_is_reached(stmt.body, wanted) or _is_reached(stmt.orelse, wanted))
        for stmt in stmts
    )


def _only_break(loop: Any) -> list[Any] | None:
    """The block that ends with the `break` of a loop with `else`, if it is one exit."""
    if not isinstance(loop, (gast.For, gast.While)) or not loop.orelse:
        return None
    leaving = (gast.Return, gast.Break)
    exits = [s for s in _own_loop(loop.body) if isinstance(s, leaving)]
    exits += [s for s in _own(loop.body) if isinstance(s, gast.Return)]
    return _block_of(loop.body, exits[0]) if len(exits) == 1 else None


def _block_of(stmts: list[Any], wanted: gast.stmt) -> list[Any] | None:
    """The block, or block of its branches, that the statement stands last in."""
    if stmts and stmts[-1] is wanted:
        return stmts
    for stmt in stmts:
        if isinstance(stmt, gast.If):
            for inner in (stmt.body, stmt.orelse):
                found = _block_of(inner, wanted)
                if found is not None:
                    return found
    return None


def _known_behind(stmts: list[Any], loop: Any, bound: set[str]) -> list[gast.stmt]:
    """The last of the statements that bind and read what has a value behind the loop.

    It is the value that they would bind and read where the loop is left.
    """
    given = syntax.names_written(loop.target) if isinstance(loop, gast.For) else set()
    changed = syntax.names_written(loop.body) - given
    found: list[gast.stmt] = []
    needed: set[str] = set()
    for at in reversed(range(len(stmts))):
        if not isinstance(stmts[at], gast.Assign):
            break
        needed = (needed - syntax.names_written(stmts[at])) | syntax.names_read(
            stmts[at]
        )
        if needed & changed <= bound:
            found = stmts[at:]
    return found


def _is_known_behind(value: Any, loop: Any, bound: set[str]) -> bool:
    """Whether a value means behind the loop what it means where the loop is left.

    It reads something that the loop binds: there is nothing to be won for others.
    """
    read = syntax.names_read(value)
    given = syntax.names_written(loop.target) if isinstance(loop, gast.For) else set()
    changed = syntax.names_written(loop.body) - given
    if isinstance(value, gast.Name) and value.id not in changed:
        return False
    return bool(read & (changed | given)) and read & changed <= bound


def _bound_for_sure(stmt: Any) -> set[str]:
    """The names that a plain assignment binds."""
    if not isinstance(stmt, (gast.Assign, gast.AnnAssign)):
        return set()
    return syntax.names_written(stmt)


def _replaced(
    stmts: list[gast.stmt], old: gast.stmt, new: list[gast.stmt]
) -> list[gast.stmt]:
    """The block with other statements in the place of one in it, or in its branches."""
    out: list[gast.stmt] = []
    for stmt in stmts:
        if isinstance(stmt, gast.If):
            syntax.rewrite_blocks(stmt, lambda block: _replaced(block, old, new))
        out += new if stmt is old else [stmt]
    return out


class _Lowered(gast.stmt):
    """A statement whose exits are lowered already."""

    _fields = ("loop",)

    def __init__(self, loop: gast.stmt) -> None:
        super().__init__()
        self.loop = loop


def lower_exits(
    body: list[gast.stmt],
    names: syntax.Names,
    parameters: set[str],
    varying: Set[str],
) -> list[gast.stmt]:
    """The function body with one `return` at its end; see the module's docstring."""
    return _unwrap(ExitLowering(names, parameters, varying).function(body))


def _unwrap(stmts: list[Any]) -> list[gast.stmt]:
    found = [s.loop if isinstance(s, _Lowered) else s for s in stmts]
    for stmt in found:
        syntax.rewrite_blocks(stmt, _unwrap)
    return found


def _at(new: Any, old: gast.AST) -> Any:
    return gast.copy_location(new, old)


def _children(stmt: gast.AST) -> list[gast.stmt]:
    return [s for block in syntax.inner_blocks(stmt) for s in block]


def _own(stmts: list[gast.stmt]) -> list[gast.stmt]:
    """Every statement of the function itself, at any depth."""
    found = []
    for stmt in stmts:
        found.append(stmt)
        if not isinstance(stmt, (*_SCOPES, _Lowered)):
            found.extend(_own(_children(stmt)))
    return found


def _own_loop(stmts: list[gast.stmt]) -> list[gast.stmt]:
    """Every statement of the loop body itself: not those of loops inside."""
    found = []
    for stmt in stmts:
        found.append(stmt)
        if isinstance(stmt, (gast.For, gast.While)):
            found.extend(_own_loop(stmt.orelse))
        elif not isinstance(stmt, (*_SCOPES, _Lowered)):
            found.extend(_own_loop(_children(stmt)))
    return found


def exits_of(stmt: gast.stmt) -> list[gast.stmt]:
    """The exits inside that leave the block in which the statement stands."""
    own = _own_loop([stmt])
    exits = [
        s
        for s in own
        if isinstance(s, (gast.Return, gast.Break, gast.Continue, _Returned))
    ]
    for inner in own:
        if isinstance(inner, (gast.For, gast.While)):
            exits += [s for s in _own(inner.body) if isinstance(s, gast.Return)]
    return exits


def has_exit(stmt: gast.stmt) -> bool:
    if isinstance(stmt, (*_SCOPES, _Lowered)):
        return False
    exits = (gast.Return, gast.Break, gast.Continue, _Returned)
    return any(isinstance(s, exits) for s in _own([stmt]))


def always_leaves(stmts: list[gast.stmt]) -> bool:
    return leaves(stmts, (*EXITS, _Returned))


def _no_handlers(stmt: gast.Try) -> None:
    """A `try` with an exit inside: `frontend.attempts` took its handlers and `else`."""
    assert not stmt.handlers and not stmt.orelse


def _replace_exits(
    stmt: gast.stmt, flag: str, broke: str | None, lowering: ExitLowering
) -> None:
    """Inside the statement, exits become `flag = True` (and end their block)."""
    set_flag = syntax.assign(flag, syntax.const(True))

    def replace(stmts: list[gast.stmt]) -> list[gast.stmt]:
        out: list[gast.stmt] = []
        for position, s in enumerate(stmts):
            rest = stmts[position + 1 :]
            if isinstance(s, (gast.Return, gast.Break, gast.Continue, _Returned)):
                if isinstance(s, gast.Return):
                    value = s.value if s.value is not None else syntax.const(None)
                    assert lowering.result is not None
                    out.append(_at(syntax.assign(lowering.result, value), s))
                    if lowering.returned is not None:
                        true = syntax.const(True)
                        out.append(_at(syntax.assign(lowering.returned, true), s))
                if isinstance(s, gast.Break) and broke is not None:
                    out.append(_at(syntax.assign(broke, syntax.const(True)), s))
                out.append(_at(syntax.clone(set_flag), s))
                return out
            out.append(s)
            if isinstance(s, (gast.For, gast.While)):
                if has_exit(s):
                    out.pop()
                    lowered = lowering.loop(s)
                    return out + replace([*lowered, *rest])
            elif isinstance(s, gast.If) and has_exit(s) and not exits_of(s):
                s.body, s.orelse = replace(s.body), replace(s.orelse)
            elif isinstance(s, gast.If) and has_exit(s):
                s.body, s.orelse = replace(s.body), replace(s.orelse)
                s.body = s.body or [gast.Pass()]
                if rest:
                    test = gast.UnaryOp(gast.Not(), syntax.name(flag))
                    out.append(_at(gast.If(test, replace(rest), []), s))
                return out
            elif runs(s, Way.ONCE, Way.ATTEMPT) and has_exit(s):
                s.body = replace(s.body)
                if isinstance(s, gast.Try):
                    _no_handlers(s)
                    s.finalbody = replace(s.finalbody)
                if rest:
                    test = gast.UnaryOp(gast.Not(), syntax.name(flag))
                    out.append(_at(gast.If(test, replace(rest), []), s))
                return out
        return out

    replaced = replace([stmt])
    if replaced != [stmt]:
        raise NotImplementedError
