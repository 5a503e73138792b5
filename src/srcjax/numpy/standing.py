"""Modules of this package that stand for those of NumPy, with its functions."""

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from srcjax.analysis.arrays import standing_for

#: What functions are that are written in Python, and those written in C.
_FUNCTIONS = (FunctionType, type(np.sum), type(np.zeros), type(np.vdot))


def getting(library: Any, scope: dict[str, Any]) -> Callable[[str], Any]:
    """The `__getattr__` of a module whose functions are those of a library.

    Args:
        library: NumPy's module, or what has all names of it.
        scope: the names of the module, to which a function is added at its first use.
    """

    def found(name: str) -> Any:
        """What the name stands for, at its first use."""
        value = getattr(library, name)
        if isinstance(value, _FUNCTIONS):
            value = scope[name] = standing_for(value)
        return value

    return found
