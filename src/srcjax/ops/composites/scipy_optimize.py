"""`scipy.optimize`: roots of functions of one number, and functions to try things on.

A root is found by SciPy's way, through which no derivative flows, and has that of the
equation which it solves: two steps of Newton's method from where it is, the value
without them. Two steps are exact to the third order, whatever the way was.

The slope of the function that they divide by is a difference, which is right to about
nine digits, or that of the user's `fprime`.
"""

from __future__ import annotations

import numpy as np
import scipy.optimize

from srcjax.analysis.types import Array, Tuple, Type
from srcjax.ops.composites.scipy_integrate import constant
from srcjax.ops.record import composite, inert


def slope_of(f, x, args):
    """The derivative of `f` at `x`, from its values to both sides."""
    step = 6e-6 * (1 + np.abs(constant(x)))
    return (f(x + step, *args) - f(x - step, *args)) / (2 * step)


def with_slope(f, root, args):
    """`root`, a constant, with the derivatives of the root of `f` that it is."""
    once = root - f(root, *args) / slope_of(f, root, args)
    twice = once - f(once, *args) / slope_of(f, once, args)
    return root + (twice - constant(twice))


def brent(f, a, b, args, xtol, rtol, maxiter):
    """A root between `a` and `b`, by Brent's method of 1973."""
    before, now = a, b
    f_before = constant(f(before, *args))
    f_now = constant(f(now, *args))
    if f_before == 0:
        return before
    if f_now == 0:
        return now
    if (f_before < 0) == (f_now < 0):
        raise ValueError("f(a) and f(b) must have different signs")
    other, f_other, last, step = before, f_before, 0.0, 0.0
    for _ in range(maxiter):
        if f_before != 0 and f_now != 0 and (f_before < 0) != (f_now < 0):
            other, f_other = before, f_before
            last = step = now - before
        if abs(f_other) < abs(f_now):
            before, now, other = now, other, now
            f_before, f_now, f_other = f_now, f_other, f_now
        small = (xtol + rtol * abs(now)) / 2
        middle = (other - now) / 2
        if f_now == 0 or abs(middle) < small:
            return now
        if abs(last) > small and abs(f_now) < abs(f_before):
            if before == other:
                tried = -f_now * (now - before) / (f_now - f_before)
            else:
                to_before = (f_before - f_now) / (before - now)
                to_other = (f_other - f_now) / (other - now)
                tried = -f_now * (f_other * to_other - f_before * to_before)
                tried = tried / (to_other * to_before * (f_other - f_before))
            if 2 * abs(tried) < min(abs(last), 3 * abs(middle) - small):
                last, step = step, tried
            else:
                last = step = middle
        else:
            last = step = middle
        before, f_before = now, f_now
        if abs(step) > small:
            now = now + step
        else:
            now = now + (small if middle > 0 else -small)
        f_now = constant(f(now, *args))
    raise RuntimeError("Failed to converge")


@composite(
    scipy.optimize.brentq,
    scipy.optimize.brenth,
    scipy.optimize.bisect,
    scipy.optimize.ridder,
    scipy.optimize.toms748,
    refuses=["full_output"],
)
def brentq(
    f,
    a,
    b,
    args=(),
    xtol=2e-12,
    rtol=8.881784197001252e-16,
    maxiter=100,
    full_output=False,
    disp=True,
    k=1,
):
    """All of these find the root to the same precision."""
    if not isinstance(args, tuple):
        args = (args,)
    low, high = constant(a) * 1.0, constant(b) * 1.0
    return with_slope(f, brent(f, low, high, args, xtol, rtol, maxiter), args)


def newton_steps(f, fprime, x, args, tol, rtol, maxiter):
    for _ in range(maxiter):
        f_x = constant(f(x, *args))
        if np.all(f_x == 0):
            return x
        slope = constant(fprime(x, *args))
        if np.any(slope == 0):
            raise RuntimeError("Derivative was zero")
        new = x - f_x / slope
        if np.all(np.abs(new - x) <= tol + rtol * np.abs(x)):
            return new
        x = new
    raise RuntimeError("Failed to converge")


def secant_steps(f, before, now, args, tol, rtol, maxiter):
    f_before, f_now = constant(f(before, *args)), constant(f(now, *args))
    if abs(f_now) < abs(f_before):
        before, now, f_before, f_now = now, before, f_now, f_before
    for _ in range(maxiter):
        if f_now == f_before:
            if now != before:
                raise RuntimeError("Tolerance was reached without a root")
            return (now + before) / 2
        if abs(f_now) > abs(f_before):
            new = (-f_before / f_now * now + before) / (1 - f_before / f_now)
        else:
            new = (-f_now / f_before * before + now) / (1 - f_now / f_before)
        if abs(new - now) <= tol + rtol * abs(now):
            return new
        before, f_before, now = now, f_now, new
        f_now = constant(f(now, *args))
    raise RuntimeError("Failed to converge")


def without_slope(f, x, x1, args, tol, rtol, maxiter):
    """A root by the secant method, from where SciPy starts it."""
    if np.ndim(x) > 0:
        raise NotImplementedError("an array `x0` without `fprime`")
    if x1 is None:
        second = x * (1 + 1e-4) + (1e-4 if x >= 0 else -1e-4)
    else:
        second = constant(x1) * 1.0
    return secant_steps(f, x, second, args, tol, rtol, maxiter)


@composite(scipy.optimize.newton, refuses=["full_output", "fprime2"])
def newton(
    func,
    x0,
    fprime=None,
    args=(),
    tol=1.48e-08,
    maxiter=50,
    fprime2=None,
    x1=None,
    rtol=0.0,
    full_output=False,
    disp=True,
):
    x = constant(x0) * 1.0
    if not isinstance(args, tuple):
        args = (args,)
    if fprime is None:
        root = without_slope(func, x, x1, args, tol, rtol, maxiter)
        found = with_slope(func, root, args)
    else:
        root = newton_steps(func, fprime, x, args, tol, rtol, maxiter)
        once = root - func(root, *args) / fprime(root, *args)
        twice = once - func(once, *args) / fprime(once, *args)
        found = root + (twice - constant(twice))
    return found


class Root:
    """What `root` returns, but for what tells how it was found."""

    def __init__(self, x, residual):
        self.x = x
        self.fun = residual
        self.success = True
        self.status = 1


def found_root(func, x0, args, method, options):
    """SciPy's root, and the inverse of the matrix of derivatives there."""
    found = scipy.optimize.root(func, x0, args, method, **options)
    if not found.success:
        raise RuntimeError(f"No root was found: {found.message}")
    x = found.x
    step = 6e-6 * (1 + np.abs(x))
    columns = [
        (np.ravel(func(x + s, *args)) - np.ravel(func(x - s, *args))) / (2 * size)
        for s, size in zip(np.diag(step), step, strict=True)
    ]
    return x, np.linalg.inv(np.stack(columns, axis=1))


def infer_root(x0: Type, **_: Type) -> Type:
    x = Array(dtype=np.dtype(float), shape=(None,))
    return Tuple(items=(x, Array(dtype=np.dtype(float), shape=(None, None))))


inert(found_root, infer=infer_root)


def with_equations(func, x0, args, method, options):
    """The root of several equations, with its derivatives.

    Of Newton's two steps, which are exact to the second order, the matrix is constant.
    """
    root, inverse = found_root(func, x0, args, method, options)
    once = root - inverse @ np.asarray(func(root, *args))
    twice = once - inverse @ np.asarray(func(once, *args))
    return root + (twice - constant(twice))


@composite(scipy.optimize.fsolve, refuses=["full_output", "fprime"])
def fsolve(func, x0, args=(), fprime=None, full_output=0, **options):
    more = args if isinstance(args, tuple) else (args,)
    return with_equations(func, np.atleast_1d(x0), more, "hybr", {"options": options})


@composite(scipy.optimize.root, refuses=["jac", "callback"])
def root(
    fun, x0, args=(), method="hybr", jac=None, tol=None, callback=None, options=None
):
    more = args if isinstance(args, tuple) else (args,)
    x = with_equations(
        fun, np.atleast_1d(x0), more, method, {"tol": tol, "options": options}
    )
    return Root(x, np.asarray(fun(x, *more)))


@composite(scipy.optimize.rosen)
def rosen(x):
    """The sum over neighbours, along the first axis."""
    x = np.asarray(x)
    first, second = x[:-1], x[1:]
    return np.sum(100.0 * (second - first**2) ** 2 + (1 - first) ** 2, axis=0)


@composite(scipy.optimize.rosen_der)
def rosen_der(x):
    """Each item is in two terms, but the first and the last in one."""
    x = np.asarray(x)
    step = 200 * (x[1:] - x[:-1] ** 2)
    slope = np.zeros_like(x)
    slope[1:] += step
    slope[:-1] -= 2 * step * x[:-1] + 2 * (1 - x[:-1])
    return slope
