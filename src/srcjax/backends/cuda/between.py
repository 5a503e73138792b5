"""The Python between kernels: what it makes, it makes on the device.

np.arange(n)              ->  cupy.arange(n)
np.array([a, b])          ->  by_cupy(np.array)([a, b])
erf(x)                    ->  by_cupy(erf)(x)

NumPy asks its arguments for their own functions (`np.sum(x)` is CuPy's where `x` is),
but not where it makes arrays, and SciPy never does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import syntax

#: What makes arrays of numbers, of sizes alone.
_OF_SIZES = (
    *(np.zeros, np.ones, np.empty, np.full, np.arange, np.eye, np.identity),
    *(np.linspace, np.logspace, np.tri),
)
#: What makes arrays of others, or of numbers.
_OF_DATA = (
    *(np.array, np.asarray, np.asanyarray, np.ascontiguousarray),
    *(np.asfortranarray, np.copy),
)
#: The object that a name stands for, in a tuple; None where it is not known.
Known = Callable[[str], tuple[Any] | None]


class Between:
    """Rewrites calls of functions that do not ask their arguments."""

    def __init__(self, known: Known, only_there: bool = False) -> None:
        self.known = known
        #: Whether all arrays are on the device.
        self.only_there = only_there
        #: Names that are used from `backends.cuda.run`.
        self.uses: set[str] = set()

    def visit(self, node: Any) -> Any:
        """For `syntax.map_expressions`."""
        if not isinstance(node, gast.Call):
            return node
        function = self.object_of(node.func)
        data = is_one(function, _OF_DATA)
        if is_one(function, _OF_SIZES) or data and self.only_there:
            made = syntax.expression(f"cupy.{function.__name__}")
            return gast.Call(made, node.args, node.keywords)
        if data or is_of_scipy(function):
            self.uses.add("by_cupy")
            there = syntax.call("by_cupy", node.func)
            return gast.Call(there, node.args, node.keywords)
        return node

    def object_of(self, node: Any) -> Any:
        """The object that is called, as far as it is known."""
        path = (syntax.dotted(node) or "").split(".")
        found = self.known(path[0]) if path[0] else None
        if found is None:
            return None
        value = found[0]
        for name in path[1:]:
            value = getattr(value, name, None)
        return value


def is_one(function: Any, functions: tuple[Any, ...]) -> bool:
    return any(function is each for each in functions)


def is_of_scipy(function: Any) -> bool:
    """Whether a function is SciPy's; its ufuncs do not say so themselves."""
    if isinstance(function, np.ufunc):
        return getattr(np, function.__name__, None) is not function
    home = getattr(function, "__module__", None) or ""
    return callable(function) and home.partition(".")[0] == "scipy"


def in_kernels(name: str) -> tuple[Any] | None:
    """What a name of a kernel stands for, of those that functions are taken from."""
    return (np,) if name == "np" else None
