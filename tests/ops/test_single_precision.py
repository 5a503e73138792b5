"""Derivatives have the dtype of what they belong to, in single precision.

Numbers in generated text must not widen what stands beside them, nor make an array of
double precision alone.
"""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.backends.load import load

#: One test in so many runs here (see conftest); the second stage runs all.
SAMPLE = {"test_single_precision": 2, "test_second_order_and_batches": 2}

pytest.importorskip("scipy")

X = np.array([0.5, 1.2, 0.7], np.float32)
Z = np.array([0.5 + 0.2j, 1.2 - 0.1j, 0.7 + 1j], np.complex64)
HEAD = """import numpy as np
import math
import scipy.special
import scipy.linalg

A = (np.arange(9).reshape(3, 3) / 5 + np.eye(3) * 2).astype(np.float32)

"""

CALLS = """
np.where(x > 0, 1.05, 0) * x
np.where(x > 0.6, x * 1.05, 0.01 * x)
np.maximum(x, 0.6) * 1.5
np.clip(x, 0.6, 1.0)
np.minimum(x, np.float32(0.6))
np.abs(x) ** 1.5
np.sqrt(x) + np.cbrt(x)
x ** 2.5
2.0 ** x
np.power(x, 3)
np.exp(x) * np.log(x)
np.log1p(x) + np.expm1(x)
np.sin(x) * np.tanh(x)
np.arctan2(x, 2.0)
np.hypot(x, 1.0)
np.sum(x ** 2) * x
np.mean(x) * x
np.std(x) * x
np.var(x) * x
np.prod(x) * x
np.max(x) * x
np.median(x) * x
np.linalg.norm(x) * x
np.linalg.norm(A * x)
np.cumsum(x) + np.cumprod(x)
np.sort(x) * 2
np.dot(x, x) * x
A @ x
np.outer(x, x)
np.linalg.solve(A, x)
np.linalg.inv(A * x)
np.linalg.det(A * x)
np.linalg.slogdet(A * x)[1]
np.linalg.cholesky(A @ A.T * x[0])
np.linalg.eigvalsh(A @ A.T * x[0])
np.linalg.eigh(A @ A.T * x[0])[0]
np.linalg.svd(A * x)[1]
np.linalg.svd(A * x, full_matrices=False)[0] ** 2
np.linalg.qr(A * x)[1]
np.linalg.pinv(A * x)
np.linalg.lstsq(A * x, x, rcond=None)[0]
np.linalg.matrix_power(A * x, 2)
np.einsum('ij,j->i', A, x)
np.einsum('ii->i', A * x)
np.trace(A * x) * x
np.diag(x)
np.tril(A * x)
np.concatenate([x, x * 2])
np.stack([x, 2 * x])
np.pad(x, 1)
np.roll(x, 1) * x
np.tile(x, 2)
np.repeat(x, 2)
np.diff(x)
np.gradient(x)
np.convolve(x, x)
np.interp(x, np.array([0., 1., 2.], np.float32), x)
np.nansum(x) * x
np.nanmean(x * x)
np.logaddexp(x, 0.0)
np.sinc(x)
np.round(x * 2.0, 1) * x
np.average(x, weights=x)
np.ptp(x) * x
np.take(x, [0, 2])
x[[0, 1, 1]]
x[x > 0.6]
np.select([x > 1, x > 0.6], [x ** 2, 3.0 * x], 0.5)
np.piecewise(x, [x > 1, x <= 1], [lambda t: t ** 2, lambda t: 0.5 * t])
np.cross(x, x[::-1])
np.kron(x, x)
np.fft.fft(x).real
np.abs(np.fft.rfft(x))
np.heaviside(x, 0.5) * x
np.sign(x) * x
np.reciprocal(x)
np.square(x)
1 / (1 + np.exp(-x))
x / np.sum(x)
np.float32(2) * x
x * math.pi
x * np.pi
x * np.float64(1.5)
x + np.array(1.5)
np.polyval([1.0, 2.0, 3.0], x)
np.vander(x)
np.histogram(x)[0] * x[0]
np.nan_to_num(x) * 2
np.linalg.norm(x, 3) * x
np.linalg.norm(x, np.inf) * x
np.trapezoid(x)
np.unwrap(x) * x
np.deg2rad(x)
np.exp2(x) + np.log2(x) + np.log10(x)
np.arcsinh(x) + np.arccos(x / 2)
np.mod(x, 0.7)
np.fmod(x, 0.7)
np.floor(x) * x
np.cov(A * x)
np.corrcoef(A * x)
np.tensordot(A, x, 1)
np.inner(A, x)
np.vdot(x, x)
np.array([x[0], x[1] * 2])
np.array([x[0] * 2.0, 1.0]) * x[:2]
np.quantile(x, 0.3) * x
np.percentile(x, 30.0) * x
np.logspace(x[0], x[1], 3)
np.linspace(x[0], x[1], 3)
np.full(3, x[0])
np.full_like(x, x[0]) * x
np.zeros_like(x) + x
np.zeros(3, np.float32) + x
np.i0(x)
np.nanvar(x)
np.nanmax(x) * x
np.meshgrid(x, x)[0]
np.argmax(x) * x
np.broadcast_to(x, (2, 3))
np.expand_dims(x, 0)
np.flip(x)
np.rot90(A * x)
np.searchsorted(x, 0.6) * x
np.triu(A * x)
np.ravel(A * x)
np.split(x, 3)[0]
scipy.special.erf(x)
scipy.special.expit(x)
scipy.special.logsumexp(x)
scipy.special.softmax(x)
scipy.special.gamma(x)
scipy.special.gammaln(x)
scipy.special.digamma(x)
scipy.special.xlogy(x, x)
scipy.special.betaln(x, 2.0)
scipy.special.ndtr(x)
scipy.special.j0(x)
scipy.special.log_softmax(x)
scipy.linalg.cholesky(A @ A.T * x[0])
scipy.linalg.solve_triangular(A, x, lower=True)
scipy.linalg.expm(A * x)
scipy.linalg.eigh(A @ A.T * x[0], eigvals_only=True)
scipy.linalg.solve(A, x, assume_a='pos')
scipy.linalg.cho_solve((A, True), x)
scipy.linalg.lu(A * x)[2]
np.where(np.isfinite(x), x, 0.0) + np.where(x > 1, 2 * x, 0.0)
np.concatenate([x * 2.0, np.zeros(2, np.float32)])
x[0] * 2.0 + 1.0
math.pi * x[1]
""".strip().splitlines()

OF_COMPLEX = """
x * 2.0
np.abs(x) ** 2
np.exp(1j * x)
np.real(x) * 1.5
np.where(np.abs(x) > 1, 2.0 * x, 0)
np.conj(x) * x
np.linalg.solve(A + 0j * A, x)
np.fft.fft(x)
np.sum(x * x)
np.angle(x)
""".strip().splitlines()


def made(call: str):
    return load(f"{HEAD}def f(x):\n    return {call}\n", "f", {}).f


@pytest.mark.parametrize("call", CALLS)
def test_single_precision(call):
    f = made(call)
    y = f(X)
    gradient = srcjax.grad(lambda x: np.sum(f(x)))
    assert np.asarray(gradient(X)).dtype == X.dtype
    _, y_dot = srcjax.jvp(f, (X,), (X,))
    assert np.asarray(y_dot).dtype == np.asarray(y).dtype


@pytest.mark.parametrize("call", [c for c in CALLS if "where" in c or "max" in c])
def test_second_order_and_batches(call):
    f = made(call)
    gradient = srcjax.grad(lambda x: np.sum(f(x) * x[0]))
    assert srcjax.jvp(gradient, (X,), (X,))[1].dtype == X.dtype
    plain = srcjax.grad(lambda x: np.sum(f(x)))
    assert srcjax.vmap(plain)(np.stack([X, X])).dtype == X.dtype


@pytest.mark.parametrize("call", OF_COMPLEX)
def test_complex64(call):
    f = made(call)
    y = f(Z)
    gradient = srcjax.grad(lambda x: np.sum(np.real(f(x))))
    assert np.asarray(gradient(Z)).dtype == Z.dtype
    assert np.asarray(srcjax.jvp(f, (Z,), (Z,))[1]).dtype == np.asarray(y).dtype


def test_numbers_and_several_arguments():
    def f(x, y, z):
        return np.sum(np.where(x > 1, y * x, 0.0)) + 3.0 * z

    args = X, np.float32(2.0), 4.0
    _, (dx, dy, dz) = srcjax.value_and_grad(f, (0, 1, 2))(*args)
    assert dx.dtype == np.float32
    assert dy.dtype == np.float32
    assert np.asarray(dz).dtype == np.float64
