"""The package that modules of generated source belong to; they exist in memory only."""

from types import FunctionType
from typing import Any


def holds(function: Any) -> bool:
    """Whether it is a function of generated source, by whatever name it goes."""
    if not isinstance(function, FunctionType):
        return False
    home = str(function.__globals__.get("__name__"))
    return home.rpartition(".")[0] == __name__


__all__ = ["holds"]
