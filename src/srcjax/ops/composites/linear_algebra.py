"""Functions of np.linalg and products that others of NumPy say."""

from __future__ import annotations

import numpy as np

from srcjax.ops.composites.reductions import in_dtype
from srcjax.ops.record import composite


@composite(np.linalg.diagonal)
def diagonal(x, /, *, offset=0):
    """The diagonals of the last two axes."""
    return np.diagonal(x, offset, -2, -1)


@composite(np.linalg.trace)
def trace(x, /, *, offset=0, dtype=None):
    """The sums of the diagonals of the last two axes."""
    return np.trace(in_dtype(x, dtype), offset, -2, -1)


@composite(np.linalg.eigvals)
def eigvals(a):
    """The eigenvalues, in the order of the eigenvectors."""
    w, _ = np.linalg.eig(a)
    return w


@composite(np.linalg.matrix_norm)
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norms of the matrices in the last two axes."""
    return np.linalg.norm(x, ord, (-2, -1), keepdims)


@composite(np.linalg.vector_norm)
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norms of the values along the axes, taken as one vector."""
    if axis is None:
        flat = np.linalg.norm(np.ravel(x), ord)
        return np.reshape(flat, (1,) * np.ndim(x)) if keepdims else flat
    if isinstance(axis, tuple):
        moved = np.moveaxis(x, axis, range(len(axis)))
        rows = np.reshape(moved, (-1, *moved.shape[len(axis) :]))
        norms = np.linalg.norm(rows, ord, 0)
        return np.expand_dims(norms, axis) if keepdims else norms
    return np.linalg.norm(x, ord, axis, keepdims)


@composite(np.linalg.cond)
def cond(x, p=None):
    """The product of the norms of a matrix and its inverse."""
    if p is None or p == 2 or p == -2:
        s = np.linalg.svdvals(x)
        if p == -2:
            return s[..., -1] / s[..., 0]
        return s[..., 0] / s[..., -1]
    forward = np.linalg.norm(x, p, (-2, -1))
    return forward * np.linalg.norm(np.linalg.inv(x), p, (-2, -1))


@composite(np.linalg.tensorinv)
def tensorinv(a, ind=2):
    """The inverse as a matrix from the last axes to the first `ind`."""
    size = int(np.prod(a.shape[ind:]))
    inverse = np.linalg.inv(np.reshape(a, (size, size)))
    return np.reshape(inverse, (*a.shape[ind:], *a.shape[:ind]))


@composite(np.linalg.tensorsolve)
def tensorsolve(a, b, axes=None):
    """Solve `tensordot(a, x, x.ndim) = b`."""
    if axes is not None:
        last = range(np.ndim(a) - np.size(axes), np.ndim(a))
        a = np.moveaxis(a, axes, last)
    shape = a.shape[np.ndim(b) :]
    matrix = np.reshape(a, (np.size(b), -1))
    return np.reshape(np.linalg.solve(matrix, np.ravel(b)), shape)


@composite(np.matvec)
def matvec(x1, x2, /):
    """Matrices in the last two axes times vectors in the last axis."""
    return np.squeeze(x1 @ np.expand_dims(x2, -1), -1)


@composite(np.vecmat)
def vecmat(x1, x2, /):
    """Vectors in the last axis, conjugated, times matrices in the last two axes."""
    return np.squeeze(np.expand_dims(np.conj(x1), -2) @ x2, -2)
