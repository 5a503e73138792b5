"""Names of the user's that generated code needs for itself: they make way.

Before:                                 After:

    zeros_like = np.zeros_like(x)           zeros_like2 = np.zeros_like(x)
    return np.sum(x * zeros_like)           return np.sum(x * zeros_like2)

Backward code may call the helper `zeros_like`, and would find the array. Where it does
not come to that, the name gets its spelling back at the end (`assembling.respell`).
The same goes for variables that are called as a builtin is, `len` or `range`, and for
what a module has under such a name. Parameters keep their names, which callers may use:
`pipeline` renames the helper there.
"""

from __future__ import annotations

import builtins
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.lift import SCOPES, own_nodes
from srcjax.frontend.numpy_names import leads_to_numpy
from srcjax.frontend.unit import parameter_names
from srcjax.ops.patched import NAMED_BUILTINS, NAMED_MODULES

#: What generated code calls by name; the pipeline fills it.
HELPERS: dict[str, Any] = {}

#: The builtins and modules that generated code names too.
_NAMED = NAMED_BUILTINS | NAMED_MODULES.keys() | {"scipy"}


def make_way(source: Any) -> Any:
    """The source with other names for its own that are those of generated code."""
    node = source.node
    own = set(parameter_names(node.args)) | _spelled_out(node)
    written, read = syntax.names_written(node.body), syntax.names_read(node)
    freed = _hidden(source, read - written)
    clashes = (HELPERS.keys() & written) | (freed.keys() & read)
    bound = (_NAMED & written) - own
    clashes -= own | bound
    if not (clashes or bound or freed) or source.renamed:
        return source
    names = syntax.Names(syntax.all_names(node) | set(HELPERS) | _NAMED)
    fresh = {name: names.fresh(name) for name in [*sorted(clashes), *sorted(bound)]}
    node = syntax.clone(node)
    node.body = syntax.rename(node.body, {n: fresh[n] for n in clashes})
    _rename_bound(node.body, {n: fresh[n] for n in bound})
    renamed = {new: name for name, new in fresh.items()}
    return replace(source, node=node, renamed=renamed, freed=freed)


def refuse_hidden(functions: list[Any], program: Any) -> None:
    """Raise where a parameter hides what the generated text of a function names.

    Parameters keep their names, which callers may use (and where they are inlined):
    with one called `range`, there is no `range(3)` in that function. Where `np` is
    given NumPy itself, it hides nothing.
    """
    units = list(program.units.values())
    given = {
        name
        for u in units
        for name in _NAMED.intersection(u.parameters)
        if not _is_itself(program.types_of(u).get(name), name)
    }
    for function in functions if given else ():
        bound = syntax.names_written(function.body)
        hidden = given & bound.union(parameter_names(function.args))
        found = hidden and {_named(n) for n in syntax.walk(function.body)} & hidden
        for name in sorted(found or ()):
            source = next(u.source for u in units if name in u.parameters)
            raise error_at(
                UnsupportedError,
                source,
                source.node,
                f"the parameter `{name}` hides the `{name}` that generated code needs",
                "another name for it",
            )


def _is_itself(t: Any, name: str) -> bool:
    """Whether a parameter of the type is the module that is called so elsewhere."""
    module = NAMED_MODULES.get(name)
    return module is not None and getattr(t, "value", None) is module


def _named(node: Any) -> str:
    """What a call calls, or of which module it takes something; empty: neither."""
    if isinstance(node, gast.Call):
        return getattr(node.func, "id", "")
    value = node.value if isinstance(node, gast.Attribute) else None
    if isinstance(value, gast.Name) and value.id in NAMED_MODULES:
        return value.id if hasattr(NAMED_MODULES[value.id], node.attr) else ""
    return ""


def _rename_bound(scope: Any, names: dict[str, str]) -> None:
    """Rename what is bound, where it is: elsewhere `sum` is the builtin.

    A function or comprehension inside may bind a name that is free around it.
    """
    body = scope if isinstance(scope, list) else list(gast.iter_child_nodes(scope))
    own = own_nodes(body)
    bound = {
        getattr(n, "id", None) or getattr(n, "name", None)
        for n in own
        if not isinstance(getattr(n, "ctx", None), gast.Load)
    }
    here = {name: new for name, new in names.items() if name in bound}
    rest = {name: new for name, new in names.items() if name not in bound}
    if isinstance(scope, syntax.COMPREHENSIONS):
        syntax.rename_inside(scope, here)
    else:
        syntax.rename(scope, here)
    for node in own if rest else ():
        if isinstance(node, SCOPES):
            _rename_bound(node, rest)


def _hidden(source: Any, read: set[str]) -> dict[str, Any]:
    """What generated code names, where something else has the name around.

    Or where the function reads the name, and nothing has it.
    """
    meant = {name: getattr(builtins, name) for name in NAMED_BUILTINS}
    meant |= NAMED_MODULES | HELPERS
    there = source.globals.keys() | source.closure.keys() | source.imported.keys()
    names = (meant.keys() & there) | (HELPERS.keys() & read)
    return {
        name: meant[name]
        for name in sorted(names)
        if not _stands_for(source, name, meant[name])
    }


def _stands_for(source: Any, name: str, value: Any) -> bool:
    """Whether a free name of the function has the value, or leads to it."""
    try:
        found = source.resolve(name)
    except KeyError:  # the function around has not bound it yet
        return False
    return found is value or (value is np and leads_to_numpy(found))


def _spelled_out(node: Any) -> set[str]:
    """Names that are more than names: of keywords, imports, patterns and globals."""
    found: set[str] = set()
    for sub in syntax.walk(node):
        if isinstance(sub, gast.keyword) and sub.arg:
            found.add(sub.arg)
        elif isinstance(sub, (gast.Import, gast.ImportFrom)):
            found |= {(a.asname or a.name).split(".")[0] for a in sub.names}
        elif isinstance(sub, (gast.Global, gast.Nonlocal)):
            found |= set(sub.names)
        elif type(sub).__name__ in ("MatchAs", "MatchStar") and sub.name:
            found.add(sub.name)
    return found
