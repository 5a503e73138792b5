"""Windows of arrays, in both modes, to second order and in batches."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import srcjax
from srcjax.testing import check_grads

X = np.random.default_rng(0).normal(size=(4, 5))


def along_one(x):
    return np.sum(sliding_window_view(x[0], 3).mean(axis=1) ** 3)


def along_both(x):
    return np.sum(np.sin(sliding_window_view(x, (2, 3)) * x[:2, :3]))


def along_some(x):
    return np.sum(sliding_window_view(x, window_shape=2, axis=-1).prod(axis=-1))


def twice_along_one(x):
    return np.sum(sliding_window_view(x, (2, 2), axis=(1, 1)).sum((-1, -2)) ** 3)


def by_strides(x):
    rows, columns = x.strides
    blocks = as_strided(x, (3, 4, 2, 2), (rows, columns, rows, columns))
    return np.sum(np.tanh(blocks.sum(axis=(2, 3))) * blocks[..., 0, 1])


FUNCTIONS = [along_one, along_both, along_some, twice_along_one, by_strides]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives(f):
    check_grads(f, (X,), order=2, modes=("rev", "fwd"))


@pytest.mark.parametrize("f", FUNCTIONS[:-1], ids=lambda f: f.__name__)
def test_batch(f):
    batch = np.stack([X, 2 * X, X[::-1]])
    gradient = srcjax.grad(f)
    for transform in (f, gradient):
        found = srcjax.vmap(transform)(batch)
        want = np.stack([transform(x) for x in batch])
        np.testing.assert_allclose(found, want, rtol=1e-12)


def test_strides_of_what_is_no_block():
    with pytest.raises(ValueError, match="contiguous"):
        srcjax.grad(by_strides)(np.asfortranarray(X))
