"""Second derivatives of what one call of the tables does not check.

Decompositions whose factors are determined up to signs, several results, complex
results: a real function of each, in all nestings. The names are those of the page
`docs/coverage.md`, which takes its last column from here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 8

linalg = pytest.importorskip("scipy.linalg")
special = pytest.importorskip("scipy.special")

RNG = np.random.default_rng(0)
A = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
S = A @ A.T + np.diag([1.0, 2.0, 4.0])
TALL = RNG.normal(size=(4, 2))
V = np.array([0.4, 0.85, 0.55, 0.7])
TURNING = np.array([[0.3, -1.1, 0.2], [1.2, 0.4, 0.1], [0.2, -0.3, 1.7]])
BANDS = np.array([[0.0, 0.3, 0.2], [4.0, 5.0, 6.0], [0.4, 0.1, 0.0]])


def squared(parts: Any) -> Any:
    """The parts, those of a free sign squared."""
    return tuple(part**2 for part in parts)


def joined(found: Any) -> Any:
    """Eigenvalues, and eigenvectors squared."""
    return np.concatenate([found[0], np.ravel(found[1] ** 2)])


def power(z: Any) -> Any:
    return np.abs(z) ** 2


#: By full name: a function, and its arguments.
SECOND: dict[str, tuple[Any, tuple]] = {
    "numpy.angle": (lambda x: np.angle(x + 1j * x**2), (V,)),
    "numpy.imag": (lambda x: np.imag((x + 1j * x**2) ** 2), (V,)),
    "numpy.block": (lambda x: np.block([[x, x * x], [x**3, x]]) ** 2, (TALL,)),
    "numpy.ldexp": (lambda x: np.ldexp(x, 2) ** 2, (V,)),
    "numpy.nan_to_num": (lambda x: np.nan_to_num(x) ** 2, (V,)),
    "numpy.poly": (lambda r: np.poly(r) ** 2, (V,)),
    "numpy.roots": (
        lambda p: np.sum(np.real(np.roots(p) ** 3)),
        (np.array([1.0, -3.0, 1.0, 0.5]),),
    ),
    "numpy.linalg.eig": (
        lambda a: np.sum(np.real(np.linalg.eig(a)[1] ** 2), -1),
        (TURNING,),
    ),
    "scipy.linalg.cho_factor": (
        lambda a: np.tril(linalg.cho_factor(a @ a.T, lower=True)[0]),
        (A,),
    ),
    "scipy.linalg.cho_solve": (
        lambda a, b: linalg.cho_solve(linalg.cho_factor(a @ a.T), b),
        (A, V[:3]),
    ),
    "scipy.linalg.eigh": (lambda a: joined(linalg.eigh(a + a.T)), (S,)),
    "scipy.linalg.eigh_tridiagonal": (
        lambda d, e: joined(linalg.eigh_tridiagonal(d, e)),
        (np.array([1.0, 3.0, -2.0, 0.5]), V[:3]),
    ),
    "scipy.linalg.lu": (lambda a: linalg.lu(a)[1:], (A,)),
    "scipy.linalg.lu_factor": (lambda a: linalg.lu_factor(a)[0], (A,)),
    "scipy.linalg.lu_solve": (
        lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b),
        (A, V[:3]),
    ),
    "scipy.linalg.polar": (lambda a: linalg.polar(a), (A,)),
    "scipy.linalg.qr": (lambda a: linalg.qr(a, mode="economic"), (TALL,)),
    "scipy.linalg.qr_multiply": (lambda a: linalg.qr_multiply(a, TALL.T)[0], (TALL,)),
    "scipy.linalg.solve_banded": (
        lambda ab, b: linalg.solve_banded((1, 1), ab, b),
        (BANDS, V[:3]),
    ),
    "scipy.linalg.solve_sylvester": (
        lambda a, b: linalg.solve_sylvester(a, a + 1, b),
        (S, A),
    ),
    "scipy.linalg.sqrtm": (lambda a: linalg.sqrtm(a), (S,)),
    "scipy.linalg.svd": (
        lambda a: squared(linalg.svd(a, full_matrices=False)),
        (TALL,),
    ),
    "scipy.special.comb": (lambda n, k: special.comb(n, k), (5.3, 2.2)),
    "scipy.special.factorial": (lambda n: special.factorial(n), (V + 2,)),
    "scipy.special.fresnel": (lambda x: special.fresnel(x), (V,)),
    "scipy.special.sici": (lambda x: special.sici(x), (V,)),
    "scipy.special.zeta": (lambda q: special.zeta(2.5, q), (V + 1,)),
    "scipy.special.sph_harm_y": (
        lambda t, p: np.real(special.sph_harm_y(2, 1, t, p)),
        (0.7, 0.3),
    ),
    "scipy.special.wofz": (lambda x: np.real(special.wofz(x)), (V,)),
    "scipy.special.lambertw": (lambda x: np.real(special.lambertw(x)), (V,)),
    "numpy.histogram2d": (
        lambda x, y: np.histogram2d(x, y, 3, density=True)[1:],
        (V, 1.1 * V[::-1]),
    ),
}


def spectrum(name: str) -> Any:
    """The power of a transform."""
    function = getattr(np.fft, name)
    return lambda x: power(function(x + x * x))


for _name in """
    fft ifft fft2 ifft2 fftn ifftn rfft rfft2 rfftn irfft irfft2 irfftn hfft ihfft
    fftshift ifftshift
""".split():  # noqa: SIM905
    SECOND[f"numpy.fft.{_name}"] = (spectrum(_name), (TALL,))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SECOND)
def test_all_nestings(name):
    function, args = SECOND[name]
    check_grads(function, args, 2, ("rev", "fwd"), rtol=1e-4, atol=1e-4)
