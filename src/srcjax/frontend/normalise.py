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

from collections.abc import Callable, Iterable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.attempts import caught_flag, lower_attempts, lowered_try
from srcjax.frontend.collection_types import lower_collections
from srcjax.frontend.exits import has_exit, lower_exits
from srcjax.frontend.helper_names import make_way
from srcjax.frontend.lift import lift_recursive
from srcjax.frontend.loops import Loops, binds
from srcjax.frontend.match import lower_match
from srcjax.frontend.special_calls import SpecialCalls
from srcjax.frontend.targets import Targets
from srcjax.frontend.ufuncs import unwrap_out
from srcjax.frontend.unit import Unit, parameter_names
from srcjax.frontend.varying import Varying, find_varying


def normalise(source: Any, varying_names: Iterable[str]) -> Unit:
    """The function in core form, given the names that may carry a derivative.

    Raises UnsupportedError for a construct outside the language.
    """
    varying_names = list(varying_names)
    source = make_way(source)
    source = lift_recursive(source, lambda names: _called(source, varying_names, names))
    node = syntax.clone(source.node)
    names = syntax.Names(syntax.all_names(node) | _global_names(node, source))
    body = lower_match(node.body, names)
    bound = syntax.names_written(body) | set(parameter_names(node.args))
    varying = Varying(source.resolve, bound)
    find_varying(body, varying_names, varying)
    body = _prepared(body, names, varying, source)
    body = lower_exits(body, names)
    find_varying(body, varying.names, varying)
    lowering = Lowering(source, names, varying)
    node.body = lowering.block(body)
    unit = Unit(source, source.name, node, names, varying.names, lowering.temps)
    unit.base_names.update(source.renamed)
    return unit


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
    body = lower_match(syntax.clone(body), unit.names)
    bound = syntax.names_written(body) | set(parameter_names(definition.args))
    varying = Varying(unit.source.resolve, bound | syntax.names_written(unit.node))
    find_varying(body, varying_names, varying)
    body = _prepared(body, unit.names, varying, unit.source)
    body = lower_exits(body, unit.names)
    find_varying(body, varying.names, varying)
    lowering = Lowering(unit.source, unit.names, varying)
    lowering.scope = body
    lowered = lowering.block(body)
    unit.temps |= lowering.temps
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


def _prepared(
    body: list[gast.stmt], names: syntax.Names, varying: Varying, source: Any
) -> list[gast.stmt]:
    """The body with plain containers, and `try ... except` in core form."""

    def wanted(stmt: gast.stmt) -> bool:
        return varying.touches(stmt) or has_exit(stmt)

    def refuse(node: gast.AST, reason: str, instead: str) -> Exception:
        return error_at(UnsupportedError, source, node, reason, instead)

    body = lower_collections(body, names, varying, refuse)
    return lower_attempts(body, names, wanted, refuse)


def _global_names(node: gast.FunctionDef, source: Any) -> set[str]:
    return {"np"} | (syntax.names_read(node) - set(source.closure))


_UNSUPPORTED = {
    gast.Yield: ("a generator has no single result", "build and return a list"),
    gast.YieldFrom: ("a generator has no single result", "build and return a list"),
    gast.Await: ("async code cannot be differentiated", "a plain function"),
}


class Lowering(Targets, Loops, SpecialCalls):
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
        handler: Callable | None = getattr(self, f"on_{type(stmt).__name__}", None)
        structural = (gast.If, gast.For, gast.While, gast.With, gast.Try, gast.Return)
        if isinstance(stmt, (gast.Pass, gast.Nonlocal)) and isinstance(stmt, gast.Pass):
            return
        touched = self.varying.touches(stmt)
        if not touched and not isinstance(stmt, (*structural, gast.FunctionDef)):
            self.emit(stmt)
            return
        if not touched and isinstance(stmt, structural):
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
        self.emit(stmt)

    def is_printing(self, node: gast.Call) -> bool:
        """A call such as `print(...)` that only looks at its arguments."""
        return not self.varying.carries(node) and self.varying.is_builtin(
            node.func, "print", "isinstance", "len", "repr", "str"
        )

    def on_Assert(self, stmt: gast.Assert) -> None:
        self.emit(stmt)

    on_Raise = on_Import = on_ImportFrom = on_Global = on_Break = on_Assert

    def on_Delete(self, stmt: gast.Delete) -> None:
        for target in stmt.targets:
            if isinstance(target, gast.Name):
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
                self.temp(syntax.expression("v.pop(i)", v=base, i=index), "removed")

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

    def on_With(self, stmt: gast.With) -> None:
        if self.varying.carries([i.context_expr for i in stmt.items]):
            raise self.refuse(
                stmt, "a context manager made from a differentiated value", "plain code"
            )
        new = gast.With(stmt.items, self.block(stmt.body) or [gast.Pass()], None)
        self.emit(gast.copy_location(new, stmt))

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
        if not (stmt.decorator_list and self.varying.touches(stmt)):
            self.emit(stmt)
            return
        made: gast.expr = syntax.name(self.new_temp(stmt.name))
        for decorator in reversed(stmt.decorator_list):
            inside = decorator.func if isinstance(decorator, gast.Call) else decorator
            if not hasattr(self.varying.value(inside), "__srcjax_maker__"):
                raise self.refuse(
                    stmt,
                    "a decorated function inside differentiated code",
                    "a plain def",
                )
            call = gast.Call(decorator, [made], [])
            made = gast.copy_location(call, stmt)
        plain = gast.copy_location(syntax.clone(stmt), stmt)
        plain.name, plain.decorator_list = _innermost(made), []
        self.emit(plain)
        self.bind(syntax.name(stmt.name, store=True), made)

    # -- expressions ------------------------------------------------------------------

    def test(self, node: gast.expr) -> gast.expr:
        """A condition: no derivative flows through it, but a batch may."""
        if self.varying.mapping and self.varying.carries(node):
            return self.atom(self.as_condition(node))
        return self.lower_walrus(node) if binds(node) else node

    def as_condition(self, node: gast.expr) -> gast.expr:
        """`a < b < c` as `a < b and b < c`; only the truth of the value matters."""
        if isinstance(node, gast.Compare) and len(node.ops) > 1:
            atoms = [self.atom(e) for e in (node.left, *node.comparators)]
            pairs = [
                gast.Compare(left, [op], [right])
                for left, op, right in zip(atoms, node.ops, atoms[1:], strict=False)
            ]
            return gast.BoolOp(gast.And(), pairs)
        return node

    def of_Compare(self, node: gast.Compare) -> gast.expr:
        if len(node.ops) > 1:
            return self.operation(self.as_condition(node))
        operands = [self.atom(node.left), self.atom(node.comparators[0])]
        return gast.Compare(operands[0], node.ops, [operands[1]])

    def lower_walrus(self, node: gast.expr) -> gast.expr:
        """Take varying walrus assignments out of an inert expression."""
        if isinstance(node, gast.NamedExpr):
            self.bind(node.target, node.value)
            return syntax.name(node.target.id)
        if isinstance(node, gast.BoolOp) and binds(node.values[1:]):
            return self.boolean(node)
        if isinstance(node, gast.Call):
            node.args = [self.lower_walrus(a) for a in node.args]
            return node
        for key, value in list(node.__dict__.items()):
            if isinstance(value, gast.expr):
                setattr(node, key, self.lower_walrus(value))
            elif isinstance(value, list):
                new = [
                    self.lower_walrus(v) if isinstance(v, gast.expr) else v
                    for v in value
                ]
                setattr(node, key, new)
        return node

    def operation(self, node: gast.expr) -> gast.expr:
        """One operation on atoms (or an inert expression, as written)."""
        at, self.at = self.at, node if hasattr(node, "lineno") else self.at
        try:
            return self._operation(node)
        finally:
            self.at = at

    def _operation(self, node: gast.expr) -> gast.expr:
        if type(node) in _UNSUPPORTED:
            raise self.refuse(node, *_UNSUPPORTED[type(node)])
        if not self.varying.carries(node):
            self.no_text_detour(node)
            return node
        if self.varying.inert_result(node):
            return self.lower_walrus(node)
        handler: Callable | None = getattr(self, f"of_{type(node).__name__}", None)
        if handler is None:
            raise self.refuse(
                node,
                f"`{type(node).__name__}` on a differentiated value is not supported",
                "plain arithmetic, or `srcjax.stop_gradient` around the value",
            )
        new: gast.expr = handler(node)
        if not hasattr(new, "lineno"):
            gast.copy_location(new, node)
        return new

    def no_text_detour(self, node: gast.expr) -> None:
        """`float(f"{x}")` would lose the derivative without a word."""
        for sub in syntax.walk(node):
            if isinstance(sub, gast.Call) and sub.args:
                inner = sub.args[0]
                text = isinstance(inner, gast.JoinedStr) or (
                    isinstance(inner, gast.Call)
                    and self.varying.is_builtin(inner.func, "str", "repr", "format")
                )
                if text and self.varying.is_builtin(sub.func, "float", "complex"):
                    shown = [
                        part.value
                        for part in getattr(inner, "values", ())
                        if isinstance(part, gast.FormattedValue)
                    ]
                    if self.varying.carries([*shown, *getattr(inner, "args", ())]):
                        raise self.refuse(
                            sub,
                            "a differentiated value is read back from text",
                            "the value itself",
                        )

    def of_Name(self, node: gast.Name) -> gast.expr:
        return node

    def of_BinOp(self, node: gast.BinOp) -> gast.expr:
        left = self.atom(node.left)
        return gast.BinOp(left, node.op, self.atom(node.right))

    def of_UnaryOp(self, node: gast.UnaryOp) -> gast.expr:
        return gast.UnaryOp(node.op, self.atom(node.operand))

    def of_Attribute(self, node: gast.Attribute) -> gast.expr:
        return gast.Attribute(self.atom(node.value), node.attr, syntax.LOAD)

    def of_Subscript(self, node: gast.Subscript) -> gast.expr:
        base = self.atom(node.value)
        return gast.Subscript(base, self.index(node.slice), syntax.LOAD)

    def index(self, node: gast.expr) -> gast.expr:
        """An index: cheap integer expressions stay, the rest becomes names."""
        if isinstance(node, gast.Slice):
            lower, upper, step = (
                None if part is None else self.index(part)
                for part in (node.lower, node.upper, node.step)
            )
            return gast.Slice(lower, upper, step)
        if isinstance(node, gast.Tuple):
            return gast.Tuple([self.index(e) for e in node.elts], syntax.LOAD)
        if _is_cheap_index(node):
            return node
        return self.atom(node)

    def of_Tuple(self, node: Any) -> gast.expr:
        return type(node)(self.atoms(node.elts), syntax.LOAD)

    of_List = of_Tuple

    def of_Dict(self, node: gast.Dict) -> gast.expr:
        keys = [None if k is None else self.atom(k) for k in node.keys]
        return gast.Dict(keys, [self.atom(v) for v in node.values])

    def of_NamedExpr(self, node: gast.NamedExpr) -> gast.expr:
        self.bind(node.target, node.value)
        return syntax.name(node.target.id)

    def of_IfExp(self, node: gast.IfExp) -> gast.expr:
        test = self.test(node.test)
        id = self.new_temp("value")
        branches = []
        for part in (node.body, node.orelse):
            outer, self.out = self.out, []
            self.emit(syntax.assign(id, self.operation(part)))
            branches.append(self.out)
            self.out = outer
        self.emit(gast.If(test, *branches))
        return syntax.name(id)

    def of_BoolOp(self, node: gast.BoolOp) -> gast.expr:
        return self.boolean(node)

    def boolean(self, node: gast.BoolOp) -> gast.expr:
        """`a and b` by value: b is evaluated only where a decides nothing."""
        id = self.new_temp("value")
        self.emit(syntax.assign(id, self.operation(node.values[0])))
        test: gast.expr = syntax.name(id)
        if isinstance(node.op, gast.Or):
            test = gast.UnaryOp(gast.Not(), test)
        rest = node.values[1:]
        following = rest[0] if len(rest) == 1 else gast.BoolOp(node.op, rest)
        outer, self.out = self.out, []
        self.emit(syntax.assign(id, self.operation(following)))
        body, self.out = self.out, outer
        self.emit(gast.If(test, body, []))
        return syntax.name(id)

    def of_Call(self, node: gast.Call) -> gast.expr:
        special = self.special_call(node)
        if special is not None:
            return special
        function = node.func
        if isinstance(function, gast.Attribute):
            if self.varying.value(function) is None:
                base = self.atom(function.value)
                function = gast.Attribute(base, function.attr, syntax.LOAD)
        elif not isinstance(function, gast.Name):
            function = self.atom(function)
        unwrap_out(node)
        args = self.atoms(self.held_iterators(node))
        keywords = [gast.keyword(k.arg, self.argument(k.value)) for k in node.keywords]
        called = gast.Call(function, args, keywords)
        if isinstance(self.varying.value(node.func), np.ufunc):
            return self.ufunc_call(called, self.varying.value(node.func))
        return self.out_argument(called)


def _innermost(made: Any) -> str:
    """The name of the plain function in `grad(jit(name))`."""
    while isinstance(made, gast.Call):
        made = made.args[0]
    return str(made.id)


def _is_cheap_index(node: Any) -> bool:
    """Integer arithmetic on names: cheap, and it reads best where it is used."""
    if isinstance(node, (gast.Name, gast.Constant)):
        return True
    if isinstance(node, gast.UnaryOp):
        return _is_cheap_index(node.operand)
    if isinstance(node, gast.BinOp):
        simple = (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv, gast.Mod)
        return (
            isinstance(node.op, simple)
            and _is_cheap_index(node.left)
            and _is_cheap_index(node.right)
        )
    return False
