"""Adjoints of what moves, joins and repeats items."""

from __future__ import annotations

import numpy as np

from srcjax.runtime.basics import unbroadcast


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
    return np.transpose(d, np.argsort([axis % len(axes) for axis in axes]))


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
        pieces = reshaped(pieces, arrays)
    return as_given(pieces, arrays)


def reshaped(pieces, arrays):
    """The pieces in the shapes of the arrays."""
    pieces = [np.reshape(p, np.shape(a)) for p, a in zip(pieces, arrays, strict=True)]
    return as_given(pieces, arrays)


def as_given(pieces, arrays):
    """The pieces as one array, if the arrays were the rows of one."""
    return np.stack(pieces) if isinstance(arrays, np.ndarray) else pieces


def unstack(d, arrays, axis=0):
    """The parts of `d` that belong to each of the stacked arrays."""
    return as_given(list(np.moveaxis(d, axis, 0)), arrays)


def unvstack(d, arrays):
    """The parts of `d` that belong to each array in `np.vstack(arrays)`."""
    pieces = unconcatenate(d, [np.atleast_2d(a) for a in arrays], 0)
    return reshaped(pieces, arrays)


def unhstack(d, arrays):
    """The parts of `d` that belong to each array in `np.hstack(arrays)`."""
    axis = 0 if np.ndim(arrays[0]) < 2 else 1
    pieces = unconcatenate(d, [np.atleast_1d(a) for a in arrays], axis)
    return reshaped(pieces, arrays)


def undstack(d, arrays):
    """The parts of `d` that belong to each array in `np.dstack(arrays)`."""
    pieces = unconcatenate(d, [np.atleast_3d(a) for a in arrays], 2)
    return reshaped(pieces, arrays)


def uncolumn_stack(d, arrays):
    """The parts of `d` that belong to each array in `np.column_stack(arrays)`."""
    columns = [a if np.ndim(a) > 1 else np.reshape(a, (-1, 1)) for a in arrays]
    pieces = unconcatenate(d, columns, 1)
    return reshaped(pieces, arrays)


def unblock(d, arrays):
    """The parts of `d` that belong to each array in the nested lists of `np.block`."""
    numbers = numbered(arrays, 0)[0]
    flat = np.zeros_like(np.ravel(d))
    flat[np.ravel(np.block(numbers))] = np.ravel(d)
    return taken(flat, numbers)


def numbered(part, first):
    """The entries of nested lists of arrays, numbered from `first`; the next number."""
    if isinstance(part, list):
        parts = []
        for inner in part:
            numbers, first = numbered(inner, first)
            parts.append(numbers)
        return parts, first
    numbers = np.arange(first, first + np.size(part))
    return np.reshape(numbers, np.shape(part)), first + np.size(part)


def taken(flat, numbers):
    """The entries of these numbers, in their nested lists."""
    if isinstance(numbers, list):
        return [taken(flat, part) for part in numbers]
    return flat[numbers]


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
