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
from srcjax.analysis.arrays import inside
from srcjax.frontend.unit import parameter_names

#: A module that has the names of NumPy besides its own says so by this name in it: that
#: of NumPy's module. One that has such a module in it says None.
STANDS_FOR = "__srcjax_stands_for__"
#: So does a function whose calls are those of NumPy's, where they give none of its own
#: keywords: `jnp.sort(x)` is `np.sort(x)`, and `jnp.sort(x, descending=True)` is not.
PLAIN = "__srcjax_plain__"
#: So many arguments NumPy's function has to be given; with fewer it is no call of it.
LEAST = "__srcjax_least__"


def name_numpy(source: Any) -> Any:
    """The source with `np` for NumPy; `aliases` are the names that it was called."""
    node = source.node
    bound = syntax.names_written(node.body) | set(parameter_names(node.args))
    free = syntax.names_read(node.body) - bound
    here = _value(source, "np", np)
    values = {name: _value(source, name) for name in free - {"np"}}
    named = {n: inside(v) for n, v in values.items() if _is_dressed(v)}
    modules = {n: v for n, v in values.items() if leads_to_numpy(v)}
    if named:
        imported = {**source.imported, **named}
        source = replace(source, imported=imported, aliases={*named})
    if "np" in bound or here is not np and _stands_for(here) is not np:
        return source
    node = syntax.clone(node)
    if here is not np:  # `import srcjax.numpy as np`: so it is for what is written
        modules["np"] = here
    work = _Naming(modules, syntax.Names(free | bound).fresh("jnp"))
    node.body = [work.visit(stmt) for stmt in node.body]
    if here is np and not work.found:
        return source
    imported = {**source.imported}
    if "np" not in source.freed:
        imported["np"] = np
    if work.kept:
        imported[work.other] = here
    return replace(
        source, node=node, imported=imported, aliases=work.found | source.aliases
    )


def _value(source: Any, name: str, otherwise: Any = None) -> Any:
    try:
        return source.resolve(name)
    except KeyError:
        return otherwise


def leads_to_numpy(value: Any) -> bool:
    """Whether NumPy's functions have names in a module: its own, or in one in it."""
    module = isinstance(value, ModuleType)
    return module and (value in _MODULES or STANDS_FOR in vars(value))


def _is_dressed(value: Any) -> bool:
    """Whether it is a function of NumPy's as `srcjax.numpy` has it."""
    found = inside(value)
    of_numpy = (getattr(m, found.__name__, None) is found for m in _MODULES)
    return found is not value and any(of_numpy)


def _is_plain(function: Any, node: gast.Call) -> bool:
    """Whether a call of what is beyond NumPy's function is a call of that one."""
    given = [k.arg for k in node.keywords]
    enough = len(node.args) + len(given) >= vars(function)[LEAST]
    own = {*(function.__kwdefaults__ or ())}
    return enough and None not in given and not own.intersection(given)


def _stands_for(module: Any) -> Any:
    """The module of NumPy's whose names this one has too; None of others."""
    if not isinstance(module, ModuleType):
        return None
    found = vars(module).get(STANDS_FOR, module)
    return found if found in _MODULES else None


#: NumPy's modules by which functions are called in a text.
_MODULES = {np: "np", np.linalg: "np.linalg", np.fft: "np.fft"}


class _Naming(gast.NodeTransformer):
    def __init__(self, modules: Mapping[str, ModuleType], other: str) -> None:
        self.modules = modules
        self.found: set[str] = set()
        #: The name of a module that was called `np` and is not NumPy's, where it has
        #: something that NumPy has not, and whether there is such a place.
        self.other, self.kept = other, False

    def value(self, node: gast.AST) -> Any:
        """The module that an expression such as `jax.numpy` stands for, or None."""
        if isinstance(node, gast.Name):
            return self.modules.get(node.id)
        if isinstance(node, gast.Attribute):
            module = self.value(node.value)
            found = None if module is None else getattr(module, node.attr, None)
            return found if isinstance(found, ModuleType) else None
        return None

    def named(self, library: ModuleType, attr: str, node: Any) -> gast.AST:
        """The name that something of a library has in a text, in place of a node."""
        root = node
        while isinstance(root, gast.Attribute):
            root = root.value
        self.found.add(root.id)
        text = syntax.expression(f"{_MODULES[library]}.{attr}")
        return gast.copy_location(text, node)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        if isinstance(node.func, gast.Attribute):
            module = self.value(node.func.value)
            here = inside(getattr(module, node.func.attr, None))
            plain = getattr(here, PLAIN, None)
            if plain is not None and _is_plain(here, node):
                node.func = self.named(np, plain.__name__, node.func)
                node.args = [self.visit(a) for a in node.args]
                node.keywords = [self.visit(k) for k in node.keywords]
                return node
        return self.generic_visit(node)

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        module = self.value(node.value)
        library = _stands_for(module)
        if library is None:
            return self.generic_visit(node)
        here = inside(getattr(module, node.attr, None))
        if here is None or getattr(library, node.attr, None) is not here:
            return self.generic_visit(node)  # a name of its own
        return self.named(library, node.attr, node)

    def visit_Name(self, node: gast.Name) -> gast.AST:
        module = self.modules.get(node.id)
        if node.id == "np" and module is not None:
            self.found.add("np")
            self.kept = True
            return gast.copy_location(syntax.name(self.other), node)
        if module is not np:
            return node
        self.found.add(node.id)
        return gast.copy_location(syntax.name("np"), node)
