"""What an optimiser is: two functions, and the state between them.

    state = optimizer.init(params)
    updates, state = optimizer.update(grads, state, params)
    params = apply_updates(params, updates)

Parameters, gradients and states are trees of arrays (`srcjax.tree`). Nothing is written
into what the caller holds: each step gives new arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from srcjax import tree

#: A number, or a function from the number of steps that were made to one.
Schedule = Callable[[int], Any]
Rate = float | Schedule
#: Trees, in annotations of programs that were written for optax.
Params = Any
Updates = Any
OptState = Any


class GradientTransformation(NamedTuple):
    """A step of an optimiser: from gradients to what is added to the parameters."""

    #: `init(params) -> state`
    init: Callable[[Any], Any]
    #: `update(updates, state, params=None) -> (updates, state)`
    update: Callable[..., tuple[Any, Any]]


class EmptyState(NamedTuple):
    """The state of what needs none."""


def no_state(params: Any) -> EmptyState:
    """`init` of what needs no state."""
    return EmptyState()


def stateless(f: Callable[[Any, Any], Any]) -> GradientTransformation:
    """The transformation `f(updates, params) -> updates`, which keeps no state."""

    def update(updates: Any, state: EmptyState, params: Any = None) -> tuple:
        return f(updates, params), state

    return GradientTransformation(no_state, update)


def identity() -> GradientTransformation:
    """Updates as they are."""
    return stateless(lambda updates, params: updates)


def set_to_zero() -> GradientTransformation:
    """Updates that change nothing: for parameters that stay as they are."""
    return stateless(lambda updates, params: tree.map(np.zeros_like, updates))


def apply_updates(params: Any, updates: Any) -> Any:
    """The parameters after the step: `params + updates`, in the dtypes of `params`.

    A parameter whose update is None stays as it is.
    """

    def add(p: Any, u: Any) -> Any:
        if p is None or u is None:
            return p
        if isinstance(p, float):
            return float(p + u)
        return (p + u).astype(p.dtype)

    return tree.map(add, params, updates, is_leaf=lambda x: x is None)


def zeros_like(params: Any, dtype: Any = None) -> Any:
    """Zeros of the shapes, in the dtype, or in those of the parameters."""
    return tree.map(lambda p: np.zeros_like(p, dtype=dtype), params)


def full_like(params: Any, value: float) -> Any:
    """Arrays of the shapes and dtypes that hold the value everywhere."""
    return tree.map(lambda p: np.full_like(p, value), params)


def cast(values: Any, dtype: Any) -> Any:
    """The arrays in the dtype; as they are if it is None."""
    if dtype is None:
        return values
    return tree.map(lambda x: np.asarray(x, dtype), values)


def needs_params(name: str, params: Any) -> None:
    """Raise ValueError where a transformation is not given the parameters."""
    if params is None:
        raise ValueError(f"{name} needs the parameters: `update(grads, state, params)`")


def global_norm(updates: Any) -> Any:
    """The norm of all numbers in the tree: `sqrt(sum of x**2)`."""
    return np.sqrt(sum(np.sum(np.abs(x) ** 2) for x in tree.leaves(updates)))
