"""JAX's `ad_checkpoint`: `checkpoint`, and names for what is in it."""

from __future__ import annotations

from typing import Any

from srcjax.api.reverse import checkpoint, remat


def checkpoint_name(x: Any, name: str) -> Any:
    """`x` itself; `name` is what `checkpoint_policies` may ask for."""
    return x


__all__ = ["checkpoint", "checkpoint_name", "remat"]
