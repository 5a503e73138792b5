"""Users may mean anything by `out`, in the texts of their derivatives too."""

import numpy as np

import srcjax


def part(x, out=None):
    total = 0.0
    for value in x:
        total = total + value * value
    if out == "half":
        return total / 2
    return total * (1.0 if out is None else out)


def f(x):
    return part(x, out="half") ** 2 + part(x, out=x[0])


def test_second_derivatives():
    x = np.array([0.3, 0.4, 0.5])
    gradient = srcjax.grad(f)
    steps = 1e-6 * np.eye(3)
    slopes = [(gradient(x + d) - gradient(x - d)) / 2e-6 for d in steps]
    np.testing.assert_allclose(srcjax.jacfwd(gradient)(x), slopes, rtol=1e-6)
    np.testing.assert_allclose(srcjax.jacrev(gradient)(x), slopes, rtol=1e-6)
    np.testing.assert_allclose(srcjax.jit(gradient)(x), gradient(x))
