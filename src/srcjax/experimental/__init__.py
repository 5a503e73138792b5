"""What JAX has under `jax.experimental`, and tutorials use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def io_callback(
    callback: Callable,
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """`callback(*args, **kwargs)`: what runs here is Python in any case.

    Args:
        callback: a function, which may have side effects.
        result_shape_dtypes: what JAX has to know of the result; it is not looked at.
        sharding: accepted, and of no effect.
        ordered: accepted; calls come in the order of the program.
    """
    return callback(*args, **kwargs)


__all__ = ["io_callback"]
