"""Numbers of arrays on the device, in Python that was written for NumPy's.

    y_0 = y[0]          ->  y_0 = element(y[0])
    for v in x:         ->  for v in elements(x):
    a, b = x            ->  a, b = elements(x)
    total += x[0]       ->  total = element(total)
                            total += x[0]

NumPy takes a number out of its array, and no later write reaches it. CuPy's `y[0]` is
an array without axes in the memory of `y`: what is kept is copied here, unless nothing
is written to. What computes with it at once may have it as it is.
"""

from __future__ import annotations

import builtins
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.backends.cuda import run
from srcjax.backends.cuda.between import Between
from srcjax.backends.module import Module

#: What computes with its parts at once, and keeps none of them.
_USES = (
    *(gast.BinOp, gast.UnaryOp, gast.Compare, gast.Subscript, gast.Attribute),
    *(gast.If, gast.While, gast.Assert, gast.FormattedValue),
)


def for_device(module: Module) -> None:
    """Let the Python of a module do with CuPy's arrays what it does with NumPy's."""

    def known(name: str) -> tuple[Any] | None:
        return (module.values[name],) if name in module.values else None

    between = Between(known)
    functions = []
    for function in module.functions:
        if not is_kernel(function):
            function = syntax.clone(function)
            function.body = [
                syntax.map_expressions(s, between.visit) for s in function.body
            ]
        functions.append(function)
    names = syntax.Names({*syntax.all_names(functions), *module.values})
    writer = Elements(between, names, set(filter(None, map(tuple_of, functions))))
    if any(writes(f.body) for f in functions):
        functions = [f if is_kernel(f) else writer.function(f) for f in functions]
    module.functions[:] = functions
    words = {n: getattr(run, n) for n in between.uses}
    words |= {name: getattr(run, of) for of, name in writer.uses.items()}
    module.values |= words
    if "cupy" in syntax.all_names(functions) and "cupy" not in module.values:
        module.values["cupy"] = run.the_cupy()
    module.print()


def is_kernel(function: gast.FunctionDef) -> bool:
    return bool(function.decorator_list)


def tuple_of(function: gast.FunctionDef) -> str:
    """The name of a function that only returns tuples; else nothing."""
    returned = [n for n in syntax.walk(function.body) if isinstance(n, gast.Return)]
    whole = returned and all(isinstance(r.value, gast.Tuple) for r in returned)
    return str(function.name) if whole else ""


def writes(stmts: list[Any]) -> bool:
    """Whether arrays may be written to."""
    for node in syntax.walk(stmts):
        if isinstance(node, (gast.AugAssign, gast.Delete)):
            return True
        if isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Store):
            return True
        if isinstance(node, gast.Expr) and isinstance(node.value, gast.Call):
            return True
        if isinstance(node, gast.keyword) and node.arg in ("out", None):
            return True
    return False


class Elements(gast.NodeTransformer):
    """Copies numbers that are kept."""

    def __init__(self, between: Between, names: syntax.Names, tuples: set[str]) -> None:
        self.between = between
        #: Functions that give tuples, never arrays.
        self.tuples = tuples
        self.names = names
        #: What is used of `backends.cuda.run`, and by which names.
        self.uses: dict[str, str] = {}
        #: Names that are updated in place, of which other names may be kept.
        self.updated: set[str] = set()

    def function(self, node: gast.FunctionDef) -> gast.FunctionDef:
        self.updated = updated_numbers(node)
        node.body = self.statements(node.body)
        return node

    def word(self, of: str, value: Any) -> Any:
        if of not in self.uses:
            self.uses[of] = self.names.fresh(of)
        return syntax.call(self.uses[of], value)

    def statements(self, stmts: list[Any]) -> list[Any]:
        out: list[Any] = []
        for stmt in stmts:
            new = self.visit(stmt)
            out += new if isinstance(new, list) else [new]
        return out

    def called(self, func: Any) -> Any:
        """What is called, as far as it is known."""
        name = getattr(func, "id", "")
        if name and self.between.known(name) is None:
            return getattr(builtins, name, None)
        return self.between.object_of(func)

    # -- what is kept ----------------------------------------------------------------

    def kept(self, value: Any) -> Any:
        """A value that is kept, copied if it is a number out of an array."""
        value = self.visit(value)
        if isinstance(value, gast.Subscript) and not is_part(value):
            return self.word("element", value)
        return value

    def gone_through(self, value: Any) -> Any:
        """What is gone through, by copies of its numbers."""
        value = self.visit(value)
        if isinstance(value, (gast.Tuple, gast.List, gast.GeneratorExp, gast.ListComp)):
            return value
        if isinstance(value, gast.Call):
            called = self.called(value.func)
            if called is range or goes_through(called):
                return value  # it went through what it was given
            if getattr(value.func, "id", "") in self.tuples:
                return value
        return self.word("elements", value)

    def generic_visit(self, node: Any) -> Any:
        uses = isinstance(node, _USES)
        for name, value in gast.iter_fields(node):
            if isinstance(value, list):
                new = []
                for item in value:
                    if isinstance(item, gast.stmt):
                        new += self.statements([item])
                    elif isinstance(item, gast.expr):
                        new.append(self.visit(item) if uses else self.kept(item))
                    elif isinstance(item, gast.AST):
                        new.append(self.visit(item))
                    else:
                        new.append(item)
                setattr(node, name, new)
            elif isinstance(value, gast.expr):
                setattr(node, name, self.visit(value) if uses else self.kept(value))
            elif isinstance(value, gast.AST):
                setattr(node, name, self.visit(value))
        return node

    # -- expressions -----------------------------------------------------------------

    def visit_Call(self, node: gast.Call) -> Any:  # noqa: N802  (the name of the class)
        called = self.called(node.func)
        take = self.visit if isinstance(called, np.ufunc) else self.kept
        node.func = self.visit(node.func)
        node.args = list(map(take, node.args))
        node.keywords = [gast.keyword(k.arg, take(k.value)) for k in node.keywords]
        if goes_through(called):
            node.args = [
                a if isinstance(a, gast.Starred) else self.gone_through(a)
                for a in node.args
            ]
        return node

    def visit_Starred(self, node: gast.Starred) -> Any:  # noqa: N802
        if isinstance(node.ctx, gast.Load):
            node.value = self.gone_through(node.value)
        return node

    def visit_comprehension(self, node: gast.comprehension) -> Any:
        node.iter = self.gone_through(node.iter)
        node.ifs = [self.visit(test) for test in node.ifs]
        return node

    def visit_Subscript(self, node: gast.Subscript) -> Any:  # noqa: N802
        node.value = self.visit(node.value)
        if isinstance(node.slice, gast.Tuple):
            node.slice.elts = list(map(self.visit, node.slice.elts))
        else:
            node.slice = self.visit(node.slice)
        return node

    # -- statements ------------------------------------------------------------------

    def visit_Assign(self, node: gast.Assign) -> Any:  # noqa: N802
        node.targets = [self.visit(t) for t in node.targets]
        targets = node.targets
        if len(targets) == 1 and isinstance(targets[0], gast.Subscript):
            node.value = self.visit(node.value)  # it is copied there
        elif any(isinstance(t, (gast.Tuple, gast.List)) for t in targets):
            node.value = self.gone_through(node.value)
        else:
            node.value = self.kept(node.value)
        return node

    def visit_AugAssign(self, node: gast.AugAssign) -> Any:  # noqa: N802
        node.target, node.value = self.visit(node.target), self.visit(node.value)
        name = getattr(node.target, "id", "")
        if name not in self.updated:
            return node
        return [syntax.assign(name, self.word("element", syntax.name(name))), node]

    def visit_For(self, node: gast.For) -> Any:  # noqa: N802
        node.iter = self.gone_through(node.iter)
        node.body = self.statements(node.body)
        node.orelse = self.statements(node.orelse)
        return node


#: Those of Python that give, or go through, the items of what they are given.
_GOING_THROUGH = (
    *(iter, enumerate, zip, reversed, list, tuple, map, filter, sorted, sum, max, min),
    *(any, all, set, dict, next),
)


def goes_through(called: Any) -> bool:
    """Whether a function goes through its arguments item by item."""
    home = getattr(called, "__module__", None) or type(called).__module__
    return any(called is f for f in _GOING_THROUGH) or home == "itertools"


def is_part(node: gast.Subscript) -> bool:
    """Whether an index leaves axes in any case, or finds a size."""
    if isinstance(node.value, gast.Attribute) and node.value.attr == "shape":
        return True
    items = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    return any(
        isinstance(i, gast.Slice)
        or isinstance(i, gast.Constant)
        and (i.value is None or i.value is Ellipsis or isinstance(i.value, str))
        for i in items
    )


def updated_numbers(function: gast.FunctionDef) -> set[str]:
    """Names that are updated in place, and whose value something else may hold."""
    updated = {
        node.target.id
        for node in syntax.walk(function.body)
        if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name)
    }
    held = {a.id for a in function.args.args}
    for node in syntax.walk(function.body):
        if isinstance(node, (*_USES, gast.AugAssign, gast.Return)):
            continue
        for _, value in gast.iter_fields(node):
            parts = value if isinstance(value, list) else [value]
            held |= {p.id for p in parts if isinstance(p, gast.Name)}
    return updated & held
