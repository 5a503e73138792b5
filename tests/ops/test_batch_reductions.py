"""Batch rules of reductions, products, linear algebra and numbers, against loops."""

from __future__ import annotations

import math
from collections.abc import Callable

import gast
import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.backends.load import load
from srcjax.errors import PerformanceWarning
from srcjax.ops.record import TABLE

from .batches import SHAPES, check, compare, function_of, has_no_rule, value_of

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 12

try:
    import scipy.special  # noqa: F401

    scipy_is_there = True
except ImportError:
    scipy_is_there = False

REDUCTIONS = [
    f"np.{name}({x}{axis})"
    for name in ("sum", "mean", "max", "min", "prod", "var", "std", "ptp")
    for x, axis in (
        ("s", ""), ("v", ""), ("a", ""), ("x", ""), ("v", ", 0"), ("v", ", axis=-1"),
        ("a", ", 0"), ("a", ", axis=1"), ("a", ", -2"), ("x", ", axis=(0, 2)"),
        ("x", ", axis=(-1, 0)"), ("a", ", keepdims=True"), ("x", ", 1, keepdims=True"),
        ("a", ", axis=(0,)"), ("a", ", axis=()"),
    )
] + [
    "v.sum()", "a.sum(1)", "a.mean(0)", "a.mean(axis=-1, keepdims=True)",
    "x.max((0, 1))",
    "a.std(ddof=1)", "np.var(a, axis=0, ddof=1)", "a.var(1)", "a.prod()", "s.sum()",
    "np.sum(k, dtype=float)", "np.max(s, axis=0)", "np.sum(k)", "np.mean(k, axis=1)",
    "np.sum(a > 0)",
    "np.amax(a, 1)", "np.nansum(a)", "np.nanmean(a, axis=0)", "np.nanmax(a)",
    "np.sum([s, t])", "np.mean([u, v], axis=0)", "np.max([s, 2.0, t])",
    "np.sum((u, v), 1)", "np.sum(u) + np.sum(a @ v)",
    "np.all(a > 0)", "np.any(a > 0, axis=0)", "(v > 0).any()", "np.all(s > 0)",
    "(a > 0).all(axis=1)", "np.count_nonzero(a > 0)", "np.count_nonzero(k, axis=0)",
    "np.count_nonzero(i)", "np.ptp(s)",
]  # fmt: skip

SOME = [
    "np.sum(v, where=v > 0)", "np.sum(a, axis=1, where=v > 0)",
    "np.max(v, initial=0.0)",
    "np.max(a, axis=0, initial=-1.0, where=b > 0)", "np.mean(a, where=k >= 0, axis=1)",
    "np.any(a > 0, where=v > 0)", "np.prod(v, initial=2.0)", "np.min(v, initial=t)",
    "np.sum(a, where=np.array([True, False, True]))", "np.sum(v, where=s > 0)",
]  # fmt: skip

SCANS = [
    "np.cumsum(v)", "np.cumsum(a)", "np.cumsum(a, 0)", "np.cumsum(a, axis=-1)",
    "a.cumsum(axis=1)", "np.cumsum(s)", "np.cumprod(v)", "np.cumprod(a, axis=0)",
    "np.cumsum(s, axis=0)", "x.cumprod()",
    "np.argmax(v)", "np.argmin(a)", "np.argmax(a, 1)", "a.argmin(axis=-2)",
    "np.argmax(x, axis=1, keepdims=True)", "np.argmax(s)", "np.nanargmax(a, 0)",
    "np.argmax(v, keepdims=True)", "x.argmax()",
    "np.sort(v)", "np.sort(a)", "np.sort(a, 0)", "np.sort(a, axis=None)",
    "np.sort(x, axis=1)", "np.sort(s, axis=None)", "np.argsort(v)", "a.argsort(0)",
    "np.argsort(a, axis=None)", "np.argsort(v, kind='stable')", "np.partition(w, 2)",
    "np.partition(a, 1, axis=0)", "np.partition(w, (0, 2))", "np.sort([s, t, 0.0])",
]  # fmt: skip

AVERAGES = [
    "np.average(v)", "np.average(a, axis=0)", "np.average(v, weights=u ** 2)",
    "np.average(a, weights=b ** 2)", "np.average(a, axis=1, weights=v ** 2)",
    "np.average(c, axis=0, weights=v ** 2)", "np.average(c, 0, v ** 2)",
    "np.average(a, axis=-1, weights=b ** 2)", "np.average(x, axis=1, weights=v ** 2)",
    "np.average(v, weights=np.array([1.0, 2.0, 3.0]))",
    "np.average(a, axis=1, weights=v ** 2, keepdims=True)",
]  # fmt: skip

NORMS = [
    "np.linalg.norm(v)", "np.linalg.norm(a)", "np.linalg.norm(x)", "np.linalg.norm(s)",
    "np.linalg.norm(v, 1)", "np.linalg.norm(v, np.inf)", "np.linalg.norm(v, ord=3)",
    "np.linalg.norm(a, 'fro')", "np.linalg.norm(a, 2)", "np.linalg.norm(a, 'nuc')",
    "np.linalg.norm(a, axis=0)", "np.linalg.norm(a, 1, 1)",
    "np.linalg.norm(x, axis=-1)",
    "np.linalg.norm(x, axis=(0, 1))", "np.linalg.norm(a, axis=1, keepdims=True)",
    "np.linalg.norm(v, keepdims=True)", "np.linalg.norm(a, keepdims=True)",
    "np.linalg.norm(u + 1j * v)", "np.linalg.norm(x + 1j * x)",
    "np.linalg.matrix_norm(a)", "np.linalg.matrix_norm(x, ord=1)",
    "np.linalg.vector_norm(a)", "np.linalg.vector_norm(a, axis=0, ord=1)",
    "np.linalg.vector_norm(x, axis=(0, -1), keepdims=True)", "np.linalg.vector_norm(v)",
    "np.linalg.norm(u - v)",
]  # fmt: skip

PRODUCTS = [
    "u @ v", "a @ v", "v @ c", "a @ c", "x @ w", "u @ x", "a @ x[0]", "c @ a", "m @ m",
    "m @ v", "v @ m", "x @ np.ones((4, 2))", "a @ x[:, :, :2]", "x.T @ a[:, :1]",
    "np.matmul(a, v)", "np.matmul(u, v)", "np.linalg.matmul(a, c)",
    "(u + 1j * v) @ v", "(m + 1j * m) @ v", "v @ (m * 1j)", "k @ v", "k.T @ k",
    "np.dot(u, v)", "np.dot(a, v)", "u.dot(v)", "a.dot(c)", "np.dot(v, c)",
    "np.dot(s, v)", "np.dot(a, s)", "np.dot(s, t)", "np.dot(x, w)", "np.dot(v, x)",
    "np.dot(a, x)", "np.dot(x, np.ones((4, 2)))", "np.dot(np.ones((2, 3)), v)",
    "np.inner(u, v)", "np.inner(a, b)", "np.inner(a, v)", "np.inner(v, a)",
    "np.inner(s, v)", "np.inner(x, w)", "np.inner(w, x)", "np.inner(x, x[0])",
    "np.vdot(u, v)", "np.vdot(a, b)", "np.vdot(s, t)", "np.vdot(u + 1j * v, v * 1j)",
    "np.vdot(u, v * 1j)", "np.vdot(a * 1j, b)",
    "np.vecdot(u, v)", "np.vecdot(a, v)", "np.vecdot(v, a)", "np.vecdot(a, b, axis=0)",
    "np.vecdot(a, b, axis=-2)", "np.linalg.vecdot(x, w)", "np.vecdot(u * 1j, v)",
    "np.matvec(a, v)", "np.vecmat(v, c)",
    "np.outer(u, v)", "np.outer(v, w)", "np.outer(a, v)", "np.outer(s, v)",
    "np.outer(v, s)", "np.outer(v, a)", "np.linalg.outer(u, w)", "np.outer(v, v)",
    "np.kron(u, v)", "np.kron(a, b)", "np.kron(m, c)", "np.kron(s, v)", "np.kron(s, t)",
    "np.kron(u, np.eye(2))", "np.kron(np.eye(2), a)", "np.kron(np.ones(2), v)",
    "np.cross(u, v)", "np.cross(a, v)", "np.cross(v, a)", "np.cross(a, b)",
    "np.cross(c, c + 1, axis=0)", "np.cross(m, m.T, axisa=0)",
    "np.cross(m, m, 0, 0, 0)",
    "np.cross(x, x + 1, axis=1)", "np.cross(m, v, axisc=0)", "np.linalg.cross(u, v)",
    "np.trace(m)", "m.trace()", "np.trace(a, 1)", "np.trace(x)", "np.trace(x, 0, 1, 2)",
    "np.trace(x, axis1=0, axis2=-1)", "np.trace(x, 1, 2)", "np.linalg.trace(x)",
    "np.linalg.matrix_power(m, 3)", "np.linalg.matrix_power(m, 0)",
    "np.linalg.multi_dot([a, m, c])", "np.linalg.multi_dot([u, m, c])",
    "np.linalg.multi_dot([a, m, v])", "np.linalg.multi_dot([u, m, v])",
    "np.linalg.multi_dot([a, np.ones((3, 5)), np.ones((5, 3)), v])",
]  # fmt: skip

CONTRACTIONS = [
    "np.tensordot(a, c, 1)", "np.tensordot(a, b)", "np.tensordot(u, v, 0)",
    "np.tensordot(a, x, axes=([0, 1], [0, 1]))", "np.tensordot(x, a, ((1, 0), (1, 0)))",
    "np.tensordot(a, b, axes=(0, 0))", "np.tensordot(a, x, (1, 1))",
    "np.tensordot(x, v, (-2, 0))", "np.tensordot(v, x, (0, 1))",
    "np.tensordot(a, b, axes=(-1, -1))", "np.tensordot(a, x, 2)",
    "np.einsum('i,i->', u, v)", "np.einsum('ij,j->i', a, v)", "np.einsum('ij,j', a, v)",
    "np.einsum('ij,kj->ik', a, b)", "np.einsum('ii->i', m)", "np.einsum('ii', m)",
    "np.einsum('...j,j->...', x, w)", "np.einsum('...j,j', x, w)",
    "np.einsum('ij,jk,k->i', a, m, v)", "np.einsum('bn,bn->b', a, b)",
    "np.einsum('ij->ji', a)", "np.einsum(',i->i', s, v)",
    "np.einsum('i, i -> i', u, v)",
    "np.einsum('ij,jk->ik', a, c, optimize=True)", "np.einsum('ba', a)",
    "np.einsum('i...,i->...', m, v)", "np.einsum('...,...->...', a, v)",
]  # fmt: skip

CONVOLUTIONS = [
    f"np.{name}({args}, '{mode}')"
    for name in ("convolve", "correlate")
    for args in ("w, v", "w, u[:2]", "v, u", "w, w * 2", "w, v * 1j", "w, np.ones(2)")
    for mode in ("full", "same", "valid")
] + ["np.convolve(v, w)", "np.correlate(w, v)", "np.convolve(u[:2], w, mode='same')"]

FOURIER = [
    "np.fft.fft(v)", "np.fft.fft(a, axis=0)", "np.fft.ifft(a)", "np.fft.fft(v, 5)",
    "np.fft.rfft(w)", "np.fft.rfft(x, None, 1)", "np.fft.irfft(v)",
    "np.fft.irfft(a, 6, 0)",
    "np.fft.fft2(a)", "np.fft.ifft2(x, axes=(0, 1))", "np.fft.rfft2(x)",
    "np.fft.fftn(a)", "np.fft.fftn(v)", "np.fft.fftn(x, axes=(0, 2))",
    "np.fft.rfftn(x)",
    "np.fft.irfftn(x)", "np.fft.ifftn(x, (2, 2), axes=(0, 1))", "np.fft.fftshift(a)",
    "np.fft.fftshift(a, axes=0)", "np.fft.ifftshift(a, -1)", "np.fft.irfft2(a)",
    "np.fft.fft(v, norm='ortho')", "np.fft.fftfreq(4, s)",
]  # fmt: skip

ORDER_STATISTICS = [
    f"np.{nan}{call}"
    for nan in ("", "nan")
    for call in (
        "median(v)", "median(a)", "median(a, axis=0)", "median(x, (0, 2))",
        "median(a, 1, keepdims=True)", "median(k)", "quantile(v, 0.3)",
        "quantile(a, 0.3, axis=1)", "quantile(a, [0.2, 0.5])",
        "percentile(x, 30, (0, 1))",
        "quantile(x, [0.2, 0.5], axis=-1)",
        "quantile(a, np.array([0.5]), 0, keepdims=True)",
        "quantile(x, np.array([[0.5, 0.1]]), axis=2)", "percentile(v, s ** 2 * 10)",
        "quantile(v, 0.3, method='lower')", "quantile([s, t, 1.0], 0.3)",
    )
] + [
    "np.nanstd(v)", "np.nanvar(a, axis=0, ddof=1)", "np.nanprod(a)", "np.nanprod(a, 1)",
    "np.nancumsum(v)", "np.nancumsum(a)", "np.nancumprod(a, axis=1)", "np.cov(a)",
]  # fmt: skip

SPD = "(m @ m.T + 3 * np.eye(3))"
LINEAR_ALGEBRA = [
    "np.linalg.inv(m)", "np.linalg.det(m)", "np.linalg.slogdet(m)",
    "np.linalg.slogdet(m)[1]", "np.linalg.slogdet(m).logabsdet",
    f"np.linalg.cholesky({SPD})", f"np.linalg.cholesky({SPD}, upper=True)",
    "np.linalg.pinv(a)", f"np.linalg.eigvalsh({SPD})", "np.linalg.eigvalsh(m, 'U')",
    f"np.linalg.eigh({SPD})[0]", "np.linalg.svd(a)[1]", "np.linalg.svdvals(a)",
    "np.linalg.svd(a, compute_uv=False)", "np.linalg.svd(a, full_matrices=False)",
    "np.linalg.qr(a)", "np.linalg.qr(c, 'complete')", "np.linalg.qr(c, mode='r')",
    f"np.linalg.eig({SPD})", "np.linalg.matrix_rank(m)", "np.linalg.eigh(m)",
    "np.linalg.eigvals(m + m.T)", "np.linalg.inv([[s, 1.0], [0.5, t]])",
    "np.linalg.solve(m, v)", "np.linalg.solve(m, c)", "np.linalg.solve(m, m.T)",
    "np.linalg.solve(m + 5 * np.eye(3), np.ones(3))", "np.linalg.solve(np.eye(3), v)",
    "np.linalg.solve(np.array([m, m.T]), c)", "np.linalg.cond(m)",
    "np.linalg.cond(m, 1)",
    "np.linalg.eigvals(m)",
]  # fmt: skip

NUMBERS = [
    "np.round(a, 1)", "a.round(2)", "np.around(v)", "round(s)", "round(s, 2)",
    "math.floor(s)", "math.ceil(s)", "math.trunc(s)", "int(s)", "bool(i)", "float(i)",
    "float(s)", "s.item()", "complex(s)", "complex(s, t)", "complex(s, 2)",
    "complex(0.5, t)",
    "o[0, :1, 0].item()", "not s > 0", "math.ulp(s)",
    "divmod(s, 2)", "np.divmod(a, v)", "np.modf(a)", "math.modf(s)", "np.frexp(a)",
    "math.gcd(i, 4)", "math.lcm(i, i + 3)", "np.real(a)", "(a * 1j).imag", "v.real",
    "np.angle(u + 1j * v)", "np.angle(a * 1j, deg=True)", "np.isclose(a, v)",
    "np.isclose(a, b, atol=t ** 2)", "np.allclose(a, v)", "np.allclose(s, t)",
    "np.allclose(u, v, 0.1, atol=2.0)", "np.array_equal(u, u * 1)",
    "np.array_equal(u, v)",
    "np.array_equal(a, b)", "np.isrealobj(v)", "np.iscomplexobj(u * 1j)",
    "np.spacing(v)",
    "np.clip(v, 0, 1)", "np.clip(a, None, v)", "v.clip(s)", "v.clip(0)",
    "np.where(a > 0, v, s)",
    "np.nan_to_num(v)", "math.hypot(s, t)", "np.hypot(a, v)", "max(s, t)", "abs(s)",
    "np.maximum(a, v)", "s ** 2 + a", "-v", "a * v + s", "np.arctan2(v, s)",
    "np.isreal(v)", "np.gcd(k, 4)", "pow(s, 2)",
]  # fmt: skip

SPECIAL = [
    "scipy.special.logsumexp(v)", "scipy.special.logsumexp(a)",
    "scipy.special.logsumexp(a, axis=0)", "scipy.special.logsumexp(x, (0, 2))",
    "scipy.special.logsumexp(a, 1, keepdims=True)",
    "scipy.special.logsumexp(a, b=b ** 2)",
    "scipy.special.logsumexp(a, axis=1, b=v ** 2)", "scipy.special.logsumexp([s, t])",
    "scipy.special.softmax(v)", "scipy.special.softmax(a)",
    "scipy.special.softmax(a, axis=0)", "scipy.special.log_softmax(a, axis=-1)",
    "scipy.special.log_softmax(v)", "scipy.special.expit(a)", "scipy.special.erf(s)",
    "scipy.special.gammainc(s ** 2, v ** 2)", "scipy.special.betaln(v ** 2, a ** 2)",
    "scipy.special.sici(a)", "scipy.special.fresnel(s)",
    "scipy.special.comb(5, v ** 2)",
    "scipy.special.factorial(v ** 2)", "scipy.special.zeta(v ** 2 + 2)",
    "scipy.special.zeta(v ** 2 + 2, a ** 2 + 1)", "scipy.special.lambertw(v ** 2)",
    "scipy.special.sph_harm_y(2, 1, v, s)", "scipy.special.xlogy(v, a ** 2)",
    "scipy.special.polygamma(1, v ** 2)", "scipy.special.jv(1, a)",
    "scipy.stats.norm.logpdf(v, s)", "scipy.stats.norm.cdf(a).sum()",
]  # fmt: skip

SCIPY = [
    "scipy.linalg.inv(m)", "scipy.linalg.det(m)", "scipy.linalg.expm(m)",
    f"scipy.linalg.cholesky({SPD})", f"scipy.linalg.cholesky({SPD}, lower=True)",
    "scipy.linalg.solve(m, v)", "scipy.linalg.solve(m, c)",
    "scipy.linalg.eigh(m, eigvals_only=True)",
    "scipy.linalg.eigh(m, lower=False, eigvals_only=True)",
    "scipy.linalg.lu(m)", "scipy.linalg.solve_triangular(m, v)",
    "scipy.linalg.solve_triangular(m, c, lower=True)",
    "scipy.linalg.solve_triangular(m, v, trans='T')",
    "scipy.linalg.solve_triangular(m, v, 1, True)",
    "scipy.linalg.cho_solve((m, True), v)", "scipy.linalg.cho_solve((m, False), c)",
    f"scipy.linalg.cho_solve(scipy.linalg.cho_factor({SPD}), v)",
    f"scipy.linalg.cho_solve(scipy.linalg.cho_factor({SPD}, lower=True), c)",
]  # fmt: skip

ONE_MATRIX = [
    "scipy.linalg.solve_triangular(m, v)", "scipy.linalg.solve_triangular(m, c)",
    "scipy.linalg.solve_triangular(m, v, lower=True, trans=1)",
    "scipy.linalg.cho_solve((m, True), v)", "scipy.linalg.cho_solve((m, False), c)",
]  # fmt: skip


def with_libraries(text: str, *libraries: str) -> Callable:
    """The function of an expression that names other libraries than NumPy."""
    names = sorted(syntax.names_read(gast.parse(text)) & SHAPES.keys())
    head = "\n".join(f"import {name}" for name in ("numpy as np", *libraries))
    body = f"def f({', '.join(names)}):\n    return {text}\n"
    found: Callable = load(f"{head}\n\n\n{body}", "f", {}).f
    return found


@pytest.mark.parametrize("text", REDUCTIONS)
def test_reductions(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", SOME)
def test_reductions_of_some_elements(text: str) -> None:
    check(text, only="vabks")


@pytest.mark.parametrize("text", SCANS)
def test_scans_and_order(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", ORDER_STATISTICS)
def test_order_statistics(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", AVERAGES)
def test_averages(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", NORMS)
def test_norms(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", PRODUCTS)
def test_products(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", CONTRACTIONS)
def test_contractions(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", CONVOLUTIONS)
def test_convolutions(text: str) -> None:
    check(text, axes=(0, -1))


@pytest.mark.parametrize("text", FOURIER)
def test_fourier_transforms(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", LINEAR_ALGEBRA)
def test_linear_algebra(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers(text: str) -> None:
    check(with_libraries(text, "math"))


@pytest.mark.parametrize("text", SPECIAL + SCIPY)
def test_scipy(text: str) -> None:
    pytest.importorskip("scipy")
    check(with_libraries(text, "scipy.linalg", "scipy.special", "scipy.stats"))


@pytest.mark.parametrize("text", ONE_MATRIX)
def test_many_right_sides_of_one_matrix(text: str) -> None:
    pytest.importorskip("scipy")
    check(with_libraries(text, "scipy.linalg"), only="vc")


# -- what has no rule ----------------------------------------------------------------

FAMILIES = {
    f"srcjax.ops.{name}"
    for name in (
        "arithmetic", "complex_parts", "eigen", "fft", "linalg", "products",
        "reductions", "scipy_linalg", "scipy_special", "special",
    )
}  # fmt: skip

ONE_AT_A_TIME = "NumPy and SciPy take one matrix or signal at a time"
REASONS = {
    "numpy.linalg.lstsq": ONE_AT_A_TIME,
    "numpy.roots": "the number of roots is that of the nonzero coefficients",
    "numpy.poly": ONE_AT_A_TIME,
    "scipy.linalg._decomp.eigh_tridiagonal": ONE_AT_A_TIME,
    "scipy.linalg._decomp_lu.lu_factor": ONE_AT_A_TIME,
    "scipy.linalg._basic.solve_banded": ONE_AT_A_TIME,
    "scipy.linalg._solvers.solve_sylvester": ONE_AT_A_TIME,
    "scipy.linalg._decomp_polar.polar": ONE_AT_A_TIME,
    "scipy.linalg._matfuncs.sqrtm": ONE_AT_A_TIME,
    "scipy.linalg._matfuncs.logm": ONE_AT_A_TIME,
}


def test_every_operation_has_a_batch_rule_or_a_reason() -> None:
    without = set()
    for op in TABLE.values():
        rules = op.adjoint or op.tangent
        if rules is None or rules.globals["__name__"] not in FAMILIES:
            continue
        if op.batch is None and not op.elementwise:
            without.add(op.name)
    assert without <= REASONS.keys()
    if scipy_is_there:
        assert without == REASONS.keys()


@pytest.mark.parametrize(
    "text",
    [
        "np.linalg.lstsq(m, v, None)[0]", "np.roots(v)", "np.poly(v)",
        "np.convolve(v, u[:i])", "np.correlate(u, w)", "np.vdot(a, c)",
        "np.linalg.norm(x, axis=None, keepdims=True)", "np.argmax(a, keepdims=True)",
    ],
)  # fmt: skip
def test_a_loop_where_there_is_no_rule(text: str) -> None:
    has_no_rule(text, "uvwamxc")


def test_an_axis_that_examples_do_not_have_is_refused() -> None:
    """Axis -2 of a vector must not become the axis of the batch."""
    f = function_of("np.sum(v, axis=-2)")
    with (
        pytest.warns(PerformanceWarning),
        pytest.raises(np.exceptions.AxisError),
    ):
        srcjax.vmap(f)(np.ones((4, 3)))


def test_a_singular_matrix_is_an_error_as_in_a_loop() -> None:
    f = function_of("np.linalg.inv(m)")
    with pytest.raises(np.linalg.LinAlgError):
        srcjax.vmap(f)(np.zeros((2, 3, 3)))


@pytest.mark.parametrize("text", ["np.sum(v)", "np.prod(v)", "np.cumsum(v)", "u @ v"])
def test_empty_examples(text: str) -> None:
    f = function_of(text)
    count = f.__code__.co_argcount
    args = [np.zeros((4, 0))] * count
    want = np.stack([f(*[a[k] for a in args]) for k in range(4)])
    np.testing.assert_array_equal(srcjax.vmap(f)(*args), want)


def test_a_batch_of_as_many_vectors_as_equations() -> None:
    """The vectors of a square batch must not be taken for the columns of a matrix."""
    f = function_of("np.linalg.solve(m, v)")
    for in_axes in [(None, 0), (None, 1), (0, 0), (0, None)]:
        compare(f, ["m", "v"], in_axes, 3)


# -- the text ------------------------------------------------------------------------

TEXTS = [
    ("np.sum(v)", "v", "np.sum(v, axis=1)"),
    ("a.mean(0)", "a", "a.mean(1)"),
    ("np.max(a)", "a", "np.max(a, axis=(1, 2))"),
    ("np.sum(a, axis=-1)", "a", "np.sum(a, axis=-1)"),
    ("np.sort(a)", "a", "np.sort(a)"),
    ("np.median(v)", "v", "np.median(v, axis=1)"),
    ("m @ v", "v", "v @ m.T"),
    ("m @ v", "m", "m @ v"),
    ("m @ v", "mv", "np.einsum('bij,bj->bi', m, v)"),
    ("v @ m", "v", "v @ m"),
    ("v @ m", "mv", "np.einsum('bi,bij->bj', v, m)"),
    ("u @ v", "uv", "np.einsum('bi,bi->b', u, v)"),
    ("u @ v", "v", "v @ u"),
    ("np.dot(v, m)", "v", "np.dot(v, m)"),
    ("a @ m", "am", "a @ m"),
    ("np.inner(a, b)", "ab", "a @ b.swapaxes(1, 2)"),
    ("np.outer(u, v)", "uv", "u[:, :, None] * v[:, None]"),
    ("np.outer(u, v)", "v", "u[:, None] * v[:, None]"),
    ("np.einsum('ij,j->i', a, v)", "v", "np.einsum('ij,bj->bi', a, v)"),
    ("np.tensordot(a, c, 1)", "a", "np.tensordot(a, c, 1)"),
    ("np.trace(m)", "m", "np.trace(m, axis1=1, axis2=2)"),
    ("np.linalg.solve(m, v)", "v", "np.linalg.solve(m, v.T).T"),
    ("np.linalg.solve(m, v)", "mv", "np.linalg.solve(m, v[:, :, None])[:, :, 0]"),
    ("np.linalg.inv(m)", "m", "np.linalg.inv(m)"),
    ("np.linalg.norm(a)", "a", "np.linalg.norm(a, axis=(1, 2))"),
    ("np.fft.fft(v)", "v", "np.fft.fft(v)"),
    ("np.fft.fftn(a)", "a", "np.fft.fftn(a, axes=(1, 2))"),
]


@pytest.mark.parametrize(("text", "mapped", "expected"), TEXTS)
def test_text(text: str, mapped: str, expected: str) -> None:
    f = function_of(text)
    names = list(f.__code__.co_varnames[: f.__code__.co_argcount])
    in_axes = tuple(0 if n in mapped else None for n in names)
    rng = np.random.default_rng(0)
    args = [value_of(n, a, 5, rng) for n, a in zip(names, in_axes, strict=True)]
    source = str(srcjax.source(srcjax.vmap(f, in_axes=in_axes), *args))
    assert source.split("return ")[-1].strip().replace('"', "'") == expected


def remainder(x, y):
    return math.remainder(x, y)


def test_remainders_are_those_of_the_examples():
    """Ties and large quotients too, to the last digit."""
    x = np.array([-4.5, 1.0, 0.5, 3e15, 7.0, -2.5])
    y = np.array([1.0, 2.0, -1.0, 0.7, np.inf, 0.1])
    examples = [math.remainder(a, b) for a, b in zip(x, y, strict=True)]
    np.testing.assert_array_equal(srcjax.vmap(remainder)(x, y), examples)
