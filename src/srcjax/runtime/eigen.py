"""Eigenvalues of general matrices, and roots of polynomials.

Cotangents of complex values follow JAX: the derivative of the loss along a change `dx`
is the real part of `sum(d * dx)`.
"""

import numpy as np


def spread_gaps(w):
    """One over the differences `w[j] - w[i]`; 0 on the diagonal."""
    return one_over(w[..., None, :] - w[..., :, None])


def gaps_of_eigenvalues(w):
    """The same; infinite where rounding alone may have made the difference.

    Eigenvalues that are equal come out of LAPACK with other last digits. What is
    divided by the difference of these is no derivative, but looks like one.
    """
    least = np.finfo(w.dtype).eps * np.sum(np.abs(w), axis=-1)
    difference = w[..., None, :] - w[..., :, None]
    near = np.abs(difference) <= least[..., None, None]
    return one_over(np.where(near, 0, difference))


def one_over(differences):
    """Of each, and 0 on the diagonal."""
    one = np.eye(differences.shape[-1], dtype=differences.dtype)
    with np.errstate(divide="ignore", invalid="ignore"):
        # The one is taken away again: no infinity, whose slope is NaN.
        return 1 / (differences + one) - one


def of_vectors_read(gaps, adjoints):
    """`gaps`, with 0 between two vectors that nothing reads: their values may be equal.

    A vector that nothing reads has a row of zeros in `adjoints`. But so has one that is
    multiplied by 0, as in a logarithm, where the values are read too: not for that.
    """
    read = np.any(adjoints != 0, axis=-1)
    return np.where(read[..., None, :] | read[..., :, None], gaps, 0)


def uneig(d, y, a):
    """The adjoint of `a` in `w, v = np.linalg.eig(a)`.

    Giles, Collected matrix derivative results (2008), section 3.1, and for the
    eigenvectors that LAPACK scales them to norm 1 with a real largest entry.
    """
    (dw, dv), (w, v) = d, y
    turned, middle = np.swapaxes(v, -1, -2), 0
    if not (dv is None or np.ndim(dv) == 0):
        along = np.sum(dv * v, axis=-2, keepdims=True)
        dv = dv - np.real(along) * np.conj(v)
        if np.iscomplexobj(v):
            row = np.argmax(np.abs(v), axis=-2, keepdims=True)
            largest = np.real(np.take_along_axis(v, row, axis=-2))
            rows = np.arange(v.shape[-1])[:, None]
            dv = dv - (rows == row) * 1j * np.imag(along) / largest
        gaps = gaps_of_eigenvalues(w)
        if dw is None or np.ndim(dw) == 0:
            gaps = of_vectors_read(gaps, np.swapaxes(dv, -1, -2))
        middle = gaps * (turned @ dv)
    if not (dw is None or np.ndim(dw) == 0):
        middle = middle + dw[..., None] * np.eye(w.shape[-1])
    da = np.linalg.solve(turned, middle @ turned)
    return da if np.iscomplexobj(a) else np.real(da)


def eig_tangent(da, y):
    """The tangents of `y = np.linalg.eig(a)` (see `uneig`)."""
    w, v = y
    changes = np.linalg.solve(v, da @ v)
    dw = np.diagonal(changes, axis1=-2, axis2=-1).copy()
    dv = v @ (gaps_of_eigenvalues(w) * changes)
    shift = -np.real(np.sum(np.conj(v) * dv, axis=-2, keepdims=True))
    if np.iscomplexobj(v):
        row = np.argmax(np.abs(v), axis=-2, keepdims=True)
        largest = np.real(np.take_along_axis(v, row, axis=-2))
        turn = np.imag(np.take_along_axis(dv, row, axis=-2)) / largest
        shift = shift - 1j * turn
    return dw, dv + v * shift


def unroots(d, y, p):
    """The adjoint of the coefficients in `y = np.roots(p)`."""
    c = np.asarray(p, np.result_type(p, y))
    slopes = np.polyval(np.polyder(c), y)
    dp = -(d / slopes) @ np.vander(y, np.size(p))
    dp = np.reshape(dp, np.shape(p))
    return dp if np.iscomplexobj(p) else np.real(dp)


def roots_tangent(dp, y, p):
    """The tangent of `y = np.roots(p)`."""
    c, change = (
        np.asarray(p, np.result_type(p, y)),
        np.asarray(dp, np.result_type(p, y)),
    )
    return -np.polyval(change, y) / np.polyval(np.polyder(c), y)


def unpoly(d, seq_of_zeros):
    """The adjoint of the roots (or of the matrix) in `np.poly(seq_of_zeros)`."""
    if np.ndim(seq_of_zeros) == 2:
        w, v = np.linalg.eig(seq_of_zeros)
        return uneig((unpoly_roots(d, w), None), (w, v), seq_of_zeros)
    roots = np.atleast_1d(seq_of_zeros)
    dr = np.reshape(unpoly_roots(d, roots), np.shape(seq_of_zeros))
    return dr if np.iscomplexobj(roots) else np.real(dr)


def unpoly_roots(d, roots):
    """The adjoint of the roots: minus the products of the other factors."""
    if len(roots) == 0:
        return np.zeros_like(roots)
    others = [np.poly(np.delete(roots, i)) for i in range(len(roots))]
    return -np.stack([np.reshape(c, -1) for c in others]) @ d[1:]


def poly_tangent(dr, y, seq_of_zeros):
    """The tangent of `y = np.poly(seq_of_zeros)`."""
    roots = np.atleast_1d(seq_of_zeros)
    if np.ndim(seq_of_zeros) == 2:
        roots, v = np.linalg.eig(seq_of_zeros)
        dr = np.diagonal(np.linalg.solve(v, dr @ v))
    if len(roots) == 0:
        return 0.0
    others = [np.poly(np.delete(roots, i)) for i in range(len(roots))]
    rows = np.stack([np.reshape(c, -1) for c in others])
    change = np.append(0.0, -np.reshape(dr, -1) @ rows)
    return change if np.iscomplexobj(y) else np.real(change)
