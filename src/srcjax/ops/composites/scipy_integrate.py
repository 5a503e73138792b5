"""`scipy.integrate`: `odeint` by a method that derivatives go through.

SciPy's own solver is no Python. Where a derivative is asked for, the equation is solved
by the pair of Dormand and Prince of the orders 5 and 4 (1980), with steps that keep the
estimated error within odeint's own tolerances, so that the value agrees with that of
odeint to about these. The derivative is that of the steps taken, to any order; their
sizes count as constants, but for the last one before each time of `t`, so that the
times have derivatives too. What `func` takes from around it is differentiated.

The method is explicit: a stiff equation takes more steps than allowed, and raises.
"""

from __future__ import annotations

import numpy as np
import scipy.integrate

from srcjax.analysis.types import with_active
from srcjax.ops.batch_kinds import batch, elementwise
from srcjax.ops.record import composite, inert


def constant(x):
    """`x`, through which no derivative flows."""
    return x


inert(constant, infer=lambda x: with_active(x, False), alias="same")
batch(constant)(elementwise)


def rate(func, y, t, args, tfirst):
    """The derivative of `y` to time, as an array."""
    if len(args) > 3:
        raise NotImplementedError("more than three `args`")
    if tfirst and len(args) == 0:
        return np.asarray(func(t, y))
    if tfirst and len(args) == 1:
        return np.asarray(func(t, y, args[0]))
    if tfirst and len(args) == 2:
        return np.asarray(func(t, y, args[0], args[1]))
    if tfirst:
        return np.asarray(func(t, y, args[0], args[1], args[2]))
    if len(args) == 0:
        return np.asarray(func(y, t))
    if len(args) == 1:
        return np.asarray(func(y, t, args[0]))
    if len(args) == 2:
        return np.asarray(func(y, t, args[0], args[1]))
    return np.asarray(func(y, t, args[0], args[1], args[2]))


def advanced(func, y, start, end, args, tfirst, rtol, atol):
    """`y` at the time `end`, from its value at `start`."""
    t = start
    h = constant((end - start) / 16)
    steps = 0
    while constant(t) != constant(end):
        steps += 1
        if steps > 20000:
            raise RuntimeError("too many steps: the equation may be stiff")
        last = constant(abs(end - t)) <= constant(abs(h)) * 1.000001
        step = end - t if last else h
        a = rate(func, y, t, args, tfirst)
        b = rate(func, y + step * a / 5, t + step / 5, args, tfirst)
        c = rate(func, y + step * (3 * a + 9 * b) / 40, t + step * 3 / 10, args, tfirst)
        d = rate(
            func,
            y + step * (44 / 45 * a - 56 / 15 * b + 32 / 9 * c),
            t + step * 4 / 5,
            args,
            tfirst,
        )
        e = rate(
            func,
            y
            + step
            * (19372 / 6561 * a - 25360 / 2187 * b + 64448 / 6561 * c - 212 / 729 * d),
            t + step * 8 / 9,
            args,
            tfirst,
        )
        f = rate(
            func,
            y
            + step
            * (
                9017 / 3168 * a
                - 355 / 33 * b
                + 46732 / 5247 * c
                + 49 / 176 * d
                - 5103 / 18656 * e
            ),
            t + step,
            args,
            tfirst,
        )
        new = y + step * (
            35 / 384 * a
            + 500 / 1113 * c
            + 125 / 192 * d
            - 2187 / 6784 * e
            + 11 / 84 * f
        )
        g = rate(func, new, t + step, args, tfirst)
        error = constant(
            step
            * (
                71 / 57600 * a
                - 71 / 16695 * c
                + 71 / 1920 * d
                - 17253 / 339200 * e
                + 22 / 525 * f
                - 1 / 40 * g
            )
        )
        allowed = atol + rtol * np.maximum(np.abs(constant(y)), np.abs(constant(new)))
        size = np.max(np.abs(error) / allowed)
        if size <= 1:
            y = new
            t = end if last else t + step
        h = constant(step) * min(5.0, max(0.2, 0.9 * max(size, 1e-10) ** -0.2))
    return y


@composite(scipy.integrate.odeint)
def odeint(
    func,
    y0,
    t,
    args=(),
    Dfun=None,  # noqa: N803  (SciPy's name)
    col_deriv=0,
    full_output=0,
    ml=None,
    mu=None,
    rtol=None,
    atol=None,
    tcrit=None,
    h0=0.0,
    hmax=0.0,
    hmin=0.0,
    ixpr=0,
    mxstep=0,
    mxhnil=0,
    mxordn=12,
    mxords=5,
    printmessg=0,
    tfirst=False,
):
    if full_output:
        raise NotImplementedError("`full_output`")
    relative = 1.49012e-8 if rtol is None else rtol
    absolute = 1.49012e-8 if atol is None else atol
    y = np.atleast_1d(np.asarray(y0)) * 1.0
    found = [y]
    for i in range(1, len(t)):
        y = advanced(func, y, t[i - 1], t[i], args, tfirst, relative, absolute)
        found.append(y)
    return np.stack(found)


@composite(scipy.integrate.trapezoid, real_only=False)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """NumPy's own."""
    return np.trapezoid(y, x, dx, axis)


@composite(scipy.integrate.cumulative_trapezoid, real_only=False)
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    y = np.moveaxis(np.asarray(y), axis, -1)
    if x is None:
        width = dx
    elif np.ndim(x) == 1:
        width = np.diff(x)
    else:
        width = np.diff(np.moveaxis(np.asarray(x), axis, -1))
    sums = np.cumsum(width * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)
    if initial is not None:
        sums = np.concatenate([np.zeros_like(y[..., :1]), sums], axis=-1)
    return np.moveaxis(sums, -1, axis)


@composite(scipy.integrate.simpson)
def simpson(y, x=None, *, dx=1.0, axis=-1):
    """Parabolas through three values each, and Cartwright's end of an even number.

    K. V. Cartwright, Simpson's rule with MS Excel and irregularly-spaced data, 2017.
    """
    y = np.moveaxis(np.asarray(y), axis, -1)
    if x is None:
        h = np.full(y.shape[-1] - 1, dx)
    elif np.ndim(x) == 1:
        h = np.diff(x)
    else:
        h = np.diff(np.moveaxis(np.asarray(x), axis, -1))
    n = y.shape[-1]
    if n == 2:
        return np.sum(h * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)
    last = n - 1 if n % 2 == 1 else n - 2
    first, second = h[..., 0:last:2], h[..., 1:last:2]
    both = first + second
    found = np.sum(
        both
        / 6
        * (
            y[..., 0:last:2] * (2 - second / first)
            + y[..., 1:last:2] * both**2 / (first * second)
            + y[..., 2 : last + 1 : 2] * (2 - first / second)
        ),
        axis=-1,
    )
    if n % 2 == 1:
        return found
    a, b = h[..., -2], h[..., -1]
    return (
        found
        + (2 * b**2 + 3 * a * b) / (6 * (a + b)) * y[..., -1]
        + (b**2 + 3 * a * b) / (6 * a) * y[..., -2]
        - b**3 / (6 * a * (a + b)) * y[..., -3]
    )
