"""Eigenvalues of general matrices, roots, and polynomials of roots."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.ops.record import lookup
from srcjax.testing import check_grads

from .helpers import check_infer

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 6

RNG = np.random.default_rng(11)
MODES = ("rev", "fwd")
REAL = np.diag([1.0, 2.0, 4.0]) + RNG.normal(size=(3, 3)) / 8
TURNING = np.array([[0.3, -1.1, 0.2], [1.2, 0.4, 0.1], [0.2, -0.3, 1.7]])
STACK = np.stack([TURNING, TURNING.T + 0.1])


# Sums over the eigenvalues: LAPACK may give them in another order after a step.


def check(f, x):
    """Reverse mode to first order only: whether results are complex is not known."""
    check_grads(f, (x,), order=1, modes="rev")
    check_grads(f, (x,), order=2, modes="fwd")


def isolated(a):
    _, v = np.linalg.eigh(a)
    return np.sum(v[:, -1] * v[0, -1] * np.arange(4.0))


def exponential(a):
    w, v = np.linalg.eigh(a)
    return np.sum((v @ np.diag(np.exp(w)) @ v.T)[0])


def test_eigenvalues_that_rounding_tells_apart():
    """The vector of another one has a derivative; what is between them has none."""
    turn = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
    a = turn @ np.diag([-1 / 3, -1 / 3, -1 / 3, 1.0]) @ turn.T
    b = RNG.normal(size=(4, 4))
    b = b + b.T
    step = 1e-5
    slope = (isolated(a + step * b) - isolated(a - step * b)) / (2 * step)
    with np.errstate(all="ignore"):
        gradient, change = srcjax.grad(isolated)(a), srcjax.jvp(isolated, (a,), (b,))[1]
        np.testing.assert_allclose([np.sum(gradient * b), change], slope, rtol=1e-6)
        assert not np.isfinite(np.sum(srcjax.hvp(isolated, (a,), (b,)) * b))
        assert not np.isfinite(np.sum(srcjax.grad(exponential)(a) * b))
        assert not np.isfinite(srcjax.jvp(exponential, (a,), (b,))[1])


def values(a):
    w, _ = np.linalg.eig(a)
    return np.sum(np.real(w**2)), np.sum(np.imag(w) ** 2 * np.real(w))


def vectors(a):
    w, v = np.linalg.eig(a)
    weights = np.expand_dims(np.abs(w), -2)
    return np.sum(np.real(v**2) * weights, -1), np.sum(np.imag(v) ** 2 * weights, -1)


def both(a):
    w, v = np.linalg.eig(a)
    scaled = v * np.expand_dims(np.exp(w), -2)
    return np.real(scaled @ np.linalg.inv(v)), np.sum(np.abs(v) ** 3, -1)


def only_values(a):
    return np.sum(np.abs(np.linalg.eigvals(a)) ** 3)


@pytest.mark.parametrize("f", [values, vectors, both, only_values])
@pytest.mark.parametrize("a", [REAL, TURNING, STACK], ids=["real", "complex", "stack"])
def test_eig(f, a):
    check(f, a)


def test_eig_of_a_complex_matrix():
    b = RNG.normal(size=(3, 3))
    check(lambda a: vectors(a + 1j * b), REAL)


def test_types():
    check_infer(np.linalg.eig, REAL)
    check_infer(np.linalg.eig, TURNING)
    check_infer(np.roots, np.array([1.0, 2.0, 4.0]))


ROOTS = [
    np.array([1.0, -3.0, 1.0, 0.5]),
    np.array([2.0, 1.0, 3.0]),
    np.array([1.0, 0.5, 2.0, 0.0]),
    np.array([3.0]),
]


@pytest.mark.parametrize("p", ROOTS, ids=str)
def test_roots(p):
    def f(p):
        r = np.roots(p)
        return np.sum(np.real(r**3)), np.sum(np.imag(r) ** 2)

    if p[-1] == 0:  # a step would make one root more
        last = np.zeros(1)
        check(lambda q: f(np.append(q, last)), p[:-1])
    else:
        check(f, p)


def test_a_root_at_zero_moves():
    """With a last coefficient of 0: the derivative of the root is -1 / the slope."""
    jacobian = [
        srcjax.grad(lambda p, i=i: np.sum(np.real(np.roots(p)) ** 2 + np.roots(p)))(
            np.array([1.0, -3.0, 2.0, 0.0])
        )
        for i in range(1)
    ]
    h = 1e-6

    def loss(p):
        r = np.roots(p)
        return np.sum(np.real(r) ** 2 + r)

    p = np.array([1.0, -3.0, 2.0, 0.0])
    for i in range(4):
        step = h * np.eye(4)[i]
        slope = (loss(p + step) - loss(p - step)) / (2 * h)
        np.testing.assert_allclose(jacobian[0][i], slope, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("r", [RNG.normal(size=4), np.array([0.7]), REAL], ids=np.shape)
def test_poly(r):
    check_grads(lambda r: np.poly(r) ** 2, (r,), 2, MODES)


def test_poly_of_conjugate_roots():
    def f(x):
        z = x[:1] + 1j * x[1:2]
        return np.poly(np.concatenate([z, np.conj(z), x[2:] + 0j]))

    check_grads(f, (np.array([0.3, 0.8, -0.4]),), 1, MODES)


def test_there_are_rules_of_both_modes():
    for function in (np.linalg.eig, np.roots, np.poly):
        op = lookup(function)
        assert op is not None and op.adjoint is not None and op.tangent is not None


def test_eigenvalues_against_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy

    def loss(a, np):
        return np.sum(np.abs(np.linalg.eigvals(a)) ** 3)

    mine = srcjax.grad(lambda a: loss(a, np))(TURNING)
    theirs = jax.grad(lambda a: loss(a, jnp))(TURNING)
    np.testing.assert_allclose(mine, theirs, rtol=1e-9)

    def roots(p, np):
        return np.sum(np.real(np.roots(p)) ** 2)

    p = np.array([1.0, -3.0, 1.0, 0.5])
    strip = {"strip_zeros": False}
    theirs = jax.grad(lambda p: jnp.sum(jnp.real(jnp.roots(p, **strip)) ** 2))(p)
    np.testing.assert_allclose(
        srcjax.grad(lambda p: roots(p, np))(p), theirs, rtol=1e-8, atol=1e-9
    )
