"""Items of a list that are assigned by a slice which is a value of its own."""

import numpy as np
import pytest

import srcjax


def as_many(x):
    xs = [v * 2 for v in x]
    s = slice(1, 3)
    xs[s] = [x[0] * 3, x[1] * xs[2]]
    return sum(v**2 * (i + 1) for i, v in enumerate(xs))


def more(x):
    xs = [v * 2 for v in x]
    for k in range(2):
        s = slice(k, k + 2)
        xs[s] = [x[0] * 3, x[1] * xs[2], x[2]]
    return sum(v**2 * (i + 1) for i, v in enumerate(xs))


def in_steps(x):
    xs = [v * 2 for v in x]
    s = slice(None, None, 2)
    xs[s] = [x[0] * 3, x[1] * xs[2]]
    return sum(v**2 * (i + 1) for i, v in enumerate(xs))


@pytest.mark.parametrize("f", [as_many, more, in_steps], ids=lambda f: f.__name__)
def test_gradient(f):
    x, step = np.array([1.1, 0.7, 0.3, 0.5]), 1e-6 * np.eye(4)
    differences = [(f(x + e) - f(x - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(srcjax.grad(f)(x), differences, rtol=1e-6)


def test_a_step_that_is_an_argument():
    def f(x, step):
        xs = [v * 2 for v in x]
        s = slice(0, 4, step)
        xs[s] = [x[0] * 3, x[1] * xs[2]]
        return sum(v**2 * (i + 1) for i, v in enumerate(xs))

    x, step = np.array([1.1, 0.7, 0.3, 0.5]), 1e-6 * np.eye(4)
    differences = [(f(x + e, 2) - f(x - e, 2)) / 2e-6 for e in step]
    np.testing.assert_allclose(srcjax.grad(f)(x, 2), differences, rtol=1e-6)
