"""`scipy.integrate.solve_ivp` by the steps that SciPy takes.

Where a derivative is asked for, SciPy's solver is run once to find its steps, and they
are taken again by the same method of Runge and Kutta, which derivatives go through. The
derivative is that of these steps, to any order: to `y0`, to `args`, to what `fun` takes
from around it, and to the times; the steps are a constant part of the whole time each.

The methods are RK45, of Dormand and Prince (1980), and RK23, of Bogacki and Shampine
(1989), with their interpolants (L. F. Shampine, Some practical Runge-Kutta formulas,
1986), as in SciPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate

from srcjax.analysis.types import UNKNOWN, Array, Tuple, Type
from srcjax.ops.record import composite, inert

METHODS: dict[Any, tuple] = {
    name: (method.A, method.B, method.C, method.P)
    for name, method in (
        ("RK45", scipy.integrate.RK45),
        ("RK23", scipy.integrate.RK23),
    )
}


class Solution:
    """What solve_ivp returns, without events."""

    def __init__(self, t, y):
        self.t = t
        self.y = y
        self.sol = None
        self.t_events = None
        self.y_events = None
        self.status = 0
        self.message = (
            "The solver successfully reached the end of the integration interval."
        )
        self.success = True


def tableau(method):
    """The coefficients of a method, by its name or class."""
    found = METHODS.get(getattr(method, "__name__", method))
    if found is None:
        raise NotImplementedError(f"solve_ivp by {method!r}: only by RK45 or RK23")
    return found


def infer_tableau(method: Type) -> Type:
    name = getattr(method, "value", None)
    found = METHODS.get(getattr(name, "__name__", name))
    if found is None:
        return UNKNOWN
    return Tuple(items=tuple(Array(dtype=a.dtype, shape=a.shape) for a in found))


inert(tableau, infer=infer_tableau)


def steps_taken(fun, t_span, y0, method, t_eval, args, options):
    """Where SciPy's steps end, as parts of the time, and that of each of `t_eval`."""
    start, end = map(float, t_span)
    tableau(method)
    found = scipy.integrate.solve_ivp(
        fun, (start, end), y0, method=method, args=args, **options
    )
    if not found.success:
        raise RuntimeError(f"solve_ivp: {found.message}")
    if t_eval is None or start == end:
        inside = np.zeros(0, int)
    else:
        forward = 1 if end > start else -1
        inside = np.searchsorted(forward * found.t[1:], forward * np.asarray(t_eval))
    parts = (found.t - start) / ((end - start) or 1.0)
    return parts, inside


def infer_steps(**_: Type) -> Type:
    parts = Array(dtype=np.dtype(float), shape=(None,))
    return Tuple(items=(parts, Array(dtype=np.dtype(np.intp), shape=(None,))))


inert(steps_taken, infer=infer_steps)


def stages(fun, t, y, h, args, A, C):  # noqa: N803  (names of the textbooks)
    """The slopes of a step of size `h`, but for the one at its end."""
    K = np.empty((len(C), len(y)))
    for s in range(len(C)):
        K[s] = fun(t + C[s] * h, y + h * (A[s, :s] @ K[:s]), *args)
    return K


@composite(scipy.integrate.solve_ivp, refuses=["dense_output", "events", "vectorized"])
def solve_ivp(
    fun,
    t_span,
    y0,
    method="RK45",
    t_eval=None,
    dense_output=False,
    events=None,
    vectorized=False,
    args=None,
    **options,
):
    more = () if args is None else args
    A, B, C, P = tableau(method)
    parts, inside = steps_taken(fun, t_span, y0, method, t_eval, args, options)
    start, end = t_span
    times = start + (end - start) * parts
    y = np.asarray(y0) * 1.0
    found = [y]
    slopes = []
    for t, after in zip(times[:-1], times[1:], strict=True):
        K = stages(fun, t, y, after - t, more, A, C)
        y = y + (after - t) * (B @ K)
        found.append(y)
        if t_eval is not None:
            last = np.asarray(fun(after, y, *more))
            slopes.append(np.concatenate([K, last[None]]))
    if t_eval is None:
        return Solution(times, np.stack(found, axis=1))
    asked = []
    for t, k in zip(np.asarray(t_eval), inside, strict=True):
        h = times[k + 1] - times[k]
        powers = np.cumprod(np.full(P.shape[1], (t - times[k]) / h))
        asked.append(found[k] + h * (P @ powers @ slopes[k]))
    return Solution(np.asarray(t_eval), np.stack(asked, axis=1))
