"""Adam and its relatives, RMSProp and Adagrad.

`m` is the moving mean of the gradients `g`, `v` that of their squares, `t` the number
of the step, from 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from srcjax import tree
from srcjax.optim.base import (
    GradientTransformation,
    Rate,
    cast,
    full_like,
    identity,
    zeros_like,
)
from srcjax.optim.combine import chain
from srcjax.optim.momentum import trace
from srcjax.optim.simple import (
    add_decayed_weights,
    scale_by_learning_rate,
    scale_by_trust_ratio,
)

Mask = Any | Callable[[Any], Any] | None


def first_moment(m: Any, grads: Any, b1: float) -> Any:
    """`b1 * m + (1 - b1) * g`."""
    return tree.map(lambda m, g: b1 * m + (1 - b1) * g, m, grads)


def second_moment(v: Any, grads: Any, b2: float) -> Any:
    """`b2 * v + (1 - b2) * |g|**2`."""
    return tree.map(lambda v, g: b2 * v + (1 - b2) * np.abs(g) ** 2, v, grads)


class ScaleByAdamState(NamedTuple):
    """The number of steps, and the two moments."""

    count: int  # type: ignore[assignment]
    mu: Any
    nu: Any


def scale_by_adam(
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    mu_dtype: Any = None,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Updates by Adam's rule (see `adam`)."""

    def init(params: Any) -> ScaleByAdamState:
        return ScaleByAdamState(0, zeros_like(params, mu_dtype), zeros_like(params))

    def update(updates: Any, state: ScaleByAdamState, params: Any = None) -> tuple:
        t = state.count + 1
        m = first_moment(state.mu, updates, b1)
        v = second_moment(state.nu, updates, b2)

        def step(g: Any, m: Any, v: Any) -> Any:
            m_hat = m / (1 - b1**t)
            if nesterov:
                m_hat = b1 * m / (1 - b1 ** (t + 1)) + (1 - b1) * g / (1 - b1**t)
            v_hat = v / (1 - b2**t)
            return m_hat / (np.sqrt(v_hat + eps_root) + eps)

        return (
            tree.map(step, updates, m, v),
            ScaleByAdamState(t, cast(m, mu_dtype), v),
        )

    return GradientTransformation(init, update)


def adam(
    learning_rate: Rate,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    mu_dtype: Any = None,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Adam: `p = p - learning_rate * m_hat / (sqrt(v_hat + eps_root) + eps)`.

    `m_hat = m / (1 - b1**t)`, `v_hat = v / (1 - b2**t)`. Kingma and Ba, "Adam: A Method
    for Stochastic Optimization", 2015, https://arxiv.org/abs/1412.6980; with
    `nesterov` Dozat, "Incorporating Nesterov Momentum into Adam", 2016.
    """
    return chain(
        scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=nesterov),
        scale_by_learning_rate(learning_rate),
    )


def adamw(
    learning_rate: Rate,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    mu_dtype: Any = None,
    weight_decay: float = 1e-4,
    mask: Mask = None,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Adam with decoupled weight decay: `weight_decay * p` is added to Adam's step.

    Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019,
    https://arxiv.org/abs/1711.05101
    """
    return chain(
        scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=nesterov),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(learning_rate),
    )


def nadam(
    learning_rate: Rate,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    mu_dtype: Any = None,
) -> GradientTransformation:
    """`adam` with `nesterov`."""
    return adam(learning_rate, b1, b2, eps, eps_root, mu_dtype, nesterov=True)


class ScaleByAmsgradState(NamedTuple):
    """The number of steps, the two moments, and the largest second one so far."""

    count: int  # type: ignore[assignment]
    mu: Any
    nu: Any
    nu_max: Any


def scale_by_amsgrad(
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    mu_dtype: Any = None,
) -> GradientTransformation:
    """Updates by AMSGrad's rule (see `amsgrad`)."""

    def init(params: Any) -> ScaleByAmsgradState:
        v = zeros_like(params)
        return ScaleByAmsgradState(0, zeros_like(params, mu_dtype), v, v)

    def update(updates: Any, state: ScaleByAmsgradState, params: Any = None) -> tuple:
        t = state.count + 1
        m = first_moment(state.mu, updates, b1)
        v = second_moment(state.nu, updates, b2)
        v_max = tree.map(
            lambda largest, v: np.maximum(largest, v / (1 - b2**t)), state.nu_max, v
        )
        step = tree.map(
            lambda m, v: m / (1 - b1**t) / (np.sqrt(v + eps_root) + eps), m, v_max
        )
        return step, ScaleByAmsgradState(t, cast(m, mu_dtype), v, v_max)

    return GradientTransformation(init, update)


def amsgrad(
    learning_rate: Rate,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    mu_dtype: Any = None,
) -> GradientTransformation:
    """Adam with the largest `v_hat` so far in place of `v_hat`.

    Reddi, Kale and Kumar, "On the Convergence of Adam and Beyond", 2018,
    https://openreview.net/forum?id=ryQu7f-RZ (with Adam's corrections, as in optax).
    """
    return chain(
        scale_by_amsgrad(b1, b2, eps, eps_root, mu_dtype),
        scale_by_learning_rate(learning_rate),
    )


def lamb(
    learning_rate: Rate,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-6,
    eps_root: float = 0.0,
    weight_decay: float = 0.0,
    mask: Mask = None,
) -> GradientTransformation:
    """LAMB: Adam's step with weight decay, scaled to the norm of each parameter.

    You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76
    minutes", 2020, https://arxiv.org/abs/1904.00962
    """
    return chain(
        scale_by_adam(b1, b2, eps, eps_root),
        add_decayed_weights(weight_decay, mask),
        scale_by_trust_ratio(),
        scale_by_learning_rate(learning_rate),
    )


class ScaleByRmsState(NamedTuple):
    """The number of steps, and the second moment."""

    count: int  # type: ignore[assignment]
    nu: Any


def scale_by_rms(
    decay: float = 0.9,
    eps: float = 1e-8,
    initial_scale: float = 0.0,
    eps_in_sqrt: bool = True,
    bias_correction: bool = False,
) -> GradientTransformation:
    """Updates by RMSProp's rule (see `rmsprop`)."""

    def init(params: Any) -> ScaleByRmsState:
        return ScaleByRmsState(0, full_like(params, initial_scale))

    def update(updates: Any, state: ScaleByRmsState, params: Any = None) -> tuple:
        t = state.count + 1
        v = second_moment(state.nu, updates, decay)

        def step(g: Any, v: Any) -> Any:
            v_hat = v / (1 - decay**t) if bias_correction else v
            return g / root(v_hat, eps, eps_in_sqrt)

        return tree.map(step, updates, v), ScaleByRmsState(t, v)

    return GradientTransformation(init, update)


def root(v: Any, eps: float, eps_in_sqrt: bool) -> Any:
    """`sqrt(v + eps)`, or `sqrt(v) + eps`."""
    return np.sqrt(v + eps) if eps_in_sqrt else np.sqrt(v) + eps


class ScaleByRStdDevState(NamedTuple):
    """The number of steps, and the two moments."""

    count: int  # type: ignore[assignment]
    mu: Any
    nu: Any


def scale_by_stddev(
    decay: float = 0.9,
    eps: float = 1e-8,
    initial_scale: float = 0.0,
    eps_in_sqrt: bool = True,
    bias_correction: bool = False,
) -> GradientTransformation:
    """Updates over the standard deviation of the gradients so far: `v - m**2`."""

    def init(params: Any) -> ScaleByRStdDevState:
        v = full_like(params, initial_scale)
        return ScaleByRStdDevState(0, zeros_like(params), v)

    def update(updates: Any, state: ScaleByRStdDevState, params: Any = None) -> tuple:
        t = state.count + 1
        m = first_moment(state.mu, updates, decay)
        v = second_moment(state.nu, updates, decay)

        def step(g: Any, m: Any, v: Any) -> Any:
            bias = 1 - decay**t if bias_correction else 1.0
            variance = v / bias - np.abs(m / bias) ** 2
            # Rounding may bring it below zero.
            return g / root(np.maximum(variance, 0), eps, eps_in_sqrt)

        return tree.map(step, updates, m, v), ScaleByRStdDevState(t, m, v)

    return GradientTransformation(init, update)


def rmsprop(
    learning_rate: Rate,
    decay: float = 0.9,
    eps: float = 1e-8,
    initial_scale: float = 0.0,
    eps_in_sqrt: bool = True,
    centered: bool = False,
    momentum: float | None = None,
    nesterov: bool = False,
    bias_correction: bool = False,
) -> GradientTransformation:
    """RMSProp: `p = p - learning_rate * g / sqrt(v + eps)`.

    `v` starts at `initial_scale`. With `centered` it is the variance, `v - m**2`; with
    `eps_in_sqrt=False` the divisor is `sqrt(v) + eps`. The momentum is that of the
    scaled steps. Hinton, lecture 6 of "Neural Networks for Machine Learning", 2012;
    Graves, "Generating Sequences With Recurrent Neural Networks", 2014,
    https://arxiv.org/abs/1308.0850
    """
    by = scale_by_stddev if centered else scale_by_rms
    return chain(
        by(decay, eps, initial_scale, eps_in_sqrt, bias_correction),
        scale_by_learning_rate(learning_rate),
        identity() if momentum is None else trace(momentum, nesterov),
    )


class ScaleByRssState(NamedTuple):
    """The sum of the squares of the gradients so far."""

    sum_of_squares: Any


def scale_by_rss(
    initial_accumulator_value: float = 0.1, eps: float = 1e-7
) -> GradientTransformation:
    """Updates by Adagrad's rule (see `adagrad`)."""

    def init(params: Any) -> ScaleByRssState:
        return ScaleByRssState(full_like(params, initial_accumulator_value))

    def update(updates: Any, state: ScaleByRssState, params: Any = None) -> tuple:
        total = tree.map(lambda s, g: s + np.abs(g) ** 2, state.sum_of_squares, updates)
        step = tree.map(
            lambda g, s: np.where(s > 0, g / np.sqrt(s + eps), 0 * g), updates, total
        )
        return step, ScaleByRssState(total)

    return GradientTransformation(init, update)


def adagrad(
    learning_rate: Rate, initial_accumulator_value: float = 0.1, eps: float = 1e-7
) -> GradientTransformation:
    """Adagrad: `p = p - learning_rate * g / sqrt(s + eps)`, `s` the sum of all `g**2`.

    Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and
    Stochastic Optimization", 2011, https://jmlr.org/papers/v12/duchi11a.html
    """
    return chain(
        scale_by_rss(initial_accumulator_value, eps),
        scale_by_learning_rate(learning_rate),
    )
