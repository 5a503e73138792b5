"""Adjoints of what takes, sorts, removes and spaces items."""

from __future__ import annotations

import numpy as np

from srcjax.runtime.basics import unbroadcast, undiff
from srcjax.runtime.products import diagonal_indices


def unsort(d, x, axis=-1):
    """The adjoint of `x` in `np.sort(x, axis)`: each entry back where it came from."""
    if axis is None:
        return np.reshape(unsort(d, np.ravel(x)), np.shape(x))
    out = np.empty_like(d)
    np.put_along_axis(out, np.argsort(x, axis, kind="stable"), d, axis)
    return out


def unpartition(d, y, x, axis=-1):
    """The adjoint of `x` in `y = np.partition(x, kth, axis)`."""
    if axis is None:
        return np.reshape(unpartition(d, y, np.ravel(x)), np.shape(x))
    sorted_d = np.take_along_axis(d, np.argsort(y, axis, kind="stable"), axis)
    return unsort(sorted_d, x, axis)


def untake(d, x, indices, axis=None, mode="raise"):
    """The adjoint of `x` in `np.take(x, indices, axis, mode=mode)`."""
    if axis is None:
        return np.reshape(untake(d, np.ravel(x), indices, 0, mode), np.shape(x))
    size = np.shape(x)[axis]
    if mode == "wrap":
        indices = np.mod(indices, size)
    elif mode == "clip":
        indices = np.clip(indices, 0, size - 1)
    out = np.zeros_like(x, dtype=np.result_type(d))
    moved = np.moveaxis(out, axis, 0)
    first = axis % np.ndim(x)
    own = tuple(range(first, first + np.ndim(indices)))
    np.add.at(moved, np.asarray(indices), np.moveaxis(d, own, range(len(own))))
    return out


def untake_along_axis(d, x, indices, axis=-1):
    """The adjoint of `x` in `np.take_along_axis(x, indices, axis)`."""
    if axis is None:
        return np.reshape(untake_along_axis(d, np.ravel(x), indices, 0), np.shape(x))
    axis = axis % np.ndim(x)
    shape = list(np.shape(d))
    places = list(np.indices(shape, sparse=True))
    places[axis] = indices
    shape[axis] = np.shape(x)[axis]
    out = np.zeros_like(d, shape=shape)
    np.add.at(out, tuple(places), d)
    return unbroadcast(out, x)


def undiagonal(d, x, offset=0, axis1=0, axis2=1):
    """The adjoint of `x` in `np.diagonal(x, offset, axis1, axis2)`."""
    out = np.zeros_like(x, dtype=np.result_type(d))
    planes = np.moveaxis(out, (axis1, axis2), (0, 1))
    rows, columns = planes.shape[:2]
    planes[diagonal_indices(rows, columns, offset)] = np.moveaxis(d, -1, 0)
    return out


def undiag(d, x, k=0):
    """The adjoint of `x` in `np.diag(x, k)`."""
    return np.diag(d, k) if np.ndim(x) == 1 else undiagonal(d, x, k)


def unediff1d(d, x, to_end=None, to_begin=None):
    """The adjoint of `x` in `np.ediff1d(x, to_end, to_begin)`."""
    first = 0 if to_begin is None else np.size(to_begin)
    inner = d[first : first + max(np.size(x) - 1, 0)]
    return np.reshape(undiff(inner, np.ravel(x)), np.shape(x))


def uncompress(d, condition, x, axis=None):
    """The adjoint of `x` in `np.compress(condition, x, axis)`."""
    return untake(d, x, np.flatnonzero(condition), axis)


def unselect(d, conditions, choices):
    """The adjoints of the choices in `np.select(conditions, choices)`."""
    adjoints, free = [], True
    for condition, choice in zip(conditions, choices, strict=True):
        taken_here = np.logical_and(condition, free)
        adjoints.append(unbroadcast(np.where(taken_here, d, 0), choice))
        free = np.logical_not(condition) & free
    return adjoints


def unselect_default(d, conditions, default):
    """The adjoint of the default in `np.select(conditions, choices, default)`."""
    chosen = np.any(np.stack(np.broadcast_arrays(*conditions)), axis=0)
    return unbroadcast(np.where(chosen, 0, d), default)


def undelete(d, x, obj, axis=None):
    """The adjoint of `x` in `np.delete(x, obj, axis)`."""
    size = np.size(x) if axis is None else np.shape(x)[axis]
    return untake(d, x, np.delete(np.arange(size), obj), axis)


def uninsert(d, x, obj, values, axis, which):
    """The adjoint in `np.insert(x, obj, values, axis)` of x (which=0) or values (1).

    The same insertion of element numbers tells where each element went.
    """
    numbers = np.reshape(np.arange(np.size(x)), np.shape(x))
    own = np.reshape(np.arange(np.size(values)), np.shape(values)) + np.size(x)
    places = np.ravel(np.insert(numbers, obj, own, axis))
    total = np.zeros_like(d, shape=np.size(x) + np.size(values))
    np.add.at(total, places, np.ravel(d))
    if which == 0:
        return np.reshape(total[: np.size(x)], np.shape(x))
    return np.reshape(total[np.size(x) :], np.shape(values))


def untrapezoid_y(d, y, x=None, dx=1.0, axis=-1):
    """The adjoint of `y` in `np.trapezoid(y, x, dx, axis)`."""
    axis = axis % np.ndim(y)
    if x is None:
        shape = [1] * np.ndim(y)
        shape[axis] = np.shape(y)[axis] - 1
        steps = np.full_like(y, dx, shape=shape)
    elif np.ndim(x) == 1:
        steps = np.diff(x).reshape([-1 if i == axis else 1 for i in range(np.ndim(y))])
    else:
        steps = np.diff(x, axis=axis)
    before = [(1, 0) if i == axis else (0, 0) for i in range(np.ndim(steps))]
    after = [(0, 1) if i == axis else (0, 0) for i in range(np.ndim(steps))]
    weights = (np.pad(steps, before) + np.pad(steps, after)) / 2
    return unbroadcast(np.expand_dims(d, axis) * weights, y)


def untrapezoid_x(d, y, x, axis=-1):
    """The adjoint of `x` in `np.trapezoid(y, x, axis=axis)`."""
    axis = axis % np.ndim(y)
    moved = np.moveaxis(y, axis, -1)
    steps = np.expand_dims(d, -1) * (moved[..., 1:] + moved[..., :-1]) / 2
    if np.ndim(x) == 1:
        return undiff(unbroadcast(steps, x[1:]), x)
    return unbroadcast(undiff(np.moveaxis(steps, -1, axis), y, axis=axis), x)


def ungradient(d, f, spacings, axis=None, edge_order=1):
    """The adjoint of `f` in `np.gradient(f, *spacings)`."""
    axes = range(np.ndim(f)) if axis is None else axis
    axes = (axes,) if np.ndim(axes) == 0 else tuple(axes)
    spacings = tuple(spacings) or (1.0,)
    spacings = spacings * len(axes) if len(spacings) == 1 else spacings
    total = 0
    parts = (d,) if len(axes) == 1 else d
    for part, along, h in zip(parts, axes, spacings, strict=True):
        g = np.moveaxis(part, along, 0)
        steps = np.diff(h) if np.ndim(h) else np.full(len(g) - 1, h)
        steps = np.reshape(steps, (-1,) + (1,) * (g.ndim - 1)).astype(g.dtype)
        left, right = steps[:-1], steps[1:]
        inner = g[1:-1] / (left + right)
        rates = np.zeros_like(g[1:])  # of the slopes from one value to the next
        rates[:-1] += right * inner
        rates[1:] += left * inner
        rates[0] += g[0]
        rates[-1] += g[-1]
        if edge_order == 2:
            first = g[0] * left[0] / (left[0] + right[0])
            last = g[-1] * right[-1] / (left[-1] + right[-1])
            rates[0] += first
            rates[1] -= first
            rates[-1] += last
            rates[-2] -= last
        out = np.zeros_like(g)
        out[1:] += rates / steps
        out[:-1] -= rates / steps
        total = total + np.moveaxis(out, 0, along)
    return total


def unpolyval_p(d, p, x):
    """The adjoint of the coefficients in `np.polyval(p, x)`."""
    if np.ndim(p) > 1:  # several polynomials
        parts = [d * np.asarray(x) ** (len(p) - 1 - i) for i in range(len(p))]
        return np.stack([unbroadcast(part, p[0]) for part in parts])
    powers = np.vander(np.ravel(x), len(p)).astype(np.result_type(d), copy=False)
    dp = np.ravel(d) @ powers
    return list(dp) if isinstance(p, list) else dp


def unpolyval_x(d, p, x):
    """The adjoint of `x` in `np.polyval(p, x)`."""
    return unbroadcast(d * polyval_slope(p, x), x)


def polyval_slope(p, x):
    """The derivative of `np.polyval(p, x)` with respect to `x`."""
    return np.polyval([c * (len(p) - 1 - i) for i, c in enumerate(p[:-1])], x)


def unvander(d, x, n=None, increasing=False):
    """The adjoint of `x` in `np.vander(x, n, increasing)`."""
    columns = d if increasing else d[:, ::-1]
    powers = np.arange(1, columns.shape[1], dtype=d.dtype)
    lower = np.vander(x, max(columns.shape[1] - 1, 0), increasing=True)
    return (columns[:, 1:] * powers * lower).sum(axis=1)
