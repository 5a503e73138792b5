"""Lower `try ... except` so that what ran is known by a flag.

Before:                               After:

    try:                                  caught = False
        y = solve(A, b)                   try:
    except LinAlgError:                       y = solve(A, b)
        y = b                             except LinAlgError:
    else:                                     caught = True
        y = y + 1                         if caught:
                                              y = b
                                          else:
                                              y = y + 1

The core form of a `try` with handlers: its handlers only set the flag (and keep the
exception under the name that the user gave it), it has no `else` and no `finally`, and
no `return`, `break` or `continue` leaves it. The handlers' code follows as an `if`.

A body that an exception leaves half done is split where that would be seen: after each
statement that binds a name which the handler, or what follows, may read, and after each
write in place. The last statement of every piece is the only one whose effect outlives
the piece, so a piece has been executed, or nothing of it is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed, surely_in
from srcjax.analysis.flow.control import is_compound
from srcjax.frontend.exits import always_leaves, exits_of

_SCOPES = (gast.FunctionDef, gast.ClassDef, gast.Lambda)
_EXITS = (gast.Return, gast.Break, gast.Continue)
#: Methods that change the object they belong to.
_CHANGING = frozenset(
    ["append", "appendleft", "extend", "insert", "pop", "popleft", "popitem", "remove"]
    + ["clear", "sort", "reverse", "update", "setdefault", "add", "discard", "fill"]
    + ["put", "rotate"]
)
Refuse = Callable[[gast.AST, str, str], Exception]


def caught_flag(stmt: gast.Try) -> str | None:
    """The flag of a `try` in core form; None if the `try` is the user's own."""
    if not getattr(stmt, "lowered", False):
        return None
    flag: str = stmt.handlers[0].body[0].targets[0].id
    return flag


def lowered_try(
    body: list[gast.stmt], handlers: list[gast.ExceptHandler], at: gast.AST
) -> gast.Try:
    """A `try` in core form: the handlers set a flag first, and do little else."""
    new = gast.Try(body or [gast.Pass()], handlers, [], [])
    new.lowered = True
    return _at(new, at)


def lower_attempts(
    body: list[gast.stmt],
    names: syntax.Names,
    wanted: Callable[[gast.stmt], bool],
    refuse: Refuse,
) -> list[gast.stmt]:
    """The body of a function with each wanted `try ... except` in core form.

    Raises UnsupportedError where it cannot be told what an exception leaves half done.
    """
    return _Attempts(body, names, wanted, refuse).block(body, looped=False)


@dataclass
class _Context:
    """The `try` whose body is being split, with those around it."""

    #: What each piece catches: (type, name of the exception, statements).
    handlers: list[gast.ExceptHandler]
    #: Set when a piece was left.
    flags: list[str]
    #: Names that are read after a piece was left.
    visible: set[str] = field(default_factory=set)

    def finished(self) -> gast.expr:
        """`not caught`."""
        flags: list[gast.expr] = [syntax.name(f) for f in self.flags]
        test = flags[0] if len(flags) == 1 else gast.BoolOp(gast.Or(), flags)
        return gast.UnaryOp(gast.Not(), test)


class _Attempts:
    """Lowers one function."""

    def __init__(
        self,
        body: list[gast.stmt],
        names: syntax.Names,
        wanted: Callable[[gast.stmt], bool],
        refuse: Refuse,
    ) -> None:
        self.names = names
        self.wanted = wanted
        self.refuse = refuse
        self.reads: dict[str, int] = {}
        for node in syntax.walk(body):
            if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
                self.reads[node.id] = self.reads.get(node.id, 0) + 1

    def block(self, stmts: list[gast.stmt], looped: bool) -> list[gast.stmt]:
        """The statements with every `try ... except` inside them lowered."""
        out: list[gast.stmt] = []
        for stmt in stmts:
            surface = isinstance(stmt, gast.Try) and caught_flag(stmt) is None
            if surface and stmt.handlers and self.wanted(stmt):
                out += self.attempt(stmt, None, looped)
                continue
            if is_compound(stmt):
                inside = looped or isinstance(stmt, (gast.For, gast.While))
                syntax.rewrite_blocks(stmt, partial(self.block, looped=inside))
            out.append(stmt)
        return out

    def attempt(
        self, stmt: gast.Try, outer: _Context | None, looped: bool
    ) -> list[gast.stmt]:
        """One `try`; `outer` when it stands in a body that is being split."""
        flag = self.names.fresh("caught")
        several = len(stmt.handlers) > 1
        context = _Context([], [flag])
        chosen: list[tuple[Any, list[gast.stmt]]] = []
        for number, handler in enumerate(stmt.handlers, 1):
            value = number if several else True
            sets: list[gast.stmt] = [syntax.assign(flag, syntax.const(value))]
            error = _error_name(handler)
            if error is None and _raises_again(handler.body):
                error = self.names.fresh("error")
            caught = None
            if error is not None:
                caught = self.names.fresh(error)
                sets.append(syntax.assign(error, syntax.name(caught)))
                _name_raised(handler.body, error)
            held = (
                None if caught is None else gast.Name(caught, syntax.STORE, None, None)
            )
            kind = handler.type
            if (
                kind is None and held is not None
            ):  # `except:` cannot name what it catches
                kind = syntax.name("BaseException")
            new = gast.ExceptHandler(kind, held, sets)
            context.handlers.append(_at(new, handler))
            chosen.append((value, handler.body))
        context.visible = self.visible(stmt, looped)
        if outer is not None:
            if context.handlers[-1].type is not None:  # `except:` leaves none to others
                context.handlers += outer.handlers
            context.flags += outer.flags
            context.visible |= outer.visible
        start = syntax.const(0 if several else False)
        out: list[gast.stmt] = [_at(syntax.assign(flag, start), stmt)]
        out += self.pieces(stmt.body, context, looped)
        out += self.chosen(stmt, flag, chosen, outer, looped)
        if not stmt.finalbody:
            return out
        if outer is not None:
            raise self.refuse(
                stmt,
                "a `finally` inside a `try ... except` whose body an exception may "
                "leave half done",
                "the `finally` code after the outer `try`",
            )
        final = self.block(stmt.finalbody, looped)
        return [_at(gast.Try(out, [], [], final), stmt)]

    def chosen(
        self,
        stmt: gast.Try,
        flag: str,
        handlers: list[tuple[Any, list[gast.stmt]]],
        outer: _Context | None,
        looped: bool,
    ) -> list[gast.stmt]:
        """The handlers' code as branches on the flag; `else` where none is wanted."""

        def lowered(stmts: list[gast.stmt]) -> list[gast.stmt]:
            if outer is None:
                return self.block(stmts, looped)
            return self.pieces(stmts, outer, looped)

        rest = lowered(stmt.orelse)
        if outer is not None and rest:
            rest = [_at(gast.If(outer.finished(), rest, []), stmt)]
        for value, body in reversed(handlers):
            test: gast.expr = syntax.name(flag)
            if value is not True:
                test = gast.Compare(test, [gast.Eq()], [syntax.const(value)])
            code = [s for s in lowered(body) if not isinstance(s, gast.Pass)]
            if not code and not rest:
                continue
            if not code and value is True:
                negated = gast.UnaryOp(gast.Not(), test)
                rest = [_at(gast.If(negated, rest, []), stmt)]
            else:
                rest = [_at(gast.If(test, code or [gast.Pass()], rest), stmt)]
        return rest

    def visible(self, stmt: gast.Try, looped: bool) -> set[str]:
        """Names bound in the body that may be read once an exception has left it."""
        found: set[str] = set()
        bound = syntax.names_written(stmt.body)
        within = {n: syntax.count_reads(stmt, n) for n in bound}
        early = exposed(stmt.body) if looped else set()
        late = exposed(stmt.finalbody)
        for handler in stmt.handlers:
            first, sure = exposed(handler.body), surely_in(handler.body)
            leaves = always_leaves(handler.body)
            for name in bound:
                after = self.reads.get(name, 0) > within[name] or name in early
                after = after and name not in sure and not leaves
                if name in first or name in late or after:
                    found.add(name)
        return found

    # -- the body ---------------------------------------------------------------------

    def pieces(
        self, stmts: list[gast.stmt], context: _Context, looped: bool
    ) -> list[gast.stmt]:
        """The statements of a `try`, each piece in a `try` of its own."""
        out: list[gast.stmt] = []
        piece: list[gast.stmt] = []

        def close() -> None:
            if any(map(_may_raise, piece)):
                handlers = syntax.clone(context.handlers)
                out.append(lowered_try(list(piece), handlers, piece[0]))
            else:
                out.extend(piece)
            piece.clear()

        for position, stmt in enumerate(stmts):
            rest = stmts[position + 1 :]
            if isinstance(stmt, _EXITS):
                leaving: gast.stmt = stmt
                value = getattr(stmt, "value", None)
                if value is not None and not syntax.is_atom(value):
                    held = self.names.fresh("value")
                    piece.append(_at(syntax.assign(held, value), stmt))
                    leaving = _at(gast.Return(syntax.name(held)), stmt)
                close()
                return self.guarded(out, [leaving], context, stmt)
            if is_compound(stmt) and self.shows(stmt, context):
                self.header(stmt, piece)
                close()
                inner = self.compound(stmt, context, looped)
                more = self.pieces(rest, context, looped)
                inner = self.guarded(inner, more, context, stmt)
                return self.guarded(out, inner, context, stmt)
            piece += self.block([stmt], looped)
            self.no_walrus(stmt, context)
            if self.shows(stmt, context) and rest:
                close()
                more = self.pieces(rest, context, looped)
                return self.guarded(out, more, context, stmt)
        close()
        return out

    def guarded(
        self,
        before: list[gast.stmt],
        more: list[gast.stmt],
        context: _Context,
        at: gast.stmt,
    ) -> list[gast.stmt]:
        """`before`, and `more` where nothing was caught."""
        tries = any(isinstance(s, gast.Try) for s in syntax.walk(before))
        if not tries or not more:
            return [*before, *more]
        return [*before, _at(gast.If(context.finished(), more, []), at)]

    def shows(self, stmt: gast.stmt, context: _Context) -> bool:
        """Whether it matters that the statement ran, when a later one raises."""
        if is_compound(stmt) and exits_of(stmt):
            return True
        if syntax.names_written(stmt) & context.visible:
            return True
        return any(map(_writes_in_place, syntax.walk(stmt)))

    def no_walrus(self, stmt: gast.stmt, context: _Context) -> None:
        for node in syntax.walk(stmt):
            if isinstance(node, gast.NamedExpr) and node.target.id in context.visible:
                raise self.refuse(
                    node,
                    f"`{node.target.id}` is bound within an expression that may raise, "
                    "and read after the exception",
                    f"a statement of its own for `{node.target.id}`",
                )

    def header(self, stmt: Any, piece: list[gast.stmt]) -> None:
        """Evaluate a condition or iterable in the piece before."""
        if isinstance(stmt, gast.If) and not syntax.is_atom(stmt.test):
            name = self.names.fresh("condition")
            piece.append(_at(syntax.assign(name, stmt.test), stmt))
            stmt.test = syntax.name(name)
        if isinstance(stmt, gast.For) and not _plain_iterable(stmt.iter):
            name = self.names.fresh("items")
            value = syntax.call("list", stmt.iter)
            piece.append(_at(syntax.assign(name, value), stmt))
            stmt.iter = syntax.name(name)

    def compound(self, stmt: Any, context: _Context, looped: bool) -> list[gast.stmt]:
        """A statement of the body with pieces inside it."""
        if isinstance(stmt, gast.Try):
            if not stmt.handlers:
                raise self.refuse(
                    stmt,
                    "a `finally` inside a `try ... except` whose body an exception may "
                    "leave half done",
                    "the `finally` code after the outer `try`",
                )
            return self.attempt(stmt, context, looped)
        if isinstance(stmt, gast.If):
            stmt.body = self.pieces(stmt.body, context, looped) or [gast.Pass()]
            stmt.orelse = self.pieces(stmt.orelse, context, looped)
            return [stmt]
        if isinstance(stmt, gast.With):
            quiet = all(
                (syntax.dotted(getattr(i.context_expr, "func", None)) or "").endswith(
                    ("errstate", "nullcontext", "suppress_warnings", "catch_warnings")
                )
                for i in stmt.items
            )
            if not quiet:
                raise self.refuse(
                    stmt,
                    "a `with` inside a `try ... except` whose body an exception may "
                    "leave half done",
                    "the `with` around the whole `try`",
                )
            stmt.body = self.pieces(stmt.body, context, looped)
            return [stmt]
        negated = context.finished().operand
        stop = _at(gast.If(negated, [_at(gast.Break(), stmt)], []), stmt)
        if isinstance(stmt, gast.For):
            stmt.body = [*self.pieces(stmt.body, context, True), stop]
        else:
            name = self.names.fresh("condition")
            test = [_at(syntax.assign(name, stmt.test), stmt)]
            ended = gast.UnaryOp(gast.Not(), syntax.name(name))
            leave = _at(gast.If(ended, [_at(gast.Break(), stmt)], []), stmt)
            if stmt.orelse:
                raise self.refuse(
                    stmt,
                    "the `else` of a `while` inside a `try ... except` whose body an "
                    "exception may leave half done",
                    "a flag that tells how the loop ended",
                )
            body = self.pieces(stmt.body, context, True)
            head = self.pieces(test, context, True)
            if _may_raise(test[0]):
                head.append(syntax.clone(stop))
            stmt.test = syntax.const(True)
            stmt.body = [*head, leave, *body, stop]
        orelse = stmt.orelse
        stmt.orelse = self.pieces(orelse, context, looped) if orelse else []
        return [stmt]


def _plain_iterable(node: gast.expr) -> bool:
    """Whether starting and stepping a loop over it raises nothing."""
    if isinstance(node, gast.Name):
        return True
    return (
        isinstance(node, gast.Call)
        and syntax.dotted(node.func) == "range"
        and all(syntax.is_atom(a) for a in node.args)
    )


def _may_raise(stmt: gast.stmt) -> bool:
    """Anything but a copy of a name or constant."""
    if isinstance(stmt, (gast.Pass, gast.FunctionDef)):
        return False
    return not (
        isinstance(stmt, gast.Assign)
        and all(isinstance(t, gast.Name) for t in stmt.targets)
        and syntax.is_atom(stmt.value)
    )


def _writes_in_place(node: gast.AST) -> bool:
    if isinstance(node, (gast.AugAssign, gast.Delete)):
        return True
    if isinstance(node, (gast.Subscript, gast.Attribute)):
        return isinstance(node.ctx, gast.Store)
    if isinstance(node, gast.Expr):
        return isinstance(node.value, gast.Call)
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Attribute)
        and node.func.attr in _CHANGING
    )


def _error_name(handler: gast.ExceptHandler) -> str | None:
    name = handler.name
    return name.id if isinstance(name, gast.Name) else name


def _own_raises(stmts: list[gast.stmt]) -> list[gast.Raise]:
    """Bare `raise` statements that raise the exception of this handler again."""
    found: list[gast.Raise] = []
    for stmt in stmts:
        if isinstance(stmt, gast.Raise) and stmt.exc is None:
            found.append(stmt)
        for node, key in syntax.holders(stmt):
            if node is stmt:  # what a handler raises again is what it has caught
                found += _own_raises(getattr(node, key))
    return found


def _raises_again(stmts: list[gast.stmt]) -> bool:
    return bool(_own_raises(stmts))


def _name_raised(stmts: list[gast.stmt], error: str) -> None:
    for stmt in _own_raises(stmts):
        stmt.exc = syntax.name(error)


def _at(new: Any, old: gast.AST) -> Any:
    return gast.copy_location(new, old)
