"""scipy.spatial.distance: distances between the rows of matrices, as formulas."""

from __future__ import annotations

import numpy as np
import scipy.spatial.distance

from srcjax.ops.record import composite


def root(squares):
    """The square root, with slope 0 where a row meets itself."""
    here = squares == 0
    return np.where(here, 0.0, np.sqrt(np.where(here, 1.0, squares)))


def weighted(parts, w):
    """Each coordinate's part, by its weight if there are any."""
    return parts if w is None else parts * np.asarray(w)


def cosines(a, b):
    """One minus the cosine of the angle between each two rows."""
    lengths = np.sqrt(np.sum(a * a, axis=-1) * np.sum(b * b, axis=-1))
    return 1.0 - np.sum(a * b, axis=-1) / lengths


def between(a, b, metric, p, w, V, VI):
    """Distances between rows that stand opposite each other."""
    d = a - b
    if metric in ("euclidean", "euclid", "eu", "e"):
        return root(np.sum(weighted(d * d, w), axis=-1))
    if metric in ("sqeuclidean", "sqe", "sqeuclid"):
        return np.sum(weighted(d * d, w), axis=-1)
    if metric in ("cityblock", "manhattan", "cblock", "cb", "c"):
        return np.sum(weighted(np.abs(d), w), axis=-1)
    if metric in ("chebyshev", "chebychev", "cheby", "cheb", "ch"):
        if w is not None:
            raise NotImplementedError("this metric with weights")
        return np.max(np.abs(d), axis=-1)
    if metric in ("minkowski", "mi", "m", "pnorm"):
        powers = np.sum(weighted(np.abs(d) ** p, w), axis=-1)
        here = powers == 0
        return np.where(here, 0.0, np.where(here, 1.0, powers) ** (1.0 / p))
    if metric in ("canberra", "canb"):
        sizes = np.abs(a) + np.abs(b)
        none = sizes == 0
        parts = np.where(none, 0.0, np.abs(d) / np.where(none, 1.0, sizes))
        return np.sum(weighted(parts, w), axis=-1)
    if w is not None:
        raise NotImplementedError("this metric with weights")
    if metric in ("braycurtis", "bc", "braycurt"):
        return np.sum(np.abs(d), axis=-1) / np.sum(np.abs(a + b), axis=-1)
    if metric in ("cosine", "cos"):
        return cosines(a, b)
    if metric in ("correlation", "co"):
        a = a - np.mean(a, axis=-1, keepdims=True)
        b = b - np.mean(b, axis=-1, keepdims=True)
        return cosines(a, b)
    if metric in ("seuclidean", "se", "s") and V is not None:
        return root(np.sum(d * d / np.asarray(V), axis=-1))
    if metric in ("mahalanobis", "mahal", "mah") and VI is not None:
        return root(np.sum((d @ np.asarray(VI)) * d, axis=-1))
    raise NotImplementedError("a metric without a formula")


@composite(scipy.spatial.distance.cdist, refuses=["out"])
def cdist(XA, XB, metric="euclidean", *, out=None, p=2.0, w=None, V=None, VI=None):
    """The distance between each row of one matrix and each row of another."""
    first, second = np.asarray(XA)[:, None, :], np.asarray(XB)[None, :, :]
    return between(first, second, metric, p, w, V, VI)


@composite(scipy.spatial.distance.pdist, refuses=["out"])
def pdist(X, metric="euclidean", *, out=None, p=2.0, w=None, V=None, VI=None):
    """The distance between each two rows of a matrix, the first with others first."""
    rows = np.asarray(X)
    first, second = np.triu_indices(len(rows), 1)
    return between(rows[first], rows[second], metric, p, w, V, VI)


@composite(scipy.spatial.distance.squareform, refuses=["force"])
def squareform(X, force="no", checks=True):
    """The symmetric matrix of distances of `pdist`, or back."""
    given = np.asarray(X)
    if given.ndim == 2:
        if checks and (np.any(given != given.T) or np.any(np.diag(given) != 0)):
            raise ValueError("The matrix is not symmetric, with zeros on its diagonal.")
        return given[np.triu_indices(len(given), 1)]
    count = int(np.ceil(np.sqrt(2.0 * len(given))))
    count = max(count, 1)
    if count * (count - 1) != 2 * len(given):
        raise ValueError("The number of distances is none of pairs of rows.")
    first, second = np.triu_indices(count, 1)
    places = np.zeros((count, count), dtype=int)
    places[first, second] = places[second, first] = np.arange(len(given)) + 1
    return np.append(0.0, given)[places]
