"""Ordinary differential equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcjax import tree
from srcjax.analysis.stopped import stop_gradient
from srcjax.flatten_util import as_vector, ravel_pytree

#: Where in a step slopes are taken, behind its begin.
NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
#: The slopes that lead to each of these places; the last one is the end of the step.
STAGES = np.array(
    [
        [1 / 5, 0, 0, 0, 0, 0, 0],
        [3 / 40, 9 / 40, 0, 0, 0, 0, 0],
        [44 / 45, -56 / 15, 32 / 9, 0, 0, 0, 0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0, 0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0, 0],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0],
    ]
)
#: The slopes that lead to the middle of a step.
MIDDLE = np.array(
    [
        6025192743 / 30085553152 / 2,
        0,
        51252292925 / 65400821598 / 2,
        -2691868925 / 45128329728 / 2,
        187940372067 / 1594534317056 / 2,
        -1776094331 / 19743644256 / 2,
        11237099 / 235043384 / 2,
    ]
)
#: How far the end of a step is from that of the method of order 4.
ERROR = np.array(
    [
        35 / 384 - 1951 / 21600,
        0,
        500 / 1113 - 22642 / 50085,
        125 / 192 - 451 / 720,
        -2187 / 6784 + 12231 / 42400,
        11 / 84 - 649 / 6300,
        -1 / 60,
    ]
)


def odeint(
    func: Callable,
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: float = np.inf,
    hmax: float = np.inf,
) -> Any:
    """The solution of `dy/dt = func(y, t, *args)` at times, from `y0` at the first one.

    The pair of Dormand and Prince (1980) of orders 5 and 4, with the control of the
    step and the polynomial of degree 4 between steps that JAX has, so that the values
    are those of JAX. Derivatives go through the steps that were taken, whose lengths
    count as constant: those of the solution as exactly as the solution is, of all
    orders, in both modes. JAX solves an adjoint equation for them.

    Args:
        func: `func(y, t, *args)`, of the structure of `y0`. It may read differentiated
            values from around it.
        y0: a number, an array, or a pytree of arrays, real or complex.
        t: the times: a floating array, increasing.
        args: more arguments of `func`.
        rtol: a step is taken if the mean square of its errors, each divided by
            `atol + rtol * abs(y)`, is at most 1.
        atol: see `rtol`.
        mxstep: the largest number of steps from one time to the next.
        hmax: the largest length of a step.

    Returns:
        The values at the times, along a new first axis, in the structure of `y0`.

    Raises:
        TypeError: the times are no floating array.
        RuntimeError: a time is not reached in `mxstep` steps, or with steps longer than
            nothing, as where values become NaN. (JAX gives numbers there.)
    """
    if t.dtype.kind != "f":
        raise TypeError(f"the times are an array of {t.dtype}, not of floats")

    if isinstance(y0, (np.ndarray, np.generic, int, float, complex)):
        start = np.asarray(y0)

        def slope(y: Any, time: Any) -> Any:
            return np.ravel(func(np.reshape(y, start.shape), time, *args))

        ys = solved(slope, np.ravel(start), t, rtol, atol, mxstep, hmax)
        return np.reshape(ys, (len(t), *start.shape))
    flat, restore = ravel_pytree(y0)

    def slope_of_parts(y: Any, time: Any) -> Any:
        return as_vector(func(restore(y), time, *args))

    ys = solved(slope_of_parts, flat, t, rtol, atol, mxstep, hmax)
    leaves, structure = tree.flatten(y0)
    parts = []
    begin = 0
    for leaf in leaves:
        end = begin + np.size(leaf)
        parts.append(np.reshape(ys[:, begin:end], (len(t), *np.shape(leaf))))
        begin = end
    return tree.unflatten(structure, parts)


def solved(
    slope: Callable,
    y: Any,
    t: Any,
    rtol: float,
    atol: float,
    mxstep: float,
    hmax: float,
) -> Any:
    """The solution of `dy/dt = slope(y, t)` at the times, for a vector `y`."""
    y = y if y.dtype.kind in "fc" else y.astype(float)
    times = t.astype(y.real.dtype)
    stages = STAGES.astype(times.dtype)
    middle_of, error_of = MIDDLE.astype(times.dtype), ERROR.astype(times.dtype)
    now = times[0]
    f = slope(y, now)
    dt = np.minimum(first_step(slope, y, f, now, rtol, atol), hmax)
    last = now
    piece = np.zeros((5, len(y)), y.dtype)
    ys = [y]
    for target in times[1:]:
        steps = 0
        while now < target and steps < mxstep and dt > 0:
            k = slopes(slope, y, f, now, dt, stages)
            y_new = y + dt * (stages[-1] @ k)
            ratio = error_ratio(dt * (error_of @ k), y, y_new, rtol, atol)
            if ratio <= 1:
                middle = y + dt * (middle_of @ k)
                piece = polynomial(y, y_new, middle, dt * f, dt * k[-1])
                last = now
                y, f, now = y_new, k[-1].copy(), now + dt
            dt = np.minimum(next_step(dt, ratio), hmax)
            steps += 1
        if not now >= target:
            raise RuntimeError(f"odeint: {steps} steps do not reach t = {target}")
        share = (target - last) / (now - last)
        value = piece[0]
        for i in range(1, 5):
            value = value * share + piece[i]
        ys.append(value)
    return np.stack(ys)


def slopes(slope: Callable, y: Any, f: Any, t: Any, h: Any, stages: Any) -> Any:
    """The slopes at the places of a step of length `h`, of which `f` is the first.

    Of shape (7, len(y)). The last one is that at the end of the step.
    """
    k = np.zeros((7, len(y)), y.dtype)
    k[0] = f
    for i in range(6):
        k[i + 1] = slope(y + h * (stages[i] @ k), t + NODES[i] * h)
    return k


def error_ratio(error: Any, y: Any, y_new: Any, rtol: float, atol: float) -> Any:
    """How large the error of a step is, beside what it may be."""
    allowed = atol + rtol * np.maximum(np.abs(y), np.abs(y_new))
    return stop_gradient(np.sqrt(np.mean(np.abs(error / allowed) ** 2)))


def next_step(dt: Any, ratio: Any) -> Any:
    """The length of the next step: a tenth of the error takes 10**(1 / 5) of it."""
    if ratio == 0:
        return 10.0 * dt
    least = 1.0 if ratio < 1 else 0.2
    return dt * np.minimum(10.0, np.maximum(0.9 * ratio**-0.2, least))


def first_step(
    slope: Callable, y: Any, f: Any, t: Any, rtol: float, atol: float
) -> Any:
    """The length of the first step (Hairer, Norsett and Wanner, 1993, section II.4)."""
    scale = atol + np.abs(y) * rtol
    of_value = np.sqrt(np.sum(np.abs(y / scale) ** 2))
    of_slope = np.sqrt(np.sum(np.abs(f / scale) ** 2))
    tried = 1e-6
    if of_value >= 1e-5 and of_slope >= 1e-5:
        tried = 0.01 * of_value / of_slope
    change = slope(y + tried * f, t + tried) - f
    of_change = np.sqrt(np.sum(np.abs(change / scale) ** 2)) / tried
    largest = np.maximum(of_slope, of_change)
    best = np.maximum(1e-6, tried * 1e-3)
    if largest > 1e-15:
        best = (0.01 / largest) ** (1 / 5)
    return stop_gradient(np.minimum(100.0 * tried, best))


def polynomial(y0: Any, y1: Any, middle: Any, rise0: Any, rise1: Any) -> Any:
    """The polynomial of degree 4 of the share of a step, the highest power first.

    It has the values at the ends and in the middle, and the slopes at the ends.
    """
    a = 2 * (rise1 - rise0) - 8 * (y0 + y1) + 16 * middle
    b = 5 * rise0 - 3 * rise1 + 18 * y0 + 14 * y1 - 32 * middle
    c = rise1 - 4 * rise0 - 11 * y0 - 5 * y1 + 16 * middle
    return np.stack([a, b, c, rise0, y0])
