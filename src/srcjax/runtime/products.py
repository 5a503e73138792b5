"""Adjoints of products: matrices, tensors, convolutions."""

from __future__ import annotations

import numpy as np

from srcjax.runtime.basics import unbroadcast


def transposed(a):
    """Each matrix with its axes swapped; a sparse one too."""
    return a.T if np.ndim(a) == 2 else np.swapaxes(a, -1, -2)


def summed_to(d, shape):
    """An adjoint in this shape: summed to it where it has another."""
    return d if np.shape(d) == shape else unbroadcast(d, np.broadcast_to(0.0, shape))


def of_product(d, a, b):
    """The adjoint `d` of `a @ b`, summed to its shape where it has another."""
    m, n = np.shape(a), np.shape(b)
    whole = m[-2:-1] + n[-1:] if len(n) > 1 else m[-2:-1]
    return summed_to(d, np.broadcast_shapes(m[:-2], n[:-2]) + whole)


def unmatmul_left(d, a, b):
    """The adjoint of `a` in `a @ b`."""
    d = of_product(d, a, b)
    if np.ndim(b) == 1:
        da = np.expand_dims(d, -1) * b
    elif np.ndim(a) == 1:
        da = (b @ np.expand_dims(d, -1))[..., 0]
    else:
        da = d @ transposed(b)
    return unbroadcast(da, a)


def unmatmul_right(d, a, b):
    """The adjoint of `b` in `a @ b`."""
    d = of_product(d, a, b)
    if np.ndim(a) == 1:
        db = a * d if np.ndim(b) == 1 else np.expand_dims(a, -1) * np.expand_dims(d, -2)
    elif np.ndim(b) == 1:
        db = (transposed(a) @ np.expand_dims(d, -1))[..., 0]
    else:
        db = transposed(a) @ d
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


def of_dot(d, a, b):
    """The adjoint `d` of `np.dot(a, b)`, summed to its shape where it has another."""
    m, n = np.shape(a), np.shape(b)
    return summed_to(d, m[:-1] + n[:-2] + n[-1:] if len(n) > 1 else m[:-1])


def undot_left(d, a, b):
    """The adjoint of `a` in `np.dot(a, b)`."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(d * b, a)
    return untensordot_left(of_dot(d, a, b), a, b, (-1, max(np.ndim(b) - 2, 0)))


def undot_right(d, a, b):
    """The adjoint of `b` in `np.dot(a, b)`."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(d * a, b)
    return untensordot_right(of_dot(d, a, b), a, b, (-1, max(np.ndim(b) - 2, 0)))


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
    return on_diagonal(value, labels, free, shape)


def on_diagonal(value, labels, free, shape):
    """`value` where the indices with the same label are equal, and zero elsewhere."""
    sizes = [shape[labels.index(label)] for label in free]
    spare = [c for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    spare = [c for c in spare if c not in free]
    terms, ones, found = [free], [], ""
    for label, size in zip(labels, shape, strict=True):
        if label in found:
            again = spare.pop()
            terms.append(label + again)
            ones.append(np.eye(size, dtype=value.dtype))
            label = again
        found += label
    return np.einsum(
        ",".join(terms) + "->" + found, np.broadcast_to(value, sizes), *ones
    )


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
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise NotImplementedError("np.cross is differentiated for vectors of 3 only")
    db = np.cross(np.moveaxis(d, axisc, -1), a)
    return np.moveaxis(unbroadcast(db, b), -1, axisb)


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
