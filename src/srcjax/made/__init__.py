"""What transforms made of functions that can be imported: where `pickle` looks it up.

The name of a module in this package says how it is made: that of `srcjax.grad(loss)`
is `srcjax.made.grad('model:loss')`, and it has the one name `grad_loss`.
"""

import importlib.machinery
import sys
from types import ModuleType
from typing import Any

from srcjax.versions.recipes import found_by


class Recipes:
    """Finds and makes such modules."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith(f"{__name__}."):
            return None
        loader: Any = self
        return importlib.machinery.ModuleSpec(name, loader)

    def create_module(self, spec: Any) -> None:
        """A module as all others."""

    def exec_module(self, module: ModuleType) -> None:
        recipe = module.__name__.removeprefix(f"{__name__}.")

        def lookup(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return found_by(recipe, name)

        vars(module)["__getattr__"] = lookup


sys.meta_path.append(Recipes())
