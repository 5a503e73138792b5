"""Helpers of tangent rules: reductions, scans, borders, interpolation, polynomials.

`d` is the tangent of the argument that the name of the helper or its text says. With
them, some adjoints to arguments that are seldom differentiated (borders, spacings).
"""

from __future__ import annotations

import numpy as np

from srcjax.runtime.basics import (
    centred,
    norm_adjoint,
    size_along,
    unbroadcast,
    undiff,
    uninterp_fp,
    uninterp_x,
    unreduce,
    weights_over,
    zeros_like,
)

# -- reductions and scans -----------------------------------------------------------


def summed(v, axis, keepdims):
    """The sum of `v` along `axis`."""
    return np.sum(v, axis=axis, keepdims=keepdims)


def mean_with_centred(d, axis, ddof, keepdims, x):
    """The mean of `d` times the centred `x`: half the tangent of `np.var(x, axis)`."""
    product = np.real(centred(x, axis) * np.conj(d))
    if ddof == 0:
        return np.mean(product, axis=axis, keepdims=keepdims)
    total = np.sum(product, axis=axis, keepdims=keepdims)
    return total / (size_along(x, axis) - ddof)


def reduce_extreme(d, y, axis, keepdims, x):
    """The tangent of the maximum or minimum `y` of `x`: the mean over the ties."""
    return mean_of_ties(d, x == unreduce(y, axis, keepdims, x), axis, keepdims, x)


def mean_of_ties(d, chosen, axis, keepdims, x):
    """The mean of the `chosen` elements of `d`, which is like `x`."""
    ties = np.sum(chosen, axis=axis, keepdims=keepdims, dtype=np.result_type(x))
    return np.sum(d * chosen, axis=axis, keepdims=keepdims) / ties


def ptp_tangent(d, axis, keepdims, x):
    """The tangent of `np.ptp(x, axis)`."""
    top = np.max(x, axis=axis, keepdims=keepdims)
    bottom = np.min(x, axis=axis, keepdims=keepdims)
    rise = reduce_extreme(d, top, axis, keepdims, x)
    return rise - reduce_extreme(d, bottom, axis, keepdims, x)


def norm_tangent(d, y, ord, axis, keepdims, x):
    """The tangent of `y = np.linalg.norm(x, ord, axis, keepdims)`; 0 at 0."""
    slope = norm_adjoint(np.ones_like(y), y, ord, axis, keepdims, x)
    return np.sum(np.real(slope * d), axis=axis, keepdims=keepdims)


def average_weights_tangent(d, y, weights, axis, keepdims, x):
    """The term of the weights, of tangent `d`, in the tangent of a weighted mean."""
    change = (x - unreduce(y, axis, keepdims, x)) * weights_over(d, axis, x)
    total = np.sum(weights_over(weights, axis, x), axis=axis, keepdims=keepdims)
    return np.sum(change, axis=axis, keepdims=keepdims) / total


def cumprod_tangent(d, axis, x):
    """The tangent of `np.cumprod(x, axis)`; zeros are allowed."""
    if np.size(x) == 0:
        return np.cumprod(d, axis)
    flat = np.ravel(x) if axis is None or np.ndim(x) == 0 else np.moveaxis(x, axis, 0)
    d = np.ravel(d) if axis is None or np.ndim(x) == 0 else np.moveaxis(d, axis, 0)
    product, change = flat[0], d[0]
    parts = [change]
    for k in range(1, len(flat)):
        change = change * flat[k] + product * d[k]
        product = product * flat[k]
        parts.append(change)
    dy = np.stack(parts)
    return dy if axis is None or np.ndim(x) == 0 else np.moveaxis(dy, 0, axis)


def multi_dot_tangent(d, arrays):
    """The tangent of `np.linalg.multi_dot(arrays)`: a product for each array."""
    total = np.linalg.multi_dot([d[0], *arrays[1:]])
    for k in range(1, len(arrays)):
        total = total + np.linalg.multi_dot([*arrays[:k], d[k], *arrays[k + 1 :]])
    return total


# -- borders ------------------------------------------------------------------------


def pad_tangent(d, pad_width, mode="constant", d_border=0, reflect_type="even"):
    """The tangent of `np.pad(x, pad_width, mode)`; `d_border` that of the constant."""
    if mode in ("constant", "empty"):
        return np.pad(d, pad_width, constant_values=d_border)
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise NotImplementedError(f"np.pad with mode {mode!r} is not differentiated")
    if mode in ("reflect", "symmetric"):
        return np.pad(d, pad_width, mode, reflect_type=reflect_type)
    return np.pad(d, pad_width, mode)


def unpad_border(d, x, pad_width, mode, constant_values):
    """The adjoint of `constant_values` in `np.pad(x, pad_width, mode)`."""
    rank = np.ndim(x)
    if mode != "constant":
        return zeros_like(constant_values)
    if isinstance(pad_width, dict):
        given = {axis % rank: width for axis, width in pad_width.items()}
        pad_width = [np.broadcast_to(given.get(i, 0), 2) for i in range(rank)]
    widths = np.broadcast_to(pad_width, (rank, 2))
    shape = np.shape(x)
    inner = [slice(m, m + n) for (m, _), n in zip(widths, shape, strict=True)]
    sums = []
    for i, (first, _) in enumerate(widths):  # a border has those of the earlier axes
        earlier, later = [slice(None)] * i, inner[i + 1 :]
        before = tuple([*earlier, slice(0, first), *later])
        after = tuple([*earlier, slice(first + shape[i], None), *later])
        sums.append([d[before].sum(), d[after].sum()])
    table = np.array(sums)
    return unbroadcast(np.reshape(table, (rank, 2)), constant_values)


def undiff_end(d, x, n, axis, prepend, append, which):
    """The adjoint of prepend (which=0) or append (1) in `np.diff(x, n, axis, ...)`."""
    end = append if which else prepend
    if n == 0:
        return np.zeros_like(end, dtype=np.result_type(d))
    axis = axis % np.ndim(x)
    nothing = np.zeros_like(x, shape=(*np.shape(x)[:axis], 0, *np.shape(x)[axis + 1 :]))
    ends = [
        nothing if part is None else spread_end(part, x, axis)
        for part in (prepend, append)
    ]
    whole = np.concatenate([ends[0], x, ends[1]], axis)
    total = undiff(d, whole, n, axis)
    first, last = ends[0].shape[axis], ends[0].shape[axis] + np.shape(x)[axis]
    return unbroadcast(np.split(total, [first, last], axis)[2 * which], end)


def spread_end(end, x, axis):
    """`prepend` or `append` of `np.diff` as an array: a number is a slice of 1."""
    if np.ndim(end):
        return end
    return np.broadcast_to(end, (*np.shape(x)[:axis], 1, *np.shape(x)[axis + 1 :]))


# -- integrals, interpolation, polynomials ------------------------------------------


def untrapezoid_dx(d, y, x, dx, axis=-1):
    """The adjoint of `dx` in `np.trapezoid(y, x, dx, axis)`; not used beside `x`."""
    if x is not None:
        return zeros_like(dx)
    moved = np.moveaxis(y, axis, -1)
    steps = np.expand_dims(d, -1) * (moved[..., 1:] + moved[..., :-1]) / 2
    return unbroadcast(np.moveaxis(steps, -1, axis), dx)


def trapezoid_dx_tangent(d, y, x, axis=-1):
    """The term of `dx`, of tangent `d`, in the tangent of `np.trapezoid`."""
    if x is not None:
        return 0 * np.trapezoid(y, axis=axis)
    return np.trapezoid(y, dx=d, axis=axis)


def spacing_adjoints(d, y, spacings):
    """The adjoints of the spacings, numbers, of `y = np.gradient(f, *spacings)`."""
    if isinstance(y, tuple):
        shares = [-np.sum(dy * part) for dy, part in zip(d, y, strict=True)]
    else:
        shares = [-np.sum(d * y)]
    if len(spacings) == 1:
        shares = [sum(shares)]
    found = []
    for share, h in zip(shares, spacings, strict=True):
        found.append(share / h)
    return found


def gradient_tangent(d, d_spacings, y, spacings, axis=None, edge_order=1):
    """The tangent of `y = np.gradient(f, *spacings)`: of `f`, and of the spacings."""
    axes = range(np.ndim(d)) if axis is None else axis
    axes = (axes,) if np.ndim(axes) == 0 else axes
    moved = any(np.any(dh) for dh in d_spacings)  # then they are numbers
    found = []
    for k in range(len(axes)):
        own = k if len(spacings) > 1 else 0
        h = spacings[own] if len(spacings) > 0 else 1.0
        change = np.gradient(d, h, axis=axes[k], edge_order=edge_order)
        if moved:
            part = y[k] if isinstance(y, tuple) else y
            change = change - part * (d_spacings[own] / h)
        found.append(change)
    return tuple(found) if isinstance(y, tuple) else found[0]


def uninterp_xp(d, x, xp, fp):
    """The adjoint of `xp` in `np.interp(x, xp, fp)`: its values move along with it."""
    return -uninterp_fp(uninterp_x(d, x, xp, fp), x, xp, fp)


def vander_tangent(d, x, n=None, increasing=False):
    """The tangent of `np.vander(x, n, increasing)`."""
    n = len(x) if n is None else n
    lower = np.vander(x, max(n - 1, 0), increasing=True)
    columns = np.arange(1, max(n, 1), dtype=d.dtype) * lower * d[:, None]
    columns = np.pad(columns, ((0, 0), (min(n, 1), 0)))
    return columns if increasing else columns[:, ::-1]
