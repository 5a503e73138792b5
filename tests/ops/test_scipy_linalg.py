"""More of scipy.linalg: values of composites, derivatives in every mode, coverage."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import srcjax
from srcjax.ops.record import composite_of, lookup
from srcjax.ops.scipy_linalg import NO_DERIVATIVE
from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 5

linalg = pytest.importorskip("scipy.linalg")

#: "fwd" as soon as there is forward mode.
MODES = ("rev", "fwd") if hasattr(srcjax, "jvp") else ("rev",)
LOOSE = {"rtol": 1e-5, "atol": 1e-5}

rng = np.random.default_rng(3)
A = rng.normal(size=(4, 4)) + 3 * np.eye(4)
TALL, WIDE = rng.normal(size=(5, 3)), rng.normal(size=(3, 5))
SYMMETRIC = A @ A.T + np.diag([0.0, 3.0, 7.0, 12.0])
METRIC = rng.normal(size=(4, 4)) @ np.diag([0.2, 0.1, 0.3, 0.1]) + 2 * np.eye(4)
METRIC = METRIC @ METRIC.T
B = rng.normal(size=(4, 2))
V, W = rng.normal(size=5), rng.normal(size=3)


def sums(x):
    """A symmetric matrix of any other, so that any change of `x` keeps it so."""
    return (x + x.T) / 2


def joined(parts):
    """The numbers of a result of two parts, as one vector."""
    first, second = parts
    return np.concatenate([np.ravel(first), np.ravel(second)])


# -- composites ---------------------------------------------------------------------

VALUES = [
    (linalg.toeplitz, (V,)), (linalg.toeplitz, (V, W)), (linalg.toeplitz, (W, V)),
    (linalg.hankel, (V,)), (linalg.hankel, (V, W)), (linalg.hankel, (W, V)),
    (linalg.circulant, (V,)), (linalg.companion, (V,)), (linalg.fiedler, (V,)),
    (linalg.fiedler_companion, (V,)), (linalg.fiedler_companion, (V[:4],)),
    (linalg.fiedler_companion, (np.append(V, W),)), (linalg.leslie, (V, V[:4])),
    (linalg.block_diag, (A, V, TALL)), (linalg.khatri_rao, (A, TALL[:, :1] * V[:4])),
    (linalg.svdvals, (TALL,)), (linalg.norm, (A,)), (linalg.pinv, (TALL,)),
    (linalg.solve_toeplitz, (V + 9 * np.eye(5)[0], V)),
    (linalg.matmul_toeplitz, (V, TALL)),
    (linalg.solve_continuous_lyapunov, (A, SYMMETRIC)),
    (linalg.cosm, (A / 3,)),
    (linalg.sinm, (A / 3,)), (linalg.tanm, (A / 9,)), (linalg.coshm, (A / 3,)),
    (linalg.sinhm, (A / 3,)), (linalg.tanhm, (A / 3,)),
]  # fmt: skip


def ident(value):
    return getattr(value, "__name__", None) or ""


def flat(value):
    """The numbers of a result of one or several parts."""
    parts = value if isinstance(value, tuple) else (value,)
    return np.concatenate([np.ravel(part) for part in parts])


@pytest.mark.parametrize("function, args", VALUES, ids=ident)
def test_composites(function, args):
    definition = composite_of(function)
    np.testing.assert_allclose(
        flat(definition(*args)), flat(function(*args)), rtol=1e-10, atol=1e-12
    )
    assert np.shape(definition(*args)) == np.shape(function(*args))
    if len(args) == 1:
        check_grads(lambda a: function(a), args, 2, MODES, **LOOSE)
    elif len(args) == 2:
        check_grads(lambda a, b: function(a, b), args, 2, MODES, **LOOSE)
    else:
        check_grads(lambda a, b, c: function(a, b, c), args, 2, MODES, **LOOSE)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_convolution_matrix(mode, n):
    definition = composite_of(linalg.convolution_matrix)
    for a in (V, W):
        expected = linalg.convolution_matrix(a, n, mode)
        np.testing.assert_array_equal(definition(a, n, mode), expected)
        check_grads(lambda a: linalg.convolution_matrix(a, n, mode), (a,), 2, MODES)  # noqa: B023


@pytest.mark.parametrize("mode", ["full", "economic", "r"])
@pytest.mark.parametrize("a", [A, TALL, WIDE], ids=["square", "tall", "wide"])
def test_qr(a, mode):
    definition = composite_of(linalg.qr)
    expected = linalg.qr(a, mode=mode)
    assert len(definition(a, mode=mode)) == len(expected)
    for found, part in zip(definition(a, mode=mode), expected, strict=True):
        np.testing.assert_allclose(found, part, atol=1e-12)
    if mode == "full" and a is TALL:
        with pytest.raises(NotImplementedError, match="reduced"):
            srcjax.grad(lambda a: np.sum(linalg.qr(a)[0]))(a)
        return
    check_grads(lambda a: linalg.qr(a, mode=mode), (a,), 1, MODES, **LOOSE)


def test_qr_multiply_and_svd():
    for mode, c in (("right", TALL.T), ("left", A[:3, :3])):
        definition = composite_of(linalg.qr_multiply)
        expected = linalg.qr_multiply(TALL, c, mode)
        for found, part in zip(definition(TALL, c, mode), expected, strict=True):
            np.testing.assert_allclose(found, part, atol=1e-12)
        check_grads(
            lambda a, c: joined(linalg.qr_multiply(a, c, mode)),  # noqa: B023
            (TALL, c), 1, MODES, **LOOSE,
        )  # fmt: skip
    for found, part in zip(
        composite_of(linalg.svd)(TALL), linalg.svd(TALL), strict=True
    ):
        np.testing.assert_allclose(found, part, atol=1e-12)
    check_grads(
        lambda a: linalg.svd(a, full_matrices=False), (TALL,), 1, MODES, **LOOSE
    )


def test_refusals_of_composites():
    with pytest.raises(srcjax.errors.NoRuleError, match="pivoting"):
        srcjax.grad(lambda a: np.sum(linalg.qr(a, pivoting=True)[0]))(A)
    with pytest.raises(srcjax.errors.NoRuleError, match="vector"):
        srcjax.grad(lambda a: np.sum(linalg.circulant(a)))(A)


# -- eigenvalues --------------------------------------------------------------------


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("eigvals_only", [True, False])
def test_eigh(lower, eigvals_only):
    def one(a):
        found = linalg.eigh(sums(a), lower=lower, eigvals_only=eigvals_only)
        return found if eigvals_only else joined((found[0], found[1] ** 2))

    def two(a, b):
        found = linalg.eigh(sums(a), sums(b), lower=lower, eigvals_only=eigvals_only)
        return found if eigvals_only else joined((found[0], found[1] ** 2))

    check_grads(one, (SYMMETRIC,), 2, MODES, **LOOSE)
    check_grads(two, (SYMMETRIC, METRIC), 2, MODES, **LOOSE)


def test_eigh_of_a_subset():
    def some(a, b):
        return linalg.eigvalsh(sums(a), sums(b), subset_by_index=[1, 2])

    check_grads(some, (SYMMETRIC, METRIC), 2, MODES, **LOOSE)
    found = composite_of(linalg.eigvalsh)(SYMMETRIC, METRIC)
    np.testing.assert_allclose(found, linalg.eigvalsh(SYMMETRIC, METRIC))
    with pytest.raises(NotImplementedError, match="subset"):
        srcjax.grad(lambda a: np.sum(linalg.eigh(a, subset_by_index=[0, 1])[1]))(A)
    with pytest.raises(NotImplementedError, match="type=2"):
        srcjax.grad(lambda a: np.sum(linalg.eigh(a, METRIC, type=2)[0]))(SYMMETRIC)


@pytest.mark.parametrize("eigvals_only", [True, False])
def test_eigh_tridiagonal(eigvals_only):
    def f(diagonal, beside):
        found = linalg.eigh_tridiagonal(diagonal, beside, eigvals_only)
        return found if eigvals_only else joined((found[0], found[1] ** 2))

    check_grads(f, (np.array([1.0, 3, -2, 0.5]), W), 2, MODES, **LOOSE)


# -- triangular factors -------------------------------------------------------------


@pytest.mark.parametrize("a", [A, TALL, WIDE], ids=["square", "tall", "wide"])
@pytest.mark.parametrize("how", [{}, {"permute_l": True}, {"p_indices": True}], ids=str)
def test_lu(a, how):
    permute_l, p_indices = how.get("permute_l", False), how.get("p_indices", False)

    def f(a):
        parts = linalg.lu(a, permute_l=permute_l, p_indices=p_indices)
        return joined((parts[-2], parts[-1]))

    check_grads(f, (a,), 2, MODES, **LOOSE)


@pytest.mark.parametrize("a", [A, TALL, WIDE], ids=["square", "tall", "wide"])
def test_lu_factor(a):
    check_grads(lambda a: linalg.lu_factor(a)[0], (a,), 2, MODES, **LOOSE)


@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("b", [B, B[:, 0]], ids=["matrix", "vector"])
def test_lu_solve(b, trans):
    def f(a, b):
        return linalg.lu_solve(linalg.lu_factor(a), b, trans)

    matrix = A.T if trans else A
    np.testing.assert_allclose(
        composite_of(linalg.lu_solve)(linalg.lu_factor(A), b, trans),
        np.linalg.solve(matrix, b),
    )
    check_grads(f, (A, b), 1, MODES, **LOOSE)


def test_matrices_only():
    stack = np.stack([A, A + 1])
    with pytest.raises(NotImplementedError, match="one matrix"):
        srcjax.grad(lambda a: np.sum(linalg.lu(a)[1]))(stack)


# -- systems and functions of matrices ----------------------------------------------


@pytest.mark.parametrize("bands", [(1, 1), (2, 0), (0, 1), (1, 2), (0, 0)])
@pytest.mark.parametrize("b", [B, B[:, 0]], ids=["matrix", "vector"])
def test_solve_banded(bands, b):
    ab = rng.normal(size=(sum(bands) + 1, 4))
    ab[bands[1]] += 4

    def f(ab, b):
        return linalg.solve_banded(bands, ab, b)

    check_grads(f, (ab, b), 2, MODES, **LOOSE)


def test_solve_sylvester():
    check_grads(
        lambda a, b, q: linalg.solve_sylvester(a, b, q),
        (A, TALL[:2, :2] + 2 * np.eye(2), B), 2, MODES, **LOOSE,
    )  # fmt: skip


@pytest.mark.parametrize("side", ["right", "left"])
def test_polar(side):
    a = TALL if side == "right" else WIDE
    check_grads(lambda a: joined(linalg.polar(a, side)), (a,), 2, MODES, **LOOSE)
    check_grads(lambda a: joined(linalg.polar(a, side)), (A,), 2, MODES, **LOOSE)
    with pytest.raises(NotImplementedError, match="singular"):
        srcjax.grad(lambda a: np.sum(linalg.polar(a, side)[1]))(a.T)


def test_polar_of_equal_singular_values():
    """The derivative exists, though that of the singular vectors does not."""
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    check_grads(lambda a: joined(linalg.polar(a)), (2 * rotation,), 2, MODES, **LOOSE)


def test_functions_of_matrices():
    check_grads(lambda a: linalg.sqrtm(a), (SYMMETRIC,), 2, MODES, **LOOSE)
    check_grads(lambda a: linalg.sqrtm(a), (A,), 2, MODES, **LOOSE)
    check_grads(lambda a: linalg.logm(a), (A,), 2, MODES, **LOOSE)
    check_grads(lambda a: linalg.expm(a), (A / 3,), 2, MODES, **LOOSE)
    for whole in (True, False):
        definition, args = composite_of(linalg.expm_frechet), (A / 3, A.T)
        np.testing.assert_allclose(
            flat(definition(*args, compute_expm=whole)),
            flat(linalg.expm_frechet(*args, compute_expm=whole)),
        )
    check_grads(
        lambda a, e: joined(linalg.expm_frechet(a, e)), (A / 3, A.T), 2, MODES, **LOOSE
    )


# -- coverage -----------------------------------------------------------------------


def test_what_has_no_derivative_says_why():
    for name, reason in NO_DERIVATIVE.items():
        assert reason and hasattr(linalg, name)


#: Not functions of arrays of numbers, or of a band of a matrix that SciPy packs.
LEFT_OUT = {
    "LinAlgError", "LinAlgWarning", "get_blas_funcs", "get_lapack_funcs",
    "find_best_blas_type", "test", "clarkson_woodruff_transform",
    # packed bands, or a result that other functions here give too
    "cholesky_banded", "cho_solve_banded", "solveh_banded", "eig_banded",
    "eigvals_banded", "eigvalsh_tridiagonal", "diagsvd",
    # general eigenvalues, and decompositions with pivots
    "eig", "eigvals", "ldl", "lstsq", "orthogonal_procrustes", "subspace_angles",
    # by Schur's decomposition
    "fractional_matrix_power", "signm", "matrix_balance",
    "solve_continuous_are", "solve_discrete_are", "solve_discrete_lyapunov",
    "solve_lyapunov", "pinvh", "solve_circulant", "qr_delete", "qr_insert",
    "qr_update", "rq", "expm_cond",
}  # fmt: skip


def test_every_function_is_thought_of():
    names = [
        n for n in linalg.__all__
        if callable(getattr(linalg, n)) and not inspect.isclass(getattr(linalg, n))
    ]  # fmt: skip
    missing = {
        n
        for n in names
        if lookup(getattr(linalg, n)) is None
        and composite_of(getattr(linalg, n)) is None
        and n not in NO_DERIVATIVE
    }
    assert missing <= LEFT_OUT
