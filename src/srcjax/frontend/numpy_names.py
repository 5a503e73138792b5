"""NumPy under the name that generated text has for it.

Before:                                    After:

    import numpy as xp                         import numpy as np
    import srcjax.numpy as jnp

    xp.sum(jnp.tanh(x))                        np.sum(np.tanh(x))

One library has one name in a text, and what reads `np.where` need not ask what else it
could be called. Where `np` is something else in the function, names stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.frontend.unit import parameter_names

#: A module that has the names of NumPy besides its own says so by this name in it.
STANDS_FOR = "__srcjax_stands_for__"
#: So does a function whose calls are those of NumPy's, where they give none of its own
#: keywords: `jnp.sort(x)` is `np.sort(x)`, and `jnp.sort(x, descending=True)` is not.
PLAIN = "__srcjax_plain__"


def name_numpy(source: Any) -> Any:
    """The source with `np` for NumPy; `aliases` are the names that it was called."""
    node = source.node
    bound = syntax.names_written(node.body) | set(parameter_names(node.args))
    free = syntax.names_read(node.body) - bound
    modules = {
        name: value
        for name in free - {"np"}
        if isinstance(value := _value(source, name), ModuleType) and _numpy_of(value)
    }
    if not modules or "np" in bound or _value(source, "np", np) is not np:
        return source
    node = syntax.clone(node)
    work = _Naming(modules)
    node.body = [work.visit(stmt) for stmt in node.body]
    if not work.found:
        return source
    imported = {**source.imported, "np": np}
    return replace(source, node=node, imported=imported, aliases=work.found)


def _value(source: Any, name: str, otherwise: Any = None) -> Any:
    try:
        return source.resolve(name)
    except KeyError:
        return otherwise


def _numpy_of(module: ModuleType) -> bool:
    """Whether the module is NumPy, or has its names too."""
    return module is np or vars(module).get(STANDS_FOR) is np


class _Naming(gast.NodeTransformer):
    def __init__(self, modules: Mapping[str, ModuleType]) -> None:
        self.modules = modules
        self.found: set[str] = set()

    def visit_Call(self, node: gast.Call) -> gast.AST:
        module = self.modules.get(getattr(getattr(node.func, "value", None), "id", ""))
        if module is not None and isinstance(node.func, gast.Attribute):
            here = getattr(module, node.func.attr, None)
            plain, own = getattr(here, PLAIN, None), getattr(here, "__kwdefaults__", {})
            given = [k.arg for k in node.keywords]
            if plain is not None and None not in given and not {*given} & {*own}:
                self.found.add(node.func.value.id)
                named = syntax.expression(f"np.{plain.__name__}")
                node.func = gast.copy_location(named, node.func)
        return self.generic_visit(node)

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        module = self.modules.get(getattr(node.value, "id", ""))
        if module is not None and module is not np:
            here = getattr(module, node.attr, None)
            if here is None or getattr(np, node.attr, None) is not here:
                return node  # a name of its own
        if module is not None:
            self.found.add(node.value.id)
            node.value = gast.copy_location(syntax.name("np"), node.value)
            return node
        return self.generic_visit(node)

    def visit_Name(self, node: gast.Name) -> gast.AST:
        if self.modules.get(node.id) is not np:
            return node
        self.found.add(node.id)
        return gast.copy_location(syntax.name("np"), node)
