"""A copy is made where its name is assigned: once, not in a branch and after it."""

import numpy as np

import srcjax


def test_one_copy_of_what_is_handed_on():
    def f(u):
        for k in range(3):
            new = np.zeros_like(u)
            new[1:] = u[:-1] ** 2 * 0.3
            new[0] = u[-1] * u[0]
            if k == 1:
                new[0] = 7.0 * u[1]
            u = new
        return np.sum(u)

    u, step = np.array([0.5, 1.2, 0.8, 0.3]), 1e-6 * np.eye(4)
    gradient = srcjax.grad(f)
    assert str(srcjax.source(gradient, u)).count(".copy()") == 1
    differences = [(f(u + e) - f(u - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(gradient(u), differences, rtol=1e-7)
    rows = [(gradient(u + e) - gradient(u - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(srcjax.jacrev(gradient)(u), rows, rtol=1e-6, atol=1e-9)
