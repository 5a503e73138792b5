"""Gradient descent, with momentum, and Lion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from srcjax import tree
from srcjax.optim.base import (
    GradientTransformation,
    Rate,
    cast,
    identity,
    zeros_like,
)
from srcjax.optim.combine import chain
from srcjax.optim.simple import add_decayed_weights, scale_by_learning_rate


class TraceState(NamedTuple):
    """The sum of past updates, older ones counting less."""

    trace: Any


def trace(
    decay: float, nesterov: bool = False, accumulator_dtype: Any = None
) -> GradientTransformation:
    """The sum of the updates so far: `m = g + decay * m`.

    With `nesterov` the step is `g + decay * m`, of the new `m`: Sutskever et al., "On
    the importance of initialization and momentum in deep learning", 2013.
    """

    def init(params: Any) -> TraceState:
        return TraceState(zeros_like(params, accumulator_dtype))

    def update(updates: Any, state: TraceState, params: Any = None) -> tuple:
        def add(g: Any, m: Any) -> Any:
            return g + decay * m

        m = tree.map(add, updates, state.trace)
        step = tree.map(add, updates, m) if nesterov else m
        return step, TraceState(cast(m, accumulator_dtype))

    return GradientTransformation(init, update)


class EmaState(NamedTuple):
    """The number of steps, and the mean of past updates."""

    count: int  # type: ignore[assignment]
    ema: Any


def ema(
    decay: float, debias: bool = True, accumulator_dtype: Any = None
) -> GradientTransformation:
    """The moving mean of the updates: `m = decay * m + (1 - decay) * g`.

    With `debias` the step is `m / (1 - decay**t)`.
    """

    def init(params: Any) -> EmaState:
        return EmaState(0, zeros_like(params, accumulator_dtype))

    def update(updates: Any, state: EmaState, params: Any = None) -> tuple:
        t = state.count + 1
        m = tree.map(lambda m, g: decay * m + (1 - decay) * g, state.ema, updates)
        step = tree.map(lambda m: m / (1 - decay**t), m) if debias else m
        return step, EmaState(t, cast(m, accumulator_dtype))

    return GradientTransformation(init, update)


def sgd(
    learning_rate: Rate,
    momentum: float | None = None,
    nesterov: bool = False,
    accumulator_dtype: Any = None,
) -> GradientTransformation:
    """Gradient descent: `p = p - learning_rate * g`; with momentum `g` is `trace`'s."""
    return chain(
        identity()
        if momentum is None
        else trace(momentum, nesterov, accumulator_dtype),
        scale_by_learning_rate(learning_rate),
    )


class ScaleByLionState(NamedTuple):
    """The number of steps, and the momentum."""

    count: int  # type: ignore[assignment]
    mu: Any


def scale_by_lion(
    b1: float = 0.9, b2: float = 0.99, mu_dtype: Any = None
) -> GradientTransformation:
    """The signs of the momentum (see `lion`)."""

    def init(params: Any) -> ScaleByLionState:
        return ScaleByLionState(0, zeros_like(params, mu_dtype))

    def update(updates: Any, state: ScaleByLionState, params: Any = None) -> tuple:
        step = tree.map(lambda g, m: np.sign((1 - b1) * g + b1 * m), updates, state.mu)
        m = tree.map(lambda g, m: (1 - b2) * g + b2 * m, updates, state.mu)
        return step, ScaleByLionState(state.count + 1, cast(m, mu_dtype))

    return GradientTransformation(init, update)


def lion(
    learning_rate: Rate,
    b1: float = 0.9,
    b2: float = 0.99,
    mu_dtype: Any = None,
    weight_decay: float = 1e-3,
    mask: Any | Callable[[Any], Any] | None = None,
) -> GradientTransformation:
    """Lion: `p = p - learning_rate * (sign(b1 * m + (1 - b1) * g) + weight_decay * p)`.

    Then `m = b2 * m + (1 - b2) * g`. Chen et al., "Symbolic Discovery of Optimization
    Algorithms", 2023, https://arxiv.org/abs/2302.06675
    """
    return chain(
        scale_by_lion(b1, b2, mu_dtype),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(learning_rate),
    )
