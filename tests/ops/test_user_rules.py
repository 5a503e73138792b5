"""A user's own rules under `grad`, `jvp`, their nestings, and `vmap`."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

MODES = ("rev", "fwd")
V = np.array([0.3, 0.8, 1.4])
W = np.array([1.1, 0.7, 0.4])


# -- rules of operations --------------------------------------------------------------


def cube(x):
    return x**3


def gauss(x):
    return np.exp(-x * x)


def scaled(x, factor):
    return x * factor


def rounded(x):
    return np.round(x)


srcjax.elementwise(gauss, "-2 * d * x * y")


@srcjax.adjoint(cube)
def _(y, x):
    d[x] = d[y] * 3 * x**2  # noqa: F821


@srcjax.tangent(cube)
def _(y, x):
    d[y] = d[x] * 3 * x**2  # noqa: F821


srcjax.operation(scaled, signature="x, factor", linear=("x", "factor"))


@srcjax.adjoint(scaled)
def _(y, x, factor):
    d[x] = d[y] * factor  # noqa: F821
    d[factor] = d[y] * x  # noqa: F821


srcjax.inert(rounded)


# -- rules of functions ---------------------------------------------------------------


@srcjax.custom_vjp
def clipped_norm(x):
    return np.sqrt(np.sum(x * x))


def clipped_norm_fwd(x):
    y = np.sqrt(np.sum(x * x))
    return y, (x, y)


def clipped_norm_bwd(saved, dy):
    x, y = saved
    return (dy * x / y,)


clipped_norm.defvjp(clipped_norm_fwd, clipped_norm_bwd)


@srcjax.custom_jvp
def softened(x):
    return np.log1p(np.exp(x))


@softened.defjvp
def softened_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return np.log1p(np.exp(x)), x_dot / (1 + np.exp(-x))


FUNCTIONS = {
    "elementwise": lambda x: np.sum(gauss(x) * x),
    "adjoint and tangent": lambda x: np.sum(cube(x) * x),
    "operation": lambda x: np.sum(scaled(x, x * x) ** 2),
    "inert": lambda x: np.sum(rounded(x) * x),
    "custom_jvp": lambda x: np.sum(softened(x * x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_modes_and_nestings(name):
    check_grads(FUNCTIONS[name], (V,), order=2, modes=MODES)


def test_custom_vjp_in_reverse_nestings():
    def f(x):
        return clipped_norm(x * x) ** 3

    check_grads(f, (V,), order=2, modes="rev")


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("name", [*FUNCTIONS, "custom_vjp"])
def test_vmap_of_the_gradient_and_gradient_of_vmap(name):
    f = FUNCTIONS.get(name, lambda x: clipped_norm(x * x))
    batch = np.stack([V, W])
    wanted = np.stack([srcjax.grad(f)(row) for row in batch])
    np.testing.assert_allclose(srcjax.vmap(srcjax.grad(f))(batch), wanted, rtol=1e-12)
    np.testing.assert_allclose(
        srcjax.vmap(f)(batch), [f(row) for row in batch], rtol=1e-12
    )


def test_the_user_has_the_last_word():
    """The rule is taken even where it is not the derivative: nothing looks inside."""

    def doubled(x):
        return x * x

    srcjax.elementwise(doubled, "d * 2 * x + 0 * d")
    assert srcjax.grad(lambda x: doubled(x))(1.5) == pytest.approx(3.0)

    def straight_through(x):
        return np.round(x)

    srcjax.elementwise(straight_through, "d")
    got = srcjax.grad(lambda x: np.sum(straight_through(x) * x))(V)
    np.testing.assert_allclose(got, np.round(V) + V)
