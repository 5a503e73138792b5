"""More of Adam's relatives, and steps of signs alone.

`m` is the moving mean of the gradients `g`, `v` that of what the rule divides by, `t`
the number of the step, from 1.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from srcjax import tree
from srcjax.optim.adaptive import Mask, ScaleByAdamState, first_moment, second_moment
from srcjax.optim.base import (
    GradientTransformation,
    Rate,
    full_like,
    identity,
    stateless,
    zeros_like,
)
from srcjax.optim.combine import chain
from srcjax.optim.simple import add_decayed_weights, scale_by_learning_rate


class ScaleByBeliefState(NamedTuple):
    """The number of steps, and the two moments."""

    count: int  # type: ignore[assignment]
    mu: Any
    nu: Any


def scale_by_belief(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-16, eps_root: float = 1e-16
) -> GradientTransformation:
    """Updates by the rule of AdaBelief (see `adabelief`)."""

    def init(params: Any) -> ScaleByBeliefState:
        return ScaleByBeliefState(0, zeros_like(params), zeros_like(params))

    def update(updates: Any, state: ScaleByBeliefState, params: Any = None) -> tuple:
        t = state.count + 1
        m = first_moment(state.mu, updates, b1)
        errors = tree.map(lambda g, m: g - m, updates, m)
        v = second_moment(state.nu, errors, b2)
        v = tree.map(lambda v: v + eps_root, v)

        def step(m: Any, v: Any) -> Any:
            return m / (1 - b1**t) / (np.sqrt(v / (1 - b2**t)) + eps)

        return tree.map(step, m, v), ScaleByBeliefState(t, m, v)

    return GradientTransformation(init, update)


def adabelief(
    learning_rate: Rate,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-16,
    eps_root: float = 1e-16,
) -> GradientTransformation:
    """AdaBelief: Adam with the mean of `(g - m)**2` for that of `g**2`.

    Zhuang et al., "AdaBelief Optimizer", 2020, https://arxiv.org/abs/2010.07468
    """
    return chain(
        scale_by_belief(b1, b2, eps, eps_root), scale_by_learning_rate(learning_rate)
    )


def scale_by_yogi(
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-3,
    eps_root: float = 0.0,
    initial_accumulator_value: float = 1e-6,
) -> GradientTransformation:
    """Updates by the rule of Yogi (see `yogi`)."""

    def init(params: Any) -> ScaleByAdamState:
        value = initial_accumulator_value
        return ScaleByAdamState(0, full_like(params, value), full_like(params, value))

    def update(updates: Any, state: ScaleByAdamState, params: Any = None) -> tuple:
        t = state.count + 1
        m = first_moment(state.mu, updates, b1)

        def moved(v: Any, g: Any) -> Any:
            square = np.abs(g) ** 2
            return v - (1 - b2) * np.sign(v - square) * square

        v = tree.map(moved, state.nu, updates)

        def step(m: Any, v: Any) -> Any:
            return m / (1 - b1**t) / (np.sqrt(v / (1 - b2**t) + eps_root) + eps)

        return tree.map(step, m, v), ScaleByAdamState(t, m, v)

    return GradientTransformation(init, update)


def yogi(
    learning_rate: Rate, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-3
) -> GradientTransformation:
    """Yogi: Adam whose `v` moves towards `g**2` by no more than `(1 - b2) * g**2`.

    Zaheer et al., "Adaptive Methods for Nonconvex Optimization", 2018.
    """
    return chain(scale_by_yogi(b1, b2, eps), scale_by_learning_rate(learning_rate))


def scale_by_radam(
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    threshold: float = 5.0,
) -> GradientTransformation:
    """Updates by the rule of rectified Adam (see `radam`)."""
    most = 2 / (1 - b2) - 1

    def init(params: Any) -> ScaleByAdamState:
        return ScaleByAdamState(0, zeros_like(params), zeros_like(params))

    def update(updates: Any, state: ScaleByAdamState, params: Any = None) -> tuple:
        t = state.count + 1
        m = first_moment(state.mu, updates, b1)
        v = second_moment(state.nu, updates, b2)
        rho = most - 2 * t * b2**t / (1 - b2**t)

        def step(m: Any, v: Any) -> Any:
            m_hat = m / (1 - b1**t)
            if rho < threshold:
                return m_hat
            known = (rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho)
            v_hat = v / (1 - b2**t)
            return math.sqrt(known) * m_hat / (np.sqrt(v_hat + eps_root) + eps)

        return tree.map(step, m, v), ScaleByAdamState(t, m, v)

    return GradientTransformation(init, update)


def radam(
    learning_rate: Rate,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    threshold: float = 5.0,
) -> GradientTransformation:
    """Rectified Adam: `m_hat` alone until `v` is known well enough.

    So it is where `rho`, the length of the mean in steps, reaches `threshold`, which is
    more than 4.

    Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond", 2020,
    https://arxiv.org/abs/1908.03265
    """
    return chain(
        scale_by_radam(b1, b2, eps, eps_root, threshold),
        scale_by_learning_rate(learning_rate),
    )


def scale_by_adamax(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> GradientTransformation:
    """Updates by the rule of Adamax (see `adamax`)."""

    def init(params: Any) -> ScaleByAdamState:
        return ScaleByAdamState(0, zeros_like(params), zeros_like(params))

    def update(updates: Any, state: ScaleByAdamState, params: Any = None) -> tuple:
        t = state.count + 1
        m = first_moment(state.mu, updates, b1)
        v = tree.map(
            lambda v, g: np.maximum(np.abs(g) + eps, b2 * v), state.nu, updates
        )
        new = tree.map(lambda m, v: m / (1 - b1**t) / v, m, v)
        return new, ScaleByAdamState(t, m, v)

    return GradientTransformation(init, update)


def adamax(
    learning_rate: Rate, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> GradientTransformation:
    """Adamax: `m_hat / v` with `v = max(|g| + eps, b2 * v)`.

    Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015,
    https://arxiv.org/abs/1412.6980
    """
    return chain(scale_by_adamax(b1, b2, eps), scale_by_learning_rate(learning_rate))


def adamaxw(
    learning_rate: Rate,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 1e-4,
    mask: Mask = None,
) -> GradientTransformation:
    """Adamax with decoupled weight decay (see `adamw`)."""
    return chain(
        scale_by_adamax(b1, b2, eps),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(learning_rate),
    )


class ScaleByAdaDeltaState(NamedTuple):
    """The moving means of the squares of gradients and of updates."""

    e_g: Any
    e_x: Any


def scale_by_adadelta(rho: float = 0.9, eps: float = 1e-6) -> GradientTransformation:
    """Updates by the rule of Adadelta (see `adadelta`)."""

    def init(params: Any) -> ScaleByAdaDeltaState:
        return ScaleByAdaDeltaState(zeros_like(params), zeros_like(params))

    def update(updates: Any, state: ScaleByAdaDeltaState, params: Any = None) -> tuple:
        e_g = second_moment(state.e_g, updates, rho)

        def step(g: Any, e_g: Any, e_x: Any) -> Any:
            return np.sqrt(e_x + eps) / np.sqrt(e_g + eps) * g

        new = tree.map(step, updates, e_g, state.e_x)
        return new, ScaleByAdaDeltaState(e_g, second_moment(state.e_x, new, rho))

    return GradientTransformation(init, update)


def adadelta(
    learning_rate: Rate | None = None,
    rho: float = 0.9,
    eps: float = 1e-6,
    weight_decay: float = 0.0,
    weight_decay_mask: Mask = None,
) -> GradientTransformation:
    """Adadelta: `g * sqrt(mean of updates**2 + eps) / sqrt(mean of g**2 + eps)`.

    Zeiler, "Adadelta: An Adaptive Learning Rate Method", 2012,
    https://arxiv.org/abs/1212.5701
    """
    return chain(
        add_decayed_weights(weight_decay, weight_decay_mask),
        scale_by_adadelta(rho, eps),
        scale_by_learning_rate(learning_rate) if learning_rate else identity(),
    )


def scale_by_sign() -> GradientTransformation:
    """The signs of the updates."""
    return stateless(lambda updates, params: tree.map(np.sign, updates))


def sign_sgd(learning_rate: Rate) -> GradientTransformation:
    """Steps of one length: `p = p - learning_rate * sign(g)`.

    Bernstein et al., "signSGD", 2018, https://arxiv.org/abs/1802.04434
    """
    return chain(scale_by_sign(), scale_by_learning_rate(learning_rate))
