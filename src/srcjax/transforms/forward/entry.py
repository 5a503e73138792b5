"""The functions that forward mode gives."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import Way, is_compound, runs
from srcjax.analysis.program import Program
from srcjax.analysis.types import Type, is_active
from srcjax.frontend.attempts import caught_flag
from srcjax.frontend.unit import Unit
from srcjax.transforms.call_effects import written_bases
from srcjax.transforms.forward.calls import TangentCallees, plain_signature
from srcjax.transforms.forward.rules import Rules
from srcjax.transforms.inferred import given_as
from srcjax.transforms.signatures import copies_of_written, user_parameters
from srcjax.transforms.unfollowed_calls import check_calls
from srcjax.transforms.written import Written


class Forward:
    """Forward mode of one unit."""

    def __init__(self, program: Program, unit: Unit, callees: TangentCallees) -> None:
        self.program = program
        self.unit = unit
        self.rules = Rules(program, unit, callees)

    def write(self, name: str, wrt: list[str], top: bool) -> Written:
        """`name(x, y, x_dot, y_dot) -> (value, tangent)`.

        Tangents follow by position where the function has plain parameters, else they
        are keyword-only. At the top, what the function writes to is copied first.
        """
        rules = self.rules
        check_calls(rules)
        arguments = self.parameters(wrt)
        body = [*self.zeros(wrt), *self.block(self.unit.node.body[:-1])]
        last = self.unit.node.body[-1]
        assert isinstance(last, gast.Return)
        rules.stmt, rules.code = last, []
        rules.envs = rules.environments(last)
        result: Any = last.value
        active = isinstance(result, gast.Name) and is_active(
            rules.type_of_name(result.id)
        )
        if result is None:
            tangent: gast.expr = syntax.const(None)
        elif active:
            tangent = rules.dot(result)
        else:
            tangent = rules.typer.agree(rules.dot(result), rules.envs)
        head = self.copies(wrt) if top else []
        both = gast.Tuple([syntax.clone(result or syntax.const(None)), tangent], None)
        end = gast.Return(both)
        end.user_line = getattr(last, "user_line", None)
        end.backward = True
        end.fresh = True
        body = syntax.clone([*head, *body, end])
        node = gast.FunctionDef(name, arguments, body, [], None, None, [])
        return Written(node, self.unit, rules, None, wrt, forward=True)

    def parameters(self, wrt: list[str]) -> gast.arguments:
        """The user's parameters, and those of the tangents."""
        arguments = user_parameters(self.unit, self.rules.needs)
        dots = [
            gast.Name(self.rules.dot_name(n), gast.Param(), None, None) for n in wrt
        ]
        if plain_signature(arguments):
            arguments.args = [*arguments.args, *dots]
        else:
            arguments.kwonlyargs = [*arguments.kwonlyargs, *dots]
            arguments.kw_defaults = [*arguments.kw_defaults, *[None for _ in dots]]
        return arguments

    def arguments(self, types: dict[str, Type]) -> dict[str, Type]:
        """The types of the parameters at the top: a tangent is as its primal."""
        dots = self.rules.places.variables
        found = dict(types)
        for name, t in types.items():
            dot = dots.get((name, ()))
            if is_active(t) and dot is not None:
                found[dot] = given_as(t, ("param", dot))
        return found

    def along_one(self, written: Written, types: dict[str, Type]) -> dict[str, Type]:
        """Set the tangents to 1.0, in place; the types of the parameters that stay."""
        arguments = written.node.args
        dots = [self.rules.dot_name(n) for n in written.wrt]
        rest = [a.id in dots for a in arguments.kwonlyargs]
        arguments.args = [a for a in arguments.args if a.id not in dots]
        arguments.kw_defaults = [
            d for d, dot in zip(arguments.kw_defaults, rest, strict=True) if not dot
        ]
        arguments.kwonlyargs = [a for a in arguments.kwonlyargs if a.id not in dots]
        ones = [syntax.assign(dot, syntax.const(1.0)) for dot in dots]
        for one in ones:
            one.backward = True
        written.node.body = [*ones, *written.node.body]
        return {n: t for n, t in types.items() if n not in dots}

    def zeros(self, wrt: list[str]) -> list[gast.stmt]:
        """Zero tangents of parameters that are given none and carry one later."""
        rules = self.rules
        made: list[gast.stmt] = []
        for name in self.unit.parameters:
            t = rules.type_of_name(name)
            if name in wrt or not is_active(t):
                continue
            zero = rules.zero(t, syntax.name(name))
            made.append(syntax.assign(rules.dot_name(name), zero))
            made[-1].backward = True
        return made

    def copies(self, wrt: list[str]) -> list[gast.stmt]:
        """Copies of the arguments, and of their tangents, that are written to."""
        copies = copies_of_written(self.rules)
        dots = {n: syntax.name(self.rules.dot_name(n)) for n in wrt}
        out: list[gast.stmt] = []
        for stmt in copies:
            out.append(stmt)
            name = stmt.targets[0].id
            if name in wrt:
                value = syntax.substitute(stmt.value, dots)
                out.append(syntax.assign(dots[name].id, value))
        return out

    # -- the body ----------------------------------------------------------------------

    def block(self, stmts: list[gast.stmt]) -> list[gast.stmt]:
        """The statements of a block with their tangents."""
        return [made for stmt in stmts for made in self.statement(stmt)]

    def statement(self, stmt: Any) -> list[gast.stmt]:
        if is_compound(stmt):
            return self.compound(stmt)
        return self.rules.differentiate(stmt)

    def compound(self, stmt: Any) -> list[gast.stmt]:
        """The same branch, loop or block around statements with tangents."""
        rules = self.rules
        rules.stmt = stmt
        if caught_flag(stmt) is not None:
            return self.attempt(stmt)
        new = syntax.clone_shallow(stmt)
        if isinstance(stmt, gast.For):
            names = syntax.names_written(stmt.target)
            if any(rules.active(syntax.name(n)) for n in names):
                self.pair_loop(new, stmt)
        if runs(stmt, Way.ONCE):
            bound = syntax.names_written(syntax.head(stmt))
            if any(rules.active(syntax.name(n)) for n in bound):
                raise rules.refuse(
                    "a differentiated value is bound by `with`", "an assignment"
                )
        return [syntax.rebuilt(new, self.block)]

    def attempt(self, stmt: gast.Try) -> list[gast.stmt]:
        """Tangents follow a `try`, where nothing was caught.

        Inside, an exception of the tangent's own (the derivative of a square root at 0)
        would be taken for one of the value. Where the body goes on with a tangent, or
        with another value of what a tangent reads, it goes on in a `try` of its own.
        """
        flag = caught_flag(stmt)
        assert flag is not None
        pieces: list[tuple[list[gast.stmt], list[gast.stmt]]] = [([], [])]
        self.rules.attempting = True
        for s in stmt.body:
            made = self.statement(s)
            values = [k for k, m in enumerate(made) if m is s or hasattr(m, "is_value")]
            end = values[0] + 1 if values else len(made)
            inside, after = pieces[-1]
            if _depends(made[:end], after):
                inside, after = [], []
                pieces.append((inside, after))
            inside += made[:end]
            after += made[end:]
        self.rules.attempting = False
        rest: list[gast.stmt] = []
        for inside, after in reversed(pieces):
            new = syntax.clone_shallow(stmt)
            new.body = inside
            if rest:
                new.handlers = syntax.clone(stmt.handlers)
            if not after + rest:
                rest = [new]
                continue
            test = syntax.expression("not caught", caught=syntax.name(flag))
            then = gast.If(test, after + rest, [])
            then.user_line = getattr(stmt, "user_line", None)
            rest = [new, then]
        return rest

    def pair_loop(self, new: gast.For, stmt: gast.For) -> None:
        """`for x in xs` of differentiated items: `for x, x_dot in zip(xs, xs_dot)`."""
        rules = self.rules
        if not (
            isinstance(stmt.target, gast.Name) and isinstance(stmt.iter, gast.Name)
        ):
            raise rules.refuse("this loop over differentiated values", "an index loop")
        dot = syntax.name(rules.dot_name(stmt.target.id), store=True)
        new.target = gast.Tuple([syntax.clone(stmt.target), dot], syntax.STORE)
        new.iter = syntax.call("zip", syntax.clone(stmt.iter), rules.dot(stmt.iter))


def drop_value(written: Written) -> None:
    """Return the tangent alone, of a function as `Forward.write` wrote it, in place."""
    last: Any = written.node.body[-1]
    last.value = last.value.elts[1]


def _depends(later: list[gast.stmt], earlier: list[gast.stmt]) -> bool:
    """Whether statements may not be moved in front of others."""
    written, read = syntax.names_written(later), syntax.names_read(later)
    written |= written_bases(later)
    before = syntax.names_written(earlier) | written_bases(earlier)
    return bool(before & (written | read) or written & syntax.names_read(earlier))
