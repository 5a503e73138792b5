"""JAX's `example_libraries.optimizers`: an optimiser is three functions.

    opt_init, opt_update, get_params = optimizers.sgd(0.1)
    state = opt_init(params)
    for i in range(100):
        state = opt_update(i, grad(loss)(get_params(state)), state)

`srcjax.optim` has more of them, with optax's interface.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from srcjax import tree
from srcjax.tree_util import register_dataclass

#: A number for each step: `schedule(i)`.
Schedule = Callable[[Any], Any]


class Optimizer(NamedTuple):
    """The functions that an optimiser is.

    Args:
        init_fn: `init_fn(params)`, the state at the start.
        update_fn: `update_fn(i, grads, state)`, the state after step `i`.
        params_fn: `params_fn(state)`, the parameters.
    """

    init_fn: Callable
    update_fn: Callable
    params_fn: Callable


@dataclass
class OptimizerState:
    """The state of each array, in the order of the leaves, and the tree they are from.

    It is a pytree, of which `tree_def` belongs to the structure.
    """

    packed_state: list[Any]
    tree_def: Any


register_dataclass(OptimizerState, ("packed_state",), ("tree_def",))


def optimizer(opt_maker: Callable) -> Callable[..., Optimizer]:
    """Decorator: an optimiser of pytrees, where the functions given are of one array.

    Args:
        opt_maker: it returns `init(x)`, `update(i, g, state)` and `get_params(state)`,
            where a state is an array, or a pytree of arrays.

    Returns:
        The same for pytrees. Its update raises TypeError where the gradients have not
        the structure of the parameters.
    """

    @functools.wraps(opt_maker)
    def tree_opt_maker(*args: Any, **kwargs: Any) -> Optimizer:
        init, update, get_params = opt_maker(*args, **kwargs)

        def tree_init(params: Any) -> OptimizerState:
            leaves, structure = tree.flatten(params)
            return OptimizerState([init(x) for x in leaves], structure)

        def tree_update(i: Any, grads: Any, state: OptimizerState) -> OptimizerState:
            leaves, structure = tree.flatten(grads)
            if structure != state.tree_def:
                raise TypeError(
                    f"the gradients have the structure {structure}, and the "
                    f"parameters {state.tree_def}"
                )
            moved = [
                update(i, g, s) for g, s in zip(leaves, state.packed_state, strict=True)
            ]
            return OptimizerState(moved, state.tree_def)

        def tree_get_params(state: OptimizerState) -> Any:
            leaves = [get_params(s) for s in state.packed_state]
            return tree.unflatten(state.tree_def, leaves)

        return Optimizer(tree_init, tree_update, tree_get_params)

    return tree_opt_maker


# -- optimisers of one array ---------------------------------------------------------


def first_of(state: tuple) -> Any:
    """The array, of a state that begins with it."""
    return state[0]


@optimizer
def sgd(step_size: Any) -> tuple:
    """Gradient descent; `step_size` is a number, or a schedule, as in all others."""
    rate = make_schedule(step_size)

    def update(i: Any, g: Any, x: Any) -> Any:
        return x - rate(i) * g

    return (lambda x: x), update, (lambda x: x)


@optimizer
def momentum(step_size: Any, mass: float) -> tuple:
    """Gradient descent with a velocity, of which `mass` is kept in each step."""
    rate = make_schedule(step_size)

    def init(x: Any) -> tuple:
        return x, np.zeros_like(x)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, velocity = state
        velocity = mass * velocity + g
        return x - rate(i) * velocity, velocity

    return init, update, first_of


@optimizer
def nesterov(step_size: Any, mass: float) -> tuple:
    """Gradient descent with Nesterov's momentum."""
    rate = make_schedule(step_size)

    def init(x: Any) -> tuple:
        return x, np.zeros_like(x)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, velocity = state
        velocity = mass * velocity + g
        return x - rate(i) * (mass * velocity + g), velocity

    return init, update, first_of


@optimizer
def adagrad(step_size: Any, momentum: float = 0.9) -> tuple:
    """Adagrad (Duchi, Hazan and Singer, 2011), with momentum."""
    rate = make_schedule(step_size)

    def init(x: Any) -> tuple:
        return x, np.zeros_like(x), np.zeros_like(x)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, squares, m = state
        squares = squares + np.square(g)
        seen = squares > 0
        scale = np.where(seen, 1.0 / np.sqrt(np.where(seen, squares, 1.0)), 0.0)
        m = (1.0 - momentum) * (g * scale) + momentum * m
        return x - rate(i) * m, squares, m

    return init, update, first_of


@optimizer
def rmsprop(step_size: Any, gamma: float = 0.9, eps: float = 1e-8) -> tuple:
    """RMSProp (Hinton, 2012): steps in units of a mean of past gradients' sizes."""
    rate = make_schedule(step_size)

    def init(x: Any) -> tuple:
        return x, np.zeros_like(x)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, squares = state
        squares = squares * gamma + np.square(g) * (1.0 - gamma)
        return x - rate(i) * g / np.sqrt(squares + eps), squares

    return init, update, first_of


@optimizer
def rmsprop_momentum(
    step_size: Any, gamma: float = 0.9, eps: float = 1e-8, momentum: float = 0.9
) -> tuple:
    """RMSProp with momentum."""
    rate = make_schedule(step_size)

    def init(x: Any) -> tuple:
        return x, np.zeros_like(x), np.zeros_like(x)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, squares, moved = state
        squares = squares * gamma + np.square(g) * (1.0 - gamma)
        moved = momentum * moved + rate(i) * g / np.sqrt(squares + eps)
        return x - moved, squares, moved

    return init, update, first_of


@optimizer
def adam(
    step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> tuple:
    """Adam (Kingma and Ba, 2015)."""
    rate = make_schedule(step_size)

    def init(x: Any) -> tuple:
        return x, np.zeros_like(x), np.zeros_like(x)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, m, v = state
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * np.square(g) + b2 * v
        mean = m / (1 - b1 ** (i + 1))
        square = v / (1 - b2 ** (i + 1))
        return x - rate(i) * mean / (np.sqrt(square) + eps), m, v

    return init, update, first_of


@optimizer
def adamax(
    step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> tuple:
    """AdaMax (Kingma and Ba, 2015): Adam with the largest of past gradients."""
    rate = make_schedule(step_size)

    def init(x: Any) -> tuple:
        return x, np.zeros_like(x), np.zeros_like(x)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, m, u = state
        m = (1 - b1) * g + b1 * m
        u = np.maximum(b2 * u, np.abs(g))
        return x - (rate(i) / (1 - b1 ** (i + 1))) * m / (u + eps), m, u

    return init, update, first_of


@optimizer
def sm3(step_size: Any, momentum: float = 0.9) -> tuple:
    """SM3 (Anil, Gupta, Koren and Singer, 2019): a number for each row and column."""
    rate = make_schedule(step_size)

    def init(x: Any) -> tuple:
        ndim = max(np.ndim(x), 1)
        sizes = [
            np.max(np.zeros_like(np.atleast_1d(x)), _but(ndim, k)) for k in range(ndim)
        ]
        return np.atleast_1d(x), np.zeros_like(np.atleast_1d(x)), sizes, np.shape(x)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, m, sizes, shape = state
        ndim = np.ndim(x)
        least = np.expand_dims(sizes[0], _but(ndim, 0))
        for k in range(1, ndim):
            least = np.minimum(least, np.expand_dims(sizes[k], _but(ndim, k)))
        squares = least + np.square(g)
        seen = squares > 0
        scale = np.where(seen, 1.0 / np.sqrt(np.where(seen, squares, 1.0)), 0.0)
        m = (1.0 - momentum) * (g * scale) + momentum * m
        sizes = [np.max(squares, _but(ndim, k)) for k in range(ndim)]
        return x - rate(i) * m, m, sizes, shape

    def get_params(state: tuple) -> Any:
        x, _, _, shape = state
        return np.reshape(x, shape)

    return init, update, get_params


def _but(ndim: int, axis: int) -> tuple[int, ...]:
    """All axes but one."""
    return tuple(k for k in range(ndim) if k != axis)


# -- schedules -----------------------------------------------------------------------


def constant(step_size: float) -> Schedule:
    """The same number in each step."""
    return lambda i: step_size


def exponential_decay(
    step_size: float, decay_steps: float, decay_rate: float
) -> Schedule:
    """`step_size * decay_rate ** (i / decay_steps)`."""
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(
    step_size: float, decay_steps: float, decay_rate: float, staircase: bool = False
) -> Schedule:
    """`step_size / (1 + decay_rate * i / decay_steps)`; in steps, if `staircase`."""
    if staircase:
        return lambda i: step_size / (1 + decay_rate * np.floor(i / decay_steps))
    return lambda i: step_size / (1 + decay_rate * i / decay_steps)


def polynomial_decay(
    step_size: float, decay_steps: float, final_step_size: float, power: float = 1.0
) -> Schedule:
    """From `step_size` to `final_step_size`, in `decay_steps` steps."""

    def schedule(i: Any) -> Any:
        left = (1 - np.minimum(i, decay_steps) / decay_steps) ** power
        return left * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries: Sequence, values: Sequence) -> Schedule:
    """`values[k]` in the steps after `boundaries[k - 1]`, up to `boundaries[k]`.

    Raises:
        ValueError: there is not one value more than there are boundaries.
    """
    ends, numbers = np.array(boundaries), np.array(values)
    if ends.ndim != 1 or numbers.ndim != 1:
        raise ValueError("boundaries and values are sequences of numbers")
    if len(ends) != len(numbers) - 1:
        raise ValueError(
            f"{len(ends)} boundaries need {len(ends) + 1} values, not {len(numbers)}"
        )
    return lambda i: numbers[np.sum(i > ends)]


def make_schedule(scalar_or_schedule: Any) -> Schedule:
    """A schedule, of a number or a schedule. Raises TypeError for what is neither."""
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if np.ndim(scalar_or_schedule) != 0:
        raise TypeError("a step size is a number, or a function of the step")
    return constant(scalar_or_schedule)


# -- gradients -----------------------------------------------------------------------


def l2_norm(params: Any) -> Any:
    """The square root of the sum of all squares in a pytree."""
    return np.sqrt(sum(np.sum(np.square(x)) for x in tree.leaves(params)))


def clip_grads(grad_tree: Any, max_norm: float) -> Any:
    """The gradients, made shorter where their `l2_norm` is more than `max_norm`."""
    norm = l2_norm(grad_tree)
    return tree.map(
        lambda g: np.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree
    )


class JoinPoint:
    """Where the state of one array is in a tree of the structure of the parameters."""

    def __init__(self, subtree: Any) -> None:
        self.subtree = subtree


def unpack_optimizer_state(opt_state: OptimizerState) -> Any:
    """The state as a tree like the parameters, with a `JoinPoint` for each array."""
    points = [JoinPoint(state) for state in opt_state.packed_state]
    return tree.unflatten(opt_state.tree_def, points)


def pack_optimizer_state(marked_pytree: Any) -> OptimizerState:
    """The state of which `unpack_optimizer_state` gave the tree."""
    points, structure = tree.flatten(marked_pytree)
    return OptimizerState([point.subtree for point in points], structure)


__all__ = [
    "JoinPoint",
    "Optimizer",
    "OptimizerState",
    "adagrad",
    "adam",
    "adamax",
    "clip_grads",
    "constant",
    "exponential_decay",
    "inverse_time_decay",
    "l2_norm",
    "make_schedule",
    "momentum",
    "nesterov",
    "optimizer",
    "pack_optimizer_state",
    "piecewise_constant",
    "polynomial_decay",
    "rmsprop",
    "rmsprop_momentum",
    "sgd",
    "sm3",
    "unpack_optimizer_state",
]
