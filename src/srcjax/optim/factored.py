"""Adafactor: second moments of matrices from their rows and columns.

Shazeer and Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost",
2018, https://arxiv.org/abs/1804.04235
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from srcjax import tree
from srcjax.optim.base import GradientTransformation, Rate, needs_params
from srcjax.optim.combine import chain
from srcjax.optim.momentum import ema
from srcjax.optim.simple import (
    add_decayed_weights,
    clip_by_block_rms,
    scale,
    scale_by_learning_rate,
    scale_by_param_block_rms,
)


class FactoredState(NamedTuple):
    """The number of steps, and for each parameter either `v_row` and `v_col` or `v`;
    what is not used is an array of one zero.
    """

    count: int  # type: ignore[assignment]
    v_row: Any
    v_col: Any
    v: Any


class _Moments(NamedTuple):
    update: Any
    v_row: Any
    v_col: Any
    v: Any


def factored_axes(shape: tuple[int, ...], smallest: int) -> tuple[int, int] | None:
    """The two longest axes, the longer one last; None if they are too short."""
    if len(shape) < 2:
        return None
    order = np.argsort(shape)
    rows, columns = int(order[-2]), int(order[-1])
    return None if shape[rows] < smallest else (rows, columns)


def scale_by_factored_rms(
    factored: bool = True,
    decay_rate: float = 0.8,
    step_offset: int = 0,
    min_dim_size_to_factor: int = 128,
    epsilon: float = 1e-30,
) -> GradientTransformation:
    """Updates over the root of their second moment, which is kept in factors.

    The moment of a matrix is `v_row[:, None] * v_col / mean(v_row)`, from the means of
    the squares along its two longest axes; smaller arrays keep all of it. Its decay at
    step `t`, from 1, is `1 - t**-decay_rate`.
    """

    def axes_of(p: Any) -> tuple[int, int] | None:
        return factored_axes(p.shape, min_dim_size_to_factor) if factored else None

    def start(p: Any) -> _Moments:
        none = np.zeros((1,), p.dtype)
        axes = axes_of(p)
        if axes is None:
            return _Moments(none, none, none, np.zeros_like(p))
        rows, columns = axes
        return _Moments(
            none,
            np.zeros_like(np.take(p, 0, axis=columns)),
            np.zeros_like(np.take(p, 0, axis=rows)),
            none,
        )

    def init(params: Any) -> FactoredState:
        return state_from(0, tree.map(start, params))

    def update(grads: Any, state: FactoredState, params: Any = None) -> tuple:
        needs_params("scale_by_factored_rms", params)
        t = state.count - step_offset + 1.0
        b2 = 1 - t**-decay_rate

        def step(g: Any, v_row: Any, v_col: Any, v: Any, p: Any) -> _Moments:
            axes = axes_of(p)
            squares = np.abs(g) ** 2 + epsilon
            if axes is None:
                v = (b2 * v + (1 - b2) * squares).astype(p.dtype)
                return _Moments(g / np.sqrt(v), v_row, v_col, v)
            rows, columns = axes
            v_row = b2 * v_row + (1 - b2) * np.mean(squares, axis=columns)
            v_col = b2 * v_col + (1 - b2) * np.mean(squares, axis=rows)
            v_row, v_col = v_row.astype(p.dtype), v_col.astype(p.dtype)
            kept = rows - 1 if rows > columns else rows  # the axis of rows in v_row
            row = v_row / np.mean(v_row, axis=kept, keepdims=True)
            scaled = g / np.sqrt(np.expand_dims(row, columns))
            return _Moments(
                scaled / np.sqrt(np.expand_dims(v_col, rows)), v_row, v_col, v
            )

        found = tree.map(step, grads, state.v_row, state.v_col, state.v, params)
        return parts(found, "update"), state_from(state.count + 1, found)

    return GradientTransformation(init, update)


def parts(moments: Any, name: str) -> Any:
    """The tree of one of the parts of the moments of each parameter."""
    return tree.map(
        lambda m: getattr(m, name), moments, is_leaf=lambda m: isinstance(m, _Moments)
    )


def state_from(count: int, moments: Any) -> FactoredState:
    """The state with what was found for each parameter."""
    v_row, v_col, v = (parts(moments, name) for name in ("v_row", "v_col", "v"))
    return FactoredState(count, v_row, v_col, v)


def adafactor(
    learning_rate: Rate | None = None,
    min_dim_size_to_factor: int = 128,
    decay_rate: float = 0.8,
    decay_offset: int = 0,
    multiply_by_parameter_scale: bool = True,
    clipping_threshold: float | None = 1.0,
    momentum: float | None = None,
    dtype_momentum: Any = np.float32,
    weight_decay_rate: float | None = None,
    eps: float = 1e-30,
    factored: bool = True,
    weight_decay_mask: Any | Callable[[Any], Any] | None = None,
) -> GradientTransformation:
    """Adafactor: steps over the root of factored second moments.

    They are clipped to a root mean square of `clipping_threshold`, and scaled by the
    learning rate and by the root mean square of each parameter.
    """
    steps = [
        scale_by_factored_rms(
            factored, decay_rate, decay_offset, min_dim_size_to_factor, eps
        )
    ]
    if clipping_threshold is not None:
        steps.append(clip_by_block_rms(clipping_threshold))
    if learning_rate is not None:
        steps.append(scale_by_learning_rate(learning_rate, flip_sign=False))
    if multiply_by_parameter_scale:
        steps.append(scale_by_param_block_rms())
    if momentum is not None:
        steps.append(ema(momentum, debias=False, accumulator_dtype=dtype_momentum))
    if weight_decay_rate is not None:
        steps.append(add_decayed_weights(weight_decay_rate, mask=weight_decay_mask))
    return chain(*steps, scale(-1))
