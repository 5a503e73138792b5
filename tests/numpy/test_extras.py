"""What `srcjax.numpy` has beyond NumPy, and pytrees as vectors."""

import numpy as np
import pytest

import srcjax
import srcjax.numpy as snp
from srcjax.flatten_util import ravel_pytree
from srcjax.test_util import check_grads
from tests.corpus.harness import assert_close

X = np.array([[3.0, -1.0, 3.0], [0.0, 2.0, -1.0]])


def test_values():
    np.testing.assert_array_equal(snp.sort(X[0], descending=True), [3, 3, -1])
    np.testing.assert_array_equal(snp.argsort(X[0], descending=True), [0, 2, 1])
    np.testing.assert_array_equal(snp.argsort(X[0]), [1, 0, 2])
    np.testing.assert_array_equal(snp.flatnonzero(X > 0, size=4), [0, 2, 4, 0])
    rows, columns = snp.nonzero(X > 0, size=4, fill_value=(7, -1))
    np.testing.assert_array_equal(rows, [0, 0, 1, 7])
    np.testing.assert_array_equal(columns, [0, 2, 1, -1])
    np.testing.assert_array_equal(snp.where(X > 0, size=2)[1], [0, 2])
    items, counts = snp.unique(X, return_counts=True, size=5)
    np.testing.assert_array_equal(items, [-1, 0, 2, 3, -1])
    np.testing.assert_array_equal(counts, [2, 1, 1, 2, 0])
    changed = snp.fill_diagonal(X, 5.0, inplace=False)
    np.testing.assert_array_equal(changed[0], [5, -1, 3])
    assert X[0, 0] == 3.0 and snp.put(X, 4, 9.0)[1, 1] == 9.0


def in_fixed_sizes(x):
    repeated = snp.repeat(x, np.array([1, 2, 1]), total_repeat_length=6)
    taken = snp.take(x, np.array([2, 5, -1]), mode="fill", fill_value=0.5)
    counts = snp.bincount(np.array([0, 1, 1, 5]), np.cos(x[[0, 1, 2, 2]]), length=3)
    rows = snp.take(np.outer(x, x), np.array([0, 9]), 0, mode="fill", fill_value=2.0)
    return snp.sum(repeated**2) + snp.sum(taken**3) + counts @ x + rows.sum()


def products(x):
    A = np.outer(x, x)
    y = snp.dot(A, x, precision="highest") + snp.matmul(A, x, precision=None)
    z = snp.einsum("ij,j->i", A, x, precision="highest", optimize=True)
    w = snp.tensordot(A, x, 1, preferred_element_type=np.float64)
    place = snp.searchsorted(np.arange(3.0), 1.5, method="sort")
    return snp.sum(y * z) + w[place] + snp.digitize(1.5, np.arange(3.0), method="scan")


@pytest.mark.parametrize("f", [in_fixed_sizes, products])
def test_derivatives_of_what_takes_more_arguments(f):
    x = np.array([0.3, -0.7, 1.2])
    step = 1e-6 * np.eye(3)
    expected = [(f(x + e) - f(x - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(srcjax.grad(f)(x), expected, rtol=1e-6, atol=1e-8)
    dots = [srcjax.jvp(f, (x,), (e,))[1] for e in np.eye(3)]
    np.testing.assert_allclose(dots, expected, rtol=1e-6, atol=1e-8)
    assert_close(srcjax.jit(f)(x), f(x))


def test_lengths_and_places_that_are_given():
    assert snp.repeat(np.arange(3), 2, total_repeat_length=4).tolist() == [0, 0, 1, 1]
    assert snp.bincount(np.array([1, 7]), length=3).tolist() == [0, 1, 0]
    assert np.isnan(snp.take(np.ones(2), np.array([5]), mode="fill")).all()
    assert snp.take(np.arange(4), -1) == 3
    with pytest.raises(IndexError):
        snp.take(np.ones(2), 5)


def test_calls_without_these_arguments_are_those_of_numpy():
    def f(x):
        top = snp.sort(x, descending=True)[0]
        return snp.where(x > 0, snp.sort(x), 0.0).sum() + top * snp.unique(x).max()

    x = np.array([1.0, -2.0, 3.0])
    text = srcjax.source(srcjax.grad(f), x)
    assert "np.where(x > 0, " in text and "sort_forward" not in text
    assert_close(srcjax.grad(f)(x), np.array([0.0, 1.0, 7.0]))
    assert_close(
        srcjax.vmap(lambda x: snp.sort(x, descending=True))(X)[0],
        np.array([3.0, 3.0, -1.0]),
    )

    def g(x):
        return snp.sum(snp.fill_diagonal(x, 2.0, inplace=False) * x)

    assert_close(srcjax.grad(g)(X), np.where(np.eye(2, 3) > 0, 2.0, 2 * X))


def test_vectorize_is_that_of_srcjax():
    assert snp.vectorize is srcjax.vectorize
    dot = snp.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")
    assert_close(dot(X, X[0]), X @ X[0])
    assert {"vectorize", "sort"} <= set(snp.__all__) & set(dir(snp))


def test_pytrees_as_vectors():
    p = {"b": (np.float32(3.0), X), "a": np.arange(2, dtype=np.float32)}
    flat, unravel = ravel_pytree(p)
    np.testing.assert_array_equal(flat, [0, 1, 3, *X.ravel()])  # keys in order
    back = unravel(flat)
    np.testing.assert_array_equal(back["b"][1], X)
    np.testing.assert_array_equal(back["a"], p["a"])
    assert back["a"].dtype == np.float32 and back["b"][1].shape == X.shape
    assert ravel_pytree([])[0].shape == (0,)

    def f(p):
        flat, unravel = ravel_pytree(p)
        q = unravel(2.0 * flat)
        return np.sum(q["b"] ** 3) + q["a"]

    p = {"a": 1.0, "b": X}
    found = srcjax.grad(f)(p)
    assert_close(found["b"], 24 * X**2)
    assert_close(found["a"], 2.0)


def test_derivatives_are_checked():
    check_grads(lambda x: np.sin(x) * x, (X,), order=2)

    @srcjax.custom_vjp
    def wrong(x):
        return x * x

    wrong.defvjp(lambda x: (x * x, x), lambda x, dy: (dy * x,))
    with pytest.raises(AssertionError, match="differ|wrong|is not"):
        check_grads(wrong, (X,), 1, modes=["rev"])


def test_one_bound_alone():
    x = np.array([-1.0, 0.5, 2.0])
    for f, expected, slopes in (
        (lambda x: snp.clip(x, 0.0), [0.0, 0.5, 2.0], [0, 1, 1]),
        (lambda x: snp.clip(x, max=1.0), [-1.0, 0.5, 1.0], [1, 1, 0]),
        (lambda x: snp.clip(x, 0.0, 1.0), [0.0, 0.5, 1.0], [0, 1, 0]),
    ):
        for found in f(x), srcjax.vmap(f)(x), srcjax.jit(f)(x):
            assert_close(found, np.array(expected))
        assert_close(srcjax.grad(lambda x: f(x).sum())(x), np.array(slopes, float))  # noqa: B023
    assert "np.clip(x, 0.0, 1.0)" in srcjax.source(srcjax.vmap(f), x)
