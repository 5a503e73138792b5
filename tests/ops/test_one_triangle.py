"""Functions of linear algebra that read one part of a matrix, along any direction.

The matrix is not symmetric: its derivative is that of what NumPy and SciPy compute, so
entries that are not read have none. All modes, stacks, complex matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcjax

SAMPLE = {"test_along_any_direction": 4}

scipy_linalg = pytest.importorskip("scipy.linalg")

RNG = np.random.default_rng(3)
ROOT = RNG.normal(size=(3, 3))
SYMMETRIC = ROOT @ ROOT.T + 3 * np.eye(3)
REAL = SYMMETRIC + 0.3 * RNG.normal(size=(3, 3))
COMPLEX = REAL + 0.3j * RNG.normal(size=(3, 3))
VECTOR, COLUMNS = RNG.normal(size=3), RNG.normal(size=(3, 2))

OF_STACKS = {
    "cholesky": lambda a: np.linalg.cholesky(a),
    "cholesky_upper": lambda a: np.linalg.cholesky(a, upper=True),
    "eigvalsh": lambda a: np.linalg.eigvalsh(a),
    "eigvalsh_upper": lambda a: np.linalg.eigvalsh(a, UPLO="U"),
    "eigh": lambda a: np.abs(np.linalg.eigh(a)[1]) ** 2,
    "eigh_upper": lambda a: np.abs(np.linalg.eigh(a, "U").eigenvectors) ** 2,
    "pinv_hermitian": lambda a: np.linalg.pinv(a, hermitian=True),
    "svd_hermitian": lambda a: np.abs(np.linalg.svd(a, hermitian=True)[0]) ** 2,
    "singular_values": lambda a: np.linalg.svd(a, compute_uv=False, hermitian=True),
}
OF_MATRICES = (
    OF_STACKS
    | {
        "scipy_cholesky": lambda a: scipy_linalg.cholesky(a),
        "scipy_cholesky_lower": lambda a: scipy_linalg.cholesky(a, lower=True),
        "cho_factor": lambda a: scipy_linalg.cho_factor(a)[0],
        "cho_factor_lower": lambda a: scipy_linalg.cho_factor(a, lower=True)[0],
        "cho_solve": lambda a: scipy_linalg.cho_solve(
            scipy_linalg.cho_factor(a), COLUMNS
        ),
        "cho_solve_of_a_matrix": lambda a: scipy_linalg.cho_solve((a, True), VECTOR),
        "scipy_eigh": lambda a: np.abs(scipy_linalg.eigh(a)[1]) ** 2,
        "scipy_eigh_upper": lambda a: scipy_linalg.eigh(a, lower=False)[0],
        "scipy_eigvalsh": lambda a: scipy_linalg.eigvalsh(a, lower=False),
        "generalised": lambda a: scipy_linalg.eigvalsh(np.diag([1.0, 2.0, 4.0]), a),
        "generalised_upper": lambda a: scipy_linalg.eigh(
            np.diag([1.0, 2.0, 4.0]), a, lower=False, eigvals_only=True
        ),
        "pinvh": lambda a: scipy_linalg.pinvh(a),
        "pinvh_upper": lambda a: scipy_linalg.pinvh(a, lower=False),
        "inv_positive": lambda a: scipy_linalg.inv(a, assume_a="pos", lower=True),
        "inv_upper": lambda a: scipy_linalg.inv(a, assume_a="upper triangular"),
        "triangular": lambda a: scipy_linalg.solve_triangular(a, VECTOR, trans=1),
        "solve": lambda a: scipy_linalg.solve(a, VECTOR),
    }
    | {
        f"solve_{kind}_{lower}": lambda a, kind=kind, lower=lower: scipy_linalg.solve(
            a, COLUMNS, assume_a=kind, lower=lower
        )
        for kind, lower in [
            ("sym", False),
            ("sym", True),
            ("her", False),
            ("pos", False),
            ("pos", True),
            ("upper triangular", False),
            ("lower triangular", False),
            ("diagonal", False),
            ("tridiagonal", False),
            ("banded", False),
        ]
    }
)


def difference(function: Any, a: np.ndarray, step: np.ndarray) -> np.ndarray:
    h = 1e-5
    return (function(a + h * step) - function(a - h * step)) / (2 * h)


def assert_near(found: Any, expected: Any, size: float = 1.0) -> None:
    size = max(size, float(np.max(np.abs(expected))))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * size)


def check(function: Any, a: np.ndarray, second: bool) -> None:
    """The tangent, the adjoint and the tangent of the gradient against differences."""
    rng = np.random.default_rng(5)

    def drawn(like: Any) -> np.ndarray:
        real = rng.normal(size=np.shape(like))
        return (
            real + 1j * rng.normal(size=real.shape) if np.iscomplexobj(like) else real
        )

    step = drawn(a)
    y, y_dot = srcjax.jvp(function, (a,), (step,))
    expected = difference(function, a, step)
    assert_near(y, function(a))
    assert_near(y_dot, expected)
    weight = drawn(y)
    _, pullback = srcjax.vjp(function, a)
    (da,) = pullback(weight)
    assert_near(np.sum(da * step).real, np.sum(weight * expected).real)
    if second:
        gradient = srcjax.grad(lambda a: np.sum(weight * function(a)).real)
        _, found = srcjax.jvp(gradient, (a,), (step,))
        assert_near(found, difference(gradient, a, step))


@pytest.mark.parametrize("name", OF_MATRICES)
def test_along_any_direction(name):
    check(OF_MATRICES[name], REAL, second=True)


@pytest.mark.parametrize("name", OF_MATRICES)
def test_of_complex_matrices(name):
    check(OF_MATRICES[name], COMPLEX, second=False)


@pytest.mark.parametrize("name", OF_STACKS)
def test_of_stacks(name):
    check(OF_STACKS[name], np.stack([REAL, REAL.T + 0.1]), second=False)


@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
@pytest.mark.parametrize(
    "name", ["cholesky", "eigvalsh_upper", "cho_factor", "solve_pos_False", "pinvh"]
)
def test_of_batches(name):
    function = OF_MATRICES[name]
    many = np.stack([REAL, REAL.T + 0.1])
    assert_near(srcjax.vmap(function)(many), np.stack([function(a) for a in many]))
    gradient = srcjax.grad(lambda a: np.sum(function(a) ** 2))
    found = srcjax.vmap(gradient)(many)
    assert_near(found, np.stack([gradient(a) for a in many]))


@pytest.mark.parametrize(
    "function",
    [
        lambda a: np.linalg.eigh(a).eigenvalues,
        lambda a: np.linalg.eig(a).eigenvalues.real,
        lambda a: np.linalg.svd(a).S,
        lambda a: np.linalg.qr(a).R,
        lambda a: np.linalg.slogdet(a).logabsdet,
    ],
)
def test_parts_by_name(function):
    check(function, REAL, second=True)
