"""Transformations of a line: scale, clip, decay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from srcjax import tree
from srcjax.optim.base import (
    GradientTransformation,
    Rate,
    Schedule,
    global_norm,
    needs_params,
    stateless,
)
from srcjax.optim.combine import masked


def scale(step_size: float) -> GradientTransformation:
    """Updates times a number."""
    return stateless(lambda updates, params: tree.map(lambda u: step_size * u, updates))


class ScaleByScheduleState(NamedTuple):
    """The number of steps that were made."""

    count: int  # type: ignore[assignment]


def scale_by_schedule(step_size_fn: Schedule) -> GradientTransformation:
    """Updates times `step_size_fn(count)`; the first step has the count 0."""

    def init(params: Any) -> ScaleByScheduleState:
        return ScaleByScheduleState(0)

    def update(updates: Any, state: ScaleByScheduleState, params: Any = None) -> tuple:
        size = step_size_fn(state.count)
        updates = tree.map(lambda u: size * u, updates)
        return updates, ScaleByScheduleState(state.count + 1)

    return GradientTransformation(init, update)


def scale_by_learning_rate(
    learning_rate: Rate, *, flip_sign: bool = True
) -> GradientTransformation:
    """Updates times `-learning_rate`, which may be a schedule: a step downhill."""
    sign = -1 if flip_sign else 1
    if callable(learning_rate):
        return scale_by_schedule(lambda count: sign * learning_rate(count))
    return scale(sign * learning_rate)


def add_decayed_weights(
    weight_decay: float = 0.0, mask: Any | Callable[[Any], Any] | None = None
) -> GradientTransformation:
    """Updates plus `weight_decay * params`, where the mask is True if there is one.

    Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019,
    https://arxiv.org/abs/1711.05101
    """

    def decayed(updates: Any, params: Any) -> Any:
        needs_params("add_decayed_weights", params)
        return tree.map(lambda u, p: u + weight_decay * p, updates, params)

    return stateless(decayed) if mask is None else masked(stateless(decayed), mask)


def clip(max_delta: float) -> GradientTransformation:
    """Each number of the updates clipped to `-max_delta ... max_delta`."""
    return stateless(
        lambda updates, params: tree.map(
            lambda u: np.clip(u, -max_delta, max_delta), updates
        )
    )


def clip_by_global_norm(max_norm: float) -> GradientTransformation:
    """Updates scaled down to the norm `max_norm`, if theirs is larger.

    Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural
    networks", 2013, https://arxiv.org/abs/1211.5063
    """

    def clipped(updates: Any, params: Any) -> Any:
        norm = global_norm(updates)
        if norm < max_norm:
            return updates
        return tree.map(lambda u: u / norm.astype(u.dtype) * max_norm, updates)

    return stateless(clipped)


def clip_by_block_rms(threshold: float) -> GradientTransformation:
    """Each array of the updates scaled down to a root mean square of `threshold`."""

    def clipped(u: Any) -> Any:
        return u / np.maximum(1.0, np.sqrt(np.mean(np.abs(u) ** 2)) / threshold)

    return stateless(lambda updates, params: tree.map(clipped, updates))


def scale_by_param_block_rms(min_scale: float = 1e-3) -> GradientTransformation:
    """Each array of the updates times the root mean square of its parameter."""

    def scaled(u: Any, p: Any) -> Any:
        return u * np.maximum(np.sqrt(np.mean(np.abs(p) ** 2)), min_scale)

    def update(updates: Any, params: Any) -> Any:
        needs_params("scale_by_param_block_rms", params)
        return tree.map(scaled, updates, params)

    return stateless(update)


def scale_by_trust_ratio(
    min_norm: float = 0.0, trust_coefficient: float = 1.0, eps: float = 0.0
) -> GradientTransformation:
    """Each array `u` of the updates times `|p| / |u|`, with the norm of its parameter.

    You et al., "Large Batch Optimization for Deep Learning", 2020,
    https://arxiv.org/abs/1904.00962
    """

    def norm(x: Any) -> Any:
        return np.maximum(np.sqrt(np.sum(np.abs(x) ** 2)), min_norm)

    def scaled(u: Any, p: Any) -> Any:
        if norm(p) == 0 or norm(u) == 0:
            return u
        return u * (trust_coefficient * norm(p) / (norm(u) + eps))

    def update(updates: Any, params: Any) -> Any:
        needs_params("scale_by_trust_ratio", params)
        return tree.map(scaled, updates, params)

    return stateless(update)
