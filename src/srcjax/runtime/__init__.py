"""What generated code may call where the types do not tell enough.

Each helper is plain NumPy, short, and pasted as source into exported modules. Where the
types are known the generated text has none of them (`srcjax.ops.expand`).
"""

from __future__ import annotations

import numpy as np

try:
    import scipy.linalg
except ImportError:  # then no helper that needs it is called
    scipy = None

from srcjax.runtime.basics import (  # noqa: F401
    centred,
    direction,
    hermitian,
    interpolation,
    matrix_norm_adjoint,
    norm_adjoint,
    norm_slope,
    size_along,
    symmetrised,
    transposed,
    unbroadcast,
    undiff,
    uninterp_fp,
    uninterp_x,
    unreduce,
    weights_over,
    zeros_like,
)
from srcjax.runtime.batches import (  # noqa: F401
    batch_count,
    example,
    gathered,
    move_axes,
    put_back,
    spread_items,
    stacked,
)
from srcjax.runtime.checks import items_like, refuse_in_place  # noqa: F401
from srcjax.runtime.scipy_linalg import (  # noqa: F401
    bands_of_product,
    bands_times,
    checked_eigh,
    eigh_tridiagonal_tangent,
    is_nothing,
    logm_along,
    lu_factor_tangent,
    lu_tangents,
    made_square,
    one_over_gaps,
    pivot_order,
    pivoted_rows,
    polar_tangent,
    scipy_eigh_tangent,
    scipy_lu_tangent,
    scipy_uneigh,
    scipy_unlu,
    single_matrix,
    symmetric_part,
    transposed_bands,
    tridiagonal,
    uneigh_tridiagonal,
    unlu,
    unlu_factor,
    unpacked_lu,
    unpolar,
)
from srcjax.runtime.scipy_special import (  # noqa: F401
    comb_slopes,
    normal_hazard,
    real_for_real,
    spherical_harmonic_slope,
)
from srcjax.runtime.shapes import broadcast_like, copied  # noqa: F401

# -- elementwise and reductions ---


def exponent_below(b):
    """The exponent of the derivative of `a ** b` to `a`; 1 for `b` 0: no `0 ** -1`."""
    if np.ndim(b) == 0:
        return b - 1 if b != 0 else 1
    return np.where(b == 0, 1, b - 1)


def log_of_base(a, b):
    """The logarithm in the derivative of `a ** b` to `b`; 0 for a base of 0."""
    if np.iscomplexobj(b) and not np.iscomplexobj(a):
        return np.log(np.where(a == 0, 1, a) + 0j)
    logarithm = np.log(np.where(a == 0, 1, a))
    return float(logarithm) if type(a) in (int, float) else logarithm


def clip_adjoint(d, x, lo, hi):
    """The adjoint of `x` clipped: `d` between the bounds, half of it at a bound."""
    if lo is not None:
        d = d * (x > lo) + d * (x == lo) / 2
    if hi is not None:
        d = d * (x < hi) + d * (x == hi) / 2
    return d


def in_dtype_of(d, x):
    """The adjoint `d` of a converted `x` in the dtype of `x` itself."""
    if isinstance(x, (list, tuple, dict)):
        return d
    if np.iscomplexobj(d) and not np.iscomplexobj(x):
        d = np.real(d)  # of real factors of complex products
    if not hasattr(x, "dtype"):
        return d + 0j if np.iscomplexobj(x) else d
    return d.astype(x.dtype) if hasattr(d, "dtype") else np.asarray(d, x.dtype)[()]


def undo_dtype(d, dtype, x):
    """The adjoint of `x` of an operation that computes in the given `dtype`."""
    return d if dtype is None else in_dtype_of(d, x)


def unreduce_extreme(d, y, axis, keepdims, x):
    """The adjoint of the maximum or minimum `y` of `x`: ties share it evenly."""
    here = x == unreduce(y, axis, keepdims, x)
    ties = np.sum(here, axis=axis, keepdims=True, dtype=np.result_type(x))
    return unreduce(d, axis, keepdims, x) * here / ties


def count_numbers(x, axis):
    """How many elements of `x` along `axis` are not NaN (at least 1), in its dtype."""
    there = ~np.isnan(x)
    count = np.sum(there, axis=axis, keepdims=True, dtype=np.result_type(x))
    return np.maximum(count, 1)


def prod_of_others(x, axis):
    """For each element the product of the others along `axis`; zeros are allowed."""
    x = np.asarray(x)
    if x.size == 0:
        return x
    axes = tuple(range(x.ndim)) if axis is None else axis
    axes = axes if isinstance(axes, tuple) else (axes,)
    axes = axes if x.ndim else ()
    front = tuple(range(len(axes)))
    moved = np.moveaxis(x, axes, front)
    flat = moved.reshape((-1, *moved.shape[len(axes) :]))
    one = np.ones_like(flat[:1])
    before = np.cumprod(np.concatenate([one, flat[:-1]]), axis=0)
    after = np.cumprod(np.concatenate([one, flat[:0:-1]]), axis=0)[::-1]
    return np.moveaxis((before * after).reshape(moved.shape), front, axes)


def cumsum_adjoint(d, axis, x):
    """The adjoint of `np.cumsum(x, axis)`: sums that run from the end."""
    if axis is None:
        return np.cumsum(d[::-1])[::-1].reshape(np.shape(x))
    d = np.reshape(d, np.shape(x) or 1)
    return np.flip(np.cumsum(np.flip(d, axis), axis), axis).reshape(np.shape(x))


def cumprod_adjoint(d, axis, x):
    """The adjoint of `np.cumprod(x, axis)`; zeros are allowed."""
    flat = np.ravel(x) if axis is None or np.ndim(x) == 0 else np.moveaxis(x, axis, 0)
    d = d if axis is None or np.ndim(x) == 0 else np.moveaxis(d, axis, 0)
    if np.size(x) == 0:
        return np.zeros_like(x)
    before = np.cumprod(np.concatenate([np.ones_like(flat[:1]), flat[:-1]]), axis=0)
    last = len(flat) - 1
    after = np.reshape(d, flat.shape)[last]
    parts = [before[last] * after]
    for k in range(last - 1, -1, -1):
        after = d[k] + flat[k + 1] * after
        parts.append(before[k] * after)
    dx = np.stack(parts[::-1])
    if axis is None or np.ndim(x) == 0:
        return dx.reshape(np.shape(x))
    return np.moveaxis(dx, 0, axis)


def average_adjoint(d, weights, axis, x):
    """The adjoint of `x` in a weighted mean, from `d` spread over `x`."""
    if weights is None:
        return d / size_along(x, axis)
    weights = weights_over(weights, axis, x)
    return d * weights / np.sum(weights, axis=axis, keepdims=True)


def average_weights_adjoint(d, y, weights, axis, x):
    """The adjoint of the weights of a mean, from `d` and `y` spread over `x`."""
    spread = weights_over(weights, axis, x)
    dw = d * (x - y) / np.sum(spread, axis=axis, keepdims=True)
    if np.shape(weights) == np.shape(x):
        return dw
    axes = axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(i % np.ndim(x) for i in axes)
    dw = dw.sum(axis=tuple(i for i in range(np.ndim(x)) if i not in axes))
    return np.transpose(dw, np.argsort(np.argsort(axes)))


def fractions(num, endpoint):
    """The positions from 0 to 1 of the points of `np.linspace`."""
    return np.linspace(0, 1, num, endpoint)


def linspace_adjoint(d, weights, axis, x):
    """The adjoint of an end `x` of `np.linspace`: `d` weighted along the points."""
    total = np.tensordot(weights.astype(d.dtype), np.moveaxis(d, axis, 0), 1)
    return unbroadcast(total, x)


def no_derivative(d):
    """Stands where a derivative is not known: raises when it is asked for."""
    raise NotImplementedError(
        "the derivative to this argument is not known (for example the order of a "
        "Bessel function); if it does not matter, wrap the argument in "
        "srcjax.stop_gradient, else give the function a rule of your own"
    )


def sum_keeping(v, axis):
    """The sum along `axis` in a shape that broadcasts to that of `v`."""
    return np.sum(v, axis=axis, keepdims=True)


def logsumexp_adjoint(d, y, a, axis, b, keepdims):
    """The adjoint of `a` in `y = logsumexp(a, axis, b, keepdims)`."""
    v = a if b is None else a * b
    share = np.exp(a - unreduce(y, axis, keepdims, v))
    d = unreduce(d, axis, keepdims, v) * share
    return d if b is None else unbroadcast(d * b, a)


# -- products -----------------------------------------------------------------------


def unmatmul_left(d, a, b):
    """The adjoint of `a` in `a @ b`."""
    if np.ndim(b) == 1:
        da = np.expand_dims(d, -1) * b
    elif np.ndim(a) == 1:
        da = (b @ np.expand_dims(d, -1))[..., 0]
    else:
        da = d @ np.swapaxes(b, -1, -2)
    return unbroadcast(da, a)


def unmatmul_right(d, a, b):
    """The adjoint of `b` in `a @ b`."""
    if np.ndim(a) == 1:
        db = a * d if np.ndim(b) == 1 else np.expand_dims(a, -1) * np.expand_dims(d, -2)
    elif np.ndim(b) == 1:
        db = (np.swapaxes(a, -1, -2) @ np.expand_dims(d, -1))[..., 0]
    else:
        db = np.swapaxes(a, -1, -2) @ d
    return unbroadcast(db, b)


def contracted_axes(axes, m, n):
    """The axes that `np.tensordot(a, b, axes)` sums, for ranks m and n."""
    if np.ndim(axes) == 0:
        return tuple(range(m - axes, m)), tuple(range(axes))
    left, right = axes
    left = (left,) if np.ndim(left) == 0 else left
    right = (right,) if np.ndim(right) == 0 else right
    return tuple(i % m for i in left), tuple(i % n for i in right)


def untensordot_left(d, a, b, axes):
    """The adjoint of `a` in `np.tensordot(a, b, axes)`."""
    left, right = contracted_axes(axes, np.ndim(a), np.ndim(b))
    kept = [i for i in range(np.ndim(a)) if i not in left]
    free = [i for i in range(np.ndim(b)) if i not in right]
    da = np.tensordot(d, b, (list(range(len(kept), np.ndim(d))), free))
    order = kept + [i for _, i in sorted(zip(right, left, strict=True))]
    return np.transpose(da, sorted(range(len(order)), key=order.__getitem__))


def untensordot_right(d, a, b, axes):
    """The adjoint of `b` in `np.tensordot(a, b, axes)`."""
    left, right = contracted_axes(axes, np.ndim(a), np.ndim(b))
    kept = [i for i in range(np.ndim(b)) if i not in right]
    free = [i for i in range(np.ndim(a)) if i not in left]
    db = np.tensordot(a, d, (free, list(range(len(free)))))
    order = [i for _, i in sorted(zip(left, right, strict=True))] + kept
    return np.transpose(db, sorted(range(len(order)), key=order.__getitem__))


def undot_left(d, a, b):
    """The adjoint of `a` in `np.dot(a, b)`."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(d * b, a)
    return untensordot_left(d, a, b, (-1, max(np.ndim(b) - 2, 0)))


def undot_right(d, a, b):
    """The adjoint of `b` in `np.dot(a, b)`."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(d * a, b)
    return untensordot_right(d, a, b, (-1, max(np.ndim(b) - 2, 0)))


def uninner_left(d, a, b):
    """The adjoint of `a` in `np.inner(a, b)`."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(d * b, a)
    return untensordot_left(d, a, b, (-1, -1))


def uninner_right(d, a, b):
    """The adjoint of `b` in `np.inner(a, b)`."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(d * a, b)
    return untensordot_right(d, a, b, (-1, -1))


def unouter_left(d, a, b):
    """The adjoint of `a` in `np.outer(a, b)`."""
    return np.reshape(d @ np.ravel(b), np.shape(a))


def unouter_right(d, a, b):
    """The adjoint of `b` in `np.outer(a, b)`."""
    return np.reshape(np.ravel(a) @ d, np.shape(b))


def unvdot_left(d, a, b):
    """The adjoint of `a` in `np.vdot(a, b)`."""
    return np.reshape(np.conj(d * b), np.shape(a))


def unvdot_right(d, a, b):
    """The adjoint of `b` in `np.vdot(a, b)`."""
    return np.reshape(d * np.conj(a), np.shape(b))


def unvecdot_left(d, a, b, axis):
    """The adjoint of `a` in `np.vecdot(a, b, axis=axis)`."""
    da = np.conj(np.expand_dims(d, -1) * np.moveaxis(b, axis, -1))
    return np.moveaxis(unbroadcast(da, np.moveaxis(a, axis, -1)), -1, axis)


def unvecdot_right(d, a, b, axis):
    """The adjoint of `b` in `np.vecdot(a, b, axis=axis)`."""
    db = np.expand_dims(d, -1) * np.conj(np.moveaxis(a, axis, -1))
    return np.moveaxis(unbroadcast(db, np.moveaxis(b, axis, -1)), -1, axis)


def einsum_labels(subscripts, ranks):
    """The labels of each operand and of the result, with `...` and `->` spelled out."""
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    used = set(subscripts)
    spare = [c for c in "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA"]
    spare = [c for c in spare if c not in used]
    inputs, batch = [], ""
    for labels, rank in zip(left.split(","), ranks, strict=True):
        count = rank - len(labels.replace("...", ""))
        axes = "".join(reversed(spare[:count])) if "..." in labels else ""
        batch = max(batch, axes, key=len)
        inputs.append(labels.replace("...", axes))
    if arrow:
        return inputs, output.replace("...", batch)
    named = left.replace("...", "").replace(",", "")
    once = sorted(label for label in set(named) if named.count(label) == 1)
    return inputs, batch + "".join(once)


def einsum_adjoints(d, subscripts, operands):
    """The adjoints of the operands of `np.einsum(subscripts, *operands)`."""
    inputs, output = einsum_labels(subscripts, [np.ndim(x) for x in operands])
    return [einsum_adjoint(d, inputs, output, operands, i) for i in range(len(inputs))]


def einsum_adjoint(d, inputs, output, operands, i):
    """The adjoint of operand i: an einsum of `d` and the other operands."""
    labels, shape = inputs[i], np.shape(operands[i])
    terms = [output, *inputs[:i], *inputs[i + 1 :]]
    free = "".join(dict.fromkeys(labels))
    found = "".join(label for label in free if label in "".join(terms))
    formula = ",".join(terms) + "->" + found
    value = np.einsum(formula, d, *operands[:i], *operands[i + 1 :])
    # a label of this operand alone was summed: its adjoint is the same all along it
    value = value[tuple(slice(None) if label in found else None for label in free)]
    once = [shape[labels.index(label)] == 1 for label in free]
    spread = tuple(k for k, one in enumerate(once) if one and value.shape[k] != 1)
    value = value.sum(axis=spread, keepdims=True) if spread else value
    if len(free) == len(labels):
        return np.broadcast_to(value, shape)
    out = np.zeros_like(operands[i], dtype=value.dtype)
    np.einsum(labels + "->" + free, out)[...] = value  # a view of the diagonal
    return out


def kron_blocks(d, a, b):
    """`d` of `np.kron(a, b)` with an axis for each axis of `a` and of `b` in turn."""
    rank = max(np.ndim(a), np.ndim(b))
    m = (1,) * (rank - np.ndim(a)) + np.shape(a)
    n = (1,) * (rank - np.ndim(b)) + np.shape(b)
    sizes = [size for pair in zip(m, n, strict=True) for size in pair]
    return np.reshape(d, sizes), m, n


def unkron_left(d, a, b):
    """The adjoint of `a` in `np.kron(a, b)`."""
    blocks, _, n = kron_blocks(d, a, b)
    axes = list(range(1, 2 * len(n), 2)), list(range(len(n)))
    return np.reshape(np.tensordot(blocks, np.reshape(b, n), axes), np.shape(a))


def unkron_right(d, a, b):
    """The adjoint of `b` in `np.kron(a, b)`."""
    blocks, m, _ = kron_blocks(d, a, b)
    axes = list(range(0, 2 * len(m), 2)), list(range(len(m)))
    return np.reshape(np.tensordot(blocks, np.reshape(a, m), axes), np.shape(b))


def diagonal_indices(rows, columns, offset):
    """Row and column numbers of a diagonal."""
    size = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    steps = np.arange(max(size, 0))
    return steps + max(-offset, 0), steps + max(offset, 0)


def untrace(d, x, offset, axis1, axis2):
    """The adjoint of `x` in `np.trace(x, offset, axis1, axis2)`."""
    out = np.zeros_like(x, dtype=np.result_type(d))
    planes = np.moveaxis(out, (axis1, axis2), (0, 1))
    rows, columns = planes.shape[:2]
    planes[diagonal_indices(rows, columns, offset)] = d
    return out


def uncross_left(d, a, b, axisa, axisb, axisc, axis):
    """The adjoint of `a` in `np.cross(a, b, ...)` of vectors of three."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise NotImplementedError("np.cross is differentiated for vectors of 3 only")
    da = np.cross(b, np.moveaxis(d, axisc, -1))
    return np.moveaxis(unbroadcast(da, a), -1, axisa)


def uncross_right(d, a, b, axisa, axisb, axisc, axis):
    """The adjoint of `b` in `np.cross(a, b, ...)` of vectors of three."""
    return uncross_left(-d, b, a, axisb, axisa, axisc, axis)


def multi_dot_adjoints(d, arrays):
    """The adjoints of the arrays in `np.linalg.multi_dot(arrays)`."""
    last = arrays[-1]
    matrices = [np.atleast_2d(x) for x in arrays[:-1]]
    matrices.append(np.reshape(last, (-1, 1)) if np.ndim(last) == 1 else last)
    d = np.reshape(d, (matrices[0].shape[0], matrices[-1].shape[1]))
    after: list = []  # products of all matrices to the right, last first
    for matrix in matrices[:0:-1]:
        after.append(matrix @ after[-1] if after else matrix)
    adjoints = []
    for x, matrix in zip(arrays, matrices, strict=True):
        da = d @ after.pop().T if after else d
        adjoints.append(np.reshape(da, np.shape(x)))
        d = matrix.T @ d
    return adjoints


def matrix_power_adjoint(d, a, n):
    """The adjoint of `a` in `np.linalg.matrix_power(a, n)`."""
    if n == 0:
        return np.zeros_like(d)
    if n < 0:
        inverse = np.linalg.inv(a)
        turned = np.swapaxes(inverse, -1, -2)
        return -turned @ matrix_power_adjoint(d, inverse, -n) @ turned
    turned = np.swapaxes(a, -1, -2)
    total = power = d
    for _ in range(n - 1):  # total = sum of A'**i D A'**j over i + j = n - 1
        power = power @ turned
        total = turned @ total + power
    return total


def full_convolution(d, a, v, mode, mirrored=False):
    """`d` of a convolution in the place that it has in the "full" one."""
    size, short = len(a) + len(v) - 1, min(len(a), len(v))
    start = {"full": 0, "same": (short - 1) // 2, "valid": short - 1}[mode]
    if mirrored and len(v) > len(a):
        start = size - len(d) - start
    full = np.zeros(size, d.dtype)
    full[start : start + len(d)] = d
    return full


def unconvolve_left(d, a, v, mode):
    """The adjoint of `a` in `np.convolve(a, v, mode)`."""
    return np.convolve(full_convolution(d, a, v, mode), v[::-1], "valid")


def unconvolve_right(d, a, v, mode):
    """The adjoint of `v` in `np.convolve(a, v, mode)`."""
    return np.convolve(full_convolution(d, a, v, mode), a[::-1], "valid")


def uncorrelate_left(d, a, v, mode):
    """The adjoint of `a` in `np.correlate(a, v, mode)`."""
    return np.convolve(full_convolution(d, a, v, mode, True), np.conj(v), "valid")


def uncorrelate_right(d, a, v, mode):
    """The adjoint of `v` in `np.correlate(a, v, mode)`."""
    dv = np.convolve(full_convolution(d, a, v, mode, True), a[::-1], "valid")
    return np.conj(dv[::-1])


# -- shaping ------------------------------------------------------------------------


def unreshape(d, x, order="C"):
    """`d` in the shape of `x`, for a result that is `x` reshaped."""
    if order == "A":
        order = "F" if np.ndim(x) > 1 and x.flags.fnc else "C"
    if order != "K":
        return np.reshape(d, np.shape(x), order=order)
    places = np.zeros_like(x, dtype=int)  # lies in memory as x does
    places[...] = np.reshape(np.arange(np.size(x)), np.shape(x))
    out = np.zeros_like(d)
    out[np.ravel(places, order="K")] = d
    return np.reshape(out, np.shape(x))


def untranspose(d, axes):
    """Undo `np.transpose(x, axes)`, or `x.transpose(*axes)`."""
    if axes is not None and len(axes) == 1 and (axes[0] is None or np.ndim(axes[0])):
        axes = axes[0]
    if axes is None or len(axes) == 0:
        return np.transpose(d)
    return np.transpose(d, np.argsort([axis % np.ndim(d) for axis in axes]))


def unrollaxis(d, axis, start):
    """Undo `np.rollaxis(x, axis, start)`."""
    order = np.rollaxis(np.empty(range(np.ndim(d))), axis, start).shape
    return np.transpose(d, np.argsort(order))


def unroll(d, shift, axis):
    """Undo `np.roll(x, shift, axis)`."""
    return np.roll(d, np.negative(shift), axis)


def unconcatenate(d, arrays, axis=0):
    """The parts of `d` that belong to each of the concatenated arrays."""
    sizes = [np.size(a) if axis is None else np.shape(a)[axis] for a in arrays]
    pieces = np.split(d, np.cumsum(sizes)[:-1], 0 if axis is None else axis)
    if axis is None:
        return [np.reshape(p, np.shape(a)) for p, a in zip(pieces, arrays, strict=True)]
    return pieces


def unstack(d, arrays, axis=0):
    """The parts of `d` that belong to each of the stacked arrays."""
    return list(np.moveaxis(d, axis, 0))


def unvstack(d, arrays):
    """The parts of `d` that belong to each array in `np.vstack(arrays)`."""
    pieces = unconcatenate(d, [np.atleast_2d(a) for a in arrays], 0)
    return [np.reshape(p, np.shape(a)) for p, a in zip(pieces, arrays, strict=True)]


def unhstack(d, arrays):
    """The parts of `d` that belong to each array in `np.hstack(arrays)`."""
    axis = 0 if np.ndim(arrays[0]) < 2 else 1
    pieces = unconcatenate(d, [np.atleast_1d(a) for a in arrays], axis)
    return [np.reshape(p, np.shape(a)) for p, a in zip(pieces, arrays, strict=True)]


def undstack(d, arrays):
    """The parts of `d` that belong to each array in `np.dstack(arrays)`."""
    pieces = unconcatenate(d, [np.atleast_3d(a) for a in arrays], 2)
    return [np.reshape(p, np.shape(a)) for p, a in zip(pieces, arrays, strict=True)]


def uncolumn_stack(d, arrays):
    """The parts of `d` that belong to each array in `np.column_stack(arrays)`."""
    columns = [a if np.ndim(a) > 1 else np.reshape(a, (-1, 1)) for a in arrays]
    pieces = unconcatenate(d, columns, 1)
    return [np.reshape(p, np.shape(a)) for p, a in zip(pieces, arrays, strict=True)]


def unblock(d, arrays):
    """The parts of `d` that belong to each array in the nested lists of `np.block`."""
    shapes = []

    def number(part):
        if isinstance(part, list):
            return [number(p) for p in part]
        shapes.append(np.shape(part))
        first = sum(int(np.prod(shape)) for shape in shapes[:-1])
        return np.reshape(np.arange(first, first + np.size(part)), shapes[-1])

    places = np.block(number(arrays))
    flat = np.zeros_like(np.ravel(d))
    flat[np.ravel(places)] = np.ravel(d)
    pieces = iter(np.split(flat, np.cumsum([int(np.prod(s)) for s in shapes])[:-1]))
    sizes = iter(shapes)

    def collect(part):
        if isinstance(part, list):
            return [collect(p) for p in part]
        return np.reshape(next(pieces), next(sizes))

    return collect(arrays)


def unappend_left(d, x, axis):
    """The part of `d` that belongs to `x` in `np.append(x, values, axis)`."""
    if axis is None:
        return np.reshape(d[: np.size(x)], np.shape(x))
    return np.split(d, [np.shape(x)[axis]], axis)[0]


def unappend_right(d, x, values, axis):
    """The part of `d` that belongs to `values` in `np.append(x, values, axis)`."""
    if axis is None:
        return np.reshape(d[np.size(x) :], np.shape(values))
    return np.split(d, [np.shape(x)[axis]], axis)[1]


def untile(d, x, reps):
    """The adjoint of `x` in `np.tile(x, reps)`: the tiles added up."""
    reps = (reps,) if np.ndim(reps) == 0 else tuple(reps)
    rank = max(len(reps), np.ndim(x))
    reps = (1,) * (rank - len(reps)) + reps
    shape = (1,) * (rank - np.ndim(x)) + np.shape(x)
    pairs = [size for pair in zip(reps, shape, strict=True) for size in pair]
    total = np.reshape(d, pairs).sum(axis=tuple(range(0, 2 * rank, 2)))
    return np.reshape(total, np.shape(x))


def unrepeat(d, x, repeats, axis):
    """The adjoint of `x` in `np.repeat(x, repeats, axis)`."""
    size = np.size(x) if axis is None else np.shape(x)[axis]
    d = d if axis is None else np.moveaxis(d, axis, 0)
    if np.size(repeats) == 1:
        each = int(np.reshape(repeats, ())[()])
        total = np.reshape(d, (size, each, *d.shape[1:])).sum(axis=1)
    else:
        total = np.zeros_like(d, shape=(size, *d.shape[1:]))
        np.add.at(total, np.repeat(np.arange(size), repeats), d)
    if axis is None:
        return np.reshape(total, np.shape(x))
    return np.moveaxis(total, 0, axis)


def unpad(d, x, pad_width, mode="constant", reflect_type="even"):
    """The adjoint of `x` in `np.pad(x, pad_width, mode)`."""
    if isinstance(pad_width, dict):
        rank = np.ndim(x)
        given = {axis % rank: width for axis, width in pad_width.items()}
        pad_width = [np.broadcast_to(given.get(i, 0), 2) for i in range(rank)]
    widths = np.broadcast_to(pad_width, (np.ndim(x), 2))
    if mode in ("constant", "empty"):
        shape = np.shape(x)
        return d[
            tuple(slice(m, m + n) for (m, _), n in zip(widths, shape, strict=True))
        ]
    if mode not in ("edge", "reflect", "symmetric", "wrap") or reflect_type != "even":
        raise NotImplementedError(f"np.pad with mode {mode!r} is not differentiated")
    places = np.pad(np.reshape(np.arange(np.size(x)), np.shape(x)), widths, mode)
    total = np.zeros_like(d, shape=np.size(x))
    np.add.at(total, np.ravel(places), np.ravel(d))
    return np.reshape(total, np.shape(x))


def unbroadcast_each(d, arrays):
    """The adjoints of the arrays in `np.broadcast_arrays(*arrays)`."""
    return [unbroadcast(part, x) for part, x in zip(d, arrays, strict=True)]


def unmeshgrid(d, arrays, indexing="xy"):
    """The adjoints of the arrays in `np.meshgrid(*arrays, indexing=indexing)`."""
    adjoints = []
    for i, (part, x) in enumerate(zip(d, arrays, strict=True)):
        own = 1 - i if indexing == "xy" and i < 2 and len(arrays) > 1 else i
        others = tuple(axis for axis in range(len(arrays)) if axis != own)
        adjoints.append(np.reshape(part.sum(axis=others), np.shape(x)))
    return adjoints


# -- selection ----------------------------------------------------------------------


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
    np.add.at(moved, indices, np.moveaxis(d, own, range(len(own))))
    return out


def untake_along_axis(d, x, indices, axis=-1):
    """The adjoint of `x` in `np.take_along_axis(x, indices, axis)`."""
    if axis is None:
        return np.reshape(untake_along_axis(d, np.ravel(x), indices, 0), np.shape(x))
    axis %= np.ndim(x)
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
        adjoints.append(unbroadcast(np.where(condition & free, d, 0), choice))
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
    axis %= np.ndim(y)
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
    axis %= np.ndim(y)
    moved = np.moveaxis(y, axis, -1)
    steps = np.expand_dims(d, -1) * (moved[..., 1:] + moved[..., :-1]) / 2
    if np.ndim(x) == 1:
        return undiff(unbroadcast(steps, x[1:]), x)
    return unbroadcast(undiff(np.moveaxis(steps, -1, axis), y, axis=axis), x)


def ungradient(d, f, spacings, axis=None, edge_order=1):
    """The adjoint of `f` in `np.gradient(f, *spacings)`, spacings being numbers."""
    axes = range(np.ndim(f)) if axis is None else axis
    axes = (axes,) if np.ndim(axes) == 0 else tuple(axes)
    spacings = tuple(spacings) or (1.0,)
    spacings = spacings * len(axes) if len(spacings) == 1 else spacings
    total = 0
    parts = (d,) if len(axes) == 1 else d
    for part, along, h in zip(parts, axes, spacings, strict=True):
        if np.ndim(h):
            raise NotImplementedError("np.gradient is differentiated for even spacing")
        g = np.moveaxis(part, along, 0) / h
        out = np.zeros_like(g)
        out[2:] += g[1:-1] / 2
        out[:-2] -= g[1:-1] / 2
        ends = (-1.0, 1.0) if edge_order == 1 else (-1.5, 2.0, -0.5)
        for i, weight in enumerate(ends):
            out[i] += weight * g[0]
            out[-1 - i] -= weight * g[-1]
        total = total + np.moveaxis(out, 0, along)
    return total


def unpolyval_p(d, p, x):
    """The adjoint of the coefficients in `np.polyval(p, x)`."""
    powers = np.vander(np.ravel(x), len(p)).astype(np.result_type(d), copy=False)
    dp = np.ravel(d) @ powers
    return list(dp) if isinstance(p, list) else dp


def unpolyval_x(d, p, x):
    """The adjoint of `x` in `np.polyval(p, x)`."""
    slopes = [c * (len(p) - 1 - i) for i, c in enumerate(p[:-1])]
    return unbroadcast(d * np.polyval(slopes, x), x)


def unvander(d, x, n=None, increasing=False):
    """The adjoint of `x` in `np.vander(x, n, increasing)`."""
    columns = d if increasing else d[:, ::-1]
    powers = np.arange(1, columns.shape[1], dtype=d.dtype)
    lower = np.vander(x, max(columns.shape[1] - 1, 0), increasing=True)
    return (columns[:, 1:] * powers * lower).sum(axis=1)


# -- linear algebra -----------------------------------------------------------------


def per_matrix(d, a):
    """`d`, one number for each matrix of `a`, with two axes of 1 for the matrix."""
    return np.reshape(d, (*np.shape(d), 1, 1)) if np.ndim(a) > 2 else d


def unsolve_left(d, y, a, b):
    """The adjoint of `a` in `y = np.linalg.solve(a, b)`."""
    db = solve_transposed(d, a, b)
    if np.ndim(b) == 1:
        return -unbroadcast(np.expand_dims(db, -1) * np.expand_dims(y, -2), a)
    return -unbroadcast(db @ np.swapaxes(y, -1, -2), a)


def unsolve_right(d, a, b):
    """The adjoint of `b` in `np.linalg.solve(a, b)`."""
    return unbroadcast(solve_transposed(d, a, b), b)


def solve_transposed(d, a, b):
    """`d` of `np.linalg.solve(a, b)` solved for with the transpose of `a`."""
    turned = np.swapaxes(a, -1, -2)
    if np.ndim(b) == 1:
        return np.linalg.solve(turned, np.expand_dims(d, -1))[..., 0]
    return np.linalg.solve(turned, d)


def uncholesky(d, y, upper=False):
    """The adjoint of `a` in `y = np.linalg.cholesky(a, upper=upper)`; symmetric.

    Murray, Differentiation of the Cholesky decomposition (2016), equation 9.
    """
    if np.iscomplexobj(y):
        return hermitian_uncholesky(d, y, upper)
    if upper:
        d, y = np.swapaxes(d, -1, -2), np.swapaxes(y, -1, -2)
    turned = np.swapaxes(y, -1, -2)
    middle = np.tril(turned @ d)
    middle = middle + np.swapaxes(np.tril(middle, -1), -1, -2)  # symmetric
    right = np.linalg.solve(turned, middle)
    return np.linalg.solve(turned, np.swapaxes(right, -1, -2)) / 2


def unpinv(d, y, a):
    """The adjoint of `a` in `y = np.linalg.pinv(a)` (Golub and Pereyra, 1973)."""
    p, g = hermitian(y), np.swapaxes(d, -1, -2)
    rows = g - a @ (y @ g)
    columns = g - (g @ y) @ a
    da = -p @ np.conj(d) @ p + rows @ y @ p + p @ y @ columns
    return np.conj(da)


def is_absent(d):
    """Whether the adjoint of a part of a result is none at all."""
    return d is None or np.ndim(d) == 0


def uneigh(d, y):
    """The adjoint of `a` in `y = np.linalg.eigh(a)`; symmetric (transposed Hermitian).

    Giles, Collected matrix derivative results (2008), section 3.1.
    """
    (dw, dv), (w, v) = d, y
    turned, middle = np.swapaxes(v, -1, -2), 0
    if not is_absent(dv):
        middle = spread_gaps(w) * (turned @ dv)
    if not is_absent(dw):
        middle = middle + np.real(dw)[..., None] * np.eye(w.shape[-1], dtype=w.dtype)
    return symmetrised(np.conj(v) @ middle @ turned)


def uneigvalsh(d, a, UPLO="L"):
    """The adjoint of `a` in `np.linalg.eigvalsh(a)`; symmetric."""
    _, v = np.linalg.eigh(a, UPLO)
    return (np.conj(v) * np.real(d)[..., None, :]) @ np.swapaxes(v, -1, -2)


def unsvdvals(d, a):
    """The adjoint of `a` in `np.linalg.svdvals(a)`."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.conj((u * np.real(d)[..., None, :]) @ vh)


def unsvd(d, y, a):
    """The adjoint of `a` in `y = np.linalg.svd(a)`: `u, s, vh`, or `s` alone.

    Townsend, Differentiating the singular value decomposition (2016).
    """
    if not isinstance(y, tuple):
        return unsvdvals(d, a)
    (du, ds, dvh), (u, s, vh) = d, y
    k = s.shape[-1]
    if u.shape[-1] != k or vh.shape[-2] != k:
        if not (is_absent(du) and is_absent(dvh)):
            raise NotImplementedError("np.linalg.svd: pass full_matrices=False")
        u, vh = u[..., :, :k], vh[..., :k, :]
    ut, v = hermitian(u), hermitian(vh)
    one = np.eye(k, dtype=s.dtype)
    gaps = spread_gaps(s**2)
    middle = one * (0 if is_absent(ds) else np.real(ds)[..., None])
    if not is_absent(du):
        du = np.conj(du)
        inner = ut @ du
        part = gaps * inner
        middle = middle + (part + hermitian(part)) * s[..., None, :]
        if np.iscomplexobj(a):  # phases: U takes those of both (as in JAX)
            middle = middle + 1j * one * np.imag(inner) / s[..., None, :]
    if not is_absent(dvh):
        dvh = np.conj(dvh)
        part = gaps * (vh @ hermitian(dvh))
        middle = middle + (part + hermitian(part)) * s[..., :, None]
    da = u @ middle @ vh
    if not is_absent(du) and u.shape[-2] > k:
        outside = du / s[..., None, :]
        da = da + (outside - u @ (ut @ outside)) @ vh
    if not is_absent(dvh) and vh.shape[-1] > k:
        outside = dvh / s[..., :, None]
        da = da + u @ (outside - (outside @ v) @ vh)
    return np.conj(da)


def unqr(d, y, a, mode="reduced"):
    """The adjoint of `a` in `q, r = np.linalg.qr(a)`.

    Walter and Lehmann, Algorithmic differentiation of linear algebra functions (2018).
    """
    if mode not in ("reduced", "complete"):
        raise NotImplementedError(f"np.linalg.qr: mode {mode!r} is not differentiated")
    (dq, dr), (q, r) = d, y
    rows, columns = r.shape[-2:]
    if q.shape[-1] > columns:
        raise NotImplementedError("np.linalg.qr: use mode='reduced'")
    dq = np.zeros_like(q) if is_absent(dq) else np.conj(dq)
    dr = np.zeros_like(r) if is_absent(dr) else np.conj(dr)
    right = dr[..., :, rows:]  # of a wide matrix: the columns that only R has
    if columns > rows:
        dq = dq + a[..., :, rows:] @ hermitian(right)
        r, dr = r[..., :, :rows], dr[..., :, :rows]
    inner = r @ hermitian(dr) - hermitian(dq) @ q
    below = np.tril(inner, -1)
    one = np.eye(inner.shape[-1], dtype=bool)
    inner = below + hermitian(below) + np.where(one, np.real(inner), 0)
    da = hermitian(np.linalg.solve(r, hermitian(dq + q @ inner)))
    da = np.concatenate([da, q @ right], axis=-1) if columns > rows else da
    return np.conj(da)


def unlstsq_left(d, y, a, b):
    """The adjoint of `a` in `y = np.linalg.lstsq(a, b)` of full rank."""
    x, g = (np.reshape(v, (len(v), -1)) for v in (y[0], least_squares_seed(d, y)))
    p, b = np.linalg.pinv(a), np.reshape(b, (len(b), -1))
    da = unpinv(g @ b.T, p, a)
    if np.size(y[1]) and not is_absent(d[1]):
        da = da - 2 * (b - a @ x) * d[1] @ x.T
    return da


def unlstsq_right(d, y, a, b):
    """The adjoint of `b` in `y = np.linalg.lstsq(a, b)` of full rank."""
    db = np.linalg.pinv(a).T @ least_squares_seed(d, y)
    if np.size(y[1]) and not is_absent(d[1]):
        weight = d[1][0] if np.ndim(b) == 1 else d[1]
        db = db + 2 * (b - a @ y[0]) * weight
    return db


def least_squares_seed(d, y):
    """The adjoint of the solution in the result of `np.linalg.lstsq`."""
    if not is_absent(d[3]) and np.any(d[3]):
        raise NotImplementedError("np.linalg.lstsq: singular values have no adjoint")
    return np.zeros_like(y[0]) if is_absent(d[0]) else d[0]


def unscipy_solve(d, y, a, b, which, assume_a=None, lower=False, transposed=False):  # noqa: F811
    """The adjoint of `a` (which=0) or `b` (1) in `y = scipy.linalg.solve(a, b)`."""
    matrix = np.swapaxes(a, -1, -2) if transposed else a
    if assume_a not in (None, "gen", "general"):
        if assume_a not in ("sym", "symmetric", "pos", "positive definite"):
            raise NotImplementedError(f"scipy.linalg.solve(assume_a={assume_a!r})")
        matrix = np.tril(a) if lower else np.triu(a)
        k = -1 if lower else 1
        other = np.tril(a, k) if lower else np.triu(a, k)
        matrix = matrix + np.swapaxes(other, -1, -2)
        if which == 0:
            return symmetrised(unsolve_left(d, y, matrix, b))
    if which == 1:
        return unsolve_right(d, matrix, b)
    da = unsolve_left(d, y, matrix, b)
    return np.swapaxes(da, -1, -2) if transposed else da


def unsolve_triangular_left(db, y, trans=0, lower=False, unit_diagonal=False):
    """The adjoint of `a` in `y = solve_triangular(a, b, ...)`, from that of `b`."""
    left, right = (db, y) if trans in (0, "N") else (y, db)
    if np.ndim(y) == 1:
        da = -np.expand_dims(left, -1) * np.expand_dims(right, -2)
    else:
        da = -left @ np.swapaxes(right, -1, -2)
    if lower:
        return np.tril(da, -1 if unit_diagonal else 0)
    return np.triu(da, 1 if unit_diagonal else 0)


def uncho_factor(d, factor, lower):
    """The adjoint of `a` in `factor, lower = scipy.linalg.cho_factor(a)`; symmetric."""
    if lower:
        return uncholesky(np.tril(d), np.tril(factor), upper=False)
    return uncholesky(np.triu(d), np.triu(factor), upper=True)


def uncho_solve_left(db, y, factor, lower):
    """The adjoint of the factor in `y = cho_solve((factor, lower), b)`."""
    da = -np.reshape(db, (len(y), -1)) @ np.reshape(y, (len(y), -1)).T
    if lower:
        return np.tril((da + da.T) @ np.tril(factor))
    return np.triu(np.triu(factor) @ (da + da.T))


def unexpm(d, a):
    """The adjoint of `a` in `scipy.linalg.expm(a)` (its Frechet derivative)."""
    if np.ndim(a) == 2:
        da = scipy.linalg.expm_frechet(a.T, d, compute_expm=False)
        return da.astype(d.dtype, copy=False)
    found = [unexpm(part, matrix) for matrix, part in zip(a, d, strict=True)]
    return np.reshape(found, np.shape(a))


# -- containers and places -----------------------------------------------------------


def add(a, b):
    """The sum of two adjoints of one value: numbers, arrays or containers of them."""
    if a is None:
        return b
    if b is None:
        return a
    if isinstance(a, dict):
        return {key: add(a[key], b.get(key)) for key in a}
    if isinstance(a, (list, tuple)):
        items = [add(x, y) for x, y in zip(a, b, strict=True)]
        return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
    return a + b


def add_at(d, index, part):
    """`d` with `d[index] += part`: a container or array; repeated indices all count."""
    if isinstance(d, tuple):
        return type(d)(add_at(list(d), index, part))
    if isinstance(d, (list, dict)):
        d[index] = add(d[index], part)
    else:
        np.add.at(d, index, part)
    return d


def packed(like, parts):
    """The adjoint of `a, b = like` from the adjoints of its parts (None for zero)."""
    parts = [
        zeros_like(x) if d is None else d for x, d in zip(like, parts, strict=True)
    ]
    if isinstance(like, (list, tuple)):
        return type(like)(*parts) if hasattr(like, "_fields") else type(like)(parts)
    return np.array(parts)


def unarray(d, values):
    """The adjoint of `np.array(values)` as lists where `values` has lists."""
    if isinstance(values, (list, tuple)):
        return [unarray(part, value) for part, value in zip(d, values, strict=True)]
    return d


def last_written(d, index):
    """The adjoint of `v` in `x[index] = v`: of repeated indices the last one counts."""
    taken = d[index]
    number = np.arange(taken.size).reshape(taken.shape)
    writer = np.full(d.shape, -1)
    writer[index] = number
    return np.where(writer[index] == number, taken, 0)


from srcjax.runtime.complex_parts import (  # noqa: E402, F401
    abs_tangent,
    angle_tangent,
    centred_slope,
    from_parts,
    hermitian_uncholesky,
    seed_of_real,
    slogdet_slope,
    slogdet_tangent,
    unabs,
    unangle,
    unconjugate,
    unimag,
    unreal,
)
from srcjax.runtime.eigen import (  # noqa: E402, F401
    eig_tangent,
    poly_tangent,
    roots_tangent,
    spread_gaps,
    uneig,
    unpoly,
    unpoly_roots,
    unroots,
)
from srcjax.runtime.fourier import (  # noqa: E402, F401
    fitted,
    half_spectrum,
    unfftn,
    unirfftn,
    unrfftn,
)
from srcjax.runtime.jacobians import (  # noqa: E402, F401
    stack_columns,
    stack_rows,
    unit_tangents,
)
from srcjax.runtime.linalg_tangents import (  # noqa: E402, F401  (they need the above)
    cho_factor_tangent,
    cholesky_tangent,
    eigh_tangent,
    eigvalsh_tangent,
    factors_times,
    full_matrix,
    lstsq_tangent,
    matrix_tangent,
    matrix_times,
    pinv_tangent,
    qr_tangent,
    solve_like,
    svd_tangent,
    svdvals_tangent,
    trace_of_solution,
    triangle_times,
)
from srcjax.runtime.tangents import (  # noqa: E402, F401
    average_weights_tangent,
    cumprod_tangent,
    gradient_tangent,
    logsumexp_tangent,
    mean_with_centred,
    multi_dot_tangent,
    norm_tangent,
    pad_tangent,
    ptp_tangent,
    reduce_extreme,
    spacing_adjoints,
    summed,
    trapezoid_dx_tangent,
    undiff_end,
    uninterp_xp,
    unpad_border,
    untrapezoid_dx,
    vander_tangent,
)
