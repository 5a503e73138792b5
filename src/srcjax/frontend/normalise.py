"""Surface Python -> core form.

Core form is a subset of Python, kept as a gast tree. What touches a varying name is
one operation a statement, on names and literals:

    target = <operation>        name, call, operator, subscript, attribute, display
    a, b = name                 unpacking, names only
    a, b = b, a                 a swap: names alone, each once on both sides
    base[index] = atom          base.attr = atom          name += atom, base[i] += atom
    if / for / while / with     tests and ranges are inert expressions
    try ... finally             no handlers
    try ... except              handlers set a flag, and no more (`frontend.attempts`)
    del name[a:b]               of a list
    f(atoms)                    a call for its effect
    return atom                 once, at the end

`break` stands last in its iteration; `continue` and early `return` are gone. What
touches no varying name is left as the user wrote it, statement or expression.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import Way, control, is_compound, runs
from srcjax.backends.marks import (
    ADJOINTS_MADE,
    COUNTS_MADE,
    JOINED_MADE,
    KEPT_MADE,
    NAMES_MADE,
)
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.attempts import caught_flag, lower_attempts, lowered_try
from srcjax.frontend.collection_types import lower_collections
from srcjax.frontend.exits import has_exit, lower_exits
from srcjax.frontend.generators import Generators
from srcjax.frontend.handed_functions import with_own_copies
from srcjax.frontend.helper_names import make_way
from srcjax.frontend.inherited import name_inherited
from srcjax.frontend.iterators import lower_iterators
from srcjax.frontend.joined_tapes import part_tapes, plain_tapes
from srcjax.frontend.lift import lift_recursive
from srcjax.frontend.loops import Loops
from srcjax.frontend.lowering import home_of
from srcjax.frontend.match import lower_match
from srcjax.frontend.numpy_names import name_numpy
from srcjax.frontend.operations import Operations
from srcjax.frontend.own_tables import with_own_tables
from srcjax.frontend.redefined import lower_redefined
from srcjax.frontend.remembered import with_memos
from srcjax.frontend.special_calls import is_transform
from srcjax.frontend.targets import Targets
from srcjax.frontend.unit import Unit, is_place, parameter_names
from srcjax.frontend.used_once import gives_iterator
from srcjax.frontend.varying import Varying, find_varying
from srcjax.frontend.walked_tapes import with_pops


def normalise(source: Any, varying_names: Iterable[str]) -> Unit:
    """The function in core form, given the names that may carry a derivative.

    Raises UnsupportedError for a construct outside the language.
    """
    varying_names = list(varying_names)
    source = name_numpy(make_way(source))
    source = with_own_tables(_with_choices(name_inherited(source)))
    source = with_own_copies(with_memos(source))
    source = lift_recursive(source, lambda names: _called(source, varying_names, names))
    node = syntax.clone(source.node)
    free = syntax.Names(syntax.all_names(node) | _global_names(node, source))
    made = NAMES_MADE.get(source.func, frozenset())
    alone = with_pops(node, made, free)
    parted = part_tapes(node, JOINED_MADE.get(source.func, {}), free)
    alone |= plain_tapes(node, made)
    names = syntax.Names(syntax.all_names(node) | _global_names(node, source))
    body = lower_match(node.body, names)
    bound = syntax.names_written(body) | set(parameter_names(node.args))
    varying = Varying(source.resolve, bound)
    body = _with_types(body, varying)
    find_varying(body, varying_names, varying)
    body = _prepared(body, names, varying, source)
    parameters = set(parameter_names(node.args))
    body = lower_exits(body, names, parameters, varying.names)
    find_varying(body, varying.names, varying)
    body = _all_attempts(body, names, varying, source)
    lowering = Lowering(source, names, varying)
    node.body = lowering.block(body)
    syntax.set_apart(node)
    unit = Unit(source, source.name, node, names, varying.names, lowering.temps)
    unit.looked_up = lowering.looked_up | source.aliases | source.looked_up
    unit.own_targets.update(lowering.own_targets)
    unit.gives_iterator = gives_iterator(source)
    unit.adjoints |= ADJOINTS_MADE.get(source.func, frozenset())
    unit.counts |= COUNTS_MADE.get(source.func, {})
    saved, tapes = KEPT_MADE.get(source.func, ((), ()))
    unit.saved |= set(saved)
    unit.tapes |= {*tapes, *(tape for tape, keeps in parted.items() if keeps)}
    unit.parted |= set(parted) | alone
    unit.made |= made - set(unit.parameters)
    unit.made |= unit.parted
    unit.base_names.update(source.renamed)
    return unit


def _with_choices(source: Any) -> Any:
    """The source with a name of its own for each function that is defined."""
    names = syntax.Names(syntax.all_names(source.node) | set(source.closure))
    node = syntax.clone(source.node)
    node.body = lower_redefined(node.body, names)
    return replace(source, node=node)


def normalise_nested(
    definition: Any, unit: Unit, varying_names: Iterable[str]
) -> list[gast.stmt]:
    """The body of a function defined inside `unit`, in core form, ready to inline.

    Its names are the definition's own: the caller renames them apart.
    """
    if isinstance(definition, gast.Lambda):
        returned = gast.Return(definition.body)
        body: list[gast.stmt] = [gast.copy_location(returned, definition.body)]
    else:
        body = definition.body
    body = lower_redefined(syntax.clone(body), unit.names)
    body = lower_match(body, unit.names)
    bound = syntax.names_written(body) | set(parameter_names(definition.args))
    varying = Varying(unit.source.resolve, bound | syntax.names_written(unit.node))
    varying_names = [*varying_names, *filter(is_place, unit.varying)]
    find_varying(body, varying_names, varying)
    body = _prepared(body, unit.names, varying, unit.source)
    parameters = set(parameter_names(definition.args))
    body = lower_exits(body, unit.names, parameters, varying.names)
    find_varying(body, varying.names, varying)
    lowering = Lowering(unit.source, unit.names, varying)
    lowering.scope = syntax.clone(body)
    lowered = lowering.block(body)
    syntax.set_apart(lowered)
    unit.temps |= lowering.temps
    unit.looked_up |= lowering.looked_up
    unit.own_targets.update(lowering.own_targets)
    unit.varying |= lowering.temps & varying.names
    return lowered


def _called(source: Any, varying_names: list[str], functions: set[str]) -> bool:
    """Whether one of these inner functions works on differentiated values."""
    body = source.node.body
    bound = syntax.names_written(body) | set(parameter_names(source.node.args))
    varying = find_varying(body, varying_names, Varying(source.resolve, bound))
    if functions & varying.names:
        return True
    return any(
        isinstance(node, gast.Call)
        and (
            getattr(node.func, "id", None) in functions
            or functions & syntax.names_read(node.args)
        )
        and varying.carries([*node.args, *(k.value for k in node.keywords)])
        for node in syntax.walk(body)
    )


def _with_types(body: list[gast.stmt], varying: Varying) -> list[gast.stmt]:
    """`type(x)` for `x.__class__`: of a value that is differentiated they are one."""

    def as_call(node: gast.expr) -> gast.expr:
        asked = isinstance(node, gast.Attribute) and node.attr == "__class__"
        if not asked or not isinstance(node.ctx, gast.Load):
            return node
        return gast.copy_location(syntax.call("type", node.value), node)

    if not varying.is_builtin(syntax.name("type"), "type"):
        return body
    return [syntax.map_expressions(stmt, as_call) for stmt in body]


def _prepared(
    body: list[gast.stmt], names: syntax.Names, varying: Varying, source: Any
) -> list[gast.stmt]:
    """The body with plain containers, and `try ... except` in core form."""

    def wanted(stmt: gast.stmt) -> bool:
        return varying.touches(stmt) or has_exit(stmt)

    refuse = _refusals(source)
    body = lower_collections(body, names, varying, refuse)
    body = lower_iterators(body, varying)
    return lower_attempts(body, names, wanted, refuse)


def _refusals(source: Any) -> Callable[[gast.AST, str, str], Exception]:
    """What makes the errors about nodes of a source."""
    return lambda *what: error_at(UnsupportedError, source, *what)


def _all_attempts(
    body: list[gast.stmt], names: syntax.Names, varying: Varying, source: Any
) -> list[gast.stmt]:
    """The body with those `try` in core form that are met by what exits handed on."""
    before = 0
    while True:
        left = sum(
            isinstance(stmt, gast.Try)
            and bool(stmt.handlers)
            and caught_flag(stmt) is None
            and varying.touches(stmt)
            for stmt in syntax.all_statements(body)
        )
        if left in (0, before):  # those of functions inside are lowered with them
            return body
        before = left
        body = lower_attempts(body, names, varying.touches, _refusals(source))
        find_varying(body, varying.names, varying)


def _global_names(node: gast.FunctionDef, source: Any) -> set[str]:
    return {"np"} | (syntax.names_read(node) - set(source.closure))


class Lowering(Targets, Loops, Operations, Generators):
    """Rewrites statements to core form, appending to the block being written."""

    def block(self, stmts: list[gast.stmt]) -> list[gast.stmt]:
        """Lower a block of its own."""
        outer, self.out = self.out, []
        for stmt in stmts:
            at, whole = self.at, self.whole
            self.at = self.whole = stmt
            self.statement(stmt)
            self.at, self.whole = at, whole
        done, self.out = self.out, outer
        return done

    # -- statements -------------------------------------------------------------------

    def statement(self, stmt: gast.stmt) -> None:
        """Lower one statement."""
        plain = self.on_blocks if runs(stmt, Way.ONCE) else None
        handler: Callable | None = getattr(self, f"on_{type(stmt).__name__}", plain)
        structural = is_compound(stmt) or isinstance(stmt, gast.Return)
        if isinstance(stmt, (gast.Pass, gast.Nonlocal)) and isinstance(stmt, gast.Pass):
            return
        touched = self.varying.touches(stmt)
        special = isinstance(stmt, (gast.FunctionDef, gast.Delete))
        if not touched and not structural and not special:
            made = getattr(stmt, "value", None)
            if isinstance(made, gast.Lambda) and not syntax.defaults_last(
                made.args, self.source.node
            ):
                made.args = self.early_defaults(made.args)
            if isinstance(made, gast.GeneratorExp) and isinstance(stmt, gast.Assign):
                self.check_bound_once(made)
            self.emit(stmt)
            return
        if not touched and structural:
            inside = [s for s in syntax.walk(stmt) if isinstance(s, gast.Return)]
            if not inside:
                self.emit(stmt)
                return
        if handler is None:
            raise self.refuse(
                stmt,
                f"`{type(stmt).__name__.lower()}` on a differentiated value",
                "move it out of the differentiated code, or wrap the value in "
                "`srcjax.stop_gradient`",
            )
        handler(stmt)

    def on_Return(self, stmt: gast.Return) -> None:
        value = self.atom(stmt.value)
        self.emit(gast.copy_location(gast.Return(value), stmt))

    def on_Expr(self, stmt: gast.Expr) -> None:
        if isinstance(stmt.value, gast.Constant):
            return
        call = stmt.value
        if (
            isinstance(call, gast.Call)
            and self.varying.is_builtin(call.func, "setattr")
            and isinstance(call.args[1], gast.Constant)
        ):
            target = gast.Attribute(call.args[0], call.args[1].value, gast.Store())
            self.bind(gast.copy_location(target, stmt), call.args[2])
            return
        if isinstance(stmt.value, gast.Call) and not self.is_printing(stmt.value):
            value = self.operation(stmt.value)
            if isinstance(value, gast.Call):
                self.emit(gast.copy_location(gast.Expr(value), stmt))
            return
        if self.acts(stmt.value):
            self.atom(stmt.value)
            return
        self.emit(stmt)

    def is_printing(self, node: gast.Call) -> bool:
        """A call such as `print(...)` that only looks at its arguments."""
        return not self.varying.carries(node) and self.varying.is_builtin(
            node.func, "print", "isinstance", "len", "repr", "str"
        )

    def on_Assert(self, stmt: gast.Assert) -> None:
        stmt.test = self.test(stmt.test)
        self.emit(stmt)

    def on_Raise(self, stmt: gast.stmt) -> None:
        self.emit(stmt)

    on_Import = on_ImportFrom = on_Global = on_Break = on_Raise

    def on_Delete(self, stmt: gast.Delete) -> None:
        """Names stay: the backward sweep may ask for what they held."""
        for target in stmt.targets:
            if isinstance(target, gast.Name):
                continue
            if not self.varying.touches(gast.Delete([target])):
                self.emit(gast.copy_location(gast.Delete([target]), stmt))
                continue
            if not isinstance(target, gast.Subscript):
                raise self.refuse(
                    stmt,
                    "`del` of a part of a differentiated value",
                    "a value without the part",
                )
            base = self.atom(syntax.as_load(target.value))
            index = self.index(syntax.as_load(target.slice))
            if isinstance(index, gast.Slice):
                item = gast.Subscript(base, index, gast.Del())
                self.emit(gast.copy_location(gast.Delete([item]), stmt))
            else:
                taken = syntax.expression("v.pop(i)", v=base, i=index)
                self.temp(gast.copy_location(taken, stmt), "removed")

    def on_Nonlocal(self, stmt: gast.Nonlocal) -> None:
        raise self.refuse(
            stmt,
            "`nonlocal` rebinds a differentiated value of an outer function",
            "return the value and assign it in the outer function",
        )

    def on_If(self, stmt: gast.If) -> None:
        test = self.test(stmt.test)
        body = self.block(stmt.body) or [gast.Pass()]
        new = gast.If(test, body, self.block(stmt.orelse))
        self.emit(gast.copy_location(new, stmt))

    def on_blocks(self, stmt: Any) -> None:
        """A statement whose blocks run one after the other."""
        run = control(stmt)
        assert run is not None
        if self.varying.carries([getattr(e, "context_expr", e) for e in run.head]):
            raise self.refuse(
                stmt, "a context manager made from a differentiated value", "plain code"
            )
        self.emit(syntax.rebuilt(stmt, self.block))

    def on_Try(self, stmt: gast.Try) -> None:
        if stmt.handlers:
            assert caught_flag(stmt) is not None
            self.emit(lowered_try(self.block(stmt.body), stmt.handlers, stmt))
            return
        body = self.block([*stmt.body, *stmt.orelse])
        final = self.block(stmt.finalbody)
        if not final:
            for each in body:
                self.emit(each)
            return
        new = gast.Try(body or [gast.Pass()], [], [], final)
        self.emit(gast.copy_location(new, stmt))

    def on_FunctionDef(self, stmt: gast.FunctionDef) -> None:
        stmt.args = self.early_defaults(stmt.args)
        stmt.returns = None  # annotations may name what generated code does not know
        for a in syntax.walk(stmt.args):
            if isinstance(a, gast.Name):
                a.annotation = None
        decorators = stmt.decorator_list
        if all(map(self.gives_the_same, decorators)) and not (
            decorators and self.varying.touches(stmt)
        ):
            self.emit(stmt)
            return
        made: gast.expr = syntax.name(self.new_temp(stmt.name))
        held = [d if self.is_maker(d) else self.atom(d) for d in decorators]
        for decorator in reversed(held):
            call = gast.copy_location(gast.Call(decorator, [made], []), stmt)
            made = self.with_options(call)
        plain = gast.copy_location(syntax.clone(stmt), stmt)
        plain.name, plain.decorator_list = _innermost(made), []
        self.emit(plain)
        self.bind(syntax.name(stmt.name, store=True), made)

    def decorated_by(self, decorator: gast.expr) -> Any:
        """What a decorator, or what makes it, is; None where that is not known."""
        if not isinstance(decorator, gast.Call):
            return self.varying.value(decorator)
        maker = self.given_options(decorator) or decorator.func
        return self.varying.value(maker)

    def is_maker(self, decorator: gast.expr) -> bool:
        """Whether it is a transform: `@grad`, `@grad(argnums=1)`."""
        return is_transform(self.decorated_by(decorator))

    def gives_the_same(self, decorator: gast.expr) -> bool:
        """Whether the function gives what it gives without the decorator."""
        known = self.decorated_by(decorator)
        return any(known is each for each in _SAME) or home_of(known) == "numba"


#: Decorators that change nothing of what a function gives.
_SAME = (functools.wraps, functools.lru_cache, functools.cache, staticmethod)


def _innermost(made: Any) -> str:
    """The name of the plain function in `grad(jit(name))`."""
    while isinstance(made, gast.Call):
        made = made.args[0]
    return str(made.id)
