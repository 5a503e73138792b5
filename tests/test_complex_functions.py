"""Functions of complex numbers: value, vjp and jvp of each, compared with JAX.

What JAX differentiates and srcjax refuses is in `REFUSED`, with the reason.
"""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.backends.load import load

from .test_complex import compare, cplx

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = {"test_against_jax": 20}

pytest.importorskip("jax")
scipy = pytest.importorskip("scipy")
pytest.importorskip("scipy.linalg")
pytest.importorskip("scipy.signal")
pytest.importorskip("scipy.integrate")

MODES = ("rev", "fwd")
Z, W, Q, B = 0.7 * cplx(3, 4), cplx(3, 4), cplx(4, 4) + 2 * np.eye(4), cplx(4)
H = Q @ Q.conj().T + np.eye(4)

CALLS = [
    "np.exp(z)",
    "np.sin(z)",
    "np.cos(z)",
    "np.tan(z)",
    "np.sinh(z)",
    "np.cosh(z)",
    "np.tanh(z)",
    "np.arctan(z)",
    "np.arcsin(z)",
    "np.arccos(z)",
    "np.arcsinh(z)",
    "np.arctanh(z)",
    "np.sqrt(z)",
    "np.log(z)",
    "np.log2(z)",
    "np.log10(z)",
    "np.log1p(z)",
    "np.expm1(z)",
    "np.exp2(z)",
    "np.square(z)",
    "np.reciprocal(z)",
    "np.negative(z)",
    "np.positive(z)",
    "np.sinc(z)",
    "np.conj(z)",
    "np.conjugate(z)",
    "np.real(z)",
    "np.imag(z)",
    "np.abs(z)",
    "np.absolute(z)",
    "np.angle(z)",
    "np.sum(z)",
    "np.mean(z)",
    "np.prod(z)",
    "np.var(z)",
    "np.std(z)",
    "np.cumsum(z)",
    "np.cumprod(z)",
    "np.nansum(z)",
    "np.nanmean(z)",
    "np.nanprod(z)",
    "np.nancumsum(z)",
    "np.nancumprod(z)",
    "np.nanvar(z)",
    "np.nanstd(z)",
    "np.diff(z)",
    "np.ediff1d(z)",
    "np.trace(z)",
    "np.diagonal(z)",
    "np.diag(z)",
    "np.tril(z)",
    "np.triu(z)",
    "np.ravel(z)",
    "np.transpose(z)",
    "np.flip(z)",
    "np.fliplr(z)",
    "np.flipud(z)",
    "np.rot90(z)",
    "np.copy(z)",
    "np.array(z)",
    "np.asarray(z)",
    "np.atleast_1d(z)",
    "np.atleast_2d(z)",
    "np.atleast_3d(z)",
    "np.cov(z)",
    "np.corrcoef(z)",
    "np.average(z)",
    "np.trapezoid(z)",
    "np.sort(z)",
    "np.max(z)",
    "np.min(z)",
    "np.amax(z)",
    "np.amin(z)",
    "np.nanmax(z)",
    "np.nanmin(z)",
    "np.ptp(z)",
    "np.squeeze(z)",
    "np.diagflat(z)",
    "np.gradient(z)[0]",
    "np.gradient(z[0])",
    "np.linalg.norm(z)",
    "np.linalg.norm(z, axis=0)",
    'np.linalg.norm(z, "nuc")',
    "np.linalg.norm(z, 3, axis=1)",
    "np.linalg.vector_norm(z)",
    "np.linalg.matrix_norm(z)",
    "np.linalg.svdvals(z)",
    "np.linalg.cond(q)",
    "np.linalg.pinv(z)",
    "np.linalg.trace(z)",
    "np.linalg.diagonal(z)",
    "np.linalg.matrix_transpose(z)",
    "np.linalg.multi_dot([z, w.T, z])",
    "np.fft.fft(z)",
    "np.fft.ifft(z)",
    "np.fft.fft2(z)",
    "np.fft.ifft2(z)",
    "np.fft.fftn(z)",
    "np.fft.ifftn(z)",
    "np.fft.irfft(z)",
    "np.fft.irfft2(z)",
    "np.fft.irfftn(z)",
    "np.fft.hfft(z)",
    "np.fft.fftshift(z)",
    "np.fft.ifftshift(z)",
    "np.roll(z, 1)",
    "np.repeat(z, 2)",
    "np.tile(z, 2)",
    "np.pad(z, 1)",
    'np.pad(z, 1, "edge")',
    'np.pad(z, 1, "reflect")',
    "np.take(z, np.array([0, 1]))",
    "np.take_along_axis(z, np.array([[0, 1]] * 3), 1)",
    "np.reshape(z, (4, 3))",
    "np.swapaxes(z, 0, 1)",
    "np.moveaxis(z, 0, 1)",
    "np.expand_dims(z, 0)",
    "np.broadcast_to(z, (2, 3, 4))",
    "np.split(z, 2, axis=1)",
    "np.vander(z[0])",
    "np.poly(z[0])",
    "np.polyder(z[0])",
    "np.polyint(z[0])",
    "np.delete(z, 1)",
    "np.vsplit(z, 3)",
    "np.hsplit(z, 2)",
    "np.array_split(z, 2)",
    "np.power(z, 2)",
    "np.power(z, 0.5)",
    "np.float_power(z, 1.5)",
    "np.resize(z, (2, 2))",
    "np.compress(np.array([True, False, True]), z, axis=0)",
    "np.extract(z.real > 0, z)",
    "np.linalg.tensorinv(q.reshape(2, 2, 4))",
    "np.abs(z) ** 2",
    "np.unwrap(np.angle(z))",
    "np.piecewise(z, [z.real > 0, z.real <= 0], [lambda v: v * v, lambda v: -v])",
    "np.add(z, w)",
    "np.subtract(z, w)",
    "np.multiply(z, w)",
    "np.divide(z, w)",
    "np.true_divide(z, w)",
    "np.power(z, w)",
    "np.maximum(z, w)",
    "np.minimum(z, w)",
    "np.fmax(z, w)",
    "np.dot(z, w.T)",
    "np.matmul(z, w.T)",
    "np.vdot(z, w)",
    "np.inner(z, w)",
    "np.outer(z, w)",
    "np.tensordot(z, w.T, 1)",
    'np.einsum("ij,ij->i", z, w)',
    "np.kron(z, w)",
    "np.cross(z[:, :3], w[:, :3])",
    "np.convolve(z[0], w[0])",
    "np.correlate(z[0], w[0])",
    'np.correlate(z[0], w[0], "full")',
    "np.vecdot(z, w)",
    "np.matvec(z, w[0])",
    "np.vecmat(w[:, 0], z)",
    "np.where(z.real > 0, z, w)",
    "np.select([z.real > 0], [z], w)",
    "np.append(z, w)",
    "np.concatenate([z, w])",
    "np.stack([z, w])",
    "np.vstack([z, w])",
    "np.hstack([z, w])",
    "np.dstack([z, w])",
    "np.column_stack([z, w])",
    "np.block([[z, w], [w, z]])",
    "np.linspace(z[0], w[0], 3)",
    "np.geomspace(z[0], w[0], 3)",
    "np.logspace(z[0], w[0], 3)",
    "np.interp(np.array([0.1, 0.5, 1.2, 1.9]), np.array([0., 1., 2.]), z[:, 0])",
    "np.polyval(z[0], w[0])",
    "np.polyadd(z[0], w[0])",
    "np.polysub(z[0], w[0])",
    "np.polymul(z[0], w[0])",
    "np.polydiv(z[0], w[0, :2])[0]",
    "np.cov(z, w)",
    "np.corrcoef(z, w)",
    "np.trapezoid(z, w)",
    "np.insert(z[0], 1, w[0, 0])",
    "np.average(z, weights=np.abs(w))",
    "np.ediff1d(z, to_end=w[0, 0])",
    "np.diff(z, append=w[:, :1])",
    "np.full((2, 2), z[0, 0])",
    "np.full_like(z, w[0, 0])",
    "np.choose(np.array([0, 1, 0, 1]), [z[0], w[0]])",
    "np.vdot(z, w).real",
    "np.apply_over_axes(np.sum, z, [0])",
    "sp.special.logsumexp(z)",
    "sp.special.logsumexp(z, axis=0)",
    "sp.special.softmax(z)",
    "sp.special.log_softmax(z)",
    "sp.linalg.inv(q)",
    "sp.linalg.det(q)",
    "sp.linalg.expm(q * 0.3)",
    "sp.linalg.solve(q, b)",
    'sp.linalg.solve(q, b, assume_a="gen")',
    "sp.linalg.lu(q)[1]",
    "sp.linalg.lu(q)[2]",
    "sp.linalg.lu_factor(q)[0]",
    "sp.linalg.svd(z, full_matrices=False)[1]",
    "sp.linalg.svd(z, compute_uv=False)",
    'sp.linalg.qr(q, mode="economic")[1]',
    "sp.linalg.toeplitz(z[0])",
    "sp.linalg.block_diag(z, w)",
    "sp.linalg.expm_frechet(q * 0.3, q)[1]",
    "sp.linalg.hankel(z[0])",
    "sp.signal.convolve(z[0], w[0])",
    "sp.signal.fftconvolve(z[0], w[0])",
    "sp.signal.correlate(z[0], w[0])",
    "sp.signal.convolve2d(z, w)",
    "sp.integrate.trapezoid(z)",
    "np.linalg.inv(q)",
    "np.linalg.det(q)",
    "np.linalg.slogdet(q)[1]",
    "np.linalg.slogdet(q)[0]",
    "np.linalg.solve(q, b)",
    "np.linalg.cholesky(h)",
    "np.linalg.eigvalsh(h)",
    "np.linalg.eigh(h)[0]",
    "np.abs(np.linalg.eigh(h)[1])",
    "np.linalg.matrix_power(q, 3)",
    "np.linalg.matrix_power(q, -2)",
    "np.linalg.tensorsolve(q.reshape(2, 2, 4), h[0].reshape(2, 2))",
    "np.linalg.qr(q)[1]",
    "np.linalg.svd(z, full_matrices=False)[1]",
    "sp.linalg.cholesky((h + h.conj().T) / 2, lower=True)",
    "sp.linalg.toeplitz(z[0], w[0])",
    "np.nan_to_num(z, nan=0.5)",
    "np.linalg.lstsq(q[:, :2], b)[0]",
    "np.linalg.lstsq(q[:, :2], b)[1]",
    "np.linalg.lstsq(q[:2], b[:2])[0]",
    "sp.special.xlogy(z, w)",
    "sp.special.xlog1py(z, w)",
    "np.tril(sp.linalg.cho_factor(h + h.conj().T, lower=True)[0])",
    "np.triu(sp.linalg.cho_factor(h + h.conj().T)[0])",
    "sp.linalg.cho_solve((q, True), b)",
    "sp.linalg.cho_solve((q, False), q)",
    "sp.linalg.eigh(h, eigvals_only=True)",
    "sp.linalg.eigh(h, eigvals_only=True, lower=False)",
    "sp.linalg.eigh(h)[0]",
    "np.abs(sp.linalg.eigh(h)[1])",
    "sp.linalg.rsf2csf(np.triu(q.real, -1), w.real.T @ w.real)[0]",
    "sp.linalg.rsf2csf(np.triu(q.real, -1), w.real.T @ w.real)[1]",
    "sp.linalg.solve_triangular(q, b)",
    "sp.linalg.solve_triangular(q, b, trans=1, lower=True)",
    "sp.linalg.solve_triangular(q, b, trans=2, unit_diagonal=True)",
    "sp.linalg.lu_solve(sp.linalg.lu_factor(q), b)",
    "sp.linalg.lu_solve(sp.linalg.lu_factor(q), b, trans=1)",
    "sp.linalg.lu_solve(sp.linalg.lu_factor(q), b, trans=2)",
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("call", CALLS)
def test_against_jax(call):
    """The call as a function of all the arguments that it reads."""
    import jax
    import jax.scipy

    values = {"z": Z, "w": W, "q": Q, "b": B, "h": H}
    names = set(compile(call, "", "eval").co_names)
    used = [n for n in values if n in names]
    shown = ", ".join(used)
    if "h" in used:  # JAX reads both triangles of a Hermitian matrix
        call = f"(lambda h: {call})((h + np.conj(h.T)) / 2)"
    text = f"def f({shown}):\n    return {call}\n"
    mine = load(text, "f", {"np": np, "sp": scipy}).f
    scope = {"np": jax.numpy, "sp": jax.scipy}
    theirs = eval(f"lambda {shown}: {call}", scope)
    compare(
        lambda _, *args: mine(*args),
        *(values[n] for n in used),
        theirs=lambda _, *args: theirs(*args),
        tolerance=1e-6,
    )


#: Analytic functions for which JAX takes real numbers only, or is wrong.
ANALYTIC = """
gamma loggamma rgamma erf erfc erfi dawsn exp1 expi
""".split()  # noqa: SIM905


@pytest.mark.parametrize("name", ANALYTIC)
def test_functions_of_complex_numbers_that_jax_has_not(name):
    function = getattr(scipy.special, name)
    srcjax.testing.check_grads(lambda z: function(z), (Z + 0.2,), modes=MODES)


def test_the_sign_of_a_complex_number():
    """It turns as `z / abs(z)`, where JAX says 0; at 0 it has no derivative."""
    srcjax.testing.check_grads(lambda z: np.sign(z), (Z,), order=2, modes=MODES)
    value, moved = srcjax.jvp(
        lambda z: np.sign(z), (np.array([0j, 3 + 4j]),), (Z[0, :2],)
    )
    np.testing.assert_allclose(value, np.sign([0j, 3 + 4j]), rtol=1e-15)
    assert moved[0] == 0


@pytest.mark.parametrize("side", ["left", "right"])
def test_polar_of_a_complex_matrix(side):
    """JAX has it forward only: its iteration is a `while_loop`."""
    srcjax.testing.check_grads(lambda q: scipy.linalg.polar(q, side), (Q,), modes=MODES)


def test_complex_eigenvectors_do_not_turn():
    """`v* dv` has no imaginary diagonal; `a` and `b` move."""

    def f(h, b):
        w, v = scipy.linalg.eigh(h + h.conj().T, b + b.conj().T)
        return w, np.abs(v) ** 2

    b = H / 10 + np.eye(len(H))
    srcjax.testing.check_grads(f, (H, b), order=2, modes=MODES, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["svdvals", "norm", "sqrtm", "logm"])
def test_functions_that_jax_has_not(name):
    function = getattr(scipy.linalg, name)
    srcjax.testing.check_grads(
        lambda q: function(q), (H,), modes=("rev", "fwd"), rtol=1e-5, atol=1e-5
    )
