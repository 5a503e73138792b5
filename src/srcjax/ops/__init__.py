"""Operations: their rules, and what `jax.ops` has."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from srcjax.ops.composites.segments import (
        segment_max,
        segment_min,
        segment_prod,
        segment_sum,
    )

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]


def __getattr__(name: str) -> Any:
    """A function of segments at its first use, behind the rules of operations."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    importlib.import_module(f"{__name__}.registry")
    return getattr(importlib.import_module(f"{__name__}.composites.segments"), name)
