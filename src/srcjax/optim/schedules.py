"""Learning rates as functions of the number of steps that were made: 0 at the first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from srcjax.optim.base import Schedule


def constant_schedule(value: float) -> Schedule:
    """The value at all steps."""
    return lambda count: value


def polynomial_schedule(
    init_value: float,
    end_value: float,
    power: float,
    transition_steps: int,
    transition_begin: int = 0,
) -> Schedule:
    """From `init_value` to `end_value`, as a power of what is left of the steps.

    `(init_value - end_value) * (1 - count / transition_steps)**power + end_value`, from
    step `transition_begin` on. Without steps it stays at `init_value`.
    """
    begin = max(transition_begin, 0)

    def schedule(count: int) -> Any:
        if transition_steps <= 0:
            return init_value
        done = min(max(count - begin, 0), transition_steps)
        left = 1 - done / transition_steps
        return (init_value - end_value) * left**power + end_value

    return schedule


def linear_schedule(
    init_value: float,
    end_value: float,
    transition_steps: int,
    transition_begin: int = 0,
) -> Schedule:
    """From `init_value` to `end_value` on a line (see `polynomial_schedule`)."""
    return polynomial_schedule(
        init_value, end_value, 1, transition_steps, transition_begin
    )


def exponential_decay(
    init_value: float,
    transition_steps: int,
    decay_rate: float,
    transition_begin: int = 0,
    staircase: bool = False,
    end_value: float | None = None,
) -> Schedule:
    """`init_value * decay_rate**(count / transition_steps)`, down or up to `end_value`.

    From step `transition_begin` on; with `staircase` the exponent is a whole number.
    """
    begin = max(transition_begin, 0)

    def schedule(count: int) -> Any:
        done = count - begin
        if transition_steps <= 0 or decay_rate == 0:
            return init_value
        exponent = done / transition_steps
        if staircase:
            exponent = math.floor(exponent)
        value = init_value if done <= 0 else init_value * decay_rate**exponent
        if end_value is None:
            return value
        return max(value, end_value) if decay_rate < 1 else min(value, end_value)

    return schedule


def cosine_decay_schedule(
    init_value: float, decay_steps: int, alpha: float = 0.0, exponent: float = 1.0
) -> Schedule:
    """Half a cosine, from `init_value` to `alpha * init_value` in `decay_steps`.

    Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2017,
    https://arxiv.org/abs/1608.03983

    Raises:
        ValueError: there are no steps.
    """
    if decay_steps <= 0:
        raise ValueError(f"cosine_decay_schedule: decay_steps is {decay_steps}")

    def schedule(count: int) -> Any:
        done = min(count, decay_steps) / decay_steps
        cosine = 0.5 * (1 + math.cos(math.pi * done))
        return init_value * ((1 - alpha) * cosine**exponent + alpha)

    return schedule


def piecewise_constant_schedule(
    init_value: float, boundaries_and_scales: Mapping[int, float] | None = None
) -> Schedule:
    """`init_value`, times the scale of each boundary that was reached.

    Raises:
        ValueError: a scale is negative.
    """
    scales = dict(boundaries_and_scales or {})
    if any(scale < 0 for scale in scales.values()):
        raise ValueError(f"piecewise_constant_schedule: negative scale in {scales}")

    def schedule(count: int) -> Any:
        value = init_value
        for boundary in sorted(scales):
            if count >= boundary:
                value = value * scales[boundary]
        return value

    return schedule


def join_schedules(
    schedules: Sequence[Schedule], boundaries: Sequence[int]
) -> Schedule:
    """One schedule after the other: each counts from the boundary where it begins."""

    def schedule(count: int) -> Any:
        value = schedules[0](count)
        for boundary, following in zip(boundaries, schedules[1:], strict=True):
            if count >= boundary:
                value = following(count - boundary)
        return value

    return schedule


def warmup_constant_schedule(
    init_value: float, peak_value: float, warmup_steps: int
) -> Schedule:
    """From `init_value` to `peak_value` on a line, and there from then on."""
    return linear_schedule(init_value, peak_value, warmup_steps)


def warmup_cosine_decay_schedule(
    init_value: float,
    peak_value: float,
    warmup_steps: int,
    decay_steps: int,
    end_value: float = 0.0,
    exponent: float = 1.0,
) -> Schedule:
    """Up to `peak_value` on a line, then down to `end_value` on half a cosine.

    `decay_steps` are all steps, those of the way up among them.
    """
    alpha = 0.0 if peak_value == 0.0 else end_value / peak_value
    return join_schedules(
        [
            linear_schedule(init_value, peak_value, warmup_steps),
            cosine_decay_schedule(
                peak_value, decay_steps - warmup_steps, alpha, exponent
            ),
        ],
        [warmup_steps],
    )


def warmup_exponential_decay_schedule(
    init_value: float,
    peak_value: float,
    warmup_steps: int,
    transition_steps: int,
    decay_rate: float,
    transition_begin: int = 0,
    staircase: bool = False,
    end_value: float | None = None,
) -> Schedule:
    """Up to `peak_value` on a line, then down as `exponential_decay` does."""
    return join_schedules(
        [
            linear_schedule(init_value, peak_value, warmup_steps),
            exponential_decay(
                peak_value,
                transition_steps,
                decay_rate,
                transition_begin,
                staircase,
                end_value,
            ),
        ],
        [warmup_steps],
    )


def sgdr_schedule(cosine_kwargs: Iterable[dict[str, Any]]) -> Schedule:
    """One `warmup_cosine_decay_schedule` after the other, each from `decay_steps` on.

    Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2017,
    https://arxiv.org/abs/1608.03983

    Args:
        cosine_kwargs: the arguments of each.
    """
    given = list(cosine_kwargs)
    ends = itertools.accumulate(one["decay_steps"] for one in given)
    schedules = [warmup_cosine_decay_schedule(**one) for one in given]
    return join_schedules(schedules, list(ends)[:-1])


def cosine_onecycle_schedule(
    transition_steps: int,
    peak_value: float,
    pct_start: float = 0.3,
    div_factor: float = 25.0,
    final_div_factor: float = 1e4,
) -> Schedule:
    """From `peak_value / div_factor` up to `peak_value` and down, on halves of cosines.

    Up in the first `pct_start` of the steps; at the end it is the first value by
    `final_div_factor`. Smith and Topin, "Super-Convergence", 2017,
    https://arxiv.org/abs/1708.07120

    Raises:
        ValueError: there are no steps.
    """
    if transition_steps <= 0:
        raise ValueError(
            f"cosine_onecycle_schedule: transition_steps is {transition_steps}"
        )
    places = [0, int(pct_start * transition_steps), transition_steps]
    first = peak_value / div_factor
    values = [first, peak_value, peak_value / (div_factor * final_div_factor)]

    def schedule(count: int) -> Any:
        if count >= places[2]:
            return values[2]
        k = 0 if count < places[1] else 1
        done = (count - places[k]) / (places[k + 1] - places[k])
        half = (math.cos(math.pi * done) + 1) / 2
        return values[k + 1] + (values[k] - values[k + 1]) * half

    return schedule
