"""Helpers that other helpers are made of: shapes, norms, interpolation, symmetry."""

from __future__ import annotations

import copy
from collections import OrderedDict, defaultdict
from types import SimpleNamespace

import numpy as np


def unbroadcast(d, x):
    """Sum the adjoint `d` over the axes along which `x` was broadcast."""
    shape = np.shape(x)
    d = np.asarray(d) if not np.isscalar(d) else d
    leading = np.ndim(d) - len(shape)
    if leading > 0:
        d = d.sum(axis=tuple(range(leading)))
    axes = tuple(
        axis
        for axis, (m, n) in enumerate(zip(shape, np.shape(d), strict=False))
        if m == 1 and n != 1
    )
    if axes:
        d = d.sum(axis=axes, keepdims=True)
    if np.shape(d) != shape:
        d = np.broadcast_to(d, shape)
    return d


def unreduce(d, axis, keepdims, x):
    """Spread the adjoint `d` of a reduction of `x` along `axis` over x's shape."""
    if axis is not None and not keepdims and np.ndim(x):
        d = np.expand_dims(d, axis)
    if np.isscalar(d) and np.isscalar(x):
        return d
    return np.broadcast_to(d, np.shape(x))


def size_along(x, axis):
    """How many elements of `x` a reduction along `axis` takes together."""
    shape = np.shape(x)
    if axis is None or not shape:
        return int(np.prod(shape))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return int(np.prod([shape[i] for i in axes]))


def centred(x, axis):
    """`x` minus its mean along `axis`."""
    return x - np.mean(x, axis=axis, keepdims=True)


def weights_over(weights, axis, x):
    """The weights of `np.average` in a shape that broadcasts to that of `x`."""
    shape = np.shape(x)
    if np.shape(weights) == shape:
        return np.asarray(weights)
    axes = axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(i % len(shape) for i in axes)
    ordered = np.transpose(weights, np.argsort(axes))
    return ordered.reshape([n if i in axes else 1 for i, n in enumerate(shape)])


def norm_adjoint(d, y, ord, axis, keepdims, x):
    """The adjoint of `y = np.linalg.norm(x, ord, axis, keepdims)`; 0 at 0."""
    if np.iscomplexobj(x):
        return np.conj(norm_slope(np.real(d), y, ord, axis, keepdims, x))
    return norm_slope(d, y, ord, axis, keepdims, x)


def norm_slope(d, y, ord, axis, keepdims, x):
    """`d` times the direction in which the norm `y` of `x` grows the most."""
    matrix = np.ndim(x) == 2 if axis is None else np.size(axis) == 2
    d, y = unreduce(d, axis, keepdims, x), unreduce(y, axis, keepdims, x)
    if ord is None or ord == "fro" or (ord == 2 and not matrix):
        return d * x / np.where(y == 0, 1, y)
    if matrix:
        return matrix_norm_adjoint(d, y, ord, (0, 1) if axis is None else axis, x)
    size = np.abs(x)
    if ord == 0:
        return np.zeros_like(x)
    if ord == 1:
        return d * direction(x)
    if abs(ord) == np.inf:
        here = size == y
        ties = np.sum(here, axis=axis, keepdims=True, dtype=np.result_type(x))
        slopes = direction(x) * here / ties
        return d * slopes
    share = np.where(size == 0, 1, size) / np.where(y == 0, 1, y)
    return d * direction(x) * share ** (ord - 1)


def direction(x):
    """`x` over its size: of real numbers the sign."""
    if np.iscomplexobj(x):
        return x / np.where(x == 0, 1, np.abs(x))
    return np.sign(x)


def matrix_norm_adjoint(d, y, ord, axes, x):
    """The adjoint of a matrix norm other than Frobenius, `d` and `y` spread."""
    rows, columns = axes
    if abs(1 if ord == "nuc" else ord) in (1, np.inf) and ord != "nuc":
        summed, other = axes if abs(ord) == 1 else (columns, rows)
        here = np.sum(np.abs(x), axis=summed, keepdims=True) == y
        here = np.any(here, axis=summed, keepdims=True)
        ties = np.sum(here, axis=other, keepdims=True, dtype=np.result_type(x))
        slopes = direction(x) * here / ties
        return d * slopes
    u, s, vh = np.linalg.svd(np.moveaxis(x, axes, (-2, -1)), full_matrices=False)
    u = u * (s > 0)[..., None, :]
    if ord == "nuc":
        return d * np.moveaxis(u @ vh, (-2, -1), axes)
    k = 0 if ord == 2 else s.shape[-1] - 1
    dx = u[..., :, k, None] * vh[..., None, k, :]
    return d * np.moveaxis(dx, (-2, -1), axes)


def transposed(x):
    """`x` with its last two axes swapped."""
    return np.swapaxes(x, -1, -2)


def undiff(d, x, n=1, axis=-1, prepend=None, append=None):
    """The adjoint of `x` in `np.diff(x, n, axis, prepend, append)`."""
    if n == 0:
        return d  # NumPy takes nothing in front or behind then
    axis = axis % np.ndim(x)
    size, first = np.shape(x)[axis], 0
    if prepend is not None:
        first = np.shape(prepend)[axis] if np.ndim(prepend) else 1
    last = 0
    if append is not None:
        last = np.shape(append)[axis] if np.ndim(append) else 1
    widths = [(0, 0)] * np.ndim(x)
    widths[axis] = (n, n)
    if n > size + first + last:
        return np.zeros_like(x, dtype=np.result_type(d))
    total = np.diff(np.pad(d, widths), n, axis)
    total = -total if n % 2 else total
    return np.moveaxis(np.moveaxis(total, axis, 0)[first : first + size], 0, axis)


def interval_of(x, xp):
    """The interval of `xp` that each `x` is in, by its first place."""
    return np.clip(np.searchsorted(xp, x, side="right") - 1, 0, len(xp) - 2)


def uninterp_x(d, x, xp, fp):
    """The adjoint of `x` in `np.interp(x, xp, fp)`."""
    i = interval_of(x, xp)
    xp, fp = np.asarray(xp), np.asarray(fp)
    slope = (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i])
    return d * np.where((x < xp[0]) | (x > xp[-1]), 0, slope)


def uninterp_fp(d, x, xp, fp, left=None, right=None):
    """The adjoint of `fp` in `np.interp(x, xp, fp, left, right)`."""
    i, xp = interval_of(x, xp), np.asarray(xp)
    place = np.clip((x - xp[i]) / (xp[i + 1] - xp[i]), 0, 1)
    given = (x < xp[0]) & (left is not None) | (x > xp[-1]) & (right is not None)
    d = np.where(given, 0, d)
    out = np.zeros_like(fp, dtype=d.dtype)
    np.add.at(out, i, d * (1 - place))
    np.add.at(out, i + 1, d * place)
    return out


def hermitian(x):
    """`x` with its last two axes swapped, and conjugated."""
    return np.conj(np.swapaxes(x, -1, -2))


def symmetrised(x):
    """The symmetric part of `x`; of complex numbers the Hermitian part."""
    return (x + hermitian(x)) / 2


def whole_of_triangle(x, upper=False):
    """The symmetric matrix of which `x` has one triangle; Hermitian if complex.

    Functions of symmetric matrices (Cholesky, eigenvalues) read one triangle, and of
    complex numbers the real part of the diagonal. Tangents of what they read, too.
    """
    strict = np.triu(x, 1) if upper else np.tril(x, -1)
    diagonal = np.real(x) * np.eye(np.shape(x)[-1], dtype=bool)
    return strict + diagonal + hermitian(strict)


def to_triangle(d, upper=False):
    """The adjoint of `x` in `whole_of_triangle(x, upper)`, in the triangle it reads."""
    both = d + hermitian(d)
    both = np.where(np.eye(np.shape(d)[-1], dtype=bool), np.real(d), both)
    return np.triu(both) if upper else np.tril(both)


def zeros_like(x):
    """The zero of the same structure: numbers, arrays, lists, tuples, dicts.

    Each place of an array, a list or a dict has a zero of its own, though `x` may hold
    it twice: what is added to it in the one place is not in the other.
    """
    return zero_part(x, {}, apart=True)


def zero_tangent(x):
    """The zero of the same structure, in which what `x` holds twice is one thing too.

    What is written to an array under the one name is read under the other.
    """
    return zero_part(x, {}, apart=False)


def zero_part(x, made, apart):
    """The zero of `x`, a part of a whole: `made` has those of its other parts."""
    if apart and isinstance(x, np.ndarray):
        return np.zeros_like(x)
    if apart and type(x) in (list, dict):
        return new_zero(x, made, apart)
    if id(x) not in made:
        made[id(x)] = new_zero(x, made, apart)
    return made[id(x)]


def new_zero(x, made, apart):
    """The zero of `x`, which was not met before (see `zero_part`)."""
    if isinstance(x, dict):
        zeros = {key: zero_part(value, made, apart) for key, value in x.items()}
        return of_class(x, zeros)
    if isinstance(x, tuple):
        items = [zero_part(item, made, apart) for item in x]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, list):
        return [zero_part(item, made, apart) for item in x]
    if hasattr(x, "shape"):
        return x.dtype.type(0) if isinstance(x, np.generic) else np.zeros_like(x)
    if isinstance(x, complex):
        return 0j
    if is_record(x):
        parts = vars(x)
        # An object of its own; what is in it is not copied, but set below.
        zero = copy.copy(x)
        if zero is not x and vars(zero) is not parts:
            for key, value in parts.items():
                object.__setattr__(zero, key, zero_part(value, made, apart))
            return zero
        # There is one of it alone: a class, a member of an Enum, `np.sin`, a logger.
    return 0.0 if isinstance(x, (int, float)) else None


def of_class(x, items):
    """The dict `items` as one of the class that the dict `x` is of."""
    if isinstance(x, defaultdict):
        return defaultdict(x.default_factory, items)
    return OrderedDict(items) if isinstance(x, OrderedDict) else items


def is_record(x):
    """Whether `x` is an object with attributes, of a class written in Python."""
    if isinstance(x, SimpleNamespace):
        return True
    init, new = type(x).__init__, type(x).__new__
    bare = init is object.__init__ and new is object.__new__  # it has no `__init__`
    held = getattr(x, "__dict__", None)
    return held is not None and (hasattr(init, "__code__") or bare and bool(held))
