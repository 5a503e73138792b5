"""Derivatives of the first and second order beside central differences."""

import numpy as np

import srcjax


def check_derivatives(f, x):
    """The gradient of `f` at an array, and what is made of it, are right."""

    def slope(g, d):
        return (g(x + 1e-6 * d) - g(x - 1e-6 * d)) / 2e-6

    directions = np.eye(len(x))
    gradient = srcjax.grad(f)
    expected = [slope(f, d) for d in directions]
    np.testing.assert_allclose(gradient(x), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(srcjax.jacfwd(f)(x), expected, rtol=1e-6, atol=1e-9)
    curved = [slope(gradient, d) for d in directions]
    found = srcjax.jacfwd(gradient)(x)
    np.testing.assert_allclose(found, curved, rtol=1e-6, atol=1e-8)
    found = srcjax.jacrev(gradient)(x)
    np.testing.assert_allclose(found, curved, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(srcjax.jit(gradient)(x), expected, rtol=1e-6, atol=1e-9)


def check_batches(f, points):
    """`f` and its gradient give for each example of a batch what they give alone."""
    np.testing.assert_allclose(srcjax.vmap(f)(points), [f(x) for x in points])
    gradient = srcjax.grad(f)
    slopes = [gradient(x) for x in points]
    np.testing.assert_allclose(srcjax.vmap(gradient)(points), slopes)
