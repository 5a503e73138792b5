"""Draws of `srcjax.random` that are made of others, for derivatives."""

from __future__ import annotations

import numpy as np

from srcjax import random
from srcjax.analysis.types import is_active
from srcjax.ops.record import completes
from srcjax.random import widths


def items_vary(**given):
    """Whether a derivative flows through the items that are put in order."""
    return any(is_active(given[name]) for name in ("x", "a") if name in given)


def parameters_vary(**given):
    """Whether a derivative flows through a parameter of the distribution."""
    return any(is_active(t) for name, t in given.items() if name != "key")


@completes(random.permutation, when=items_vary)
def permutation(key, x, axis=0, independent=False):
    if independent and x.ndim > 1:
        places = np.arange(x.size).reshape(x.shape)
        return np.ravel(x)[random.permutation(key, places, axis, True)]
    return np.take(x, random.permutation(key, x.shape[axis]), axis)


@completes(random.choice, when=items_vary)
def choice(key, a, shape=(), replace=True, p=None, axis=0, mode=None):
    return np.take(
        a, random.choice(key, a.shape[axis], shape, replace, p, mode=mode), axis
    )


@completes(random.multivariate_normal, when=parameters_vary)
def multivariate_normal(key, mean, cov, shape=None, dtype=None, method="cholesky"):
    if method != "cholesky":
        raise NotImplementedError(f"the derivative of draws with method={method!r}")
    if dtype is None:
        dtype = np.result_type(mean, cov, np.float16) if widths.WIDE else np.float32
    cov = np.asarray(cov).astype(dtype)
    factor = np.linalg.cholesky((cov + np.swapaxes(cov, -1, -2)) / 2)
    mean = np.asarray(mean).astype(dtype)
    if shape is None:
        shape = np.broadcast_shapes(mean.shape[:-1], factor.shape[:-2])
    z = random.normal(key, (*shape, mean.shape[-1]), dtype)
    return mean + (factor @ z[..., None])[..., 0]
