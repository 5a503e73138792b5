"""Names of the user's that generated code needs for itself: they make way.

Before:                                 After:

    zeros_like = np.zeros_like(x)           zeros_like2 = np.zeros_like(x)
    return np.sum(x * zeros_like)           return np.sum(x * zeros_like2)

Backward code may call the helper `zeros_like`, and would find the array. Where it does
not come to that, the name gets its spelling back at the end (`assembling.respell`).
The same goes for variables that are called as a builtin is: `len`, `range`. Parameters
keep their names, which callers may use: `pipeline` renames the helper there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from srcjax import syntax
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.lift import SCOPES, own_nodes
from srcjax.frontend.unit import parameter_names
from srcjax.ops.patched import NAMED_BUILTINS, NAMED_MODULES

#: What generated code calls by name; the pipeline fills it.
HELPERS: dict[str, Any] = {}

#: The builtins and modules that generated code names too.
_NAMED = NAMED_BUILTINS | NAMED_MODULES.keys() | {"scipy"}


def make_way(source: Any) -> Any:
    """The source with other names for its own that are those of helpers."""
    node = source.node
    own = set(parameter_names(node.args)) | _spelled_out(node)
    clashes = sorted(
        name
        for name in (syntax.all_names(node) & set(HELPERS)) - own
        if _means_another(source, name)
    )
    builtins = sorted((_NAMED & syntax.names_written(node.body)) - own)
    if not (clashes or builtins) or source.renamed:
        return source
    names = syntax.Names(syntax.all_names(node) | set(HELPERS) | _NAMED)
    fresh = {name: names.fresh(name) for name in [*clashes, *builtins]}
    node = syntax.clone(node)
    node.body = syntax.rename(node.body, {n: fresh[n] for n in clashes})
    _rename_bound(node.body, {n: fresh[n] for n in builtins})
    renamed = {new: name for name, new in fresh.items()}
    return replace(source, node=node, renamed=renamed)


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
    over = getattr(scope, "generators", [gast.comprehension()])[0]
    first, over.iter = getattr(over, "iter", None), None  # it belongs to what is around
    syntax.rename(scope, here)
    over.iter = first
    for node in own if rest else ():
        if isinstance(node, SCOPES):
            _rename_bound(node, rest)


def _means_another(source: Any, name: str) -> bool:
    """Whether the name is a local variable, or a global one that is not the helper."""
    if name in syntax.names_written(source.node.body):
        return True
    try:
        return source.resolve(name) is not HELPERS[name]
    except KeyError:
        return True


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
