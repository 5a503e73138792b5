"""Derivatives of all modes beside differences, and batches beside each example."""

import numpy as np

import srcjax
from srcjax.testing import check_grads


def check_derivatives(f, x):
    """Both orders in both modes are right, and so are `jit` and Jacobians of them."""
    check_grads(f, (x,), order=2, modes=("fwd", "rev"))
    gradient = srcjax.grad(f)
    np.testing.assert_allclose(srcjax.jit(gradient)(x), gradient(x), atol=1e-12)
    rows, columns = srcjax.jacrev(gradient)(x), srcjax.jacfwd(gradient)(x)
    np.testing.assert_allclose(rows, columns, rtol=1e-9, atol=1e-12)


def check_batches(f, points):
    """`f` and its gradient give for each example of a batch what they give alone."""
    np.testing.assert_allclose(srcjax.vmap(f)(points), [f(x) for x in points])
    gradient = srcjax.grad(f)
    slopes = [gradient(x) for x in points]
    np.testing.assert_allclose(srcjax.vmap(gradient)(points), slopes)
