"""Functions that a transform generated, called in code that is differentiated."""

import numpy as np
import pytest

import srcjax


def masks(x):
    y = x**2
    y[x < 0] = 0.0
    y[x > 0.3] *= 2
    return y @ x


def stencil(x):
    u = x.copy()
    for _ in range(2):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u @ u


@pytest.mark.parametrize("f", [masks, stencil])
def test_reverse_over_forward_of_code_that_writes_in_place(f):
    x, x_dot = np.array([0.5, -0.4, 0.2, 1.0]), np.array([1.0, 2.0, 0.5, -1.0])
    tangents = (x_dot,)

    def tangent(*args):
        return srcjax.jvp(f, args, tangents)[1]

    found = srcjax.grad(tangent)(x) @ x_dot
    difference = tangent(x + 1e-6 * x_dot) - tangent(x - 1e-6 * x_dot)
    assert found == pytest.approx(difference / 2e-6, rel=1e-6)
