"""Modules that are imported when something of them is first asked for.

    if TYPE_CHECKING:
        from srcjax.analysis import types as ty
    else:
        ty = late("srcjax.analysis.types")

Most of srcjax is for writing texts. A process that finds its texts written needs little
of it, and importing the rest would take longer than anything else there.
"""

from __future__ import annotations

import importlib
from typing import Any


class Late:
    """What has the names of a module, and imports it for the first of them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: Any = None

    def __reduce__(self) -> tuple:
        return type(self), (self._name,)

    def __getattr__(self, name: str) -> Any:
        if self._module is None:
            self._module = importlib.import_module(self._name)
        return getattr(self._module, name)


def late(name: str) -> Any:
    """The module of this name, not imported yet."""
    return Late(name)
