"""Wrappers of functions beside JAX's."""

import jax
import jax.numpy as jnp
import numpy as np

import srcjax
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
