"""`segment_sum` and its kin, compared with JAX and with finite differences."""

import jax
import numpy as np
import pytest

import srcjax
from srcjax import ops, testing

X = np.array([[1.0, 5.0], [4.0, 2.0], [3.0, 7.0], [4.0, -1.0], [5.0, 0.5], [9.0, 8.0]])
IDS = np.array([0, 2, 0, 2, 5, -1])
NAMES = ["segment_sum", "segment_max", "segment_min", "segment_prod"]


def finite(y):
    return np.sum(np.where(np.isfinite(y), y, 0.0) ** 2)


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_jax(name):
    ours, theirs = getattr(ops, name), getattr(jax.ops, name)
    for data in (X, X[:, 0], X.astype(np.int32), X.astype(np.float32)):
        for options in ({}, {"num_segments": 4}, {"num_segments": 3, "mode": "clip"}):
            found = ours(data, IDS, **options)
            np.testing.assert_array_equal(found, theirs(data, IDS, **options))
            assert found.dtype == data.dtype
    found = ours(X, np.abs(IDS), num_segments=6, mode="promise_in_bounds")
    np.testing.assert_array_equal(found, theirs(X, np.abs(IDS), num_segments=6))


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_and_batches(name):
    segment = getattr(ops, name)

    def f(x, ids):
        return finite(segment(x, ids, 4))

    x = X + np.arange(12.0).reshape(6, 2) / 7  # no ties
    testing.check_grads(lambda x: f(x, IDS), (x,), order=2)
    many, orders = np.stack([x, 2 * x]), np.stack([IDS, IDS[::-1]])
    for function in (f, srcjax.grad(f)):
        if name == "segment_prod":  # a loop, as long as the longest segment
            break
        for axes, args in (
            ((0, 0), (many, orders)),
            ((0, None), (many, IDS)),
            ((None, 0), (x, orders)),
        ):
            pairs = [*zip(args, axes, strict=True)]
            one = [
                function(*(a if axis is None else a[k] for a, axis in pairs))
                for k in range(2)
            ]
            np.testing.assert_allclose(srcjax.vmap(function, axes)(*args), one)


def test_ties_share_the_adjoint_as_in_jax():
    def f(x, segment, xp):
        return xp.sum(segment(x, IDS, 3)[np.array([0, 2])] ** 2)

    for name in ("segment_max", "segment_min"):
        found = srcjax.grad(lambda x: f(x, getattr(ops, name), np))(X)  # noqa: B023
        wanted = jax.grad(lambda x: f(x, getattr(jax.ops, name), jax.numpy))(X)  # noqa: B023
        np.testing.assert_allclose(found, wanted)


def test_zeros_in_products_have_their_derivatives():
    x = np.array([0.0, 2.0, 3.0, 0.0, 0.0])
    ids = np.array([0, 0, 0, 1, 1])

    def f(x):
        return np.sum(ops.segment_prod(x, ids, 2))

    np.testing.assert_array_equal(srcjax.grad(f)(x), [6.0, 0.0, 0.0, 0.0, 0.0])
    wanted = np.zeros((5, 5))
    wanted[0, 1] = wanted[1, 0] = 3.0
    wanted[0, 2] = wanted[2, 0] = 2.0
    wanted[3, 4] = wanted[4, 3] = 1.0
    np.testing.assert_array_equal(srcjax.hessian(f)(x), wanted)


def test_the_text_is_numpys():
    def f(x, ids):
        return np.sum(ops.segment_sum(x, ids, 4) ** 2)

    text = srcjax.source(srcjax.grad(f), X, IDS)
    assert "np.add.at(sums, places, x)" in text and "segment_sum(" in text.split("#")[1]
    assert "import segment" not in text and "_forward" not in text


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="segment for each item"):
        ops.segment_sum(X, IDS[:3])
    with pytest.raises(ValueError, match="mode is 'wrap'"):
        ops.segment_max(X, IDS, 3, mode="wrap")
    with pytest.raises(AttributeError, match="segment_mean"):
        ops.segment_mean  # noqa: B018
