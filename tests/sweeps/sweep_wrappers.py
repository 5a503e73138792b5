"""Wrappers of functions beside JAX's."""

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np

import srcjax
import srcjax.numpy as snp
from srcjax import lax
from srcjax.flatten_util import ravel_pytree
from tests.corpus.harness import assert_close

X = np.array([0.3, 1.2])
BATCH = np.stack([X, X[::-1] * 2])


def test_custom_gradient():
    def made(np, custom_gradient):
        @custom_gradient
        def f(x, y):
            def pullback(g):
                return 7 * g * y, g * x

            return np.sin(x) * y, pullback

        @custom_gradient
        def g(x):
            e = np.exp(x)
            return np.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

        return lambda x: f(2 * g(x), x).sum()

    ours, theirs = made(np, srcjax.custom_gradient), made(jnp, jax.custom_gradient)
    with jax.enable_x64(True):
        assert_close(srcjax.grad(ours)(X), np.asarray(jax.grad(theirs)(X)))
        assert_close(
            srcjax.vmap(srcjax.grad(ours))(BATCH),
            np.asarray(jax.vmap(jax.grad(theirs))(BATCH)),
        )
        second = jax.grad(lambda x: jax.grad(theirs)(x).sum())(X)
    assert_close(ours(X), np.asarray(theirs(X)), rtol=1e-5)
    assert_close(
        srcjax.grad(lambda x: srcjax.grad(ours)(x).sum())(X), np.asarray(second)
    )


def test_custom_vjp_with_arguments_that_are_not_differentiated():
    def made(np, custom_vjp):
        def clipped(f, x, low):
            return f(np.maximum(x, low))

        rule = custom_vjp(clipped, nondiff_argnums=(0, 2))
        rule.defvjp(
            lambda f, x, low: (clipped(f, x, low), x),
            lambda f, low, x, dy: (dy * f(x) * low,),
        )
        return lambda x: rule(np.tanh, np.sin(x), 0.5).sum()

    ours, theirs = made(np, srcjax.custom_vjp), made(jnp, jax.custom_vjp)
    with jax.enable_x64(True):
        expected = np.asarray(jax.grad(theirs)(X))
        assert_close(srcjax.grad(ours)(X), expected)
        assert_close(srcjax.jit(srcjax.grad(ours))(X), expected)


TABLE = np.array([[3.0, -1.0, 3.0], [0.0, 2.0, -1.0]])
CALLS = {
    "sort": lambda np, x: np.sort(x, descending=True),
    "sort axis": lambda np, x: np.sort(x, axis=0, descending=True, stable=True),
    "sort all": lambda np, x: np.sort(x, axis=None, descending=True),
    "argsort": lambda np, x: np.argsort(x, axis=1, descending=True),
    "argsort all": lambda np, x: np.argsort(x, axis=None, descending=True),
    "argsort up": lambda np, x: np.argsort(x.ravel()),
    "nonzero": lambda np, x: np.nonzero(x > 0, size=5),
    "nonzero fill": lambda np, x: np.nonzero(x > 0, size=4, fill_value=(7, -1)),
    "nonzero few": lambda np, x: np.nonzero(x > 0, size=2, fill_value=9),
    "where": lambda np, x: np.where(x > 0, size=4, fill_value=-1),
    "where three": lambda np, x: np.where(x > 0, x, 0),
    "flatnonzero": lambda np, x: np.flatnonzero(x > 0, size=4),
    "argwhere": lambda np, x: np.argwhere(x > 0, size=4, fill_value=3),
    "unique": lambda np, x: np.unique(x, size=6),
    "unique fill": lambda np, x: np.unique(x, size=5, fill_value=8.0),
    "unique counts": lambda np, x: np.unique(
        x, return_index=True, return_counts=True, size=6
    ),
    "unique rows": lambda np, x: np.unique(x[:, ::2], axis=0, size=3),
    "fill_diagonal": lambda np, x: np.fill_diagonal(x, 5.0, inplace=False),
    "put": lambda np, x: np.put(x, 4, 9.0, inplace=False),
}


def test_numpy_values_are_those_of_jax():
    with jax.enable_x64(True):
        theirs = {name: f(jnp, jnp.asarray(TABLE)) for name, f in CALLS.items()}
    before = TABLE.copy()
    for name, f in CALLS.items():
        jax.tree.map(np.testing.assert_array_equal, f(snp, TABLE), theirs[name])
    np.testing.assert_array_equal(TABLE, before)


def test_vectors_of_pytrees_are_those_of_jax():
    p = {"b": (np.float32(3.0), TABLE), "a": np.arange(2, dtype=np.float32)}
    with jax.enable_x64(True):
        theirs, back = jax.flatten_util.ravel_pytree(p)
    flat, unravel = ravel_pytree(p)
    np.testing.assert_array_equal(flat, theirs)
    jax.tree.map(np.testing.assert_array_equal, unravel(flat), back(theirs))


GATHERS = [
    (np.array([[0], [3], [9], [-1]]), ((1,), (0,), (0,)), (1, 6)),
    (np.array([[0, 1], [3, 4], [2, 9]]), ((1, 2), (), (0, 1)), (2, 3)),
    (np.array([[[0, 1], [3, 4]], [[2, 9], [1, 1]]]), ((0,), (1,), (0, 1)), (2, 1)),
    (np.array([[0], [3], [5], [2]]), ((1,), (), (1,), (0,), (0,)), (1, 2)),
]
SCATTERS = [
    (np.array([[0], [3], [9], [0]]), (4, 6), ((1,), (0,), (0,))),
    (np.array([[0, 1], [3, 4], [2, 9], [1, 1]]), (2, 4, 3), ((0, 2), (), (0, 1))),
    (np.array([[0], [3], [5], [2]]), (4, 2), ((1,), (), (1,), (0,), (0,))),
]


def test_windows_are_those_of_jax():
    x = np.arange(24.0).reshape(4, 6)
    draw = np.random.default_rng(0)
    with jax.enable_x64(True):
        for places, numbers, sizes in GATHERS:
            for mode in (None, "clip", "fill"):
                ours = lax.gather(x, places, numbers, sizes, mode=mode)
                theirs = jax.lax.gather(
                    jnp.asarray(x),
                    jnp.asarray(places),
                    jax.lax.GatherDimensionNumbers(*numbers),
                    sizes,
                    mode=mode,
                )
                np.testing.assert_array_equal(ours, theirs)
        for places, shape, numbers in SCATTERS:
            updates = draw.uniform(1, 2, shape)
            for name in ("add", "sub", "mul", "min", "max"):
                for mode in (None, "clip", "drop"):
                    ours = getattr(lax, f"scatter_{name}")(
                        x, places, updates, numbers, mode=mode
                    )
                    theirs = getattr(jax.lax, f"scatter_{name}")(
                        jnp.asarray(x),
                        jnp.asarray(places),
                        jnp.asarray(updates),
                        jax.lax.ScatterDimensionNumbers(*numbers),
                        mode=mode,
                    )
                    assert_close(ours, np.asarray(theirs))
