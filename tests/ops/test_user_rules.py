"""A user's own rules under `grad`, `jvp`, their nestings, and `vmap`."""

from __future__ import annotations

import importlib

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


# -- globals of rules -----------------------------------------------------------------

RULES_ELSEWHERE = """
import numpy
import srcjax

SCALE = 3.0


def slope(x):
    return SCALE * x**2


def cube_elsewhere(x):
    return x**3


@srcjax.adjoint(cube_elsewhere)
def _(y, x):
    d[x] = d[y] * slope(x)


@srcjax.tangent(cube_elsewhere)
def _(y, x):
    d[y] = d[x] * SCALE * numpy.square(x)
"""

SCALE = 100.0


def test_globals_of_a_rule_are_those_of_its_own_module(tmp_path, monkeypatch):
    (tmp_path / "rules_elsewhere.py").write_text(RULES_ELSEWHERE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    elsewhere = importlib.import_module("rules_elsewhere")

    def loss(x):
        slope = x * SCALE  # a local, and a global, of the names that the rule means
        return np.sum(elsewhere.cube_elsewhere(slope / SCALE))

    check_grads(loss, (V,), modes=MODES)
    check_grads(loss, (V,), modes=MODES, order=2)
    monkeypatch.setattr(elsewhere, "SCALE", 6.0)
    doubled = srcjax.jvp(loss, (V,), (W,))[1]
    np.testing.assert_allclose(doubled, 6 * np.sum(V**2 * W))


def test_rules_of_lambdas():
    halved = srcjax.custom_vjp(lambda x: x * 0.5)
    halved.defvjp(lambda x: (x * 0.5, None), lambda saved, dy: (dy * 0.5,))
    found = srcjax.grad(lambda x: np.sum(halved(x) ** 2))(V)
    np.testing.assert_allclose(found, 0.5 * V)
    moved = srcjax.custom_jvp(lambda x: x * 0.5)
    moved.defjvp(lambda primals, tangents: (primals[0] * 0.5, tangents[0] * 0.5))
    found = srcjax.jvp(lambda x: np.sum(moved(x) ** 2), (V,), (W,))[1]
    np.testing.assert_allclose(found, np.sum(0.5 * V * W))
    found = srcjax.grad(lambda x: np.sum(moved(x) ** 2))(V)
    np.testing.assert_allclose(found, 0.5 * V)
