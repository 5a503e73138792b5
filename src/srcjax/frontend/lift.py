"""Take functions that call themselves out of the function that defines them.

Before:                               After:

    def series(x, n):                     def power(x, k):
        def power(k):                         if k == 0:
            if k == 0:                            return 1.0
                return 1.0                    return x * power(x, k - 1)
            return x * power(k - 1)
        return power(n) + power(1)        def series(x, n):
                                              return power(x, n) + power(x, 1)

A function defined inside another is put in place of its calls (`transforms.inline`),
which has no end for one that calls itself. What such a function reads from around
becomes parameters (lambda lifting); it is then like any other function, with a forward
and a backward of its own. Functions that call each other, and the inner functions that
they call, go together.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import CellType, FunctionType
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed
from srcjax.frontend.read import LIFTED, FunctionSource
from srcjax.frontend.unit import parameter_names

SCOPES = (
    gast.FunctionDef,
    gast.Lambda,
    gast.ListComp,
    gast.SetComp,
    gast.DictComp,
    gast.GeneratorExp,
    gast.ClassDef,
)


@dataclass
class _Inner:
    """A function defined inside the one at hand."""

    name: str
    node: gast.FunctionDef
    #: Names from around: variables, and other inner functions.
    free: set[str]
    #: The parameter that each variable from around becomes.
    given: dict[str, str]


def lift_recursive(
    source: FunctionSource, wanted: Callable[[set[str]], bool]
) -> FunctionSource:
    """The source without inner functions that call themselves, if they are wanted.

    They are found under their names like values of the closure. A function that rebinds
    a variable from around (`nonlocal`), has a decorator, or a default that is no
    literal, stays where it is.
    """
    inner = _inner_functions(source)
    lifted = _recursive_with_callees(inner)
    if not lifted or not wanted(lifted):
        return source
    chosen = {name: inner[name] for name in inner if name in lifted}
    names = syntax.Names(syntax.all_names(source.node) | set(source.closure))
    _share_variables(chosen, names)
    node = syntax.clone(source.node)
    node.body = _without(node.body, set(chosen)) or [gast.Pass()]
    node.body = [_Calls(chosen, None).visit(stmt) for stmt in node.body]
    node.body = [*_with_no_value(node, chosen), *node.body]
    functions = _functions(chosen, source)
    cells = {name: CellType(function) for name, function in functions.items()}
    closure = {**source.closure, **cells}
    for name, function in functions.items():
        made = replace(
            source,
            func=function,
            name=name,
            node=_definition(chosen[name], chosen),
            docstring=None,
            closure=closure,
            defaults=dict(
                zip(
                    parameter_names(chosen[name].node.args)[::-1],
                    (function.__defaults__ or ())[::-1],
                    strict=False,
                )
            ),
            bound={},
        )
        LIFTED[function] = made
    return replace(source, node=node, closure=closure)


def _inner_functions(source: FunctionSource) -> dict[str, _Inner]:
    """The functions that may be taken out, by name."""
    body = source.node.body
    local = bound_here(source.node)
    found: dict[str, _Inner] = {}
    for node in own_nodes(body):
        if isinstance(node, gast.FunctionDef):
            name, definition = node.name, node
        elif (
            isinstance(node, gast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], gast.Name)
            and isinstance(node.value, gast.Lambda)
        ):
            name = node.targets[0].id
            returned = gast.copy_location(gast.Return(node.value.body), node.value)
            definition = gast.FunctionDef(
                name, node.value.args, [returned], [], None, None, []
            )
            gast.copy_location(definition, node)
        else:
            continue
        if _may_go(definition) and _bindings(body, name) == 1:
            free = free_names(definition) & local
            found[name] = _Inner(name, definition, free, {})
    return found


def _may_go(definition: gast.FunctionDef) -> bool:
    defaults = [*definition.args.defaults, *definition.args.kw_defaults]
    return (
        not definition.decorator_list
        and all(d is None or isinstance(d, gast.Constant) for d in defaults)
        and not any(
            isinstance(n, (gast.Nonlocal, gast.Yield, gast.YieldFrom))
            for n in syntax.walk(definition)
        )
    )


def _bindings(body: list[gast.stmt], name: str) -> int:
    """How often the function itself binds the name."""
    count = 0
    for node in own_nodes(body):
        if isinstance(node, (gast.FunctionDef, gast.ClassDef)):
            count += node.name == name
        elif isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store):
            count += node.id == name
    return count


def own_nodes(body: Any) -> list[Any]:
    """The nodes of a scope; scopes inside are there, what is in them is not.

    Contexts and operators are left out.
    """
    found: list[Any] = []
    todo = list(body)[::-1]
    pop, push = todo.pop, todo.append
    while todo:
        node = pop()
        cls = type(node)
        if cls is list:
            todo.extend(node[::-1])
            continue
        if not issubclass(cls, gast.AST):
            continue
        found.append(node)
        if cls in _SCOPES:
            continue
        values = node.__dict__
        for field in _FIELDS[cls]:
            value = values.get(field)
            if value is not None:
                push(value)
    return found


class _Fields(dict[type, tuple[str, ...]]):
    """The fields of a kind of node that may hold nodes, last one first."""

    def __missing__(self, cls: type) -> tuple[str, ...]:
        fields = reversed(getattr(cls, "_fields", ()))
        self[cls] = tuple(f for f in fields if f not in _WITHOUT_NODES)
        return self[cls]


_SCOPES = frozenset(SCOPES)
_WITHOUT_NODES = frozenset(["ctx", "op", "ops", "id", "attr", "type_comment", "kind"])
_FIELDS = _Fields({gast.Constant: ()})


def bound_here(node: Any) -> set[str]:
    """Names that are variables of the function."""
    found = set(parameter_names(node.args))
    body = node.body if isinstance(node.body, list) else [node.body]
    shared: set[str] = set()
    for sub in own_nodes(body):
        if isinstance(sub, gast.Name):
            if not isinstance(sub.ctx, gast.Load):
                found.add(sub.id)
        elif isinstance(sub, (gast.Nonlocal, gast.Global)):
            shared |= set(sub.names)
        elif isinstance(sub, (gast.FunctionDef, gast.ClassDef)):
            found.add(sub.name)
        elif isinstance(sub, syntax.COMPREHENSIONS):
            found |= {  # a walrus binds outside of its comprehension
                n.target.id for n in syntax.walk(sub) if isinstance(n, gast.NamedExpr)
            }
        elif isinstance(sub, (gast.alias, gast.ExceptHandler)):
            found |= syntax.names_written(sub) if not hasattr(sub, "body") else set()
    return found - shared


def free_names(node: Any) -> set[str]:
    """Names that a function, lambda or comprehension takes from around."""
    if isinstance(node, (gast.FunctionDef, gast.Lambda)):
        bound = bound_here(node)
        body = node.body if isinstance(node.body, list) else [node.body]
        outside = [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
        outside += getattr(node, "decorator_list", ())
    elif isinstance(node, gast.ClassDef):
        bound, body, outside = set(), list(gast.iter_child_nodes(node)), []
    else:
        bound = set()
        for generator in node.generators:
            bound |= syntax.names_written(generator.target)
        body, outside = list(gast.iter_child_nodes(node)), []
    return read_names(body) - bound | read_names(outside)


def read_names(nodes: list[Any]) -> set[str]:
    """Names of this scope that the code reads, in scopes inside it too."""
    found: set[str] = set()
    for sub in own_nodes(nodes):
        if isinstance(sub, SCOPES):
            found |= free_names(sub)
        elif isinstance(sub, gast.Name) and isinstance(sub.ctx, gast.Load):
            found.add(sub.id)
    return found


def _recursive_with_callees(inner: dict[str, _Inner]) -> set[str]:
    """Functions that reach themselves, and all that those reach."""

    def reached(name: str) -> set[str]:
        seen: set[str] = set()
        todo = [name]
        while todo:
            for other in sorted(inner[todo.pop()].free & inner.keys()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    recursive = {name for name in inner if name in reached(name)}
    return recursive.union(*map(reached, recursive)) if recursive else set()


def _share_variables(chosen: dict[str, _Inner], names: syntax.Names) -> None:
    """Give each function the variables that it, or what it calls, takes from around."""
    needed = {name: each.free - chosen.keys() for name, each in chosen.items()}
    size = -1
    while size != sum(map(len, needed.values())):
        size = sum(map(len, needed.values()))
        for name, each in chosen.items():
            for other in each.free & chosen.keys():
                needed[name] |= needed[other]
    for name, each in chosen.items():
        own = bound_here(each.node)
        for variable in sorted(needed[name]):
            taken = variable in own
            each.given[variable] = names.fresh(variable) if taken else variable


def _without(stmts: list[gast.stmt], names: set[str]) -> list[gast.stmt]:
    """The statements without the definitions of these functions."""
    out: list[gast.stmt] = []
    for stmt in stmts:
        if isinstance(stmt, gast.FunctionDef) and stmt.name in names:
            continue
        if (
            isinstance(stmt, gast.Assign)
            and isinstance(stmt.value, gast.Lambda)
            and isinstance(stmt.targets[0], gast.Name)
            and stmt.targets[0].id in names
        ):
            continue
        syntax.rewrite_blocks(stmt, lambda block: _without(block, names))
        out.append(stmt)
    return out


def _with_no_value(
    node: gast.FunctionDef, chosen: dict[str, _Inner]
) -> list[gast.stmt]:
    """None for the variables that calls may take before they have a value.

    The function that is called reads them, if at all, where they have one.
    """
    taken = {variable for each in chosen.values() for variable in each.given}
    early = taken & exposed(node.body) - set(parameter_names(node.args))
    return [
        gast.copy_location(syntax.assign(variable, syntax.const(None)), node.body[0])
        for variable in sorted(early)
    ]


class _Calls(gast.NodeTransformer):
    """Gives each call of a lifted function the variables that it takes.

    A function that is named without being called becomes a lambda that calls it.
    """

    def __init__(self, chosen: dict[str, _Inner], within: _Inner | None) -> None:
        self.chosen = chosen
        self.within = within

    def variables(self, name: str) -> list[gast.expr]:
        given = self.within.given if self.within is not None else {}
        wanted = self.chosen[name].given
        return [syntax.name(given.get(v, v)) for v in sorted(wanted)]

    def visit_Call(self, node: gast.Call) -> gast.expr:
        function = node.func
        if isinstance(function, gast.Name) and function.id in self.chosen:
            node.args = [self.visit(a) for a in node.args]
            for keyword in node.keywords:
                keyword.value = self.visit(keyword.value)
            node.args = [*self.variables(function.id), *node.args]
            return node
        self.generic_visit(node)
        return node

    def visit_Name(self, node: gast.Name) -> gast.expr:
        if node.id not in self.chosen or not isinstance(node.ctx, gast.Load):
            return node
        arguments = syntax.clone(self.chosen[node.id].node.args)
        positional = [*arguments.posonlyargs, *arguments.args]
        args: list[gast.expr] = [syntax.name(a.id) for a in positional]
        if arguments.vararg is not None:
            args.append(gast.Starred(syntax.name(arguments.vararg.id), syntax.LOAD))
        keywords = [gast.keyword(a.id, syntax.name(a.id)) for a in arguments.kwonlyargs]
        if arguments.kwarg is not None:
            keywords.append(gast.keyword(None, syntax.name(arguments.kwarg.id)))
        call = gast.Call(
            syntax.name(node.id), [*self.variables(node.id), *args], keywords
        )
        return gast.copy_location(gast.Lambda(arguments, call), node)


def _definition(inner: _Inner, chosen: dict[str, _Inner]) -> gast.FunctionDef:
    """The function with its variables from around as its first parameters."""
    node = syntax.clone(inner.node)
    node.body = [_Calls(chosen, inner).visit(stmt) for stmt in node.body]
    parameters = [
        gast.Name(inner.given[v], gast.Param(), None, None) for v in sorted(inner.given)
    ]
    if node.args.posonlyargs:
        node.args.posonlyargs = [*parameters, *node.args.posonlyargs]
    else:
        node.args.args = [*parameters, *node.args.args]
    return node


def _functions(
    chosen: dict[str, _Inner], source: FunctionSource
) -> dict[str, FunctionType]:
    """The lifted functions as Python functions, with the user's globals and lines."""
    outside = sorted({*source.closure, *chosen})
    definitions = [_definition(each, chosen) for each in chosen.values()]
    result = gast.Tuple([syntax.name(name) for name in chosen], syntax.LOAD)
    returned = gast.Return(result)
    parameters = [
        gast.Name(name, gast.Param(), None, None)
        for name in outside
        if name not in chosen
    ]
    arguments = gast.arguments(parameters, [], None, [], [], None, [])
    around = gast.FunctionDef(
        "around", arguments, [*definitions, returned], [], None, None, []
    )
    tree = gast.gast_to_ast(gast.Module([around], []))
    code = compile(ast.fix_missing_locations(tree), source.filename, "exec")
    space: dict[str, Any] = {}
    exec(code, source.globals, space)
    made = space["around"](*[None] * len(parameters))
    cells = {**source.closure, **{name: CellType() for name in chosen}}
    functions: dict[str, FunctionType] = {}
    for name, function in zip(chosen, made, strict=True):
        functions[name] = FunctionType(
            function.__code__,
            source.globals,
            name,
            function.__defaults__,
            tuple(cells[v] for v in function.__code__.co_freevars),
        )
        functions[name].__kwdefaults__ = function.__kwdefaults__
        functions[name].__qualname__ = name
        functions[name].__module__ = source.func.__module__
        cells[name].cell_contents = functions[name]
    return functions
