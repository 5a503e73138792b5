"""Write out the transforms that are called inside a function.

Before:                               After:

    value = jvp(h, primals, tangents)     value = jvp_h(primals[0], tangents[0], x)

    value = vjp(h, a)                     both = h_forward(a, x)
    y, pullback = value                   y_2, saved = both
                                          def pullback_2(dy):
                                              dx = h_backward(saved, dy)
                                              return (dx,)
                                          y = y_2
                                          pullback = pullback_2

    dh = grad(h)                          value = grad_h(1.0, x)
    value = dh(1.0)

What is called then is an ordinary function with source. It is generated for the types
that all executions of the call have in common, when everything that can be settled
without it is settled.
"""

from __future__ import annotations

import inspect
from typing import Any

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.analysis.nested import NestedCall, Unclear, may_move
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    Array,
    Const,
    Scalar,
    Transformed,
    Type,
    Unknown,
    dtype_of,
    is_number,
    parts,
    shape_of,
    with_active,
)
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.unit import Unit
from srcjax.transforms.inline import Inliner
from srcjax.transforms.places import zero_of
from srcjax.transforms.unknown_functions import (
    call_when_run,
    kept_in_loops,
    statements_with_calls,
)


def write_nested(program: Program) -> bool:
    """Write out the calls whose arguments are known; True if there were any.

    Where none is known in full, the first one is written for what is known of it.
    """
    errors: list[Exception] = []
    found = [
        (unit, stmt, call)
        for unit in program.reached()
        for stmt, call in _calls(program, unit, errors)
    ]
    if errors and not found:
        if call_when_run(program):
            return True
        raise errors[0]
    if kept_in_loops(program) and call_when_run(program):
        return True
    chosen = [f for f in found if all(map(_known, [*f[2].types, *f[2].tangents]))]
    for unit, stmt, call in chosen or found[:1]:
        writer = _Writer(program, unit, stmt)
        new = writer.write(call)
        for s in new:
            s.user_line = getattr(stmt, "user_line", None)
            if getattr(s, "lineno", None) is None:
                gast.copy_location(s, stmt)
        # Each block is another one now if parts of a result before were put in place.
        for block in syntax.blocks(unit.node.body):
            block[:] = [s for b in block for s in (new if b is stmt else [b])]
        writer.forward_parts()
    if found:
        for unit in {id(f[0]): f[0] for f in found}.values():
            _drop_unused(program, unit)
    return bool(found)


def _known(t: Type) -> bool:
    if isinstance(t, Unknown):
        return False
    if isinstance(t, Array) and (t.dtype is None or t.shape is None):
        return False
    return all(map(_known, parts(t)))


def _calls(
    program: Program, unit: Unit, errors: list[Exception]
) -> list[tuple[Any, NestedCall]]:
    """Statements `name = call` (or the call alone)."""
    found = []
    for _, stmt in statements_with_calls(unit):
        callees = program.facts.callees.get(id(stmt.value), [])
        errors += [c.error for c in callees if isinstance(c, Unclear)]
        nested = [c for c in callees if isinstance(c, NestedCall)]
        if len(callees) == 1 and nested:
            found.append((stmt, nested[0]))
        elif nested:
            errors.append(
                error_at(
                    UnsupportedError,
                    unit.source,
                    stmt,
                    "which function is transformed here, is only known when the "
                    "program runs",
                    "call each function in a branch of its own",
                )
            )
    return found


def _drop_unused(program: Program, unit: Unit) -> None:
    """Take away what made a function that is not called by its name any more."""

    def made(stmt: Any) -> bool:
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        if not isinstance(target, gast.Name):
            return False
        if target.id in syntax.names_read(unit.node):
            return False
        if isinstance(stmt.value, gast.Name):  # of another name's function
            kinds = [v.after.get(target.id) for v in program.facts.of(stmt)]
            return bool(kinds) and all(isinstance(t, Transformed) for t in kinds)
        callees = program.facts.callees.get(id(stmt.value), [])
        maker = callees[0] if len(callees) == 1 else None
        curried = hasattr(maker, "__srcjax_nested__") and len(stmt.value.args) == 1
        return curried or bool(getattr(maker, "__srcjax_maker__", False))

    def visit(block: list[Any]) -> list[Any]:
        kept = [s for s in block if not made(s)]
        for stmt in kept:
            syntax.rewrite_blocks(stmt, visit)
        return kept

    size = -1
    while size != len(list(syntax.walk(unit.node))):
        size = len(list(syntax.walk(unit.node)))
        unit.node.body = visit(unit.node.body)


class _Writer:
    """Writes out one call."""

    def __init__(self, program: Program, unit: Unit, stmt: Any) -> None:
        self.program = program
        self.unit = unit
        self.stmt = stmt
        self.inliner = Inliner(program, unit)
        self.before: list[gast.stmt] = []
        #: Names of the parts of the result, if it is a tuple made here.
        self.parts: list[str] = []

    def write(self, call: NestedCall) -> list[gast.stmt]:
        """The statements that stand for the call."""
        made: list[gast.stmt] = getattr(self, f"write_{call.kind}")(call)
        return [*self.before, *made]

    def result(self, value: gast.expr) -> gast.stmt:
        """The statement with another value."""
        if isinstance(self.stmt, gast.Expr):
            return gast.Expr(value)
        return gast.Assign(self.stmt.targets, value, None)

    def temp(self, value: gast.expr, base: str) -> gast.Name:
        id = self.fresh(base)
        self.before.append(syntax.assign(id, value))
        return syntax.name(id)

    def fresh(self, base: str) -> str:
        id = self.unit.names.fresh(base)
        self.unit.temps.add(id)
        self.unit.varying.add(id)
        return id

    def refuse(self, reason: str, instead: str) -> Exception:
        return error_at(UnsupportedError, self.unit.source, self.stmt, reason, instead)

    # -- what is called -------------------------------------------------------------

    def version(self, transform: Any, call: NestedCall) -> Any:
        """The generated code, which holds while all that it refers to is the same."""
        found = transform.version_of(call.types)
        for guard in found.guards:
            self.program.rest_on(guard)
        return found

    def function(self, value: Any) -> gast.Name:
        self.program.generated.add(id(value))
        return syntax.name(self.inliner.constant(value, value.__name__))

    def resolved(self, value: gast.expr) -> gast.expr:
        """The expression with names for NumPy and for helpers."""
        for name, meant in (("np", np), ("zeros_like", runtime.zeros_like)):
            if name in syntax.names_read(value):
                try:
                    known = self.program.look(self.unit, name) is meant
                except KeyError:
                    known = False
                if not known or name in syntax.names_written(self.unit.node):
                    syntax.rename(value, {name: self.inliner.constant(meant, name)})
        return value

    def arguments(self, call: NestedCall, version: Any) -> list[gast.expr]:
        """The arguments of the generated function."""
        node = self.stmt.value
        items = self.written_out(list(node.args), call)
        if call.kind == "jvp":
            items = self.items(self.operand(node, 1, "primals"))
        elif call.kind == "vjp":
            items = items[1:]
        keywords = {k.arg: k.value for k in node.keywords}
        found: list[gast.expr] = []
        for (kind, what), given, wanted in zip(
            call.lifted.given, call.types, version.types, strict=True
        ):
            if kind == "arg":
                value = items[what] if isinstance(items, list) else items(what)
            elif kind == "keyword":
                value = keywords[what]
            elif kind == "value":
                value = self.constant(what)
            elif kind == "expression":
                value = syntax.clone(what)
            else:
                value = syntax.name(what)
            found.append(self.as_wanted(value, given, wanted))
        return found

    def operand(self, node: gast.Call, position: int, keyword: str) -> gast.expr:
        """An argument of the transform itself."""
        position -= self.curried(node)
        if position < len(node.args):
            found: gast.expr = node.args[position]
            return found
        return next(k.value for k in node.keywords if k.arg == keyword)

    def curried(self, node: gast.Call) -> bool:
        """Whether the function is not among the arguments: `jvp(f)(primals, ...)`."""
        count = len(node.args) + sum(
            k.arg in ("f", "primals", "tangents") for k in node.keywords
        )
        return count == 2

    def written_out(self, args: list[Any], call: NestedCall) -> list[Any]:
        """`f(x, *rest)` with a known number of items, item by item."""
        stars = [k for k, a in enumerate(args) if isinstance(a, gast.Starred)]
        if not stars:
            return args
        first = 1 if call.kind in ("jvp", "vjp") else 0
        given = [what for kind, what in call.lifted.given if kind == "arg"]
        count = first + len(given)
        if len(stars) > 1 or call.kind == "jvp":
            raise self.refuse("`*args` in this call", "the arguments one by one")
        at = stars[0]
        item = self.items(args[at].value)
        inside = [item(k) for k in range(count - len(args) + 1)]
        return [*args[:at], *inside, *args[at + 1 :]]

    def items(self, node: gast.expr) -> Any:
        """Item number `i` of a tuple, in a name where it is no atom."""
        held: dict[int, gast.expr] = {}

        def item(i: int) -> gast.expr:
            if i not in held:
                index = gast.Subscript(syntax.clone(node), syntax.const(i), syntax.LOAD)
                held[i] = self.temp(index, "item")
            return syntax.clone(held[i])

        return item

    def constant(self, value: Any) -> gast.expr:
        """A default as a literal, or as a free name."""
        if isinstance(value, (bool, int, float, str, type(None))) and (
            value == value and value not in (float("inf"), -float("inf"))
        ):
            return syntax.const(value)
        return syntax.name(self.inliner.constant(value, "default"))

    def as_wanted(self, value: gast.expr, given: Type, wanted: Type) -> gast.expr:
        """A Python int where a real number is meant is made a float."""
        real = isinstance(wanted, Scalar) and wanted.python and _kind(wanted) == "f"
        if not real or not is_number(given) or _kind(given) != "i":
            return value
        if isinstance(value, gast.Constant):
            return syntax.const(float(value.value))
        if isinstance(given, Scalar) and not given.python:
            return value
        return self.temp(syntax.call("float", value), "number")

    # -- the three ways -------------------------------------------------------------

    def write_call(self, call: NestedCall) -> list[gast.stmt]:
        transform = call.lifted.function.__srcjax_transform__
        version = self.version(transform, call)
        args = self.arguments(call, version)
        return [self.result(gast.Call(self.function(version.function), args, []))]

    def write_jvp(self, call: NestedCall) -> list[gast.stmt]:
        assert call.transform_of is not None
        function = call.lifted.function
        transform = _transform(
            call.transform_of(function, call.directions, len(call.types))
        )
        version = self.version(transform, call)
        args = self.arguments(call, version)
        item = self.items(self.operand(self.stmt.value, 2, "tangents"))
        dots: list[gast.expr] = []
        for i, t in zip(call.directions, call.tangents, strict=True):
            position = call.lifted.given[i][1]
            dots.append(self.tangent(item(position), t, call.types[i]))
        signature = inspect.signature(version.function)
        last = list(signature.parameters.values())[len(args) :]
        keywords: list[gast.keyword] = []
        if last and all(p.kind is p.KEYWORD_ONLY for p in last):
            keywords = [
                gast.keyword(p.name, d) for p, d in zip(last, dots, strict=True)
            ]
            dots = []
        value = gast.Call(self.function(version.function), [*args, *dots], keywords)
        if not call.has_aux:
            return [self.result(value)]
        # ((y, aux), (y_dot, _)) -> (y, y_dot, aux)
        both = self.temp(value, "both")
        values = self.temp(syntax.expression("b[0]", b=both), "values")
        moves = self.temp(syntax.expression("b[1]", b=both), "tangents")
        parts = [
            self.temp(syntax.expression("v[0]", v=values), "y"),
            self.temp(syntax.expression("t[0]", t=moves), "y_dot"),
            self.temp(syntax.expression("v[1]", v=values), "aux"),
        ]
        return self.as_parts([p.id for p in parts])

    def tangent(self, value: gast.expr, t: Type, primal: Type) -> gast.expr:
        """A tangent of the shape and dtype of its primal."""
        shape, wanted = shape_of(t), shape_of(primal)
        known = shape is not None and wanted is not None
        if known and len(shape or ()) != len(wanted or ()):
            raise self.refuse(
                f"jvp: a tangent has shape {shape}; the primal has {wanted}",
                "a tangent of the same shape as the primal",
            )
        if isinstance(t, (Scalar, Const)) and _kind(t) in ("i", "b"):
            return self.temp(syntax.call("float", value), "tangent")
        if isinstance(t, Array) and isinstance(primal, Array):
            dtype, own = dtype_of(t), dtype_of(primal)
            if dtype is not None and own is not None and dtype != own:
                if own.kind != "f":
                    own = np.dtype(float)
                name = syntax.const(own.name)
                cast = syntax.expression("v.astype(d)", v=value, d=name)
                return self.temp(cast, "tangent")
        return value

    def write_vjp(self, call: NestedCall) -> list[gast.stmt]:
        assert call.transform_of is not None
        function = call.lifted.function
        transform = _transform(
            call.transform_of(function, call.directions, len(call.types))
        )
        transform.ints_are_real = not any(
            may_move(call.types[i]) for i in call.directions
        )
        version = self.version(transform, call)
        args = self.arguments(call, version)
        backward = getattr(version.loaded, version.module.functions[-1].name)
        both = self.temp(gast.Call(self.function(version.function), args, []), "both")
        y, saved = self.fresh("y"), self.fresh("saved")
        targets: list[gast.expr] = [
            syntax.name(y, store=True),
            syntax.name(saved, store=True),
        ]
        made: list[gast.stmt] = [
            gast.Assign([gast.Tuple(targets, syntax.STORE)], both, None)
        ]
        names = [y]
        if call.has_aux:
            value, aux = self.fresh("value"), self.fresh("aux")
            made += syntax.statements(f"{value} = {y}[0]\n{aux} = {y}[1]")
            names = [value, aux]
        pullback = self.fresh("pullback")
        made.append(
            self.pullback(
                call,
                pullback,
                saved,
                backward,
                names[1:],
                version.module.restores,
                self.gradients(call, args),
            )
        )
        self.parts = [names[0], pullback, *names[1:]]
        return [*made, *self.as_parts(self.parts)]

    def gradients(self, call: NestedCall, args: list[gast.expr]) -> str:
        """What a pullback gives, of `dx`: zeros for what has no real number."""
        given = [k for k, (kind, _) in enumerate(call.lifted.given) if kind == "arg"]
        one = len(call.directions) == 1
        if len(given) == len(call.directions):
            return "(dx,)" if one else "dx"
        dx = iter(["dx"] if one else [f"dx[{k}]" for k in range(len(call.directions))])
        found = [
            next(dx) if k in call.directions else self.zero(call.types[k], args[k])
            for k in given
        ]
        return f"({', '.join(found)})"

    def zero(self, t: Type, value: gast.expr) -> str:
        """The text of a zero of what holds no real number."""
        if is_number(t):
            return "0.0"
        zero = self.resolved(syntax.expression("zeros_like(v)", v=value))
        return self.temp(zero, "zero").id

    def pullback(
        self,
        call: NestedCall,
        name: str,
        saved: str,
        backward: Any,
        aux: list[str],
        once: bool,
        result: str,
    ) -> gast.stmt:
        """`def pullback(dy): ...`, which is put in place of its calls later."""
        function = self.function(backward).id
        seed: gast.expr = syntax.name("dy")
        if aux:
            zero = zero_of(with_active(call.aux, True), syntax.name(aux[0]))
            seed = gast.Tuple([seed, self.resolved(zero)], syntax.LOAD)
        text = (
            f"def {name}(dy):\n"
            f"    dx = {function}({saved}, seed)\n"
            f"    return {result}\n"
        )
        made: Any = syntax.statements(text, seed=seed)[0]
        made.once = once
        return gast.copy_location(made, self.stmt)

    # -- the parts of a result ------------------------------------------------------

    def as_parts(self, names: list[str]) -> list[gast.stmt]:
        """`result = (y, pullback)`, if anything reads it as a whole."""
        self.parts = names
        if isinstance(self.stmt, gast.Expr):
            return []
        items: list[gast.expr] = [syntax.name(n) for n in names]
        return [self.result(gast.Tuple(items, syntax.LOAD))]

    def forward_parts(self) -> None:
        """Let what takes the result apart read the parts themselves."""
        if not self.parts or isinstance(self.stmt, gast.Expr):
            return
        target = self.stmt.targets[0]
        if not isinstance(target, gast.Name):
            return
        if syntax.count_bindings(self.unit.node, target.id) != 1:
            return
        self.unit.node.body = self.with_parts(self.unit.node.body, target.id)
        if not syntax.count_reads(self.unit.node, target.id):
            self.unit.node.body = _without_binding(self.unit.node.body, target.id)

    def with_parts(self, block: list[Any], name: str) -> list[Any]:
        out: list[Any] = []
        for stmt in block:
            syntax.rewrite_blocks(stmt, lambda block: self.with_parts(block, name))
            out += self.part_of(stmt, name)
        return out

    def part_of(self, stmt: Any, name: str) -> list[Any]:
        if not isinstance(stmt, gast.Assign):
            return [stmt]
        value, target = stmt.value, stmt.targets[0]
        if (
            isinstance(target, gast.Tuple)
            and syntax.is_name(value, name)
            and len(target.elts) == len(self.parts)
            and all(isinstance(e, gast.Name) for e in target.elts)
        ):
            new = [
                syntax.assign(e, syntax.name(p))
                for e, p in zip(target.elts, self.parts, strict=True)
            ]
            for s in new:
                gast.copy_location(s, stmt)
                s.user_line = getattr(stmt, "user_line", None)
            return new
        if (
            isinstance(value, gast.Subscript)
            and syntax.is_name(value.value, name)
            and isinstance(value.slice, gast.Constant)
            and value.slice.value in range(len(self.parts))
        ):
            stmt.value = syntax.name(self.parts[value.slice.value])
        return [stmt]


def _without_binding(block: list[Any], name: str) -> list[Any]:
    out = []
    for stmt in block:
        syntax.rewrite_blocks(stmt, lambda block: _without_binding(block, name))
        if not (
            isinstance(stmt, gast.Assign) and syntax.is_name(stmt.targets[0], name)
        ):
            out.append(stmt)
    return out


def _transform(found: Any) -> Any:
    return getattr(found, "__srcjax_transform__", found)


def _kind(t: Type) -> str:
    dtype = dtype_of(t)
    return "" if dtype is None else dtype.kind


# -- pullbacks that can be called again --------------------------------------------


def keep_tapes(functions: list[gast.FunctionDef]) -> None:
    """Let backward functions take from copies of the tapes that they are given.

    Before:                                   After:

        s, s_tape = saved                         s, s_tape = saved
        for _ in range(n):                        s_tape = s_tape.copy()
            s = s_tape.pop()                      for _ in range(n):
                                                      s = s_tape.pop()
    """
    for function in functions:
        used = {
            n.func.value.id
            for n in syntax.walk(function)
            if isinstance(n, gast.Call)
            and isinstance(n.func, gast.Attribute)
            and n.func.attr == "pop"
            and isinstance(n.func.value, gast.Name)
        } & _given_tapes(function)
        saved = function.args.args[0].id
        first = [_copy(saved)] if saved in used else []
        function.body = [*first, *_with_copies(function.body, used)]


def _given_tapes(function: gast.FunctionDef) -> set[str]:
    """The names of what was saved, which is the first parameter, and of its parts."""
    given = {function.args.args[0].id}
    size = 0
    while size != len(given):
        size = len(given)
        for stmt in syntax.walk(function):
            if isinstance(stmt, gast.Assign) and _part_of(stmt.value) in given:
                given |= syntax.names_written(stmt)
            elif isinstance(stmt, gast.For) and syntax.names_read(stmt.iter) & given:
                given |= syntax.names_written(stmt.target)
    return given


def _part_of(value: Any) -> str:
    """The name that an expression is, or takes an item of; "" for anything else."""
    if isinstance(value, gast.Call) and getattr(value.func, "attr", "") == "pop":
        value = value.func.value
    return syntax.root_of(value) or ""


def _copy(name: str) -> gast.stmt:
    return syntax.statements(f"{name} = {name}.copy()")[0]


def _with_copies(block: list[Any], used: set[str]) -> list[Any]:
    out = []
    for stmt in block:
        syntax.rewrite_blocks(stmt, lambda block: _with_copies(block, used))
        out.append(stmt)
        new = (gast.List, gast.Dict)
        if isinstance(stmt, gast.Assign) and not isinstance(stmt.value, new):
            out += [_copy(n) for n in sorted(syntax.names_written(stmt) & used)]
    return out
