"""JAX's `test_util`: derivatives compared with differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from srcjax import testing


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] | str = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """`srcjax.testing.check_grads`, with the arguments of JAX's.

    Raises:
        AssertionError: a derivative differs from the difference.
    """
    testing.check_grads(f, args, order, modes, rtol, atol, eps)


__all__ = ["check_grads"]
