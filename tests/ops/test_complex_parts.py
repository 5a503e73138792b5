"""Parts of complex numbers, inside functions of real arguments."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 3

RNG = np.random.default_rng(5)
X = RNG.normal(size=(3, 4))
W = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))
MODES = ("rev", "fwd")


def parts(x):
    z = np.exp(1j * x) * W
    return z.real**2, z.imag * x, np.abs(z + x), np.conj(z).imag * np.angle(z * x)


def real_factors(x):
    z = x * W
    y = np.real(z * z) * x
    return np.imag(np.sqrt(y * W)) + abs(z)


def matrices(x):
    z = x @ W.T
    return np.real(np.linalg.inv(z @ np.conj(z).T + 3 * np.eye(3)))


def degrees(x):
    return np.angle(x * W, deg=True) * np.angle(1 + x * W)


def updated(x):
    z = np.zeros((3, 4), complex)
    z[1:] = x[1:] * W[1:]
    z[0] += 1j * x[0]
    return np.abs(z[:2]) ** 3 + z.imag[1:]


@pytest.mark.parametrize("f", [parts, real_factors, matrices, degrees, updated])
def test_second_order_in_both_modes(f):
    check_grads(f, (X,), order=2, modes=MODES)


def test_at_zero():
    """The slope of `abs` at a complex 0 is 0, as in JAX."""

    def loss(x):
        return np.sum(np.abs(x * W))

    x = np.array(X)
    x[0, 0] = 0
    dx = srcjax.grad(loss)(x)
    assert dx[0, 0] == 0
    np.testing.assert_allclose(dx[1], np.sign(x[1]) * np.abs(W[1]))


def test_the_angle_of_a_real_number_is_constant():
    dx = srcjax.grad(lambda x: np.sum(np.angle(x) * x))(X)
    np.testing.assert_array_equal(dx, np.angle(X))


def test_against_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    def loss(x, np):
        z = np.exp(1j * x) * W
        return np.sum(np.abs(z) * z.real + np.angle(z) * np.conj(z).imag)

    mine = srcjax.grad(lambda x: loss(x, np))(X)
    theirs = jax.grad(lambda x: loss(x, jax.numpy))(X)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)
