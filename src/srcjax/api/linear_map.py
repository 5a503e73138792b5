"""The linear map of `linearize`: tangents alone, beside values that are kept.

    def f_linear(residuals, x_dot):
        ...
        return y_dot

    def linearize_f(x):
        y, saved = f_forward(x)
        return y, f_residuals(saved)

The pullback is a linear function of the adjoint, so its own pullback is the map from
tangents to tangents. It reads what the pullback read (`f_residuals` puts that into the
order of the map), and computes no value of the function again.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import pipeline, runtime, syntax
from srcjax.analysis.request import Request
from srcjax.analysis.types import (
    Array,
    Tuple,
    Type,
    is_active,
    is_number,
    mapping,
    parts,
    with_active,
)
from srcjax.backends.joining import with_forward
from srcjax.backends.module import Module
from srcjax.errors import UnsupportedError
from srcjax.ops.effects import OWNER
from srcjax.transforms.call_effects import effect_of
from srcjax.versions.callables import Transform
from srcjax.versions.facts import own_memory


class Linearized(Transform):
    """`linearize`: `linearize_f(x) -> (y, residuals)` and the linear map after it."""

    name = "linearize"

    def summary(self) -> str:
        return f"Value of {self.shown_name}, and what its linear map reads"

    def along(self, values: list[Any], tangents: list[Any], weights: Any) -> Any:
        args, kwargs = self.arguments(values)
        version, values, keywords = self.prepare(tuple(args), kwargs)
        _, residuals = version.function(*values, **keywords)
        linear = getattr(version.loaded, version.module.functions[-2].name)
        return weights, linear(residuals, *tangents)

    def opposite(self) -> Transform | None:
        return self.OPPOSITES["forward"](self.function, tuple(self.wrt), False)

    def build(self, types: list[Type], typed: bool) -> Module:
        module = pipeline.vjp(self.request(types))
        value, saved = self.kept(module, types)
        if module.restores:
            raise UnsupportedError("the pullback writes to what is saved for it")
        backward = module.functions[-1]
        first, second = (a.id for a in backward.args.args)
        adjoint = with_active(value, True)
        if has_counts(adjoint):
            raise UnsupportedError("a part of the value is a number without an adjoint")
        given = {
            first: own_memory(saved, ("param", first)),
            second: own_memory(adjoint, ("param", second)),
        }
        function = getattr(module.load(), backward.name)
        name = self.source.name
        found = pipeline.transposed(Request(function, given, [second]), name)
        linear, residuals = found.functions[-1], found.functions[-2]
        self.rename(linear, backward)
        unread = second not in syntax.names_read(residuals.body)
        if unread:
            residuals.args.args = residuals.args.args[:1]
        last = residuals.body[-1]
        alone = isinstance(last.value, gast.Tuple) and syntax.equal(
            last.value.elts[0], syntax.const(None)
        )
        if alone:
            last.value = last.value.elts[1]
        found.guards = [*module.guards, *found.guards]
        found.opinions |= module.opinions
        found.stages = module.stages.and_those_of(found.stages, "reverse", "transpose")
        found.result = module.result
        if found.restores or not only_tapes(linear):
            raise UnsupportedError("the linear map writes to what is kept for it")
        pipeline.keep_saved(found)
        found = with_forward(module, found)
        self.add_entry(found, module.entry, value, unread, alone)
        found.print()
        return found

    def kept(self, module: Module, types: list[Type]) -> tuple[Type, Type]:
        """The types of the value, and of what the forward function saves."""
        named = dict(zip(self.parameters, types, strict=True))
        quiet = {n: with_active(t, False) for n, t in named.items()}
        forward = getattr(module.load(), module.entry)
        with mapping(False):
            both = pipeline.result_type(Request(forward, quiet, []))
        if not isinstance(both, Tuple) or len(both.items) != 2:
            raise UnsupportedError("what the forward function saves is not known")
        return both.items[0], both.items[1]

    def zero(self, module: Module, value: Type, y: str) -> str:
        """An adjoint of `y`, whatever it is: the residuals do not depend on it."""
        if is_number(value):
            return "0.0"
        if isinstance(value, Array):
            module.values["np"] = np
            return f"np.zeros_like({y})"
        module.values["zeros_like"] = runtime.zeros_like
        return f"zeros_like({y})"

    def add_entry(
        self, module: Module, forward: str, value: Type, unread: bool, alone: bool
    ) -> None:
        """`linearize_f`, which calls the forward function and that for the residuals.

        They may not read an adjoint (`unread`), and are `alone` or go with a value.
        """
        residuals = module.functions[-2].name
        source = next(f for f in module.functions if f.name == forward)
        taken = set(module.values) | {f.name for f in module.functions}
        entry = syntax.Names(taken).fresh(f"linearize_{self.source.name}")
        arguments = syntax.clone(source.args)
        names = syntax.Names({a.id for a in syntax.walk(arguments) if is_name(a)})
        y, saved = names.fresh("y"), names.fresh("saved")
        given = [a.id for a in (*arguments.posonlyargs, *arguments.args)]
        if arguments.vararg is not None:
            given.append(f"*{arguments.vararg.id}")
        given += [f"{a.id}={a.id}" for a in arguments.kwonlyargs]
        if arguments.kwarg is not None:
            given.append(f"**{arguments.kwarg.id}")
        seed = "" if unread else f", {self.zero(module, value, y)}"
        text = (
            f"def {entry}():\n"
            f"    {y}, {saved} = {forward}({', '.join(given)})\n"
            f"    return {y}, {residuals}({saved}{seed}){'' if alone else '[1]'}\n"
        )
        node: Any = syntax.statements(text)[0]
        node.args = arguments
        module.functions = [*module.functions, node]
        module.name = module.entry = entry

    def rename(self, linear: gast.FunctionDef, backward: gast.FunctionDef) -> None:
        """Names of tangents: what is the adjoint of `dx` is `x_dot`."""
        adjoints = syntax.all_names(backward)
        names = syntax.Names(syntax.all_names(linear))
        kept, moved = (a.id for a in linear.args.args)
        wrt = self.wrt
        found: dict[str, str] = {kept: names.fresh("residuals")}
        dots = [names.fresh(f"{n}_dot") for n in wrt]
        if len(wrt) == 1:
            found[moved] = dots[0]
        for name in sorted(syntax.all_names(linear)):
            if name.startswith("dd") and name[1:] in adjoints and name not in found:
                found[name] = names.fresh(f"{name[2:]}_dot")
        if len(wrt) > 1:
            if only_items(linear.body, moved):
                linear.body = [with_items(s, moved, dots) for s in linear.body]
                args = [gast.Name(d, gast.Param(), None, None) for d in dots]
                linear.args.args = [linear.args.args[0], *args]
            else:
                found[moved] = names.fresh("tangents")
        syntax.rename(linear.body, found)
        for a in linear.args.args:
            a.id = found.get(a.id, a.id)


def only_tapes(linear: gast.FunctionDef) -> bool:
    """Whether what changes containers takes from the end of a list, or is their maker.

    Lists that are kept may only be taken from: they are copied before.
    """
    made: dict[str, int] = {}
    for stmt in syntax.walk(linear.body):
        if isinstance(stmt, gast.Assign) and is_name(stmt.targets[0]):
            new = is_new_container(stmt.value)
            made[stmt.targets[0].id] = made.get(stmt.targets[0].id, 0) + new
    for node in syntax.walk(linear.body):
        if not (isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute)):
            continue
        name, owner = node.func.attr, getattr(node.func.value, "id", "")
        if name == "pop" and not node.args and not node.keywords:
            continue
        effect = effect_of(node)
        if OWNER not in effect.writes and not effect.to_all:
            continue
        if not made.get(owner) or made[owner] != syntax.count_bindings(linear, owner):
            return False
    return True


def is_new_container(value: gast.expr) -> bool:
    """Whether the expression makes a list or dict: `[0.0] * len(xs)`, `d.copy()`."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
        return is_new_container(value.left) or is_new_container(value.right)
    if isinstance(value, gast.Call):
        function = value.func
        copied = isinstance(function, gast.Attribute) and function.attr == "copy"
        return copied or syntax.dotted(function) in ("list", "dict", "zeros_like")
    return isinstance(value, (gast.List, gast.ListComp, gast.Dict, gast.DictComp))


def has_counts(t: Type) -> bool:
    """Whether a part is a number that has no adjoint: its tangent is a zero."""
    if is_number(t) or isinstance(t, Array):
        return not is_active(t)
    return any(map(has_counts, parts(t)))


def is_name(node: Any) -> bool:
    return isinstance(node, gast.Name)


def only_items(body: list[Any], name: str) -> bool:
    """Whether all that is read of a tuple is its items."""
    whole = syntax.count_reads(body, name)
    items = [
        n
        for n in syntax.walk(body)
        if isinstance(n, gast.Subscript)
        and syntax.is_name(n.value, name)
        and isinstance(n.slice, gast.Constant)
        and isinstance(n.ctx, gast.Load)
    ]
    return whole == len(items) and name not in syntax.names_written(body)


def with_items(stmt: Any, name: str, items: list[str]) -> Any:
    """The statement with names for the items of a tuple."""

    def visit(node: Any) -> Any:
        if isinstance(node, gast.Subscript) and syntax.is_name(node.value, name):
            return syntax.name(items[node.slice.value])
        return node

    return syntax.map_expressions(stmt, visit)


__all__ = ["Linearized"]
