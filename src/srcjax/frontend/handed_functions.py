"""Functions that call themselves, defined again where they get a function made here.

Before:                               After:

    def rule(f, a, b, n): ...             def area(w):
                                              def f(x):
    def area(w):                                  return np.exp(-w * x)
        def f(x):
            return np.exp(-w * x)             def rule_f(a, b, n): ...  # calls `f`

        return rule(f, 0.0, 1.0, 4)           return rule_f(0.0, 1.0, 4)

`f` takes `w` from around it. A function that does not call itself is put in place of
its calls, where it shows which function it got. One that does hands `f` on as it is: a
copy of its own may call `f` by name (`frontend.lift` takes both out then).
"""

from __future__ import annotations

from dataclasses import replace
from types import FunctionType
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.standard import is_of_library
from srcjax.errors import SourceNotFoundError
from srcjax.frontend.lift import SCOPES, bound_here, free_names, own_nodes
from srcjax.frontend.read import read_generator
from srcjax.frontend.unit import parameter_names

#: The name of a copy, its definition, and what its variables are called in it.
_Copy = tuple[str, gast.FunctionDef, dict[str, str]]
_FUNCTIONS = (gast.FunctionDef, gast.Lambda)


def with_own_copies(source: Any) -> Any:
    """The source with its own definition of each such function."""
    local = bound_here(source.node)
    made = _made_here(source.node, local)
    calls = [c for c in own_nodes(source.node.body) if isinstance(c, gast.Call)]
    if not any(_handed(call, made) or _lambdas(call) for call in calls):
        return source
    node = syntax.clone(source.node)
    names = syntax.Names(syntax.all_names(node) | set(source.closure))
    work = _Copies(replace(source, node=node), local, made, names)
    node.body = [work.visit(stmt) for stmt in node.body]
    if not work.copies:
        return source
    node.body = [*work.lambdas, *(d for _, d, _ in work.copies.values()), *node.body]
    looked_up = source.looked_up | {key[0] for key in work.copies}
    return replace(source, node=node, looked_up=looked_up)


def _made_here(node: gast.FunctionDef, local: set[str]) -> set[str]:
    """Functions defined once in the function that take variables from around them."""
    found: dict[str, Any] = {}
    for inner in own_nodes(node.body):
        if isinstance(inner, gast.FunctionDef):
            found[inner.name] = inner
        elif isinstance(inner, gast.Assign) and isinstance(inner.value, gast.Lambda):
            found[getattr(inner.targets[0], "id", "")] = inner.value
    return {
        name
        for name, definition in found.items()
        if free_names(definition) & local and _binds_once(node, name)
    }


def _binds_once(node: gast.FunctionDef, name: str) -> bool:
    definitions = sum(
        isinstance(n, gast.FunctionDef) and n.name == name
        for n in syntax.walk(node.body)
    )
    return definitions + syntax.count_bindings(node.body, name) == 1


def _handed(call: gast.Call, made: set[str]) -> bool:
    """Whether a function called by its name gets one of these."""
    return isinstance(call.func, gast.Name) and any(
        getattr(a, "id", None) in made for a in call.args
    )


def _lambdas(call: gast.Call) -> bool:
    return isinstance(call.func, gast.Name) and any(
        isinstance(a, gast.Lambda) for a in call.args
    )


class _Copies(gast.NodeTransformer):
    """Calls the function's own copies, and collects them."""

    def __init__(
        self, source: Any, local: set[str], made: set[str], names: syntax.Names
    ) -> None:
        self.source = source
        self.local = local
        self.made = made
        self.names = names
        #: By the function's name and what it gets.
        self.copies: dict[tuple[str, ...], _Copy] = {}
        self.lambdas: list[gast.stmt] = []

    def visit(self, node: Any) -> Any:
        return node if isinstance(node, SCOPES) else super().visit(node)

    def visit_Call(self, node: gast.Call) -> gast.Call:
        self.generic_visit(node)
        if not (_handed(node, self.made) or _lambdas(node)):
            return node
        definition = self.definition(node)
        if definition is None:
            return node
        parameters = parameter_names(definition.args)
        places = [k for k, a in enumerate(node.args) if self.is_function(a)]
        if not places or max(places) >= len(parameters):
            return node
        if not all(_passes_on(definition, parameters[k], k) for k in places):
            return node
        self.names.taken |= syntax.all_names(definition)
        given = [self.named(node.args[k], node) for k in places]
        key = (
            node.func.id,
            *(f"{k}:{name}" for k, name in zip(places, given, strict=True)),
        )
        if key not in self.copies:
            self.copies[key] = self.copied(definition, places, given)
            self.made |= set(given)
        renamed = self.copies[key][2]
        for keyword in node.keywords:
            keyword.arg = renamed.get(keyword.arg, keyword.arg)
        node.func = gast.copy_location(syntax.name(self.copies[key][0]), node.func)
        node.args = [a for k, a in enumerate(node.args) if k not in places]
        return node

    def is_function(self, argument: Any) -> bool:
        if isinstance(argument, gast.Lambda):
            plain = not (argument.args.defaults or argument.args.kw_defaults)
            return plain and bool(free_names(argument) & self.local)
        return getattr(argument, "id", None) in self.made

    def named(self, argument: Any, call: gast.Call) -> str:
        """The name of the function that is given."""
        if isinstance(argument, gast.Name):
            return str(argument.id)
        name = str(self.names.fresh("f"))
        self.lambdas.append(gast.copy_location(syntax.assign(name, argument), call))
        return name

    def definition(self, call: gast.Call) -> gast.FunctionDef | None:
        """The text of a function of the module that calls itself, to be changed."""
        name = call.func.id
        function = self.source.globals.get(name)
        starred = any(isinstance(a, gast.Starred) for a in call.args)
        starred |= any(k.arg is None for k in call.keywords)
        if name in self.local or name in self.source.closure or starred:
            return None
        if not isinstance(function, FunctionType) or is_of_library(function):
            return None
        if function.__closure__ or function.__globals__ is not self.source.globals:
            return None
        try:
            node = read_generator(function).node
        except SourceNotFoundError:
            return None
        return node if node.name == name and self.may_stand_here(node) else None

    def may_stand_here(self, node: gast.FunctionDef) -> bool:
        """Whether it means the same in here, and calls itself by its name only."""
        arguments = node.args
        defaults = [*arguments.defaults, *arguments.kw_defaults]
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
            return False
        if not all(d is None or isinstance(d, gast.Constant) for d in defaults):
            return False
        inside = (gast.Nonlocal, gast.Global, gast.Yield, gast.YieldFrom)
        if any(isinstance(n, (*inside, *_FUNCTIONS)) for n in syntax.walk(node.body)):
            return False
        if free_names(node) & (self.local | set(self.source.closure)):
            return False
        return bool(_calls_itself(node))

    def copied(
        self, definition: gast.FunctionDef, places: list[int], given: list[str]
    ) -> _Copy:
        """The function under a name of its own, without what it hands on."""
        parameters = parameter_names(definition.args)
        for call in _calls_itself(definition):
            call.args = [a for k, a in enumerate(call.args) if k not in places]
        own = bound_here(definition) & (self.made | set(given))
        new = {n: str(self.names.fresh(n)) for n in sorted(own)}
        for call in _calls_itself(definition):
            for keyword in call.keywords:
                keyword.arg = new.get(keyword.arg, keyword.arg)
        new |= {parameters[k]: name for k, name in zip(places, given, strict=True)}
        name = str(self.names.fresh(f"{definition.name}_{'_'.join(given)}"))
        new[definition.name] = name
        arguments = definition.args
        for k in reversed(places):
            first = len(arguments.posonlyargs)
            held = arguments.posonlyargs if k < first else arguments.args
            del held[k if k < first else k - first]
        syntax.rename(definition.args, new)
        syntax.rename(definition.body, new)
        definition.name = name
        return name, definition, new


def _calls_itself(node: gast.FunctionDef) -> list[gast.Call]:
    """The calls of the function in its own body; none if it is used in other ways."""
    calls = [
        n
        for n in syntax.walk(node.body)
        if isinstance(n, gast.Call) and syntax.is_name(n.func, node.name)
    ]
    return calls if len(calls) == syntax.count_reads(node.body, node.name) else []


def _passes_on(node: gast.FunctionDef, parameter: str, place: int) -> bool:
    """Whether the function gives itself the parameter as it got it, each time."""
    if syntax.count_bindings(node.body, parameter):
        return False
    return all(
        len(call.args) > place
        and syntax.is_name(call.args[place], parameter)
        and not any(isinstance(a, gast.Starred) for a in call.args)
        and all(k.arg is not None for k in call.keywords)
        for call in _calls_itself(node)
    )


__all__ = ["with_own_copies"]
