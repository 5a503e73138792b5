"""Generated modules that were made of parts of others."""

from __future__ import annotations

import gast

from srcjax import syntax
from srcjax.backends.module import Module
from srcjax.errors import UnsupportedError
from srcjax.frontend.lift import free_names


def with_forward(module: Module, found: Module) -> Module:
    """The forward functions of `vjp` with those that were made of the backward ones.

    Raises:
        UnsupportedError: a name means one thing here and another there.
    """
    reached = reached_from(module.functions, module.entry)
    forward = [f for f in module.functions if f.name in reached]
    twice = {f.name for f in forward} & {f.name for f in found.functions}
    clash = [
        n
        for n, v in found.values.items()
        if n in module.values and module.values[n] is not v
    ]
    if twice or clash:
        raise UnsupportedError(
            f"the name `{sorted([*twice, *clash])[0]}` has two meanings in one module"
        )
    found.entry = module.entry
    found.functions = [*forward, *found.functions]
    used = set().union(*(free_names(f) for f in found.functions))
    values = {**module.values, **found.values}
    own = {f.name for f in found.functions}
    found.values = {n: v for n, v in values.items() if n in used and n not in own}
    return found


def reached_from(functions: list[gast.FunctionDef], entry: str) -> set[str]:
    """The names of the functions that a function calls, and its own."""
    reads = {f.name: syntax.names_read(f.body) for f in functions}
    found, todo = set(), [entry]
    while todo:
        name = todo.pop()
        if name in reads and name not in found:
            found.add(name)
            todo += reads[name]
    return found


__all__ = ["reached_from", "with_forward"]
