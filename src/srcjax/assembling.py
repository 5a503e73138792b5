"""From written functions to a module: callees, simplification, and what names mean."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
)
from srcjax.backends import stage_listings
from srcjax.frontend.helper_names import HELPERS
from srcjax.frontend.unit import parameter_names
from srcjax.module import Module
from srcjax.ops import (
    registry,  # noqa: F401  (fills the table of operations)
)
from srcjax.stage_texts import StageTexts, is_recording
from srcjax.transforms.callees import Callees
from srcjax.transforms.finish import finish
from srcjax.transforms.nested import restores_saved
from srcjax.transforms.simplify.sharing import Sharing
from srcjax.transforms.written import Written


def assemble(
    program: Program,
    callees: Callees,
    first: list[Any],
    entry: str,
    stages: StageTexts,
    write: Callable[[int], Any],
    stage: str = "reverse",
) -> Module:
    """Write the callees, simplify, and collect what the names mean.

    `callees.wanted` grows while functions are written; `write` gives the function (or
    forward/backward pair) of one of its keys.
    """
    transformed: list[str] = []

    def note(group: Any) -> Any:
        if is_recording():
            transformed.append(stage_listings.listings(w.node for w in _members(group)))
        return group

    for group in first:
        note(group)
    done: set[int] = {callees.entry}
    called: list[Any] = []
    while True:
        todo = [key for key in callees.wanted if key not in done]
        if not todo:
            break
        for key in todo:
            done.add(key)
            called.append(note(write(key)))
    more = [_finish_group(group, program, Sharing([])) for group in called]
    pairs = [group[0][1] for group in more if len(group[0]) == 2]
    sharing = Sharing(pairs)
    entries = [_finish_group(group, program, sharing) for group in first]
    stages.keep(stage, lambda: "\n\n".join(transformed))
    groups = [*more, *entries]
    functions = [f for group in groups for f in group[0]]
    values: dict[str, Any] = {}
    for group in groups:
        merge_values(values, group[1], functions, group[0])
    for name, value in callees.values.items():
        values[name] = value
    own = {f.name for f in functions}
    free = set().union(*(free_names(f) for f in functions)) - own
    values = {k: v for k, v in sorted(values.items()) if k in free}
    module = Module(entry, functions, values, entry=entry, stages=stages)
    module.guards = list(program.guards.values())
    module.made = names_new(functions, program)
    module.result = program.facts.results.get(program.entry, UNKNOWN)
    backward = [group[0][1] for group in groups if len(group[0]) == 2]
    module.backward = frozenset(f.name for f in backward)
    module.restores = any(map(restores_saved, backward))
    module.consumes = module.restores or any(
        isinstance(n, gast.Attribute) and n.attr == "pop"
        for f in functions
        for n in syntax.walk(f)
    )
    module.print()
    return module


def names_new(functions: list[gast.FunctionDef], program: Program) -> frozenset[str]:
    """Names in generated functions that no user wrote."""
    users: set[str] = set()
    for unit in program.units.values():
        users |= syntax.all_names(unit.source.node) - unit.made
    return frozenset().union(*map(syntax.all_names, functions)) - users


def _finish_group(
    group: Any, program: Program, sharing: Sharing
) -> tuple[list[gast.FunctionDef], dict[str, Any]]:
    written = _members(group)
    functions = finish(written, sharing)
    values: dict[str, Any] = {}
    for w, function in zip(written, functions, strict=True):
        values |= respell(w, function)
        values |= unhide_helpers(w, function)
        for name in free_names(function) - set(values):
            found = value_of(w, program, name)
            if found is not None:
                values[name] = found[0]
    return functions, values


def _members(group: Any) -> list[Written]:
    """The function, or the forward and backward functions, that are one group."""
    return [group] if isinstance(group, Written) else list(group)


def respell(written: Written, function: gast.FunctionDef) -> dict[str, Any]:
    """Give names that made way for a helper their spelling back, if none is called.

    Returns what the global ones stand for.
    """
    found: dict[str, Any] = {}
    source = written.unit.source
    for new, name in source.renamed.items():
        present = syntax.all_names(function)
        if new not in present:
            continue
        free = new in free_names(function)
        shown = new if name in present else name
        if shown != new:
            syntax.rename(function.body, {new: shown})
        if free:
            found[shown] = source.resolve(new)
    return found


def unhide_helpers(written: Written, function: gast.FunctionDef) -> dict[str, Any]:
    """Other names for helpers that a parameter of the user's has the name of."""
    own = syntax.names_written(function.body) | set(parameter_names(function.args))
    theirs = _called_names(written.unit.source.node)
    hidden = sorted(_called_names(function) & own & set(HELPERS) - theirs)
    found: dict[str, Any] = {}
    names = syntax.Names(syntax.all_names(function) | set(written.unit.names.taken))
    for name in hidden:
        alias = names.fresh(name)
        for node in syntax.walk(function.body):
            if isinstance(node, gast.Call) and syntax.is_name(node.func, name):
                node.func = syntax.name(alias)
        found[alias] = HELPERS[name]
    return found


def _called_names(node: Any) -> set[str]:
    return {
        n.func.id
        for n in syntax.walk(node)
        if isinstance(n, gast.Call) and isinstance(n.func, gast.Name)
    }


def value_of(written: Written, program: Program, name: str) -> tuple[Any] | None:
    """What a free name of generated code stands for."""
    if name in written.rules.needs:
        return (written.rules.needs[name],)
    unit = written.unit
    users = name in unit.extra or name in syntax.all_names(unit.source.node)
    if name in HELPERS and not users:
        return (HELPERS[name],)  # the user's own has another name by now
    try:
        return (program.resolve(written.unit, name),)
    except KeyError:
        pass
    if name == "np":
        return (np,)
    if name == "math":
        return (math,)
    if name == "scipy":
        import scipy

        return (scipy,)
    return (HELPERS[name],) if name in HELPERS else None


def merge_values(
    values: dict[str, Any],
    more: dict[str, Any],
    functions: list[gast.FunctionDef],
    own: list[gast.FunctionDef],
) -> None:
    """Add a function's globals; a name that means something else is renamed."""
    import builtins

    for name, value in more.items():
        if getattr(builtins, name, _MISSING) is value:
            continue
        if name in values and values[name] is not value:
            taken = set(values).union(*(syntax.all_names(f) for f in functions))
            fresh = syntax.Names(taken).fresh(name)
            for f in own:
                syntax.rename(f.body, {name: fresh})
            values[fresh] = value
        else:
            values[name] = value


_MISSING = object()


def free_names(function: gast.FunctionDef) -> set[str]:
    """Names that the function reads and does not bind."""
    bound = syntax.names_written(function.body) | set(parameter_names(function.args))
    defaults = syntax.names_read([*function.args.defaults, *function.args.kw_defaults])
    return (syntax.names_read(function.body) - bound) | defaults
