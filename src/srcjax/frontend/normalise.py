"""Surface Python -> core form.

Core form is a subset of Python, kept as a gast tree. What touches a varying name is
one operation a statement, on names and literals:

    target = <operation>        name, call, operator, subscript, attribute, display
    a, b = name                 unpacking, names only
    base[index] = atom          base.attr = atom          name += atom, base[i] += atom
    if / for / while / with     tests and ranges are inert expressions
    f(atoms)                    a call for its effect
    return atom                 once, at the end

`break` stands last in its iteration; `continue` and early `return` are gone. What
touches no varying name is left as the user wrote it, statement or expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.exits import lower_exits
from srcjax.frontend.match import lower_match
from srcjax.frontend.varying import Varying, find_varying


@dataclass
class Unit:
    """One function in core form."""

    source: Any
    name: str
    node: gast.FunctionDef
    names: syntax.Names
    varying: set[str]
    #: Names that srcjax made up: they may be nested away or renamed.
    temps: set[str] = field(default_factory=set)
    #: Names of functions that were inlined: renamed apart from the user's own.
    inlined: set[str] = field(default_factory=set)
    #: The name that a renamed web had at first.
    base_names: dict[str, str] = field(default_factory=dict)
    #: Values of free names that came with inlined functions.
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> list[str]:
        """The names of all parameters, in order."""
        return parameter_names(self.node.args)


def parameter_names(arguments: gast.arguments) -> list[str]:
    """Parameter names in order, `*args` and `**kwargs` included."""
    found = [a.id for a in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg is not None:
        found.append(arguments.vararg.id)
    found += [a.id for a in arguments.kwonlyargs]
    if arguments.kwarg is not None:
        found.append(arguments.kwarg.id)
    return found


def normalise(source: Any, varying_names: Iterable[str]) -> Unit:
    """The function in core form, given the names that may carry a derivative.

    Raises UnsupportedError for a construct outside the language.
    """
    node = syntax.clone(source.node)
    names = syntax.Names(syntax.all_names(node) | _global_names(node, source))
    body = lower_match(node.body, names)
    bound = syntax.names_written(body) | set(parameter_names(node.args))
    varying = Varying(source.resolve, bound)
    find_varying(body, varying_names, varying)
    body = lower_exits(body, names)
    find_varying(body, varying.names, varying)
    lowering = Lowering(source, names, varying)
    node.body = lowering.block(body)
    return Unit(source, source.name, node, names, varying.names, lowering.temps)


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
    body = lower_exits(body, unit.names)
    find_varying(body, varying.names, varying)
    lowering = Lowering(unit.source, unit.names, varying)
    lowered = lowering.block(body)
    unit.temps |= lowering.temps
    unit.varying |= lowering.temps & varying.names
    return lowered


def _global_names(node: gast.FunctionDef, source: Any) -> set[str]:
    return {"np"} | (syntax.names_read(node) - set(source.closure))


#: What a temporary is called after the operation that it holds.
_OPERATOR_NAMES = {
    gast.Add: "total",
    gast.Sub: "difference",
    gast.Mult: "product",
    gast.Div: "ratio",
    gast.Pow: "power",
    gast.MatMult: "product",
    gast.Mod: "remainder",
    gast.FloorDiv: "quotient",
    gast.USub: "negative",
}


def describe(value: gast.expr) -> str:
    """A name for a temporary, from what it holds."""
    if isinstance(value, (gast.BinOp, gast.UnaryOp)):
        return _OPERATOR_NAMES.get(type(value.op), "value")
    if isinstance(value, gast.Call):
        chain = syntax.dotted(value.func)
        last = chain.split(".")[-1] if chain else getattr(value.func, "attr", "value")
        if len(value.args) == 1 and isinstance(value.args[0], gast.Name):
            argument = value.args[0].id
            if len(argument) + len(last) < 14 and not isinstance(
                value.func, gast.Lambda
            ):
                return f"{last}_{argument}"
        return f"{last}_value" if hasattr(__import__("builtins"), last) else last
    if isinstance(value, gast.Subscript):
        if isinstance(value.value, gast.Name):
            index = value.slice
            if isinstance(index, gast.Constant) and isinstance(index.value, str):
                if index.value.isidentifier():
                    return index.value
            if isinstance(index, (gast.Name, gast.Constant)) and syntax.text(
                index
            ).isidentifier() | syntax.text(index).isdigit():
                return f"{value.value.id}_{syntax.text(index)}"
            return f"{value.value.id}_part"
        return "item"
    if isinstance(value, gast.Attribute):
        return value.attr
    if isinstance(value, gast.Compare):
        return "condition"
    if isinstance(value, (gast.List, gast.ListComp)):
        return "values"
    return "value"


_UNSUPPORTED = {
    gast.Yield: ("a generator has no single result", "build and return a list"),
    gast.YieldFrom: ("a generator has no single result", "build and return a list"),
    gast.Await: ("async code cannot be differentiated", "a plain function"),
}


class Lowering:
    """Rewrites statements to core form, appending to the block being written."""

    def __init__(self, source: Any, names: syntax.Names, varying: Varying) -> None:
        self.source = source
        self.names = names
        self.varying = varying
        self.temps: set[str] = set()
        self.out: list[gast.stmt] = []
        self.at: gast.AST = source.node
        #: The user's statement that is being lowered.
        self.whole: gast.AST = source.node

    # -- writing ----------------------------------------------------------------------

    def refuse(self, node: gast.AST, reason: str, instead: str) -> Exception:
        """An error about the user's source at the node."""
        where = node if hasattr(node, "lineno") else self.at
        return error_at(UnsupportedError, self.source, where, reason, instead)

    def emit(self, stmt: gast.stmt) -> None:
        """Append a statement, at the user's line."""
        if getattr(stmt, "lineno", None) is None:
            gast.copy_location(stmt, self.at)
        for node in syntax.walk(stmt):
            if isinstance(node, gast.stmt) and not hasattr(node, "user_line"):
                self.quote(node)
        self.out.append(stmt)

    def quote(self, stmt: gast.stmt) -> None:
        """Remember the user's line: (file, line number, text)."""
        line = getattr(self.whole, "lineno", None) or getattr(stmt, "lineno", 0)
        stmt.user_line = (self.source.filename, line, self.source.line(line))

    def temp(self, value: gast.expr, base: str | None = None) -> gast.Name:
        """Hold a value in a new temporary."""
        id = self.names.fresh(base or describe(value))
        self.temps.add(id)
        if self.varying.carries(value):
            self.varying.names.add(id)
        stmt = syntax.assign(id, value)
        if hasattr(value, "lineno"):
            gast.copy_location(stmt, value)
        self.emit(stmt)
        return syntax.name(id)

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
            if not isinstance(target, gast.Name):
                raise self.refuse(
                    stmt,
                    "`del` of an item of a differentiated container",
                    "build a new container without the item",
                )

    def on_Nonlocal(self, stmt: gast.Nonlocal) -> None:
        raise self.refuse(
            stmt,
            "`nonlocal` rebinds a differentiated value of an outer function",
            "return the value and assign it in the outer function",
        )

    def on_Assign(self, stmt: gast.Assign) -> None:
        if len(stmt.targets) == 1:
            self.bind(stmt.targets[0], stmt.value)
            return
        value = self.atom(stmt.value)
        for target in stmt.targets:
            self.bind(target, value)

    def on_AnnAssign(self, stmt: gast.AnnAssign) -> None:
        if stmt.value is not None:
            self.bind(stmt.target, stmt.value)

    def on_AugAssign(self, stmt: gast.AugAssign) -> None:
        target = stmt.target
        if isinstance(target, gast.Name):
            value = self.atom(stmt.value)
            self.emit(gast.copy_location(gast.AugAssign(target, stmt.op, value), stmt))
        elif isinstance(target, gast.Subscript):
            base = self.atom(syntax.as_load(target.value))
            index = self.index(syntax.as_load(target.slice))
            value = self.atom(stmt.value)
            new = gast.Subscript(base, index, syntax.STORE)
            self.emit(gast.copy_location(gast.AugAssign(new, stmt.op, value), stmt))
        else:
            base = self.atom(syntax.as_load(target.value))
            old = self.temp(gast.Attribute(base, target.attr, syntax.LOAD))
            value = self.atom(stmt.value)
            total = self.temp(gast.BinOp(old, stmt.op, value))
            self.emit(syntax.assign(gast.Attribute(base, target.attr, None), total))

    def bind(self, target: gast.expr, value: gast.expr) -> None:
        """`target = value` for any target."""
        if isinstance(target, gast.Name):
            self.emit(syntax.assign(target, self.operation(value)))
        elif isinstance(target, (gast.Tuple, gast.List)):
            self.unpack(target, value)
        elif isinstance(target, gast.Subscript):
            value = self.atom(value)
            base = self.atom(syntax.as_load(target.value))
            index = self.index(syntax.as_load(target.slice))
            self.emit(syntax.assign(gast.Subscript(base, index, None), value))
        elif isinstance(target, gast.Attribute):
            value = self.atom(value)
            base = self.atom(syntax.as_load(target.value))
            self.emit(syntax.assign(gast.Attribute(base, target.attr, None), value))
        else:
            raise self.refuse(target, "an unusual target of an assignment", "a name")

    def unpack(self, target: Any, value: gast.expr) -> None:
        """`a, (b, *c) = value`."""
        elements = target.elts
        starred = [isinstance(e, gast.Starred) for e in elements]
        if isinstance(value, (gast.Tuple, gast.List)) and not any(starred):
            plain = not any(isinstance(e, gast.Starred) for e in value.elts)
            if plain and len(value.elts) == len(elements):
                self.bind_together(elements, value.elts)
                return
        source = self.atom(value)
        if any(starred):
            self.unpack_starred(elements, starred.index(True), source)
            return
        targets: list[gast.expr] = []
        nested: list[tuple[gast.expr, gast.Name]] = []
        for element in elements:
            if isinstance(element, gast.Name):
                targets.append(element)
                continue
            id = self.names.fresh("item")
            self.temps.add(id)
            self.varying.names.add(id)
            targets.append(syntax.name(id, store=True))
            nested.append((element, syntax.name(id)))
        new = gast.Assign([gast.Tuple(targets, syntax.STORE)], source, None)
        self.emit(gast.copy_location(new, self.at))
        for element, item in nested:
            self.bind(element, item)

    def bind_together(self, targets: list, values: list[gast.expr]) -> None:
        """`a, b = b, a`: all values are read before a target is written."""
        written: set[str] = set()
        for target in targets:
            written |= syntax.names_written(target)
            if not isinstance(target, gast.Name):
                written |= syntax.names_read(target)
        held: list[gast.expr] = []
        for position, value in enumerate(values):
            later = targets[:position]
            hazard = {n for t in later for n in syntax.all_names(t)}
            simple = isinstance(targets[position], gast.Name)
            if not (hazard & syntax.names_read(value)) and simple and position == 0:
                clash = any(targets[0].id in syntax.names_read(v) for v in values[1:])
                if not clash:
                    held.append(value)
                    continue
            core = self.operation(value)
            if isinstance(core, gast.Constant):
                held.append(core)
            else:
                held.append(self.temp(core))
        for target, value in zip(targets, held, strict=True):
            self.bind(target, value)

    def unpack_starred(self, elements: list, star: int, source: gast.expr) -> None:
        """`a, *b, c = source`."""
        after = len(elements) - star - 1
        for position, element in enumerate(elements):
            if position < star:
                index: gast.expr = syntax.const(position)
            elif position > star:
                index = syntax.expression(str(position - len(elements)))
            else:
                stop = f"-{after}" if after else ""
                sliced = syntax.expression(f"s[{star}:{stop}]", s=source)
                items = self.temp(sliced)
                self.bind(element.value, syntax.call("list", items))
                continue
            self.bind(element, gast.Subscript(source, index, syntax.LOAD))

    def on_If(self, stmt: gast.If) -> None:
        test = self.test(stmt.test)
        body = self.block(stmt.body) or [gast.Pass()]
        new = gast.If(test, body, self.block(stmt.orelse))
        self.emit(gast.copy_location(new, stmt))

    def on_While(self, stmt: gast.While) -> None:
        if not self.varying.has_walrus(stmt.test) and not self.varying.touches(
            [s for s in syntax.walk(stmt.test) if isinstance(s, gast.NamedExpr)]
        ):
            test = self.test(stmt.test)
            new = gast.While(test, self.block(stmt.body), [])
            self.emit(gast.copy_location(new, stmt))
            return
        stop = gast.If(
            gast.UnaryOp(gast.Not(), stmt.test), [gast.Break()], list(stmt.body)
        )
        gast.copy_location(stop, stmt)
        new = gast.While(syntax.const(True), self.block([stop]), [])
        self.emit(gast.copy_location(new, stmt))

    def on_For(self, stmt: gast.For) -> None:
        iterable = self.iterable(stmt.iter)
        target = stmt.target
        binding: list[gast.stmt] = []
        parts = self.parallel_parts(iterable)
        fits = isinstance(target, (gast.Tuple, gast.List)) and (
            len(target.elts) == parts
            and not any(isinstance(e, gast.Starred) for e in target.elts)
        )
        if parts and not fits:
            names = [self.new_temp("item") for _ in range(parts)]
            row = gast.Tuple([syntax.name(n) for n in names], syntax.LOAD)
            binding = [gast.copy_location(gast.Assign([target], row, None), stmt)]
            stores = [syntax.name(n, store=True) for n in names]
            target = gast.Tuple(stores, syntax.STORE)
        if not self.plain_target(target):
            id = self.names.fresh("item")
            self.temps.add(id)
            if self.varying.carries(iterable):
                self.varying.names.add(id)
            unpack = gast.Assign([target], syntax.name(id), None)
            binding = [gast.copy_location(unpack, stmt), *binding]
            target = syntax.name(id, store=True)
        body = self.block([*binding, *stmt.body])
        new = gast.For(target, iterable, body, [], None)
        self.emit(gast.copy_location(new, stmt))

    def parallel_parts(self, iterable: gast.expr) -> int:
        """How many sequences a varying `zip` or `enumerate` runs over, else 0."""
        if not isinstance(iterable, gast.Call) or not self.varying.carries(iterable):
            return 0
        if self.varying.is_builtin(iterable.func, "zip"):
            starred = any(isinstance(a, gast.Starred) for a in iterable.args)
            return 0 if starred else len(iterable.args)
        return 2 if self.varying.is_builtin(iterable.func, "enumerate") else 0

    def plain_target(self, target: gast.expr) -> bool:
        """A name, or a tuple of names and tuples."""
        if isinstance(target, (gast.Tuple, gast.List)):
            return all(map(self.plain_target, target.elts))
        return isinstance(target, gast.Name)

    def iterable(self, node: gast.expr) -> gast.expr:
        """What a loop runs over: zip, enumerate ... of atoms, or an atom."""
        if not self.varying.carries(node):
            return node
        if isinstance(node, gast.Call):
            if self.varying.is_builtin(node.func, "zip", "enumerate", "reversed"):
                args = [self.iterable(a) for a in node.args]
                args += [self.atom(k.value) for k in node.keywords if k.arg == "start"]
                if any(k.arg == "strict" for k in node.keywords):
                    self.same_lengths(node, args)
                return gast.copy_location(gast.Call(node.func, args, []), node)
            view = isinstance(node.func, gast.Attribute) and not (
                node.args or node.keywords
            )
            if view and node.func.attr in ("items", "values", "keys"):
                base = self.atom(node.func.value)
                function = gast.Attribute(base, node.func.attr, syntax.LOAD)
                return gast.copy_location(gast.Call(function, [], []), node)
        if isinstance(node, gast.GeneratorExp):
            node = gast.copy_location(gast.ListComp(node.elt, node.generators), node)
        return self.atom(node)

    def same_lengths(self, node: gast.Call, args: list[gast.expr]) -> None:
        """What `zip(..., strict=True)` checks."""
        strict = next(k.value for k in node.keywords if k.arg == "strict")
        named = [a for a in args if isinstance(a, gast.Name)]
        if not isinstance(strict, gast.Constant) or not strict.value:
            return
        for other in named[1:]:
            test = syntax.expression("len(a) != len(b)", a=named[0], b=other)
            text = "zip() arguments have different lengths"
            error = syntax.call("ValueError", syntax.const(text))
            self.emit(gast.If(test, [gast.Raise(error, None)], []))

    def on_With(self, stmt: gast.With) -> None:
        if self.varying.carries([i.context_expr for i in stmt.items]):
            raise self.refuse(
                stmt, "a context manager made from a differentiated value", "plain code"
            )
        new = gast.With(stmt.items, self.block(stmt.body) or [gast.Pass()], None)
        self.emit(gast.copy_location(new, stmt))

    def on_Try(self, stmt: gast.Try) -> None:
        if stmt.handlers:
            raise self.refuse(
                stmt,
                "`try ... except` around differentiated code: which statements ran "
                "is not known to the backward sweep",
                "an `if` that tests for the exceptional case",
            )
        body = self.block([*stmt.body, *stmt.orelse])
        new = gast.Try(body, [], [], self.block(stmt.finalbody))
        self.emit(gast.copy_location(new, stmt))

    def on_FunctionDef(self, stmt: gast.FunctionDef) -> None:
        if stmt.decorator_list and self.varying.touches(stmt):
            raise self.refuse(
                stmt, "a decorated function inside differentiated code", "a plain def"
            )
        self.emit(stmt)

    # -- expressions ------------------------------------------------------------------

    def test(self, node: gast.expr) -> gast.expr:
        """A condition: no derivative flows through it."""
        if self.varying.has_walrus(node):
            return self.lower_walrus(node)
        return node

    def lower_walrus(self, node: gast.expr) -> gast.expr:
        """Take varying walrus assignments out of an inert expression."""
        if isinstance(node, gast.NamedExpr):
            self.bind(node.target, node.value)
            return syntax.name(node.target.id)
        if isinstance(node, gast.BoolOp) and self.varying.has_walrus(node.values[1:]):
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

    def atom(self, node: Any) -> gast.expr:
        """A name or literal that holds the value."""
        if syntax.is_atom(node):
            return node
        value = self.operation(node)
        return value if syntax.is_atom(value) else self.temp(value)

    def atoms(self, nodes: list) -> list:
        """Atoms for arguments; stars stay."""
        return [
            gast.Starred(self.atom(n.value), syntax.LOAD)
            if isinstance(n, gast.Starred)
            else self.argument(n)
            for n in nodes
        ]

    def argument(self, node: gast.expr) -> gast.expr:
        """An argument: a short constant expression such as `(2, 3)` may stay."""
        if _is_literal(node):
            return node
        return self.atom(node)

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

    def new_temp(self, base: str) -> str:
        """A varying temporary that several branches assign."""
        id = self.names.fresh(base)
        self.temps.add(id)
        self.varying.names.add(id)
        return id

    def of_Lambda(self, node: gast.Lambda) -> gast.expr:
        id = self.new_temp("function")
        body = [gast.copy_location(gast.Return(node.body), node)]
        definition = gast.FunctionDef(id, node.args, body, [], None, None, [])
        self.emit(gast.copy_location(definition, node))
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
        args = self.atoms(node.args)
        keywords = [gast.keyword(k.arg, self.argument(k.value)) for k in node.keywords]
        return self.out_argument(gast.Call(function, args, keywords))

    def out_argument(self, node: gast.Call) -> gast.expr:
        """`np.add(a, b, out=c)` is `c[...] = np.add(a, b)`."""
        out = next((k for k in node.keywords if k.arg == "out"), None)
        if out is None or not isinstance(out.value, (gast.Name, gast.Tuple)):
            return node
        target = out.value
        if isinstance(target, gast.Tuple):
            if len(target.elts) != 1:
                return node
            target = target.elts[0]
        rest = [k for k in node.keywords if k.arg != "out"]
        value = self.temp(gast.Call(node.func, node.args, rest))
        whole = gast.Subscript(target, syntax.const(...), None)
        self.emit(syntax.assign(whole, value))
        return target

    def special_call(self, node: gast.Call) -> gast.expr | None:
        """Builtins that are loops: sum, reduce, map, list(generator)."""
        is_builtin = self.varying.is_builtin
        plain = not node.keywords and not any(
            isinstance(a, gast.Starred) for a in node.args
        )
        if isinstance(node.func, gast.Lambda):
            return None
        if is_builtin(node.func, "sum") and node.args and len(node.args) <= 2:
            start = node.args[1] if len(node.args) == 2 else syntax.const(0)
            if node.keywords:
                start = node.keywords[0].value
            return self.fold(node.args[0], start, _plus)
        if is_builtin(node.func, "max", "min") and plain:
            return self.extreme(node)
        if is_builtin(node.func, "list", "tuple", "map", "filter") and plain:
            return self.sequence_call(node)
        value = self.varying.value(node.func)
        import functools
        import math

        if value is functools.reduce and plain and len(node.args) >= 2:
            function = self.atom(node.args[0])
            start = node.args[2] if len(node.args) == 3 else None

            def combine(acc: gast.expr, item: gast.expr) -> gast.expr:
                return gast.Call(function, [acc, item], [])

            return self.fold(node.args[1], start, combine)
        if value is functools.partial and node.args:
            return self.partial_call(node)
        if value is math.prod and plain and len(node.args) == 1:
            return self.fold(node.args[0], syntax.const(1), _times)
        return None

    def partial_call(self, node: gast.Call) -> gast.expr:
        """`partial(f, a, k=v)` as a function defined here."""
        function, *args = self.atoms(node.args)
        keywords = [gast.keyword(k.arg, self.atom(k.value)) for k in node.keywords]
        more, named = self.names.fresh("args"), self.names.fresh("kwargs")
        starred = gast.Starred(syntax.name(more), syntax.LOAD)
        call = gast.Call(
            function,
            [*args, starred],
            [*keywords, gast.keyword(None, syntax.name(named))],
        )
        parameters = gast.arguments(
            [], [], _parameter(more), [], [], _parameter(named), []
        )
        return self.of_Lambda(
            gast.copy_location(gast.Lambda(parameters, call), node)
        )

    def extreme(self, node: gast.Call) -> gast.expr | None:
        """`max(a, b, c)` two by two, and `max(xs)` as a loop."""
        function = node.func
        if len(node.args) == 1:

            def combine(acc: gast.expr, item: gast.expr) -> gast.expr:
                return gast.Call(syntax.clone(function), [acc, item], [])

            return self.fold(node.args[0], None, combine)
        if len(node.args) == 2:
            return None
        first, second, *rest = self.atoms(node.args)
        value: gast.expr = gast.Call(function, [first, second], [])
        for argument in rest:
            held = self.temp(value)
            value = gast.Call(syntax.clone(function), [held, argument], [])
        return value

    def sequence_call(self, node: gast.Call) -> gast.expr | None:
        """`list(f(x) for x in xs)`, `list(map(f, xs))` as comprehensions."""
        if self.varying.is_builtin(node.func, "map") and len(node.args) >= 2:
            function = self.atom(node.args[0])
            items = [self.names.fresh("item") for _ in node.args[1:]]
            targets: list[gast.expr] = [syntax.name(i, store=True) for i in items]
            iters = node.args[1:]
            over = iters[0] if len(iters) == 1 else syntax.call("zip", *iters)
            target = (
                targets[0] if len(targets) == 1 else gast.Tuple(targets, syntax.STORE)
            )
            elt = gast.Call(function, [syntax.name(i) for i in items], [])
            comprehension = gast.comprehension(target, over, [], 0)
            return self.of_ListComp(gast.ListComp(elt, [comprehension]))
        if self.varying.is_builtin(node.func, "filter"):
            raise self.refuse(
                node, "`filter` on differentiated values", "a list comprehension"
            )
        if len(node.args) != 1:
            return None
        inner = node.args[0]
        is_map = isinstance(inner, gast.Call) and self.varying.is_builtin(
            inner.func, "map"
        )
        if isinstance(inner, gast.GeneratorExp) or is_map:
            items = self.atom(inner)
            if self.varying.is_builtin(node.func, "tuple"):
                return gast.Call(node.func, [items], [])
            return items
        lazy = isinstance(inner, gast.Call) and self.varying.is_builtin(
            inner.func, "zip", "enumerate", "reversed"
        )
        view = (
            isinstance(inner, gast.Call)
            and isinstance(inner.func, gast.Attribute)
            and inner.func.attr in ("values", "items", "keys")
        )
        if lazy or view:
            id = self.names.fresh("item")
            comprehension = gast.comprehension(
                syntax.name(id, store=True), inner, [], 0
            )
            self.varying.names.add(id)
            items = self.of_ListComp(
                gast.ListComp(syntax.name(id), [comprehension])
            )
            if self.varying.is_builtin(node.func, "tuple"):
                return gast.Call(node.func, [items], [])
            return items
        return None

    def fold(
        self,
        iterable: gast.expr,
        start: gast.expr | None,
        combine: Callable[[gast.expr, gast.expr], gast.expr],
    ) -> gast.expr:
        """`acc = start; for item in iterable: acc = combine(acc, item)`."""
        total = self.new_temp("total")
        if start is None:
            sequence = self.atom(
                gast.ListComp(iterable.elt, iterable.generators)
                if isinstance(iterable, gast.GeneratorExp)
                else iterable
            )
            start = gast.Subscript(sequence, syntax.const(0), syntax.LOAD)
            iterable = syntax.expression("s[1:]", s=sequence)
        self.bind(syntax.name(total, store=True), start)
        step = [
            syntax.assign(total, combine(syntax.name(total), syntax.name("item")))
        ]
        if isinstance(iterable, (gast.GeneratorExp, gast.ListComp)):
            value = combine(syntax.name(total), iterable.elt)
            step = [syntax.assign(total, value)]
            loop = self.comprehension_loops(iterable.generators, step)
        else:
            id = self.new_temp("item")
            step = [syntax.assign(total, combine(syntax.name(total), syntax.name(id)))]
            target = syntax.name(id, store=True)
            loop = [gast.For(target, iterable, step, [], None)]
        self.loop_statements(loop)
        return syntax.name(total)

    def of_ListComp(self, node: Any) -> gast.expr:
        """`[f(x) for x in xs if c]` as a loop that appends."""
        id = self.new_temp("values")
        self.emit(syntax.assign(id, gast.List([], syntax.LOAD)))
        append = syntax.expression("values.append(v)", values=syntax.name(id), v=node.elt)
        loop = self.comprehension_loops(node.generators, [gast.Expr(append)])
        self.loop_statements(loop)
        return syntax.name(id)

    of_GeneratorExp = of_ListComp

    def of_DictComp(self, node: gast.DictComp) -> gast.expr:
        id = self.new_temp("values")
        self.emit(syntax.assign(id, gast.Dict([], [])))
        store = gast.Subscript(syntax.name(id), node.key, None)
        loop = self.comprehension_loops(
            node.generators, [syntax.assign(store, node.value)]
        )
        self.loop_statements(loop)
        return syntax.name(id)

    def comprehension_loops(self, generators: list, step: list) -> list[gast.stmt]:
        """Nested loops of a comprehension; its targets get names of their own."""
        renamed: dict[str, str] = {}
        body: list[gast.stmt] = step
        for generator in reversed(generators):
            for test in reversed(generator.ifs):
                body = [gast.If(test, body, [])]
            body = [gast.For(generator.target, generator.iter, body, [], None)]
            for target in sorted(syntax.names_written(generator.target)):
                fresh = self.names.fresh(target)
                renamed[target] = fresh
                if target in self.varying.names:
                    self.varying.names.add(fresh)
        copy = syntax.clone(body)
        first = copy[0].iter
        copy[0].iter = syntax.const(None)
        syntax.rename(copy, renamed)
        copy[0].iter = first
        return copy

    def loop_statements(self, loop: list[gast.stmt]) -> None:
        """Lower loops that were written here."""
        for stmt in syntax.walk(loop):
            if isinstance(stmt, gast.stmt) and not hasattr(stmt, "lineno"):
                gast.copy_location(stmt, self.at)
        find_varying(loop, [], self.varying)
        for stmt in loop:
            self.statement(stmt)


def _parameter(name: str) -> gast.Name:
    return gast.Name(name, gast.Param(), None, None)


def _plus(a: gast.expr, b: gast.expr) -> gast.expr:
    return gast.BinOp(a, gast.Add(), b)


def _times(a: gast.expr, b: gast.expr) -> gast.expr:
    return gast.BinOp(a, gast.Mult(), b)


def _is_literal(node: gast.expr) -> bool:
    """Numbers, strings, None and tuples of them."""
    if isinstance(node, (gast.Tuple, gast.List)):
        return bool(node.elts) and all(map(_is_literal, node.elts))
    return isinstance(node, gast.Constant) or (
        isinstance(node, gast.UnaryOp) and isinstance(node.operand, gast.Constant)
    )


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
