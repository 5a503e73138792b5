"""JAX's `custom_batching`: functions that say themselves what they are for a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcjax import tree
from srcjax.analysis.custom import CustomBatch
from srcjax.lax.trees import stacked


def custom_vmap(fun: Callable) -> CustomBatch:
    """Decorator: give a function a batched form of its own with `fun.def_vmap(rule)`.

    `rule(axis_size, in_batched, *args) -> (out, out_batched)` is called in the place of
    the function where `vmap` maps an argument: `axis_size` is the number of examples.
    `in_batched` is a list that tells of each argument whether it has an axis for the
    examples, which comes first: a bool, or a container of bools for a container.
    `out_batched` tells the same of the result; what has no axis is the same for all.
    In a branch that some examples take, the rule is called for these.

    Derivatives are those of the function, and above `vmap` those of the rule.

    Args:
        fun: a Python function of one example.

    Returns:
        The function, with `def_vmap`. `vmap` of it raises ArgumentError before a rule
        is given, and ValueError where what the rule gives has another number of
        examples.

    >>> @srcjax.custom_batching.custom_vmap
    ... def scaled(x, w):
    ...     return x * w
    >>> @scaled.def_vmap
    ... def scaled_batch(axis_size, in_batched, x, w):
    ...     return x * w, True
    >>> srcjax.vmap(scaled, in_axes=(0, None))(np.arange(3.0), 2.0)
    array([0., 2., 4.])
    """
    return CustomBatch(fun)


def sequential_vmap(f: Callable) -> CustomBatch:
    """A function that `vmap` calls for one example after the other, in their order.

    Args:
        f: a Python function of one example.

    Returns:
        The function; what it gives for a batch is stacked. Derivatives are those of
        `custom_vmap`.
    """
    made = custom_vmap(f)

    @made.def_vmap
    def rule(axis_size: int, in_batched: list, *args: Any) -> tuple[Any, Any]:
        ys = []
        for i in range(axis_size):
            each = tree.map(
                lambda mapped, x: x[i] if mapped else x,  # noqa: B023
                tuple(in_batched),
                args,
            )
            ys.append(f(*each))
        if isinstance(ys[0], (tuple, list, dict)):
            y = stacked(ys, ys[0])
            return y, tree.map(lambda part: True, y)
        return np.stack(ys), True

    return made


__all__ = ["custom_vmap", "sequential_vmap"]
